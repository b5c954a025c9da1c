// SPDX-License-Identifier: Apache-2.0
//
// The lanes of the vector unit: eight slots for lines that were read, registers r0 to r7 and a predicate per lane, one fp32 adder and one
// fp32 multiplier each, and what moves values between lanes. An operation (rtl/programs.def) takes one cycle, on all lanes alike.
//
// A vector from a slot becomes fp32 first: fp16 is expanded, NaNs are canonical, bit fields are integers, lanes without a channel +0.
//
// All state but put_q is read in here alone, in one process, whose assignments take effect in their order. So nothing of it is evaluated while
// the unit is idle, which would cost a simulation more than the rest of the unit.
`default_nettype none

module simd_lanes #(
    parameter integer LineBytes = 64,
    parameter integer Lanes     = 32
) (
    input  wire                   clk_i,

    input  wire                   line_i,        // a line comes for a slot
    input  wire [2:0]             slot_i,
    input  wire                   slot_high_i,   // its second line
    input  wire [LineBytes*8-1:0] rdata_i,

    input  wire                   fire_i,        // an operation
    input  wire [22:0]            code_i,
    input  wire                   vector_i,      // its stream is in slot head_i, else it reads as +0
    input  wire [2:0]             head_i,
    input  wire [3:0]             type_i,
    input  wire [3:0]             shift_i,
    input  wire [31:0]            literal_a_i,
    input  wire [31:0]            literal_b_i,
    input  wire [127:0]           constants_i,
    input  wire [15:0]            tap_i,
    input  wire [31:0]            channel_i,     // of lane 0
    input  wire [15:0]            active_i,      // lanes with a channel
    input  wire [Lanes-1:0]       first_i,       // lanes that begin a group
    input  wire                   put_i,         // the result goes to a stream

    output reg  [Lanes*32-1:0]    put_q          // the last such result
);
  localparam integer LineBits = LineBytes * 8;
  localparam integer Bits     = Lanes * 32;

  wire [4:0]  op = code_i[22:18];
  wire [3:0]  d = code_i[17:14];
  wire        subtracts = op == wc_simd_pkg::OP_SUB;
  wire        compares = (op == wc_simd_pkg::OP_GT) || (op == wc_simd_pkg::OP_EQ) || (op == wc_simd_pkg::OP_ACTIVE);
  wire [3:0]  width = type_i - 4'd2;
  wire [31:0] scalar_a = code_i[13] ? literal_a_i : code_i[9] ? {16'd0, tap_i} : constants_i[32*code_i[8:7]+:32];
  wire [31:0] scalar_b = code_i[6] ? literal_b_i : code_i[2] ? {16'd0, tap_i} : constants_i[32*code_i[1:0]+:32];

  // As a signed number in the order of the fp32 values.
  function automatic signed [31:0] key(input [31:0] value);
    key = value[31] ? 32'd0 - {1'b0, value[30:0]} : value;
  endfunction

  function automatic [31:0] canonical(input [31:0] value);
    canonical = (value[30:0] > 31'h7f800000) ? 32'h7fc00000 : value;
  endfunction

`ifdef WC_FAULTS
  // A planted fault: the bit that is wrong in the next result that is put, counted from 1; 0: none. Set from outside the design.
  reg [31:0] fault = 32'd0;
