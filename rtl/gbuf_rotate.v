// SPDX-License-Identifier: Apache-2.0
//
// Places a write's bytes for the global buffer's banks: byte 0 of data_i goes to byte offset_i of the line, and what runs over
// the line's end to the beginning, where the next line takes it. Zero while not valid, so that idle cycles cost a simulation
// nothing.
`default_nettype none

module gbuf_rotate #(
    parameter integer LineBytes = 64
) (
    input  wire                   valid_i,
    input  wire [15:0]            offset_i,
    input  wire [LineBytes*8-1:0] data_i,
    output reg  [LineBytes*8-1:0] line_o
);
  localparam integer Bits = LineBytes * 8;
  localparam integer ShiftBits = $clog2(Bits) + 1;

  wire [ShiftBits-1:0] shift = {offset_i[ShiftBits-4:0], 3'b000};

  always @(*) begin
    line_o = {Bits{1'b0}};
    if (valid_i) line_o = (data_i << shift) | (data_i >> (Bits[ShiftBits-1:0] - shift));
  end

  wire unused = &{1'b0, offset_i};
endmodule
`default_nettype wire
