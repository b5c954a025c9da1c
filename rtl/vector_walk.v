// SPDX-License-Identifier: Apache-2.0
//
// Vector walk of an operand fetcher: address and image position of the present vector's tap (0, 0) (rtl/README.md, "The two walkers").
//
// load_i puts it at the start of the command whose fetch block (commands.def) is load_fields_i; step_i goes to the next vector of
// the command in fields_i. y_o and x_o are signed.
`default_nettype none

module vector_walk (
    input  wire         clk_i,
    input  wire         load_i,
    input  wire         step_i,
    input  wire [671:0] load_fields_i,
    input  wire [671:0] fields_i,
    output wire [31:0]  addr_o,
    output wire         ended_o,       // the last vector is passed: there is none any more
    output wire [31:0]  y_o,
    output wire [31:0]  x_o
);
  localparam integer Origin = wc_cmd_pkg::GEMM_A_BASE_L;
  localparam integer CountL = wc_cmd_pkg::GEMM_A_COUNT0_L - Origin;
  localparam integer StartL = wc_cmd_pkg::GEMM_A_START0_L - Origin;
  localparam integer DeltaL = wc_cmd_pkg::GEMM_A_DELTA0_L - Origin;
  localparam integer YFirstL = wc_cmd_pkg::GEMM_A_Y_FIRST_L - Origin;
  localparam integer XFirstL = wc_cmd_pkg::GEMM_A_X_FIRST_L - Origin;
  localparam integer YStartL = wc_cmd_pkg::GEMM_A_Y_START_L - Origin;
  localparam integer XStartL = wc_cmd_pkg::GEMM_A_X_START_L - Origin;
  localparam integer YStepL = wc_cmd_pkg::GEMM_A_Y_STEP_L - Origin;
  localparam integer XStepL = wc_cmd_pkg::GEMM_A_X_STEP_L - Origin;

  wire wrap0, wrap1, wrap2;

  index_walk u_index (
      .clk_i  (clk_i),
      .load_i (load_i),
      .step_i (step_i),
      .base_i (load_fields_i[31:0]),
      .count_i(fields_i[CountL+:48]),
      .start_i(load_fields_i[StartL+:48]),
      .delta_i(fields_i[DeltaL+:96]),
      .addr_o (addr_o),
      .ended_o(ended_o),
      .wrap0_o(wrap0),
      .wrap1_o(wrap1),
      .wrap2_o(wrap2)
  );

  // 32 bits hold every position of a walk of 65535 steps.
  wire [31:0] y_first = {{16{fields_i[YFirstL+15]}}, fields_i[YFirstL+:16]};
  wire [31:0] x_first = {{16{fields_i[XFirstL+15]}}, fields_i[XFirstL+:16]};
  wire [31:0] y_start = {{16{load_fields_i[YStartL+15]}}, load_fields_i[YStartL+:16]};
  wire [31:0] x_start = {{16{load_fields_i[XStartL+15]}}, load_fields_i[XStartL+:16]};
  wire [31:0] y_step  = {{16{fields_i[YStepL+15]}}, fields_i[YStepL+:16]};
  wire [31:0] x_step  = {{16{fields_i[XStepL+15]}}, fields_i[XStepL+:16]};

  reg [31:0] y_q, x_q;
  assign y_o = y_q;
  assign x_o = x_q;

  always @(posedge clk_i)
    if (load_i) begin
      y_q <= y_start;
      x_q <= x_start;
    end else if (step_i) begin
      x_q <= wrap0 ? x_first : x_q + x_step;
      if (wrap0) y_q <= wrap1 ? y_first : y_q + y_step;
    end

  wire unused = &{1'b0, load_fields_i, fields_i, wrap2};
endmodule
`default_nettype wire
