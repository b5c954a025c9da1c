// SPDX-License-Identifier: Apache-2.0
//
// The GEMM engine: fetchers, operand buffers, wave control, array, accumulators, preload and drain (rtl/README.md).
//
// Commands are accepted ahead: while one tile streams, the fetchers already fill operands of its next waves and of the next
// command, and the tile before is drained. done_o pulses once per command, in order, after its last row has been written.
//
// An access outside the global buffer (status buffer_range) is not made. It stops the engine once every earlier command is done,
// so that the index reported is the first bad command's whichever unit found it.
`default_nettype none

module gemm #(
    parameter integer Rows      = 16,
    parameter integer Cols      = 16,
    parameter integer AccRows   = 256,
    parameter integer GbufBytes = 65536,
    parameter integer LineBytes = 64,
    parameter integer MacStages = 1
) (
    input  wire                   clk_i,
    input  wire                   rst_ni,

    input  wire                   cmd_valid_i,
    output wire                   cmd_ready_o,
    input  wire [2047:0]          cmd_i,
    input  wire [31:0]            cmd_index_i,
    output reg                    done_o,
    output reg  [31:0]            done_index_o,
    output wire                   error_o,
    output wire [7:0]             error_status_o,
    output wire [31:0]            error_index_o,
    input  wire                   halt_i,

    output wire                   a_req_o,
    output wire [31:0]            a_addr_o,
    output wire [15:0]            a_size_o,
    input  wire                   a_gnt_i,
    input  wire                   a_rvalid_i,
    input  wire [LineBytes*8-1:0] a_rdata_i,

    output wire                   b_req_o,
    output wire [31:0]            b_addr_o,
    output wire [15:0]            b_size_o,
    input  wire                   b_gnt_i,
    input  wire                   b_rvalid_i,
    input  wire [LineBytes*8-1:0] b_rdata_i,

    output wire                   d_req_o,
    output wire [31:0]            d_addr_o,
    output wire [15:0]            d_size_o,
    output wire                   d_we_o,
    output wire [LineBytes*8-1:0] d_wdata_o,
    input  wire                   d_gnt_i,
    input  wire                   d_rvalid_i,
    input  wire [LineBytes*8-1:0] d_rdata_i,

    output wire                   array_busy_o,
    output wire                   stall_operand_o,
    output wire                   stall_weight_o,
    output wire                   stall_accumulator_o,
    output wire                   stall_command_o,
    output wire                   wave_o,
    output wire                   bubble_o
);
  localparam integer TileBits = 4;
  localparam integer BBanks = (Rows > Cols) ? Rows : Cols;
  localparam integer FetchBits = wc_cmd_pkg::GEMM_B_BASE_L - wc_cmd_pkg::GEMM_A_BASE_L;
  localparam integer WalkBits = wc_cmd_pkg::GEMM_PRE_BASE_L - wc_cmd_pkg::GEMM_OUT_BASE_L;
  // Cycles from a vector's entry to its aligned sums, rounded up; and the waves that fit into it, at least Rows cycles apart.
  localparam integer Latency = Rows * MacStages + Cols;
  localparam integer WaveDepth = 1 << $clog2(Latency / Rows + 4);

  reg  error_q;
  wire halt = halt_i || error_q;

  // ---- commands: held until both fetchers have taken their part; the rest goes into the tile queue ----
  localparam integer TileWidth = 32 + 3 + 16 + 16 + 32 + WalkBits + 32;

  reg                 a_left_q, b_left_q;
  reg [FetchBits-1:0] a_fields_q, b_fields_q;
  reg [15:0]          m_rows_q, n_cols_q;
  reg [31:0]          k_total_q;
  wire                a_ready, b_ready, tile_ready;
  wire                accept = cmd_valid_i && cmd_ready_o;

  wire [15:0] cmd_flags = cmd_i[wc_cmd_pkg::GEMM_FLAGS_L+:16];
  wire [15:0] cmd_m_rows = cmd_i[wc_cmd_pkg::GEMM_M_ROWS_L+:16];
  wire [15:0] cmd_n_cols = cmd_i[wc_cmd_pkg::GEMM_N_COLS_L+:16];
  wire [31:0] cmd_k_total = cmd_i[wc_cmd_pkg::GEMM_K_TOTAL_L+:32];

  assign cmd_ready_o = tile_ready && (!a_left_q || a_ready) && (!b_left_q || b_ready) && !halt;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      a_left_q <= 1'b0;
      b_left_q <= 1'b0;
    end else begin
      if (accept) a_left_q <= 1'b1;
      else if (a_ready) a_left_q <= 1'b0;
      if (accept) b_left_q <= 1'b1;
      else if (b_ready) b_left_q <= 1'b0;
    end
  always @(posedge clk_i)
    if (accept) begin
      a_fields_q <= cmd_i[wc_cmd_pkg::GEMM_A_BASE_L+:FetchBits];
      b_fields_q <= cmd_i[wc_cmd_pkg::GEMM_B_BASE_L+:FetchBits];
      m_rows_q <= cmd_m_rows;
      n_cols_q <= cmd_n_cols;
      k_total_q <= cmd_k_total;
    end

  wire                 pre_valid, pre_next, wave_valid, wave_next, read_next, done_next;
  wire [TileBits-1:0]  pre_tile, read_tile, done_tile;
  wire [TileWidth-1:0] pre_view, wave_view, read_view, done_view;

  tile_queue #(
      .Width   (TileWidth),
      .TileBits(TileBits)
  ) u_tiles (
      .clk_i          (clk_i),
      .rst_ni         (rst_ni),
      .push_i         (accept),
      .ready_o        (tile_ready),
      .tile_i         ({cmd_index_i, cmd_flags[2:0], cmd_m_rows, cmd_n_cols, cmd_k_total,
                        cmd_i[wc_cmd_pkg::GEMM_OUT_BASE_L+:WalkBits], cmd_i[wc_cmd_pkg::GEMM_PRE_BASE_L+:32]}),
      .preload_next_i (pre_next),
      .preload_valid_o(pre_valid),
      .preload_tile_o (pre_tile),
      .preload_o      (pre_view),
      .wave_next_i    (wave_next),
      .wave_valid_o   (wave_valid),
      .wave_o         (wave_view),
      .read_next_i    (read_next),
      .read_tile_o    (read_tile),
      .read_o         (read_view),
      .done_next_i    (done_next),
      .done_tile_o    (done_tile),
      .done_o         (done_view)
  );

  wire [31:0]         pre_index, wave_tile_index, read_index, done_index;
  wire [2:0]          pre_flags, wave_flags, read_flags, done_flags;
  wire [15:0]         pre_m_rows, pre_n_cols, wave_m_rows, wave_n_cols, read_m_rows, read_n_cols, done_m_rows, done_n_cols;
  wire [31:0]         pre_k_total, wave_k_total, read_k_total, done_k_total;
  wire [WalkBits-1:0] pre_walk, wave_walk, read_walk, done_walk;
  wire [31:0]         pre_base, wave_base, read_base, done_base;
  assign {pre_index, pre_flags, pre_m_rows, pre_n_cols, pre_k_total, pre_walk, pre_base} = pre_view;
  assign {wave_tile_index, wave_flags, wave_m_rows, wave_n_cols, wave_k_total, wave_walk, wave_base} = wave_view;
  assign {read_index, read_flags, read_m_rows, read_n_cols, read_k_total, read_walk, read_base} = read_view;
  assign {done_index, done_flags, done_m_rows, done_n_cols, done_k_total, done_walk, done_base} = done_view;

  // ---- operands ----
  wire        drain_urgent;
  wire        a_fetch_req;
  wire        a_fill, a_fill_zero, a_fill_down, a_fill_side, a_fill_last;
  wire        b_fill, b_fill_zero, b_fill_down, b_fill_side, b_fill_last;
  wire [15:0] a_fill_row, a_fill_col, a_fill_len, b_fill_row, b_fill_col, b_fill_len;
  wire [1:0]  a_release, b_release;
  wire        a_error, b_error;
  wire [TileBits-1:0] a_error_tile, b_error_tile;

  // Port A has the highest priority, so its request is granted at once and may be withheld without breaking the port's rule.
  assign a_req_o = a_fetch_req && !drain_urgent;

  fetch #(
      .Rows     (Rows),
      .Width    (Rows),
      .KIsRow   (0),
      .GbufBytes(GbufBytes),
      .TileBits (TileBits)
  ) u_fetch_a (
      .clk_i        (clk_i),
      .rst_ni       (rst_ni),
      .halt_i       (halt),
      .cmd_valid_i  (a_left_q),
      .cmd_ready_o  (a_ready),
      .cmd_fields_i (a_fields_q),
      .cmd_size_i   (m_rows_q),
      .cmd_k_total_i(k_total_q),
      .req_o        (a_fetch_req),
      .addr_o       (a_addr_o),
      .size_o       (a_size_o),
      .gnt_i        (a_gnt_i && !drain_urgent),
      .release_i    (a_release),
      .fill_valid_o (a_fill),
      .fill_zero_o  (a_fill_zero),
      .fill_down_o  (a_fill_down),
      .fill_row_o   (a_fill_row),
      .fill_col_o   (a_fill_col),
      .fill_len_o   (a_fill_len),
      .fill_side_o  (a_fill_side),
      .fill_last_o  (a_fill_last),
      .error_o      (a_error),
      .error_tile_o (a_error_tile)
  );
  fetch #(
      .Rows     (Rows),
      .Width    (Cols),
      .KIsRow   (1),
      .GbufBytes(GbufBytes),
      .TileBits (TileBits)
  ) u_fetch_b (
      .clk_i        (clk_i),
      .rst_ni       (rst_ni),
      .halt_i       (halt),
      .cmd_valid_i  (b_left_q),
      .cmd_ready_o  (b_ready),
      .cmd_fields_i (b_fields_q),
      .cmd_size_i   (n_cols_q),
      .cmd_k_total_i(k_total_q),
      .req_o        (b_req_o),
      .addr_o       (b_addr_o),
      .size_o       (b_size_o),
      .gnt_i        (b_gnt_i),
      .release_i    (b_release),
      .fill_valid_o (b_fill),
      .fill_zero_o  (b_fill_zero),
      .fill_down_o  (b_fill_down),
      .fill_row_o   (b_fill_row),
      .fill_col_o   (b_fill_col),
      .fill_len_o   (b_fill_len),
      .fill_side_o  (b_fill_side),
      .fill_last_o  (b_fill_last),
      .error_o      (b_error),
      .error_tile_o (b_error_tile)
  );

  wire             a_read, a_read_side, b_read, b_read_side;
  wire [15:0]      a_read_row, b_read_row;
  wire [Rows-1:0]  a_read_mask;
  wire [Cols-1:0]  b_read_mask;
  wire [Rows*16-1:0] feed_a_bits;
  wire [Cols*16-1:0] feed_b_bits;

  opbuf #(
      .Depth(AccRows),
      .Width(Rows),
      .Banks(Rows)
  ) u_opbuf_a (
      .clk_i       (clk_i),
      .fill_valid_i(a_fill),
      .fill_zero_i (a_fill_zero),
      .fill_down_i (a_fill_down),
      .fill_row_i  (a_fill_row),
      .fill_col_i  (a_fill_col),
      .fill_len_i  (a_fill_len),
      .fill_side_i (a_fill_side),
      .fill_data_i (a_rdata_i[Rows*16-1:0]),
      .read_i      (a_read),
      .read_side_i (a_read_side),
      .read_row_i  (a_read_row),
      .read_mask_i (a_read_mask),
      .row_o       (feed_a_bits)
  );
  opbuf #(
      .Depth(Rows),
      .Width(Cols),
      .Banks(BBanks)
  ) u_opbuf_b (
      .clk_i       (clk_i),
      .fill_valid_i(b_fill),
      .fill_zero_i (b_fill_zero),
      .fill_down_i (b_fill_down),
      .fill_row_i  (b_fill_row),
      .fill_col_i  (b_fill_col),
      .fill_len_i  (b_fill_len),
      .fill_side_i (b_fill_side),
      .fill_data_i (b_rdata_i[BBanks*16-1:0]),
      .read_i      (b_read),
      .read_side_i (b_read_side),
      .read_row_i  (b_read_row),
      .read_mask_i (b_read_mask),
      .row_o       (feed_b_bits)
  );

  // ---- waves ----
  wire            start, start_first, start_zero, start_last, acc_ready;
  wire [15:0]     next_m_rows;
  wire [31:0]     start_wave, start_index;
  wire            feed_a_valid, feed_a_sel, feed_a_first, feed_a_last, feed_b_valid, feed_b_sel;
  wire [15:0]     feed_a_row, feed_a_rows, feed_b_k;
  wire [31:0]     feed_a_wave, feed_a_cmd_index, feed_b_wave, feed_b_cmd_index;
  wire [Rows-1:0] feed_b_enable;

  wave_ctrl #(
      .Rows     (Rows),
      .Cols     (Cols),
      .MacStages(MacStages)
  ) u_wave_ctrl (
      .clk_i              (clk_i),
      .rst_ni             (rst_ni),
      .tile_valid_i       (wave_valid),
      .tile_m_rows_i      (wave_m_rows),
      .tile_n_cols_i      (wave_n_cols),
      .tile_k_total_i     (wave_k_total),
      .tile_preload_i     (wave_flags[0]),
      .tile_index_i       (wave_tile_index),
      .tile_next_o        (wave_next),
      .a_filled_i         ({a_fill && a_fill_last && a_fill_side, a_fill && a_fill_last && !a_fill_side}),
      .b_filled_i         ({b_fill && b_fill_last && b_fill_side, b_fill && b_fill_last && !b_fill_side}),
      .a_release_o        (a_release),
      .b_release_o        (b_release),
      .a_read_o           (a_read),
      .a_side_o           (a_read_side),
      .a_row_o            (a_read_row),
      .a_mask_o           (a_read_mask),
      .b_read_o           (b_read),
      .b_side_o           (b_read_side),
      .b_row_o            (b_read_row),
      .b_mask_o           (b_read_mask),
      .next_m_rows_o      (next_m_rows),
      .acc_ready_i        (acc_ready),
      .start_o            (start),
      .start_first_o      (start_first),
      .start_zero_o       (start_zero),
      .start_last_o       (start_last),
      .start_wave_o       (start_wave),
      .start_index_o      (start_index),
      .feed_a_valid_q     (feed_a_valid),
      .feed_a_sel_q       (feed_a_sel),
      .feed_a_first_q     (feed_a_first),
      .feed_a_last_q      (feed_a_last),
      .feed_a_row_q       (feed_a_row),
      .feed_a_rows_q      (feed_a_rows),
      .feed_a_wave_q      (feed_a_wave),
      .feed_a_index_q     (feed_a_cmd_index),
      .feed_b_valid_q     (feed_b_valid),
      .feed_b_sel_q       (feed_b_sel),
      .feed_b_k_q         (feed_b_k),
      .feed_b_enable_q    (feed_b_enable),
      .feed_b_wave_q      (feed_b_wave),
      .feed_b_index_q     (feed_b_cmd_index),
      .stall_operand_q    (stall_operand_o),
      .stall_weight_q     (stall_weight_o),
      .stall_accumulator_q(stall_accumulator_o),
      .stall_command_q    (stall_command_o),
      .bubble_q           (bubble_o)
  );

  // ---- array ----
  // The clock enable falls when nothing has entered for as long as anything can be on its way.
  localparam integer IdleBits = $clog2(Latency + 4);
  localparam [31:0] IdleCycles = Latency + 2;
  reg  [IdleBits-1:0] idle_q;
  wire feeding = feed_a_valid || feed_b_valid;
  wire array_en = feeding || idle_q != {IdleBits{1'b0}};
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) idle_q <= {IdleBits{1'b0}};
    else if (feeding) idle_q <= IdleCycles[IdleBits-1:0];
    else if (idle_q != {IdleBits{1'b0}}) idle_q <= idle_q - 1'b1;

  wire [Rows*16-1:0] array_a;
  wire [Cols*16-1:0] array_w;
  wire [Rows-1:0]    array_valid, array_sel;
  wire [Cols*32-1:0] psum, psum_row;
  wire [Cols-1:0]    psum_valid;

  skew #(
      .N   (Rows),
      .W   (16),
      .Step(MacStages)
  ) u_skew_a (
      .clk_i (clk_i),
      .rst_ni(rst_ni),
      .en_i  (array_en),
      .d_i   (feed_a_bits),
      .q_o   (array_a)
  );
  skew #(
      .N   (Cols),
      .W   (16),
      .Step(1)
  ) u_skew_w (
      .clk_i (clk_i),
      .rst_ni(rst_ni),
      .en_i  (array_en),
      .d_i   (feed_b_bits),
      .q_o   (array_w)
  );

  // Valid and select bits of the rows: the same two bits, r * MacStages cycles later for row r.
  localparam integer Delays = (Rows - 1) * MacStages;
  reg [Delays-1:0] valid_q, sel_q;
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) valid_q <= {Delays{1'b0}};
    else if (array_en) valid_q <= {valid_q[Delays-2:0], feed_a_valid};
  always @(posedge clk_i) if (array_en) sel_q <= {sel_q[Delays-2:0], feed_a_sel};
  assign array_valid[0] = feed_a_valid;
  assign array_sel[0] = feed_a_sel;
  genvar r;
  generate
    for (r = 1; r < Rows; r = r + 1) begin : g_valid
      assign array_valid[r] = valid_q[r*MacStages-1];
      assign array_sel[r] = sel_q[r*MacStages-1];
    end
  endgenerate

`ifdef WC_ARRAY_DPI
  array_dpi #(
