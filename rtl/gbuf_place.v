// SPDX-License-Identifier: Apache-2.0
//
// Where an access of size_i bytes at addr_i lies in the global buffer. It touches line addr / LineBytes and, if it crosses the
// line's end, the next one.
//
// Line l lies in bank {hash of l[top:1], l[0]} at row l / 8; the hash is the exclusive or of all pairs of bits above l[0].
// Neighbouring lines never share a bank, and strides of a power of two spread over the banks.
`default_nettype none

module gbuf_place #(
    parameter integer LineBytes = 64,
    parameter integer RowBits   = 7
) (
    input  wire [31:0]        addr_i,
    input  wire [15:0]        size_i,
    output wire [15:0]        offset_o,   // of the first byte in its line
    output wire               two_o,      // the access goes on in the next line
    output wire [2:0]         bank0_o,
    output wire [RowBits-1:0] row0_o,
    output wire [2:0]         bank1_o,    // the next line's
    output wire [RowBits-1:0] row1_o,
    output wire [7:0]         banks_o     // touched, one bit each
);
  localparam integer OffsetBits = $clog2(LineBytes);
  localparam [31:0] LineWord = LineBytes;

  wire [31:0] line0 = addr_i >> OffsetBits;
  wire [31:0] line1 = line0 + 32'd1;

  function [2:0] bank_of(input [31:0] line);
    reg [31:0] fold;
    begin
      fold = line >> 1;
      fold = fold ^ (fold >> 16);
      fold = fold ^ (fold >> 8);
      fold = fold ^ (fold >> 4);
      fold = fold ^ (fold >> 2);
      bank_of = {fold[1:0], line[0]};
    end
  endfunction

  assign offset_o = {{(16 - OffsetBits) {1'b0}}, addr_i[OffsetBits-1:0]};
  assign two_o = offset_o + size_i > LineWord[15:0];
  assign bank0_o = bank_of(line0);
  assign bank1_o = bank_of(line1);
  assign row0_o = line0[RowBits+2:3];
  assign row1_o = line1[RowBits+2:3];
  assign banks_o = (8'd1 << bank0_o) | (two_o ? 8'd1 << bank1_o : 8'd0);

  wire unused = &{1'b0, line0, line1};
endmodule
`default_nettype wire
