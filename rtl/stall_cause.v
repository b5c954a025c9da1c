// SPDX-License-Identifier: Apache-2.0
//
// What the array waits for in a cycle in which it has no wave left to stream (rtl/README.md, "Counters"). Combinational; exactly one bit of cause_o
// is set: an engine, numbered as the wait fields are, or 4, none of them: the next command is on its way, or there is none.
//
// The answer describes the cycle before it is asked for at most; a cycle's difference moves a count from one cause to another and loses none.
`default_nettype none

module stall_cause (
    input  wire       waiting_i,    // a GEMM is at the head of its queue
    input  wire [3:0] unmet_i,      // the engines of which too few commands are complete for it
    input  wire       ready_i,      // the GEMM engine would take it
    input  wire [3:0] full_i,       // the ring's next command waits for a place in this engine's queue
    input  wire [3:0] at_work_i,    // engines with a command that has begun and is not complete
    output reg  [4:0] cause_o
);
  localparam [4:0] LOAD    = 5'b00001;
  localparam [4:0] GEMM    = 5'b00010;
  localparam [4:0] VECTOR  = 5'b00100;
  localparam [4:0] STORE   = 5'b01000;
  localparam [4:0] COMMAND = 5'b10000;

  always @(*) begin
    cause_o = COMMAND;
    if (waiting_i) begin
      if (unmet_i[0]) cause_o = LOAD;
      else if (unmet_i[3]) cause_o = STORE;
      else if (unmet_i[2]) cause_o = VECTOR;
      else if (unmet_i[1] || !ready_i) cause_o = GEMM;
    end else if (full_i != 4'd0) cause_o = {1'b0, full_i};
    else if (at_work_i[2]) cause_o = VECTOR;
    else if (at_work_i[0]) cause_o = LOAD;
    else if (at_work_i[3]) cause_o = STORE;
    else if (at_work_i[1]) cause_o = GEMM;
  end
endmodule
`default_nettype wire
