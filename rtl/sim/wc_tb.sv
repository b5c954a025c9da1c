// SPDX-License-Identifier: Apache-2.0
//
// What the host's shim simulates: the device, its AXI checker, and the points inside that traces, probes and faults look at, as
// plain ports. Everything on the ports is a function of registers in the same cycle, so the shim reads it before the clock edge.
//
// Memory ports are packed with port 0 in the low bits; a signal of fewer than 8 bits has a byte per port. What looks inside is packed with
// core 0 in the low bits, and there, per port, with port 0. Bit 0 of an ID on a memory port is the core's own, bit 1 the core.
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
    parameter integer Cores     = 1,
    parameter integer Rows      = 16,
    parameter integer Cols      = 16,
    parameter integer AccRows   = 256,
    parameter integer GbufBytes = 65536,
    parameter integer BusBytes  = 16,
    parameter integer MemPorts  = 1,
    parameter integer MacStages = 1,
    parameter integer AddrBits  = 11 + Cores,
    // Widths of a core's feeds: a multiple of 32 and at least 96, so that the shim sees words at every size.
    parameter integer PadA      = (Rows < 8) ? 128 : Rows * 16,
    parameter integer PadB      = (Cols < 8) ? 128 : Cols * 16
) (
    input  wire                  clk_i,
    input  wire                  rst_ni,

    input  wire [AddrBits-1:0]   s_axil_awaddr,
    input  wire                  s_axil_awvalid,
    output wire                  s_axil_awready,
    input  wire [31:0]           s_axil_wdata,
    input  wire                  s_axil_wvalid,
    output wire                  s_axil_wready,
    output wire                  s_axil_bvalid,
    input  wire                  s_axil_bready,
    input  wire [AddrBits-1:0]   s_axil_araddr,
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
    output wire [MemPorts*8-1:0]           m_axi_awid,
    output wire [MemPorts*64-1:0]          m_axi_awaddr,
    output wire [MemPorts*8-1:0]           m_axi_awlen,
    output wire [MemPorts*8-1:0]           m_axi_awvalid,
    input  wire [MemPorts*8-1:0]           m_axi_awready,
    output wire [MemPorts*BusBytes*8-1:0]  m_axi_wdata,
    output wire [MemPorts*BusBytes-1:0]    m_axi_wstrb,
    output wire [MemPorts*8-1:0]           m_axi_wlast,
    output wire [MemPorts*8-1:0]           m_axi_wvalid,
    input  wire [MemPorts*8-1:0]           m_axi_wready,
    input  wire [MemPorts*8-1:0]           m_axi_bid,
    input  wire [MemPorts*8-1:0]           m_axi_bresp,
    input  wire [MemPorts*8-1:0]           m_axi_bvalid,
    output wire [MemPorts*8-1:0]           m_axi_bready,

    output wire [Cores*32-1:0]              events_o,
    output wire [Cores*8-1:0]               levels_o,
    output wire [Cores*8-1:0]               waiting_o,
    output wire [Cores*4*32-1:0]            begin_index_o,   // of the queue's head, per engine
    output wire [Cores*4*32-1:0]            end_index_o,
    output wire [Cores*4*32-1:0]            complete_o,      // commands complete, per engine
    output wire [Cores*4*128-1:0]           waits_o,         // wait fields of the queue's head, per engine
    output wire [Cores*MemPorts*32-1:0]     ar_index_o,     // command of the load burst on AR, per port
    output wire [Cores*MemPorts*32-1:0]     aw_index_o,     // command of the burst on AW, per port
    output wire [Cores*32-1:0]              wave_index_o,
    output wire [Cores*32-1:0]              wave_rows_o,
    output wire [Cores*32-1:0]              wave_cmd_o,
    output wire [Cores*32-1:0]              drain_row_o,
    output wire [Cores*32-1:0]              drain_cmd_o,
    output wire [Cores*32-1:0]              drain_cols_o,
    output wire [Cores*8-1:0]               drain_fp32_o,
    output wire [Cores*Cols*32-1:0]         drain_bits_o,
    output wire [Cores*32-1:0]              feed_a_row_o,
    output wire [Cores*32-1:0]              feed_a_sel_o,    // weight register that the vector uses
    output wire [Cores*PadA-1:0]            feed_a_bits_o,
    output wire [Cores*32-1:0]              feed_b_k_o,
    output wire [Cores*32-1:0]              feed_b_wave_o,
    output wire [Cores*32-1:0]              feed_b_cmd_o,
    output wire [Cores*PadB-1:0]            feed_b_bits_o,
    output wire [Cores*32-1:0]              acc_row_o,
    output wire [Cores*32-1:0]              acc_wave_o,
    output wire [Cores*32-1:0]              acc_cmd_o,
    output wire [Cores*32-1:0]              acc_side_o,
    output wire [Cores*Cols*32-1:0]         acc_bits_o
);
  wire       irq;
  wire [1:0] axil_bresp, axil_rresp;

  // The device's signals, packed without padding.
  wire [MemPorts*3-1:0] arsize, awsize;
  wire [MemPorts*2-1:0] arburst, awburst, rresp, bresp;
  wire [MemPorts*Cores-1:0] awid, arid, rid, bid;  // an ID has as many bits as there are cores
  wire [MemPorts-1:0]   arvalid, arready, rlast, rvalid, rready;
  wire [MemPorts-1:0]   awvalid, awready, wlast, wvalid, wready, bvalid, bready;

  wavecore_cores #(
      .Cores    (Cores),
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
      .m_axi_bid     (bid),
      .m_axi_bresp   (bresp),
      .m_axi_bvalid  (bvalid),
      .m_axi_bready  (bready)
  );

  // ---- memory ports ------------------------------------------------------------------------------
  genvar c, e, p;
  generate
    for (p = 0; p < MemPorts; p = p + 1) begin : g_port
      assign m_axi_arid[8*p+:8] = {{(8 - Cores) {1'b0}}, arid[Cores*p+:Cores]};
      assign m_axi_arvalid[8*p+:8] = {7'd0, arvalid[p]};
      assign m_axi_rready[8*p+:8] = {7'd0, rready[p]};
      assign m_axi_awid[8*p+:8] = {{(8 - Cores) {1'b0}}, awid[Cores*p+:Cores]};
      assign m_axi_awvalid[8*p+:8] = {7'd0, awvalid[p]};
      assign m_axi_wlast[8*p+:8] = {7'd0, wlast[p]};
      assign m_axi_wvalid[8*p+:8] = {7'd0, wvalid[p]};
      assign m_axi_bready[8*p+:8] = {7'd0, bready[p]};
      assign arready[p] = m_axi_arready[8*p];
      assign rid[Cores*p+:Cores] = m_axi_rid[8*p+:Cores];
      assign bid[Cores*p+:Cores] = m_axi_bid[8*p+:Cores];
      assign rresp[2*p+:2] = m_axi_rresp[8*p+:2];
      assign rlast[p] = m_axi_rlast[8*p];
      assign rvalid[p] = m_axi_rvalid[8*p];
      assign awready[p] = m_axi_awready[8*p];
      assign wready[p] = m_axi_wready[8*p];
      assign bresp[2*p+:2] = m_axi_bresp[8*p+:2];
      assign bvalid[p] = m_axi_bvalid[8*p];

      // What the cores keep together; each one's window is watched at its own ports.
      if (Cores == 2) begin : g_shared
        axi_check #(
            .BusBytes(BusBytes),
            .IdBits  (2)
        ) u_axi_check (
            .clk_i      (clk_i),
            .rst_ni     (rst_ni),
            .idle_i     (u_dut.g_core[0].u_core.idle && u_dut.g_core[1].u_core.idle),
            .mem_base_i (64'd0),
            .mem_limit_i(~64'd0),
            .arid       (arid[2*p+:2]),
            .araddr     (m_axi_araddr[64*p+:64]),
            .arlen      (m_axi_arlen[8*p+:8]),
            .arvalid    (arvalid[p]),
            .arready    (arready[p]),
            .rlast      (rlast[p]),
            .rvalid     (rvalid[p]),
            .rready     (rready[p]),
            .awid       (awid[2*p+:2]),
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
      end
    end
  endgenerate
  wire unused_pad = &{1'b0, m_axi_arready, m_axi_rid, m_axi_rresp, m_axi_rlast, m_axi_rvalid, m_axi_awready, m_axi_wready, m_axi_bid, m_axi_bresp, m_axi_bvalid, 1'b0};

  // ---- inside the cores --------------------------------------------------------------------------
`define CORE u_dut.g_core[c].u_core
  generate
    for (c = 0; c < Cores; c = c + 1) begin : g_core
      for (p = 0; p < MemPorts; p = p + 1) begin : g_port
        axi_check #(
            .BusBytes(BusBytes)
        ) u_axi_check (
            .clk_i      (clk_i),
            .rst_ni     (rst_ni),
            .idle_i     (`CORE.idle),
            .mem_base_i (`CORE.mem_base),
            .mem_limit_i(`CORE.mem_limit),
            .arid       (u_dut.core_arid[MemPorts*c+p]),
            .araddr     (u_dut.core_araddr[64*(MemPorts*c+p)+:64]),
            .arlen      (u_dut.core_arlen[8*(MemPorts*c+p)+:8]),
            .arvalid    (u_dut.core_arvalid[MemPorts*c+p]),
            .arready    (u_dut.core_arready[MemPorts*c+p]),
            .rlast      (u_dut.core_rlast[MemPorts*c+p]),
            .rvalid     (u_dut.core_rvalid[MemPorts*c+p]),
            .rready     (u_dut.core_rready[MemPorts*c+p]),
            .awid       (u_dut.core_awid[MemPorts*c+p]),
            .awaddr     (u_dut.core_awaddr[64*(MemPorts*c+p)+:64]),
            .awlen      (u_dut.core_awlen[8*(MemPorts*c+p)+:8]),
            .awvalid    (u_dut.core_awvalid[MemPorts*c+p]),
            .awready    (u_dut.core_awready[MemPorts*c+p]),
            .wdata      (u_dut.core_wdata[BusBytes*8*(MemPorts*c+p)+:BusBytes*8]),
            .wstrb      (u_dut.core_wstrb[BusBytes*(MemPorts*c+p)+:BusBytes]),
            .wlast      (u_dut.core_wlast[MemPorts*c+p]),
            .wvalid     (u_dut.core_wvalid[MemPorts*c+p]),
            .wready     (u_dut.core_wready[MemPorts*c+p]),
            .bvalid     (u_dut.core_bvalid[MemPorts*c+p]),
            .bready     (u_dut.core_bready[MemPorts*c+p])
        );

        // Whose bursts are on AR and AW.
        reg [31:0] ar_index_q;
        reg [31:0] aw_index [0:3];
        always @(posedge clk_i) begin
          if (`CORE.g_port[p].u_axi_read.ar_free) ar_index_q <= `CORE.u_load.burst_index;
          if (`CORE.u_store.g_lane[p].take) aw_index[`CORE.u_store.g_lane[p].u_lane.u_aw.tail_q[1:0]] <= `CORE.u_store.burst_index;
        end
        assign ar_index_o[32*(MemPorts*c+p)+:32] = ar_index_q;
        assign aw_index_o[32*(MemPorts*c+p)+:32] = aw_index[`CORE.u_store.g_lane[p].u_lane.u_aw.head_q[1:0]];
      end

      // ---- commands -------------------------------------------------------------------------------
      wire [3:0] begins = `CORE.eng_valid & `CORE.eng_ready;

      assign begin_index_o[4*32*c+:4*32] = `CORE.eng_index;
      assign end_index_o[4*32*c+:4*32]   = `CORE.eng_done_index;
      assign complete_o[4*32*c+:4*32]    = {`CORE.u_sequencer.done_store_q, `CORE.u_sequencer.done_vector_q,
                                            `CORE.u_sequencer.done_gemm_q, `CORE.u_sequencer.done_load_q};

      for (e = 0; e < 4; e = e + 1) begin : g_engine
        assign waits_o[128*(4*c+e)+:128] = `CORE.u_sequencer.eng_cmd_o[2048*e+wc_cmd_pkg::LOAD_WAIT_LOAD_L+:128];
        assign waiting_o[8*c+e]       = `CORE.u_sequencer.g_queue[e].u_queue.head_valid;
      end
      assign waiting_o[8*c+4+:4] = ~`CORE.eng_ready;

      // ---- waves and tiles ------------------------------------------------------------------------
      assign wave_index_o[32*c+:32] = `CORE.u_gemm.wave_index;
      assign wave_rows_o[32*c+:32]  = {16'd0, `CORE.u_gemm.wave_rows};
      assign wave_cmd_o[32*c+:32]   = `CORE.u_gemm.wave_cmd_index;
      assign drain_row_o[32*c+:32]  = {16'd0, `CORE.u_gemm.drain_row};
      assign drain_cmd_o[32*c+:32]  = `CORE.u_gemm.drain_cmd_index;
      assign drain_cols_o[32*c+:32] = {16'd0, `CORE.u_gemm.drain_cols};
      assign drain_fp32_o[8*c+:8] = {7'd0, `CORE.u_gemm.drain_fp32};
      assign drain_bits_o[Cols*32*c+:Cols*32] = `CORE.u_gemm.drain_bits;

      // Wave and command of an A vector are those of wave_index_o and wave_cmd_o.
      assign feed_a_row_o[32*c+:32] = {16'd0, `CORE.u_gemm.feed_a_row};
      assign feed_a_sel_o[32*c+:32] = {31'd0, `CORE.u_gemm.feed_a_sel};
      assign feed_a_bits_o[PadA*c+:Rows*16] = `CORE.u_gemm.feed_a_bits;
      assign feed_b_k_o[32*c+:32] = {16'd0, `CORE.u_gemm.feed_b_k};
      assign feed_b_wave_o[32*c+:32] = `CORE.u_gemm.feed_b_wave;
      assign feed_b_cmd_o[32*c+:32] = `CORE.u_gemm.feed_b_cmd_index;
      assign feed_b_bits_o[PadB*c+:Cols*16] = `CORE.u_gemm.feed_b_bits;
      if (Rows < 8) begin : g_pad_a
        assign feed_a_bits_o[PadA*c+Rows*16+:PadA-Rows*16] = {(PadA - Rows * 16) {1'b0}};
      end
      if (Cols < 8) begin : g_pad_b
        assign feed_b_bits_o[PadB*c+Cols*16+:PadB-Cols*16] = {(PadB - Cols * 16) {1'b0}};
      end
      assign acc_row_o[32*c+:32] = {16'd0, `CORE.u_gemm.acc_row};
      assign acc_wave_o[32*c+:32] = `CORE.u_gemm.acc_wave;
      assign acc_cmd_o[32*c+:32] = `CORE.u_gemm.acc_cmd_index;
      assign acc_side_o[32*c+:32] = {31'd0, `CORE.u_gemm.u_accum.add_side_q};
      assign acc_bits_o[Cols*32*c+:Cols*32] = `CORE.u_gemm.acc_bits;

      wire simd_begins = `CORE.eng_cmd[2048*2+:8] == wc_cmd_pkg::OP_SIMD;

      assign events_o[32*c+:32] = {15'd0, `CORE.u_vector.u_simd.put || `CORE.u_vector.u_relu.write_take, `CORE.u_vector.simd_done, simd_begins && begins[2], `CORE.u_gemm.feed_b_valid, `CORE.u_gemm.feed_a_valid, `CORE.u_gemm.acc_valid, `CORE.u_gemm.drain_valid,
                         `CORE.u_gemm.wave_end, `CORE.u_gemm.wave_begin, `CORE.eng_done, begins};

      wire moves = (begins != 4'd0) || (`CORE.eng_done != 4'd0) || `CORE.array_busy || (|`CORE.ld_gnt) || (|`CORE.st_gnt)
                || `CORE.v_gnt || `CORE.u_vector.u_simd.fire || `CORE.u_vector.u_simd.u_walk.step || `CORE.a_gnt || `CORE.b_gnt || `CORE.d_gnt || `CORE.ring_beat || (|`CORE.read_beats) || (|`CORE.write_beats);
      assign levels_o[8*c+:8] = {4'd0, moves, irq, `CORE.stopped, `CORE.idle};
    end
  endgenerate
`undef CORE

  wire unused = &{1'b0, axil_bresp, axil_rresp, arsize, arburst, awid, awsize, awburst, 1'b0};
endmodule
`default_nettype wire
