// SPDX-License-Identifier: Apache-2.0
//
// One processing element of the weight-stationary array. It holds two weight registers, so that the next wave's weight is
// loaded while the present wave still uses the other one.
//
//             w_i (column bus)   psum_i
//                  │               │
//   w_en,w_sel ─►[w0 w1]           │
//                  │               ▼
//   a,valid,sel ─► × ────────────► + ──[q]── psum_o
//        │
//       [q]──► right neighbour, one cycle later
//
// In an enabled cycle: psum_q <= valid ? mac(psum_i, a, w[sel]) : +0 (one cycle later with MacStages = 2, where the mac is split by a
// register); a, valid, sel, w_en and w_sel move right; w[w_sel] <= w_i when w_en. A weight captured at an edge
// is used from the next cycle on. Weight registers and operands are not reset, valid bits and partial sums are.
`default_nettype none

module pe #(
    parameter integer MacStages = 1
) (
    input  wire        clk_i,
    input  wire        rst_ni,
    input  wire        en_i,

    input  wire [15:0] a_i,
    input  wire        a_valid_i,
    input  wire        a_sel_i,
    output reg  [15:0] a_q,
    output reg         a_valid_q,
    output reg         a_sel_q,

    input  wire [15:0] w_i,
    input  wire        w_en_i,
    input  wire        w_sel_i,
    output reg         w_en_q,
    output reg         w_sel_q,

    input  wire [31:0] psum_i,
    output reg  [31:0] psum_q,
    output reg         psum_valid_q
);
  reg  [15:0] w0_q;
  reg  [15:0] w1_q;
  wire [15:0] weight = a_sel_i ? w1_q : w0_q;
  wire [31:0] sum;
  wire        sum_valid;

  mac #(
      .Stages(MacStages)
  ) u_mac (
      .clk_i (clk_i),
      .en_i  (en_i),
      .a_i   (a_i),
      .b_i   (weight),
      .psum_i(psum_i),
      .sum_o (sum)
  );

  generate
    if (MacStages == 1) begin : g_one
      assign sum_valid = a_valid_i;
    end else begin : g_two
      reg valid_q;
      always @(posedge clk_i or negedge rst_ni)
        if (!rst_ni) valid_q <= 1'b0;
        else if (en_i) valid_q <= a_valid_i;
      assign sum_valid = valid_q;
    end
  endgenerate

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      a_valid_q <= 1'b0;
      w_en_q <= 1'b0;
      psum_q <= 32'd0;
      psum_valid_q <= 1'b0;
    end else if (en_i) begin
      a_valid_q <= a_valid_i;
      w_en_q <= w_en_i;
      psum_q <= sum_valid ? sum : 32'd0;
      psum_valid_q <= sum_valid;
    end

  always @(posedge clk_i)
    if (en_i) begin
      a_q <= a_i;
      a_sel_q <= a_sel_i;
      w_sel_q <= w_sel_i;
      if (w_en_i && !w_sel_i) w0_q <= w_i;
      if (w_en_i && w_sel_i) w1_q <= w_i;
    end
endmodule
`default_nettype wire
