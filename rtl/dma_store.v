// SPDX-License-Identifier: Apache-2.0
//
// STORE engine: global buffer -> memory, and the AXI4 write channels. dma_walk cuts the transfer into bursts. For each burst the address is
// queued for AW, and its beats are read from the buffer one a cycle into a short queue that drives W. Bursts stream without a pause; up
// to Bursts of them await their response. done_o follows the response of a command's last burst: the memory holds the data.
//
// The last beat of a row has the strobes of the row's bytes only.
//
// Errors: a row out of range (after every earlier burst has been answered), an error response (the command of that burst). From then on,
// and while halt_i, no burst is begun; what is left of one whose address is out is sent with all strobes off, as AXI wants its beats.
// quiet_o says that everything is answered.
`default_nettype none

module dma_store #(
    parameter integer GbufBytes = 65536,
    parameter integer BusBytes  = 16,
    parameter integer LineBytes = 64
) (
    input  wire                   clk_i,
    input  wire                   rst_ni,
    input  wire                   halt_i,
    output wire                   quiet_o,

    input  wire [63:0]            mem_base_i,
    input  wire [63:0]            mem_limit_i,

    input  wire                   cmd_valid_i,
    output wire                   cmd_ready_o,
    input  wire [2047:0]          cmd_i,
    input  wire [31:0]            cmd_index_i,
    output reg                    done_o,
    output reg  [31:0]            done_index_o,
    output wire                   error_o,
    output wire [7:0]             error_status_o,
    output wire [31:0]            error_index_o,

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
    output wire                   m_axi_bready
);
  localparam integer Bursts    = 16;
  localparam integer Beats     = 8;   // queue of W; covers the buffer's read latency
  localparam integer SizeBits  = $clog2(BusBytes) + 1;

  wire        burst_valid, burst_last, walk_error;
  wire [63:0] burst_dram;
  wire [31:0] burst_gbuf, burst_index, walk_error_index;
  wire [12:0] burst_bytes;
  wire [8:0]  burst_beats;
  wire [7:0]  walk_error_status;

  reg         bad_response_q;
  reg  [31:0] bad_index_q;
  wire        stopping = halt_i || bad_response_q;

  // ---- the burst whose beats are being read ------------------------------------------------------
  reg         active_q;
  reg  [31:0] gbuf_q;
  reg  [12:0] left_q;  // bytes of the burst not yet asked for
  wire        last_beat = left_q <= BusBytes[12:0];

  wire        aw_ready, b_ready;
  wire        step;  // one beat is asked for, or made up while stopping
  wire        take = burst_valid && aw_ready && b_ready && (!active_q || (step && last_beat));

  dma_walk #(
      .GbufBytes(GbufBytes),
      .BusBytes (BusBytes)
  ) u_walk (
      .clk_i         (clk_i),
      .rst_ni        (rst_ni),
      .halt_i        (stopping),
      .mem_base_i    (mem_base_i),
      .mem_limit_i   (mem_limit_i),
      .cmd_valid_i   (cmd_valid_i),
      .cmd_ready_o   (cmd_ready_o),
      .cmd_i         (cmd_i[479:0]),
      .cmd_index_i   (cmd_index_i),
      .burst_valid_o (burst_valid),
      .burst_ready_i (aw_ready && b_ready && (!active_q || (step && last_beat))),
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
      active_q  <= take || (active_q && !(step && last_beat));
      pending_q <= st_req_o && !st_gnt_i;
    end

  always @(posedge clk_i)
    if (take) begin
      gbuf_q <= burst_gbuf;
      left_q <= burst_bytes;
    end else if (step) begin
      gbuf_q <= gbuf_q + BusBytes;
      left_q <= left_q - BusBytes[12:0];
    end

  // ---- AW, and the bursts that await their response ----------------------------------------------
  wire        b_valid, b_last;
  wire [31:0] b_index;
  wire [2:0]  aw_count;
  wire [4:0]  b_count;
  wire        answered = m_axi_bvalid && m_axi_bready;

  fifo #(
      .Width(72),
      .Depth(4)
  ) u_aw (
      .clk_i  (clk_i),
      .rst_ni (rst_ni),
      .push_i (take),
      .data_i ({burst_beats[7:0] - 8'd1, burst_dram}),
      .ready_o(aw_ready),
      .valid_o(m_axi_awvalid),
      .data_o ({m_axi_awlen, m_axi_awaddr}),
      .pop_i  (m_axi_awvalid && m_axi_awready),
      .count_o(aw_count)
  );

  fifo #(
      .Width(33),
      .Depth(Bursts)
  ) u_await (
      .clk_i  (clk_i),
      .rst_ni (rst_ni),
      .push_i (take),
      .data_i ({burst_last, burst_index}),
      .ready_o(b_ready),
      .valid_o(b_valid),
      .data_o ({b_last, b_index}),
      .pop_i  (answered),
      .count_o(b_count)
  );

  assign m_axi_bready = b_valid;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      done_o         <= 1'b0;
      bad_response_q <= 1'b0;
    end else begin
      done_o <= answered && b_last && !m_axi_bresp[1] && !stopping;
      if (answered && m_axi_bresp[1]) bad_response_q <= 1'b1;
    end

  always @(posedge clk_i) begin
    done_index_o <= b_index;
    if (answered && m_axi_bresp[1] && !bad_response_q) bad_index_q <= b_index;
  end

  // A bad response belongs to an older command than the one the walk is at.
  assign quiet_o        = !b_valid;
  assign error_o        = bad_response_q || (walk_error && !b_valid);
  assign error_status_o = bad_response_q ? wc_cmd_pkg::STATUS_AXI_ERROR : walk_error_status;
  assign error_index_o  = bad_response_q ? bad_index_q : walk_error_index;

  wire unused = &{1'b0, burst_beats[8], m_axi_bresp[0], aw_count, b_count, asked_ready, w_ready, cmd_i[2047:480], 1'b0};
  generate
    if (LineBytes > BusBytes) begin : g_unused
      wire unused_data = &{1'b0, st_rdata_i[LineBytes*8-1:BusBytes*8], 1'b0};
    end
  endgenerate
endmodule
`default_nettype wire
