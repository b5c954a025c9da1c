// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic modules, each with operands of its own.
`default_nettype none

module fp_units (
    input  wire [15:0] mul_a_i,
    input  wire [15:0] mul_b_i,
    output wire [31:0] mul_o,
    input  wire [31:0] add_a_i,
    input  wire [31:0] add_b_i,
    output wire [31:0] add_o,
    input  wire [31:0] mul32_a_i,
    input  wire [31:0] mul32_b_i,
    output wire [31:0] mul32_o,
    input  wire [15:0] mac_a_i,
    input  wire [15:0] mac_b_i,
    input  wire [31:0] mac_psum_i,
    output wire [31:0] mac_o,
    input  wire [31:0] narrow_i,
    output wire [15:0] narrow_o
);
  fp16_mul u_mul (
      .a_i(mul_a_i), .b_i(mul_b_i), .product_o(mul_o)
  );
  fp32_add u_add (
      .a_i(add_a_i), .b_i(add_b_i), .sum_o(add_o)
  );
  fp32_mul u_mul32 (
      .a_i(mul32_a_i), .b_i(mul32_b_i), .product_o(mul32_o)
  );
  mac u_mac (
      .clk_i(1'b0), .en_i(1'b0), .a_i(mac_a_i), .b_i(mac_b_i), .psum_i(mac_psum_i), .sum_o(mac_o)
  );
  fp32_to_fp16 u_narrow (
      .value_i(narrow_i), .half_o(narrow_o)
  );
endmodule
`default_nettype wire
