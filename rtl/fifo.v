// SPDX-License-Identifier: Apache-2.0
//
// First-in first-out queue of Depth words. The head is readable combinationally while valid_o; a word pushed in cycle t is at the head
// of an empty queue in cycle t + 1, so no path leads from the push side to the pop side.
//
// ready_o does not look at pop_i: a full queue that is popped accepts its next word one cycle later.
// Depth is a power of two, at least 2.
`default_nettype none

module fifo #(
    parameter integer Width = 8,
    parameter integer Depth = 4
) (
    input  wire             clk_i,
    input  wire             rst_ni,

    input  wire             push_i,
    input  wire [Width-1:0] data_i,
    output wire             ready_o,

    output wire             valid_o,
    output wire [Width-1:0] data_o,
    input  wire             pop_i,

    output wire [$clog2(Depth):0] count_o
);
  localparam integer PtrBits = $clog2(Depth);

  reg [Width-1:0] mem      [0:Depth-1];
  reg [PtrBits:0] head_q;
  reg [PtrBits:0] tail_q;

  assign count_o = tail_q - head_q;
  assign ready_o = !count_o[PtrBits];
  assign valid_o = head_q != tail_q;
  assign data_o  = mem[head_q[PtrBits-1:0]];

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      head_q <= {(PtrBits + 1) {1'b0}};
      tail_q <= {(PtrBits + 1) {1'b0}};
    end else begin
      if (push_i) tail_q <= tail_q + 1'b1;
      if (pop_i) head_q <= head_q + 1'b1;
    end

  always @(posedge clk_i) if (push_i) mem[tail_q[PtrBits-1:0]] <= data_i;

`ifdef WC_ASSERT
  // A word pushed into a full queue would be lost.
  fifo_push: assert property (@(posedge clk_i) disable iff (!rst_ni) !(push_i && !ready_o))
  else $error("fifo: push when full");
  // A pop of an empty queue would take a word that was never written.
  fifo_pop: assert property (@(posedge clk_i) disable iff (!rst_ni) !(pop_i && !valid_o))
  else $error("fifo: pop when empty");
`endif
endmodule
`default_nettype wire
