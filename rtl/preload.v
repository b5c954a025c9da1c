// SPDX-License-Identifier: Apache-2.0
//
// Preload: reads the fp32 sums that a tile starts from into its side of the accumulator, row by row, ahead of the tile's waves.
// It waits until the tile that used the side before is drained. Tiles without preload are passed over.
//
// With `tile_same` all rows are the one at the base (a bias), and there is no walk.
//
// A row outside the global buffer, or beyond the walk's end, is not read: error_o stays set and the unit stands still.
`default_nettype none

module preload #(
    parameter integer Cols      = 16,
    parameter integer LineBytes = 64,
    parameter integer GbufBytes = 65536,
    parameter integer TileBits  = 4
) (
    input  wire                   clk_i,
    input  wire                   rst_ni,
    input  wire                   halt_i,

    input  wire                   tile_valid_i,
    input  wire [TileBits-1:0]    tile_i,          // its number
    input  wire                   tile_preload_i,
    input  wire                   tile_same_i,
    input  wire [15:0]            tile_m_rows_i,
    input  wire [15:0]            tile_n_cols_i,
    input  wire [223:0]           tile_walk_i,     // bytes of a walk block (commands.def)
    input  wire [31:0]            tile_base_i,     // pre_base
    output wire                   tile_next_o,
    input  wire [TileBits-1:0]    drained_i,       // tiles below this number are drained

    output wire                   req_o,
    output wire [31:0]            addr_o,
    output wire [15:0]            size_o,
    input  wire                   gnt_i,
    input  wire [LineBytes*8-1:0] rdata_i,         // two cycles after the grant

    output wire                   write_o,
    output wire                   write_side_o,
    output wire [15:0]            write_row_o,
    output wire [Cols*32-1:0]     write_data_o,

    output wire                   error_o
);
  localparam integer Origin = wc_cmd_pkg::GEMM_OUT_BASE_L;
  localparam integer CountL = wc_cmd_pkg::GEMM_OUT_COUNT0_L - Origin;
  localparam integer StartL = wc_cmd_pkg::GEMM_OUT_START0_L - Origin;
  localparam integer DeltaL = wc_cmd_pkg::GEMM_OUT_DELTA0_L - Origin;
  localparam [31:0] LimitWord = GbufBytes;

  // READ rows are requested; LAND the last ones are on their way.
  localparam [1:0] WAIT = 2'd0, READ = 2'd1, LAND = 2'd2;
  reg [1:0]  state_q;
  reg [15:0] row_q;
  reg        gnt1_q, gnt2_q;
  reg [15:0] write_row_q;

  wire [TileBits-1:0] ahead = tile_i - drained_i;
  wire                side_free = ahead < 2;
  wire                begin_tile = state_q == WAIT && tile_valid_i && tile_preload_i && side_free;
  wire                row_done = req_o && gnt_i;
  wire                ended, wrap0, wrap1, wrap2;
  wire [31:0]         walk_addr;
  assign addr_o = tile_same_i ? tile_base_i : walk_addr;

  index_walk u_walk (
      .clk_i  (clk_i),
      .load_i (begin_tile),
      .step_i (row_done),
      .base_i (tile_base_i),
      .count_i(tile_walk_i[CountL+:48]),
      .start_i(tile_walk_i[StartL+:48]),
      .delta_i(tile_walk_i[DeltaL+:96]),
      .addr_o (walk_addr),
      .ended_o(ended),
      .wrap0_o(wrap0),
      .wrap1_o(wrap1),
      .wrap2_o(wrap2)
  );

  wire [32:0] addr_end = {1'b0, addr_o} + {17'd0, size_o};
  wire        bad = (ended && !tile_same_i) || addr_o >= LimitWord || addr_end > {1'b0, LimitWord};

  assign size_o = {tile_n_cols_i[13:0], 2'b00};
  assign req_o = state_q == READ && !bad && !halt_i;
  assign error_o = state_q == READ && bad;
  assign tile_next_o = (state_q == WAIT && tile_valid_i && !tile_preload_i) || (state_q == LAND && !gnt1_q && !gnt2_q);

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      state_q <= WAIT;
      gnt1_q <= 1'b0;
      gnt2_q <= 1'b0;
    end else begin
      gnt1_q <= row_done;
      gnt2_q <= gnt1_q;
      if (begin_tile) state_q <= READ;
      else if (row_done && row_q + 16'd1 == tile_m_rows_i) state_q <= LAND;
      else if (tile_next_o) state_q <= WAIT;
    end

  always @(posedge clk_i) begin
    if (begin_tile) begin
      row_q <= 16'd0;
      write_row_q <= 16'd0;
    end else begin
      if (row_done) row_q <= row_q + 16'd1;
      if (gnt2_q) write_row_q <= write_row_q + 16'd1;
    end
  end

  assign write_o = gnt2_q;
  assign write_side_o = tile_i[0];
  assign write_row_o = write_row_q;

  // Columns beyond the tile start from +0.
  reg [Cols*32-1:0] data;
  integer c;
  always @(*) begin
    data = {Cols * 32{1'b0}};
    if (gnt2_q)
      for (c = 0; c < Cols; c = c + 1)
        if (c[15:0] < tile_n_cols_i) data[32*c+:32] = rdata_i[32*c+:32];
  end
  assign write_data_o = data;

  wire unused = &{1'b0, tile_walk_i, rdata_i, tile_n_cols_i[15:14], wrap0, wrap1, wrap2};
endmodule
`default_nettype wire
