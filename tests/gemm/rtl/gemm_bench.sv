// SPDX-License-Identifier: Apache-2.0
//
// The GEMM engine on its global buffer, with the buffer's other ports and the command port brought out.
`default_nettype none

module gemm_bench #(
    parameter integer Rows      = 16,
    parameter integer Cols      = 16,
    parameter integer AccRows   = 256,
    parameter integer GbufBytes = 65536,
    parameter integer LineBytes = 64,
    parameter integer MacStages = 1
) (
    input  wire                   clk_i,
    input  wire                   rst_ni,

    input  wire                   cmd_valid_i,
    output wire                   cmd_ready_o,
    input  wire [2047:0]          cmd_i,
    input  wire [31:0]            cmd_index_i,
    output wire                   done_o,
    output wire [31:0]            done_index_o,
    output wire                   error_o,
    output wire [7:0]             error_status_o,
    output wire [31:0]            error_index_o,
    input  wire                   halt_i,

    input  wire                   ld_req_i,
    input  wire [31:0]            ld_addr_i,
    input  wire [15:0]            ld_size_i,
    input  wire [LineBytes*8-1:0] ld_wdata_i,
    output wire                   ld_gnt_o,
    input  wire                   st_req_i,
    input  wire [31:0]            st_addr_i,
    input  wire [15:0]            st_size_i,
    output wire                   st_gnt_o,
    output wire                   st_rvalid_o,
    output wire [LineBytes*8-1:0] st_rdata_o,
    input  wire                   v_req_i,
    input  wire [31:0]            v_addr_i,
    input  wire [15:0]            v_size_i,
    input  wire                   v_we_i,
    input  wire [LineBytes*8-1:0] v_wdata_i,
    output wire                   v_gnt_o,
    output wire                   v_rvalid_o,
    output wire [LineBytes*8-1:0] v_rdata_o,

    output wire                   array_busy_o,
    output wire                   stall_operand_o,
    output wire                   stall_weight_o,
    output wire                   stall_accumulator_o,
    output wire                   stall_command_o,
    output wire                   wave_o,
    output wire                   bubble_o,
    output wire                   access_o,     // the engine is granted an access

    output wire                   feed_a_valid_o, // operands and sums as the engine names them for traces
    output wire [31:0]            feed_a_wave_o,
    output wire [31:0]            feed_a_index_o,
    output wire [Rows*16-1:0]     feed_a_bits_o,
    output wire                   feed_b_valid_o,
    output wire [15:0]            feed_b_k_o,
    output wire [31:0]            feed_b_wave_o,
    output wire [31:0]            feed_b_index_o,
    output wire [Cols*16-1:0]     feed_b_bits_o,
    output wire                   acc_valid_o,
    output wire [31:0]            acc_index_o,
    output wire [Cols*32-1:0]     acc_bits_o
);
  wire                   a_req, a_gnt, a_rvalid, b_req, b_gnt, b_rvalid, d_req, d_we, d_gnt, d_rvalid;
  wire [31:0]            a_addr, b_addr, d_addr;
  wire [15:0]            a_size, b_size, d_size;
  wire [LineBytes*8-1:0] a_rdata, b_rdata, d_wdata, d_rdata;

  assign access_o = a_gnt || b_gnt || d_gnt;

  assign feed_a_valid_o = u_gemm.feed_a_valid;
  assign feed_a_wave_o = u_gemm.feed_a_wave;
  assign feed_a_index_o = u_gemm.feed_a_cmd_index;
  assign feed_a_bits_o = u_gemm.feed_a_bits;
  assign feed_b_valid_o = u_gemm.feed_b_valid;
  assign feed_b_k_o = u_gemm.feed_b_k;
  assign feed_b_wave_o = u_gemm.feed_b_wave;
  assign feed_b_index_o = u_gemm.feed_b_cmd_index;
  assign feed_b_bits_o = u_gemm.feed_b_bits;
  assign acc_valid_o = u_gemm.acc_valid;
  assign acc_index_o = u_gemm.acc_cmd_index;
  assign acc_bits_o = u_gemm.acc_bits;

  gemm #(
      .Rows     (Rows),
      .Cols     (Cols),
      .AccRows  (AccRows),
      .GbufBytes(GbufBytes),
      .LineBytes(LineBytes),
      .MacStages(MacStages)
  ) u_gemm (
      .a_req_o   (a_req),
      .a_addr_o  (a_addr),
      .a_size_o  (a_size),
      .a_gnt_i   (a_gnt),
      .a_rvalid_i(a_rvalid),
      .a_rdata_i (a_rdata),
      .b_req_o   (b_req),
      .b_addr_o  (b_addr),
      .b_size_o  (b_size),
      .b_gnt_i   (b_gnt),
      .b_rvalid_i(b_rvalid),
      .b_rdata_i (b_rdata),
      .d_req_o   (d_req),
      .d_addr_o  (d_addr),
      .d_size_o  (d_size),
      .d_we_o    (d_we),
      .d_wdata_o (d_wdata),
      .d_gnt_i   (d_gnt),
      .d_rvalid_i(d_rvalid),
      .d_rdata_i (d_rdata),
      .*
  );

  gbuf #(
      .GbufBytes(GbufBytes),
      .LineBytes(LineBytes)
  ) u_gbuf (
      .a_req_i   (a_req),
      .a_addr_i  (a_addr),
      .a_size_i  (a_size),
      .a_gnt_o   (a_gnt),
      .a_rvalid_o(a_rvalid),
      .a_rdata_o (a_rdata),
      .d_req_i   (d_req),
      .d_addr_i  (d_addr),
      .d_size_i  (d_size),
      .d_we_i    (d_we),
      .d_wdata_i (d_wdata),
      .d_gnt_o   (d_gnt),
      .d_rvalid_o(d_rvalid),
      .d_rdata_o (d_rdata),
      .b_req_i   (b_req),
      .b_addr_i  (b_addr),
      .b_size_i  (b_size),
      .b_gnt_o   (b_gnt),
      .b_rvalid_o(b_rvalid),
      .b_rdata_o (b_rdata),
      .*
  );
endmodule
`default_nettype wire
