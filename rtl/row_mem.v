// SPDX-License-Identifier: Apache-2.0
//
// Memory of Depth rows with one synchronous read and one write port. A row read in cycle t is at data_o from cycle t + 1 until
// the next read. A read of the row that is written in the same cycle gives the old value.
`default_nettype none

module row_mem #(
    parameter integer Width = 512,
    parameter integer Depth = 256
) (
    input  wire             clk_i,
    input  wire             read_i,
    input  wire [15:0]      read_row_i,
    output wire [Width-1:0] data_o,
    input  wire             write_i,
    input  wire [15:0]      write_row_i,
    input  wire [Width-1:0] data_i
);
  localparam integer RowBits = (Depth > 1) ? $clog2(Depth) : 1;

  reg [Width-1:0] mem [0:Depth-1];
  reg [Width-1:0] data_q;
  assign data_o = data_q;

  always @(posedge clk_i) begin
    if (read_i) data_q <= mem[read_row_i[RowBits-1:0]];
    if (write_i) mem[write_row_i[RowBits-1:0]] <= data_i;
  end

  wire unused = &{1'b0, read_row_i, write_row_i};
endmodule
`default_nettype wire
