// SPDX-License-Identifier: Apache-2.0
//
// fp32 -> fp16, combinational: round to nearest even, overflow to infinity, subnormals kept, canonical NaN 0x7e00.
`default_nettype none

module fp32_to_fp16 (
    input  wire [31:0] value_i,
    output wire [15:0] half_o
);
  wire [31:0] narrow = fp_pkg::fp32_narrow(value_i);
  assign half_o = narrow[15:0];

  wire unused = &{1'b0, narrow[31:16]};
endmodule
`default_nettype wire