`elsif WC_ARRAY_FAST
  array_fast #(
`else
  array #(
`endif
      .Rows     (Rows),
      .Cols     (Cols),
      .MacStages(MacStages)
  ) u_array (
      .clk_i       (clk_i),
      .rst_ni      (rst_ni),
      .en_i        (array_en),
      .a_i         (array_a),
      .a_valid_i   (array_valid),
      .a_sel_i     (array_sel),
      .w_i         (array_w),
      .w_en_i      (feed_b_enable),
      .w_sel_i     ({Rows{feed_b_sel}}),
      .psum_o      (psum),
      .psum_valid_o(psum_valid)
  );

  skew #(
      .N      (Cols),
      .W      (32),
      .Step   (1),
      .Reverse(1)
  ) u_deskew (
      .clk_i (clk_i),
      .rst_ni(rst_ni),
      .en_i  (array_en),
      .d_i   (psum),
      .q_o   (psum_row)
  );

  // ---- accumulators ----
  // Number of the tile whose first wave streams next; its side is the number's low bit.
  reg  [TileBits-1:0] start_tile_q;
  reg                 stream_side_q;
  wire                wave_side = start_first ? start_tile_q[0] : stream_side_q;
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) start_tile_q <= {TileBits{1'b0}};
    else if (start && start_first) start_tile_q <= start_tile_q + 1'b1;
  always @(posedge clk_i) if (start) stream_side_q <= wave_side;

  wire               pre_write, pre_write_side;
  wire [15:0]        pre_write_row;
  wire [Cols*32-1:0] pre_write_data;
  wire               drain_read, drain_read_side;
  wire [15:0]        drain_read_row;
  wire [Cols*32-1:0] drain_sums;
  wire               finished, arrive_first, arrive_side;
  wire [15:0]        arrive_row;
  wire               acc_valid;
  wire [15:0]        acc_row;
  wire [31:0]        acc_wave, acc_cmd_index;
  wire [Cols*32-1:0] acc_bits;

  accum #(
      .Cols     (Cols),
      .AccRows  (AccRows),
      .WaveDepth(WaveDepth)
  ) u_accum (
      .clk_i          (clk_i),
      .rst_ni         (rst_ni),
      .wave_push_i    (start),
      .wave_side_i    (wave_side),
      .wave_first_i   (start_first),
      .wave_zero_i    (start_zero),
      .wave_last_i    (start_last),
      .wave_rows_i    (next_m_rows),
      .wave_index_i   (start_index),
      .wave_number_i  (start_wave),
      .psum_valid_i   (psum_valid[Cols-1]),
      .psum_i         (psum_row),
      .arrive_first_o (arrive_first),
      .arrive_side_o  (arrive_side),
      .arrive_row_o   (arrive_row),
      .preload_write_i(pre_write),
      .preload_side_i (pre_write_side),
      .preload_row_i  (pre_write_row),
      .preload_data_i (pre_write_data),
      .drain_read_i   (drain_read),
      .drain_side_i   (drain_read_side),
      .drain_row_i    (drain_read_row),
      .drain_data_o   (drain_sums),
      .finished_o     (finished),
      .acc_valid_o    (acc_valid),
      .acc_row_o      (acc_row),
      .acc_wave_o     (acc_wave),
      .acc_index_o    (acc_cmd_index),
      .acc_bits_o     (acc_bits)
  );

  reg [TileBits-1:0] finished_q;  // tiles whose sums are complete
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) finished_q <= {TileBits{1'b0}};
    else if (finished) finished_q <= finished_q + 1'b1;

  // ---- preload and drain share port D ----
  wire        pre_req, pre_gnt, pre_error, drain_req, drain_gnt, drain_error;
  wire [31:0] pre_addr, drain_addr;
  wire [15:0] pre_size, drain_size;

  preload #(
      .Cols     (Cols),
      .LineBytes(LineBytes),
      .GbufBytes(GbufBytes),
      .TileBits (TileBits)
  ) u_preload (
      .clk_i         (clk_i),
      .rst_ni        (rst_ni),
      .halt_i        (halt),
      .tile_valid_i  (pre_valid),
      .tile_i        (pre_tile),
      .tile_preload_i(pre_flags[0]),
      .tile_same_i   (pre_flags[2]),
      .tile_m_rows_i (pre_m_rows),
      .tile_n_cols_i (pre_n_cols),
      .tile_walk_i   (pre_walk),
      .tile_base_i   (pre_base),
      .tile_next_o   (pre_next),
      .drained_i     (done_tile),
      .req_o         (pre_req),
      .addr_o        (pre_addr),
      .size_o        (pre_size),
      .gnt_i         (pre_gnt),
      .rdata_i       (d_rdata_i),
      .write_o       (pre_write),
      .write_side_o  (pre_write_side),
      .write_row_o   (pre_write_row),
      .write_data_o  (pre_write_data),
      .error_o       (pre_error)
  );

  // Names that the test bench's trace reads: a row as it is written.
  wire               drain_valid, drain_last, drain_fp32, drain_side;
  wire [15:0]        drain_row, drain_m_rows, drain_cols, drain_rows;
  wire [31:0]        drain_cmd_index;
  wire [Cols*32-1:0] drain_bits;

  drain #(
      .Cols     (Cols),
      .LineBytes(LineBytes),
      .GbufBytes(GbufBytes)
  ) u_drain (
      .clk_i        (clk_i),
      .rst_ni       (rst_ni),
      .halt_i       (halt),
      .tile_valid_i (read_tile != finished_q),
      .tile_side_i  (read_tile[0]),
      .tile_fp32_i  (read_flags[1]),
      .tile_m_rows_i(read_m_rows),
      .tile_n_cols_i(read_n_cols),
      .tile_index_i (read_index),
      .tile_walk_i  (read_walk),
      .tile_next_o  (read_next),
      .read_o       (drain_read),
      .read_side_o  (drain_read_side),
      .read_row_o   (drain_read_row),
      .sums_i       (drain_sums),
      .req_o        (drain_req),
      .addr_o       (drain_addr),
      .size_o       (drain_size),
      .wdata_o      (d_wdata_o),
      .gnt_i        (drain_gnt),
      .out_valid_o  (drain_valid),
      .out_last_o   (drain_last),
      .out_row_o    (drain_row),
      .out_m_rows_o (drain_m_rows),
      .out_n_cols_o (drain_cols),
      .out_index_o  (drain_cmd_index),
      .out_fp32_o   (drain_fp32),
      .out_side_o   (drain_side),
      .out_bits_o   (drain_bits),
      .out_rows_o   (drain_rows),
      .error_o      (drain_error)
  );
  assign done_next = drain_last;

  // Preload goes first, as the array waits for it; a request once shown stays until it is granted.
  reg  d_hold_q, d_pre_q;
  wire d_pre = d_hold_q ? d_pre_q : pre_req;
  assign d_req_o = d_pre ? pre_req : drain_req;
  assign d_we_o = !d_pre;
  assign d_addr_o = d_pre ? pre_addr : drain_addr;
  assign d_size_o = d_pre ? pre_size : drain_size;
  assign pre_gnt = d_gnt_i && d_pre;
  assign drain_gnt = d_gnt_i && !d_pre;
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) d_hold_q <= 1'b0;
    else d_hold_q <= d_req_o && !d_gnt_i;
  always @(posedge clk_i) d_pre_q <= d_pre;

  // A tile's first wave may stream when the tile two before, which used the side, is written and the preload is there. Without
  // preload it may also follow a drain in progress: sums come Latency cycles after their vectors, and the drain is kept at least
  // 3 rows ahead of them, if need be at the cost of port A. The new tile must not have fewer rows, so that its second wave finds
  // the drain over.
  wire [TileBits-1:0] behind = start_tile_q - done_tile;
  wire early = behind == 2 && drain_rows >= 16'd4 && next_m_rows >= drain_m_rows;
  assign acc_ready = pre_tile != start_tile_q && (behind < 2 || early);

  reg early_q;  // such a wave is on its way or arriving
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) early_q <= 1'b0;
    else if (start && start_first && behind == 2 && !drain_last) early_q <= 1'b1;
    else if (drain_last) early_q <= 1'b0;
  assign drain_urgent = early_q && arrive_first && arrive_side == drain_side && drain_rows < arrive_row + 16'd4;

  // ---- completion and errors ----
  reg [31:0] error_index_q;
  assign error_o = error_q;
  assign error_status_o = error_q ? wc_cmd_pkg::STATUS_BUFFER_RANGE : wc_cmd_pkg::STATUS_OK;
  assign error_index_o = error_index_q;
  wire error_now = drain_error || (pre_error && pre_tile == done_tile) || (a_error && a_error_tile == done_tile)
      || (b_error && b_error_tile == done_tile);

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      error_q <= 1'b0;
      done_o <= 1'b0;
    end else begin
      if (error_now && !halt_i) error_q <= 1'b1;
      done_o <= drain_last;
    end
  always @(posedge clk_i) begin
    if (error_now && !error_q) error_index_q <= done_index;
    if (drain_last) done_index_o <= done_index;
  end

  // ---- counters and names that the test bench's trace reads ----
  wire        wave_begin = feed_a_valid && feed_a_first;
  wire        wave_end = feed_a_valid && feed_a_last;
  wire [31:0] wave_index = feed_a_wave;
  wire [15:0] wave_rows = feed_a_rows;
  wire [31:0] wave_cmd_index = feed_a_cmd_index;
  assign array_busy_o = feed_a_valid;
  assign wave_o = wave_begin;

  wire unused = &{1'b0, cmd_i, cmd_flags, pre_index, pre_flags, pre_k_total, wave_flags, wave_walk, wave_base, read_flags, read_k_total,
                  read_base, done_flags, done_m_rows, done_n_cols, done_k_total, done_walk, done_base, psum_valid, a_rvalid_i, b_rvalid_i,
                  d_rvalid_i, a_rdata_i, b_rdata_i, wave_end, wave_index, wave_rows, wave_cmd_index, drain_valid, drain_row, drain_cols,
                  drain_cmd_index, drain_fp32, drain_bits, feed_a_row, feed_b_k, feed_b_wave, feed_b_cmd_index, acc_valid, acc_row,
                  acc_wave, acc_cmd_index, acc_bits};

`ifdef WC_ASSERT
  // Read data come exactly when they are placed.
  gemm_a_data: assert property (@(posedge clk_i) disable iff (!rst_ni) (a_fill && !a_fill_zero) == a_rvalid_i)
  else $error("gemm: operand A data out of time");
  gemm_b_data: assert property (@(posedge clk_i) disable iff (!rst_ni) (b_fill && !b_fill_zero) == b_rvalid_i)
  else $error("gemm: operand B data out of time");
  gemm_d_data: assert property (@(posedge clk_i) disable iff (!rst_ni) pre_write == d_rvalid_i)
  else $error("gemm: preload data out of time");
  // Every element has its place: none is written beyond a side of an operand buffer.
  wire [31:0] a_fill_row_end = {16'd0, a_fill_row} + (a_fill_down ? {16'd0, a_fill_len} : 32'd1);
  wire [31:0] a_fill_col_end = {16'd0, a_fill_col} + (a_fill_down ? 32'd1 : {16'd0, a_fill_len});
  wire [31:0] b_fill_row_end = {16'd0, b_fill_row} + (b_fill_down ? {16'd0, b_fill_len} : 32'd1);
  wire [31:0] b_fill_col_end = {16'd0, b_fill_col} + (b_fill_down ? 32'd1 : {16'd0, b_fill_len});
  gemm_a_inside: assert property (@(posedge clk_i) disable iff (!rst_ni)
      !a_fill || a_fill_len == 16'd0 || (a_fill_row_end <= AccRows && a_fill_col_end <= Rows && {16'd0, a_fill_len} <= Rows))
  else $error("gemm: operand A written beyond its buffer");
  gemm_b_inside: assert property (@(posedge clk_i) disable iff (!rst_ni)
      !b_fill || b_fill_len == 16'd0 || (b_fill_row_end <= Rows && b_fill_col_end <= Cols && {16'd0, b_fill_len} <= BBanks))
  else $error("gemm: operand B written beyond its buffer");
  // No element is overwritten before it has been read: the last read of a side comes before the first write of its next wave.
  gemm_a_side: assert property (@(posedge clk_i) disable iff (!rst_ni) !(a_fill && a_read && a_fill_side == a_read_side))
  else $error("gemm: operand A filled while read");
  gemm_b_side: assert property (@(posedge clk_i) disable iff (!rst_ni) !(b_fill && b_read && b_fill_side == b_read_side))
  else $error("gemm: operand B filled while read");
  // Sums never arrive over a row that is not drained yet.
  gemm_overrun: assert property (@(posedge clk_i) disable iff (!rst_ni)
      !(psum_valid[Cols-1] && early_q && arrive_first && arrive_side == drain_side) || drain_rows > arrive_row)
  else $error("gemm: accumulator overrun");
  gemm_d_stable: assert property (@(posedge clk_i) disable iff (!rst_ni)
      !$past(d_req_o && !d_gnt_i) || $past(halt) || halt || (d_req_o && d_we_o == $past(d_we_o)
          && d_addr_o == $past(d_addr_o) && d_size_o == $past(d_size_o)))
  else $error("gemm: request at port D changed while not granted");
  gemm_urgent: assert property (@(posedge clk_i) disable iff (!rst_ni) !a_fetch_req || a_gnt_i || drain_urgent)
  else $error("gemm: port A not granted at once");
`endif
endmodule
`default_nettype wire
