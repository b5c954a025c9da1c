// SPDX-License-Identifier: Apache-2.0
//
// Address of row (i1, i2) of a strided tensor, base + i1 stride1 + i2 stride2, by addition alone. load_i sets it to row (0, 0);
// next_row_i and next_plane_i (which goes back to i1 = 0) step it. Addresses wrap at 32 bits; the user checks the range.
`default_nettype none

module row_walk (
    input  wire        clk_i,
    input  wire        load_i,
    input  wire [31:0] base_i,
    input  wire [31:0] stride1_i,
    input  wire [31:0] stride2_i,
    input  wire        next_row_i,
    input  wire        next_plane_i,
    output wire [31:0] row_o
);
  reg [31:0] row_q, plane_q, stride1_q, stride2_q;

  assign row_o = row_q;

  always @(posedge clk_i)
    if (load_i) begin
      row_q     <= base_i;
      plane_q   <= base_i;
      stride1_q <= stride1_i;
      stride2_q <= stride2_i;
    end else if (next_plane_i) begin
      row_q   <= plane_q + stride2_q;
      plane_q <= plane_q + stride2_q;
    end else if (next_row_i) row_q <= row_q + stride1_q;
endmodule
`default_nettype wire
