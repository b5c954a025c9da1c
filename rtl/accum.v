// SPDX-License-Identifier: Apache-2.0
//
// Double accumulator: two sides of AccRows rows of Cols fp32 sums. The rows of chunk sums that leave the array, aligned by the
// de-skew, are added to one side while the other is drained or preloaded.
//
//   cycle t      row of chunk sums arrives; the old sums' row is read
//   cycle t + 1  old (or +0 in a first wave without preload) + chunk, written back
//
// A wave's description is pushed when it begins to stream; descriptions leave in that order. finished_o says that this cycle
// writes a tile's last row: a read in the next cycle sees it. The next wave's rows come at least 4 cycles after this wave's, so a
// row is never read before it is written.
//
// A drain may still be reading a side whose next tile's first wave arrives, if that wave starts from +0 and so does not read:
// arrive_* let the drain keep ahead of it.
`default_nettype none

module accum #(
    parameter integer Cols      = 16,
    parameter integer AccRows   = 256,
    parameter integer WaveDepth = 16    // descriptions held: waves between first vector and last sum
) (
    input  wire               clk_i,
    input  wire               rst_ni,

    input  wire               wave_push_i,
    input  wire               wave_side_i,
    input  wire               wave_first_i,
    input  wire               wave_zero_i,
    input  wire               wave_last_i,
    input  wire [15:0]        wave_rows_i,
    input  wire [31:0]        wave_index_i,     // of the command
    input  wire [31:0]        wave_number_i,    // in the tile

    input  wire               psum_valid_i,
    input  wire [Cols*32-1:0] psum_i,

    output wire               arrive_first_o,   // a tile's first wave arrives next or is arriving
    output wire               arrive_side_o,
    output wire [15:0]        arrive_row_o,

    input  wire               preload_write_i,
    input  wire               preload_side_i,
    input  wire [15:0]        preload_row_i,
    input  wire [Cols*32-1:0] preload_data_i,

    input  wire               drain_read_i,
    input  wire               drain_side_i,
    input  wire [15:0]        drain_row_i,
    output wire [Cols*32-1:0] drain_data_o,     // of the side read last

    output wire               finished_o,

    output wire               acc_valid_o,      // a row after the addition
    output wire [15:0]        acc_row_o,
    output wire [31:0]        acc_wave_o,
    output wire [31:0]        acc_index_o,
    output wire [Cols*32-1:0] acc_bits_o
);
  localparam integer DescBits = 4 + 16 + 32 + 32;
  localparam integer Bits = Cols * 32;

  // ---- descriptions of the waves in the array ----
  wire                       desc_valid, desc_ready;
  wire [$clog2(WaveDepth):0] desc_count;
  wire                       side, first, zero, last;
  wire [15:0]                rows;
  wire [31:0]                index, number;
  reg  [15:0]                row_q;
  wire                       row_last = row_q + 16'd1 == rows;

  fifo #(
      .Width(DescBits),
      .Depth(WaveDepth)
  ) u_waves (
      .clk_i  (clk_i),
      .rst_ni (rst_ni),
      .push_i (wave_push_i),
      .data_i ({wave_side_i, wave_first_i, wave_zero_i, wave_last_i, wave_rows_i, wave_index_i, wave_number_i}),
      .ready_o(desc_ready),
      .valid_o(desc_valid),
      .data_o ({side, first, zero, last, rows, index, number}),
      .pop_i  (psum_valid_i && row_last),
      .count_o(desc_count)
  );

  assign arrive_first_o = desc_valid && first;
  assign arrive_side_o  = side;
  assign arrive_row_o   = row_q;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) row_q <= 16'd0;
    else if (psum_valid_i) row_q <= row_last ? 16'd0 : row_q + 16'd1;

  // ---- second cycle ----
  reg            add_valid_q, add_side_q, add_zero_q, add_last_q;
  reg [15:0]     add_row_q;
  reg [31:0]     add_index_q, add_number_q;
  reg [Bits-1:0] psum_q;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) add_valid_q <= 1'b0;
    else add_valid_q <= psum_valid_i;
  always @(posedge clk_i)
    if (psum_valid_i) begin
      add_side_q <= side;
      add_zero_q <= zero;
      add_last_q <= last && row_last;
      add_row_q <= row_q;
      add_index_q <= index;
      add_number_q <= number;
      psum_q <= psum_i;
    end

  wire [Bits-1:0] data0, data1;
  wire [Bits-1:0] sum;
  acc_add #(
      .Cols(Cols)
  ) u_add (
      .valid_i(add_valid_q),
      .zero_i (add_zero_q),
      .old_i  (add_side_q ? data1 : data0),
      .chunk_i(psum_q),
      .sum_o  (sum)
  );

  assign finished_o  = add_valid_q && add_last_q;
  assign acc_valid_o = add_valid_q;
  assign acc_row_o   = add_row_q;
  assign acc_wave_o  = add_number_q;
  assign acc_index_o = add_index_q;
  assign acc_bits_o  = sum;

  // ---- the two sides ----
  wire sum_read = psum_valid_i && !zero;
  wire sum0 = add_valid_q && !add_side_q;
  wire sum1 = add_valid_q && add_side_q;

  row_mem #(
      .Width(Bits),
      .Depth(AccRows)
  ) u_side0 (
      .clk_i      (clk_i),
      .read_i     ((sum_read && !side) || (drain_read_i && !drain_side_i)),
      .read_row_i ((sum_read && !side) ? row_q : drain_row_i),
      .data_o     (data0),
      .write_i    (sum0 || (preload_write_i && !preload_side_i)),
      .write_row_i(sum0 ? add_row_q : preload_row_i),
      .data_i     (sum0 ? sum : preload_data_i)
  );
  row_mem #(
      .Width(Bits),
      .Depth(AccRows)
  ) u_side1 (
      .clk_i      (clk_i),
      .read_i     ((sum_read && side) || (drain_read_i && drain_side_i)),
      .read_row_i ((sum_read && side) ? row_q : drain_row_i),
      .data_o     (data1),
      .write_i    (sum1 || (preload_write_i && preload_side_i)),
      .write_row_i(sum1 ? add_row_q : preload_row_i),
      .data_i     (sum1 ? sum : preload_data_i)
  );

  reg drain_side_q;
  always @(posedge clk_i) if (drain_read_i) drain_side_q <= drain_side_i;
  assign drain_data_o = drain_side_q ? data1 : data0;

  wire unused = &{1'b0, desc_ready, desc_count};

`ifdef WC_ASSERT
  // Every row of sums belongs to a wave that began.
  accum_known: assert property (@(posedge clk_i) disable iff (!rst_ni) !psum_valid_i || desc_valid)
  else $error("accum: sums of no wave");
  accum_inside: assert property (@(posedge clk_i) disable iff (!rst_ni) !psum_valid_i || {16'd0, row_q} < AccRows)
  else $error("accum: row beyond the accumulator");
  // The accumulator is never overrun: a side is written for one purpose at a time, and read for one.
  accum_one_writer: assert property (@(posedge clk_i) disable iff (!rst_ni)
      !(preload_write_i && add_valid_q && preload_side_i == add_side_q))
  else $error("accum: preload into the accumulating side");
  accum_one_reader: assert property (@(posedge clk_i) disable iff (!rst_ni) !(drain_read_i && sum_read && drain_side_i == side))
  else $error("accum: drain of the accumulating side");
`endif
endmodule
`default_nettype wire
