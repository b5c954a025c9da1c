// SPDX-License-Identifier: Apache-2.0
//
// Delay line for N lanes of W bits. Reverse = 0 (skew): lane i leaves i * Step enabled cycles after it enters. Reverse = 1
// (de-skew): (N - 1 - i) * Step cycles. A lane of delay 0 is a combinational path from d_i to q_o.
//
// The whole row of lanes is written at one pointer into a ring, and each lane reads at its own distance behind the pointer: one select
// per lane and cycle where a triangle of shift registers would move N * N / 2 words.
//
// After reset a lane reads 0 until its first element has come through, so that a valid bit can travel as a field of the lane.
// N and Step are powers of two.
`default_nettype none

module skew #(
    parameter integer N       = 16,
    parameter integer W       = 18,
    parameter integer Step    = 1,
    parameter integer Reverse = 0
) (
    input  wire           clk_i,
    input  wire           rst_ni,
    input  wire           en_i,
    input  wire [N*W-1:0] d_i,
    output wire [N*W-1:0] q_o
);
  // The longest delay is (N - 1) * Step, so a ring of N * Step rows never overwrites an unread one.
  localparam integer Depth     = N * Step;
  localparam integer PtrWidth  = $clog2(Depth);

  reg  [N*W-1:0]      ring      [0:Depth-1];
  reg  [PtrWidth-1:0] ptr_q;
  // Rows written since reset, all ones once the ring is full.
  reg  [PtrWidth-1:0] filled_q;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      ptr_q <= {PtrWidth{1'b0}};
      filled_q <= {PtrWidth{1'b0}};
    end else if (en_i) begin
      ptr_q <= ptr_q + 1'b1;
      if (filled_q != {PtrWidth{1'b1}}) filled_q <= filled_q + 1'b1;
    end

  always @(posedge clk_i) if (en_i) ring[ptr_q] <= d_i;

  // What the delayed lanes show from the next edge on. In one register of all lanes, so that a simulation copies it whole, and does nothing
  // while the line stands still.
  reg [(N-1)*W-1:0] late_q;
  genvar i;
  generate
    for (i = 0; i < N - 1; i = i + 1) begin : g_lane
      localparam integer Lane  = (Reverse != 0) ? i : i + 1;
      localparam integer Delay = ((Reverse != 0) ? N - 1 - Lane : Lane) * Step;
      wire [W-1:0] late;
      if (Delay == 1) begin : g_next
        assign late = d_i[W*Lane+:W];
      end else begin : g_later
        assign late = (filled_q >= Delay[PtrWidth-1:0] - 1'b1) ? ring[ptr_q+1'b1-Delay[PtrWidth-1:0]][W*Lane+:W] : {W{1'b0}};
      end
      always @(posedge clk_i or negedge rst_ni)
        if (!rst_ni) late_q[W*i+:W] <= {W{1'b0}};
        else if (en_i) late_q[W*i+:W] <= late;
    end
    if (Reverse != 0) begin : g_reverse
      assign q_o = {d_i[(N-1)*W+:W], late_q};
    end else begin : g_forward
      assign q_o = {late_q, d_i[W-1:0]};
    end
  endgenerate
endmodule
`default_nettype wire
