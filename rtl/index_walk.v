// SPDX-License-Identifier: Apache-2.0
//
// Address of the present position in a walk over (count2, count1, count0), innermost count0, by addition alone (rtl/README.md,
// "The two walkers"). A step adds delta0; when count0 wraps it adds delta1 instead, when count1 wraps as well delta2. The deltas
// are differences from the last position before the wrap.
//
// load_i puts the walk at (start2, start1, start0), whose address is base_i; it wins over step_i. wrap0_o, wrap1_o and wrap2_o say
// combinationally what a step now would wrap. A step from the last position ends the walk: ended_o stays set until the next load,
// and the address must not be used. Starts are below their counts. Addresses wrap at 32 bits; the user checks the range.
//
// Vectors hold index 0 in the low bits.
`default_nettype none

module index_walk (
    input  wire        clk_i,
    input  wire        load_i,
    input  wire        step_i,
    input  wire [31:0] base_i,
    input  wire [47:0] count_i,
    input  wire [47:0] start_i,
    input  wire [95:0] delta_i,
    output wire [31:0] addr_o,
    output wire        ended_o,
    output wire        wrap0_o,
    output wire        wrap1_o,
    output wire        wrap2_o
);
  reg [31:0] addr_q;
  reg [15:0] i0_q, i1_q, i2_q;
  reg        ended_q;

  // 17 bits, so that a count of 65535 is met.
  wire [16:0] next0 = {1'b0, i0_q} + 17'd1;
  wire [16:0] next1 = {1'b0, i1_q} + 17'd1;
  wire [16:0] next2 = {1'b0, i2_q} + 17'd1;

  assign addr_o  = addr_q;
  assign ended_o = ended_q;
  assign wrap0_o = next0 == {1'b0, count_i[15:0]};
  assign wrap1_o = wrap0_o && next1 == {1'b0, count_i[31:16]};
  assign wrap2_o = wrap1_o && next2 == {1'b0, count_i[47:32]};

  always @(posedge clk_i)
    if (load_i) begin
      addr_q <= base_i;
      i0_q   <= start_i[15:0];
      i1_q   <= start_i[31:16];
      i2_q   <= start_i[47:32];
      ended_q <= 1'b0;
    end else if (step_i) begin
      addr_q <= addr_q + (wrap1_o ? delta_i[95:64] : wrap0_o ? delta_i[63:32] : delta_i[31:0]);
      i0_q   <= wrap0_o ? 16'd0 : next0[15:0];
      if (wrap0_o) i1_q <= wrap1_o ? 16'd0 : next1[15:0];
      if (wrap1_o) i2_q <= wrap2_o ? 16'd0 : next2[15:0];
      if (wrap2_o) ended_q <= 1'b1;
    end
endmodule
`default_nettype wire
