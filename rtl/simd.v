// SPDX-License-Identifier: Apache-2.0
//
// SIMD commands: a small programmable machine of Lanes = LineBytes / 2 lanes on the global buffer's vector port, while the array goes on
// (rtl/README.md, "Vector unit"). It consists of two sides that meet in queues:
//
//   access     simd_walk runs the loop nest ahead; simd_fetch reads what the program will need
//   execution  simd_issue takes the operations of each part that the walk has come to, simd_lanes executes one a cycle, simd_store writes
//
// An operation waits for its vector, or for the store before it. Writes go before reads at the port. One command at a time: no load may
// depend on a store of the same command, unless the same address is read before it is written.
`default_nettype none

module simd #(
    parameter integer GbufBytes = 65536,
    parameter integer LineBytes = 64
) (
    input  wire                   clk_i,
    input  wire                   rst_ni,
    input  wire                   halt_i,
    output wire                   busy_o,

    input  wire                   cmd_valid_i,
    output wire                   cmd_ready_o,
    input  wire [2047:0]          cmd_i,
    input  wire [31:0]            cmd_index_i,
    output reg                    done_o,
    output wire [31:0]            done_index_o,
    output wire                   error_o,
    output wire [7:0]             error_status_o,
    output wire [31:0]            error_index_o,

    output wire                   v_req_o,
    output wire [31:0]            v_addr_o,
    output wire [15:0]            v_size_o,
    output wire                   v_we_o,
    output wire [LineBytes*8-1:0] v_wdata_o,
    input  wire                   v_gnt_i,
    input  wire                   v_rvalid_i,
    input  wire [LineBytes*8-1:0] v_rdata_i
);
  localparam integer Lanes      = LineBytes / 2;
  localparam integer AccessBits = 32 + 16 + 4 + 4 + 16;
  localparam integer TokenBits  = 10 + 10 + 16 + 32 + 16;

  localparam [1:0] IDLE   = 2'd0;
  localparam [1:0] GROUPS = 2'd1;
  localparam [1:0] START  = 2'd2;
  localparam [1:0] RUN    = 2'd3;

  reg  [1:0]    state_q;
  reg  [2047:0] cmd_q;
  reg  [31:0]   index_q;
  wire          load = cmd_valid_i && cmd_ready_o;
  wire          start = state_q == START;

  wire [15:0]   group = cmd_q[wc_cmd_pkg::SIMD_GROUP_L+:16];
  wire [7:0]    zero = cmd_q[wc_cmd_pkg::SIMD_ZERO_L+:8];
  wire [7:0]    off = cmd_q[wc_cmd_pkg::SIMD_OFF_L+:8];

  // ---- the program -------------------------------------------------------------------------------
  wire         flat, grouped;
  wire [6:0]   parts;
  wire [2:0]   part, refs, ref_stream;
  wire [9:0]   first, last, pc;
  wire [7:0]   first_ref, ref_index;
  wire         ref_write;
  wire [22:0]  rom, code;
  wire [31:0]  literal_a, literal_b;
  wire         token_valid, code_valid;

  simd_rom u_rom (
      .walking_i   (busy_o),
      .program_i   (cmd_q[wc_cmd_pkg::SIMD_PROGRAM_L+:5]),
      .flat_o      (flat),
      .grouped_o   (grouped),
      .parts_o     (parts),
      .part_i      (part),
      .first_o     (first),
      .last_o      (last),
      .first_ref_o (first_ref),
      .refs_o      (refs),
      .ref_i       (ref_index),
      .ref_write_o (ref_write),
      .ref_stream_o(ref_stream),
      .issuing_i   (token_valid),
      .pc_i        (pc),
      .code_o      (rom),
      .executing_i (code_valid),
      .literal_a_i (code[12:7]),
      .literal_a_o (literal_a),
      .literal_b_i (code[5:0]),
      .literal_b_o (literal_b)
  );

  // ---- access ------------------------------------------------------------------------------------
  wire        walking, failed, walk_token, token_ready, walk_read, read_ready, walk_write, write_ready;
  wire [15:0] walk_tap, walk_active, walk_bytes;
  wire [31:0] walk_channel, walk_byte;
  wire [3:0]  walk_shift, walk_type;

  simd_walk #(
      .GbufBytes(GbufBytes)
  ) u_walk (
      .clk_i        (clk_i),
      .rst_ni       (rst_ni),
      .start_i      (start),
      .cmd_i        (cmd_q),
      .running_o    (walking),
      .failed_o     (failed),
      .status_o     (error_status_o),
      .flat_i       (flat),
      .parts_i      (parts),
      .part_o       (part),
      .first_ref_i  (first_ref),
      .refs_i       (refs),
      .ref_o        (ref_index),
      .ref_write_i  (ref_write),
      .ref_stream_i (ref_stream),
      .token_valid_o(walk_token),
      .token_ready_i(token_ready),
      .tap_o        (walk_tap),
      .channel_o    (walk_channel),
      .active_o     (walk_active),
      .read_valid_o (walk_read),
      .read_ready_i (read_ready),
      .write_valid_o(walk_write),
      .write_ready_i(write_ready),
      .byte_o       (walk_byte),
      .bytes_o      (walk_bytes),
      .shift_o      (walk_shift),
      .type_o       (walk_type)
  );

  wire        fetch_req, fetch_gnt, vector_valid, vector_take, line, slot_high;
  wire [2:0]  slot, head;
  wire [3:0]  vector_type, vector_shift;
  wire [31:0] fetch_addr;
  wire [15:0] fetch_size;

  assign line = v_rvalid_i && busy_o;

  simd_fetch #(
      .LineBytes(LineBytes)
  ) u_fetch (
      .clk_i         (clk_i),
      .rst_ni        (rst_ni),
      .access_valid_i(walk_read),
      .access_ready_o(read_ready),
      .byte_i        (walk_byte),
      .bytes_i       (walk_bytes),
      .shift_i       (walk_shift),
      .type_i        (walk_type),
      .req_o         (fetch_req),
      .addr_o        (fetch_addr),
      .size_o        (fetch_size),
      .gnt_i         (fetch_gnt),
      .rvalid_i      (line),
      .slot_o        (slot),
      .slot_high_o   (slot_high),
      .valid_o       (vector_valid),
      .head_o        (head),
      .type_o        (vector_type),
      .shift_o       (vector_shift),
      .take_i        (vector_take)
  );

  // ---- what the walk leaves for execution --------------------------------------------------------
  wire                  token_take, place_valid, put;
  wire [TokenBits-1:0]  token;
  wire [AccessBits-1:0] place;
  wire [3:0]            token_count;
  wire [2:0]            place_count;

  fifo #(
      .Width(TokenBits),
      .Depth(8)
  ) u_tokens (
      .clk_i  (clk_i),
      .rst_ni (rst_ni),
      .push_i (walk_token && token_ready),
      .data_i ({first, last, walk_tap, walk_channel, walk_active}),
      .ready_o(token_ready),
      .valid_o(token_valid),
      .data_o (token),
      .pop_i  (token_take),
      .count_o(token_count)
  );
  fifo #(
      .Width(AccessBits),
      .Depth(4)
  ) u_places (
      .clk_i  (clk_i),
      .rst_ni (rst_ni),
      .push_i (walk_write && write_ready),
      .data_i ({walk_byte, walk_bytes, walk_shift, walk_type, walk_active}),
      .ready_o(write_ready),
      .valid_o(place_valid),
      .data_o (place),
      .pop_i  (put),
      .count_o(place_count)
  );

  // ---- execution ---------------------------------------------------------------------------------
  wire        issuing, fire, store_ready;
  wire [15:0] tap, active;
  wire [31:0] channel;

  simd_issue u_issue (
      .clk_i        (clk_i),
      .rst_ni       (rst_ni),
      .busy_o       (issuing),
      .token_valid_i(token_valid),
      .token_take_o (token_take),
      .first_i      (token[83:74]),
      .last_i       (token[73:64]),
      .tap_i        (token[63:48]),
      .channel_i    (token[47:16]),
      .active_i     (token[15:0]),
      .group_i      (group),
      .block_i      (cmd_q[wc_cmd_pkg::SIMD_BLOCK_L+:16]),
      .pc_o         (pc),
      .rom_i        (rom),
      .valid_o      (code_valid),
      .code_o       (code),
      .tap_o        (tap),
      .channel_o    (channel),
      .active_o     (active),
      .fire_i       (fire)
  );

  // A stream that reads as zero needs no vector; one that is not written no place.
  wire a_stream = code[13:10] == 4'd1;
  wire b_stream = code[6:3] == 4'd1;
  wire needs_vector = (a_stream && !zero[code[9:7]]) || (b_stream && !zero[code[2:0]]);
  wire needs_place = code[17] && !off[code[16:14]];

  assign fire        = code_valid && (vector_valid || !needs_vector) && ((place_valid && store_ready) || !needs_place);
  assign vector_take = fire && needs_vector;
  assign put         = fire && needs_place;

  reg  [Lanes-1:0]    first_q;
  wire [Lanes*32-1:0] result;  // of the last put

`ifdef WC_LANES_DPI
  simd_lanes_dpi #(
