// SPDX-License-Identifier: Apache-2.0
//
// The device: one core (wavecore.v) or two, each with an array, a global buffer, a command ring and registers of its own. They share the
// memory ports, each through an arbiter, the AXI4-Lite port, on which core i has the addresses from i * 0x1000 on, and the interrupt, which
// is raised while either raises it.
//
// With one core this is wires: not a cycle, an address bit or an ID bit is added. With two, an ID's highest bit names the core.
`default_nettype none

module wavecore_cores #(
    parameter integer Cores     = 1,
    parameter integer Rows      = 16,
    parameter integer Cols      = 16,
    parameter integer AccRows   = 256,
    parameter integer GbufBytes = 65536,
    parameter integer BusBytes  = 16,
    parameter integer MemPorts  = 1,
    parameter integer MacStages = 1,
    // Of the cores; not to be set.
    parameter integer AddrBits  = 11 + Cores,
    parameter integer IdBits    = Cores
) (
    input  wire                               clk_i,
    input  wire                               rst_ni,
    output wire                               irq_o,

    input  wire [AddrBits-1:0]                s_axil_awaddr,
    input  wire                               s_axil_awvalid,
    output wire                               s_axil_awready,
    input  wire [31:0]                        s_axil_wdata,
    input  wire                               s_axil_wvalid,
    output wire                               s_axil_wready,
    output wire [1:0]                         s_axil_bresp,
    output wire                               s_axil_bvalid,
    input  wire                               s_axil_bready,
    input  wire [AddrBits-1:0]                s_axil_araddr,
    input  wire                               s_axil_arvalid,
    output wire                               s_axil_arready,
    output wire [31:0]                        s_axil_rdata,
    output wire [1:0]                         s_axil_rresp,
    output wire                               s_axil_rvalid,
    input  wire                               s_axil_rready,

    output wire [MemPorts*IdBits-1:0]         m_axi_arid,
    output wire [MemPorts*64-1:0]             m_axi_araddr,
    output wire [MemPorts*8-1:0]              m_axi_arlen,
    output wire [MemPorts*3-1:0]              m_axi_arsize,
    output wire [MemPorts*2-1:0]              m_axi_arburst,
    output wire [MemPorts-1:0]                m_axi_arvalid,
    input  wire [MemPorts-1:0]                m_axi_arready,
    input  wire [MemPorts*IdBits-1:0]         m_axi_rid,
    input  wire [MemPorts*BusBytes*8-1:0]     m_axi_rdata,
    input  wire [MemPorts*2-1:0]              m_axi_rresp,
    input  wire [MemPorts-1:0]                m_axi_rlast,
    input  wire [MemPorts-1:0]                m_axi_rvalid,
    output wire [MemPorts-1:0]                m_axi_rready,
    output wire [MemPorts*IdBits-1:0]         m_axi_awid,
    output wire [MemPorts*64-1:0]             m_axi_awaddr,
    output wire [MemPorts*8-1:0]              m_axi_awlen,
    output wire [MemPorts*3-1:0]              m_axi_awsize,
    output wire [MemPorts*2-1:0]              m_axi_awburst,
    output wire [MemPorts-1:0]                m_axi_awvalid,
    input  wire [MemPorts-1:0]                m_axi_awready,
    output wire [MemPorts*BusBytes*8-1:0]     m_axi_wdata,
    output wire [MemPorts*BusBytes-1:0]       m_axi_wstrb,
    output wire [MemPorts-1:0]                m_axi_wlast,
    output wire [MemPorts-1:0]                m_axi_wvalid,
    input  wire [MemPorts-1:0]                m_axi_wready,
    input  wire [MemPorts*IdBits-1:0]         m_axi_bid,
    input  wire [MemPorts*2-1:0]              m_axi_bresp,
    input  wire [MemPorts-1:0]                m_axi_bvalid,
    output wire [MemPorts-1:0]                m_axi_bready
);
  generate
    if (Cores != 1 && Cores != 2) begin : g_bad_cores
      wavecore_cores_out_of_range u_bad ();
    end
  endgenerate

  // ---- the cores; their signals are packed with core 0 in the low bits, a core's with port 0 ------
  wire [Cores-1:0] irq;

  wire [Cores-1:0]                        axil_awvalid;
  wire [Cores-1:0]                        axil_awready;
  wire [Cores-1:0]                        axil_wvalid;
  wire [Cores-1:0]                        axil_wready;
  wire [Cores*2-1:0]                      axil_bresp;
  wire [Cores-1:0]                        axil_bvalid;
  wire [Cores-1:0]                        axil_arvalid;
  wire [Cores-1:0]                        axil_arready;
  wire [Cores*32-1:0]                     axil_rdata;
  wire [Cores*2-1:0]                      axil_rresp;
  wire [Cores-1:0]                        axil_rvalid;

  wire [Cores*MemPorts-1:0]               core_arid;
  wire [Cores*MemPorts*64-1:0]            core_araddr;
  wire [Cores*MemPorts*8-1:0]             core_arlen;
  wire [Cores*MemPorts*3-1:0]             core_arsize;
  wire [Cores*MemPorts*2-1:0]             core_arburst;
  wire [Cores*MemPorts-1:0]               core_arvalid;
  wire [Cores*MemPorts-1:0]               core_arready;
  wire [Cores*MemPorts-1:0]               core_rid;
  wire [Cores*MemPorts*BusBytes*8-1:0]    core_rdata;
  wire [Cores*MemPorts*2-1:0]             core_rresp;
  wire [Cores*MemPorts-1:0]               core_rlast;
  wire [Cores*MemPorts-1:0]               core_rvalid;
  wire [Cores*MemPorts-1:0]               core_rready;
  wire [Cores*MemPorts-1:0]               core_awid;
  wire [Cores*MemPorts*64-1:0]            core_awaddr;
  wire [Cores*MemPorts*8-1:0]             core_awlen;
  wire [Cores*MemPorts*3-1:0]             core_awsize;
  wire [Cores*MemPorts*2-1:0]             core_awburst;
  wire [Cores*MemPorts-1:0]               core_awvalid;
  wire [Cores*MemPorts-1:0]               core_awready;
  wire [Cores*MemPorts*BusBytes*8-1:0]    core_wdata;
  wire [Cores*MemPorts*BusBytes-1:0]      core_wstrb;
  wire [Cores*MemPorts-1:0]               core_wlast;
  wire [Cores*MemPorts-1:0]               core_wvalid;
  wire [Cores*MemPorts-1:0]               core_wready;
  wire [Cores*MemPorts-1:0]               core_bid;
  wire [Cores*MemPorts*2-1:0]             core_bresp;
  wire [Cores*MemPorts-1:0]               core_bvalid;
  wire [Cores*MemPorts-1:0]               core_bready;

  assign irq_o = irq != {Cores{1'b0}};

  genvar c, p;
  generate
    for (c = 0; c < Cores; c = c + 1) begin : g_core
      wavecore #(
          .Rows     (Rows),
          .Cols     (Cols),
          .AccRows  (AccRows),
          .GbufBytes(GbufBytes),
          .BusBytes (BusBytes),
          .MemPorts (MemPorts),
          .MacStages(MacStages)
      ) u_core (
          .clk_i         (clk_i),
          .rst_ni        (rst_ni),
          .irq_o         (irq[c]),
          .s_axil_awaddr (s_axil_awaddr[11:0]),
          .s_axil_awvalid(axil_awvalid[c]),
          .s_axil_awready(axil_awready[c]),
          .s_axil_wdata  (s_axil_wdata),
          .s_axil_wvalid (axil_wvalid[c]),
          .s_axil_wready (axil_wready[c]),
          .s_axil_bresp  (axil_bresp[2*c+:2]),
          .s_axil_bvalid (axil_bvalid[c]),
          .s_axil_bready (s_axil_bready),
          .s_axil_araddr (s_axil_araddr[11:0]),
          .s_axil_arvalid(axil_arvalid[c]),
          .s_axil_arready(axil_arready[c]),
          .s_axil_rdata  (axil_rdata[32*c+:32]),
          .s_axil_rresp  (axil_rresp[2*c+:2]),
          .s_axil_rvalid (axil_rvalid[c]),
          .s_axil_rready (s_axil_rready),
          .m_axi_arid    (core_arid[MemPorts*c+:MemPorts]),
          .m_axi_araddr  (core_araddr[64*MemPorts*c+:64*MemPorts]),
          .m_axi_arlen   (core_arlen[8*MemPorts*c+:8*MemPorts]),
          .m_axi_arsize  (core_arsize[3*MemPorts*c+:3*MemPorts]),
          .m_axi_arburst (core_arburst[2*MemPorts*c+:2*MemPorts]),
          .m_axi_arvalid (core_arvalid[MemPorts*c+:MemPorts]),
          .m_axi_arready (core_arready[MemPorts*c+:MemPorts]),
          .m_axi_rid     (core_rid[MemPorts*c+:MemPorts]),
          .m_axi_rdata   (core_rdata[BusBytes*8*MemPorts*c+:BusBytes*8*MemPorts]),
          .m_axi_rresp   (core_rresp[2*MemPorts*c+:2*MemPorts]),
          .m_axi_rlast   (core_rlast[MemPorts*c+:MemPorts]),
          .m_axi_rvalid  (core_rvalid[MemPorts*c+:MemPorts]),
          .m_axi_rready  (core_rready[MemPorts*c+:MemPorts]),
          .m_axi_awid    (core_awid[MemPorts*c+:MemPorts]),
          .m_axi_awaddr  (core_awaddr[64*MemPorts*c+:64*MemPorts]),
          .m_axi_awlen   (core_awlen[8*MemPorts*c+:8*MemPorts]),
          .m_axi_awsize  (core_awsize[3*MemPorts*c+:3*MemPorts]),
          .m_axi_awburst (core_awburst[2*MemPorts*c+:2*MemPorts]),
          .m_axi_awvalid (core_awvalid[MemPorts*c+:MemPorts]),
          .m_axi_awready (core_awready[MemPorts*c+:MemPorts]),
          .m_axi_wdata   (core_wdata[BusBytes*8*MemPorts*c+:BusBytes*8*MemPorts]),
          .m_axi_wstrb   (core_wstrb[BusBytes*MemPorts*c+:BusBytes*MemPorts]),
          .m_axi_wlast   (core_wlast[MemPorts*c+:MemPorts]),
          .m_axi_wvalid  (core_wvalid[MemPorts*c+:MemPorts]),
          .m_axi_wready  (core_wready[MemPorts*c+:MemPorts]),
          .m_axi_bid     (core_bid[MemPorts*c+:MemPorts]),
          .m_axi_bresp   (core_bresp[2*MemPorts*c+:2*MemPorts]),
          .m_axi_bvalid  (core_bvalid[MemPorts*c+:MemPorts]),
          .m_axi_bready  (core_bready[MemPorts*c+:MemPorts])
      );
    end

    if (Cores == 1) begin : g_one
      assign axil_awvalid   = s_axil_awvalid;
      assign s_axil_awready = axil_awready;
      assign axil_wvalid    = s_axil_wvalid;
      assign s_axil_wready  = axil_wready;
      assign s_axil_bresp   = axil_bresp;
      assign s_axil_bvalid  = axil_bvalid;
      assign axil_arvalid   = s_axil_arvalid;
      assign s_axil_arready = axil_arready;
      assign s_axil_rdata   = axil_rdata;
      assign s_axil_rresp   = axil_rresp;
      assign s_axil_rvalid  = axil_rvalid;
      assign m_axi_arid     = core_arid;
      assign m_axi_araddr   = core_araddr;
      assign m_axi_arlen    = core_arlen;
      assign m_axi_arsize   = core_arsize;
      assign m_axi_arburst  = core_arburst;
      assign m_axi_arvalid  = core_arvalid;
      assign core_arready   = m_axi_arready;
      assign core_rid       = m_axi_rid;
      assign core_rdata     = m_axi_rdata;
      assign core_rresp     = m_axi_rresp;
      assign core_rlast     = m_axi_rlast;
      assign core_rvalid    = m_axi_rvalid;
      assign m_axi_rready   = core_rready;
      assign m_axi_awid     = core_awid;
      assign m_axi_awaddr   = core_awaddr;
      assign m_axi_awlen    = core_awlen;
      assign m_axi_awsize   = core_awsize;
      assign m_axi_awburst  = core_awburst;
      assign m_axi_awvalid  = core_awvalid;
      assign core_awready   = m_axi_awready;
      assign m_axi_wdata    = core_wdata;
      assign m_axi_wstrb    = core_wstrb;
      assign m_axi_wlast    = core_wlast;
      assign m_axi_wvalid   = core_wvalid;
      assign core_wready    = m_axi_wready;
      assign core_bid       = m_axi_bid;
      assign core_bresp     = m_axi_bresp;
      assign core_bvalid    = m_axi_bvalid;
      assign m_axi_bready   = core_bready;
    end else begin : g_two
      // Every answer of the registers is OKAY, every burst INCR and full width.
      assign s_axil_bresp  = 2'b00;
      assign s_axil_rresp  = 2'b00;
      assign m_axi_arsize  = core_arsize[3*MemPorts-1:0];
      assign m_axi_arburst = core_arburst[2*MemPorts-1:0];
      assign m_axi_awsize  = core_awsize[3*MemPorts-1:0];
      assign m_axi_awburst = core_awburst[2*MemPorts-1:0];

      axil_split u_split (
          .clk_i         (clk_i),
          .rst_ni        (rst_ni),
          .s_axil_awaddr (s_axil_awaddr),
          .s_axil_awvalid(s_axil_awvalid),
          .s_axil_awready(s_axil_awready),
          .s_axil_wvalid (s_axil_wvalid),
          .s_axil_wready (s_axil_wready),
          .s_axil_bvalid (s_axil_bvalid),
          .s_axil_bready (s_axil_bready),
          .s_axil_araddr (s_axil_araddr),
          .s_axil_arvalid(s_axil_arvalid),
          .s_axil_arready(s_axil_arready),
          .s_axil_rdata  (s_axil_rdata),
          .s_axil_rvalid (s_axil_rvalid),
          .core_awvalid  (axil_awvalid),
          .core_awready  (axil_awready),
          .core_wvalid   (axil_wvalid),
          .core_wready   (axil_wready),
          .core_bvalid   (axil_bvalid),
          .core_arvalid  (axil_arvalid),
          .core_arready  (axil_arready),
          .core_rdata    (axil_rdata),
          .core_rvalid   (axil_rvalid)
      );

      for (p = 0; p < MemPorts; p = p + 1) begin : g_port
        // For both cores; the arbiter says with valid for whom.
        wire                  rid, rlast, bid;
        wire [BusBytes*8-1:0] rdata;
        wire [1:0]            rresp, bresp;

        for (c = 0; c < 2; c = c + 1) begin : g_answer
          assign core_rid[MemPorts*c+p] = rid;
          assign core_rdata[BusBytes*8*(MemPorts*c+p)+:BusBytes*8] = rdata;
          assign core_rresp[2*(MemPorts*c+p)+:2] = rresp;
          assign core_rlast[MemPorts*c+p] = rlast;
          assign core_bid[MemPorts*c+p] = bid;
          assign core_bresp[2*(MemPorts*c+p)+:2] = bresp;
        end

        axi_arbiter #(
            .BusBytes(BusBytes)
        ) u_arbiter (
            .clk_i         (clk_i),
            .rst_ni        (rst_ni),
            .core_arid     ({core_arid[MemPorts+p], core_arid[p]}),
            .core_araddr   ({core_araddr[64*(MemPorts+p)+:64], core_araddr[64*p+:64]}),
            .core_arlen    ({core_arlen[8*(MemPorts+p)+:8], core_arlen[8*p+:8]}),
            .core_arvalid  ({core_arvalid[MemPorts+p], core_arvalid[p]}),
            .core_arready  ({core_arready[MemPorts+p], core_arready[p]}),
            .core_rid      (rid),
            .core_rdata    (rdata),
            .core_rresp    (rresp),
            .core_rlast    (rlast),
            .core_rvalid   ({core_rvalid[MemPorts+p], core_rvalid[p]}),
            .core_rready   ({core_rready[MemPorts+p], core_rready[p]}),
            .core_awid     ({core_awid[MemPorts+p], core_awid[p]}),
            .core_awaddr   ({core_awaddr[64*(MemPorts+p)+:64], core_awaddr[64*p+:64]}),
            .core_awlen    ({core_awlen[8*(MemPorts+p)+:8], core_awlen[8*p+:8]}),
            .core_awvalid  ({core_awvalid[MemPorts+p], core_awvalid[p]}),
            .core_awready  ({core_awready[MemPorts+p], core_awready[p]}),
            .core_wdata    ({core_wdata[BusBytes*8*(MemPorts+p)+:BusBytes*8], core_wdata[BusBytes*8*p+:BusBytes*8]}),
            .core_wstrb    ({core_wstrb[BusBytes*(MemPorts+p)+:BusBytes], core_wstrb[BusBytes*p+:BusBytes]}),
            .core_wlast    ({core_wlast[MemPorts+p], core_wlast[p]}),
            .core_wvalid   ({core_wvalid[MemPorts+p], core_wvalid[p]}),
            .core_wready   ({core_wready[MemPorts+p], core_wready[p]}),
            .core_bid      (bid),
            .core_bresp    (bresp),
            .core_bvalid   ({core_bvalid[MemPorts+p], core_bvalid[p]}),
            .core_bready   ({core_bready[MemPorts+p], core_bready[p]}),
            .m_axi_arid    (m_axi_arid[2*p+:2]),
            .m_axi_araddr  (m_axi_araddr[64*p+:64]),
            .m_axi_arlen   (m_axi_arlen[8*p+:8]),
            .m_axi_arvalid (m_axi_arvalid[p]),
            .m_axi_arready (m_axi_arready[p]),
            .m_axi_rid     (m_axi_rid[2*p+:2]),
            .m_axi_rdata   (m_axi_rdata[BusBytes*8*p+:BusBytes*8]),
            .m_axi_rresp   (m_axi_rresp[2*p+:2]),
            .m_axi_rlast   (m_axi_rlast[p]),
            .m_axi_rvalid  (m_axi_rvalid[p]),
            .m_axi_rready  (m_axi_rready[p]),
            .m_axi_awid    (m_axi_awid[2*p+:2]),
            .m_axi_awaddr  (m_axi_awaddr[64*p+:64]),
            .m_axi_awlen   (m_axi_awlen[8*p+:8]),
            .m_axi_awvalid (m_axi_awvalid[p]),
            .m_axi_awready (m_axi_awready[p]),
            .m_axi_wdata   (m_axi_wdata[BusBytes*8*p+:BusBytes*8]),
            .m_axi_wstrb   (m_axi_wstrb[BusBytes*p+:BusBytes]),
            .m_axi_wlast   (m_axi_wlast[p]),
            .m_axi_wvalid  (m_axi_wvalid[p]),
            .m_axi_wready  (m_axi_wready[p]),
            .m_axi_bid     (m_axi_bid[2*p+:2]),
            .m_axi_bresp   (m_axi_bresp[2*p+:2]),
            .m_axi_bvalid  (m_axi_bvalid[p]),
            .m_axi_bready  (m_axi_bready[p])
        );
      end

      wire unused = &{1'b0, axil_bresp, axil_rresp, core_arsize, core_arburst, core_awsize, core_awburst, 1'b0};
    end
  endgenerate
endmodule
`default_nettype wire
