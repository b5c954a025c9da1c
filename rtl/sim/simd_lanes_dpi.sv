// SPDX-License-Identifier: Apache-2.0
//
// The vector unit's lanes (see ../simd_lanes.v for ports and behaviour) for simulation of wide units: slots, registers and operations are a
// cycle-exact C macro (csim/lanes), called at the clock edges with an operation or a line; put_q is RTL. Same bits in the same cycles.
//
// What is wide goes to the macro when it comes and comes from it when a result is put, so that an operation moves a few words.
`default_nettype none

module simd_lanes_dpi #(
    parameter integer LineBytes = 512,
    parameter integer Lanes     = 256
) (
    input  wire                   clk_i,

    input  wire                   line_i,
    input  wire [2:0]             slot_i,
    input  wire                   slot_high_i,
    input  wire [LineBytes*8-1:0] rdata_i,

    input  wire                   fire_i,
    input  wire [22:0]            code_i,
    input  wire                   vector_i,
    input  wire [2:0]             head_i,
    input  wire [3:0]             type_i,
    input  wire [3:0]             shift_i,
    input  wire [31:0]            literal_a_i,
    input  wire [31:0]            literal_b_i,
    input  wire [127:0]           constants_i,
    input  wire [15:0]            tap_i,
    input  wire [31:0]            channel_i,
    input  wire [15:0]            active_i,
    input  wire [Lanes-1:0]       first_i,
    input  wire                   put_i,

    output reg  [Lanes*32-1:0]    put_q
);
  import "DPI-C" function chandle lanes_dpi_create(input string name, input int lanes);
  import "DPI-C" function void lanes_dpi_free(input chandle lanes);
  import "DPI-C" function void lanes_dpi_line(input chandle lanes, input int slot, input int high, input bit [LineBytes*8-1:0] line);
  import "DPI-C" function void lanes_dpi_fire(
    input chandle lanes, input int code, input int has_vector, input int head, input int kind, input int shift,
    input int scalar_a, input int scalar_b, input int channel, input int active, input bit [Lanes-1:0] first);
  import "DPI-C" function void lanes_dpi_result(input chandle lanes, output bit [Lanes*32-1:0] result);

  chandle lanes;
  initial begin
    lanes = lanes_dpi_create($sformatf("%m"), Lanes);
    if (lanes == null) $fatal(1, "%m: no lanes");
  end
  final lanes_dpi_free(lanes);

  wire [31:0] scalar_a = code_i[13] ? literal_a_i : code_i[9] ? {16'd0, tap_i} : constants_i[32*code_i[8:7]+:32];
  wire [31:0] scalar_b = code_i[6] ? literal_b_i : code_i[2] ? {16'd0, tap_i} : constants_i[32*code_i[1:0]+:32];

`ifdef WC_FAULTS
  // As in simd_lanes.v.
  reg [31:0] fault = 32'd0;
`endif

  bit [Lanes*32-1:0] result;

  // The C calls fill a variable that only this process uses.
  // verilator lint_off BLKSEQ
  always @(posedge clk_i) begin
    if (fire_i) begin
      lanes_dpi_fire(lanes, {9'd0, code_i}, {31'd0, vector_i}, {29'd0, head_i}, {28'd0, type_i}, {28'd0, shift_i},
                     scalar_a, scalar_b, channel_i, {16'd0, active_i}, first_i);
      if (put_i) begin
        lanes_dpi_result(lanes, result);
`ifdef WC_FAULTS
        if (fault != 32'd0) result = result ^ ({{(Lanes * 32 - 1) {1'b0}}, 1'b1} << (fault - 32'd1));
`endif
        put_q <= result;
      end
    end
    // After the operation, which still finds the old line.
    if (line_i) lanes_dpi_line(lanes, {29'd0, slot_i}, {31'd0, slot_high_i}, rdata_i);
  end
  // verilator lint_on BLKSEQ
endmodule
`default_nettype wire
