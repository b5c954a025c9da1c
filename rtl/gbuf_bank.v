// SPDX-License-Identifier: Apache-2.0
//
// One bank of the global buffer: Depth lines, one access a cycle. A write stores bytes [first_i, end_i) of its source's line;
// its sources share the bank, each already rotated into place. A line read in cycle t is at data_o in cycle t + 1.
`default_nettype none

module gbuf_bank #(
    parameter integer LineBytes = 64,
    parameter integer Depth     = 128,
    parameter integer RowBits   = 7,
    parameter integer MemPorts  = 1
) (
    input  wire                   clk_i,
    input  wire                   read_i,
    input  wire                   write_i,
    input  wire [RowBits-1:0]     row_i,
    input  wire [1:0]             source_i,   // 0 drain, 1 load, 2 vector, 3 load of the second memory port
    input  wire [15:0]            first_i,
    input  wire [15:0]            end_i,
    input  wire [LineBytes*8-1:0] drain_i,
    input  wire [MemPorts*LineBytes*8-1:0] load_i,
    input  wire [LineBytes*8-1:0] vector_i,
    output wire [LineBytes*8-1:0] data_o
);
  localparam integer Bits = LineBytes * 8;
  localparam integer ShiftBits = $clog2(Bits) + 1;

  reg [Bits-1:0] mem [0:Depth-1];
  reg [Bits-1:0] data_q;
  assign data_o = data_q;

  // In one process, whose assignments take effect in their order, so that a bank that is not written costs a simulation nothing.
  reg [Bits-1:0] mask, line;
  always @(posedge clk_i) begin
    if (read_i) data_q <= mem[row_i];
    if (write_i) begin
      mask = ({Bits{1'b1}} << {first_i[ShiftBits-4:0], 3'b000}) & ~({Bits{1'b1}} << {end_i[ShiftBits-4:0], 3'b000});
      line = (source_i == 2'd0) ? drain_i : (source_i == 2'd1) ? load_i[0+:Bits] : vector_i;
      if (MemPorts > 1 && source_i == 2'd3) line = load_i[(MemPorts-1)*Bits+:Bits];
      mem[row_i] <= (mem[row_i] & ~mask) | (line & mask);
    end
  end

  wire unused = &{1'b0, first_i, end_i};
endmodule
`default_nettype wire
