// SPDX-License-Identifier: Apache-2.0
//
// The global buffer: GbufBytes in 8 banks of LineBytes-wide lines, behind its ports (rtl/README.md, "Global buffer port").
// Priority in the order A, D, B, loads, stores, vector; a port is granted when none of the banks it touches is taken by a port
// before it, so several are served in one cycle. Loads and stores have a port for each of the MemPorts memory ports.
//
// An access starts at any multiple of 2 bytes and covers 1..LineBytes bytes. Reads answer exactly 2 cycles after the grant. A
// read granted after a write sees it. Requesters check their ranges; an access beyond the buffer is outside this module's
// contract.
`default_nettype none

module gbuf #(
    parameter integer GbufBytes = 65536,
    parameter integer LineBytes = 64,
    parameter integer MemPorts  = 1
) (
    input  wire                   clk_i,
    input  wire                   rst_ni,

    input  wire                   a_req_i,
    input  wire [31:0]            a_addr_i,
    input  wire [15:0]            a_size_i,
    output wire                   a_gnt_o,
    output wire                   a_rvalid_o,
    output wire [LineBytes*8-1:0] a_rdata_o,

    input  wire                   d_req_i,
    input  wire [31:0]            d_addr_i,
    input  wire [15:0]            d_size_i,
    input  wire                   d_we_i,
    input  wire [LineBytes*8-1:0] d_wdata_i,
    output wire                   d_gnt_o,
    output wire                   d_rvalid_o,
    output wire [LineBytes*8-1:0] d_rdata_o,

    input  wire                   b_req_i,
    input  wire [31:0]            b_addr_i,
    input  wire [15:0]            b_size_i,
    output wire                   b_gnt_o,
    output wire                   b_rvalid_o,
    output wire [LineBytes*8-1:0] b_rdata_o,

    input  wire [MemPorts-1:0]             ld_req_i,
    input  wire [MemPorts*32-1:0]          ld_addr_i,
    input  wire [MemPorts*16-1:0]          ld_size_i,
    input  wire [MemPorts*LineBytes*8-1:0] ld_wdata_i,
    output wire [MemPorts-1:0]             ld_gnt_o,

    input  wire [MemPorts-1:0]             st_req_i,
    input  wire [MemPorts*32-1:0]          st_addr_i,
    input  wire [MemPorts*16-1:0]          st_size_i,
    output wire [MemPorts-1:0]             st_gnt_o,
    output wire [MemPorts-1:0]             st_rvalid_o,
    output wire [MemPorts*LineBytes*8-1:0] st_rdata_o,

    input  wire                   v_req_i,
    input  wire [31:0]            v_addr_i,
    input  wire [15:0]            v_size_i,
    input  wire                   v_we_i,
    input  wire [LineBytes*8-1:0] v_wdata_i,
    output wire                   v_gnt_o,
    output wire                   v_rvalid_o,
    output wire [LineBytes*8-1:0] v_rdata_o
);
  localparam integer Bits = LineBytes * 8;
  localparam integer Depth = GbufBytes / LineBytes / 8;
  localparam integer RowBits = (Depth > 1) ? $clog2(Depth) : 1;

  generate
    if (GbufBytes % 4096 != 0) begin : g_bad_size
      // Elaboration error: GbufBytes must be a multiple of 4096.
      gbuf_bytes_must_be_a_multiple_of_4096 u_bad ();
    end
  endgenerate

  // ---- ports in the order of priority: A, D, B, loads, stores, vector ----
  localparam integer Loads  = 3;  // first of the loads' ports
  localparam integer Stores = Loads + MemPorts;
  localparam integer Vector = Stores + MemPorts;
  localparam integer Ports  = Vector + 1;

  wire [Ports-1:0]     req = {v_req_i, st_req_i, ld_req_i, b_req_i, d_req_i, a_req_i};
  wire [Ports-1:0]     we = {v_we_i, {MemPorts{1'b0}}, {MemPorts{1'b1}}, 1'b0, d_we_i, 1'b0};
  wire [Ports*32-1:0]  addr = {v_addr_i, st_addr_i, ld_addr_i, b_addr_i, d_addr_i, a_addr_i};
  wire [Ports*16-1:0]  size = {v_size_i, st_size_i, ld_size_i, b_size_i, d_size_i, a_size_i};
  wire [Ports-1:0]     two, rvalid;
  reg  [Ports-1:0]     gnt;
  wire [Ports*16-1:0]  offset;
  wire [Ports*3-1:0]   bank0, bank1;
  wire [Ports*RowBits-1:0] row0, row1;
  wire [Ports*8-1:0]   banks;
  reg  [7:0]           taken;  // banks of the ports granted so far
  integer              q;
  localparam [31:0]    LineWord = LineBytes;

  genvar p;
  generate
    for (p = 0; p < Ports; p = p + 1) begin : g_port
      gbuf_place #(
          .LineBytes(LineBytes),
          .RowBits  (RowBits)
      ) u_place (
          .addr_i  (addr[32*p+:32]),
          .size_i  (size[16*p+:16]),
          .offset_o(offset[16*p+:16]),
          .two_o   (two[p]),
          .bank0_o (bank0[3*p+:3]),
          .row0_o  (row0[RowBits*p+:RowBits]),
          .bank1_o (bank1[3*p+:3]),
          .row1_o  (row1[RowBits*p+:RowBits]),
          .banks_o (banks[8*p+:8])
      );
    end
  endgenerate

  always @(*) begin
    taken = 8'd0;
    for (q = 0; q < Ports; q = q + 1) begin
      gnt[q] = req[q] && (banks[8*q+:8] & taken) == 8'd0;
      if (gnt[q]) taken = taken | banks[8*q+:8];
    end
  end
  assign {v_gnt_o, st_gnt_o, ld_gnt_o, b_gnt_o, d_gnt_o, a_gnt_o} = gnt;

  // ---- writers: D, loads, vector; their data rotated so that each byte lies at its place in a line ----
  wire [Bits-1:0] d_line, v_line;
  wire [MemPorts*Bits-1:0] ld_line;
  gbuf_rotate #(
      .LineBytes(LineBytes)
  ) u_rotate_d (
      .valid_i (d_req_i && d_we_i),
      .offset_i(offset[16*1+:16]),
      .data_i  (d_wdata_i),
      .line_o  (d_line)
  );
  generate
    for (p = 0; p < MemPorts; p = p + 1) begin : g_load
      gbuf_rotate #(
          .LineBytes(LineBytes)
      ) u_rotate (
          .valid_i (ld_req_i[p]),
          .offset_i(offset[16*(Loads+p)+:16]),
          .data_i  (ld_wdata_i[Bits*p+:Bits]),
          .line_o  (ld_line[Bits*p+:Bits])
      );
    end
  endgenerate
  gbuf_rotate #(
      .LineBytes(LineBytes)
  ) u_rotate_v (
      .valid_i (v_req_i && v_we_i),
      .offset_i(offset[16*Vector+:16]),
      .data_i  (v_wdata_i),
      .line_o  (v_line)
  );

  // ---- banks ----
  genvar b;
  generate
    for (b = 0; b < 8; b = b + 1) begin : g_bank
      // At most one port is granted this bank.
      reg               access, write, second;
      reg [RowBits-1:0] row;
      reg [15:0]        first, size_left;
      reg [1:0]         source;
      integer           i;
      always @(*) begin
        access = 1'b0;
        write = 1'b0;
        second = 1'b0;
        row = {RowBits{1'b0}};
        first = 16'd0;
        size_left = 16'd0;
        source = 2'd0;
        for (i = 0; i < Ports; i = i + 1)
          if (gnt[i] && banks[8*i+b]) begin
            access = 1'b1;
            write = we[i];
            second = bank0[3*i+:3] != b;
            row = second ? row1[RowBits*i+:RowBits] : row0[RowBits*i+:RowBits];
            first = second ? 16'd0 : offset[16*i+:16];
            size_left = offset[16*i+:16] + size[16*i+:16];
            source = (i == 1) ? 2'd0 : (i == Loads) ? 2'd1 : (i == Vector) ? 2'd2 : 2'd3;
          end
      end
      // End of the bytes in this line.
      wire [15:0] line_end = (size_left > LineWord[15:0]) ? (second ? size_left - LineWord[15:0] : LineWord[15:0]) : size_left;

      wire [Bits-1:0] data;
      gbuf_bank #(
          .LineBytes(LineBytes),
          .Depth    (Depth),
          .RowBits  (RowBits),
          .MemPorts (MemPorts)
      ) u_bank (
          .clk_i   (clk_i),
          .read_i  (access && !write),
          .write_i (write),
          .row_i   (row),
          .source_i(source),
          .first_i (first),
          .end_i   (line_end),
          .drain_i (d_line),
          .load_i  (ld_line),
          .vector_i(v_line),
          .data_o  (data)
      );
    end
  endgenerate

  // ---- readers: A, D, B, stores, vector ----
  wire [Ports*Bits-1:0] rdata;
  generate
    for (p = 0; p < Ports; p = p + 1) begin : g_read
      if (p < Loads || p >= Stores) begin : g_reader
        gbuf_read #(
            .LineBytes(LineBytes)
        ) u_read (
            .clk_i   (clk_i),
            .rst_ni  (rst_ni),
            .grant_i (gnt[p] && !we[p]),
            .two_i   (two[p]),
            .offset_i(offset[16*p+:16]),
            .bank0_i (bank0[3*p+:3]),
            .bank1_i (bank1[3*p+:3]),
            .line0_i (g_bank[0].data),
            .line1_i (g_bank[1].data),
            .line2_i (g_bank[2].data),
            .line3_i (g_bank[3].data),
            .line4_i (g_bank[4].data),
            .line5_i (g_bank[5].data),
            .line6_i (g_bank[6].data),
            .line7_i (g_bank[7].data),
            .rvalid_o(rvalid[p]),
            .rdata_o (rdata[Bits*p+:Bits])
        );
      end else begin : g_writer
        assign rvalid[p] = 1'b0;
        assign rdata[Bits*p+:Bits] = {Bits{1'b0}};
      end
    end
  endgenerate
  assign a_rdata_o = rdata[0*Bits+:Bits];
  assign d_rdata_o = rdata[1*Bits+:Bits];
  assign b_rdata_o = rdata[2*Bits+:Bits];
  assign st_rdata_o = rdata[Stores*Bits+:MemPorts*Bits];
  assign v_rdata_o = rdata[Vector*Bits+:Bits];
  assign a_rvalid_o = rvalid[0];
  assign d_rvalid_o = rvalid[1];
  assign b_rvalid_o = rvalid[2];
  assign st_rvalid_o = rvalid[Stores+:MemPorts];
  assign v_rvalid_o = rvalid[Vector];

  wire unused = &{1'b0, taken, two, bank1, rvalid[Loads+:MemPorts], rdata[Loads*Bits+:MemPorts*Bits]};

`ifdef WC_ASSERT
  localparam [32:0] LimitWord = 33'd0 + GbufBytes;
  generate
    for (p = 0; p < Ports; p = p + 1) begin : g_assert
      gbuf_range: assert property (@(posedge clk_i) disable iff (!rst_ni)
          !req[p] || (size[16*p+:16] != 16'd0 && size[16*p+:16] <= LineWord[15:0] && !addr[32*p]
              && {1'b0, addr[32*p+:32]} + {17'd0, size[16*p+:16]} <= LimitWord))
      else $error("gbuf: port %0d: access outside its contract", p);
    end
  endgenerate
  // Port A is never kept waiting.
  gbuf_a_first: assert property (@(posedge clk_i) disable iff (!rst_ni) !a_req_i || a_gnt_o)
  else $error("gbuf: port A not granted");
`endif
endmodule
`default_nettype wire
