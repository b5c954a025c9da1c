// SPDX-License-Identifier: Apache-2.0
//
// The loop nest of a SIMD command, walked ahead of its execution (rtl/README.md, "Vector unit"):
//
//   for n, for block { PROLOGUE; for y { ROW; for x { PIXEL; for the taps inside the image { TAP }; PIXEL_END }; ROW_END }; EPILOGUE }
//
// Flat programs walk the blocks in place of x. Where a part of the program has operations, a token tells the executing side of it, and each
// stream that it reads or writes is offered as an access, one a cycle, in the order of its operations. Streams that are switched off
// are passed over. Taps outside the image take a cycle, parts without operations one at most; loops around nothing are not entered.
//
// An access outside the buffer or out of alignment is not offered: the walk stops for good with failed_o.
`default_nettype none

module simd_walk #(
    parameter integer GbufBytes = 65536
) (
    input  wire          clk_i,
    input  wire          rst_ni,
    input  wire          start_i,
    input  wire [2047:0] cmd_i,           // stands still while the walk runs
    output wire          running_o,
    output reg           failed_o,
    output reg  [7:0]    status_o,

    // The program.
    input  wire          flat_i,
    input  wire [6:0]    parts_i,
    output wire [2:0]    part_o,
    input  wire [7:0]    first_ref_i,
    input  wire [2:0]    refs_i,
    output wire [7:0]    ref_o,
    input  wire          ref_write_i,
    input  wire [2:0]    ref_stream_i,

    output wire          token_valid_o,
    input  wire          token_ready_i,
    output wire [15:0]   tap_o,           // number of the tap
    output wire [31:0]   channel_o,       // of lane 0
    output wire [15:0]   active_o,        // lanes with a channel

    output wire          read_valid_o,
    input  wire          read_ready_i,
    output wire          write_valid_o,
    input  wire          write_ready_i,
    output wire [31:0]   byte_o,
    output wire [15:0]   bytes_o,
    output wire [3:0]    shift_o,
    output wire [3:0]    type_o
);
  reg running_q;
  assign running_o = running_q;

  // ---- where the walk is -------------------------------------------------------------------------
  reg  [2:0]  part_q, ref_q;
  reg  [15:0] n_left_q, y_left_q, x_left_q;  // after the present one
  reg  [7:0]  tap_y_left_q, tap_x_left_q;
  reg  [31:0] channel_q, channels_left_q;    // of the present block on
  reg  [31:0] y_q, x_q, tap_y_q, tap_x_q;    // image positions
  reg  [15:0] number_q, number_row_q;

  wire [31:0] block_step = cmd_i[wc_cmd_pkg::SIMD_BLOCK_STEP_L+:32];
  wire [31:0] channels = cmd_i[wc_cmd_pkg::SIMD_CHANNELS_L+:32];
  wire [15:0] block = cmd_i[wc_cmd_pkg::SIMD_BLOCK_L+:16];
  wire        last_block = channels_left_q <= block_step;

  wire has_tap = parts_i[wc_simd_pkg::PART_TAP];
  wire has_end = parts_i[wc_simd_pkg::PART_PIXEL_END];
  wire has_pixels = parts_i[wc_simd_pkg::PART_PIXEL] || has_tap || has_end;
  wire has_rows = parts_i[wc_simd_pkg::PART_ROW] || parts_i[wc_simd_pkg::PART_ROW_END] || has_pixels;

  wire in_image = (tap_y_q < {16'd0, cmd_i[wc_cmd_pkg::SIMD_Y_SIZE_L+:16]}) && (tap_x_q < {16'd0, cmd_i[wc_cmd_pkg::SIMD_X_SIZE_L+:16]});
  wire here = parts_i[part_q] && ((part_q != wc_simd_pkg::PART_TAP) || in_image);

  // ---- the access --------------------------------------------------------------------------------
  wire [1:0]  level = (part_q == wc_simd_pkg::PART_TAP) ? 2'd3
                     : ((part_q == wc_simd_pkg::PART_PIXEL) || (part_q == wc_simd_pkg::PART_PIXEL_END)) ? 2'd2
                     : ((part_q == wc_simd_pkg::PART_ROW) || (part_q == wc_simd_pkg::PART_ROW_END)) ? 2'd1 : 2'd0;
  wire        next_n, next_block, next_y, next_x, taps, next_tap_y, next_tap_x;
  wire [31:0] address, fields_end;
  wire        range, odd;

  simd_streams u_streams (
      .clk_i       (clk_i),
      .load_i      (start_i),
      .flat_i      (flat_i),
      .cmd_i       (cmd_i),
      .next_n_i    (next_n),
      .next_block_i(next_block),
      .next_y_i    (next_y),
      .next_x_i    (next_x),
      .taps_i      (taps),
      .next_tap_y_i(next_tap_y),
      .next_tap_x_i(next_tap_x),
      .read_i      (running_q),
      .stream_i    (ref_stream_i),
      .level_i     (level),
      .address_o   (address)
  );

  assign type_o    = cmd_i[wc_cmd_pkg::SIMD_TYPE0_L+8*ref_stream_i+:4];
  assign channel_o = channel_q;
  assign active_o  = (channels_left_q < {16'd0, block}) ? channels_left_q[15:0] : block;

  simd_access #(
      .GbufBytes(GbufBytes)
  ) u_access (
      .address_i(address),
      .type_i   (type_o),
      .active_i (active_o),
      .byte_o   (byte_o),
      .bytes_o  (bytes_o),
      .shift_o  (shift_o),
      .end_o    (fields_end),
      .range_o  (range),
      .odd_o    (odd)
  );

  // Bit fields go on where the last ones written ended, or begin a half.
  reg         fields_valid_q;
  reg  [31:0] fields_end_q;
  wire        fields = type_o > 4'd2;
  wire        torn = fields && ref_write_i && (shift_o != 4'd0) && !(fields_valid_q && (fields_end_q == address));

  wire [7:0] masks = ref_write_i ? cmd_i[wc_cmd_pkg::SIMD_OFF_L+:8] : cmd_i[wc_cmd_pkg::SIMD_ZERO_L+:8];
  wire       access = running_q && here && (refs_i != 3'd0) && !masks[ref_stream_i];
  wire       bad = access && (range || odd || torn);
  wire       token = running_q && here && (ref_q == 3'd0);

  // Token and access of a step go together.
  wire access_ready = !access || (ref_write_i ? write_ready_i : read_ready_i);
  wire token_ready = !token || token_ready_i;
  wire step = running_q && !bad && access_ready && token_ready;

  assign part_o        = part_q;
  assign ref_o         = first_ref_i + {5'd0, ref_q};
  assign tap_o         = number_q;
  assign token_valid_o = token && !bad && access_ready;
  assign read_valid_o  = access && !bad && token_ready && !ref_write_i;
  assign write_valid_o = access && !bad && token_ready && ref_write_i;

  // ---- from part to part -------------------------------------------------------------------------
  wire leave = step && (!here || ({1'b0, ref_q} + 4'd1 >= {1'b0, refs_i}));
  wire last_x = flat_i ? last_block : x_left_q == 16'd0;
  wire last_tap_x = tap_x_left_q == 8'd0;
  wire last_tap = last_tap_x && (tap_y_left_q == 8'd0);
  wire last_y = y_left_q == 16'd0;
  wire last_n = n_left_q == 16'd0;

  // Where a row begins.
  wire [2:0] row = parts_i[wc_simd_pkg::PART_ROW] ? wc_simd_pkg::PART_ROW
                 : has_pixels ? wc_simd_pkg::PART_PIXEL : wc_simd_pkg::PART_ROW_END;

  reg [2:0] part_d;
  reg       ends_pixel, ends_row;
  always @(*) begin
    part_d     = part_q;
    ends_pixel = 1'b0;
    ends_row   = 1'b0;
    case (part_q)
      wc_simd_pkg::PART_PROLOGUE: part_d = has_rows ? row : wc_simd_pkg::PART_EPILOGUE;
      wc_simd_pkg::PART_ROW:      part_d = has_pixels ? wc_simd_pkg::PART_PIXEL : wc_simd_pkg::PART_ROW_END;
      wc_simd_pkg::PART_PIXEL: begin
        ends_pixel = !has_tap && !has_end;
        part_d     = has_tap ? wc_simd_pkg::PART_TAP : wc_simd_pkg::PART_PIXEL_END;
      end
      wc_simd_pkg::PART_TAP: begin
        ends_pixel = last_tap && !has_end;
        part_d     = last_tap ? wc_simd_pkg::PART_PIXEL_END : wc_simd_pkg::PART_TAP;
      end
      wc_simd_pkg::PART_PIXEL_END: ends_pixel = 1'b1;
      wc_simd_pkg::PART_ROW_END:  ends_row = 1'b1;
      default:                    part_d = wc_simd_pkg::PART_PROLOGUE;
    endcase
    if (ends_pixel && !last_x) part_d = wc_simd_pkg::PART_PIXEL;
    else if (ends_pixel && parts_i[wc_simd_pkg::PART_ROW_END]) part_d = wc_simd_pkg::PART_ROW_END;
    else if (ends_pixel) ends_row = 1'b1;
    if (ends_row) part_d = last_y ? wc_simd_pkg::PART_EPILOGUE : row;
  end

  wire ends_block = leave && (part_q == wc_simd_pkg::PART_EPILOGUE);
  wire blocks_end = flat_i || last_block;
  assign next_x     = leave && ends_pixel && !last_x;
  assign next_y     = leave && ends_row && !last_y;
  assign next_block = ends_block && !blocks_end;
  assign next_n     = ends_block && blocks_end && !last_n;
  assign taps       = leave && (part_q == wc_simd_pkg::PART_PIXEL) && has_tap;
  assign next_tap_x = leave && (part_q == wc_simd_pkg::PART_TAP) && !last_tap_x;
  assign next_tap_y = leave && (part_q == wc_simd_pkg::PART_TAP) && last_tap_x && !last_tap;

  wire first_channel = start_i || next_n || (flat_i && next_y);
  wire first_row = start_i || next_n || next_block;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      running_q      <= 1'b0;
      failed_o       <= 1'b0;
      fields_valid_q <= 1'b0;
    end else if (start_i) begin
      running_q      <= 1'b1;
      fields_valid_q <= 1'b0;
    end else if (running_q) begin
      if (bad || (ends_block && blocks_end && last_n)) running_q <= 1'b0;
      if (bad) failed_o <= 1'b1;
      if (write_valid_o && write_ready_i && fields) fields_valid_q <= 1'b1;
    end

  always @(posedge clk_i) if (start_i || running_q) begin
    if (bad) status_o <= range ? wc_cmd_pkg::STATUS_BUFFER_RANGE : wc_cmd_pkg::STATUS_MISALIGNED;
    if (write_valid_o && write_ready_i && fields) fields_end_q <= fields_end;

    if (start_i) part_q <= wc_simd_pkg::PART_PROLOGUE;
    else if (leave) part_q <= part_d;
    if (start_i || leave) ref_q <= 3'd0;
    else if (step) ref_q <= ref_q + 3'd1;

    if (first_channel) begin
      channel_q       <= 32'd0;
      channels_left_q <= channels;
    end else if (next_block || (flat_i && next_x)) begin
      channel_q       <= channel_q + block_step;
      channels_left_q <= channels_left_q - block_step;
    end

    if (start_i) n_left_q <= cmd_i[wc_cmd_pkg::SIMD_COUNT_N_L+:16] - 16'd1;
    else if (next_n) n_left_q <= n_left_q - 16'd1;

    if (first_row) begin
      y_left_q <= cmd_i[wc_cmd_pkg::SIMD_COUNT_Y_L+:16] - 16'd1;
      y_q      <= {{16{cmd_i[wc_cmd_pkg::SIMD_Y_FIRST_L+15]}}, cmd_i[wc_cmd_pkg::SIMD_Y_FIRST_L+:16]};
    end else if (next_y) begin
      y_left_q <= y_left_q - 16'd1;
      y_q      <= y_q + {{16{cmd_i[wc_cmd_pkg::SIMD_Y_STEP_L+15]}}, cmd_i[wc_cmd_pkg::SIMD_Y_STEP_L+:16]};
    end

    if (first_row || next_y) begin
      x_left_q <= cmd_i[wc_cmd_pkg::SIMD_COUNT_X_L+:16] - 16'd1;
      x_q      <= {{16{cmd_i[wc_cmd_pkg::SIMD_X_FIRST_L+15]}}, cmd_i[wc_cmd_pkg::SIMD_X_FIRST_L+:16]};
    end else if (next_x) begin
      x_left_q <= x_left_q - 16'd1;
      x_q      <= x_q + {{16{cmd_i[wc_cmd_pkg::SIMD_X_STEP_L+15]}}, cmd_i[wc_cmd_pkg::SIMD_X_STEP_L+:16]};
    end

    if (taps) begin
      tap_y_left_q <= cmd_i[wc_cmd_pkg::SIMD_TAPS_Y_L+:8] - 8'd1;
      tap_y_q      <= y_q;
      number_row_q <= cmd_i[wc_cmd_pkg::SIMD_TAP_FIRST_L+:16];
    end else if (next_tap_y) begin
      tap_y_left_q <= tap_y_left_q - 8'd1;
      tap_y_q      <= tap_y_q + {{16{cmd_i[wc_cmd_pkg::SIMD_TAP_Y_STEP_L+15]}}, cmd_i[wc_cmd_pkg::SIMD_TAP_Y_STEP_L+:16]};
      number_row_q <= number_row_q + cmd_i[wc_cmd_pkg::SIMD_TAP_Y_NUMBER_L+:16];
    end
    if (taps || next_tap_y) begin
      tap_x_left_q <= cmd_i[wc_cmd_pkg::SIMD_TAPS_X_L+:8] - 8'd1;
      tap_x_q      <= x_q;
      number_q     <= taps ? cmd_i[wc_cmd_pkg::SIMD_TAP_FIRST_L+:16] : number_row_q + cmd_i[wc_cmd_pkg::SIMD_TAP_Y_NUMBER_L+:16];
    end else if (next_tap_x) begin
      tap_x_left_q <= tap_x_left_q - 8'd1;
      tap_x_q      <= tap_x_q + {{16{cmd_i[wc_cmd_pkg::SIMD_TAP_X_STEP_L+15]}}, cmd_i[wc_cmd_pkg::SIMD_TAP_X_STEP_L+:16]};
      number_q     <= number_q + cmd_i[wc_cmd_pkg::SIMD_TAP_X_NUMBER_L+:16];
    end
  end

  // The header, the program, groups and constants.
  wire unused = &{1'b0, cmd_i, 1'b0};
endmodule
`default_nettype wire
