// SPDX-License-Identifier: Apache-2.0
//
// VECTOR engine: the commands of one queue, one at a time, in order. `relu` has a data path of its own for VECTOR commands (ReLU and its
// gradients, at the pace of the port), `simd` runs the micro-programs of SIMD commands. They share the buffer's vector port.
`default_nettype none

module vector #(
    parameter integer GbufBytes = 65536,
    parameter integer LineBytes = 64
) (
    input  wire                   clk_i,
    input  wire                   rst_ni,
    input  wire                   halt_i,
    output wire                   busy_o,

    input  wire                   cmd_valid_i,
    output wire                   cmd_ready_o,
    input  wire [2047:0]          cmd_i,
    input  wire [31:0]            cmd_index_i,
    output wire                   done_o,
    output wire [31:0]            done_index_o,
    output wire                   error_o,
    output wire [7:0]             error_status_o,
    output wire [31:0]            error_index_o,

    output wire                   v_req_o,
    output wire [31:0]            v_addr_o,
    output wire [15:0]            v_size_o,
    output wire                   v_we_o,
    output reg  [LineBytes*8-1:0] v_wdata_o,
    input  wire                   v_gnt_i,
    input  wire                   v_rvalid_i,
    input  wire [LineBytes*8-1:0] v_rdata_i
);
  localparam integer LineBits = LineBytes * 8;

  wire                is_simd = cmd_i[wc_cmd_pkg::SIMD_OPCODE_L+:8] == wc_cmd_pkg::OP_SIMD;
  wire                relu_busy, relu_ready, relu_done, relu_error, relu_req, relu_we;
  wire                simd_busy, simd_ready, simd_done, simd_error, simd_req, simd_we;
  wire [31:0]         relu_done_index, relu_error_index, relu_addr;
  wire [31:0]         simd_done_index, simd_error_index, simd_addr;
  wire [7:0]          relu_status, simd_status;
  wire [15:0]         relu_size, simd_size;
  wire [LineBits-1:0] relu_wdata, simd_wdata;
  wire                free = !relu_busy && !simd_busy;

  relu #(
      .GbufBytes(GbufBytes),
      .LineBytes(LineBytes)
  ) u_relu (
      .clk_i         (clk_i),
      .rst_ni        (rst_ni),
      .halt_i        (halt_i),
      .busy_o        (relu_busy),
      .cmd_valid_i   (cmd_valid_i && free && !is_simd),
      .cmd_ready_o   (relu_ready),
      .cmd_i         (cmd_i),
      .cmd_index_i   (cmd_index_i),
      .done_o        (relu_done),
      .done_index_o  (relu_done_index),
      .error_o       (relu_error),
      .error_status_o(relu_status),
      .error_index_o (relu_error_index),
      .v_req_o       (relu_req),
      .v_addr_o      (relu_addr),
      .v_size_o      (relu_size),
      .v_we_o        (relu_we),
      .v_wdata_o     (relu_wdata),
      .v_gnt_i       (v_gnt_i && relu_busy),
      .v_rvalid_i    (v_rvalid_i && relu_busy),
      .v_rdata_i     (v_rdata_i)
  );

  simd #(
      .GbufBytes(GbufBytes),
      .LineBytes(LineBytes)
  ) u_simd (
      .clk_i         (clk_i),
      .rst_ni        (rst_ni),
      .halt_i        (halt_i),
      .busy_o        (simd_busy),
      .cmd_valid_i   (cmd_valid_i && free && is_simd),
      .cmd_ready_o   (simd_ready),
      .cmd_i         (cmd_i),
      .cmd_index_i   (cmd_index_i),
      .done_o        (simd_done),
      .done_index_o  (simd_done_index),
      .error_o       (simd_error),
      .error_status_o(simd_status),
      .error_index_o (simd_error_index),
      .v_req_o       (simd_req),
      .v_addr_o      (simd_addr),
      .v_size_o      (simd_size),
      .v_we_o        (simd_we),
      .v_wdata_o     (simd_wdata),
      .v_gnt_i       (v_gnt_i && simd_busy),
      .v_rvalid_i    (v_rvalid_i && simd_busy),
      .v_rdata_i     (v_rdata_i)
  );

  assign busy_o         = !free;
  assign cmd_ready_o    = free && (is_simd ? simd_ready : relu_ready);
  assign done_o         = relu_done || simd_done;
  assign done_index_o   = simd_done ? simd_done_index : relu_done_index;
  assign error_o        = relu_error || simd_error;
  assign error_status_o = simd_error ? simd_status : relu_status;
  assign error_index_o  = simd_error ? simd_error_index : relu_error_index;

  assign v_req_o   = relu_req || simd_req;
  assign v_addr_o  = simd_busy ? simd_addr : relu_addr;
  assign v_size_o  = simd_busy ? simd_size : relu_size;
  assign v_we_o    = simd_busy ? simd_we : relu_we;

  // 0 when nothing is written: a line's worth of selecting is simulated in no other cycle.
  always @(*) begin
    v_wdata_o = {LineBits{1'b0}};
    if (v_req_o && v_we_o) v_wdata_o = simd_busy ? simd_wdata : relu_wdata;
  end
endmodule
`default_nettype wire
