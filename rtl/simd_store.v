// SPDX-License-Identifier: Apache-2.0
//
// Writes the vectors of a SIMD command: takes the access of a result, packs the result in the next cycle, and asks the global buffer to write
// one or two lines. So a vector can be put every second cycle.
//
// fp32 lanes become what the stream has: fp16 rounded, fp32, lane 0 alone, or bit fields. These are packed from the bit on where the last ones
// ended, whose half is kept to be written again with the bits that follow; what lies behind the last field is 0.
`default_nettype none

module simd_store #(
    parameter integer LineBytes = 64,
    parameter integer Lanes     = 32
) (
    input  wire                   clk_i,
    input  wire                   rst_ni,
    output wire                   busy_o,

    input  wire                   put_i,        // only with ready_o
    output wire                   ready_o,
    input  wire [31:0]            byte_i,
    input  wire [15:0]            bytes_i,      // up to two lines
    input  wire [3:0]             shift_i,
    input  wire [3:0]             type_i,
    input  wire [15:0]            active_i,
    input  wire [Lanes*32-1:0]    lanes_i,      // the result, a cycle after put_i, until the next one

    output wire                   req_o,        // to the buffer; stays until granted
    output wire [31:0]            addr_o,
    output wire [15:0]            size_o,
    output wire [LineBytes*8-1:0] wdata_o,
    input  wire                   gnt_i
);
  localparam integer LineBits = LineBytes * 8;
  localparam [15:0]  Line     = LineBytes[15:0];

  // ---- a result that is not packed yet -----------------------------------------------------------
  reg         raw_q;
  reg  [31:0] byte_q;
  reg  [15:0] bytes_q, active_q;
  reg  [3:0]  shift_q, type_q;
  wire [3:0]  width = type_q - 4'd2;
  wire [15:0] field_end = {12'd0, shift_q} + active_q * {12'd0, width};

  // ---- packed lines ------------------------------------------------------------------------------
  reg                valid_q, second_q;
  reg [31:0]         addr_q;
  reg [15:0]         left_q;
  reg [LineBits-1:0] low_q, high_q;
  wire               more = left_q > Line;
  wire               pack = raw_q && (!valid_q || (gnt_i && !more));

  assign ready_o = !raw_q;
  assign busy_o  = raw_q || valid_q;
  assign req_o   = valid_q;
  assign addr_o  = addr_q;
  assign size_o  = more ? Line : left_q;
  assign wdata_o = second_q ? high_q : low_q;

  function automatic [15:0] narrow(input [31:0] value);
    reg [15:0] unused;
    {unused, narrow} = fp_pkg::fp32_narrow(value);
  endfunction

  // One process with assignments in their order, as in simd_lanes.
  integer              i;
  reg [15:0]           rest;     // the last half of bit fields
  reg [2*LineBits-1:0] whole;
  always @(posedge clk_i)
    if (pack) begin
      whole = {2 * LineBits{1'b0}};
      case (type_q)
        4'd0: for (i = 0; i < Lanes; i = i + 1) whole[16*i+:16] = narrow(lanes_i[32*i+:32]);
        4'd1, 4'd2:
          for (i = 0; i < Lanes; i = i + 1)
            whole[32*i+:32] = (lanes_i[32*i+:31] > 31'h7f800000) ? 32'h7fc00000 : lanes_i[32*i+:32];
        default: begin
          for (i = 0; i < Lanes; i = i + 1)
            if (i < {16'd0, active_q}) whole[i*width+:8] = whole[i*width+:8] | (lanes_i[32*i+:8] & ~(8'hff << width));
          whole = whole << shift_q;
          if (shift_q != 4'd0) whole[15:0] = whole[15:0] | rest;
          rest = whole[16*(field_end>>4)+:16];
        end
      endcase
      low_q  <= whole[LineBits-1:0];
      high_q <= whole[2*LineBits-1:LineBits];
    end

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      raw_q    <= 1'b0;
      valid_q  <= 1'b0;
      second_q <= 1'b0;
    end else begin
      if (put_i) raw_q <= 1'b1;
      else if (pack) raw_q <= 1'b0;
      if (pack) valid_q <= 1'b1;
      else if (gnt_i && !more) valid_q <= 1'b0;
      if (pack) second_q <= 1'b0;
      else if (gnt_i) second_q <= 1'b1;
    end

  always @(posedge clk_i) begin
    if (put_i) begin
      byte_q   <= byte_i;
      bytes_q  <= bytes_i;
      active_q <= active_i;
      shift_q  <= shift_i;
      type_q   <= type_i;
    end
    if (pack) begin
      addr_q <= byte_q;
      left_q <= bytes_q;
    end else if (gnt_i) begin
      addr_q <= addr_q + LineBytes;
      left_q <= left_q - Line;
    end
  end

`ifdef WC_ASSERT
  // One vector at a time.
  simd_store_space: assert property (@(posedge clk_i) disable iff (!rst_ni) !(put_i && !ready_o))
  else $error("simd_store: a vector was put upon another");
`endif
endmodule
`default_nettype wire
