// SPDX-License-Identifier: Apache-2.0
//
// fp32 x fp32 -> fp32, combinational: round to nearest even, subnormals kept, canonical NaN 0x7fc00000.
`default_nettype none

module fp32_mul (
    input  wire [31:0] a_i,
    input  wire [31:0] b_i,
    output wire [31:0] product_o
);
  assign product_o = fp_pkg::fp32_mul(a_i, b_i);
endmodule
`default_nettype wire
