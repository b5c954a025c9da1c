// SPDX-License-Identifier: Apache-2.0
//
// Address walk of one LOAD or STORE: cuts the rows of a 3-D transfer into AXI bursts. Shared by dma_load and dma_store.
//
//   row (i1, i2):  dram_addr + i1 dram_stride1 + i2 dram_stride2  <->  gbuf_addr + i1 gbuf_stride1 + i2 gbuf_stride2,   row_bytes each
//
// A burst stays inside one row and one 4 KiB page; with beats of at least 16 bytes the page is also the limit of 256 beats. All addresses
// are made by addition; negative strides wrap modulo the address width, and the range check sees the wrapped address.
//
// Each row's range is checked before its first burst is offered: a row outside the memory window or the buffer raises error_o (held until
// reset) with the status, and the walk stops there. Bursts already taken are the user's to finish.
//
// One burst a cycle while burst_ready_i; the command after the present one is accepted in the cycle after the last burst.
`default_nettype none

module dma_walk #(
    parameter integer GbufBytes = 65536,
    parameter integer BusBytes  = 16
) (
    input  wire         clk_i,
    input  wire         rst_ni,
    input  wire         halt_i,         // take and offer nothing more

    input  wire [63:0]  mem_base_i,
    input  wire [63:0]  mem_limit_i,

    input  wire         cmd_valid_i,
    output wire         cmd_ready_o,
    input  wire [479:0] cmd_i,          // LOAD and STORE have the same layout
    input  wire [31:0]  cmd_index_i,

    output wire         burst_valid_o,
    input  wire         burst_ready_i,
    output wire [63:0]  burst_dram_o,   // bus-aligned
    output wire [31:0]  burst_gbuf_o,
    output wire [12:0]  burst_bytes_o,  // 1 .. 4096; the last beat may be partial
    output wire [8:0]   burst_beats_o,  // 1 .. 256
    output wire         burst_last_o,   // last of the command
    output wire [31:0]  burst_index_o,  // the command's index

    output wire         error_o,
    output wire [7:0]   error_status_o,
    output wire [31:0]  error_index_o
);
  localparam integer BeatShift = $clog2(BusBytes);

  reg         active_q;
  reg         first_q;        // the present burst begins a row
  reg  [31:0] index_q;
  reg  [31:0] row_bytes_q;
  reg  [15:0] count1_q;
  reg  [31:0] dram_stride1_q, dram_stride2_q, gbuf_stride1_q, gbuf_stride2_q;
  reg  [63:0] plane_dram_q, row_dram_q, dram_q;
  reg  [31:0] plane_gbuf_q, row_gbuf_q, gbuf_q;
  reg  [31:0] left_q;         // bytes of the row not yet cut into bursts
  reg  [15:0] rows_left_q;    // rows of the plane after this one
  reg  [15:0] planes_left_q;  // planes after this one

  // Range of the row that the present burst begins; in memory that of its beats, as the last one is read whole.
  wire [31:0] row_bus_bytes = ((row_bytes_q + BusBytes - 32'd1) >> BeatShift) << BeatShift;

  wire mem_bad  = (row_dram_q < mem_base_i) || (row_dram_q > mem_limit_i) || (mem_limit_i - row_dram_q < {32'd0, row_bus_bytes});
  wire gbuf_bad = (row_gbuf_q > GbufBytes) || (GbufBytes - row_gbuf_q < row_bytes_q);
  wire bad      = active_q && first_q && (mem_bad || gbuf_bad);

  // The burst: to the end of the row or of the page.
  wire [12:0] page_left  = 13'd4096 - {1'b0, dram_q[11:0]};
  wire        ends_row   = left_q <= {19'd0, page_left};
  wire [12:0] bytes      = ends_row ? left_q[12:0] : page_left;
  wire [12:0] beats      = (bytes + BusBytes[12:0] - 13'd1) >> BeatShift;
  wire        ends_plane = ends_row && (rows_left_q == 16'd0);
  wire        ends_all   = ends_plane && (planes_left_q == 16'd0);

  wire [63:0] next_row_dram   = row_dram_q + {{32{dram_stride1_q[31]}}, dram_stride1_q};
  wire [31:0] next_row_gbuf   = row_gbuf_q + gbuf_stride1_q;
  wire [63:0] next_plane_dram = plane_dram_q + {{32{dram_stride2_q[31]}}, dram_stride2_q};
  wire [31:0] next_plane_gbuf = plane_gbuf_q + gbuf_stride2_q;

  wire take = burst_valid_o && burst_ready_i;
  wire load = cmd_valid_i && cmd_ready_o;

  assign cmd_ready_o    = !active_q && !halt_i;
  assign burst_valid_o  = active_q && !bad && !halt_i;
  assign burst_dram_o   = dram_q;
  assign burst_gbuf_o   = gbuf_q;
  assign burst_bytes_o  = bytes;
  assign burst_beats_o  = beats[8:0];
  assign burst_last_o   = ends_all;
  assign burst_index_o  = index_q;
  assign error_o        = bad;
  assign error_status_o = mem_bad ? wc_cmd_pkg::STATUS_MEMORY_RANGE : wc_cmd_pkg::STATUS_BUFFER_RANGE;
  assign error_index_o  = index_q;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      active_q <= 1'b0;
      first_q  <= 1'b0;
    end else if (load) begin
      active_q <= 1'b1;
      first_q  <= 1'b1;
    end else if (take) begin
      active_q <= !ends_all;
      first_q  <= ends_row;
    end

  // The walk itself holds no state worth a reset: it is loaded with the command.
  always @(posedge clk_i)
    if (load) begin
      index_q        <= cmd_index_i;
      row_bytes_q    <= cmd_i[wc_cmd_pkg::LOAD_ROW_BYTES_L+:32];
      count1_q       <= cmd_i[wc_cmd_pkg::LOAD_COUNT1_L+:16];
      dram_stride1_q <= cmd_i[wc_cmd_pkg::LOAD_DRAM_STRIDE1_L+:32];
      dram_stride2_q <= cmd_i[wc_cmd_pkg::LOAD_DRAM_STRIDE2_L+:32];
      gbuf_stride1_q <= cmd_i[wc_cmd_pkg::LOAD_GBUF_STRIDE1_L+:32];
      gbuf_stride2_q <= cmd_i[wc_cmd_pkg::LOAD_GBUF_STRIDE2_L+:32];
      plane_dram_q   <= cmd_i[wc_cmd_pkg::LOAD_DRAM_ADDR_L+:64];
      row_dram_q     <= cmd_i[wc_cmd_pkg::LOAD_DRAM_ADDR_L+:64];
      dram_q         <= cmd_i[wc_cmd_pkg::LOAD_DRAM_ADDR_L+:64];
      plane_gbuf_q   <= cmd_i[wc_cmd_pkg::LOAD_GBUF_ADDR_L+:32];
      row_gbuf_q     <= cmd_i[wc_cmd_pkg::LOAD_GBUF_ADDR_L+:32];
      gbuf_q         <= cmd_i[wc_cmd_pkg::LOAD_GBUF_ADDR_L+:32];
      left_q         <= cmd_i[wc_cmd_pkg::LOAD_ROW_BYTES_L+:32];
      rows_left_q    <= cmd_i[wc_cmd_pkg::LOAD_COUNT1_L+:16] - 16'd1;
      planes_left_q  <= cmd_i[wc_cmd_pkg::LOAD_COUNT2_L+:16] - 16'd1;
    end else if (take) begin
      if (!ends_row) begin
        dram_q <= dram_q + {51'd0, bytes};
        gbuf_q <= gbuf_q + {19'd0, bytes};
        left_q <= left_q - {19'd0, bytes};
      end else begin
        left_q <= row_bytes_q;
        if (!ends_plane) begin
          row_dram_q  <= next_row_dram;
          dram_q      <= next_row_dram;
          row_gbuf_q  <= next_row_gbuf;
          gbuf_q      <= next_row_gbuf;
          rows_left_q <= rows_left_q - 16'd1;
        end else begin
          plane_dram_q  <= next_plane_dram;
          row_dram_q    <= next_plane_dram;
          dram_q        <= next_plane_dram;
          plane_gbuf_q  <= next_plane_gbuf;
          row_gbuf_q    <= next_plane_gbuf;
          gbuf_q        <= next_plane_gbuf;
          rows_left_q   <= count1_q - 16'd1;
          planes_left_q <= planes_left_q - 16'd1;
        end
      end
    end

  wire unused = &{1'b0, beats[12:9], cmd_i[wc_cmd_pkg::LOAD_DRAM_ADDR_L-1:0], 1'b0};
endmodule
`default_nettype wire
