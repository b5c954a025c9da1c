// SPDX-License-Identifier: Apache-2.0
//
// The registers of two cores behind one AXI4-Lite port: address bit 12 names the core. core_* are packed with core 0 in the low bits.
//
// One transaction of each direction at a time, as csr.v has it, which this relies on: it accepts an address while it owes no answer, and
// answers a read in the next cycle. A write's data are accepted after its address, so a soft reset of one core, which is answered when it
// is done, holds up writes to the other; reads go on.
`default_nettype none

module axil_split (
    input  wire        clk_i,
    input  wire        rst_ni,

    input  wire [12:0] s_axil_awaddr,
    input  wire        s_axil_awvalid,
    output wire        s_axil_awready,
    input  wire        s_axil_wvalid,
    output wire        s_axil_wready,
    output wire        s_axil_bvalid,
    input  wire        s_axil_bready,
    input  wire [12:0] s_axil_araddr,
    input  wire        s_axil_arvalid,
    output wire        s_axil_arready,
    output wire [31:0] s_axil_rdata,
    output wire        s_axil_rvalid,

    output wire [1:0]  core_awvalid,  // awaddr, wdata, bready, araddr and rready are the port's
    input  wire [1:0]  core_awready,
    output wire [1:0]  core_wvalid,
    input  wire [1:0]  core_wready,
    input  wire [1:0]  core_bvalid,
    output wire [1:0]  core_arvalid,
    input  wire [1:0]  core_arready,
    input  wire [63:0] core_rdata,
    input  wire [1:0]  core_rvalid
);
  // ---- writes ------------------------------------------------------------------------------------
  reg  busy_q;  // an address is accepted, its answer not taken
  reg  data_q;  // its data are still to come
  reg  core_q;
  wire take     = s_axil_awvalid && s_axil_awready;
  wire answered = s_axil_bvalid && s_axil_bready;

  assign s_axil_awready = !busy_q && core_awready == 2'b11;
  assign core_awvalid   = {s_axil_awaddr[12], !s_axil_awaddr[12]} & {2{s_axil_awvalid && s_axil_awready}};
  assign s_axil_wready  = data_q && core_wready[core_q];
  assign core_wvalid    = {core_q, !core_q} & {2{data_q && s_axil_wvalid}};
  assign s_axil_bvalid  = core_bvalid != 2'd0;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      busy_q <= 1'b0;
      data_q <= 1'b0;
    end else begin
      busy_q <= take || (busy_q && !answered);
      data_q <= take || (data_q && !(s_axil_wvalid && s_axil_wready));
    end

  always @(posedge clk_i) if (take) core_q <= s_axil_awaddr[12];

  // ---- reads -------------------------------------------------------------------------------------
  assign s_axil_arready = core_arready == 2'b11;
  assign core_arvalid   = {s_axil_araddr[12], !s_axil_araddr[12]} & {2{s_axil_arvalid && s_axil_arready}};
  assign s_axil_rvalid  = core_rvalid != 2'd0;
  assign s_axil_rdata   = core_rvalid[1] ? core_rdata[63:32] : core_rdata[31:0];

  wire unused = &{1'b0, s_axil_awaddr[11:0], s_axil_araddr[11:0], 1'b0};

`ifdef WC_ASSERT
  // Both would answer at once, and one answer would be lost.
  axil_split_answers: assert property (@(posedge clk_i) disable iff (!rst_ni) core_rvalid != 2'b11 && core_bvalid != 2'b11)
  else $error("axil_split: both cores answer");
`endif
endmodule
`default_nettype wire
