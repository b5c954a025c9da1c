// SPDX-License-Identifier: Apache-2.0
//
// AXI4 read channels of the device, shared by the ring fetch (ID 0) and the loads (ID 1).
//
// AR is a register: a burst offered by a user is on the bus one cycle later and stays until accepted. The ring goes first; it asks rarely
// and only for what it has room for. R passes through a short queue, so that no path crosses the device from the memory's valid to its
// ready, and each beat is handed to the user that its ID names. A user may stall its own beats; the queue's head then holds up
// the other's, so the ring must never stall on anything but space that it reserved (ring_fetch does).
`default_nettype none

module axi_read #(
    parameter integer BusBytes = 16
) (
    input  wire                  clk_i,
    input  wire                  rst_ni,

    // Bursts of the ring.
    input  wire                  ring_ar_valid_i,
    output wire                  ring_ar_ready_o,
    input  wire [63:0]           ring_ar_addr_i,
    input  wire [7:0]            ring_ar_len_i,
    // Bursts of the loads.
    input  wire                  load_ar_valid_i,
    output wire                  load_ar_ready_o,
    input  wire [63:0]           load_ar_addr_i,
    input  wire [7:0]            load_ar_len_i,
    // Beats.
    output wire                  ring_r_valid_o,
    input  wire                  ring_r_ready_i,
    output wire                  load_r_valid_o,
    input  wire                  load_r_ready_i,
    output wire [BusBytes*8-1:0] r_data_o,
    output wire                  r_error_o,      // SLVERR or DECERR

    output reg                   m_axi_arid,
    output reg  [63:0]           m_axi_araddr,
    output reg  [7:0]            m_axi_arlen,
    output reg                   m_axi_arvalid,
    input  wire                  m_axi_arready,
    input  wire                  m_axi_rid,
    input  wire [BusBytes*8-1:0] m_axi_rdata,
    input  wire [1:0]            m_axi_rresp,
    input  wire                  m_axi_rlast,
    input  wire                  m_axi_rvalid,
    output wire                  m_axi_rready
);
  wire ar_free = !m_axi_arvalid || m_axi_arready;

  assign ring_ar_ready_o = ar_free;
  assign load_ar_ready_o = ar_free && !ring_ar_valid_i;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) m_axi_arvalid <= 1'b0;
    else if (ar_free) m_axi_arvalid <= ring_ar_valid_i || load_ar_valid_i;

  always @(posedge clk_i)
    if (ar_free) begin
      m_axi_arid   <= !ring_ar_valid_i;
      m_axi_araddr <= ring_ar_valid_i ? ring_ar_addr_i : load_ar_addr_i;
      m_axi_arlen  <= ring_ar_valid_i ? ring_ar_len_i : load_ar_len_i;
    end

  wire       id, head_valid, pop;
  wire [2:0] count;

  fifo #(
      .Width(BusBytes * 8 + 2),
      .Depth(4)
  ) u_beats (
      .clk_i  (clk_i),
      .rst_ni (rst_ni),
      .push_i (m_axi_rvalid && m_axi_rready),
      .data_i ({m_axi_rid, m_axi_rresp[1], m_axi_rdata}),
      .ready_o(m_axi_rready),
      .valid_o(head_valid),
      .data_o ({id, r_error_o, r_data_o}),
      .pop_i  (pop),
      .count_o(count)
  );

  assign ring_r_valid_o = head_valid && !id;
  assign load_r_valid_o = head_valid && id;
  assign pop            = head_valid && (id ? load_r_ready_i : ring_r_ready_i);

  // The users count beats; rresp[0] tells SLVERR from DECERR, which are one error here.
  wire unused = &{1'b0, m_axi_rlast, m_axi_rresp[0], count, 1'b0};
endmodule
`default_nettype wire
