// SPDX-License-Identifier: Apache-2.0
//
// LOAD engine: memory -> global buffer. dma_walk cuts the transfer into bursts; up to Bursts of them are in flight, so that the memory's
// latency is paid once and not per burst. Beats come back in order and go to the buffer one a cycle as it grants them; the last
// beat of a row writes only the row's bytes.
//
// The next command's bursts follow the present one's without a pause; done_o tells, one cycle after the last beat's grant, that the
// buffer holds the data.
//
// Errors: a row out of range (after every earlier burst has landed), an error response (the command of that beat). From then on, and while
// halt_i, beats of bursts in flight are taken and dropped; quiet_o says that none is left.
`default_nettype none

module dma_load #(
    parameter integer GbufBytes = 65536,
    parameter integer BusBytes  = 16,
    parameter integer LineBytes = 64
) (
    input  wire                   clk_i,
    input  wire                   rst_ni,
    input  wire                   halt_i,
    output wire                   quiet_o,

    input  wire [63:0]            mem_base_i,
    input  wire [63:0]            mem_limit_i,

    input  wire                   cmd_valid_i,
    output wire                   cmd_ready_o,
    input  wire [2047:0]          cmd_i,
    input  wire [31:0]            cmd_index_i,
    output reg                    done_o,
    output reg  [31:0]            done_index_o,
    output wire                   error_o,
    output wire [7:0]             error_status_o,
    output wire [31:0]            error_index_o,

    output wire                   ar_valid_o,
    input  wire                   ar_ready_i,
    output wire [63:0]            ar_addr_o,
    output wire [7:0]             ar_len_o,
    input  wire                   r_valid_i,
    output wire                   r_ready_o,
    input  wire [BusBytes*8-1:0]  r_data_i,
    input  wire                   r_error_i,

    output wire                   ld_req_o,
    output wire [31:0]            ld_addr_o,
    output wire [15:0]            ld_size_o,
    output wire [LineBytes*8-1:0] ld_wdata_o,
    input  wire                   ld_gnt_i
);
  localparam integer Bursts    = 16;
  localparam integer InfoBits  = 32 + 32 + 13 + 1;

  wire        burst_valid, burst_last, walk_error;
  wire [63:0] burst_dram;
  wire [31:0] burst_gbuf, burst_index, walk_error_index;
  wire [12:0] burst_bytes;
  wire [8:0]  burst_beats;
  wire [7:0]  walk_error_status;

  // The oldest burst in flight.
  wire        info_ready, info_valid, info_last;
  wire [31:0] info_gbuf, info_index;
  wire [12:0] info_bytes;
  wire [4:0]  in_flight;

  reg         bad_response_q;
  reg  [31:0] bad_index_q;
  reg  [12:0] sent_q;  // bytes of the oldest burst that are in the buffer

  wire        dropping   = halt_i || bad_response_q;
  wire        burst_take = burst_valid && info_ready && ar_ready_i;

  dma_walk #(
      .GbufBytes(GbufBytes),
      .BusBytes (BusBytes)
  ) u_walk (
      .clk_i         (clk_i),
      .rst_ni        (rst_ni),
      .halt_i        (dropping),
      .mem_base_i    (mem_base_i),
      .mem_limit_i   (mem_limit_i),
      .cmd_valid_i   (cmd_valid_i),
      .cmd_ready_o   (cmd_ready_o),
      .cmd_i         (cmd_i[479:0]),
      .cmd_index_i   (cmd_index_i),
      .burst_valid_o (burst_valid),
      .burst_ready_i (info_ready && ar_ready_i),
      .burst_dram_o  (burst_dram),
      .burst_gbuf_o  (burst_gbuf),
      .burst_bytes_o (burst_bytes),
      .burst_beats_o (burst_beats),
      .burst_last_o  (burst_last),
      .burst_index_o (burst_index),
      .error_o       (walk_error),
      .error_status_o(walk_error_status),
      .error_index_o (walk_error_index)
  );

  assign ar_valid_o = burst_valid && info_ready;
  assign ar_addr_o  = burst_dram;
  assign ar_len_o   = burst_beats[7:0] - 8'd1;

  // Beats of the oldest burst.
  wire [12:0] left      = info_bytes - sent_q;
  wire        last_beat = left <= BusBytes[12:0];
  wire        beat_done = r_valid_i && r_ready_o;

  fifo #(
      .Width(InfoBits),
      .Depth(Bursts)
  ) u_info (
      .clk_i  (clk_i),
      .rst_ni (rst_ni),
      .push_i (burst_take),
      .data_i ({burst_gbuf, burst_index, burst_bytes, burst_last}),
      .ready_o(info_ready),
      .valid_o(info_valid),
      .data_o ({info_gbuf, info_index, info_bytes, info_last}),
      .pop_i  (beat_done && last_beat),
      .count_o(in_flight)
  );

  assign ld_req_o  = r_valid_i && !r_error_i && !dropping;
  assign ld_addr_o = info_gbuf + {19'd0, sent_q};
  assign ld_size_o = last_beat ? {3'd0, left} : BusBytes[15:0];
  generate
    if (LineBytes > BusBytes) begin : g_pad
      assign ld_wdata_o = {{(LineBytes - BusBytes) * 8{1'b0}}, r_data_i};
    end else begin : g_whole
      assign ld_wdata_o = r_data_i;
    end
  endgenerate
  assign r_ready_o = dropping || r_error_i || ld_gnt_i;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      sent_q         <= 13'd0;
      done_o         <= 1'b0;
      bad_response_q <= 1'b0;
    end else begin
      if (beat_done) sent_q <= last_beat ? 13'd0 : sent_q + BusBytes[12:0];
      done_o <= ld_req_o && ld_gnt_i && last_beat && info_last;
      if (beat_done && r_error_i) bad_response_q <= 1'b1;
    end

  always @(posedge clk_i) begin
    done_index_o <= info_index;
    if (beat_done && r_error_i && !bad_response_q) bad_index_q <= info_index;
  end

  // A bad response belongs to an older command than the one the walk is at.
  assign quiet_o        = !info_valid;
  assign error_o        = bad_response_q || (walk_error && !info_valid);
  assign error_status_o = bad_response_q ? wc_cmd_pkg::STATUS_AXI_ERROR : walk_error_status;
  assign error_index_o  = bad_response_q ? bad_index_q : walk_error_index;

  wire unused = &{1'b0, burst_beats[8], in_flight, cmd_i[2047:480], 1'b0};

`ifdef WC_ASSERT
  // Every beat belongs to a burst in flight.
  dma_load_known: assert property (@(posedge clk_i) disable iff (!rst_ni) !(r_valid_i && !info_valid))
  else $error("dma_load: a beat came that no burst asked for");
`endif
endmodule
`default_nettype wire
