// SPDX-License-Identifier: Apache-2.0
//
// Fetches commands [head, TAIL) from the ring in memory, command i from RING_BASE + (i mod RING_SIZE) * 256, one burst each, and hands them
// over in order, whole. Up to Ahead commands are in flight or waiting; their space is reserved before a burst is asked for, so that
// the ring never stalls the read channel that it shares with the loads.
//
// The ring's base is a multiple of 256, so no burst crosses a 4 KiB page. A command whose slot lies outside the memory window is
// not fetched, one whose beats came with an error response is not to be trusted; both are handed over with the status that says
// so, in their turn.
//
// head_o counts the commands whose last beat has arrived: the host may overwrite their slots.
`default_nettype none

module ring_fetch #(
    parameter integer BusBytes = 16
) (
    input  wire                  clk_i,
    input  wire                  rst_ni,
    input  wire                  run_i,
    input  wire                  halt_i,        // ask for nothing more
    output wire                  quiet_o,       // no burst is in flight

    input  wire [63:0]           ring_base_i,   // multiple of 256
    input  wire [31:0]           ring_size_i,   // slots
    input  wire [31:0]           tail_i,
    input  wire [63:0]           mem_base_i,
    input  wire [63:0]           mem_limit_i,
    output wire [31:0]           head_o,

    output wire                  ar_valid_o,
    input  wire                  ar_ready_i,
    output wire [63:0]           ar_addr_o,
    output wire [7:0]            ar_len_o,
    input  wire                  r_valid_i,
    output wire                  r_ready_o,
    input  wire [BusBytes*8-1:0] r_data_i,
    input  wire                  r_error_i,

    output wire                  cmd_valid_o,
    input  wire                  cmd_ready_i,
    output wire [2047:0]         cmd_o,
    output wire [31:0]           cmd_index_o,
    output wire [7:0]            cmd_status_o   // ok, memory_range or axi_error: of the fetch itself
);
  localparam integer Ahead    = 4;
  localparam integer BusBits  = BusBytes * 8;
  localparam integer Beats    = wc_cmd_pkg::CmdBytes / BusBytes;
  localparam integer BeatBits = $clog2(Beats);

  // ---- asking ------------------------------------------------------------------------------------
  reg  [31:0] asked_q;   // commands whose burst was asked for
  reg  [31:0] slot_q;    // asked_q mod RING_SIZE
  reg  [31:0] head_q;    // commands whose beats have all arrived
  reg  [31:0] index_q;   // commands handed over

  wire [63:0] slot_addr  = ring_base_i + {24'd0, slot_q, 8'd0};
  wire        slot_bad   = (slot_addr < mem_base_i) || (slot_addr > mem_limit_i) || (mem_limit_i - slot_addr < 64'd256);
  wire        wanted     = run_i && (asked_q != tail_i);
  wire [31:0] reserved   = asked_q - index_q;
  wire        ask        = ar_valid_o && ar_ready_i;

  assign ar_valid_o = wanted && !slot_bad && !halt_i && (reserved < Ahead);
  assign ar_addr_o  = slot_addr;
  assign ar_len_o   = Beats[7:0] - 8'd1;
  assign head_o     = head_q;
  assign quiet_o    = asked_q == head_q;

  // ---- arriving ----------------------------------------------------------------------------------
  reg  [BeatBits-1:0] arrived_q;
  wire                arrive = r_valid_i && r_ready_o;
  wire                beat_valid, beat_error, beat_pop;
  wire [BusBits-1:0]  beat_data;
  wire [$clog2(Ahead*Beats):0] beat_count;

  fifo #(
      .Width(BusBits + 1),
      .Depth(Ahead * Beats)
  ) u_beats (
      .clk_i  (clk_i),
      .rst_ni (rst_ni),
      .push_i (arrive),
      .data_i ({r_error_i, r_data_i}),
      .ready_o(r_ready_o),
      .valid_o(beat_valid),
      .data_o ({beat_error, beat_data}),
      .pop_i  (beat_pop),
      .count_o(beat_count)
  );

  // ---- putting together --------------------------------------------------------------------------
  reg  [2047:0]       cmd_q;
  reg  [BeatBits-1:0] filled_q;
  reg                 whole_q;
  reg                 error_q;
  wire                give = cmd_valid_o && cmd_ready_i;

  // A slot out of range is reported when all commands before it have been handed over.
  wire                stuck = wanted && slot_bad && (asked_q == index_q);

  assign beat_pop     = beat_valid && !whole_q;
  assign cmd_valid_o  = whole_q || stuck;
  assign cmd_o        = cmd_q;
  assign cmd_index_o  = index_q;
  assign cmd_status_o = stuck   ? wc_cmd_pkg::STATUS_MEMORY_RANGE :
                        error_q ? wc_cmd_pkg::STATUS_AXI_ERROR : wc_cmd_pkg::STATUS_OK;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      asked_q   <= 32'd0;
      slot_q    <= 32'd0;
      head_q    <= 32'd0;
      index_q   <= 32'd0;
      arrived_q <= {BeatBits{1'b0}};
      filled_q  <= {BeatBits{1'b0}};
      whole_q   <= 1'b0;
      error_q   <= 1'b0;
    end else begin
      if (ask) begin
        asked_q <= asked_q + 32'd1;
        slot_q  <= (slot_q + 32'd1 >= ring_size_i) ? 32'd0 : slot_q + 32'd1;
      end
      if (arrive) begin
        arrived_q <= arrived_q + 1'b1;
        if (&arrived_q) head_q <= head_q + 32'd1;
      end
      if (beat_pop) begin
        filled_q <= filled_q + 1'b1;
        whole_q  <= &filled_q;
        error_q  <= error_q || beat_error;
      end
      if (give) begin
        index_q <= index_q + 32'd1;
        whole_q <= 1'b0;
        error_q <= 1'b0;
      end
    end

  always @(posedge clk_i) if (beat_pop) cmd_q[filled_q*BusBits+:BusBits] <= beat_data;

  wire unused = &{1'b0, beat_count, 1'b0};

`ifdef WC_ASSERT
  // Space was reserved for every beat: the shared read channel is never held up.
  ring_fetch_space: assert property (@(posedge clk_i) disable iff (!rst_ni) !(r_valid_i && !r_ready_o))
  else $error("ring_fetch: a beat came without space reserved");
`endif
endmodule
`default_nettype wire
