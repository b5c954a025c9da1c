// SPDX-License-Identifier: Apache-2.0
//
// The performance counters, 64 bits each, in the order of enum wc_counter (csim/backend.h); count_i[2 i +: 2] is added to counter i.
// Reset clears them.
`default_nettype none

module counters #(
    parameter integer Count = 12
) (
    input  wire             clk_i,
    input  wire             rst_ni,
    input  wire [2*Count-1:0] count_i,
    input  wire             read_i,
    input  wire [3:0]       select_i,
    output reg  [63:0]      value_o       // 0 without read_i, so that the selection is simulated in no other cycle
);
  wire [16*64-1:0] values;

  genvar i;
  generate
    for (i = 0; i < 16; i = i + 1) begin : g_counter
      if (i < Count) begin : g_real
        reg [63:0] value_q;
        always @(posedge clk_i or negedge rst_ni)
          if (!rst_ni) value_q <= 64'd0;
          else if (count_i[2*i+:2] != 2'd0) value_q <= value_q + {62'd0, count_i[2*i+:2]};
        assign values[64*i+:64] = value_q;
      end else begin : g_none
        assign values[64*i+:64] = 64'd0;
      end
    end
  endgenerate

  integer k;
  always @(*) begin
    value_o = 64'd0;
    if (read_i)
      for (k = 0; k < 16; k = k + 1) if (select_i == k[3:0]) value_o = values[k*64+:64];
  end
endmodule
`default_nettype wire
