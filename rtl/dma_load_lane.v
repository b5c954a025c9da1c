// SPDX-License-Identifier: Apache-2.0
//
// One memory port's share of the LOAD engine: remembers the bursts that are out on the port, and writes their beats into the global
// buffer as they come back, one a cycle as the buffer grants them. The last beat of a burst writes only the row's bytes.
//
// After an error response (bad_o, held), and while drop_i, beats are taken and dropped; quiet_o says that none is left.
`default_nettype none

module dma_load_lane #(
    parameter integer BusBytes  = 16,
    parameter integer LineBytes = 64,
    parameter integer Bursts    = 16    // in flight
) (
    input  wire                   clk_i,
    input  wire                   rst_ni,
    input  wire                   drop_i,
    output wire                   quiet_o,

    input  wire                   push_i,       // a burst is asked for
    input  wire [31:0]            push_gbuf_i,
    input  wire [12:0]            push_bytes_i,
    output wire                   ready_o,

    input  wire                   r_valid_i,
    output wire                   r_ready_o,
    input  wire [BusBytes*8-1:0]  r_data_i,
    input  wire                   r_error_i,

    output wire                   ld_req_o,
    output wire [31:0]            ld_addr_o,
    output wire [15:0]            ld_size_o,
    output wire [LineBytes*8-1:0] ld_wdata_o,
    input  wire                   ld_gnt_i,

    output wire                   finished_o,   // the oldest burst is in the buffer
    output wire                   bad_o         // the burst after those finished came with an error response
);
  // The oldest burst in flight.
  wire                    info_valid;
  wire [31:0]             info_gbuf;
  wire [12:0]             info_bytes;
  wire [$clog2(Bursts):0] in_flight;

  reg                     bad_q;
  reg  [12:0]             sent_q;  // bytes of the oldest burst that are in the buffer

  wire                    dropping  = drop_i || bad_q;
  wire [12:0]             left      = info_bytes - sent_q;
  wire                    last_beat = left <= BusBytes[12:0];
  wire                    beat_done = r_valid_i && r_ready_o;

  fifo #(
      .Width(45),
      .Depth(Bursts)
  ) u_info (
      .clk_i  (clk_i),
      .rst_ni (rst_ni),
      .push_i (push_i),
      .data_i ({push_gbuf_i, push_bytes_i}),
      .ready_o(ready_o),
      .valid_o(info_valid),
      .data_o ({info_gbuf, info_bytes}),
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
  assign r_ready_o  = dropping || r_error_i || ld_gnt_i;
  assign finished_o = ld_req_o && ld_gnt_i && last_beat;
  assign bad_o      = bad_q;
  assign quiet_o    = !info_valid;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      sent_q <= 13'd0;
      bad_q  <= 1'b0;
    end else begin
      if (beat_done) sent_q <= last_beat ? 13'd0 : sent_q + BusBytes[12:0];
      if (beat_done && r_error_i) bad_q <= 1'b1;
    end

  wire unused = &{1'b0, in_flight, 1'b0};

`ifdef WC_ASSERT
  // Every beat belongs to a burst in flight.
  dma_load_known: assert property (@(posedge clk_i) disable iff (!rst_ni) !(r_valid_i && !info_valid))
  else $error("dma_load: a beat came that no burst asked for");
`endif
endmodule
`default_nettype wire
