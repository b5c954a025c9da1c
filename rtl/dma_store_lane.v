// SPDX-License-Identifier: Apache-2.0
//
// One memory port's share of the STORE engine, and the port's AXI write channels. For each burst the address is queued for AW, and its
// beats are read from the global buffer one a cycle into a short queue that drives W. Bursts stream without a pause; up to Bursts of
// them await their response. The last beat of a burst has the strobes of the row's bytes only.
//
// After an error response (bad_o, held), and while stop_i, what is left of a burst whose address is out is sent with all strobes off, as AXI
// wants its beats. quiet_o says that everything is answered.
`default_nettype none

module dma_store_lane #(
    parameter integer BusBytes  = 16,
    parameter integer LineBytes = 64,
    parameter integer Bursts    = 16    // that await their response
) (
    input  wire                   clk_i,
    input  wire                   rst_ni,
    input  wire                   stop_i,
    output wire                   quiet_o,

    input  wire                   take_i,        // a burst begins, while ready_o
    input  wire [63:0]            burst_dram_i,
    input  wire [31:0]            burst_gbuf_i,
    input  wire [12:0]            burst_bytes_i,
    input  wire [8:0]             burst_beats_i,
    output wire                   ready_o,

    output wire                   st_req_o,
    output wire [31:0]            st_addr_o,
    output wire [15:0]            st_size_o,
    input  wire                   st_gnt_i,
    input  wire                   st_rvalid_i,
    input  wire [LineBytes*8-1:0] st_rdata_i,

    output wire [63:0]            m_axi_awaddr,
    output wire [7:0]             m_axi_awlen,
    output wire                   m_axi_awvalid,
    input  wire                   m_axi_awready,
    output wire [BusBytes*8-1:0]  m_axi_wdata,
    output wire [BusBytes-1:0]    m_axi_wstrb,
    output wire                   m_axi_wlast,
    output wire                   m_axi_wvalid,
    input  wire                   m_axi_wready,
    input  wire [1:0]             m_axi_bresp,
    input  wire                   m_axi_bvalid,
    output wire                   m_axi_bready,

    output wire                   finished_o,    // the memory holds the oldest burst
    output wire                   bad_o          // the burst after those finished was answered with an error
);
  localparam integer Beats     = 8;   // queue of W; covers the buffer's read latency
  localparam integer SizeBits  = $clog2(BusBytes) + 1;
  localparam integer AwaitBits = $clog2(Bursts) + 1;

  reg         bad_q;
  wire        stopping = stop_i || bad_q;

  // ---- the burst whose beats are being read ------------------------------------------------------
  reg         active_q;
  reg  [31:0] gbuf_q;
  reg  [12:0] left_q;  // bytes of the burst not yet asked for
  wire        last_beat = left_q <= BusBytes[12:0];

  wire        aw_ready, await_ready;
  wire        step;  // one beat is asked for, or made up while stopping

  assign ready_o = aw_ready && await_ready && (!active_q || (step && last_beat));

  // ---- beats: size and last of those asked for, in order, meet the data that come back -----------
  wire                asked_ready, beat_valid, beat_last, beat_real, w_ready;
  wire [SizeBits-1:0] beat_bytes;
  wire [3:0]          asked, queued;
  wire                beat_pop;
  wire                room = {1'b0, asked} + {1'b0, queued} < Beats[4:0];

  // A request, once out, stays until granted, even while stopping.
  reg                 pending_q;
  assign st_req_o  = active_q && (pending_q || (room && !stopping));
  assign st_addr_o = gbuf_q;
  assign st_size_o = last_beat ? {3'd0, left_q} : BusBytes[15:0];
  assign step      = (st_req_o && st_gnt_i) || (active_q && stopping && !pending_q && room);

  fifo #(
      .Width(SizeBits + 2),
      .Depth(Beats)
  ) u_asked (
      .clk_i  (clk_i),
      .rst_ni (rst_ni),
      .push_i (step),
      .data_i ({st_size_o[SizeBits-1:0], last_beat, st_req_o}),
      .ready_o(asked_ready),
      .valid_o(beat_valid),
      .data_o ({beat_bytes, beat_last, beat_real}),
      .pop_i  (beat_pop),
      .count_o(asked)
  );

  assign beat_pop = beat_valid && (beat_real ? st_rvalid_i : 1'b1);

  wire [BusBytes-1:0] strobes = ~({BusBytes{1'b1}} << beat_bytes);

  fifo #(
      .Width(BusBytes * 9 + 1),
      .Depth(Beats)
  ) u_beats (
      .clk_i  (clk_i),
      .rst_ni (rst_ni),
      .push_i (beat_pop),
      .data_i ({beat_last, stopping ? {BusBytes{1'b0}} : strobes, st_rdata_i[BusBytes*8-1:0]}),
      .ready_o(w_ready),
      .valid_o(m_axi_wvalid),
      .data_o ({m_axi_wlast, m_axi_wstrb, m_axi_wdata}),
      .pop_i  (m_axi_wvalid && m_axi_wready),
      .count_o(queued)
  );

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      active_q  <= 1'b0;
      pending_q <= 1'b0;
    end else begin
      active_q  <= take_i || (active_q && !(step && last_beat));
      pending_q <= st_req_o && !st_gnt_i;
    end

  always @(posedge clk_i)
    if (take_i) begin
      gbuf_q <= burst_gbuf_i;
      left_q <= burst_bytes_i;
    end else if (step) begin
      gbuf_q <= gbuf_q + BusBytes;
      left_q <= left_q - BusBytes[12:0];
    end

  // ---- AW, and the bursts that await their response ----------------------------------------------
  wire [2:0] aw_count;

  fifo #(
      .Width(72),
      .Depth(4)
  ) u_aw (
      .clk_i  (clk_i),
      .rst_ni (rst_ni),
      .push_i (take_i),
      .data_i ({burst_beats_i[7:0] - 8'd1, burst_dram_i}),
      .ready_o(aw_ready),
      .valid_o(m_axi_awvalid),
      .data_o ({m_axi_awlen, m_axi_awaddr}),
      .pop_i  (m_axi_awvalid && m_axi_awready),
      .count_o(aw_count)
  );

  reg  [AwaitBits-1:0] await_q;
  wire                 answered = m_axi_bvalid && m_axi_bready;

  assign await_ready  = await_q != Bursts[AwaitBits-1:0];
  assign quiet_o      = await_q == {AwaitBits{1'b0}};
  assign m_axi_bready = !quiet_o;
  assign finished_o   = answered && !m_axi_bresp[1] && !bad_q;
  assign bad_o        = bad_q;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      await_q <= {AwaitBits{1'b0}};
      bad_q   <= 1'b0;
    end else begin
      if (take_i && !answered) await_q <= await_q + 1'b1;
      if (!take_i && answered) await_q <= await_q - 1'b1;
      if (answered && m_axi_bresp[1]) bad_q <= 1'b1;
    end

  wire unused = &{1'b0, burst_beats_i[8], m_axi_bresp[0], aw_count, asked_ready, w_ready, 1'b0};
  generate
    if (LineBytes > BusBytes) begin : g_unused
      wire unused_data = &{1'b0, st_rdata_i[LineBytes*8-1:BusBytes*8], 1'b0};
    end
  endgenerate

`ifdef WC_ASSERT
  // A burst begins only when the one before it is read.
  dma_store_take: assert property (@(posedge clk_i) disable iff (!rst_ni) !(take_i && !ready_o))
  else $error("dma_store: a burst begins while there is no room for it");
`endif
endmodule
`default_nettype wire
