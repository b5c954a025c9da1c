// SPDX-License-Identifier: Apache-2.0
//
// STORE engine: global buffer -> memory. dma_walk cuts the transfer into bursts; each goes to a memory port that has read its previous
// burst's beats from the buffer (dma_store_lane is a port's share, with the write channels), in turns while several have. The ports do not
// wait for each other, so rows that share bytes must be ordered by waits. done_o follows the response of the last burst of a command
// and of those before it (dma_retire): the memory holds the data.
//
// Errors: a row out of range (after every earlier burst has been answered), an error response (the command of that burst, after every earlier
// burst of the other port has been answered). From then on, and while halt_i, no burst is begun and the ports send what is left with
// the strobes off; quiet_o says that everything is answered.
`default_nettype none

module dma_store #(
    parameter integer GbufBytes = 65536,
    parameter integer BusBytes  = 16,
    parameter integer LineBytes = 64,
    parameter integer MemPorts  = 1
) (
    input  wire                            clk_i,
    input  wire                            rst_ni,
    input  wire                            halt_i,
    output wire                            quiet_o,

    input  wire [63:0]                     mem_base_i,
    input  wire [63:0]                     mem_limit_i,

    input  wire                            cmd_valid_i,
    output wire                            cmd_ready_o,
    input  wire [2047:0]                   cmd_i,
    input  wire [31:0]                     cmd_index_i,
    output wire                            done_o,
    output wire [31:0]                     done_index_o,
    output wire                            error_o,
    output wire [7:0]                      error_status_o,
    output wire [31:0]                     error_index_o,

    // Per memory port, all of what follows.
    output wire [MemPorts-1:0]             st_req_o,
    output wire [MemPorts*32-1:0]          st_addr_o,
    output wire [MemPorts*16-1:0]          st_size_o,
    input  wire [MemPorts-1:0]             st_gnt_i,
    input  wire [MemPorts-1:0]             st_rvalid_i,
    input  wire [MemPorts*LineBytes*8-1:0] st_rdata_i,

    output wire [MemPorts*64-1:0]          m_axi_awaddr,
    output wire [MemPorts*8-1:0]           m_axi_awlen,
    output wire [MemPorts-1:0]             m_axi_awvalid,
    input  wire [MemPorts-1:0]             m_axi_awready,
    output wire [MemPorts*BusBytes*8-1:0]  m_axi_wdata,
    output wire [MemPorts*BusBytes-1:0]    m_axi_wstrb,
    output wire [MemPorts-1:0]             m_axi_wlast,
    output wire [MemPorts-1:0]             m_axi_wvalid,
    input  wire [MemPorts-1:0]             m_axi_wready,
    input  wire [MemPorts*2-1:0]           m_axi_bresp,
    input  wire [MemPorts-1:0]             m_axi_bvalid,
    output wire [MemPorts-1:0]             m_axi_bready
);
  localparam integer Bursts   = 16;
  localparam integer BusBits  = BusBytes * 8;
  localparam integer LineBits = LineBytes * 8;

  wire                burst_valid, burst_last, walk_error;
  wire [63:0]         burst_dram;
  wire [31:0]         burst_gbuf, burst_index, walk_error_index;
  wire [12:0]         burst_bytes;
  wire [8:0]          burst_beats;
  wire [7:0]          walk_error_status;

  wire [MemPorts-1:0] lane_ready, lane_quiet, finished, bad;
  wire                order_ready, order_empty, bad_response;
  wire [31:0]         oldest_index;

  wire                port;  // that the burst would go to
  wire                burst_ready = order_ready && (|lane_ready);
  wire                burst_take  = burst_valid && burst_ready;

  dma_walk #(
      .GbufBytes(GbufBytes),
      .BusBytes (BusBytes)
  ) u_walk (
      .clk_i         (clk_i),
      .rst_ni        (rst_ni),
      .halt_i        (halt_i || (|bad)),
      .mem_base_i    (mem_base_i),
      .mem_limit_i   (mem_limit_i),
      .cmd_valid_i   (cmd_valid_i),
      .cmd_ready_o   (cmd_ready_o),
      .cmd_i         (cmd_i[479:0]),
      .cmd_index_i   (cmd_index_i),
      .burst_valid_o (burst_valid),
      .burst_ready_i (burst_ready),
      .burst_dram_o  (burst_dram),
      .burst_gbuf_o  (burst_gbuf),
      .burst_bytes_o (burst_bytes),
      .burst_beats_o (burst_beats),
      .burst_last_o  (burst_last),
      .burst_index_o (burst_index),
      .error_o       (walk_error),
      .error_status_o(walk_error_status),
      .error_index_o (walk_error_index)
  );

  genvar p;
  generate
    if (MemPorts == 1) begin : g_one
      assign port = 1'b0;
    end else begin : g_choose
      reg turn_q;
      assign port = (&lane_ready) ? turn_q : lane_ready[1];
      always @(posedge clk_i or negedge rst_ni)
        if (!rst_ni) turn_q <= 1'b0;
        else if (burst_take) turn_q <= !port;
    end

    for (p = 0; p < MemPorts; p = p + 1) begin : g_lane
      wire take = burst_take && (MemPorts == 1 || port == p);

      dma_store_lane #(
          .BusBytes (BusBytes),
          .LineBytes(LineBytes),
          .Bursts   (Bursts)
      ) u_lane (
          .clk_i        (clk_i),
          .rst_ni       (rst_ni),
          .stop_i       (halt_i || bad_response),
          .quiet_o      (lane_quiet[p]),
          .take_i       (take),
          .burst_dram_i (burst_dram),
          .burst_gbuf_i (burst_gbuf),
          .burst_bytes_i(burst_bytes),
          .burst_beats_i(burst_beats),
          .ready_o      (lane_ready[p]),
          .st_req_o     (st_req_o[p]),
          .st_addr_o    (st_addr_o[32*p+:32]),
          .st_size_o    (st_size_o[16*p+:16]),
          .st_gnt_i     (st_gnt_i[p]),
          .st_rvalid_i  (st_rvalid_i[p]),
          .st_rdata_i   (st_rdata_i[LineBits*p+:LineBits]),
          .m_axi_awaddr (m_axi_awaddr[64*p+:64]),
          .m_axi_awlen  (m_axi_awlen[8*p+:8]),
          .m_axi_awvalid(m_axi_awvalid[p]),
          .m_axi_awready(m_axi_awready[p]),
          .m_axi_wdata  (m_axi_wdata[BusBits*p+:BusBits]),
          .m_axi_wstrb  (m_axi_wstrb[BusBytes*p+:BusBytes]),
          .m_axi_wlast  (m_axi_wlast[p]),
          .m_axi_wvalid (m_axi_wvalid[p]),
          .m_axi_wready (m_axi_wready[p]),
          .m_axi_bresp  (m_axi_bresp[2*p+:2]),
          .m_axi_bvalid (m_axi_bvalid[p]),
          .m_axi_bready (m_axi_bready[p]),
          .finished_o   (finished[p]),
          .bad_o        (bad[p])
      );
    end
  endgenerate

  dma_retire #(
      .MemPorts(MemPorts),
      .Bursts  (Bursts)
  ) u_retire (
      .clk_i       (clk_i),
      .rst_ni      (rst_ni),
      .halt_i      (halt_i),
      .push_i      (burst_take),
      .push_port_i (port),
      .push_last_i (burst_last),
      .push_index_i(burst_index),
      .ready_o     (order_ready),
      .finished_i  (finished),
      .bad_i       (bad),
      .done_o      (done_o),
      .done_index_o(done_index_o),
      .empty_o     (order_empty),
      .error_o     (bad_response),
      .index_o     (oldest_index)
  );

  // A bad response belongs to an older command than the one the walk is at.
  assign quiet_o        = &lane_quiet;
  assign error_o        = bad_response || (walk_error && order_empty);
  assign error_status_o = bad_response ? wc_cmd_pkg::STATUS_AXI_ERROR : walk_error_status;
  assign error_index_o  = bad_response ? oldest_index : walk_error_index;

  wire unused = &{1'b0, cmd_i[2047:480], 1'b0};
endmodule
`default_nettype wire
