// SPDX-License-Identifier: Apache-2.0
//
// The three forms of the array side by side on the same inputs. Structural = 0 leaves the instance-by-instance form out where it would
// take minutes to compile; its outputs then follow array_fast.
`default_nettype none

module array_trio #(
    parameter integer Rows       = 4,
    parameter integer Cols       = 4,
    parameter integer MacStages  = 1,
    parameter integer Structural = 1
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
    output wire [Cols*32-1:0] rtl_psum_o,
    output wire [Cols-1:0]    rtl_valid_o,
    output wire [Cols*32-1:0] fast_psum_o,
    output wire [Cols-1:0]    fast_valid_o,
    output wire [Cols*32-1:0] dpi_psum_o,
    output wire [Cols-1:0]    dpi_valid_o
);
  generate
    if (Structural != 0) begin : g_rtl
      array #(
          .Rows(Rows), .Cols(Cols), .MacStages(MacStages)
      ) u_array (
          .clk_i(clk_i), .rst_ni(rst_ni), .en_i(en_i),
          .a_i(a_i), .a_valid_i(a_valid_i), .a_sel_i(a_sel_i),
          .w_i(w_i), .w_en_i(w_en_i), .w_sel_i(w_sel_i),
          .psum_o(rtl_psum_o), .psum_valid_o(rtl_valid_o)
      );
    end else begin : g_none
      assign rtl_psum_o = fast_psum_o;
      assign rtl_valid_o = fast_valid_o;
    end
  endgenerate

  array_fast #(
      .Rows(Rows), .Cols(Cols), .MacStages(MacStages)
  ) u_fast (
      .clk_i(clk_i), .rst_ni(rst_ni), .en_i(en_i),
      .a_i(a_i), .a_valid_i(a_valid_i), .a_sel_i(a_sel_i),
      .w_i(w_i), .w_en_i(w_en_i), .w_sel_i(w_sel_i),
      .psum_o(fast_psum_o), .psum_valid_o(fast_valid_o)
  );

  array_dpi #(
      .Rows(Rows), .Cols(Cols), .MacStages(MacStages)
  ) u_dpi (
      .clk_i(clk_i), .rst_ni(rst_ni), .en_i(en_i),
      .a_i(a_i), .a_valid_i(a_valid_i), .a_sel_i(a_sel_i),
      .w_i(w_i), .w_en_i(w_en_i), .w_sel_i(w_sel_i),
      .psum_o(dpi_psum_o), .psum_valid_o(dpi_valid_o)
  );
endmodule
`default_nettype wire
