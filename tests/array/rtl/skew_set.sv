// SPDX-License-Identifier: Apache-2.0
//
// skew in the shapes that the device uses: an input skew, one for two-stage MACs, and a wide de-skew.
`default_nettype none

module skew_set (
    input  wire              clk_i,
    input  wire              rst_ni,
    input  wire              en_i,
    input  wire [16*18-1:0]  in_i,
    output wire [16*18-1:0]  in_o,
    input  wire [8*18-1:0]   two_i,
    output wire [8*18-1:0]   two_o,
    input  wire [128*33-1:0] out_i,
    output wire [128*33-1:0] out_o
);
  skew #(
      .N(16), .W(18)
  ) u_in (
      .clk_i(clk_i), .rst_ni(rst_ni), .en_i(en_i), .d_i(in_i), .q_o(in_o)
  );
  skew #(
      .N(8), .W(18), .Step(2)
  ) u_two (
      .clk_i(clk_i), .rst_ni(rst_ni), .en_i(en_i), .d_i(two_i), .q_o(two_o)
  );
  skew #(
      .N(128), .W(33), .Reverse(1)
  ) u_out (
      .clk_i(clk_i), .rst_ni(rst_ni), .en_i(en_i), .d_i(out_i), .q_o(out_o)
  );
endmodule
`default_nettype wire
