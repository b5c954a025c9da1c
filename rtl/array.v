// SPDX-License-Identifier: Apache-2.0
//
// Rows x Cols weight-stationary systolic array of processing elements (pe), the synthesizable form.
//
// Operands arrive already skewed: row r's element r * MacStages cycles after row 0's, column c's weight c cycles after column 0's. Weights
// come down a column on one broadcast wire; the row enable that captures them travels right, one column per cycle, like the activations.
//
// With t the cycle in which an activation vector's row 0 element is at a_i, its sum for column c,
//     ((+0 + a[0] w[0][c]) + a[1] w[1][c]) + ... + a[Rows-1] w[Rows-1][c]      in fp32, rounded after each addition,
// is at psum_o[c] in cycle t + Rows * MacStages + c, with psum_valid_o[c]. Invalid sums read +0.
//
// Weight row k of the next wave may be presented from cycle t0 + k * MacStages on, where t0 is the cycle in which the present
// wave's first row 0 element enters with a_sel flipped: that frees the other register of row k. It must be presented before cycle
// t1 + k * MacStages, t1 being the next wave's t0. Cycles in which en_i is 0 do not count: every register holds.
//
// Not here: skew and de-skew (skew.v), accumulation over chunks of K. Two simulation forms have the same ports, bits and cycles:
// sim/array_fast.sv (this arithmetic, arranged for Verilator) and sim/array_dpi.sv (a C macro for big arrays).
`default_nettype none

module array #(
    parameter integer Rows      = 16,
    parameter integer Cols      = 16,
    parameter integer MacStages = 1
) (
    input  wire                 clk_i,
    input  wire                 rst_ni,
    input  wire                 en_i,

    input  wire [Rows*16-1:0]   a_i,
    input  wire [Rows-1:0]      a_valid_i,
    input  wire [Rows-1:0]      a_sel_i,

    input  wire [Cols*16-1:0]   w_i,
    input  wire [Rows-1:0]      w_en_i,
    input  wire [Rows-1:0]      w_sel_i,

    output wire [Cols*32-1:0]   psum_o,
    output wire [Cols-1:0]      psum_valid_o
);
  // Horizontal wires: index r * (Cols + 1) + c enters PE (r, c). Vertical wires: index r * Cols + c enters PE (r, c) from above.
  localparam integer Taps = Rows * (Cols + 1);

  wire [Taps*16-1:0]              a;
  wire [Taps-1:0]                 valid;
  wire [Taps-1:0]                 sel;
  wire [Taps-1:0]                 w_en;
  wire [Taps-1:0]                 w_sel;
  wire [(Rows+1)*Cols*32-1:0]     psum;
  wire [Rows*Cols-1:0]            psum_valid;

  genvar r, c;
  generate
    for (r = 0; r < Rows; r = r + 1) begin : g_row
      assign a[16*r*(Cols+1)+:16] = a_i[16*r+:16];
      assign valid[r*(Cols+1)]    = a_valid_i[r];
      assign sel[r*(Cols+1)]      = a_sel_i[r];
      assign w_en[r*(Cols+1)]     = w_en_i[r];
      assign w_sel[r*(Cols+1)]    = w_sel_i[r];
      for (c = 0; c < Cols; c = c + 1) begin : g_col
        pe #(
            .MacStages(MacStages)
        ) u_pe (
            .clk_i       (clk_i),
            .rst_ni      (rst_ni),
            .en_i        (en_i),
            .a_i         (a[16*(r*(Cols+1)+c)+:16]),
            .a_valid_i   (valid[r*(Cols+1)+c]),
            .a_sel_i     (sel[r*(Cols+1)+c]),
            .a_q         (a[16*(r*(Cols+1)+c+1)+:16]),
            .a_valid_q   (valid[r*(Cols+1)+c+1]),
            .a_sel_q     (sel[r*(Cols+1)+c+1]),
            .w_i         (w_i[16*c+:16]),
            .w_en_i      (w_en[r*(Cols+1)+c]),
            .w_sel_i     (w_sel[r*(Cols+1)+c]),
            .w_en_q      (w_en[r*(Cols+1)+c+1]),
            .w_sel_q     (w_sel[r*(Cols+1)+c+1]),
            .psum_i      (psum[32*(r*Cols+c)+:32]),
            .psum_q      (psum[32*((r+1)*Cols+c)+:32]),
            .psum_valid_q(psum_valid[r*Cols+c])
        );
      end
    end
  endgenerate

  assign psum[Cols*32-1:0] = {Cols * 32{1'b0}};
  assign psum_o = psum[32*Rows*Cols+:32*Cols];
  assign psum_valid_o = psum_valid[(Rows-1)*Cols+:Cols];

  // What leaves the right edge and the valid bits of upper rows have no reader.
  wire unused = &{1'b0, a, psum_valid};
endmodule
`default_nettype wire
