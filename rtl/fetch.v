// SPDX-License-Identifier: Apache-2.0
//
// Operand fetcher: walks a GEMM command's operand (implicit im2col), reads it from the global buffer segment by segment and fills the
// sides of an operand buffer, wave after wave, command after command (rtl/README.md, "The two walkers").
//
//   walkers ──► segment register ──► gbuf port ──2 cycles──► opbuf write
//   one segment     request,           place (row, col) in the operand buffer
//   a cycle         stable until gnt   travels beside the read
//
// A segment is a run of contiguous elements, or of padding, which goes the same way without a request. The first segment of a wave
// waits until its side is released; nothing else ever waits but for a grant.
//
// KIsRow = 0 (operand A): a row of the buffer is a vector m, its columns are k; vectors are as long as `Rows`.
// KIsRow = 1 (operand B): a row is k, its columns are n.
// Width is the length of a segment in modes 1 and 2: Rows for A, Cols for B.
//
// An access outside [0, GbufBytes), or at a position beyond the end of a walk, is not made: error_o stays set with that tile's number and the fetcher stands still.
`default_nettype none

module fetch #(
    parameter integer Rows      = 16,
    parameter integer Width     = 16,
    parameter integer KIsRow    = 0,
    parameter integer GbufBytes = 65536,
    parameter integer TileBits  = 4
) (
    input  wire                clk_i,
    input  wire                rst_ni,
    input  wire                halt_i,        // make no further request

    input  wire                cmd_valid_i,
    output wire                cmd_ready_o,
    input  wire [671:0]        cmd_fields_i,  // bytes of a fetch block (commands.def)
    input  wire [15:0]         cmd_size_i,    // m_rows or n_cols
    input  wire [31:0]         cmd_k_total_i,

    output wire                req_o,         // global buffer port, read only
    output wire [31:0]         addr_o,
    output wire [15:0]         size_o,
    input  wire                gnt_i,

    input  wire [1:0]          release_i,     // pulse: this side may be filled again, from the third cycle after on
    output wire                fill_valid_o,  // write to the operand buffer; its data is the gbuf port's rdata
    output wire                fill_zero_o,   // ... or zeros: padding
    output wire                fill_down_o,   // run goes down a column, else along a row
    output wire [15:0]         fill_row_o,
    output wire [15:0]         fill_col_o,
    output wire [15:0]         fill_len_o,    // 0 for a wave without elements
    output wire                fill_side_o,
    output wire                fill_last_o,   // last of its wave

    output wire                error_o,
    output wire [TileBits-1:0] error_tile_o   // number of the tile, counted from reset
);
  localparam integer Origin = wc_cmd_pkg::GEMM_A_BASE_L;
  localparam integer ModeL = wc_cmd_pkg::GEMM_A_MODE_L - Origin;
  localparam integer MergeL = wc_cmd_pkg::GEMM_A_MERGE_L - Origin;
  localparam integer TapsXL = wc_cmd_pkg::GEMM_A_TAPS_X_L - Origin;
  localparam integer YSizeL = wc_cmd_pkg::GEMM_A_Y_SIZE_L - Origin;
  localparam integer XSizeL = wc_cmd_pkg::GEMM_A_X_SIZE_L - Origin;
  localparam [31:0] RowsWord = Rows;
  localparam [31:0] WidthWord = Width;
  localparam [31:0] LimitWord = GbufBytes;

  // ---- the command ----
  reg          busy_q;
  reg  [671:0] fields_q;
  reg  [15:0]  size_q;
  reg  [31:0]  k_left_q;      // of k_total, from the start of this wave on
  reg  [15:0]  outer_q;       // mode 0: vector of the wave; modes 1, 2: k of the wave
  reg  [15:0]  pos_q;         // mode 0: k of the wave; modes 1, 2: element of the vector
  reg          side_q;
  reg          wave_begin_q;  // the next segment is the first of its wave
  reg  [TileBits-1:0] tile_q;

  wire         take = cmd_valid_i && cmd_ready_o;
  wire [671:0] load_fields = take ? cmd_fields_i : fields_q;

  wire [7:0]   mode = fields_q[ModeL+:8];
  wire         vectors = mode == 8'd0;   // K runs inside a vector
  wire         per_channel = mode == 8'd2;
  wire         merge = fields_q[MergeL+:8] != 8'd0;
  wire [31:0]  y_size = {16'd0, fields_q[YSizeL+:16]};
  wire [31:0]  x_size = {16'd0, fields_q[XSizeL+:16]};

  wire         k_last = k_left_q <= RowsWord;
  wire [15:0]  k_len = k_last ? k_left_q[15:0] : RowsWord[15:0];
  wire         empty = k_left_q == 32'd0;

  // ---- the present segment ----
  wire [31:0] vector_addr, y, x, tap_offset, ty, tx;
  wire        vectors_ended, taps_ended;
  wire [15:0] tap_left;

  wire        step;          // the present segment goes into the segment register
  wire [15:0] inner_left = (vectors ? k_len : size_q) - pos_q;
  wire [15:0] outer_next = outer_q + 16'd1;
  wire        outer_last = outer_next == (vectors ? size_q : k_len);
  wire [15:0] width = vectors ? RowsWord[15:0] : WidthWord[15:0];
  wire [15:0] reach = (inner_left < width) ? inner_left : width;

  wire [31:0] tap_y = y + ty;
  wire [31:0] tap_x = x + tx;
  wire [31:0] row_last_x = x + {24'd0, fields_q[TapsXL+:8]} - 32'd1;
  // Unsigned comparisons: a negative position is a great one.
  wire        inside_y = tap_y < y_size;
  wire        in_image = per_channel || (inside_y && tap_x < x_size);
  wire        row_inside = inside_y && x < x_size && row_last_x < x_size;
  // The last vector of a wave leaves the state in which the next wave starts, so it is walked tap by tap.
  wire        merged = merge && row_inside && !per_channel && !(vectors && outer_last);

  wire        tap_ends = !per_channel && (tap_left - 16'd1) < reach;
  wire [15:0] len = empty ? 16'd0 : tap_ends ? tap_left : reach;
  wire        inner_done = empty || len == inner_left;
  wire        wave_done = empty || (inner_done && outer_last);
  wire        cmd_done = wave_done && k_last;

  wire [31:0] addr = vector_addr + tap_offset + (per_channel ? {15'd0, pos_q, 1'b0} : 32'd0);
  wire [32:0] addr_end = {1'b0, addr} + {16'd0, len, 1'b0};
  wire        pad = empty || !in_image;

  vector_walk u_vector_walk (
      .clk_i        (clk_i),
      .load_i       (take || (step && vectors && wave_done)),
      .step_i       (step && inner_done && !per_channel),
      .load_fields_i(load_fields),
      .fields_i     (fields_q),
      .addr_o       (vector_addr),
      .ended_o      (vectors_ended),
      .y_o          (y),
      .x_o          (x)
  );
  tap_walk u_tap_walk (
      .clk_i        (clk_i),
      .load_i       (take),
      .advance_i    (step && (!per_channel || inner_done)),
      .restore_i    (step && inner_done && !per_channel && !(vectors && wave_done)),
      .commit_i     (vectors && wave_done),
      .len_i        (per_channel ? 16'd1 : len),
      .row_merged_i (merged),
      .load_fields_i(load_fields),
      .fields_i     (fields_q),
      .offset_o     (tap_offset),
      .ty_o         (ty),
      .tx_o         (tx),
      .ended_o      (taps_ended),
      .left_o       (tap_left)
  );

  // ---- segment register: the request ----
  reg         seg_valid_q, seg_pad_q, seg_bad_q, seg_begin_q;
  reg  [31:0] seg_addr_q;
  reg  [15:0] seg_len_q, seg_outer_q, seg_pos_q;
  reg         seg_vectors_q, seg_side_q, seg_last_q;
  reg  [TileBits-1:0] seg_tile_q;

  reg  [1:0] claimed_q;  // sides that hold a wave, or that one is on the way to

  wire seg_go = seg_valid_q && !seg_bad_q && !halt_i && !(seg_begin_q && claimed_q[seg_side_q]);
  wire seg_done = seg_go && (seg_pad_q || gnt_i);

  assign req_o  = seg_go && !seg_pad_q;
  assign addr_o = seg_addr_q;
  assign size_o = {seg_len_q[14:0], 1'b0};
  assign error_o = seg_valid_q && seg_bad_q;
  assign error_tile_o = seg_tile_q;

  assign step = busy_q && (!seg_valid_q || seg_done);
  assign cmd_ready_o = !busy_q || (step && cmd_done);

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      busy_q <= 1'b0;
      seg_valid_q <= 1'b0;
      claimed_q <= 2'b00;
      side_q <= 1'b0;
      tile_q <= {TileBits{1'b1}};
    end else begin
      if (take) begin
        busy_q <= 1'b1;
        tile_q <= tile_q + 1'b1;
      end else if (step && cmd_done) busy_q <= 1'b0;
      if (step && wave_done) side_q <= !side_q;
      if (step) seg_valid_q <= 1'b1;
      else if (seg_done) seg_valid_q <= 1'b0;
      claimed_q <= (claimed_q & ~release_i) | ((seg_done && seg_begin_q) ? (seg_side_q ? 2'b10 : 2'b01) : 2'b00);
    end

  always @(posedge clk_i)
    if (take) begin
      fields_q <= cmd_fields_i;
      size_q <= cmd_size_i;
      k_left_q <= cmd_k_total_i;
      outer_q <= 16'd0;
      pos_q <= 16'd0;
      wave_begin_q <= 1'b1;
    end else if (step) begin
      wave_begin_q <= wave_done;
      pos_q <= inner_done ? 16'd0 : pos_q + len;
      if (inner_done) outer_q <= outer_last ? 16'd0 : outer_next;
      if (wave_done) k_left_q <= k_left_q - {16'd0, k_len};
    end

  always @(posedge clk_i)
    if (step) begin
      seg_pad_q <= pad;
      seg_bad_q <= !empty && (vectors_ended || taps_ended || (in_image && (addr >= LimitWord || addr_end > {1'b0, LimitWord})));
      seg_begin_q <= wave_begin_q;
      seg_addr_q <= addr;
      seg_len_q <= len;
      seg_outer_q <= outer_q;
      seg_pos_q <= pos_q;
      seg_vectors_q <= vectors;
      seg_side_q <= side_q;
      seg_last_q <= wave_done;
      seg_tile_q <= tile_q;
    end

  // ---- beside the read: two cycles from grant to data ----
  // place = {zero, vectors, outer, pos, len, side, last}
  localparam integer PlaceBits = 52;
  reg                 place1_valid_q, place2_valid_q;
  reg [PlaceBits-1:0] place1_q, place2_q;
  wire                place_vectors;
  wire [15:0]         place_outer, place_pos;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      place1_valid_q <= 1'b0;
      place2_valid_q <= 1'b0;
    end else begin
      place1_valid_q <= seg_done;
      place2_valid_q <= place1_valid_q;
    end
  always @(posedge clk_i) begin
    if (seg_done) place1_q <= {seg_pad_q, seg_vectors_q, seg_outer_q, seg_pos_q, seg_len_q, seg_side_q, seg_last_q};
    if (place1_valid_q) place2_q <= place1_q;
  end

  assign {fill_zero_o, place_vectors, place_outer, place_pos, fill_len_o, fill_side_o, fill_last_o} = place2_q;
  assign fill_valid_o = place2_valid_q;
  // Row-wise coordinates: for A the vector m is the row in mode 0 and the position in modes 1 and 2; for B the other way round.
  assign fill_down_o = (KIsRow != 0) ? place_vectors : !place_vectors;
  assign fill_row_o  = fill_down_o ? place_pos : place_outer;
  assign fill_col_o  = fill_down_o ? place_outer : place_pos;

`ifdef WC_ASSERT
  // A segment is never empty but in a wave of zeros, so that every walk ends.
  fetch_progress: assert property (@(posedge clk_i) disable iff (!rst_ni) step && !empty |-> len != 16'd0)
  else $error("fetch: a segment without elements");
  // A request that is not granted stands unchanged, unless the device halts.
  fetch_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
      req_o && !gnt_i && !halt_i |=> halt_i || (req_o && $stable(addr_o) && $stable(size_o)))
  else $error("fetch: request changed while not granted");
`endif
endmodule
`default_nettype wire
