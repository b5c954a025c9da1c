// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of relu.v: Lanes fp16 elements in one combinational step.
//
//   op 0  keep an element if it is > 0 or NaN           (ReLU)
//   op 1  keep an element if its mask bit is set        (gradient of ReLU by mask)
//   op 2  keep an element if aux is > 0 or NaN          (gradient of ReLU by the stored output)
//
// What is not kept becomes +0, a NaN that is kept becomes the canonical one. keep_o are op 0's mask bits. Outputs are 0 while not valid.
`default_nettype none

module relu_lanes #(
    parameter integer Lanes = 32
) (
    input  wire                valid_i,
    input  wire [1:0]          op_i,
    input  wire [Lanes*16-1:0] src_i,
    input  wire [Lanes*16-1:0] aux_i,
    input  wire [Lanes-1:0]    mask_i,
    input  wire [31:0]         fault_i,   // a planted fault: the bit of dst_o that is wrong, counted from 1; 0, as in every device but a simulated one: none
    output reg  [Lanes*16-1:0] dst_o,
    output reg  [Lanes-1:0]    keep_o
);
  integer    i;
  reg [15:0] src, judge;
  reg        keep;

  always @(*) begin
    dst_o  = {Lanes * 16{1'b0}};
    keep_o = {Lanes{1'b0}};
    src    = 16'd0;
    judge  = 16'd0;
    keep   = 1'b0;
    if (valid_i) begin
      for (i = 0; i < Lanes; i = i + 1) begin
        src   = src_i[16*i+:16];
        judge = (op_i == 2'd2) ? aux_i[16*i+:16] : src;
        keep  = (op_i == 2'd1) ? mask_i[i] : (judge[14:0] > 15'h7c00) || (!judge[15] && (judge[14:0] != 15'd0));
        keep_o[i] = keep;
        dst_o[16*i+:16] = !keep ? 16'd0 : (src[14:0] > 15'h7c00) ? 16'h7e00 : src;
      end
      if (fault_i != 32'd0) dst_o = dst_o ^ ({{(Lanes * 16 - 1) {1'b0}}, 1'b1} << (fault_i - 32'd1));
    end
  end
endmodule
`default_nettype wire
