// SPDX-License-Identifier: Apache-2.0
//
// The array (see ../array.v for ports, timing and protocol) arranged for simulation speed: the same arithmetic from fp_pkg, the same
// bits at every port in every cycle, but the PE grid is rolled into a few flat loops over 32-bit words instead of
// Rows x Cols instances. Verilator keeps such loops as loops, so that the C++ build stays small, and the C++ compiler
// spreads them over vector lanes. That asks for plain code: unsigned 32-bit loop variables inside tasks, array sizes that are
// powers of two (no bound checks), masks instead of conditions.
//
// One process owns the whole state and updates it in place with blocking assignments. PE (r, c) sits at index
// Pes - 1 - (r * Cols + c): its upper and left neighbours lie at greater indices, so that an ascending loop reads them before it
// overwrites them. Only the last row's sums leave the process, through nonblocking assignments.
//
// Operands are held expanded to fp32 (fp_pkg::fp16_expand), which happens once where they enter. Work is left out
// while nothing valid is in flight, and weight loading while no enable is.
`default_nettype none

module array_fast #(
    parameter integer Rows      = 16,
    parameter integer Cols      = 16,
    parameter integer MacStages = 1
) (
    input  wire               clk_i,
    input  wire               rst_ni,
    input  wire               en_i,

    input  wire [Rows*16-1:0] a_i,
    input  wire [Rows-1:0]    a_valid_i,
    input  wire [Rows-1:0]    a_sel_i,

    input  wire [Cols*16-1:0] w_i,
    input  wire [Rows-1:0]    w_en_i,
    input  wire [Rows-1:0]    w_sel_i,

    output reg  [Cols*32-1:0] psum_o,
    output reg  [Cols-1:0]    psum_valid_o
);
  // The state below belongs to one process, which is why its blocking assignments are no race.
  // verilator lint_off BLKSEQ

  localparam integer Pes = Rows * Cols;

  // Enabled cycles for which a valid operand or a weight enable keeps the array busy after it entered.
  localparam [31:0] BusyCycles = Cols + MacStages;
  localparam [31:0] LoadCycles = Cols;

  // What the PEs see in this cycle. Masks are all ones or all zeros.
  reg [31:0] a        [0:2*Pes-1];  // operand
  reg [31:0] valid    [0:2*Pes-1];  // mask: operand is valid
  reg [31:0] use1     [0:2*Pes-1];  // mask: operand meets w1
  reg [31:0] load0    [0:2*Pes-1];  // mask: w0 captures the column bus
  reg [31:0] load1    [0:2*Pes-1];
  // What they hold.
  reg [31:0] w0       [0:Pes-1];
  reg [31:0] w1       [0:Pes-1];
  reg [31:0] psum     [0:2*Pes-1];  // entries from Pes on are the +0 above row 0
  // MacStages = 2 only: registers between multiplication and addition.
  reg [31:0] product  [0:Pes-1];
  reg [31:0] addend   [0:Pes-1];
  reg [31:0] pending  [0:Pes-1];    // mask: product is valid

  reg [31:0] bus      [0:2*Pes-1];  // column buses, repeated for every row, in the order of the PEs
  reg [31:0] busy;
  reg [31:0] loading;

  task automatic clear;
    reg [31:0] i;
    begin
      for (i = 0; i < 2 * Pes; i = i + 1) valid[i] = 32'd0;
      for (i = 0; i < 2 * Pes; i = i + 1) load0[i] = 32'd0;
      for (i = 0; i < 2 * Pes; i = i + 1) load1[i] = 32'd0;
      for (i = 0; i < 2 * Pes; i = i + 1) psum[i] = 32'd0;
      for (i = 0; i < Pes; i = i + 1) pending[i] = 32'd0;
      busy = 32'd0;
      loading = 32'd0;
    end
  endtask

  // Operands move right; new ones enter at column 0.
  task automatic shift_operands;
    reg [31:0] i, r;
    begin
      for (i = 0; i < Pes; i = i + 1) a[i] = a[i+1];
      for (i = 0; i < Pes; i = i + 1) valid[i] = valid[i+1];
      for (i = 0; i < Pes; i = i + 1) use1[i] = use1[i+1];
      for (r = 0; r < Rows; r = r + 1) begin
        a[Pes-1-r*Cols] = fp_pkg::fp16_expand({16'd0, a_i[16*r+:16]});
        valid[Pes-1-r*Cols] = {32{a_valid_i[r]}};
        use1[Pes-1-r*Cols] = {32{a_sel_i[r]}};
      end
    end
  endtask

  task automatic multiply_add;
    reg [31:0] i, weight, sum;
    begin
      for (i = 0; i < Pes; i = i + 1) begin
        weight = (w1[i] & use1[i]) | (w0[i] & ~use1[i]);
        sum = fp_pkg::fp32_add(psum[i+Cols], fp_pkg::expanded_mul(a[i], weight));
        psum[i] = sum & valid[i];
      end
    end
  endtask

  task automatic add;
    reg [31:0] i, sum;
    begin
      for (i = 0; i < Pes; i = i + 1) begin
        sum = fp_pkg::fp32_add(addend[i], product[i]);
        addend[i] = psum[i+Cols];
        psum[i] = sum & pending[i];
      end
    end
  endtask

  task automatic multiply;
    reg [31:0] i, weight;
    begin
      for (i = 0; i < Pes; i = i + 1) begin
        weight = (w1[i] & use1[i]) | (w0[i] & ~use1[i]);
        product[i] = fp_pkg::expanded_mul(a[i], weight);
        pending[i] = valid[i];
      end
    end
  endtask

  // Enables move right; where one is, the PE captures its column's bus.
  task automatic load_weights;
    reg [31:0] i, r, c;
    begin
      for (i = 0; i < Pes; i = i + 1) load0[i] = load0[i+1];
      for (i = 0; i < Pes; i = i + 1) load1[i] = load1[i+1];
      for (r = 0; r < Rows; r = r + 1) begin
        load0[Pes-1-r*Cols] = {32{w_en_i[r] & ~w_sel_i[r]}};
        load1[Pes-1-r*Cols] = {32{w_en_i[r] & w_sel_i[r]}};
      end
      for (c = 0; c < Cols; c = c + 1) bus[Cols-1-c] = fp_pkg::fp16_expand({16'd0, w_i[16*c+:16]});
      for (i = 0; i < Pes; i = i + 1) bus[i+Cols] = bus[i];
      for (i = 0; i < Pes; i = i + 1) begin
        w0[i] = (bus[i] & load0[i]) | (w0[i] & ~load0[i]);
        w1[i] = (bus[i] & load1[i]) | (w1[i] & ~load1[i]);
      end
    end
  endtask

  integer c;
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      clear;
      psum_o <= {Cols * 32{1'b0}};
      psum_valid_o <= {Cols{1'b0}};
    end else if (en_i) begin
      if (a_valid_i != {Rows{1'b0}}) busy = BusyCycles;
      if (busy != 32'd0) begin
        busy = busy - 32'd1;
        shift_operands;
        if (MacStages == 1) multiply_add;
        else add;
        for (c = 0; c < Cols; c = c + 1) begin
          psum_o[32*c+:32] <= psum[Cols-1-c];
          psum_valid_o[c] <= (MacStages == 1) ? valid[Cols-1-c][0] : pending[Cols-1-c][0];
        end
        if (MacStages == 2) multiply;
      end
      if (w_en_i != {Rows{1'b0}}) loading = LoadCycles;
      if (loading != 32'd0) begin
        loading = loading - 32'd1;
        load_weights;
      end
    end
  // verilator lint_on BLKSEQ
endmodule
`default_nettype wire
