// SPDX-License-Identifier: Apache-2.0
//
// What the host's shim simulates: the device, its AXI checker, and the points inside that traces, probes and faults look at, as
// plain ports. Everything on the ports is a function of registers in the same cycle, so the shim reads it before the clock edge.
//
// Memory ports are packed with port 0 in the low bits; a signal of fewer than 8 bits has a byte per port.
//
//   events_o   one bit per thing that happens in this cycle; while it is 0 no other trace port means anything
//              3:0 an engine takes a command (load, gemm, vector, store), 7:4 an engine completes one,
//              8 wave begins, 9 wave ends, 10 a row is drained, 11 a row was added to the accumulator,
//              12 an A vector enters the array, 13 a B row does, 14, 15 the vector engine's command that begins, that ends is a SIMD,
//              16 the vector unit writes a vector: a result of a SIMD is put, a chunk of a VECTOR is taken
//   levels_o   0 idle, 1 stopped by an error, 2 interrupt, 3 something moves in this cycle (the watchdog's question)
//   waiting_o  for the watchdog's report, per engine: bit e the queue has a command, bit 4 + e the engine is at work
`default_nettype none

module wc_tb #(
    parameter integer Rows      = 16,
    parameter integer Cols      = 16,
    parameter integer AccRows   = 256,
    parameter integer GbufBytes = 65536,
    parameter integer BusBytes  = 16,
    parameter integer MemPorts  = 1,
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

    output wire [MemPorts*8-1:0]           m_axi_arid,
    output wire [MemPorts*64-1:0]          m_axi_araddr,
    output wire [MemPorts*8-1:0]           m_axi_arlen,
    output wire [MemPorts*8-1:0]           m_axi_arvalid,
    input  wire [MemPorts*8-1:0]           m_axi_arready,
    input  wire [MemPorts*8-1:0]           m_axi_rid,
    input  wire [MemPorts*BusBytes*8-1:0]  m_axi_rdata,
    input  wire [MemPorts*8-1:0]           m_axi_rresp,
    input  wire [MemPorts*8-1:0]           m_axi_rlast,
    input  wire [MemPorts*8-1:0]           m_axi_rvalid,
    output wire [MemPorts*8-1:0]           m_axi_rready,
    output wire [MemPorts*64-1:0]          m_axi_awaddr,
    output wire [MemPorts*8-1:0]           m_axi_awlen,
    output wire [MemPorts*8-1:0]           m_axi_awvalid,
    input  wire [MemPorts*8-1:0]           m_axi_awready,
    output wire [MemPorts*BusBytes*8-1:0]  m_axi_wdata,
    output wire [MemPorts*BusBytes-1:0]    m_axi_wstrb,
    output wire [MemPorts*8-1:0]           m_axi_wlast,
    output wire [MemPorts*8-1:0]           m_axi_wvalid,
    input  wire [MemPorts*8-1:0]           m_axi_wready,
    input  wire [MemPorts*8-1:0]           m_axi_bresp,
    input  wire [MemPorts*8-1:0]           m_axi_bvalid,
    output wire [MemPorts*8-1:0]           m_axi_bready,

    output wire [31:0]           events_o,
    output wire [7:0]            levels_o,
    output wire [7:0]            waiting_o,
    output wire [4*32-1:0]       begin_index_o,   // of the queue's head, per engine
    output wire [4*32-1:0]       end_index_o,
    output wire [4*32-1:0]       complete_o,      // commands complete, per engine
    output wire [4*128-1:0]      waits_o,         // wait fields of the queue's head, per engine
    output wire [MemPorts*32-1:0] ar_index_o,     // command of the load burst on AR, per port
    output wire [MemPorts*32-1:0] aw_index_o,     // command of the burst on AW, per port
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
  wire [1:0] axil_bresp, axil_rresp;

  // The device's signals, packed without padding.
  wire [MemPorts*3-1:0] arsize, awsize;
  wire [MemPorts*2-1:0] arburst, awburst, rresp, bresp;
  wire [MemPorts-1:0]   awid, arid, arvalid, arready, rid, rlast, rvalid, rready;
  wire [MemPorts-1:0]   awvalid, awready, wlast, wvalid, wready, bvalid, bready;

  wavecore #(
      .Rows     (Rows),
      .Cols     (Cols),
      .AccRows  (AccRows),
      .GbufBytes(GbufBytes),
      .BusBytes (BusBytes),
      .MemPorts (MemPorts),
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
      .s_axil_bresp  (axil_bresp),
      .s_axil_bvalid (s_axil_bvalid),
      .s_axil_bready (s_axil_bready),
      .s_axil_araddr (s_axil_araddr),
      .s_axil_arvalid(s_axil_arvalid),
      .s_axil_arready(s_axil_arready),
      .s_axil_rdata  (s_axil_rdata),
      .s_axil_rresp  (axil_rresp),
      .s_axil_rvalid (s_axil_rvalid),
      .s_axil_rready (s_axil_rready),
      .m_axi_arid    (arid),
      .m_axi_araddr  (m_axi_araddr),
      .m_axi_arlen   (m_axi_arlen),
      .m_axi_arsize  (arsize),
      .m_axi_arburst (arburst),
      .m_axi_arvalid (arvalid),
      .m_axi_arready (arready),
      .m_axi_rid     (rid),
      .m_axi_rdata   (m_axi_rdata),
      .m_axi_rresp   (rresp),
      .m_axi_rlast   (rlast),
      .m_axi_rvalid  (rvalid),
      .m_axi_rready  (rready),
      .m_axi_awid    (awid),
      .m_axi_awaddr  (m_axi_awaddr),
      .m_axi_awlen   (m_axi_awlen),
      .m_axi_awsize  (awsize),
      .m_axi_awburst (awburst),
      .m_axi_awvalid (awvalid),
      .m_axi_awready (awready),
      .m_axi_wdata   (m_axi_wdata),
      .m_axi_wstrb   (m_axi_wstrb),
      .m_axi_wlast   (wlast),
      .m_axi_wvalid  (wvalid),
      .m_axi_wready  (wready),
      .m_axi_bid     ({MemPorts{1'b0}}),
      .m_axi_bresp   (bresp),
      .m_axi_bvalid  (bvalid),
      .m_axi_bready  (bready)
  );

  // ---- memory ports ------------------------------------------------------------------------------
  genvar p;
  generate
    for (p = 0; p < MemPorts; p = p + 1) begin : g_port
      assign m_axi_arid[8*p+:8] = {7'd0, arid[p]};
      assign m_axi_arvalid[8*p+:8] = {7'd0, arvalid[p]};
      assign m_axi_rready[8*p+:8] = {7'd0, rready[p]};
      assign m_axi_awvalid[8*p+:8] = {7'd0, awvalid[p]};
      assign m_axi_wlast[8*p+:8] = {7'd0, wlast[p]};
      assign m_axi_wvalid[8*p+:8] = {7'd0, wvalid[p]};
      assign m_axi_bready[8*p+:8] = {7'd0, bready[p]};
      assign arready[p] = m_axi_arready[8*p];
      assign rid[p] = m_axi_rid[8*p];
      assign rresp[2*p+:2] = m_axi_rresp[8*p+:2];
      assign rlast[p] = m_axi_rlast[8*p];
      assign rvalid[p] = m_axi_rvalid[8*p];
      assign awready[p] = m_axi_awready[8*p];
      assign wready[p] = m_axi_wready[8*p];
      assign bresp[2*p+:2] = m_axi_bresp[8*p+:2];
      assign bvalid[p] = m_axi_bvalid[8*p];

      axi_check #(
          .BusBytes(BusBytes)
      ) u_axi_check (
          .clk_i      (clk_i),
          .rst_ni     (rst_ni),
          .idle_i     (u_dut.idle),
          .mem_base_i (u_dut.mem_base),
          .mem_limit_i(u_dut.mem_limit),
          .arid       (arid[p]),
          .araddr     (m_axi_araddr[64*p+:64]),
          .arlen      (m_axi_arlen[8*p+:8]),
          .arvalid    (arvalid[p]),
          .arready    (arready[p]),
          .rlast      (rlast[p]),
          .rvalid     (rvalid[p]),
          .rready     (rready[p]),
          .awaddr     (m_axi_awaddr[64*p+:64]),
          .awlen      (m_axi_awlen[8*p+:8]),
          .awvalid    (awvalid[p]),
          .awready    (awready[p]),
          .wdata      (m_axi_wdata[BusBytes*8*p+:BusBytes*8]),
          .wstrb      (m_axi_wstrb[BusBytes*p+:BusBytes]),
          .wlast      (wlast[p]),
          .wvalid     (wvalid[p]),
          .wready     (wready[p]),
          .bvalid     (bvalid[p]),
          .bready     (bready[p])
      );

      // Whose bursts are on AR and AW.
      reg [31:0] ar_index_q;
      reg [31:0] aw_index [0:3];
      always @(posedge clk_i) begin
        if (u_dut.g_port[p].u_axi_read.ar_free) ar_index_q <= u_dut.u_load.burst_index;
        if (u_dut.u_store.g_lane[p].take) aw_index[u_dut.u_store.g_lane[p].u_lane.u_aw.tail_q[1:0]] <= u_dut.u_store.burst_index;
      end
      assign ar_index_o[32*p+:32] = ar_index_q;
      assign aw_index_o[32*p+:32] = aw_index[u_dut.u_store.g_lane[p].u_lane.u_aw.head_q[1:0]];
    end
  endgenerate
  wire unused_pad = &{1'b0, m_axi_arready, m_axi_rid, m_axi_rresp, m_axi_rlast, m_axi_rvalid, m_axi_awready, m_axi_wready, m_axi_bresp, m_axi_bvalid, 1'b0};

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

  wire simd_begins = u_dut.eng_cmd[2048*2+:8] == wc_cmd_pkg::OP_SIMD;

  assign events_o = {15'd0, u_dut.u_vector.u_simd.put || u_dut.u_vector.u_relu.write_take, u_dut.u_vector.simd_done, simd_begins && begins[2], u_dut.u_gemm.feed_b_valid, u_dut.u_gemm.feed_a_valid, u_dut.u_gemm.acc_valid, u_dut.u_gemm.drain_valid,
                     u_dut.u_gemm.wave_end, u_dut.u_gemm.wave_begin, u_dut.eng_done, begins};

  wire moves = (begins != 4'd0) || (u_dut.eng_done != 4'd0) || u_dut.array_busy || (|u_dut.ld_gnt) || (|u_dut.st_gnt)
            || u_dut.v_gnt || u_dut.u_vector.u_simd.fire || u_dut.u_vector.u_simd.u_walk.step || u_dut.a_gnt || u_dut.b_gnt || u_dut.d_gnt || u_dut.ring_beat || (|u_dut.read_beats) || (|u_dut.write_beats);
  assign levels_o = {4'd0, moves, irq, u_dut.stopped, u_dut.idle};

  wire unused = &{1'b0, axil_bresp, axil_rresp, arsize, arburst, awid, awsize, awburst, 1'b0};
endmodule
`default_nettype wire
