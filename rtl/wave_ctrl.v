// SPDX-License-Identifier: Apache-2.0
//
// Wave sequencing (rtl/README.md, "Timing of waves"). Two engines walk the waves in order: one reads weight rows out of operand buffer B
// into the array's idle registers, one streams the vectors of operand buffer A. A wave's number modulo 2 is its side in both
// buffers and its register in the PEs.
//
//   wave i    load |= Rows =|
//             stream         |=== m(i) ===|
//   wave i+1  load           |= Rows =|       from the cycle in which wave i begins to stream
//             stream                      |=== m(i+1) ===|
//
// Wave i + 1 streams from T(i+1) = max(T(i) + m(i), L(i+1) + Rows) on, once A is full and, in a tile's first wave, acc_ready_i.
// With MacStages = 2 PE row k is reached k cycles later still, so that its weight must come later and may: L(i+1) >= T(i) +
// Rows - 1, and T(i+1) > L(i+1) is enough.
//
// Everything here is in the cycle of the buffers' reads; feed_* are the same a cycle later, when the data enter the array.
// Causes of idle cycles are given for the feed cycle; exactly one of busy and the four stalls is set in every cycle.
`default_nettype none

module wave_ctrl #(
    parameter integer Rows      = 16,
    parameter integer Cols      = 16,
    parameter integer MacStages = 1
) (
    input  wire            clk_i,
    input  wire            rst_ni,

    input  wire            tile_valid_i,    // the tile whose weights load next
    input  wire [15:0]     tile_m_rows_i,
    input  wire [15:0]     tile_n_cols_i,
    input  wire [31:0]     tile_k_total_i,
    input  wire            tile_preload_i,
    input  wire [31:0]     tile_index_i,
    output wire            tile_next_o,

    input  wire [1:0]      a_filled_i,      // pulse: the last write to this side
    input  wire [1:0]      b_filled_i,
    output wire [1:0]      a_release_o,     // pulse: two reads at most follow
    output wire [1:0]      b_release_o,

    output wire            a_read_o,
    output wire            a_side_o,
    output wire [15:0]     a_row_o,
    output wire [Rows-1:0] a_mask_o,        // k below k_total
    output wire            b_read_o,
    output wire            b_side_o,
    output wire [15:0]     b_row_o,
    output wire [Cols-1:0] b_mask_o,        // n below n_cols, k below k_total

    output wire [15:0]     next_m_rows_o,   // rows of the wave that waits to stream
    input  wire            acc_ready_i,     // its tile may use its accumulator
    output wire            start_o,         // a wave begins: its description
    output wire            start_first_o,   // first of its tile
    output wire            start_zero_o,    // sums start from +0
    output wire            start_last_o,    // last of its tile
    output wire [31:0]     start_wave_o,
    output wire [31:0]     start_index_o,

    output reg             feed_a_valid_q,
    output reg             feed_a_sel_q,
    output reg             feed_a_first_q,  // first vector of its wave
    output reg             feed_a_last_q,
    output reg  [15:0]     feed_a_row_q,
    output reg  [15:0]     feed_a_rows_q,
    output reg  [31:0]     feed_a_wave_q,
    output reg  [31:0]     feed_a_index_q,
    output reg             feed_b_valid_q,
    output reg             feed_b_sel_q,
    output reg  [15:0]     feed_b_k_q,
    output reg  [Rows-1:0] feed_b_enable_q, // one-hot: weight row loaded
    output reg  [31:0]     feed_b_wave_q,
    output reg  [31:0]     feed_b_index_q,

    output reg             stall_operand_q,
    output reg             stall_weight_q,
    output reg             stall_accumulator_q,
    output reg             stall_command_q,
    output reg             bubble_q
);
  localparam [31:0] RowsWord = Rows;

  // ---- the wave that waits: its weights are loading or loaded ----
  reg            pend_q, pend_side_q, pend_first_q, pend_zero_q, pend_last_q;
  reg [15:0]     pend_m_q, pend_k_q;
  reg [31:0]     pend_wave_q, pend_index_q;
  reg [1:0]      a_full_q, b_full_q;

  // ---- stream ----
  reg            stream_q, stream_side_q;
  reg [15:0]     stream_row_q, stream_m_q;
  reg [Rows-1:0] stream_mask_q;
  reg [31:0]     stream_wave_q, stream_index_q;

  // ---- load ----
  reg            load_q, load_side_q;
  reg [15:0]     load_row_q;
  reg [Cols-1:0] load_mask_q;
  reg            tile_begun_q;  // a wave of the present tile was loaded before
  reg [31:0]     k_left_q, wave_q;
  wire [31:0]    k_left = tile_begun_q ? k_left_q : tile_k_total_i;
  wire           k_last = k_left <= RowsWord;
  wire [15:0]    k_len = k_last ? k_left[15:0] : RowsWord[15:0];

  // Cycles since a wave began to stream, up to Rows.
  reg  [15:0] since_q;
  wire        loaded, load_early;
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) since_q <= RowsWord[15:0];
    else if (start_o) since_q <= 16'd1;
    else if (since_q != RowsWord[15:0]) since_q <= since_q + 16'd1;

  // When weights may follow, and when the wave may follow its weights.
  generate
    if (MacStages == 1) begin : g_one
      assign load_early = 1'b0;
      assign loaded = !load_q;
    end else begin : g_two
      assign load_early = start_o || since_q < RowsWord[15:0] - 16'd1;
      assign loaded = 1'b1;
    end
  endgenerate

  wire acc_wait = pend_first_q && !acc_ready_i;
  assign start_o = !stream_q && pend_q && loaded && a_full_q[pend_side_q] && !acc_wait;
  wire load_start = !load_q && tile_valid_i && b_full_q[load_side_q] && (!pend_q || start_o) && !load_early;

  assign tile_next_o   = load_start && k_last;
  assign next_m_rows_o = pend_m_q;
  assign start_first_o = pend_first_q;
  assign start_zero_o  = pend_zero_q;
  assign start_last_o  = pend_last_q;
  assign start_wave_o  = pend_wave_q;
  assign start_index_o = pend_index_q;

  wire [Rows-1:0] start_mask = ~({Rows{1'b1}} << pend_k_q);
  assign a_read_o = start_o || stream_q;
  assign a_side_o = start_o ? pend_side_q : stream_side_q;
  assign a_row_o  = start_o ? 16'd0 : stream_row_q;
  assign a_mask_o = start_o ? start_mask : stream_mask_q;
  wire [15:0] a_rows = start_o ? pend_m_q : stream_m_q;
  wire        a_last = a_row_o + 16'd1 == a_rows;
  // Two reads follow this one; or it is the first of fewer than three.
  wire        a_freed = a_read_o && (a_row_o + 16'd3 == a_rows || (start_o && a_rows < 16'd3));
  assign a_release_o = {a_freed && a_side_o, a_freed && !a_side_o};

  wire [Cols-1:0] load_mask = ~({Cols{1'b1}} << tile_n_cols_i);
  reg  [15:0]     load_k_q;
  assign b_read_o = load_start || load_q;
  assign b_side_o = load_q ? !load_side_q : load_side_q;
  assign b_row_o  = load_start ? 16'd0 : load_row_q;
  assign b_mask_o = (b_row_o < (load_start ? k_len : load_k_q)) ? (load_start ? load_mask : load_mask_q) : {Cols{1'b0}};
  wire        b_freed = load_q && load_row_q == RowsWord[15:0] - 16'd3;
  assign b_release_o = {b_freed && b_side_o, b_freed && !b_side_o};

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      pend_q <= 1'b0;
      stream_q <= 1'b0;
      load_q <= 1'b0;
      load_side_q <= 1'b0;
      tile_begun_q <= 1'b0;
      a_full_q <= 2'b00;
      b_full_q <= 2'b00;
    end else begin
      if (load_start) pend_q <= 1'b1;
      else if (start_o) pend_q <= 1'b0;
      if (a_read_o) stream_q <= !a_last;
      if (load_start) begin
        load_q <= 1'b1;
        load_side_q <= !load_side_q;
        tile_begun_q <= !k_last;
      end else if (load_row_q == RowsWord[15:0] - 16'd1) load_q <= 1'b0;
      a_full_q <= (a_full_q | a_filled_i) & ~(start_o ? (pend_side_q ? 2'b10 : 2'b01) : 2'b00);
      b_full_q <= (b_full_q | b_filled_i) & ~(load_start ? (load_side_q ? 2'b10 : 2'b01) : 2'b00);
    end

  always @(posedge clk_i) begin
    if (load_start) begin
      load_row_q <= 16'd1;
      load_mask_q <= load_mask;
      load_k_q <= k_len;
      k_left_q <= k_left - {16'd0, k_len};
      wave_q <= tile_begun_q ? wave_q + 32'd1 : 32'd1;
      pend_side_q <= load_side_q;
      pend_first_q <= !tile_begun_q;
      pend_zero_q <= !tile_begun_q && !tile_preload_i;
      pend_last_q <= k_last;
      pend_m_q <= tile_m_rows_i;
      pend_k_q <= k_len;
      pend_wave_q <= tile_begun_q ? wave_q : 32'd0;
      pend_index_q <= tile_index_i;
    end else if (load_q) load_row_q <= load_row_q + 16'd1;
    if (start_o) begin
      stream_side_q <= pend_side_q;
      stream_m_q <= pend_m_q;
      stream_mask_q <= start_mask;
      stream_wave_q <= pend_wave_q;
      stream_index_q <= pend_index_q;
    end
    if (a_read_o) stream_row_q <= a_row_o + 16'd1;
  end

  // ---- feed: the data read above enter the array ----
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      feed_a_valid_q <= 1'b0;
      feed_b_valid_q <= 1'b0;
      feed_b_enable_q <= {Rows{1'b0}};
    end else begin
      feed_a_valid_q <= a_read_o;
      feed_b_valid_q <= b_read_o;
      feed_b_enable_q <= !b_read_o ? {Rows{1'b0}} : load_start ? {{(Rows - 1) {1'b0}}, 1'b1} : feed_b_enable_q << 1;
    end
  always @(posedge clk_i) begin
    if (a_read_o) begin
      feed_a_sel_q <= a_side_o;
      feed_a_first_q <= start_o;
      feed_a_last_q <= a_last;
      feed_a_row_q <= a_row_o;
      feed_a_rows_q <= a_rows;
      feed_a_wave_q <= start_o ? pend_wave_q : stream_wave_q;
      feed_a_index_q <= start_o ? pend_index_q : stream_index_q;
    end
    if (b_read_o) begin
      feed_b_sel_q <= b_side_o;
      feed_b_k_q <= b_row_o;
    end
    // The wave whose weights load is the one that waits, from the cycle after load_start on.
    if (load_start) begin
      feed_b_wave_q <= tile_begun_q ? wave_q : 32'd0;
      feed_b_index_q <= tile_index_i;
    end
  end

  // ---- why no vector enters ----
  // In the first Rows cycles after a wave began nothing could follow it: it was too short. Later its successor waits for its
  // operands, be it that their buffers are not full or that weights load late because B was; or else for the accumulator.
  wire short_wait = since_q < RowsWord[15:0];
  wire operand_wait = !pend_q || !loaded || !a_full_q[pend_side_q];
  wire idle = !a_read_o;
  wire none = !pend_q && !tile_valid_i;

  // A bubble is an idle cycle although the wave before had Rows rows or more and B has been full for Rows cycles. This is judged
  // by ages of the buffers, not by the engines' states above.
  localparam integer AgeBits = $clog2(Rows) + 1;
  reg [AgeBits-1:0] age0_q, age1_q;   // cycles since B's side was filled, up to Rows
  reg               full_wave_q;      // the wave that streamed last had Rows rows or more
  reg               next_side_q;      // side of the wave that streams next
  wire [AgeBits-1:0] age = next_side_q ? age1_q : age0_q;
  wire b_ready = (pend_q || b_full_q[next_side_q]) && age == RowsWord[AgeBits-1:0];

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      age0_q <= {AgeBits{1'b0}};
      age1_q <= {AgeBits{1'b0}};
      full_wave_q <= 1'b0;
      next_side_q <= 1'b0;
      stall_operand_q <= 1'b0;
      stall_weight_q <= 1'b0;
      stall_accumulator_q <= 1'b0;
      stall_command_q <= 1'b1;
      bubble_q <= 1'b0;
    end else begin
      if (b_filled_i[0]) age0_q <= {AgeBits{1'b0}};
      else if (age0_q != RowsWord[AgeBits-1:0]) age0_q <= age0_q + 1'b1;
      if (b_filled_i[1]) age1_q <= {AgeBits{1'b0}};
      else if (age1_q != RowsWord[AgeBits-1:0]) age1_q <= age1_q + 1'b1;
      if (start_o) begin
        full_wave_q <= pend_m_q >= RowsWord[15:0];
        next_side_q <= !pend_side_q;
      end
      stall_command_q <= idle && none;
      stall_weight_q <= idle && !none && short_wait;
      stall_operand_q <= idle && !none && !short_wait && operand_wait;
      stall_accumulator_q <= idle && !none && !short_wait && !operand_wait;
      bubble_q <= idle && full_wave_q && a_full_q[next_side_q] && b_ready && !acc_wait;
    end

`ifdef WC_ASSERT
  // A wave of m >= Rows rows whose successor is ready is followed with no idle cycle.
  wave_no_bubble: assert property (@(posedge clk_i) disable iff (!rst_ni) !bubble_q)
  else $error("wave_ctrl: idle cycle between two ready waves");
  wave_enable_one_hot: assert property (@(posedge clk_i) disable iff (!rst_ni) (feed_b_enable_q & (feed_b_enable_q - 1'b1)) == {Rows{1'b0}})
  else $error("wave_ctrl: more than one weight row enabled");
  wave_one_cause: assert property (@(posedge clk_i) disable iff (!rst_ni)
      {31'd0, feed_a_valid_q} + {31'd0, stall_operand_q} + {31'd0, stall_weight_q}
          + {31'd0, stall_accumulator_q} + {31'd0, stall_command_q} == 32'd1)
  else $error("wave_ctrl: a cycle without exactly one cause");
  // The register being loaded is not the one that the streaming wave uses.
  wave_register_free: assert property (@(posedge clk_i) disable iff (!rst_ni)
      a_read_o && b_read_o && MacStages == 1 |-> a_side_o != b_side_o)
  else $error("wave_ctrl: weights loaded under the wave that uses them");
  wave_refill: assert property (@(posedge clk_i) disable iff (!rst_ni) (a_full_q & a_filled_i) == 2'b00 && (b_full_q & b_filled_i) == 2'b00)
  else $error("wave_ctrl: a full side was filled again");
`endif
endmodule
`default_nettype wire
