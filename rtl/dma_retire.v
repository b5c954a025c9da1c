// SPDX-License-Identifier: Apache-2.0
//
// Puts the bursts of a DMA engine back into the order in which they were cut. Each memory port finishes its own bursts in order; this
// block remembers which port has which burst, and retires them one a cycle, oldest first. A command is complete when its last
// burst retires, so commands complete in order with any number of ports.
//
// Errors: bad_i[p] says that port p's oldest burst which it did not report finished has failed. error_o follows when that burst is the
// oldest of all, so an error never overtakes what earlier commands still have under way on the other port; nothing retires then, and
// index_o stays.
`default_nettype none

module dma_retire #(
    parameter integer MemPorts = 1,
    parameter integer Bursts   = 16   // in flight per port
) (
    input  wire                clk_i,
    input  wire                rst_ni,
    input  wire                halt_i,        // retire nothing more

    input  wire                push_i,        // a burst is begun
    input  wire                push_port_i,
    input  wire                push_last_i,   // last of its command
    input  wire [31:0]         push_index_i,
    output wire                ready_o,

    input  wire [MemPorts-1:0] finished_i,    // port p finishes its oldest burst
    input  wire [MemPorts-1:0] bad_i,         // level, held: it has failed; nothing is finished any more

    output reg                 done_o,
    output reg  [31:0]         done_index_o,
    output wire                empty_o,
    output wire                error_o,
    output wire [31:0]         index_o        // command of the oldest burst
);
  localparam integer CountBits = $clog2(Bursts) + 1;

  wire head_valid, head_port, head_last, retire;
  wire [$clog2(Bursts*MemPorts):0] in_flight;

  fifo #(
      .Width(34),
      .Depth(Bursts * MemPorts)
  ) u_order (
      .clk_i  (clk_i),
      .rst_ni (rst_ni),
      .push_i (push_i),
      .data_i ({push_port_i, push_last_i, push_index_i}),
      .ready_o(ready_o),
      .valid_o(head_valid),
      .data_o ({head_port, head_last, index_o}),
      .pop_i  (retire),
      .count_o(in_flight)
  );
  assign empty_o = !head_valid;

  // Bursts that are finished and wait for older ones of the other port. With one port there are none.
  wire [MemPorts-1:0] waits, head_is;
  genvar p;
  generate
    for (p = 0; p < MemPorts; p = p + 1) begin : g_port
      assign head_is[p] = head_valid && (MemPorts == 1 || head_port == p);
      if (MemPorts == 1) begin : g_single
        assign waits[p] = 1'b0;
      end else begin : g_several
        reg [CountBits-1:0] waiting_q;
        assign waits[p] = waiting_q != {CountBits{1'b0}};
        always @(posedge clk_i or negedge rst_ni)
          if (!rst_ni) waiting_q <= {CountBits{1'b0}};
          else if (finished_i[p] && !(retire && head_is[p])) waiting_q <= waiting_q + 1'b1;
          else if (!finished_i[p] && retire && head_is[p]) waiting_q <= waiting_q - 1'b1;
      end
    end
  endgenerate

  assign retire  = !halt_i && (head_is & (waits | finished_i)) != {MemPorts{1'b0}};
  assign error_o = (head_is & bad_i & ~waits) != {MemPorts{1'b0}};

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) done_o <= 1'b0;
    else done_o <= retire && head_last;

  always @(posedge clk_i) done_index_o <= index_o;

  wire unused = &{1'b0, in_flight, head_port, 1'b0};

`ifdef WC_ASSERT
  // What is finished was begun.
  dma_retire_known: assert property (@(posedge clk_i) disable iff (!rst_ni) !(finished_i != {MemPorts{1'b0}} && !head_valid))
  else $error("dma_retire: a burst is finished that was not begun");
  // Ports report a failed burst and no finished ones behind it.
  dma_retire_bad: assert property (@(posedge clk_i) disable iff (!rst_ni) (finished_i & bad_i) == {MemPorts{1'b0}})
  else $error("dma_retire: a burst is finished behind a failed one");
`endif
endmodule
`default_nettype wire
