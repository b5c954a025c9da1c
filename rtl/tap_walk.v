// SPDX-License-Identifier: Apache-2.0
//
// Tap walk of an operand fetcher: where in (block, r, s, c) the present element lies, and how many elements follow it contiguously
// (rtl/README.md, "The two walkers").
//
// State: tap (r, s) with its byte offset toff and image offset (ty, tx), channel c of the block, element offset eoff (toff and channels
// together), and `run`, the elements of this row of taps before the present one, which is what a merged row counts in.
//
//   load_i     the command in load_fields_i begins: to the first element, or to the start tap and channel in mode 1
//   advance_i  pass over len_i elements; len_i <= left_o, and 1 in mode 2
//   restore_i  back to the saved state: the next vector starts where this one did; wins over advance_i
//   commit_i   with advance_i: save the state after it, as the next wave starts there (mode 0)
//
// With row_merged_i the elements are counted along the row of taps: left_o then runs to the row's end. It must not change within a row.
`default_nettype none

module tap_walk (
    input  wire         clk_i,
    input  wire         load_i,
    input  wire         advance_i,
    input  wire         restore_i,
    input  wire         commit_i,
    input  wire [15:0]  len_i,
    input  wire         row_merged_i,
    input  wire [671:0] load_fields_i, // bytes of a fetch block (commands.def)
    input  wire [671:0] fields_i,      // the present command's
    output wire [31:0]  offset_o,      // bytes from the vector's tap (0, 0), channel 0
    output wire [31:0]  ty_o,          // image offset of the tap, signed
    output wire [31:0]  tx_o,
    output wire         ended_o,       // the last element is passed: there is none any more
    output wire [15:0]  left_o         // contiguous elements from here to the end of the tap or merged row; 0 stands for 65536
);
  localparam integer Origin = wc_cmd_pkg::GEMM_A_BASE_L;
  localparam integer ModeL = wc_cmd_pkg::GEMM_A_MODE_L - Origin;
  localparam integer TapsYL = wc_cmd_pkg::GEMM_A_TAPS_Y_L - Origin;
  localparam integer TapsXL = wc_cmd_pkg::GEMM_A_TAPS_X_L - Origin;
  localparam integer TapYStepL = wc_cmd_pkg::GEMM_A_TAP_Y_STEP_L - Origin;
  localparam integer TapXStepL = wc_cmd_pkg::GEMM_A_TAP_X_STEP_L - Origin;
  localparam integer TapXDeltaL = wc_cmd_pkg::GEMM_A_TAP_X_DELTA_L - Origin;
  localparam integer TapYDeltaL = wc_cmd_pkg::GEMM_A_TAP_Y_DELTA_L - Origin;
  localparam integer BlockDeltaL = wc_cmd_pkg::GEMM_A_BLOCK_DELTA_L - Origin;
  localparam integer ChanDeltaL = wc_cmd_pkg::GEMM_A_CHAN_DELTA_L - Origin;
  localparam integer ChanTotalL = wc_cmd_pkg::GEMM_A_CHAN_TOTAL_L - Origin;
  localparam integer ChanBlockL = wc_cmd_pkg::GEMM_A_CHAN_BLOCK_L - Origin;
  localparam integer TapYStartL = wc_cmd_pkg::GEMM_A_TAP_Y_START_L - Origin;
  localparam integer TapXStartL = wc_cmd_pkg::GEMM_A_TAP_X_START_L - Origin;
  localparam integer ChanStartL = wc_cmd_pkg::GEMM_A_CHAN_START_L - Origin;
  localparam integer TapYPosL = wc_cmd_pkg::GEMM_A_TAP_Y_POS_L - Origin;
  localparam integer TapXPosL = wc_cmd_pkg::GEMM_A_TAP_X_POS_L - Origin;
  localparam integer RunLengthL = wc_cmd_pkg::GEMM_A_RUN_LENGTH_L - Origin;
  localparam integer RunStartL = wc_cmd_pkg::GEMM_A_RUN_START_L - Origin;

  wire        per_channel = fields_i[ModeL+:8] == 8'd2;
  wire [15:0] chan_total = fields_i[ChanTotalL+:16];
  wire [15:0] chan_block = fields_i[ChanBlockL+:16];
  wire [31:0] ty_step = {{16{fields_i[TapYStepL+15]}}, fields_i[TapYStepL+:16]};
  wire [31:0] tx_step = {{16{fields_i[TapXStepL+15]}}, fields_i[TapXStepL+:16]};

  reg [15:0] channels_q, channels_d;  // channels from the start of this block on
  reg [15:0] block_q, block_d;        // channels of this block
  reg [7:0]  r_q, r_d, s_q, s_d;
  reg [15:0] c_q, c_d;
  reg [15:0] run_q, run_d;
  reg [31:0] toff_q, toff_d, eoff_q, eoff_d;
  reg [31:0] ty_q, ty_d, tx_q, tx_d;
  reg        ended_q, ended_d;

  localparam integer StateBits = 209;
  reg  [StateBits-1:0] saved_q;
  wire [StateBits-1:0] advanced = {channels_d, block_d, r_d, s_d, c_d, run_d, toff_d, eoff_d, ty_d, tx_d, ended_d};

  // Where a command begins; in mode 1 every vector begins there.
  wire        load_pixels = load_fields_i[ModeL+:8] == 8'd1;
  wire [15:0] load_total = load_fields_i[ChanTotalL+:16];
  wire [15:0] load_max = load_fields_i[ChanBlockL+:16];
  wire [15:0] load_block = (load_max < load_total) ? load_max : load_total;
  wire [31:0] ty_start = {{16{load_fields_i[TapYPosL+15]}}, load_fields_i[TapYPosL+:16]};
  wire [31:0] tx_start = {{16{load_fields_i[TapXPosL+15]}}, load_fields_i[TapXPosL+:16]};
  wire [StateBits-1:0] first = load_pixels
      ? {load_total, load_block, load_fields_i[TapYStartL+:8], load_fields_i[TapXStartL+:8], load_fields_i[ChanStartL+:16],
         load_fields_i[RunStartL+:16], 32'd0, {15'd0, load_fields_i[ChanStartL+:16], 1'b0}, ty_start, tx_start, 1'b0}
      : {load_total, load_block, 8'd0, 8'd0, 16'd0, 16'd0, 32'd0, 32'd0, 32'd0, 32'd0, 1'b0};

  assign offset_o = eoff_q;
  assign ty_o = ty_q;
  assign tx_o = tx_q;
  assign ended_o = ended_q;
  assign left_o = row_merged_i ? fields_i[RunLengthL+:16] - run_q : block_q - c_q;

  // The state after len_i elements.
  wire        tap_end = len_i == left_o;
  wire        row_end = tap_end && (row_merged_i || {1'b0, s_q} + 9'd1 == {1'b0, fields_i[TapsXL+:8]});
  wire        block_end = row_end && {1'b0, r_q} + 9'd1 == {1'b0, fields_i[TapsYL+:8]};
  wire        walk_end = block_end && channels_q <= block_q;
  wire [31:0] eoff_next = eoff_q + (per_channel ? fields_i[ChanDeltaL+:32] : {15'd0, len_i, 1'b0});
  // Offset of the row's last tap: in a merged row the present position lies one tap beyond it.
  wire [31:0] toff_last = row_merged_i ? eoff_next - {15'd0, chan_total, 1'b0} : toff_q;
  wire [15:0] channels_next = walk_end ? chan_total : channels_q - block_q;

  always @(*) begin
    channels_d = channels_q;
    block_d = block_q;
    r_d = r_q;
    s_d = s_q;
    c_d = c_q + len_i;
    run_d = run_q + len_i;
    toff_d = toff_q;
    eoff_d = eoff_next;
    ty_d = ty_q;
    tx_d = tx_q;
    ended_d = ended_q;
    if (tap_end) begin
      c_d = 16'd0;
      if (!row_end) begin
        s_d = s_q + 8'd1;
        tx_d = tx_q + tx_step;
        toff_d = toff_q + fields_i[TapXDeltaL+:32];
      end else begin
        s_d = 8'd0;
        run_d = 16'd0;
        tx_d = 32'd0;
        if (!block_end) begin
          r_d = r_q + 8'd1;
          ty_d = ty_q + ty_step;
          toff_d = toff_last + fields_i[TapYDeltaL+:32];
        end else begin
          r_d = 8'd0;
          ty_d = 32'd0;
          toff_d = walk_end ? 32'd0 : toff_last + fields_i[BlockDeltaL+:32];
          channels_d = channels_next;
          if (walk_end) ended_d = 1'b1;
          block_d = (chan_block < channels_next) ? chan_block : channels_next;
        end
      end
      eoff_d = toff_d;
    end
  end

  always @(posedge clk_i)
    if (load_i) begin
      {channels_q, block_q, r_q, s_q, c_q, run_q, toff_q, eoff_q, ty_q, tx_q, ended_q} <= first;
      saved_q <= first;
    end else if (restore_i) begin
      {channels_q, block_q, r_q, s_q, c_q, run_q, toff_q, eoff_q, ty_q, tx_q, ended_q} <= saved_q;
    end else if (advance_i) begin
      {channels_q, block_q, r_q, s_q, c_q, run_q, toff_q, eoff_q, ty_q, tx_q, ended_q} <= advanced;
      if (commit_i) saved_q <= advanced;
    end

  wire unused = &{1'b0, load_fields_i, fields_i};
endmodule
`default_nettype wire
