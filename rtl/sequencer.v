// SPDX-License-Identifier: Apache-2.0
//
// Takes commands in order from ring_fetch, checks each (cmd_check and the waits), and puts it into its engine's queue; counts what the
// engines complete; keeps the first error and stops the device.
//
// Engines are numbered as the wait fields are: 0 load, 1 gemm, 2 vector, 3 store.
//
// A command that fails its check is reported only when every command before it is complete, so the index kept is the lowest, and
// whatever was issued before has had its whole effect; an engine's error is reported at once, the lowest index if several come in
// one cycle. halt_o then keeps the engines from any further access.
//
// Two cycles per command beyond the fetch: check, dispatch. A full queue holds up the commands behind it.
`default_nettype none

module sequencer #(
    parameter integer Rows      = 16,
    parameter integer Cols      = 16,
    parameter integer AccRows   = 256,
    parameter integer GbufBytes = 65536,
    parameter integer BusBytes  = 16
) (
    input  wire            clk_i,
    input  wire            rst_ni,
    input  wire            stop_i,          // soft reset is coming: release nothing more
    output wire            halt_o,

    input  wire            cmd_valid_i,
    output wire            cmd_ready_o,
    input  wire [2047:0]   cmd_i,
    input  wire [31:0]     cmd_index_i,
    input  wire [7:0]      cmd_status_i,

    output wire [3:0]      eng_valid_o,
    input  wire [3:0]      eng_ready_i,
    output wire [4*2048-1:0] eng_cmd_o,
    output wire [4*32-1:0] eng_index_o,
    input  wire [3:0]      eng_done_i,
    input  wire [3:0]      eng_error_i,
    input  wire [31:0]     eng_status_i,    // 4 x 8
    input  wire [4*32-1:0] eng_error_index_i,

    output wire [4:0]      cause_o,         // what the array waits for when it has no wave left: see stall_cause
    output wire [31:0]     done_o,          // commands complete
    output wire            error_o,
    output wire [7:0]      error_status_o,
    output wire [31:0]     error_index_o
);
  localparam integer TransferBits = wc_cmd_pkg::LOAD_GBUF_STRIDE2_L + 32;

  // ---- check -------------------------------------------------------------------------------------
  reg  checked_q;  // status_q is that of the command at the head
  wire bad_opcode, bad_field, misaligned;

  cmd_check #(
      .Rows     (Rows),
      .Cols     (Cols),
      .AccRows  (AccRows),
      .GbufBytes(GbufBytes),
      .BusBytes (BusBytes)
  ) u_check (
      .valid_i     (cmd_valid_i && !checked_q),
      .cmd_i       (cmd_i),
      .bad_field_o (bad_field),
      .misaligned_o(misaligned),
      .bad_opcode_o(bad_opcode)
  );

  // Commands issued and complete, per engine.
  reg  [31:0] issued_load_q, issued_gemm_q, issued_vector_q, issued_store_q;
  reg  [31:0] done_load_q, done_gemm_q, done_vector_q, done_store_q;

  wire dependence = (cmd_i[wc_cmd_pkg::LOAD_WAIT_LOAD_L+:32]   > issued_load_q)
                 || (cmd_i[wc_cmd_pkg::LOAD_WAIT_GEMM_L+:32]   > issued_gemm_q)
                 || (cmd_i[wc_cmd_pkg::LOAD_WAIT_VECTOR_L+:32] > issued_vector_q)
                 || (cmd_i[wc_cmd_pkg::LOAD_WAIT_STORE_L+:32]  > issued_store_q);

  reg  [7:0] status_d;
  always @(*) begin
    status_d = wc_cmd_pkg::STATUS_OK;
    if (cmd_status_i != wc_cmd_pkg::STATUS_OK) status_d = cmd_status_i;
    else if (bad_opcode) status_d = wc_cmd_pkg::STATUS_BAD_OPCODE;
    else if (cmd_i[wc_cmd_pkg::LOAD_VERSION_L+:8] != wc_cmd_pkg::CmdVersion) status_d = wc_cmd_pkg::STATUS_BAD_VERSION;
    else if (bad_field) status_d = wc_cmd_pkg::STATUS_BAD_FIELD;
    else if (misaligned) status_d = wc_cmd_pkg::STATUS_MISALIGNED;
    else if (dependence) status_d = wc_cmd_pkg::STATUS_DEPENDENCE;
  end

  reg  [7:0] status_q;
  wire       good = checked_q && (status_q == wc_cmd_pkg::STATUS_OK);

  // ---- dispatch ----------------------------------------------------------------------------------
  wire [7:0] opcode = cmd_i[wc_cmd_pkg::LOAD_OPCODE_L+:8];
  wire [3:0] queue  = {opcode == wc_cmd_pkg::OP_STORE, (opcode == wc_cmd_pkg::OP_VECTOR) || (opcode == wc_cmd_pkg::OP_SIMD),
                       opcode == wc_cmd_pkg::OP_GEMM, opcode == wc_cmd_pkg::OP_LOAD};
  wire [3:0] queue_ready;
  wire [3:0] push = (good && !halt_o) ? queue & queue_ready : 4'd0;

  assign cmd_ready_o = push != 4'd0;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      checked_q       <= 1'b0;
      status_q        <= wc_cmd_pkg::STATUS_OK;
      issued_load_q   <= 32'd0;
      issued_gemm_q   <= 32'd0;
      issued_vector_q <= 32'd0;
      issued_store_q  <= 32'd0;
      done_load_q     <= 32'd0;
      done_gemm_q     <= 32'd0;
      done_vector_q   <= 32'd0;
      done_store_q    <= 32'd0;
    end else begin
      if (cmd_ready_o) checked_q <= 1'b0;
      else if (cmd_valid_i && !checked_q) begin
        checked_q <= 1'b1;
        status_q  <= status_d;
      end
      if (push[0]) issued_load_q <= issued_load_q + 32'd1;
      if (push[1]) issued_gemm_q <= issued_gemm_q + 32'd1;
      if (push[2]) issued_vector_q <= issued_vector_q + 32'd1;
      if (push[3]) issued_store_q <= issued_store_q + 32'd1;
      if (eng_done_i[0]) done_load_q <= done_load_q + 32'd1;
      if (eng_done_i[1]) done_gemm_q <= done_gemm_q + 32'd1;
      if (eng_done_i[2]) done_vector_q <= done_vector_q + 32'd1;
      if (eng_done_i[3]) done_store_q <= done_store_q + 32'd1;
    end

  assign done_o = done_load_q + done_gemm_q + done_vector_q + done_store_q;

  wire [3:0]     waiting;
  wire [4*4-1:0] unmet, count;

  genvar e;
  generate
    for (e = 0; e < 4; e = e + 1) begin : g_queue
      cmd_queue #(
          .Width(((e == 1) || (e == 2)) ? wc_cmd_pkg::CmdBits : TransferBits),
          .Depth((e == 1) ? 8 : 4)
      ) u_queue (
          .clk_i        (clk_i),
          .rst_ni       (rst_ni),
          .halt_i       (halt_o),
          .push_i       (push[e]),
          .ready_o      (queue_ready[e]),
          .cmd_i        (cmd_i),
          .index_i      (cmd_index_i),
          .done_load_i  (done_load_q),
          .done_gemm_i  (done_gemm_q),
          .done_vector_i(done_vector_q),
          .done_store_i (done_store_q),
          .cmd_valid_o  (eng_valid_o[e]),
          .cmd_ready_i  (eng_ready_i[e]),
          .cmd_o        (eng_cmd_o[2048*e+:2048]),
          .cmd_index_o  (eng_index_o[32*e+:32]),
          .waiting_o    (waiting[e]),
          .unmet_o      (unmet[4*e+:4]),
          .count_o      (count[4*e+:4])
      );
    end
  endgenerate

  // ---- what the array waits for ------------------------------------------------------------------
  // Of the commands issued and not complete, the queue's wait and the others have begun.
  stall_cause u_stall_cause (
      .waiting_i(waiting[1]),
      .unmet_i  (unmet[7:4]),
      .ready_i  (eng_ready_i[1]),
      .full_i   (good ? queue & ~queue_ready : 4'd0),
      .at_work_i({issued_store_q - done_store_q != {28'd0, count[15:12]}, issued_vector_q - done_vector_q != {28'd0, count[11:8]},
                  issued_gemm_q - done_gemm_q != {28'd0, count[7:4]}, issued_load_q - done_load_q != {28'd0, count[3:0]}}),
      .cause_o  (cause_o)
  );
  wire unused = &{1'b0, waiting, unmet, 1'b0};

  // ---- errors ------------------------------------------------------------------------------------
  // A bad command's turn comes when all before it are complete.
  wire bad_turn = checked_q && !good && (cmd_index_i == done_o);

  reg        error_q;
  reg  [7:0] error_status_q;
  reg [31:0] error_index_q;

  // The lowest index among the engines that report in this cycle.
  reg        found_d;
  reg  [7:0] found_status_d;
  reg [31:0] found_index_d;
  integer    i;
  always @(*) begin
    found_d        = bad_turn;
    found_status_d = status_q;
    found_index_d  = cmd_index_i;
    for (i = 0; i < 4; i = i + 1)
      if (eng_error_i[i] && (!found_d || (eng_error_index_i[32*i+:32] < found_index_d))) begin
        found_d        = 1'b1;
        found_status_d = eng_status_i[8*i+:8];
        found_index_d  = eng_error_index_i[32*i+:32];
      end
  end

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      error_q        <= 1'b0;
      error_status_q <= wc_cmd_pkg::STATUS_OK;
      error_index_q  <= 32'd0;
    end else if (!error_q && !stop_i && found_d) begin
      error_q        <= 1'b1;
      error_status_q <= found_status_d;
      error_index_q  <= found_index_d;
    end

  assign error_o        = error_q;
  assign error_status_o = error_status_q;
  assign error_index_o  = error_index_q;
  assign halt_o         = error_q || stop_i;

`ifdef WC_ASSERT
  // No engine completes more than it was given.
  sequencer_issued: assert property (@(posedge clk_i) disable iff (!rst_ni)
    done_load_q <= issued_load_q && done_gemm_q <= issued_gemm_q && done_vector_q <= issued_vector_q && done_store_q <= issued_store_q)
  else $error("sequencer: an engine completed a command that was not issued");
`endif
endmodule
`default_nettype wire
