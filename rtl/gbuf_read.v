// SPDX-License-Identifier: Apache-2.0
//
// Read side of one global buffer port: the cycle after a grant the touched lines leave their banks; here they are picked, joined
// and shifted, so that the byte at the access's address is byte 0 of rdata_o, with rvalid_o, two cycles after the grant.
`default_nettype none

module gbuf_read #(
    parameter integer LineBytes = 64
) (
    input  wire                   clk_i,
    input  wire                   rst_ni,
    input  wire                   grant_i,    // of a read
    input  wire                   two_i,
    input  wire [15:0]            offset_i,
    input  wire [2:0]             bank0_i,
    input  wire [2:0]             bank1_i,
    input  wire [LineBytes*8-1:0] line0_i,    // of the banks
    input  wire [LineBytes*8-1:0] line1_i,
    input  wire [LineBytes*8-1:0] line2_i,
    input  wire [LineBytes*8-1:0] line3_i,
    input  wire [LineBytes*8-1:0] line4_i,
    input  wire [LineBytes*8-1:0] line5_i,
    input  wire [LineBytes*8-1:0] line6_i,
    input  wire [LineBytes*8-1:0] line7_i,
    output wire                   rvalid_o,
    output wire [LineBytes*8-1:0] rdata_o
);
  localparam integer Bits = LineBytes * 8;
  localparam integer ShiftBits = $clog2(Bits) + 1;

  reg            valid1_q, valid2_q, two_q;
  reg [15:0]     offset_q;
  reg [2:0]      bank0_q, bank1_q;
  reg [Bits-1:0] rdata_q;
  assign rvalid_o = valid2_q;
  assign rdata_o = rdata_q;

  function automatic [Bits-1:0] line_of(input [2:0] bank);
    case (bank)
      3'd0: line_of = line0_i;
      3'd1: line_of = line1_i;
      3'd2: line_of = line2_i;
      3'd3: line_of = line3_i;
      3'd4: line_of = line4_i;
      3'd5: line_of = line5_i;
      3'd6: line_of = line6_i;
      default: line_of = line7_i;
    endcase
  endfunction

  // In one process, whose assignments take effect in their order, so that a port that reads nothing costs a simulation nothing.
  reg [Bits-1:0] joined;
  always @(posedge clk_i)
    if (valid1_q) begin
      joined = line_of(bank0_q) >> {offset_q[ShiftBits-4:0], 3'b000};
      if (two_q) joined = joined | (line_of(bank1_q) << (Bits[ShiftBits-1:0] - {offset_q[ShiftBits-4:0], 3'b000}));
      rdata_q <= joined;
    end

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      valid1_q <= 1'b0;
      valid2_q <= 1'b0;
    end else begin
      valid1_q <= grant_i;
      valid2_q <= valid1_q;
    end
  always @(posedge clk_i)
    if (grant_i) begin
      two_q <= two_i;
      offset_q <= offset_i;
      bank0_q <= bank0_i;
      bank1_q <= bank1_i;
    end

  wire unused = &{1'b0, offset_q};
endmodule
`default_nettype wire
