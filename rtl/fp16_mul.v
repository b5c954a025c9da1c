// SPDX-License-Identifier: Apache-2.0
//
// fp16 x fp16 -> fp32, combinational and exact: subnormals kept, canonical NaN 0x7fc00000.
`default_nettype none

module fp16_mul (
    input  wire [15:0] a_i,
    input  wire [15:0] b_i,
    output wire [31:0] product_o
);
  assign product_o = fp_pkg::expanded_mul(fp_pkg::fp16_expand({16'd0, a_i}), fp_pkg::fp16_expand({16'd0, b_i}));
endmodule
`default_nettype wire
