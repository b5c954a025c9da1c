// SPDX-License-Identifier: Apache-2.0
//
// The GEMM engine's tiles between acceptance and the write of their last row. Four stages work on different tiles at a time, each
// in order: preload, weight load (waves), accumulator read for the drain, and completion, which frees the place. Each has a
// pointer and sees its tile.
//
// Pointers count tiles modulo 16; a tile's number is the pointer's value. done <= read <= waves, preload <= pushed <= done + 8.
`default_nettype none

module tile_queue #(
    parameter integer Width    = 64,
    parameter integer TileBits = 4
) (
    input  wire                clk_i,
    input  wire                rst_ni,

    input  wire                push_i,
    output wire                ready_o,
    input  wire [Width-1:0]    tile_i,

    input  wire                preload_next_i,
    output wire                preload_valid_o,
    output wire [TileBits-1:0] preload_tile_o,
    output wire [Width-1:0]    preload_o,

    input  wire                wave_next_i,
    output wire                wave_valid_o,
    output wire [Width-1:0]    wave_o,

    input  wire                read_next_i,
    output wire [TileBits-1:0] read_tile_o,
    output wire [Width-1:0]    read_o,

    input  wire                done_next_i,
    output wire [TileBits-1:0] done_tile_o,
    output wire [Width-1:0]    done_o
);
  localparam integer Depth = 1 << (TileBits - 1);

  reg [Width-1:0]    mem      [0:Depth-1];
  reg [TileBits-1:0] push_q, preload_q, wave_q, read_q, done_q;

  wire [TileBits-1:0] held = push_q - done_q;
  assign ready_o = !held[TileBits-1];

  assign preload_valid_o = preload_q != push_q;
  assign preload_tile_o  = preload_q;
  assign preload_o       = mem[preload_q[TileBits-2:0]];
  assign wave_valid_o    = wave_q != push_q;
  assign wave_o          = mem[wave_q[TileBits-2:0]];
  assign read_tile_o     = read_q;
  assign read_o          = mem[read_q[TileBits-2:0]];
  assign done_tile_o     = done_q;
  assign done_o          = mem[done_q[TileBits-2:0]];

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      push_q <= {TileBits{1'b0}};
      preload_q <= {TileBits{1'b0}};
      wave_q <= {TileBits{1'b0}};
      read_q <= {TileBits{1'b0}};
      done_q <= {TileBits{1'b0}};
    end else begin
      if (push_i) push_q <= push_q + 1'b1;
      if (preload_next_i) preload_q <= preload_q + 1'b1;
      if (wave_next_i) wave_q <= wave_q + 1'b1;
      if (read_next_i) read_q <= read_q + 1'b1;
      if (done_next_i) done_q <= done_q + 1'b1;
    end

  always @(posedge clk_i) if (push_i) mem[push_q[TileBits-2:0]] <= tile_i;

`ifdef WC_ASSERT
  tile_queue_full: assert property (@(posedge clk_i) disable iff (!rst_ni) push_i |-> ready_o)
  else $error("tile_queue: push when full");
  tile_queue_order: assert property (@(posedge clk_i) disable iff (!rst_ni)
      (!wave_next_i || wave_valid_o) && (!preload_next_i || preload_valid_o) && (!read_next_i || read_q != wave_q)
          && (!done_next_i || done_q != push_q))
  else $error("tile_queue: a stage passed another");
`endif
endmodule
`default_nettype wire
