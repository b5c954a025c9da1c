// SPDX-License-Identifier: Apache-2.0
//
// Operand buffer: two sides of Depth x Width fp16 values. One side is filled while the other is read, row by row.
//
// A write is a run of up to Banks elements from (row, col) on, along a row or down a column. Diagonal banking makes both free of conflicts:
//     element (row, col) lies in bank (row + col) mod Banks, at address {side, row}
// so that the elements of a row, and any Banks successive elements of a column, are in different banks.
//
//          col 0 1 2 3            along row 1, from col 1: banks 2 3 0
//   row 0      0 1 2 3            down column 2, from row 0: banks 2 3 0 1
//   row 1      1 2 3 0
//   row 2      2 3 0 1
//
// A row read in cycle t is at row_o in cycle t + 1. Columns whose row_mask_i bit was 0 read +0, whatever is stored. A read in the
// cycle of a write to the same element gives the old value. Without a read in the cycle before row_o is 0.
`default_nettype none

module opbuf #(
    parameter integer Depth = 256,
    parameter integer Width = 16,
    parameter integer Banks = 16   // power of two, at least Width
) (
    input  wire                clk_i,

    input  wire                fill_valid_i,
    input  wire                fill_zero_i,   // write +0, not fill_data_i
    input  wire                fill_down_i,   // down the column, else along the row
    input  wire [15:0]         fill_row_i,
    input  wire [15:0]         fill_col_i,
    input  wire [15:0]         fill_len_i,
    input  wire                fill_side_i,
    input  wire [Banks*16-1:0] fill_data_i,

    input  wire                read_i,
    input  wire                read_side_i,
    input  wire [15:0]         read_row_i,
    input  wire [Width-1:0]    read_mask_i,
    output wire [Width*16-1:0] row_o
);
  localparam integer BankBits = $clog2(Banks);
  localparam integer RowBits = (Depth > 1) ? $clog2(Depth) : 1;

  // Element j of the run goes to bank first + j.
  wire [BankBits-1:0] first = fill_row_i[BankBits-1:0] + fill_col_i[BankBits-1:0];
  wire [RowBits:0]    read_addr = {read_side_i, read_row_i[RowBits-1:0]};
  wire [15:0]         keep = fill_zero_i ? 16'd0 : 16'hffff;

  reg [Banks*16-1:0] banks_q;

  genvar b;
  generate
    for (b = 0; b < Banks; b = b + 1) begin : g_bank
      localparam [BankBits-1:0] Bank = b;
      wire [BankBits-1:0] j = Bank - first;
      wire [15:0]         row = fill_down_i ? fill_row_i + {{(16 - BankBits) {1'b0}}, j} : fill_row_i;
      wire                unused_row = &{1'b0, row};
      // The side is the address's top bit, so a side takes a power of two of rows whatever Depth is.
      reg  [15:0]         mem  [0:(2<<RowBits)-1];

      always @(posedge clk_i)
        if (fill_valid_i && {{(16 - BankBits) {1'b0}}, j} < fill_len_i)
          mem[{fill_side_i, row[RowBits-1:0]}] <= fill_data_i[16*j+:16] & keep;
      always @(posedge clk_i) if (read_i) banks_q[16*b+:16] <= mem[read_addr];
    end
  endgenerate

  // Rotate the row back. In cycles without a row nothing is to be masked or rotated, and a simulation does nothing.
  reg                read_q;
  reg [BankBits-1:0] rotate_q;
  reg [Width-1:0]    mask_q;
  always @(posedge clk_i) begin
    read_q <= read_i;
    if (read_i) begin
      rotate_q <= read_row_i[BankBits-1:0];
      mask_q <= read_mask_i;
    end
  end

  localparam integer ShiftBits = BankBits + 5;
  localparam integer All = Banks * 16;
  integer            c;
  reg [Banks*16-1:0] rotated;
  always @(*) begin
    rotated = {Banks * 16{1'b0}};
    if (read_q) begin
      rotated = (banks_q >> {1'b0, rotate_q, 4'd0}) | (banks_q << (All[ShiftBits-1:0] - {1'b0, rotate_q, 4'd0}));
      for (c = 0; c < Width; c = c + 1) if (!mask_q[c]) rotated[16*c+:16] = 16'd0;
    end
  end
  assign row_o = rotated[Width*16-1:0];

  wire unused = &{1'b0, fill_row_i, fill_col_i, read_row_i, rotated};
endmodule
`default_nettype wire