`endif

  integer                i;
  reg [LineBits-1:0]     low  [0:7];
  reg [LineBits-1:0]     high [0:7];
  reg [Bits-1:0]         r    [0:7];
  reg [Lanes-1:0]        predicate;
  reg [2*LineBits-1:0]   raw;
  reg [Bits-1:0]         vector, a, b, sums, addends, result;

  always @(posedge clk_i) begin
    if (fire_i) begin
      // ---- its stream ----------------------------------------------------------------------------
      vector = {Bits{1'b0}};
      if (vector_i) begin
        raw = {high[head_i], low[head_i]};
        case (type_i)
          4'd0:
            for (i = 0; i < Lanes; i = i + 1)
              if (i < {16'd0, active_i}) vector[32*i+:32] = canonical(fp_pkg::fp16_expand({16'd0, raw[16*i+:16]}));
          4'd1:
            for (i = 0; i < Lanes; i = i + 1)
              if (i < {16'd0, active_i}) vector[32*i+:32] = canonical(raw[32*i+:32]);
          4'd2: vector = {Lanes{raw[31:0]}};
          default: begin
            raw = raw >> shift_i;
            for (i = 0; i < Lanes; i = i + 1)
              if (i < {16'd0, active_i}) vector[32*i+:32] = {24'd0, raw[i*width+:8] & ~(8'hff << width)};
          end
        endcase
      end

      // ---- sources -------------------------------------------------------------------------------
      if (code_i[13:10] == 4'd0) a = r[code_i[9:7]];
      else if (code_i[13:10] == 4'd1) a = vector;
      else if (code_i[13:7] == 7'd21) for (i = 0; i < Lanes; i = i + 1) a[32*i+:32] = channel_i + i;
      else a = {Lanes{scalar_a}};
      if (code_i[6:3] == 4'd0) b = r[code_i[2:0]];
      else if (code_i[6:3] == 4'd1) b = vector;
      else if (code_i[6:0] == 7'd21) for (i = 0; i < Lanes; i = i + 1) b[32*i+:32] = channel_i + i;
      else b = {Lanes{scalar_b}};
      if (op == wc_simd_pkg::OP_ACC2) begin
        sums = r[d[2:0]];
        addends = {b[Bits-33:0], a[31:0]};
        for (i = 1; i < Lanes; i = i + 1) if (first_i[i]) addends[32*i+:32] = a[32*i+:32];
        r[code_i[9:7]] = {32'd0, a[Bits-1:32]};
      end
      if ((op == wc_simd_pkg::OP_ACC) || (op == wc_simd_pkg::OP_ACC2)) begin
        b = {32'd0, b[Bits-1:32]};
        r[code_i[2:0]] = b;
      end
      if (op == wc_simd_pkg::OP_ACC2) begin
        a = sums;
        b = addends;
      end

      // ---- operation -----------------------------------------------------------------------------
      result = a;
      case (op)
        wc_simd_pkg::OP_ADD, wc_simd_pkg::OP_SUB, wc_simd_pkg::OP_ACC, wc_simd_pkg::OP_ACC2:
          for (i = 0; i < Lanes; i = i + 1) result[32*i+:32] = fp_pkg::fp32_add(a[32*i+:32], b[32*i+:32] ^ {subtracts, 31'd0});
        wc_simd_pkg::OP_MUL: for (i = 0; i < Lanes; i = i + 1) result[32*i+:32] = fp_pkg::fp32_mul(a[32*i+:32], b[32*i+:32]);
        wc_simd_pkg::OP_SEL: for (i = 0; i < Lanes; i = i + 1) if (!predicate[i]) result[32*i+:32] = b[32*i+:32];
        wc_simd_pkg::OP_GT: for (i = 0; i < Lanes; i = i + 1) predicate[i] = key(a[32*i+:32]) > key(b[32*i+:32]);
        wc_simd_pkg::OP_EQ: for (i = 0; i < Lanes; i = i + 1) predicate[i] = a[32*i+:32] == b[32*i+:32];
        wc_simd_pkg::OP_ACTIVE: for (i = 0; i < Lanes; i = i + 1) predicate[i] = i < {16'd0, active_i};
        wc_simd_pkg::OP_IADD: for (i = 0; i < Lanes; i = i + 1) result[32*i+:32] = a[32*i+:32] + b[32*i+:32];
        wc_simd_pkg::OP_ISUB: for (i = 0; i < Lanes; i = i + 1) result[32*i+:32] = a[32*i+:32] - b[32*i+:32];
        wc_simd_pkg::OP_AND: result = a & b;
        wc_simd_pkg::OP_SRL1: for (i = 0; i < Lanes; i = i + 1) result[32*i+:32] = {1'b0, a[32*i+1+:31]};
        wc_simd_pkg::OP_SRA23: for (i = 0; i < Lanes; i = i + 1) result[32*i+:32] = {{23{a[32*i+31]}}, a[32*i+23+:9]};
        wc_simd_pkg::OP_SLL23: for (i = 0; i < Lanes; i = i + 1) result[32*i+:32] = {a[32*i+:9], 23'd0};
        wc_simd_pkg::OP_SHIFT: result = {32'd0, a[Bits-1:32]};
        wc_simd_pkg::OP_FILL: for (i = 1; i < Lanes; i = i + 1) if (!first_i[i]) result[32*i+:32] = a[32*(i-1)+:32];
        wc_simd_pkg::OP_BCAST: result = {Lanes{a[31:0]}};
        default: ;
      endcase
      if (!compares && !d[3]) r[d[2:0]] = result;
      if (put_i) begin
`ifdef WC_FAULTS
        if (fault != 32'd0) result = result ^ ({{(Bits - 1) {1'b0}}, 1'b1} << (fault - 32'd1));
`endif
        put_q <= result;
      end
    end
    if (line_i && !slot_high_i) low[slot_i] = rdata_i;
    if (line_i && slot_high_i) high[slot_i] = rdata_i;
  end

  // Lane 0 always begins a group.
  wire unused = &{1'b0, first_i[0], 1'b0};
endmodule
`default_nettype wire
