// SPDX-License-Identifier: Apache-2.0
//
// One multiply-accumulate, fp32 + fp16 x fp16 -> fp32. The product is exact and the sum is rounded once, to nearest even:
//     sum_o = psum_i + a_i * b_i
// Stages = 1: combinational. Stages = 2: the product and psum_i are registered in between, sum_o follows one enabled cycle later.
// The pipeline registers are not reset: whoever uses sum_o carries a valid bit along.
`default_nettype none

module mac #(
    parameter integer Stages = 1
) (
    input  wire        clk_i,
    input  wire        en_i,
    input  wire [15:0] a_i,
    input  wire [15:0] b_i,
    input  wire [31:0] psum_i,
    output wire [31:0] sum_o
);
  wire [31:0] product;
  wire [31:0] addend;
  wire [31:0] term;

  fp16_mul u_mul (
      .a_i      (a_i),
      .b_i      (b_i),
      .product_o(product)
  );
  fp32_add u_add (
      .a_i  (addend),
      .b_i  (term),
      .sum_o(sum_o)
  );

  generate
    if (Stages == 1) begin : g_comb
      assign addend = psum_i;
      assign term = product;
      wire unused = &{1'b0, clk_i, en_i};
    end else if (Stages == 2) begin : g_split
      reg [31:0] psum_q;
      reg [31:0] product_q;
      always @(posedge clk_i)
        if (en_i) begin
          psum_q <= psum_i;
          product_q <= product;
        end
      assign addend = psum_q;
      assign term = product_q;
    end else begin : g_bad
      // Elaboration error: Stages must be 1 or 2.
      mac_stages_must_be_1_or_2 u_bad ();
    end
  endgenerate
endmodule
`default_nettype wire
