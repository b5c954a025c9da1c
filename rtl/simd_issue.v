// SPDX-License-Identifier: Apache-2.0
//
// Sequence of a SIMD command's operations: for each token of the walk the operations of its part, one a cycle, loops included. An operation
// stands at code_o, with what its token says, until it is executed (fire_i).
//
// A loop takes a cycle of its own and none from turn to turn; loops do not nest and stay in their part.
`default_nettype none

module simd_issue (
    input  wire        clk_i,
    input  wire        rst_ni,
    output wire        busy_o,

    input  wire        token_valid_i,
    output wire        token_take_o,
    input  wire [9:0]  first_i,      // operations of the part
    input  wire [9:0]  last_i,
    input  wire [15:0] tap_i,
    input  wire [31:0] channel_i,
    input  wire [15:0] active_i,

    input  wire [15:0] group_i,      // channels of a group, of a block
    input  wire [15:0] block_i,
    output wire [9:0]  pc_o,
    input  wire [22:0] rom_i,

    output reg         valid_o,
    output reg  [22:0] code_o,
    output reg  [15:0] tap_o,
    output reg  [31:0] channel_o,
    output reg  [15:0] active_o,
    input  wire        fire_i
);
  reg        inside_q;             // a part has begun
  reg  [9:0] pc_q;
  reg        looping_q;
  reg [15:0] turns_q;              // left, with the present one
  reg  [9:0] loop_first_q, loop_last_q;

  wire [9:0]  pc = inside_q ? pc_q : first_i;
  wire        is_loop = rom_i[22:18] == wc_simd_pkg::OP_LOOP;
  wire [9:0]  length = {3'd0, rom_i[6:0]};
  wire [15:0] turns = (rom_i[7] ? block_i : group_i) - 16'd1;
  wire        skip = is_loop && (turns == 16'd0);

  wire        take = token_valid_i && (is_loop || !valid_o || fire_i);
  wire        again = looping_q && (pc == loop_last_q) && (turns_q != 16'd1);
  wire        ends = !again && (skip ? pc + length == last_i : !is_loop && (pc == last_i));

  assign pc_o         = pc;
  assign token_take_o = take && ends;
  assign busy_o       = valid_o || token_valid_i;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      valid_o   <= 1'b0;
      inside_q  <= 1'b0;
      looping_q <= 1'b0;
    end else begin
      if (take && !is_loop) valid_o <= 1'b1;
      else if (fire_i) valid_o <= 1'b0;
      if (take) inside_q <= !ends;
      if (take && is_loop) looping_q <= !skip;
      else if (take && looping_q && (pc == loop_last_q) && !again) looping_q <= 1'b0;
    end

  always @(posedge clk_i)
    if (take) begin
      pc_q <= skip ? pc + length + 10'd1 : again ? loop_first_q : pc + 10'd1;
      if (is_loop) begin
        turns_q      <= turns;
        loop_first_q <= pc + 10'd1;
        loop_last_q  <= pc + length;
      end else begin
        if (again) turns_q <= turns_q - 16'd1;
        code_o    <= rom_i;
        tap_o     <= tap_i;
        channel_o <= channel_i;
        active_o  <= active_i;
      end
    end
endmodule
`default_nettype wire
