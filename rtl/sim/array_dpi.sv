// SPDX-License-Identifier: Apache-2.0
//
// The array (see ../array.v for ports, timing and protocol) for simulation of big sizes: ports and output registers are RTL, the whole
// PE grid is a cycle-exact C macro (csim/array) behind one DPI call per clock edge. Same bits at every port in every cycle.
//
// The macro is found by this instance's hierarchical name; its C interface reads column sums and weights, flips bits, saves and
// restores. No call is made while nothing is in flight. When a window is set there (wavecore run --pe-window), its 4 x 4 PEs show in
// the win_ signals and, in waveforms, one by one: PE (win_row + i, win_col + j) as g_win_row[i].g_win_col[j].
//
// The model holds an id instead of a pointer, so that a saved model can be restored in another process.
`default_nettype none

module array_dpi #(
    parameter integer Rows      = 128,
    parameter integer Cols      = 128,
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
  import "DPI-C" function int array_dpi_create(input string name, input int rows, input int cols, input int mac_stages);
  import "DPI-C" function void array_dpi_free(input int id);
  import "DPI-C" function void array_dpi_reset(input int id);
  import "DPI-C" function int array_dpi_step(
    input int id, input bit [Rows*16-1:0] a, input bit [Rows-1:0] a_valid, input bit [Rows-1:0] a_sel,
    input bit [Cols*16-1:0] w, input bit [Rows-1:0] w_en, input bit [Rows-1:0] w_sel,
    output bit [Cols*32-1:0] psum, output bit [Cols-1:0] psum_valid);
  import "DPI-C" function void array_dpi_window(
    input int id, output bit [511:0] psum, output bit [255:0] w0, output bit [255:0] w1, output bit [255:0] a,
    output bit [15:0] valid, output int row, output int col);

  int id;
  initial begin
    id = array_dpi_create($sformatf("%m"), Rows, Cols, MacStages);
    if (id < 0) $fatal(1, "%m: no array macro");
  end
  final array_dpi_free(id);

  bit [Cols*32-1:0] psum_next;
  bit [Cols-1:0]    psum_valid_next;
  reg               active_q;

  // Read by waveforms only, and a status of which two bits say something.
  // verilator lint_off UNUSEDSIGNAL
  int               status;
  bit [511:0]       win_psum;
  bit [255:0]       win_w0;
  bit [255:0]       win_w1;
  bit [255:0]       win_a;
  bit [15:0]        win_valid;
  int               win_row;
  int               win_col;

  genvar i, j;
  generate
    for (i = 0; i < 4; i = i + 1) begin : g_win_row
      for (j = 0; j < 4; j = j + 1) begin : g_win_col
        localparam integer Pe = 4 * i + j;
        wire [31:0] psum  = win_psum[32*Pe+:32];
        wire [15:0] w0    = win_w0[16*Pe+:16];
        wire [15:0] w1    = win_w1[16*Pe+:16];
        wire [15:0] a     = win_a[16*Pe+:16];
        wire        valid = win_valid[Pe];
      end
    end
  endgenerate
  // verilator lint_on UNUSEDSIGNAL

  // The C calls fill variables that only this process uses; what others read is assigned at the end.
  // verilator lint_off BLKSEQ
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      array_dpi_reset(id);
      active_q <= 1'b0;
      psum_o <= {Cols * 32{1'b0}};
      psum_valid_o <= {Cols{1'b0}};
    end else if (en_i && (active_q || a_valid_i != {Rows{1'b0}} || w_en_i != {Rows{1'b0}})) begin
      status = array_dpi_step(id, a_i, a_valid_i, a_sel_i, w_i, w_en_i, w_sel_i, psum_next, psum_valid_next);
      active_q <= status[0];
      psum_o <= psum_next;
      psum_valid_o <= psum_valid_next;
      if (status[1]) array_dpi_window(id, win_psum, win_w0, win_w1, win_a, win_valid, win_row, win_col);
`ifdef WC_ASSERT
      // The macro keeps one row number per column for weights on their way.
      one_weight_row : assert ((w_en_i & (w_en_i - 1'b1)) == {Rows{1'b0}});
`endif
    end
  // verilator lint_on BLKSEQ
endmodule
`default_nettype wire
