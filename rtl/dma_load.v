// SPDX-License-Identifier: Apache-2.0
//
// LOAD engine: memory -> global buffer. dma_walk cuts the transfer into bursts; each goes to the memory port that is owed the fewer
// beats (dma_load_lane is a port's share), up to Bursts of them in flight per port, so that the memory's latency is paid once and not
// per burst. Beats come back in order on each port; the ports do not wait for each other.
//
// The next command's bursts follow the present one's without a pause; done_o tells, one cycle after the last beat's grant, that the
// buffer holds the data of a command and of those before it (dma_retire).
//
// Errors: a row out of range (after every earlier burst has landed), an error response (the command of that beat, after every earlier burst
// of the other port has landed). From then on, and while halt_i, beats of bursts in flight are taken and dropped; quiet_o says that none
// is left.
`default_nettype none

module dma_load #(
    parameter integer GbufBytes = 65536,
    parameter integer BusBytes  = 16,
    parameter integer LineBytes = 64,
    parameter integer MemPorts  = 1
) (
    input  wire                            clk_i,
    input  wire                            rst_ni,
    input  wire                            halt_i,
    output wire                            quiet_o,

    input  wire [63:0]                     mem_base_i,
    input  wire [63:0]                     mem_limit_i,

    input  wire                            cmd_valid_i,
    output wire                            cmd_ready_o,
    input  wire [2047:0]                   cmd_i,
    input  wire [31:0]                     cmd_index_i,
    output wire                            done_o,
    output wire [31:0]                     done_index_o,
    output wire                            error_o,
    output wire [7:0]                      error_status_o,
    output wire [31:0]                     error_index_o,

    // Per memory port, as are the buffer's below. A burst is offered to a port that takes it in the same cycle; its address and
    // length are the same for all.
    output wire [MemPorts-1:0]             ar_valid_o,
    input  wire [MemPorts-1:0]             ar_ready_i,
    output wire [63:0]                     ar_addr_o,
    output wire [7:0]                      ar_len_o,
    input  wire [MemPorts-1:0]             r_valid_i,
    output wire [MemPorts-1:0]             r_ready_o,
    input  wire [MemPorts*BusBytes*8-1:0]  r_data_i,
    input  wire [MemPorts-1:0]             r_error_i,

    output wire [MemPorts-1:0]             ld_req_o,
    output wire [MemPorts*32-1:0]          ld_addr_o,
    output wire [MemPorts*16-1:0]          ld_size_o,
    output wire [MemPorts*LineBytes*8-1:0] ld_wdata_o,
    input  wire [MemPorts-1:0]             ld_gnt_i
);
  localparam integer Bursts   = 16;
  localparam integer BusBits  = BusBytes * 8;
  localparam integer LineBits = LineBytes * 8;

  wire                burst_valid, burst_last, walk_error;
  wire [63:0]         burst_dram;
  wire [31:0]         burst_gbuf, burst_index, walk_error_index;
  wire [12:0]         burst_bytes;
  wire [8:0]          burst_beats;
  wire [7:0]          walk_error_status;

  wire [MemPorts-1:0] lane_ready, lane_quiet, finished, bad;
  wire                order_ready, order_empty, bad_response;
  wire [31:0]         oldest_index;

  wire [MemPorts-1:0] free = lane_ready & ar_ready_i;
  wire                port;  // that the burst would go to
  wire                burst_ready = order_ready && (|free);
  wire                burst_take  = burst_valid && burst_ready;

  dma_walk #(
      .GbufBytes(GbufBytes),
      .BusBytes (BusBytes)
  ) u_walk (
      .clk_i         (clk_i),
      .rst_ni        (rst_ni),
      .halt_i        (halt_i || (|bad)),
      .mem_base_i    (mem_base_i),
      .mem_limit_i   (mem_limit_i),
      .cmd_valid_i   (cmd_valid_i),
      .cmd_ready_o   (cmd_ready_o),
      .cmd_i         (cmd_i[479:0]),
      .cmd_index_i   (cmd_index_i),
      .burst_valid_o (burst_valid),
      .burst_ready_i (burst_ready),
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

  assign ar_addr_o = burst_dram;
  assign ar_len_o  = burst_beats[7:0] - 8'd1;

  genvar p;
  generate
    if (MemPorts == 1) begin : g_one
      assign port = 1'b0;
    end else begin : g_choose
      // Beats asked for and not received, per port.
      wire [27:0] due;
      for (p = 0; p < 2; p = p + 1) begin : g_due
        reg  [13:0] due_q;
        wire [13:0] asked   = (burst_take && port == p) ? {5'd0, burst_beats} : 14'd0;
        wire [13:0] arrived = {13'd0, r_valid_i[p] && r_ready_o[p]};
        assign due[14*p+:14] = due_q;
        always @(posedge clk_i or negedge rst_ni)
          if (!rst_ni) due_q <= 14'd0;
          else due_q <= due_q + asked - arrived;
      end
      assign port = (&free) ? due[27:14] < due[13:0] : free[1];
    end

    for (p = 0; p < MemPorts; p = p + 1) begin : g_lane
      wire take = burst_take && (MemPorts == 1 || port == p);
      assign ar_valid_o[p] = take;

      dma_load_lane #(
          .BusBytes (BusBytes),
          .LineBytes(LineBytes),
          .Bursts   (Bursts)
      ) u_lane (
          .clk_i       (clk_i),
          .rst_ni      (rst_ni),
          .drop_i      (halt_i || bad_response),
          .quiet_o     (lane_quiet[p]),
          .push_i      (take),
          .push_gbuf_i (burst_gbuf),
          .push_bytes_i(burst_bytes),
          .ready_o     (lane_ready[p]),
          .r_valid_i   (r_valid_i[p]),
          .r_ready_o   (r_ready_o[p]),
          .r_data_i    (r_data_i[BusBits*p+:BusBits]),
          .r_error_i   (r_error_i[p]),
          .ld_req_o    (ld_req_o[p]),
          .ld_addr_o   (ld_addr_o[32*p+:32]),
          .ld_size_o   (ld_size_o[16*p+:16]),
          .ld_wdata_o  (ld_wdata_o[LineBits*p+:LineBits]),
          .ld_gnt_i    (ld_gnt_i[p]),
          .finished_o  (finished[p]),
          .bad_o       (bad[p])
      );
    end
  endgenerate

  dma_retire #(
      .MemPorts(MemPorts),
      .Bursts  (Bursts)
  ) u_retire (
      .clk_i       (clk_i),
      .rst_ni      (rst_ni),
      .halt_i      (halt_i),
      .push_i      (burst_take),
      .push_port_i (port),
      .push_last_i (burst_last),
      .push_index_i(burst_index),
      .ready_o     (order_ready),
      .finished_i  (finished),
      .bad_i       (bad),
      .done_o      (done_o),
      .done_index_o(done_index_o),
      .empty_o     (order_empty),
      .error_o     (bad_response),
      .index_o     (oldest_index)
  );

  // A bad response belongs to an older command than the one the walk is at.
  assign quiet_o        = &lane_quiet;
  assign error_o        = bad_response || (walk_error && order_empty);
  assign error_status_o = bad_response ? wc_cmd_pkg::STATUS_AXI_ERROR : walk_error_status;
  assign error_index_o  = bad_response ? oldest_index : walk_error_index;

  wire unused = &{1'b0, burst_beats[8], cmd_i[2047:480], 1'b0};
endmodule
`default_nettype wire
