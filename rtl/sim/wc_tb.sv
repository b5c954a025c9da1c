// SPDX-License-Identifier: Apache-2.0
//
// What the host's shim simulates: the device, its AXI checker, and the points inside that traces, probes and faults look at, as
// plain ports. Everything on the ports is a function of registers in the same cycle, so the shim reads it before the clock edge.
//
//   events_o   one bit per thing that happens in this cycle; while it is 0 no other trace port means anything
//              3:0 an engine takes a command (load, gemm, vector, store), 7:4 an engine completes one,
//              8 wave begins, 9 wave ends, 10 a row is drained, 11 a row was added to the accumulator,
//              12 an A vector enters the array, 13 a B row does
//   levels_o   0 idle, 1 stopped by an error, 2 interrupt, 3 something moves in this cycle (the watchdog's question)
//   waiting_o  for the watchdog's report, per engine: bit e the queue has a command, bit 4 + e the engine is at work
`default_nettype none

module wc_tb #(
    parameter integer Rows      = 16,
    parameter integer Cols      = 16,
    parameter integer AccRows   = 256,
    parameter integer GbufBytes = 65536,
    parameter integer BusBytes  = 16,
    parameter integer MacStages = 1,
    // Widths of feeds: a multiple of 32 and at least 96, so that the shim sees words at every size.
    parameter integer PadA      = (Rows < 8) ? 128 : Rows * 16,
    parameter integer PadB      = (Cols < 8) ? 128 : Cols * 16
) (
    input  wire                  clk_i,
    input  wire                  rst_ni,

    input  wire [7:0]            s_axil_awaddr,
    input  wire                  s_axil_awvalid,
    output wire                  s_axil_awready,
    input  wire [31:0]           s_axil_wdata,
    input  wire                  s_axil_wvalid,
    output wire                  s_axil_wready,
    output wire                  s_axil_bvalid,
    input  wire                  s_axil_bready,
    input  wire [7:0]            s_axil_araddr,
    input  wire                  s_axil_arvalid,
    output wire                  s_axil_arready,
    output wire [31:0]           s_axil_rdata,
    output wire                  s_axil_rvalid,
    input  wire                  s_axil_rready,

    output wire                  m_axi_arid,
    output wire [63:0]           m_axi_araddr,
    output wire [7:0]            m_axi_arlen,
    output wire                  m_axi_arvalid,
    input  wire                  m_axi_arready,
    input  wire                  m_axi_rid,
    input  wire [BusBytes*8-1:0] m_axi_rdata,
    input  wire [1:0]            m_axi_rresp,
    input  wire                  m_axi_rlast,
    input  wire                  m_axi_rvalid,
    output wire                  m_axi_rready,
    output wire [63:0]           m_axi_awaddr,
    output wire [7:0]            m_axi_awlen,
    output wire                  m_axi_awvalid,
    input  wire                  m_axi_awready,
    output wire [BusBytes*8-1:0] m_axi_wdata,
    output wire [BusBytes-1:0]   m_axi_wstrb,
    output wire                  m_axi_wlast,
    output wire                  m_axi_wvalid,
    input  wire                  m_axi_wready,
    input  wire [1:0]            m_axi_bresp,
    input  wire                  m_axi_bvalid,
    output wire                  m_axi_bready,

    output wire [31:0]           events_o,
    output wire [7:0]            levels_o,
    output wire [7:0]            waiting_o,
    output wire [4*32-1:0]       begin_index_o,   // of the queue's head, per engine
    output wire [4*32-1:0]       end_index_o,
    output wire [4*32-1:0]       complete_o,      // commands complete, per engine
    output wire [4*128-1:0]      waits_o,         // wait fields of the queue's head, per engine
    output wire [31:0]           ar_index_o,      // command of the load burst on AR
    output wire [31:0]           aw_index_o,      // command of the burst on AW
    output wire [31:0]           wave_index_o,
    output wire [31:0]           wave_rows_o,
    output wire [31:0]           wave_cmd_o,
    output wire [31:0]           drain_row_o,
    output wire [31:0]           drain_cmd_o,
    output wire [31:0]           drain_cols_o,
    output wire [7:0]            drain_fp32_o,
    output wire [Cols*32-1:0]    drain_bits_o,
    output wire [31:0]           feed_a_row_o,
    output wire [31:0]           feed_a_sel_o,    // weight register that the vector uses
    output wire [PadA-1:0]       feed_a_bits_o,
    output wire [31:0]           feed_b_k_o,
    output wire [31:0]           feed_b_wave_o,
    output wire [31:0]           feed_b_cmd_o,
    output wire [PadB-1:0]       feed_b_bits_o,
    output wire [31:0]           acc_row_o,
    output wire [31:0]           acc_wave_o,
    output wire [31:0]           acc_cmd_o,
    output wire [31:0]           acc_side_o,
    output wire [Cols*32-1:0]    acc_bits_o
);
  wire       irq;
  wire [2:0] arsize, awsize;
  wire [1:0] arburst, awburst, bresp, rresp;
  wire       awid;

  wavecore #(
      .Rows     (Rows),
      .Cols     (Cols),
      .AccRows  (AccRows),
      .GbufBytes(GbufBytes),
      .BusBytes (BusBytes),
      .MacStages(MacStages)
  ) u_dut (
      .clk_i         (clk_i),
      .rst_ni        (rst_ni),
      .irq_o         (irq),
      .s_axil_awaddr (s_axil_awaddr),
      .s_axil_awvalid(s_axil_awvalid),
      .s_axil_awready(s_axil_awready),
      .s_axil_wdata  (s_axil_wdata),
      .s_axil_wvalid (s_axil_wvalid),
      .s_axil_wready (s_axil_wready),
      .s_axil_bresp  (bresp),
      .s_axil_bvalid (s_axil_bvalid),
      .s_axil_bready (s_axil_bready),
      .s_axil_araddr (s_axil_araddr),
      .s_axil_arvalid(s_axil_arvalid),
      .s_axil_arready(s_axil_arready),
      .s_axil_rdata  (s_axil_rdata),
      .s_axil_rresp  (rresp),
      .s_axil_rvalid (s_axil_rvalid),
      .s_axil_rready (s_axil_rready),
      .m_axi_arid    (m_axi_arid),
      .m_axi_araddr  (m_axi_araddr),
      .m_axi_arlen   (m_axi_arlen),
      .m_axi_arsize  (arsize),
      .m_axi_arburst (arburst),
      .m_axi_arvalid (m_axi_arvalid),
      .m_axi_arready (m_axi_arready),
      .m_axi_rid     (m_axi_rid),
      .m_axi_rdata   (m_axi_rdata),
      .m_axi_rresp   (m_axi_rresp),
      .m_axi_rlast   (m_axi_rlast),
      .m_axi_rvalid  (m_axi_rvalid),
      .m_axi_rready  (m_axi_rready),
      .m_axi_awid    (awid),
      .m_axi_awaddr  (m_axi_awaddr),
      .m_axi_awlen   (m_axi_awlen),
      .m_axi_awsize  (awsize),
      .m_axi_awburst (awburst),
      .m_axi_awvalid (m_axi_awvalid),
      .m_axi_awready (m_axi_awready),
      .m_axi_wdata   (m_axi_wdata),
      .m_axi_wstrb   (m_axi_wstrb),
      .m_axi_wlast   (m_axi_wlast),
      .m_axi_wvalid  (m_axi_wvalid),
      .m_axi_wready  (m_axi_wready),
      .m_axi_bid     (1'b0),
      .m_axi_bresp   (m_axi_bresp),
      .m_axi_bvalid  (m_axi_bvalid),
      .m_axi_bready  (m_axi_bready)
  );

  axi_check #(
      .BusBytes(BusBytes)
  ) u_axi_check (
      .clk_i      (clk_i),
      .rst_ni     (rst_ni),
      .idle_i     (u_dut.idle),
      .mem_base_i (u_dut.mem_base),
      .mem_limit_i(u_dut.mem_limit),
      .arid       (m_axi_arid),
      .araddr     (m_axi_araddr),
      .arlen      (m_axi_arlen),
      .arvalid    (m_axi_arvalid),
      .arready    (m_axi_arready),
      .rlast      (m_axi_rlast),
      .rvalid     (m_axi_rvalid),
      .rready     (m_axi_rready),
      .awaddr     (m_axi_awaddr),
      .awlen      (m_axi_awlen),
      .awvalid    (m_axi_awvalid),
      .awready    (m_axi_awready),
      .wdata      (m_axi_wdata),
      .wstrb      (m_axi_wstrb),
      .wlast      (m_axi_wlast),
      .wvalid     (m_axi_wvalid),
      .wready     (m_axi_wready),
      .bvalid     (m_axi_bvalid),
      .bready     (m_axi_bready)
  );

  // ---- commands ----------------------------------------------------------------------------------
  wire [3:0] begins = u_dut.eng_valid & u_dut.eng_ready;

  assign begin_index_o = u_dut.eng_index;
  assign end_index_o   = u_dut.eng_done_index;
  assign complete_o    = {u_dut.u_sequencer.done_store_q, u_dut.u_sequencer.done_vector_q,
                          u_dut.u_sequencer.done_gemm_q, u_dut.u_sequencer.done_load_q};

  genvar e;
  generate
    for (e = 0; e < 4; e = e + 1) begin : g_engine
      assign waits_o[128*e+:128] = u_dut.u_sequencer.eng_cmd_o[2048*e+wc_cmd_pkg::LOAD_WAIT_LOAD_L+:128];
      assign waiting_o[e]        = u_dut.u_sequencer.g_queue[e].u_queue.head_valid;
    end
  endgenerate
  assign waiting_o[7:4] = ~u_dut.eng_ready;

  // ---- bursts: whose they are --------------------------------------------------------------------
  reg [31:0] ar_index_q;
  reg [31:0] aw_index [0:3];
  always @(posedge clk_i) begin
    if (u_dut.u_axi_read.ar_free) ar_index_q <= u_dut.u_load.burst_index;
    if (u_dut.u_store.take) aw_index[u_dut.u_store.u_aw.tail_q[1:0]] <= u_dut.u_store.burst_index;
  end
  assign ar_index_o = ar_index_q;
  assign aw_index_o = aw_index[u_dut.u_store.u_aw.head_q[1:0]];

  // ---- waves and tiles ---------------------------------------------------------------------------
  assign wave_index_o = u_dut.u_gemm.wave_index;
  assign wave_rows_o  = {16'd0, u_dut.u_gemm.wave_rows};
  assign wave_cmd_o   = u_dut.u_gemm.wave_cmd_index;
  assign drain_row_o  = {16'd0, u_dut.u_gemm.drain_row};
  assign drain_cmd_o  = u_dut.u_gemm.drain_cmd_index;
  assign drain_cols_o = {16'd0, u_dut.u_gemm.drain_cols};
  assign drain_fp32_o = {7'd0, u_dut.u_gemm.drain_fp32};
  assign drain_bits_o = u_dut.u_gemm.drain_bits;

  // Wave and command of an A vector are those of wave_index_o and wave_cmd_o.
  assign feed_a_row_o = {16'd0, u_dut.u_gemm.feed_a_row};
  assign feed_a_sel_o = {31'd0, u_dut.u_gemm.feed_a_sel};
  assign feed_a_bits_o[Rows*16-1:0] = u_dut.u_gemm.feed_a_bits;
  assign feed_b_k_o = {16'd0, u_dut.u_gemm.feed_b_k};
  assign feed_b_wave_o = u_dut.u_gemm.feed_b_wave;
  assign feed_b_cmd_o = u_dut.u_gemm.feed_b_cmd_index;
  assign feed_b_bits_o[Cols*16-1:0] = u_dut.u_gemm.feed_b_bits;
  generate
    if (Rows < 8) begin : g_pad_a
      assign feed_a_bits_o[PadA-1:Rows*16] = {(PadA - Rows * 16) {1'b0}};
    end
    if (Cols < 8) begin : g_pad_b
      assign feed_b_bits_o[PadB-1:Cols*16] = {(PadB - Cols * 16) {1'b0}};
    end
  endgenerate
  assign acc_row_o = {16'd0, u_dut.u_gemm.acc_row};
  assign acc_wave_o = u_dut.u_gemm.acc_wave;
  assign acc_cmd_o = u_dut.u_gemm.acc_cmd_index;
  assign acc_side_o = {31'd0, u_dut.u_gemm.u_accum.add_side_q};
  assign acc_bits_o = u_dut.u_gemm.acc_bits;

  assign events_o = {18'd0, u_dut.u_gemm.feed_b_valid, u_dut.u_gemm.feed_a_valid, u_dut.u_gemm.acc_valid, u_dut.u_gemm.drain_valid,
                     u_dut.u_gemm.wave_end, u_dut.u_gemm.wave_begin, u_dut.eng_done, begins};

  wire moves = (begins != 4'd0) || (u_dut.eng_done != 4'd0) || u_dut.array_busy || u_dut.ld_gnt || u_dut.st_gnt || u_dut.v_gnt
            || u_dut.a_gnt || u_dut.b_gnt || u_dut.d_gnt || u_dut.ring_beat || u_dut.read_beat || u_dut.write_beat;
  assign levels_o = {4'd0, moves, irq, u_dut.stopped, u_dut.idle};

  wire unused = &{1'b0, bresp, rresp, arsize, arburst, awid, awsize, awburst, 1'b0};
endmodule
`default_nettype wire
