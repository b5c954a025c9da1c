// SPDX-License-Identifier: Apache-2.0
//
// The bytes that one vector of a SIMD stream covers in the global buffer, and whether they may be touched. Combinational.
//
// The address is in bytes, or in bits for bit fields (type above 2), which are read and written from the half on in which the first one
// lies; `shift` is its bit there.
`default_nettype none

module simd_access #(
    parameter integer GbufBytes = 65536
) (
    input  wire [31:0] address_i,
    input  wire [3:0]  type_i,
    input  wire [15:0] active_i,    // lanes
    output wire [31:0] byte_o,      // even, if not odd_o
    output wire [15:0] bytes_o,
    output wire [3:0]  shift_o,
    output wire [31:0] end_o,       // bit fields: the bit behind the last one
    output wire        range_o,     // not all inside the buffer
    output wire        odd_o        // fp16 and fp32 at an odd byte
);
  localparam [32:0] Limit = 33'(GbufBytes);

  wire        fields = type_i > 4'd2;
  wire [15:0] field_bits = active_i * {12'd0, type_i - 4'd2};
  wire [15:0] plain_bytes = (type_i == 4'd0) ? {active_i[14:0], 1'b0} : (type_i == 4'd1) ? {active_i[13:0], 2'b00} : 16'd4;
  wire [32:0] plain_end = {1'b0, address_i} + {17'd0, plain_bytes};
  wire [32:0] field_end = {1'b0, address_i} + {17'd0, field_bits};
  wire [15:0] field_bytes = ({12'd0, address_i[3:0]} + field_bits + 16'd7) >> 3;

  assign byte_o  = fields ? {3'd0, address_i[31:4], 1'b0} : address_i;
  assign bytes_o = fields ? field_bytes : plain_bytes;
  assign shift_o = fields ? address_i[3:0] : 4'd0;
  assign end_o   = field_end[31:0];
  assign range_o = fields ? field_end > 8 * Limit : plain_end > Limit;
  assign odd_o   = !fields && address_i[0];
endmodule
`default_nettype wire
