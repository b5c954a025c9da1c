// SPDX-License-Identifier: Apache-2.0
//
// A core of the device (wavecore_cores.v): registers on AXI4-Lite, AXI4 memory ports, an interrupt, and behind them the sequencer, the four engines and the global
// buffer (README.md draws it). Commands come from a ring in memory; what they mean is in README.md and commands.def.
//
// The memory ports: MemPorts of them, packed with port 0 in the low bits; all reach the same memory. Read ID 0 fetches the ring (port 0
// alone), ID 1 loads; all bursts are INCR, full width, within 4 KiB. Every output comes from a register or a queue, every input goes to
// one: no path crosses the device. Reset is asynchronous, active low, and is to be released
// in step with the clock.
//
// Parameters must be as README.md lists them; elaboration fails otherwise.
`default_nettype none

module wavecore #(
    parameter integer Rows      = 16,
    parameter integer Cols      = 16,
    parameter integer AccRows   = 256,
    parameter integer GbufBytes = 65536,
    parameter integer BusBytes  = 16,
    parameter integer MemPorts  = 1,
    parameter integer MacStages = 1
) (
    input  wire                            clk_i,
    input  wire                            rst_ni,
    output wire                            irq_o,

    input  wire [11:0]                     s_axil_awaddr,
    input  wire                            s_axil_awvalid,
    output wire                            s_axil_awready,
    input  wire [31:0]                     s_axil_wdata,
    input  wire                            s_axil_wvalid,
    output wire                            s_axil_wready,
    output wire [1:0]                      s_axil_bresp,
    output wire                            s_axil_bvalid,
    input  wire                            s_axil_bready,
    input  wire [11:0]                     s_axil_araddr,
    input  wire                            s_axil_arvalid,
    output wire                            s_axil_arready,
    output wire [31:0]                     s_axil_rdata,
    output wire [1:0]                      s_axil_rresp,
    output wire                            s_axil_rvalid,
    input  wire                            s_axil_rready,

    output wire [MemPorts-1:0]             m_axi_arid,
    output wire [MemPorts*64-1:0]          m_axi_araddr,
    output wire [MemPorts*8-1:0]           m_axi_arlen,
    output wire [MemPorts*3-1:0]           m_axi_arsize,
    output wire [MemPorts*2-1:0]           m_axi_arburst,
    output wire [MemPorts-1:0]             m_axi_arvalid,
    input  wire [MemPorts-1:0]             m_axi_arready,
    input  wire [MemPorts-1:0]             m_axi_rid,
    input  wire [MemPorts*BusBytes*8-1:0]  m_axi_rdata,
    input  wire [MemPorts*2-1:0]           m_axi_rresp,
    input  wire [MemPorts-1:0]             m_axi_rlast,
    input  wire [MemPorts-1:0]             m_axi_rvalid,
    output wire [MemPorts-1:0]             m_axi_rready,
    output wire [MemPorts-1:0]             m_axi_awid,
    output wire [MemPorts*64-1:0]          m_axi_awaddr,
    output wire [MemPorts*8-1:0]           m_axi_awlen,
    output wire [MemPorts*3-1:0]           m_axi_awsize,
    output wire [MemPorts*2-1:0]           m_axi_awburst,
    output wire [MemPorts-1:0]             m_axi_awvalid,
    input  wire [MemPorts-1:0]             m_axi_awready,
    output wire [MemPorts*BusBytes*8-1:0]  m_axi_wdata,
    output wire [MemPorts*BusBytes-1:0]    m_axi_wstrb,
    output wire [MemPorts-1:0]             m_axi_wlast,
    output wire [MemPorts-1:0]             m_axi_wvalid,
    input  wire [MemPorts-1:0]             m_axi_wready,
    input  wire [MemPorts-1:0]             m_axi_bid,
    input  wire [MemPorts*2-1:0]           m_axi_bresp,
    input  wire [MemPorts-1:0]             m_axi_bvalid,
    output wire [MemPorts-1:0]             m_axi_bready
);
  localparam integer LineMin   = (2 * Rows > 4 * Cols) ? 2 * Rows : 4 * Cols;
  localparam integer LineBytes = (LineMin > BusBytes) ? LineMin : BusBytes;
  localparam integer LineBits  = LineBytes * 8;
  localparam integer BusBits   = BusBytes * 8;
  localparam integer Counters  = 16;
  localparam integer BeatShift = $clog2(BusBytes);

  // Engines, numbered as the wait fields are.
  localparam integer LOAD = 0, GEMM = 1, VECTOR = 2, STORE = 3;

  generate
    if ((Rows != 4 && Rows != 8 && Rows != 16 && Rows != 32 && Rows != 64 && Rows != 128)
        || (Cols != 4 && Cols != 8 && Cols != 16 && Cols != 32 && Cols != 64 && Cols != 128)
        || (BusBytes != 16 && BusBytes != 32 && BusBytes != 64 && BusBytes != 128)
        || (MemPorts != 1 && MemPorts != 2)
        || (GbufBytes < 4096) || (GbufBytes % 4096 != 0) || (AccRows < 1) || (AccRows > 65535)
        || (MacStages != 1 && MacStages != 2)) begin : g_bad_parameters
      wavecore_parameters_out_of_range u_bad ();
    end
  endgenerate

  // ---- control -----------------------------------------------------------------------------------
  wire         run, stop, clear, halt, quiet, idle, stopped, active;
  wire         ring_quiet, load_quiet, store_quiet, vector_busy;
  wire  [63:0] ring_base, mem_base, mem_limit;
  wire  [31:0] ring_size, tail, head, done, error_index;
  wire  [7:0]  error_status;
  wire         error;
  wire         counter_read;
  wire  [3:0]  counter_select;
  wire  [63:0] counter;

  // A soft reset reaches everything but the registers.
  wire         core_rst_n = rst_ni && !clear;

  assign quiet   = ring_quiet && load_quiet && store_quiet;
  assign stopped = error && quiet;
  assign idle    = done == tail;
  assign active  = run && !idle && !stopped;

  csr #(
      .Rows     (Rows),
      .Cols     (Cols),
      .AccRows  (AccRows),
      .GbufBytes(GbufBytes)
  ) u_csr (
      .clk_i           (clk_i),
      .rst_ni          (rst_ni),
      .s_axil_awaddr   (s_axil_awaddr),
      .s_axil_awvalid  (s_axil_awvalid),
      .s_axil_awready  (s_axil_awready),
      .s_axil_wdata    (s_axil_wdata),
      .s_axil_wvalid   (s_axil_wvalid),
      .s_axil_wready   (s_axil_wready),
      .s_axil_bresp    (s_axil_bresp),
      .s_axil_bvalid   (s_axil_bvalid),
      .s_axil_bready   (s_axil_bready),
      .s_axil_araddr   (s_axil_araddr),
      .s_axil_arvalid  (s_axil_arvalid),
      .s_axil_arready  (s_axil_arready),
      .s_axil_rdata    (s_axil_rdata),
      .s_axil_rresp    (s_axil_rresp),
      .s_axil_rvalid   (s_axil_rvalid),
      .s_axil_rready   (s_axil_rready),
      .run_o           (run),
      .stop_o          (stop),
      .clear_o         (clear),
      .quiet_i         (quiet),
      .ring_base_o     (ring_base),
      .ring_size_o     (ring_size),
      .tail_o          (tail),
      .mem_base_o      (mem_base),
      .mem_limit_o     (mem_limit),
      .busy_i          (active),
      .idle_i          (idle),
      .stopped_i       (stopped),
      .error_status_i  (error_status),
      .error_index_i   (error_index),
      .head_i          (head),
      .done_i          (done),
      .counter_read_o  (counter_read),
      .counter_select_o(counter_select),
      .counter_i       (counter),
      .irq_o           (irq_o)
  );

  // ---- commands ----------------------------------------------------------------------------------
  wire                  ring_ar_valid, ring_ar_ready, ring_r_valid, ring_r_ready;
  wire [63:0]           ring_ar_addr;
  wire [7:0]            ring_ar_len;
  wire [MemPorts*BusBits-1:0] r_data;
  wire [MemPorts-1:0]   r_error;
  wire                  fetched_valid, fetched_ready;
  wire [2047:0]         fetched_cmd;
  wire [31:0]           fetched_index;
  wire [7:0]            fetched_status;

  ring_fetch #(
      .BusBytes(BusBytes)
  ) u_ring_fetch (
      .clk_i       (clk_i),
      .rst_ni      (core_rst_n),
      .run_i       (run),
      .halt_i      (halt),
      .quiet_o     (ring_quiet),
      .ring_base_i (ring_base),
      .ring_size_i (ring_size),
      .tail_i      (tail),
      .mem_base_i  (mem_base),
      .mem_limit_i (mem_limit),
      .head_o      (head),
      .ar_valid_o  (ring_ar_valid),
      .ar_ready_i  (ring_ar_ready),
      .ar_addr_o   (ring_ar_addr),
      .ar_len_o    (ring_ar_len),
      .r_valid_i   (ring_r_valid),
      .r_ready_o   (ring_r_ready),
      .r_data_i    (r_data[BusBits-1:0]),
      .r_error_i   (r_error[0]),
      .cmd_valid_o (fetched_valid),
      .cmd_ready_i (fetched_ready),
      .cmd_o       (fetched_cmd),
      .cmd_index_o (fetched_index),
      .cmd_status_o(fetched_status)
  );

  wire [3:0]        eng_valid, eng_ready, eng_done, eng_error;
  wire [4*2048-1:0] eng_cmd;
  wire [4*32-1:0]   eng_index, eng_done_index, eng_error_index;
  wire [31:0]       eng_status;
  wire [4:0]        cause;

  sequencer #(
      .Rows     (Rows),
      .Cols     (Cols),
      .AccRows  (AccRows),
      .GbufBytes(GbufBytes),
      .BusBytes (BusBytes)
  ) u_sequencer (
      .clk_i            (clk_i),
      .rst_ni           (core_rst_n),
      .stop_i           (stop),
      .halt_o           (halt),
      .cmd_valid_i      (fetched_valid),
      .cmd_ready_o      (fetched_ready),
      .cmd_i            (fetched_cmd),
      .cmd_index_i      (fetched_index),
      .cmd_status_i     (fetched_status),
      .eng_valid_o      (eng_valid),
      .eng_ready_i      (eng_ready),
      .eng_cmd_o        (eng_cmd),
      .eng_index_o      (eng_index),
      .eng_done_i       (eng_done),
      .eng_error_i      (eng_error),
      .eng_status_i     (eng_status),
      .eng_error_index_i(eng_error_index),
      .cause_o          (cause),
      .done_o           (done),
      .error_o          (error),
      .error_status_o   (error_status),
      .error_index_o    (error_index)
  );

  // ---- memory ------------------------------------------------------------------------------------
  wire [MemPorts-1:0] load_ar_valid, load_ar_ready, load_r_valid, load_r_ready, ring_ar_readys, ring_r_valids;
  wire [63:0]         load_ar_addr;
  wire [7:0]          load_ar_len;

  assign m_axi_arsize  = {MemPorts{BeatShift[2:0]}};
  assign m_axi_arburst = {MemPorts{2'b01}};
  assign m_axi_awid    = {MemPorts{1'b0}};
  assign m_axi_awsize  = {MemPorts{BeatShift[2:0]}};
  assign m_axi_awburst = {MemPorts{2'b01}};

  // The ring uses port 0.
  assign ring_ar_ready = ring_ar_readys[0];
  assign ring_r_valid  = ring_r_valids[0];

  genvar p;
  generate
    for (p = 0; p < MemPorts; p = p + 1) begin : g_port
      axi_read #(
          .BusBytes(BusBytes)
      ) u_axi_read (
          .clk_i          (clk_i),
          .rst_ni         (core_rst_n),
          .ring_ar_valid_i((p == 0) && ring_ar_valid),
          .ring_ar_ready_o(ring_ar_readys[p]),
          .ring_ar_addr_i (ring_ar_addr),
          .ring_ar_len_i  (ring_ar_len),
          .load_ar_valid_i(load_ar_valid[p]),
          .load_ar_ready_o(load_ar_ready[p]),
          .load_ar_addr_i (load_ar_addr),
          .load_ar_len_i  (load_ar_len),
          .ring_r_valid_o (ring_r_valids[p]),
          .ring_r_ready_i (ring_r_ready),
          .load_r_valid_o (load_r_valid[p]),
          .load_r_ready_i (load_r_ready[p]),
          .r_data_o       (r_data[BusBits*p+:BusBits]),
          .r_error_o      (r_error[p]),
          .m_axi_arid     (m_axi_arid[p]),
          .m_axi_araddr   (m_axi_araddr[64*p+:64]),
          .m_axi_arlen    (m_axi_arlen[8*p+:8]),
          .m_axi_arvalid  (m_axi_arvalid[p]),
          .m_axi_arready  (m_axi_arready[p]),
          .m_axi_rid      (m_axi_rid[p]),
          .m_axi_rdata    (m_axi_rdata[BusBits*p+:BusBits]),
          .m_axi_rresp    (m_axi_rresp[2*p+:2]),
          .m_axi_rlast    (m_axi_rlast[p]),
          .m_axi_rvalid   (m_axi_rvalid[p]),
          .m_axi_rready   (m_axi_rready[p])
      );
    end
  endgenerate

  // ---- engines -----------------------------------------------------------------------------------
  wire                a_req, a_gnt, a_rvalid, b_req, b_gnt, b_rvalid, d_req, d_we, d_gnt, d_rvalid;
  wire                v_req, v_we, v_gnt, v_rvalid;
  wire [31:0]         a_addr, b_addr, d_addr, v_addr;
  wire [15:0]         a_size, b_size, d_size, v_size;
  wire [LineBits-1:0] a_rdata, b_rdata, d_wdata, d_rdata, v_wdata, v_rdata;
  // Per memory port.
  wire [MemPorts-1:0]          ld_req, ld_gnt, st_req, st_gnt, st_rvalid;
  wire [MemPorts*32-1:0]       ld_addr, st_addr;
  wire [MemPorts*16-1:0]       ld_size, st_size;
  wire [MemPorts*LineBits-1:0] ld_wdata, st_rdata;

  dma_load #(
      .GbufBytes(GbufBytes),
      .BusBytes (BusBytes),
      .LineBytes(LineBytes),
      .MemPorts (MemPorts)
  ) u_load (
      .clk_i         (clk_i),
      .rst_ni        (core_rst_n),
      .halt_i        (halt),
      .quiet_o       (load_quiet),
      .mem_base_i    (mem_base),
      .mem_limit_i   (mem_limit),
      .cmd_valid_i   (eng_valid[LOAD]),
      .cmd_ready_o   (eng_ready[LOAD]),
      .cmd_i         (eng_cmd[2048*LOAD+:2048]),
      .cmd_index_i   (eng_index[32*LOAD+:32]),
      .done_o        (eng_done[LOAD]),
      .done_index_o  (eng_done_index[32*LOAD+:32]),
      .error_o       (eng_error[LOAD]),
      .error_status_o(eng_status[8*LOAD+:8]),
      .error_index_o (eng_error_index[32*LOAD+:32]),
      .ar_valid_o    (load_ar_valid),
      .ar_ready_i    (load_ar_ready),
      .ar_addr_o     (load_ar_addr),
      .ar_len_o      (load_ar_len),
      .r_valid_i     (load_r_valid),
      .r_ready_o     (load_r_ready),
      .r_data_i      (r_data),
      .r_error_i     (r_error),
      .ld_req_o      (ld_req),
      .ld_addr_o     (ld_addr),
      .ld_size_o     (ld_size),
      .ld_wdata_o    (ld_wdata),
      .ld_gnt_i      (ld_gnt)
  );

  dma_store #(
      .GbufBytes(GbufBytes),
      .BusBytes (BusBytes),
      .LineBytes(LineBytes),
      .MemPorts (MemPorts)
  ) u_store (
      .clk_i         (clk_i),
      .rst_ni        (core_rst_n),
      .halt_i        (halt),
      .quiet_o       (store_quiet),
      .mem_base_i    (mem_base),
      .mem_limit_i   (mem_limit),
      .cmd_valid_i   (eng_valid[STORE]),
      .cmd_ready_o   (eng_ready[STORE]),
      .cmd_i         (eng_cmd[2048*STORE+:2048]),
      .cmd_index_i   (eng_index[32*STORE+:32]),
      .done_o        (eng_done[STORE]),
      .done_index_o  (eng_done_index[32*STORE+:32]),
      .error_o       (eng_error[STORE]),
      .error_status_o(eng_status[8*STORE+:8]),
      .error_index_o (eng_error_index[32*STORE+:32]),
      .st_req_o      (st_req),
      .st_addr_o     (st_addr),
      .st_size_o     (st_size),
      .st_gnt_i      (st_gnt),
      .st_rvalid_i   (st_rvalid),
      .st_rdata_i    (st_rdata),
      .m_axi_awaddr  (m_axi_awaddr),
      .m_axi_awlen   (m_axi_awlen),
      .m_axi_awvalid (m_axi_awvalid),
      .m_axi_awready (m_axi_awready),
      .m_axi_wdata   (m_axi_wdata),
      .m_axi_wstrb   (m_axi_wstrb),
      .m_axi_wlast   (m_axi_wlast),
      .m_axi_wvalid  (m_axi_wvalid),
      .m_axi_wready  (m_axi_wready),
      .m_axi_bresp   (m_axi_bresp),
      .m_axi_bvalid  (m_axi_bvalid),
      .m_axi_bready  (m_axi_bready)
  );

  vector #(
      .GbufBytes(GbufBytes),
      .LineBytes(LineBytes)
  ) u_vector (
      .clk_i         (clk_i),
      .rst_ni        (core_rst_n),
      .halt_i        (halt),
      .busy_o        (vector_busy),
      .cmd_valid_i   (eng_valid[VECTOR]),
      .cmd_ready_o   (eng_ready[VECTOR]),
      .cmd_i         (eng_cmd[2048*VECTOR+:2048]),
      .cmd_index_i   (eng_index[32*VECTOR+:32]),
      .done_o        (eng_done[VECTOR]),
      .done_index_o  (eng_done_index[32*VECTOR+:32]),
      .error_o       (eng_error[VECTOR]),
      .error_status_o(eng_status[8*VECTOR+:8]),
      .error_index_o (eng_error_index[32*VECTOR+:32]),
      .v_req_o       (v_req),
      .v_addr_o      (v_addr),
      .v_size_o      (v_size),
      .v_we_o        (v_we),
      .v_wdata_o     (v_wdata),
      .v_gnt_i       (v_gnt),
      .v_rvalid_i    (v_rvalid),
      .v_rdata_i     (v_rdata)
  );

  wire array_busy, stall_operand, stall_weight, stall_accumulator, stall_command, wave, bubble;

  gemm #(
      .Rows     (Rows),
      .Cols     (Cols),
      .AccRows  (AccRows),
      .GbufBytes(GbufBytes),
      .LineBytes(LineBytes),
      .MacStages(MacStages)
  ) u_gemm (
      .clk_i              (clk_i),
      .rst_ni             (core_rst_n),
      .halt_i             (halt),
      .cmd_valid_i        (eng_valid[GEMM]),
      .cmd_ready_o        (eng_ready[GEMM]),
      .cmd_i              (eng_cmd[2048*GEMM+:2048]),
      .cmd_index_i        (eng_index[32*GEMM+:32]),
      .done_o             (eng_done[GEMM]),
      .done_index_o       (eng_done_index[32*GEMM+:32]),
      .error_o            (eng_error[GEMM]),
      .error_status_o     (eng_status[8*GEMM+:8]),
      .error_index_o      (eng_error_index[32*GEMM+:32]),
      .a_req_o            (a_req),
      .a_addr_o           (a_addr),
      .a_size_o           (a_size),
      .a_gnt_i            (a_gnt),
      .a_rvalid_i         (a_rvalid),
      .a_rdata_i          (a_rdata),
      .b_req_o            (b_req),
      .b_addr_o           (b_addr),
      .b_size_o           (b_size),
      .b_gnt_i            (b_gnt),
      .b_rvalid_i         (b_rvalid),
      .b_rdata_i          (b_rdata),
      .d_req_o            (d_req),
      .d_addr_o           (d_addr),
      .d_size_o           (d_size),
      .d_we_o             (d_we),
      .d_wdata_o          (d_wdata),
      .d_gnt_i            (d_gnt),
      .d_rvalid_i         (d_rvalid),
      .d_rdata_i          (d_rdata),
      .array_busy_o       (array_busy),
      .stall_operand_o    (stall_operand),
      .stall_weight_o     (stall_weight),
      .stall_accumulator_o(stall_accumulator),
      .stall_command_o    (stall_command),
      .wave_o             (wave),
      .bubble_o           (bubble)
  );

  gbuf #(
      .GbufBytes(GbufBytes),
      .LineBytes(LineBytes),
      .MemPorts (MemPorts)
  ) u_gbuf (
      .clk_i      (clk_i),
      .rst_ni     (core_rst_n),
      .a_req_i    (a_req),
      .a_addr_i   (a_addr),
      .a_size_i   (a_size),
      .a_gnt_o    (a_gnt),
      .a_rvalid_o (a_rvalid),
      .a_rdata_o  (a_rdata),
      .b_req_i    (b_req),
      .b_addr_i   (b_addr),
      .b_size_i   (b_size),
      .b_gnt_o    (b_gnt),
      .b_rvalid_o (b_rvalid),
      .b_rdata_o  (b_rdata),
      .d_req_i    (d_req),
      .d_addr_i   (d_addr),
      .d_size_i   (d_size),
      .d_we_i     (d_we),
      .d_wdata_i  (d_wdata),
      .d_gnt_o    (d_gnt),
      .d_rvalid_o (d_rvalid),
      .d_rdata_o  (d_rdata),
      .ld_req_i   (ld_req),
      .ld_addr_i  (ld_addr),
      .ld_size_i  (ld_size),
      .ld_wdata_i (ld_wdata),
      .ld_gnt_o   (ld_gnt),
      .st_req_i   (st_req),
      .st_addr_i  (st_addr),
      .st_size_i  (st_size),
      .st_gnt_o   (st_gnt),
      .st_rvalid_o(st_rvalid),
      .st_rdata_o (st_rdata),
      .v_req_i    (v_req),
      .v_addr_i   (v_addr),
      .v_size_i   (v_size),
      .v_we_i     (v_we),
      .v_wdata_i  (v_wdata),
      .v_gnt_o    (v_gnt),
      .v_rvalid_o (v_rvalid),
      .v_rdata_o  (v_rdata)
  );

  // ---- counters: in the order of enum wc_counter -------------------------------------------------
  wire                ring_beat   = ring_r_valid && ring_r_ready;
  wire [MemPorts-1:0] read_beats  = load_r_valid & load_r_ready;
  wire [MemPorts-1:0] write_beats = m_axi_wvalid & m_axi_wready;
  wire [1:0]          reads, writes;  // beats of this cycle
  generate
    if (MemPorts == 1) begin : g_one_beat
      assign reads  = {1'b0, read_beats};
      assign writes = {1'b0, write_beats};
    end else begin : g_beats
      assign reads  = {1'b0, read_beats[0]} + {1'b0, read_beats[MemPorts-1]};
      assign writes = {1'b0, write_beats[0]} + {1'b0, write_beats[MemPorts-1]};
    end
  endgenerate

  // Of no wave left to stream.
  wire [4:0] stalls = (stall_command && active) ? cause : 5'd0;

  counters #(
      .Count(Counters)
  ) u_counters (
      .clk_i   (clk_i),
      .rst_ni  (core_rst_n),
      .count_i ({1'b0, ring_beat, 1'b0, vector_busy && active, writes, reads, 1'b0, bubble, 1'b0, wave,
                 1'b0, stalls[4], 1'b0, stalls[GEMM], 1'b0, stalls[VECTOR], 1'b0, stalls[STORE], 1'b0, stalls[LOAD],
                 1'b0, stall_accumulator && active, 1'b0, stall_weight && active, 1'b0, stall_operand && active,
                 1'b0, array_busy && active, 1'b0, active}),
      .read_i  (counter_read),
      .select_i(counter_select),
      .value_o (counter)
  );

  wire unused_core = &{1'b0, eng_done_index, m_axi_bid, ring_ar_readys, ring_r_valids, 1'b0};
endmodule
`default_nettype wire
