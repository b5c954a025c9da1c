// SPDX-License-Identifier: Apache-2.0
//
// Reads the vectors of a SIMD command ahead of their use: takes accesses, asks the global buffer for one or two lines each, and keeps
// account of up to eight vectors, asked for or there, in their order. The lines themselves lie in the slots of simd_lanes.
`default_nettype none

module simd_fetch #(
    parameter integer LineBytes = 64
) (
    input  wire        clk_i,
    input  wire        rst_ni,

    input  wire        access_valid_i,
    output wire        access_ready_o,
    input  wire [31:0] byte_i,
    input  wire [15:0] bytes_i,      // up to two lines
    input  wire [3:0]  shift_i,
    input  wire [3:0]  type_i,

    output wire        req_o,        // to the buffer; stays until granted
    output wire [31:0] addr_o,
    output wire [15:0] size_o,
    input  wire        gnt_i,
    input  wire        rvalid_i,     // a line comes back: for this slot
    output wire [2:0]  slot_o,
    output wire        slot_high_o,  // its second line

    output wire        valid_o,      // the oldest vector is there
    output wire [2:0]  head_o,
    output wire [3:0]  type_o,
    output wire [3:0]  shift_o,
    input  wire        take_i
);
  localparam [15:0] Line = LineBytes[15:0];

  // ---- slots: 0 to 7, in turn --------------------------------------------------------------------
  reg  [3:0] asked_q, there_q, used_q;    // counts modulo 16
  reg  [3:0] type_q  [0:7];
  reg  [3:0] shift_q [0:7];
  reg        two_q   [0:7];               // lines
  reg        back_high_q;                 // the next line to come back is a second one
  wire       full = (asked_q ^ used_q) == 4'd8;

  // ---- the access that is being asked for --------------------------------------------------------
  reg         valid_q;
  reg  [31:0] byte_q;
  reg  [15:0] left_q;
  wire        more = left_q > Line;

  assign req_o  = valid_q;
  assign addr_o = byte_q;
  assign size_o = more ? Line : left_q;
  assign access_ready_o = !full && (!valid_q || (gnt_i && !more));

  wire accept = access_valid_i && access_ready_o;
  wire two = two_q[there_q[2:0]];

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      valid_q     <= 1'b0;
      asked_q     <= 4'd0;
      there_q     <= 4'd0;
      used_q      <= 4'd0;
      back_high_q <= 1'b0;
    end else begin
      if (accept) valid_q <= 1'b1;
      else if (gnt_i && !more) valid_q <= 1'b0;
      if (accept) asked_q <= asked_q + 4'd1;
      if (rvalid_i) back_high_q <= two && !back_high_q;
      if (rvalid_i && (!two || back_high_q)) there_q <= there_q + 4'd1;
      if (take_i) used_q <= used_q + 4'd1;
    end

  always @(posedge clk_i)
    if (accept) begin
      byte_q                <= byte_i;
      left_q                <= bytes_i;
      type_q[asked_q[2:0]]  <= type_i;
      shift_q[asked_q[2:0]] <= shift_i;
      two_q[asked_q[2:0]]   <= bytes_i > Line;
    end else if (gnt_i && more) begin
      byte_q <= byte_q + LineBytes;
      left_q <= left_q - Line;
    end

  assign slot_o      = there_q[2:0];
  assign slot_high_o = back_high_q;
  assign valid_o     = there_q != used_q;
  assign head_o      = used_q[2:0];
  assign type_o      = type_q[used_q[2:0]];
  assign shift_o     = shift_q[used_q[2:0]];

`ifdef WC_ASSERT
  // Space is reserved before a line is asked for.
  simd_fetch_space: assert property (@(posedge clk_i) disable iff (!rst_ni) !(rvalid_i && (there_q == asked_q)))
  else $error("simd_fetch: a line came back that was not asked for");
  // A vector is used when it is there.
  simd_fetch_take: assert property (@(posedge clk_i) disable iff (!rst_ni) !(take_i && !valid_o))
  else $error("simd_fetch: a vector was used before it came");
`endif
endmodule
`default_nettype wire
