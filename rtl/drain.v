// SPDX-License-Identifier: Apache-2.0
//
// Drain: writes a finished tile's sums to the global buffer, one row a cycle, as fp32 or rounded to fp16 (fp_pkg::fp32_narrow, as
// in fp32_to_fp16.v).
//
//   cycle t      row is read from the accumulator
//   cycle t + 1  converted and requested; held until granted, while the next row waits
//
// out_* describe the row at the port; out_rows_o of the tile's rows have been written. A row outside the global buffer, or beyond the walk's end, is not written:
// error_o stays set and the unit stands still.
`default_nettype none

module drain #(
    parameter integer Cols      = 16,
    parameter integer LineBytes = 64,
    parameter integer GbufBytes = 65536
) (
    input  wire                   clk_i,
    input  wire                   rst_ni,
    input  wire                   halt_i,

    input  wire                   tile_valid_i,    // the next tile is finished
    input  wire                   tile_side_i,
    input  wire                   tile_fp32_i,
    input  wire [15:0]            tile_m_rows_i,
    input  wire [15:0]            tile_n_cols_i,
    input  wire [31:0]            tile_index_i,
    input  wire [223:0]           tile_walk_i,     // bytes of a walk block (commands.def)
    output wire                   tile_next_o,     // its last row is read

    output wire                   read_o,
    output wire                   read_side_o,
    output wire [15:0]            read_row_o,
    input  wire [Cols*32-1:0]     sums_i,

    output wire                   req_o,
    output wire [31:0]            addr_o,
    output wire [15:0]            size_o,
    output wire [LineBytes*8-1:0] wdata_o,
    input  wire                   gnt_i,

    output wire                   out_valid_o,     // a row is written in this cycle
    output wire                   out_last_o,      // ... its tile's last
    output wire [15:0]            out_row_o,
    output wire [15:0]            out_m_rows_o,
    output wire [15:0]            out_n_cols_o,
    output wire [31:0]            out_index_o,
    output wire                   out_fp32_o,
    output wire                   out_side_o,
    output wire [Cols*32-1:0]     out_bits_o,      // as written: fp32, or fp16 in the low half
    output wire [15:0]            out_rows_o,

    output wire                   error_o
);
  localparam integer Origin = wc_cmd_pkg::GEMM_OUT_BASE_L;
  localparam integer CountL = wc_cmd_pkg::GEMM_OUT_COUNT0_L - Origin;
  localparam integer StartL = wc_cmd_pkg::GEMM_OUT_START0_L - Origin;
  localparam integer DeltaL = wc_cmd_pkg::GEMM_OUT_DELTA0_L - Origin;
  localparam [31:0] LimitWord = GbufBytes;

  // ---- accumulator read ----
  reg         active_q;
  reg  [15:0] row_q;
  reg         out_valid_q;
  wire        out_done = req_o && gnt_i;
  wire        begin_tile = !active_q && tile_valid_i;
  wire        row_last = row_q + 16'd1 == tile_m_rows_i;
  wire [31:0] addr;
  wire        ended;
  wire        wrap0, wrap1, wrap2;

  assign read_o = active_q && (!out_valid_q || out_done);
  assign read_side_o = tile_side_i;
  assign read_row_o = row_q;
  assign tile_next_o = read_o && row_last;

  index_walk u_walk (
      .clk_i  (clk_i),
      .load_i (begin_tile),
      .step_i (read_o),
      .base_i (tile_walk_i[31:0]),
      .count_i(tile_walk_i[CountL+:48]),
      .start_i(tile_walk_i[StartL+:48]),
      .delta_i(tile_walk_i[DeltaL+:96]),
      .addr_o (addr),
      .ended_o(ended),
      .wrap0_o(wrap0),
      .wrap1_o(wrap1),
      .wrap2_o(wrap2)
  );

  wire [15:0] size = tile_fp32_i ? {tile_n_cols_i[13:0], 2'b00} : {tile_n_cols_i[14:0], 1'b0};
  wire [32:0] addr_end = {1'b0, addr} + {17'd0, size};

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) active_q <= 1'b0;
    else if (begin_tile) active_q <= 1'b1;
    else if (tile_next_o) active_q <= 1'b0;
  always @(posedge clk_i)
    if (begin_tile) row_q <= 16'd0;
    else if (read_o) row_q <= row_q + 16'd1;

  // ---- request ----
  reg         bad_q, last_q, fp32_q, side_q;
  reg  [31:0] addr_q, index_q;
  reg  [15:0] size_q, out_row_q, m_rows_q, n_cols_q, rows_q;

  assign req_o = out_valid_q && !bad_q && !halt_i;
  assign addr_o = addr_q;
  assign size_o = size_q;
  assign error_o = out_valid_q && bad_q;

  assign out_valid_o = out_done;
  assign out_last_o = out_done && last_q;
  assign out_row_o = out_row_q;
  assign out_m_rows_o = m_rows_q;
  assign out_n_cols_o = n_cols_q;
  assign out_index_o = index_q;
  assign out_fp32_o = fp32_q;
  assign out_side_o = side_q;
  assign out_rows_o = rows_q;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      out_valid_q <= 1'b0;
      rows_q <= 16'd0;
    end else begin
      if (read_o) out_valid_q <= 1'b1;
      else if (out_done) out_valid_q <= 1'b0;
      if (out_done) rows_q <= last_q ? 16'd0 : rows_q + 16'd1;
    end
  always @(posedge clk_i)
    if (read_o) begin
      bad_q <= ended || addr >= LimitWord || addr_end > {1'b0, LimitWord};
      last_q <= row_last;
      fp32_q <= tile_fp32_i;
      side_q <= tile_side_i;
      addr_q <= addr;
      index_q <= tile_index_i;
      size_q <= size;
      out_row_q <= row_q;
      m_rows_q <= tile_m_rows_i;
      n_cols_q <= tile_n_cols_i;
    end

  // ---- conversion, only while there is a row ----
  reg [Cols*32-1:0] bits;
  reg [Cols*16-1:0] halves;
  integer c;
  always @(*) begin
    bits = {Cols * 32{1'b0}};
    halves = {Cols * 16{1'b0}};
    if (out_valid_q) begin
      if (fp32_q) bits = sums_i;
      else
        for (c = 0; c < Cols; c = c + 1) begin
          bits[32*c+:32] = fp_pkg::fp32_narrow(sums_i[32*c+:32]);
          halves[16*c+:16] = bits[32*c+:16];
        end
    end
  end
  assign out_bits_o = bits;

  generate
    if (LineBytes > 4 * Cols) begin : g_wide
      assign wdata_o = {{(LineBytes * 8 - Cols * 32) {1'b0}}, fp32_q ? bits : {{Cols * 16{1'b0}}, halves}};
    end else begin : g_exact
      assign wdata_o = fp32_q ? bits : {{Cols * 16{1'b0}}, halves};
    end
  endgenerate

  wire unused = &{1'b0, tile_walk_i, tile_n_cols_i[15], wrap0, wrap1, wrap2};

`ifdef WC_ASSERT
  drain_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
      !$past(req_o && !gnt_i) || $past(halt_i) || halt_i || (req_o && addr_o == $past(addr_o) && size_o == $past(size_o)))
  else $error("drain: request changed while not granted");
`endif
endmodule
`default_nettype wire
