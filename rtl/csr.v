// SPDX-License-Identifier: Apache-2.0
//
// Control and status registers on AXI4-Lite, 32 bits each (offsets in the localparams below; the host's names are in csim/backend.h), and
// the interrupt.
//
//   CTRL        bit 0: run. Writing 1 starts the sequencer; writing 0 while it runs is a soft reset: the device stops, lets the
//               bursts that are out come home, and is reset but for the registers here; the write is answered when that is
//               done. It clears TAIL, HEAD, DONE, the error, IRQ_STATUS and the counters; ring, window and IRQ_ENABLE stay.
//   STATUS      bit 0 busy, bit 1 idle (all commands below TAIL complete), bit 2 stopped by an error; 15:8 why
//   RING_BASE   the low 8 bits read 0
//   IRQ_STATUS  bit 0: became idle, bit 1: stopped by an error; write 1 to clear
//   COUNTERS    64 bits each, low word first; reading a low word latches the high word for the read that follows
//
// Reads of other offsets give 0, writes to them and to read-only registers do nothing; both are answered OKAY. Byte strobes are ignored:
// a write writes the whole register. One transaction of each direction at a time.
`default_nettype none

module csr #(
    parameter integer Rows      = 16,
    parameter integer Cols      = 16,
    parameter integer AccRows   = 256,
    parameter integer GbufBytes = 65536
) (
    input  wire        clk_i,
    input  wire        rst_ni,

    input  wire [11:0] s_axil_awaddr,
    input  wire        s_axil_awvalid,
    output wire        s_axil_awready,
    input  wire [31:0] s_axil_wdata,
    input  wire        s_axil_wvalid,
    output wire        s_axil_wready,
    output wire [1:0]  s_axil_bresp,
    output reg         s_axil_bvalid,
    input  wire        s_axil_bready,
    input  wire [11:0] s_axil_araddr,
    input  wire        s_axil_arvalid,
    output wire        s_axil_arready,
    output reg  [31:0] s_axil_rdata,
    output wire [1:0]  s_axil_rresp,
    output reg         s_axil_rvalid,
    input  wire        s_axil_rready,

    output wire        run_o,
    output wire        stop_o,          // soft reset: finish what is out
    output wire        clear_o,         // soft reset: everything is reset
    input  wire        quiet_i,         // nothing is out
    output wire [63:0] ring_base_o,
    output wire [31:0] ring_size_o,
    output wire [31:0] tail_o,
    output wire [63:0] mem_base_o,
    output wire [63:0] mem_limit_o,

    input  wire        busy_i,
    input  wire        idle_i,
    input  wire        stopped_i,
    input  wire [7:0]  error_status_i,
    input  wire [31:0] error_index_i,
    input  wire [31:0] head_i,
    input  wire [31:0] done_i,
    output wire        counter_read_o,
    output wire [3:0]  counter_select_o,
    input  wire [63:0] counter_i,

    output wire        irq_o
);
  localparam [31:0] Id = 32'h57415645;

  localparam [11:0] ID = 12'h000, VERSION = 12'h004, CTRL = 12'h008, STATUS = 12'h00c, ERROR_INDEX = 12'h010, RING_BASE_LO = 12'h014,
      RING_BASE_HI = 12'h018, RING_SIZE = 12'h01c, TAIL = 12'h020, HEAD = 12'h024, DONE = 12'h028, IRQ_ENABLE = 12'h02c, IRQ_STATUS = 12'h030,
      MEM_BASE_LO = 12'h034, MEM_BASE_HI = 12'h038, MEM_LIMIT_LO = 12'h03c, MEM_LIMIT_HI = 12'h040, PARAM0 = 12'h044, PARAM1 = 12'h048;

  // ---- writes ------------------------------------------------------------------------------------
  reg  [11:0] waddr_q;
  reg  [31:0] wdata_q;
  reg         have_addr_q, have_data_q;
  reg         run_q, clear_q;
  reg  [63:0] ring_base_q, mem_base_q, mem_limit_q;
  reg  [31:0] ring_size_q, tail_q;
  reg  [1:0]  irq_enable_q, irq_status_q;

  wire write    = have_addr_q && have_data_q && !s_axil_bvalid;
  wire to_ctrl  = waddr_q == CTRL;
  // A write of 0 to CTRL waits for quiet, then for the one cycle of reset.
  wire stopping = write && to_ctrl && !wdata_q[0] && run_q;
  wire answer   = write && !stopping;

  assign s_axil_awready = !have_addr_q;
  assign s_axil_wready  = !have_data_q;
  assign s_axil_bresp   = 2'b00;
  assign run_o          = run_q && !stopping;
  assign stop_o         = stopping;
  assign clear_o        = clear_q;

  // Edges that raise the interrupt.
  reg  idle_q, stopped_q;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      have_addr_q   <= 1'b0;
      have_data_q   <= 1'b0;
      s_axil_bvalid <= 1'b0;
      run_q         <= 1'b0;
      clear_q       <= 1'b0;
      ring_base_q   <= 64'd0;
      ring_size_q   <= 32'd0;
      tail_q        <= 32'd0;
      mem_base_q    <= 64'd0;
      mem_limit_q   <= 64'd0;
      irq_enable_q  <= 2'd0;
      irq_status_q  <= 2'd0;
      idle_q        <= 1'b1;
      stopped_q     <= 1'b0;
    end else begin
      if (s_axil_awvalid && s_axil_awready) have_addr_q <= 1'b1;
      if (s_axil_wvalid && s_axil_wready) have_data_q <= 1'b1;
      if (answer) begin
        have_addr_q   <= 1'b0;
        have_data_q   <= 1'b0;
        s_axil_bvalid <= 1'b1;
      end else if (s_axil_bready) s_axil_bvalid <= 1'b0;

      clear_q   <= stopping && quiet_i && !clear_q;
      idle_q    <= idle_i;
      stopped_q <= stopped_i;
      irq_status_q <= irq_status_q | {stopped_i && !stopped_q, idle_i && !idle_q && run_q};

      if (write)
        case (waddr_q)
          CTRL:         if (wdata_q[0]) run_q <= 1'b1;
          RING_BASE_LO: ring_base_q[31:0] <= {wdata_q[31:8], 8'd0};
          RING_BASE_HI: ring_base_q[63:32] <= wdata_q;
          RING_SIZE:    ring_size_q <= wdata_q;
          TAIL:         tail_q <= wdata_q;
          IRQ_ENABLE:   irq_enable_q <= wdata_q[1:0];
          IRQ_STATUS:   irq_status_q <= (irq_status_q & ~wdata_q[1:0]) | {stopped_i && !stopped_q, idle_i && !idle_q && run_q};
          MEM_BASE_LO:  mem_base_q[31:0] <= wdata_q;
          MEM_BASE_HI:  mem_base_q[63:32] <= wdata_q;
          MEM_LIMIT_LO: mem_limit_q[31:0] <= wdata_q;
          MEM_LIMIT_HI: mem_limit_q[63:32] <= wdata_q;
          default:      ;
        endcase
      if (clear_q) begin
        run_q        <= 1'b0;
        tail_q       <= 32'd0;
        irq_status_q <= 2'd0;
      end
    end

  always @(posedge clk_i) begin
    if (s_axil_awvalid && s_axil_awready) waddr_q <= s_axil_awaddr;
    if (s_axil_wvalid && s_axil_wready) wdata_q <= s_axil_wdata;
  end

  assign ring_base_o = ring_base_q;
  assign ring_size_o = ring_size_q;
  assign tail_o      = tail_q;
  assign mem_base_o  = mem_base_q;
  assign mem_limit_o = mem_limit_q;
  assign irq_o       = (irq_status_q & irq_enable_q) != 2'd0;

  // ---- reads -------------------------------------------------------------------------------------
  reg  [31:0] high_q;  // high word of the counter whose low word was read
  wire        is_counter = s_axil_araddr[11:7] == 5'd1;  // 0x080 to 0x0ff
  wire        read       = s_axil_arvalid && s_axil_arready;

  assign s_axil_arready   = !s_axil_rvalid;
  assign s_axil_rresp     = 2'b00;
  assign counter_read_o   = read && is_counter;
  assign counter_select_o = s_axil_araddr[6:3];

  reg [31:0] value_d;
  always @(*)
    case (s_axil_araddr)
      ID:           value_d = Id;
      VERSION:      value_d = {24'd0, wc_cmd_pkg::CmdVersion};
      CTRL:         value_d = {31'd0, run_q};
      STATUS:       value_d = {16'd0, stopped_i ? error_status_i : 8'd0, 5'd0, stopped_i, idle_i, busy_i};
      ERROR_INDEX:  value_d = error_index_i;
      RING_BASE_LO: value_d = ring_base_q[31:0];
      RING_BASE_HI: value_d = ring_base_q[63:32];
      RING_SIZE:    value_d = ring_size_q;
      TAIL:         value_d = tail_q;
      HEAD:         value_d = head_i;
      DONE:         value_d = done_i;
      IRQ_ENABLE:   value_d = {30'd0, irq_enable_q};
      IRQ_STATUS:   value_d = {30'd0, irq_status_q};
      MEM_BASE_LO:  value_d = mem_base_q[31:0];
      MEM_BASE_HI:  value_d = mem_base_q[63:32];
      MEM_LIMIT_LO: value_d = mem_limit_q[31:0];
      MEM_LIMIT_HI: value_d = mem_limit_q[63:32];
      PARAM0:       value_d = (AccRows << 16) | ($clog2(Cols) << 8) | $clog2(Rows);
      PARAM1:       value_d = GbufBytes;
      default:      value_d = !is_counter ? 32'd0 : s_axil_araddr[2] ? high_q : counter_i[31:0];
    endcase

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      s_axil_rvalid <= 1'b0;
      high_q        <= 32'd0;
    end else begin
      if (read) s_axil_rvalid <= 1'b1;
      else if (s_axil_rready) s_axil_rvalid <= 1'b0;
      if (read && is_counter && !s_axil_araddr[2]) high_q <= counter_i[63:32];
    end

  always @(posedge clk_i) if (read) s_axil_rdata <= value_d;
endmodule
`default_nettype wire
