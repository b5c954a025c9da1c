// SPDX-License-Identifier: Apache-2.0
//
// Addresses of the 8 streams of a SIMD command along the loop nest: base + n stride_n + block stride_block + y stride_y + x stride_x
// (+ r tap_y + s tap_x for streams 0 to 3), by addition alone. Each level keeps where it began, so that the levels above it can be read at
// their parts' ends. Addresses wrap at 32 bits; the user checks the range.
`default_nettype none

module simd_streams (
    input  wire          clk_i,
    input  wire          load_i,          // to the nest's start
    input  wire          flat_i,          // x goes from block to block
    input  wire [2047:0] cmd_i,

    input  wire          next_n_i,        // one at most
    input  wire          next_block_i,
    input  wire          next_y_i,
    input  wire          next_x_i,
    input  wire          taps_i,          // to the pixel's first tap
    input  wire          next_tap_y_i,
    input  wire          next_tap_x_i,

    input  wire          read_i,          // address_o is 0 without
    input  wire [2:0]    stream_i,
    input  wire [1:0]    level_i,         // 0 block, 1 row, 2 pixel, 3 tap
    output reg  [31:0]   address_o
);
  reg [255:0] n_q, block_q, y_q, x_q, stride_block_q;
  reg [127:0] tap_row_q, tap_q;

  // Bytes of a block of fp16 or fp32, bits of bit fields; one value for all lanes stands still.
  function automatic [31:0] stride_block(input [3:0] kind, input [31:0] channels);
    stride_block = (kind == 4'd0) ? {channels[30:0], 1'b0} : (kind == 4'd1) ? {channels[29:0], 2'b00}
                 : (kind == 4'd2) ? 32'd0 : channels * {28'd0, kind - 4'd2};
  endfunction

  // In one process with assignments in their order, as in simd_lanes: between the steps nothing of it is evaluated.
  wire        steps = load_i || next_n_i || next_block_i || next_y_i || next_x_i || next_tap_y_i || next_tap_x_i;
  integer     i;
  reg [255:0] d;
  always @(posedge clk_i) begin
    if (steps) begin
      d = 256'd0;
      for (i = 0; i < 8; i = i + 1) begin
        if (load_i) d[32*i+:32] = cmd_i[wc_cmd_pkg::SIMD_S0_BASE_L+128*i+:32];
        else if (next_n_i) d[32*i+:32] = n_q[32*i+:32] + cmd_i[wc_cmd_pkg::SIMD_S0_STRIDE_N_L+128*i+:32];
        else if (next_block_i) d[32*i+:32] = block_q[32*i+:32] + stride_block_q[32*i+:32];
        else if (next_y_i) d[32*i+:32] = y_q[32*i+:32] + cmd_i[wc_cmd_pkg::SIMD_S0_STRIDE_Y_L+128*i+:32];
        else if (next_x_i)
          d[32*i+:32] = x_q[32*i+:32] + (flat_i ? stride_block_q[32*i+:32] : cmd_i[wc_cmd_pkg::SIMD_S0_STRIDE_X_L+128*i+:32]);
      end
      // Streams with taps.
      for (i = 0; i < 4; i = i + 1) begin
        if (next_tap_y_i) d[32*i+:32] = tap_row_q[32*i+:32] + cmd_i[wc_cmd_pkg::SIMD_S0_TAP_Y_L+64*i+:32];
        else if (next_tap_x_i) d[32*i+:32] = tap_q[32*i+:32] + cmd_i[wc_cmd_pkg::SIMD_S0_TAP_X_L+64*i+:32];
      end

      // A level that begins anew takes all below it along.
      if (load_i)
        for (i = 0; i < 8; i = i + 1)
          stride_block_q[32*i+:32] <= stride_block(cmd_i[wc_cmd_pkg::SIMD_TYPE0_L+8*i+:4], cmd_i[wc_cmd_pkg::SIMD_BLOCK_STEP_L+:32]);
      if (load_i || next_n_i) n_q <= d;
      if (load_i || next_n_i || next_block_i) block_q <= d;
      if (load_i || next_n_i || next_block_i || next_y_i) y_q <= d;
      if (load_i || next_n_i || next_block_i || next_y_i || next_x_i) x_q <= d;
    end
    if (taps_i) tap_row_q <= x_q[127:0];
    else if (next_tap_y_i) tap_row_q <= d[127:0];
    if (taps_i) tap_q <= x_q[127:0];
    else if (next_tap_y_i || next_tap_x_i) tap_q <= d[127:0];
  end

  always @(*) begin
    address_o = 32'd0;
    if (read_i)
      case (level_i)
        2'd0:    address_o = block_q[32*stream_i+:32];
        2'd1:    address_o = y_q[32*stream_i+:32];
        2'd2:    address_o = x_q[32*stream_i+:32];
        default: address_o = stream_i[2] ? x_q[32*stream_i+:32] : tap_q[32*stream_i[1:0]+:32];
      endcase
  end

  // The nest.
  wire unused = &{1'b0, cmd_i, 1'b0};
endmodule
`default_nettype wire
