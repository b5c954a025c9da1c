// SPDX-License-Identifier: Apache-2.0
//
// Cols adders of fp32: sum = old + chunk, or +0 + chunk with zero_i. Combinational; the adder is fp_pkg::fp32_add, as in
// fp32_add.v. Sums read +0 while not valid, so that idle cycles cost a simulation nothing.
`default_nettype none

module acc_add #(
    parameter integer Cols = 16
) (
    input  wire               valid_i,
    input  wire               zero_i,
    input  wire [Cols*32-1:0] old_i,
    input  wire [Cols*32-1:0] chunk_i,
    output reg  [Cols*32-1:0] sum_o
);
  wire [31:0] keep = zero_i ? 32'd0 : 32'hffffffff;

  integer c;
  always @(*) begin
    sum_o = {Cols * 32{1'b0}};
    if (valid_i)
      for (c = 0; c < Cols; c = c + 1)
        sum_o[32*c+:32] = fp_pkg::fp32_add(old_i[32*c+:32] & keep, chunk_i[32*c+:32]);
  end
endmodule
`default_nettype wire
