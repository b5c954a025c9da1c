// SPDX-License-Identifier: Apache-2.0
//
// One AXI4 memory port, shared by two cores. core_* are packed with core 0 in the low bits. Bit 1 of an ID names the core, bit 0 is the
// core's own.
//
// AR and AW each have an arbiter of their own, and a grant is for one burst: the core that was not served last goes first, and alone a core
// is served in every cycle. What is on the bus stays until the memory takes it. W follows AW: the beats of a burst come as a whole, in the
// order in which the bursts' addresses were taken, so they never run ahead of their address.
//
// A core asks for reads far ahead of their beats. A memory that answers in order would give one core all that it has asked for before the
// other has its turn, so a read burst waits while the memory has plenty to do: as many bursts as a core alone can have out (16 loads and 4
// commands), and 256 beats.
//
// Nothing is delayed by a cycle, and no path leads from the memory's signals back to it: AR, AW and W are the cores' registers behind a
// choice that only registers decide, a beat of R is taken while both cores have room for one, and whoever has a burst out takes its
// response. So beats that one core stalls hold up the other's, as they do in a memory that answers in order.
`default_nettype none

module axi_arbiter #(
    parameter integer BusBytes = 16
) (
    input  wire                    clk_i,
    input  wire                    rst_ni,

    input  wire [1:0]              core_arid,
    input  wire [2*64-1:0]         core_araddr,
    input  wire [2*8-1:0]          core_arlen,
    input  wire [1:0]              core_arvalid,
    output wire [1:0]              core_arready,
    output wire                    core_rid,       // rid, rdata, rresp, rlast and bresp: for whom valid is set
    output wire [BusBytes*8-1:0]   core_rdata,
    output wire [1:0]              core_rresp,
    output wire                    core_rlast,
    output wire [1:0]              core_rvalid,
    input  wire [1:0]              core_rready,
    input  wire [2*64-1:0]         core_awaddr,
    input  wire [2*8-1:0]          core_awlen,
    input  wire [1:0]              core_awid,
    input  wire [1:0]              core_awvalid,
    output wire [1:0]              core_awready,
    input  wire [2*BusBytes*8-1:0] core_wdata,
    input  wire [2*BusBytes-1:0]   core_wstrb,
    input  wire [1:0]              core_wlast,
    input  wire [1:0]              core_wvalid,
    output wire [1:0]              core_wready,
    output wire                    core_bid,
    output wire [1:0]              core_bresp,
    output wire [1:0]              core_bvalid,
    input  wire [1:0]              core_bready,

    output wire [1:0]              m_axi_arid,
    output wire [63:0]             m_axi_araddr,
    output wire [7:0]              m_axi_arlen,
    output wire                    m_axi_arvalid,
    input  wire                    m_axi_arready,
    input  wire [1:0]              m_axi_rid,
    input  wire [BusBytes*8-1:0]   m_axi_rdata,
    input  wire [1:0]              m_axi_rresp,
    input  wire                    m_axi_rlast,
    input  wire                    m_axi_rvalid,
    output wire                    m_axi_rready,
    output wire [1:0]              m_axi_awid,
    output wire [63:0]             m_axi_awaddr,
    output wire [7:0]              m_axi_awlen,
    output wire                    m_axi_awvalid,
    input  wire                    m_axi_awready,
    output wire [BusBytes*8-1:0]   m_axi_wdata,
    output wire [BusBytes-1:0]     m_axi_wstrb,
    output wire                    m_axi_wlast,
    output wire                    m_axi_wvalid,
    input  wire                    m_axi_wready,
    input  wire [1:0]              m_axi_bid,
    input  wire [1:0]              m_axi_bresp,
    input  wire                    m_axi_bvalid,
    output wire                    m_axi_bready
);
  localparam integer Bursts = 16;      // of W: whose address is taken and whose last beat is not
  localparam integer Plenty = 20;      // bursts of R ...
  localparam integer PlentyBeats = 256;

  // ---- addresses: the turn is the other's after a burst is taken, and stays while one waits ------
  reg  ar_turn_q, aw_turn_q;
  wire ar_core  = core_arvalid[ar_turn_q] ? ar_turn_q : !ar_turn_q;
  wire aw_core  = core_awvalid[aw_turn_q] ? aw_turn_q : !aw_turn_q;
  wire ar_room, aw_room;
  wire ar_taken = m_axi_arvalid && m_axi_arready;
  wire aw_taken = m_axi_awvalid && m_axi_awready;

  assign m_axi_arid    = {ar_core, core_arid[ar_core]};
  assign m_axi_araddr  = core_araddr[64*ar_core+:64];
  assign m_axi_arlen   = core_arlen[8*ar_core+:8];
  assign m_axi_arvalid = core_arvalid != 2'd0 && ar_room;
  assign core_arready  = {ar_core, !ar_core} & {2{m_axi_arready && ar_room}};

  assign m_axi_awid    = {aw_core, core_awid[aw_core]};
  assign m_axi_awaddr  = core_awaddr[64*aw_core+:64];
  assign m_axi_awlen   = core_awlen[8*aw_core+:8];
  assign m_axi_awvalid = core_awvalid != 2'd0 && aw_room;
  assign core_awready  = {aw_core, !aw_core} & {2{m_axi_awready && aw_room}};

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      ar_turn_q <= 1'b0;
      aw_turn_q <= 1'b0;
    end else begin
      if (m_axi_arvalid) ar_turn_q <= ar_core ^ m_axi_arready;
      if (m_axi_awvalid) aw_turn_q <= aw_core ^ m_axi_awready;
    end

  // ---- R: what the memory has to do --------------------------------------------------------------
  reg  [5:0]  bursts_q;
  reg  [13:0] beats_q;
  wire        beat      = m_axi_rvalid && m_axi_rready;
  wire [13:0] ar_beats  = ar_taken ? {6'd0, m_axi_arlen} + 14'd1 : 14'd0;
  wire        last_beat = beat && m_axi_rlast;

  assign ar_room = bursts_q < Plenty[5:0] || beats_q < PlentyBeats[13:0];

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      bursts_q <= 6'd0;
      beats_q  <= 14'd0;
    end else begin
      bursts_q <= bursts_q + {5'd0, ar_taken} - {5'd0, last_beat};
      beats_q  <= beats_q + ar_beats - {13'd0, beat};
    end

  // ---- W: whose burst is next, in the order of AW ------------------------------------------------
  wire       w_known, w_core;
  wire [4:0] w_count;

  fifo #(
      .Width(1),
      .Depth(Bursts)
  ) u_order (
      .clk_i  (clk_i),
      .rst_ni (rst_ni),
      .push_i (aw_taken),
      .data_i (aw_core),
      .ready_o(aw_room),
      .valid_o(w_known),
      .data_o (w_core),
      .pop_i  (m_axi_wvalid && m_axi_wready && m_axi_wlast),
      .count_o(w_count)
  );

  assign m_axi_wdata  = core_wdata[BusBytes*8*w_core+:BusBytes*8];
  assign m_axi_wstrb  = core_wstrb[BusBytes*w_core+:BusBytes];
  assign m_axi_wlast  = core_wlast[w_core];
  assign m_axi_wvalid = w_known && core_wvalid[w_core];
  assign core_wready  = {w_core, !w_core} & {2{w_known && m_axi_wready}};

  // ---- answers go to the core that the ID names --------------------------------------------------
  assign m_axi_rready = core_rready == 2'b11;
  assign core_rid     = m_axi_rid[0];
  assign core_rdata   = m_axi_rdata;
  assign core_rresp   = m_axi_rresp;
  assign core_rlast   = m_axi_rlast;
  assign core_rvalid  = {m_axi_rid[1], !m_axi_rid[1]} & {2{m_axi_rvalid && m_axi_rready}};

  assign m_axi_bready = core_bready != 2'd0;
  assign core_bid     = m_axi_bid[0];
  assign core_bresp   = m_axi_bresp;
  assign core_bvalid  = {m_axi_bid[1], !m_axi_bid[1]} & {2{m_axi_bvalid}};

  wire unused = &{1'b0, w_count, 1'b0};

`ifdef WC_ASSERT
  // A response is for a core that waits for one.
  axi_arbiter_answer: assert property (@(posedge clk_i) disable iff (!rst_ni) m_axi_bvalid |-> core_bready[m_axi_bid[1]])
  else $error("axi_arbiter: a response for a core that has no burst out");
  // Of two that ask, none is served twice before the other.
  reg ar_waits_q, ar_last_q, aw_waits_q, aw_last_q;
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      ar_waits_q <= 1'b0;
      aw_waits_q <= 1'b0;
    end else begin
      if (ar_taken) ar_waits_q <= core_arvalid[!ar_core];
      if (aw_taken) aw_waits_q <= core_awvalid[!aw_core];
    end
  always @(posedge clk_i) begin
    if (ar_taken) ar_last_q <= ar_core;
    if (aw_taken) aw_last_q <= aw_core;
  end
  axi_arbiter_ar_turn: assert property (@(posedge clk_i) disable iff (!rst_ni) ar_taken && ar_waits_q |-> ar_core != ar_last_q)
  else $error("axi_arbiter: a core's read burst is passed over");
  axi_arbiter_aw_turn: assert property (@(posedge clk_i) disable iff (!rst_ni) aw_taken && aw_waits_q |-> aw_core != aw_last_q)
  else $error("axi_arbiter: a core's write burst is passed over");
`endif
endmodule
`default_nettype wire
