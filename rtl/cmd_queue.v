// SPDX-License-Identifier: Apache-2.0
//
// Commands of one engine, in order, between their dispatch and the moment when what they wait for is complete. The head goes to
// the engine when every engine has completed as many commands as the head's wait fields say. Only the low Width bits of a command
// are kept; the checker has made sure that the rest is zero.
//
// Waits name commands issued earlier, and each queue is in order, so the oldest incomplete command can always go: no deadlock.
`default_nettype none

module cmd_queue #(
    parameter integer Width = 2048,
    parameter integer Depth = 4
) (
    input  wire          clk_i,
    input  wire          rst_ni,
    input  wire          halt_i,        // release nothing more

    input  wire          push_i,
    output wire          ready_o,
    input  wire [2047:0] cmd_i,
    input  wire [31:0]   index_i,

    input  wire [31:0]   done_load_i,   // commands complete, per engine
    input  wire [31:0]   done_gemm_i,
    input  wire [31:0]   done_vector_i,
    input  wire [31:0]   done_store_i,

    output wire          cmd_valid_o,
    input  wire          cmd_ready_i,
    output wire [2047:0] cmd_o,
    output wire [31:0]   cmd_index_o,

    output wire          waiting_o,     // there is a head
    output wire [3:0]    unmet_o,       // the engines that it waits for: load, gemm, vector, store
    output wire [3:0]    count_o        // commands held
);
  wire             head_valid;
  wire [Width-1:0] head;
  wire [$clog2(Depth):0] count;

  fifo #(
      .Width(Width + 32),
      .Depth(Depth)
  ) u_fifo (
      .clk_i  (clk_i),
      .rst_ni (rst_ni),
      .push_i (push_i),
      .data_i ({index_i, cmd_i[Width-1:0]}),
      .ready_o(ready_o),
      .valid_o(head_valid),
      .data_o ({cmd_index_o, head}),
      .pop_i  (cmd_valid_o && cmd_ready_i),
      .count_o(count)
  );

  // The header is common to all commands.
  assign unmet_o = {done_store_i  < head[wc_cmd_pkg::LOAD_WAIT_STORE_L+:32],
                    done_vector_i < head[wc_cmd_pkg::LOAD_WAIT_VECTOR_L+:32],
                    done_gemm_i   < head[wc_cmd_pkg::LOAD_WAIT_GEMM_L+:32],
                    done_load_i   < head[wc_cmd_pkg::LOAD_WAIT_LOAD_L+:32]};

  assign cmd_valid_o = head_valid && (unmet_o == 4'd0) && !halt_i;
  assign waiting_o   = head_valid;
  assign count_o     = 4'd0 + count;

  generate
    if (Width < 2048) begin : g_pad
      assign cmd_o = {{(2048 - Width) {1'b0}}, head};
      wire unused_rest = &{1'b0, cmd_i[2047:Width], 1'b0};
    end else begin : g_whole
      assign cmd_o = head;
    end
  endgenerate
endmodule
`default_nettype wire
