// SPDX-License-Identifier: Apache-2.0
//
// Watches one AXI4 port of the device, or of a core: what a manager must keep, and what this one promises beyond it. Simulation only.
`default_nettype none

module axi_check #(
    parameter integer BusBytes = 16,
    parameter integer IdBits   = 1
) (
    input wire                  clk_i,
    input wire                  rst_ni,
    input wire                  idle_i,       // the device says that all commands are complete
    input wire [63:0]           mem_base_i,
    input wire [63:0]           mem_limit_i,

    input wire [IdBits-1:0]     arid,
    input wire [63:0]           araddr,
    input wire [7:0]            arlen,
    input wire                  arvalid,
    input wire                  arready,
    input wire                  rlast,
    input wire                  rvalid,
    input wire                  rready,
    input wire [IdBits-1:0]     awid,
    input wire [63:0]           awaddr,
    input wire [7:0]            awlen,
    input wire                  awvalid,
    input wire                  awready,
    input wire [BusBytes*8-1:0] wdata,
    input wire [BusBytes-1:0]   wstrb,
    input wire                  wlast,
    input wire                  wvalid,
    input wire                  wready,
    input wire                  bvalid,
    input wire                  bready
);
`ifdef WC_ASSERT
  wire [63:0] ar_bytes = ({56'd0, arlen} + 64'd1) * BusBytes;
  wire [63:0] aw_bytes = ({56'd0, awlen} + 64'd1) * BusBytes;

  // Beats asked for and not received; beats promised on AW less beats sent on W (negative while W runs ahead); bursts without response.
  reg signed [31:0] read_due_q, write_due_q, answer_due_q;
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      read_due_q   <= 32'sd0;
      write_due_q  <= 32'sd0;
      answer_due_q <= 32'sd0;
    end else begin
      read_due_q <= read_due_q + ((arvalid && arready) ? {24'd0, arlen} + 32'sd1 : 32'sd0) - ((rvalid && rready) ? 32'sd1 : 32'sd0);
      write_due_q <= write_due_q + ((awvalid && awready) ? {24'd0, awlen} + 32'sd1 : 32'sd0) - ((wvalid && wready) ? 32'sd1 : 32'sd0);
      answer_due_q <= answer_due_q + ((awvalid && awready) ? 32'sd1 : 32'sd0) - ((bvalid && bready) ? 32'sd1 : 32'sd0);
    end

  // A burst stays inside 4 KiB.
  ar_page : assert property (@(posedge clk_i) disable iff (!rst_ni) arvalid |-> {52'd0, araddr[11:0]} + ar_bytes <= 64'd4096)
  else $error("read burst crosses 4 KiB");
  aw_page : assert property (@(posedge clk_i) disable iff (!rst_ni) awvalid |-> {52'd0, awaddr[11:0]} + aw_bytes <= 64'd4096)
  else $error("write burst crosses 4 KiB");

  // Bursts start on a beat and stay inside the window that the host set.
  ar_range : assert property (@(posedge clk_i) disable iff (!rst_ni)
      arvalid |-> araddr % 64'(BusBytes) == 0 && araddr >= mem_base_i && araddr + ar_bytes <= mem_limit_i)
  else $error("read burst outside the memory window");
  aw_range : assert property (@(posedge clk_i) disable iff (!rst_ni)
      awvalid |-> awaddr % 64'(BusBytes) == 0 && awaddr >= mem_base_i && awaddr + aw_bytes <= mem_limit_i)
  else $error("write burst outside the memory window");

  // What waits does not change.
  ar_stable : assert property (@(posedge clk_i) disable iff (!rst_ni)
      arvalid && !arready |=> arvalid && $stable(araddr) && $stable(arlen) && $stable(arid))
  else $error("AR changed while stalled");
  aw_stable : assert property (@(posedge clk_i) disable iff (!rst_ni) 
      awvalid && !awready |=> awvalid && $stable(awaddr) && $stable(awlen) && $stable(awid))
  else $error("AW changed while stalled");
  w_stable : assert property (@(posedge clk_i) disable iff (!rst_ni)
      wvalid && !wready |=> wvalid && $stable(wdata) && $stable(wstrb) && $stable(wlast))
  else $error("W changed while stalled");

  // No beat is lost or made up.
  r_due : assert property (@(posedge clk_i) disable iff (!rst_ni) rvalid |-> read_due_q > 32'sd0)
  else $error("a read beat that was not asked for");
  idle_due : assert property (@(posedge clk_i) disable iff (!rst_ni)
      idle_i |-> read_due_q == 32'sd0 && write_due_q == 32'sd0 && answer_due_q == 32'sd0)
  else $error("the device is idle and beats or responses are outstanding");

  // WLAST is on a burst's last beat. Beats are counted against the bursts' lengths, in order.
  reg  [7:0] len     [0:63];
  reg  [5:0] put_q, get_q;
  reg  [7:0] beat_q;
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      put_q  <= 6'd0;
      get_q  <= 6'd0;
      beat_q <= 8'd0;
    end else begin
      if (awvalid && awready) begin
        len[put_q] <= awlen;
        put_q <= put_q + 6'd1;
      end
      if (wvalid && wready) begin
        beat_q <= wlast ? 8'd0 : beat_q + 8'd1;
        if (wlast) get_q <= get_q + 6'd1;
      end
    end
  wire [7:0] due_len = len[get_q];
  w_last : assert property (@(posedge clk_i) disable iff (!rst_ni) wvalid && get_q != put_q |-> wlast == (beat_q == due_len))
  else $error("WLAST is not on the burst's last beat");

  wire unused = &{1'b0, rlast, 1'b0};
`endif
endmodule
`default_nettype wire
