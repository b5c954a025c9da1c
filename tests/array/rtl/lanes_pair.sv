// SPDX-License-Identifier: Apache-2.0
//
// The two forms of the vector unit's lanes side by side on the same inputs: what they put, and the registers of the synthesizable one.
`default_nettype none

module lanes_pair #(
    parameter integer Lanes = 32
) (
    input  wire                clk_i,
    input  wire                line_i,
    input  wire [2:0]          slot_i,
    input  wire                slot_high_i,
    input  wire [Lanes*16-1:0] rdata_i,
    input  wire                fire_i,
    input  wire [22:0]         code_i,
    input  wire                vector_i,
    input  wire [2:0]          head_i,
    input  wire [3:0]          type_i,
    input  wire [3:0]          shift_i,
    input  wire [31:0]         literal_a_i,
    input  wire [31:0]         literal_b_i,
    input  wire [127:0]        constants_i,
    input  wire [15:0]         tap_i,
    input  wire [31:0]         channel_i,
    input  wire [15:0]         active_i,
    input  wire [Lanes-1:0]    first_i,
    input  wire                put_i,
    output wire [Lanes*32-1:0] rtl_put_o,
    output wire [Lanes*32-1:0] dpi_put_o,
    output wire [Lanes*256-1:0] rtl_registers_o,  // r0 lowest
    output wire [Lanes-1:0]    rtl_predicate_o
);
  simd_lanes #(
      .LineBytes(2 * Lanes), .Lanes(Lanes)
  ) u_rtl (
      .clk_i(clk_i),
      .line_i(line_i), .slot_i(slot_i), .slot_high_i(slot_high_i), .rdata_i(rdata_i),
      .fire_i(fire_i), .code_i(code_i), .vector_i(vector_i), .head_i(head_i), .type_i(type_i), .shift_i(shift_i),
      .literal_a_i(literal_a_i), .literal_b_i(literal_b_i), .constants_i(constants_i), .tap_i(tap_i),
      .channel_i(channel_i), .active_i(active_i), .first_i(first_i), .put_i(put_i),
      .put_q(rtl_put_o)
  );
  simd_lanes_dpi #(
      .LineBytes(2 * Lanes), .Lanes(Lanes)
  ) u_dpi (
      .clk_i(clk_i),
      .line_i(line_i), .slot_i(slot_i), .slot_high_i(slot_high_i), .rdata_i(rdata_i),
      .fire_i(fire_i), .code_i(code_i), .vector_i(vector_i), .head_i(head_i), .type_i(type_i), .shift_i(shift_i),
      .literal_a_i(literal_a_i), .literal_b_i(literal_b_i), .constants_i(constants_i), .tap_i(tap_i),
      .channel_i(channel_i), .active_i(active_i), .first_i(first_i), .put_i(put_i),
      .put_q(dpi_put_o)
  );

  assign rtl_registers_o = {u_rtl.r[7], u_rtl.r[6], u_rtl.r[5], u_rtl.r[4], u_rtl.r[3], u_rtl.r[2], u_rtl.r[1], u_rtl.r[0]};
  assign rtl_predicate_o = u_rtl.predicate;
endmodule
`default_nettype wire