`else
  simd_lanes #(
`endif
      .LineBytes(LineBytes),
      .Lanes    (Lanes)
  ) u_lanes (
      .clk_i      (clk_i),
      .line_i     (line),
      .slot_i     (slot),
      .slot_high_i(slot_high),
      .rdata_i    (v_rdata_i),
      .fire_i     (fire),
      .code_i     (code),
      .vector_i   (vector_take),
      .head_i     (head),
      .type_i     (vector_type),
      .shift_i    (vector_shift),
      .literal_a_i(literal_a),
      .literal_b_i(literal_b),
      .constants_i(cmd_q[wc_cmd_pkg::SIMD_CONSTANT0_L+:128]),
      .tap_i      (tap),
      .channel_i  (channel),
      .active_i   (active),
      .first_i    (first_q),
      .put_i      (put),
      .put_q      (result)
  );

  wire        store_req, store_gnt, storing;
  wire [31:0] store_addr;
  wire [15:0] store_size;

  simd_store #(
      .LineBytes(LineBytes),
      .Lanes    (Lanes)
  ) u_store (
      .clk_i   (clk_i),
      .rst_ni  (rst_ni),
      .busy_o  (storing),
      .put_i   (put),
      .ready_o (store_ready),
      .lanes_i (result),
      .byte_i  (place[71:40]),
      .bytes_i (place[39:24]),
      .shift_i (place[23:20]),
      .type_i  (place[19:16]),
      .active_i(place[15:0]),
      .req_o   (store_req),
      .addr_o  (store_addr),
      .size_o  (store_size),
      .wdata_o (v_wdata_o),
      .gnt_i   (store_gnt)
  );

  // ---- the port ----------------------------------------------------------------------------------
  // A request that was not granted stays as it is.
  reg  held_q, held_write_q;
  wire writes = held_q ? held_write_q : store_req;

  assign v_req_o   = held_q || ((store_req || fetch_req) && !halt_i);
  assign v_we_o    = writes;
  assign v_addr_o  = writes ? store_addr : fetch_addr;
  assign v_size_o  = writes ? store_size : fetch_size;
  assign store_gnt = v_req_o && v_gnt_i && writes;
  assign fetch_gnt = v_req_o && v_gnt_i && !writes;

  // ---- control -----------------------------------------------------------------------------------
  // Which lanes begin a group is found lane by lane, for programs that ask.
  reg  [15:0] lane_q, place_q;  // lane, its place in its group
  wire        groups_done = lane_q == Lanes[15:0] - 16'd1;
  wire        ends = (state_q == RUN) && !walking && !failed && !issuing && !storing;

  assign cmd_ready_o   = (state_q == IDLE) && !halt_i;
  assign busy_o        = state_q != IDLE;
  assign error_o       = failed;
  assign error_index_o = index_q;
  assign done_index_o  = index_q;

  reg [1:0] state_d;
  always @(*) begin
    state_d = state_q;
    case (state_q)
      IDLE:    if (load) state_d = GROUPS;
      GROUPS:  if (!grouped || groups_done) state_d = START;
      START:   state_d = RUN;
      default: if (ends) state_d = IDLE;
    endcase
  end

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      state_q      <= IDLE;
      done_o       <= 1'b0;
      held_q       <= 1'b0;
      held_write_q <= 1'b0;
    end else begin
      state_q      <= state_d;
      done_o       <= ends;
      held_q       <= v_req_o && !v_gnt_i;
      held_write_q <= writes;
    end

  always @(posedge clk_i)
    if (load) begin
      cmd_q   <= cmd_i;
      index_q <= cmd_index_i;
      lane_q  <= 16'd0;
      place_q <= 16'd0;
    end else if (state_q == GROUPS) begin
      lane_q  <= lane_q + 16'd1;
      place_q <= (place_q + 16'd1 == group) ? 16'd0 : place_q + 16'd1;
      first_q <= {place_q == 16'd0, first_q[Lanes-1:1]};
    end

  wire unused = &{1'b0, token_count, place_count, cmd_q, 1'b0};

`ifdef WC_ASSERT
  // All vectors that were read are used, and all places written.
  simd_used: assert property (@(posedge clk_i) disable iff (!rst_ni) !(ends && (vector_valid || place_valid || fetch_req)))
  else $error("simd: a vector was read and not used, or not written");
`endif
endmodule
`default_nettype wire
