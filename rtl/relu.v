// SPDX-License-Identifier: Apache-2.0
//
// VECTOR commands, ReLU and its gradients: element-wise work on rows of fp16 in the global buffer, a line of LineBytes (a chunk) at a time, while the array goes on.
//
// Chunks are pipelined through the buffer's one vector port: reads run up to Ahead chunks before the writes, and a finished chunk
// is written before another is read. Without other traffic a chunk takes 2 cycles (3 with an fp16 aux).
//
// Mask bits are gathered in a register of one line, that is of 16 chunks (a group): read before its group, or written after it,
// at the cost of a few idle cycles. The last byte's bits beyond the row are zero.
//
// dst may be src; no other overlap of source and destination is defined. Rows are checked against the buffer's size before their
// first access.
`default_nettype none

module relu #(
    parameter integer GbufBytes = 65536,
    parameter integer LineBytes = 64
) (
    input  wire                   clk_i,
    input  wire                   rst_ni,
    input  wire                   halt_i,
    output wire                   busy_o,

    input  wire                   cmd_valid_i,
    output wire                   cmd_ready_o,
    input  wire [2047:0]          cmd_i,
    input  wire [31:0]            cmd_index_i,
    output reg                    done_o,
    output wire [31:0]            done_index_o,
    output wire                   error_o,
    output wire [7:0]             error_status_o,
    output wire [31:0]            error_index_o,

    output wire                   v_req_o,
    output reg  [31:0]            v_addr_o,
    output reg  [15:0]            v_size_o,
    output wire                   v_we_o,
    output wire [LineBytes*8-1:0] v_wdata_o,
    input  wire                   v_gnt_i,
    input  wire                   v_rvalid_i,
    input  wire [LineBytes*8-1:0] v_rdata_i
);
  localparam integer Lanes       = LineBytes / 2;
  localparam integer LineBits    = LineBytes * 8;
  localparam integer GroupChunks = 16;
  localparam integer Ahead       = 4;

  localparam [2:0] IDLE       = 3'd0;
  localparam [2:0] CHECK_ROW  = 3'd1;
  localparam [2:0] READ_MASK  = 3'd2;
  localparam [2:0] AWAIT_MASK = 3'd3;
  localparam [2:0] STREAM     = 3'd4;
  localparam [2:0] WRITE_MASK = 3'd5;
  localparam [2:0] ROW_DONE   = 3'd6;
  localparam [2:0] FAILED     = 3'd7;

  reg  [2:0]  state_q;
  wire        load = cmd_valid_i && cmd_ready_o;

  // ---- the command -------------------------------------------------------------------------------
  reg  [31:0] index_q;
  reg  [1:0]  op_q;
  reg         makes_mask_q;
  reg  [31:0] elements_q;
  reg  [15:0] count1_q, rows_left_q, planes_left_q;  // left: after the present one

  wire        takes_mask = op_q == 2'd1;
  wire        takes_aux  = op_q == 2'd2;
  wire        last_row   = rows_left_q == 16'd0;
  wire        last_plane = planes_left_q == 16'd0;
  wire        next_row   = (state_q == ROW_DONE) && !last_row;
  wire        next_plane = (state_q == ROW_DONE) && last_row;
  wire [31:0] src_row, aux_row, dst_row;

  row_walk u_src (
      .clk_i       (clk_i),
      .load_i      (load),
      .base_i      (cmd_i[wc_cmd_pkg::VECTOR_SRC_BASE_L+:32]),
      .stride1_i   (cmd_i[wc_cmd_pkg::VECTOR_SRC_STRIDE1_L+:32]),
      .stride2_i   (cmd_i[wc_cmd_pkg::VECTOR_SRC_STRIDE2_L+:32]),
      .next_row_i  (next_row),
      .next_plane_i(next_plane),
      .row_o       (src_row)
  );
  row_walk u_aux (
      .clk_i       (clk_i),
      .load_i      (load),
      .base_i      (cmd_i[wc_cmd_pkg::VECTOR_AUX_BASE_L+:32]),
      .stride1_i   (cmd_i[wc_cmd_pkg::VECTOR_AUX_STRIDE1_L+:32]),
      .stride2_i   (cmd_i[wc_cmd_pkg::VECTOR_AUX_STRIDE2_L+:32]),
      .next_row_i  (next_row),
      .next_plane_i(next_plane),
      .row_o       (aux_row)
  );
  row_walk u_dst (
      .clk_i       (clk_i),
      .load_i      (load),
      .base_i      (cmd_i[wc_cmd_pkg::VECTOR_DST_BASE_L+:32]),
      .stride1_i   (cmd_i[wc_cmd_pkg::VECTOR_DST_STRIDE1_L+:32]),
      .stride2_i   (cmd_i[wc_cmd_pkg::VECTOR_DST_STRIDE2_L+:32]),
      .next_row_i  (next_row),
      .next_plane_i(next_plane),
      .row_o       (dst_row)
  );

  // Ranges of the row; elements <= GbufBytes, so nothing overflows.
  wire [31:0] row_bytes  = {elements_q[30:0], 1'b0};
  wire [31:0] mask_bytes = (elements_q + 32'd7) >> 3;
  wire [31:0] aux_bytes  = takes_aux ? row_bytes : mask_bytes;
  wire        uses_aux   = takes_aux || takes_mask || makes_mask_q;
  wire        row_bad    = (src_row > GbufBytes) || (GbufBytes - src_row < row_bytes)
                        || (dst_row > GbufBytes) || (GbufBytes - dst_row < row_bytes)
                        || (uses_aux && ((aux_row > GbufBytes) || (GbufBytes - aux_row < aux_bytes)));

  // ---- reads -------------------------------------------------------------------------------------
  reg  [31:0] read_offset_q;   // bytes into the row
  reg  [31:0] read_left_q;     // elements
  reg  [4:0]  read_chunk_q;    // of the group
  reg         read_aux_q;      // the chunk's src is asked for, its aux is next
  reg  [2:0]  in_flight_q;     // chunks read, or being read, and not yet written
  wire        group_open = (read_left_q != 32'd0) && (!(takes_mask || makes_mask_q) || (read_chunk_q < GroupChunks[4:0]));

  // ---- chunks that have come back ----------------------------------------------------------------
  reg                 back_aux_q;
  wire                src_ready, src_valid, aux_ready, aux_valid, write_take;
  wire [LineBits-1:0] src_data, aux_data;
  wire [2:0]          src_count, aux_count;
  wire                stream_back = v_rvalid_i && (state_q == STREAM);

  fifo #(
      .Width(LineBits),
      .Depth(Ahead)
  ) u_src_chunks (
      .clk_i  (clk_i),
      .rst_ni (rst_ni),
      .push_i (stream_back && !back_aux_q),
      .data_i (v_rdata_i),
      .ready_o(src_ready),
      .valid_o(src_valid),
      .data_o (src_data),
      .pop_i  (write_take),
      .count_o(src_count)
  );
  fifo #(
      .Width(LineBits),
      .Depth(Ahead)
  ) u_aux_chunks (
      .clk_i  (clk_i),
      .rst_ni (rst_ni),
      .push_i (stream_back && back_aux_q),
      .data_i (v_rdata_i),
      .ready_o(aux_ready),
      .valid_o(aux_valid),
      .data_o (aux_data),
      .pop_i  (write_take && takes_aux),
      .count_o(aux_count)
  );

  // ---- writes ------------------------------------------------------------------------------------
  reg  [31:0]         write_offset_q;
  reg  [31:0]         write_left_q;
  reg  [3:0]          write_chunk_q;
  reg  [LineBits-1:0] mask_q;
  reg  [31:0]         group_offset_q;  // bytes into the mask row
  reg  [31:0]         group_left_q;    // elements from the group's start to the row's end
  wire                chunk_ready = src_valid && (aux_valid || !takes_aux);
  wire [Lanes-1:0]    mask_bits   = mask_q[write_chunk_q*Lanes+:Lanes];
  wire [LineBits-1:0] dst_data;
  wire [Lanes-1:0]    keep;
  wire [Lanes-1:0]    in_row = (write_left_q < Lanes) ? ~({Lanes{1'b1}} << write_left_q[$clog2(Lanes)-1:0]) : {Lanes{1'b1}};

`ifdef WC_FAULTS
  // A planted fault, set from outside the design. Its register keeps it out of what the inputs of a cycle reach, which is simulated twice.
  reg  [31:0] fault = 32'd0;
  reg  [31:0] fault_q;
  always @(posedge clk_i) fault_q <= fault;
`else
  wire [31:0] fault_q = 32'd0;
`endif

  relu_lanes #(
      .Lanes(Lanes)
  ) u_lanes (
      .valid_i(chunk_ready),
      .op_i   (op_q),
      .src_i  (src_data),
      .aux_i  (aux_data),
      .mask_i (mask_bits),
      .fault_i(fault_q),
      .dst_o  (dst_data),
      .keep_o (keep)
  );

  // ---- the port ----------------------------------------------------------------------------------
  // A request that was not granted stays as it is.
  reg  held_q, held_write_q;
  wire reads  = read_aux_q || (group_open && (in_flight_q < Ahead[2:0]));
  wire writes = held_q ? held_write_q : chunk_ready;
  wire wants  = (state_q == READ_MASK) || (state_q == WRITE_MASK) || ((state_q == STREAM) && (chunk_ready || reads));

  assign v_req_o   = held_q || (wants && !halt_i);
  assign v_we_o    = (state_q == WRITE_MASK) || ((state_q == STREAM) && writes);
  assign v_wdata_o = (state_q == WRITE_MASK) ? mask_q : dst_data;

  wire take       = v_req_o && v_gnt_i;
  wire read_take  = take && (state_q == STREAM) && !writes;
  assign write_take = take && (state_q == STREAM) && writes;

  // Sizes: a whole line, or what is left of the row.
  wire [31:0] mask_left = (group_left_q + 32'd7) >> 3;
  always @(*) begin
    if (state_q == STREAM && writes) begin
      v_addr_o = dst_row + write_offset_q;
      v_size_o = (write_left_q < Lanes) ? {write_left_q[14:0], 1'b0} : LineBytes[15:0];
    end else if (state_q == STREAM) begin
      v_addr_o = (read_aux_q ? aux_row : src_row) + read_offset_q;
      v_size_o = (read_left_q < Lanes) ? {read_left_q[14:0], 1'b0} : LineBytes[15:0];
    end else begin
      v_addr_o = aux_row + group_offset_q;
      v_size_o = (mask_left < LineBytes) ? mask_left[15:0] : LineBytes[15:0];
    end
  end

  // ---- control -----------------------------------------------------------------------------------
  wire last_read   = read_left_q <= Lanes;
  wire chunk_asked = read_take && (read_aux_q || !takes_aux);
  wire group_done  = (state_q == STREAM) && !group_open && !read_aux_q && (in_flight_q == 3'd0);
  wire row_ends    = read_left_q == 32'd0;
  wire open_row    = (state_q == CHECK_ROW) && !row_bad;
  wire open_group  = open_row || ((state_q == WRITE_MASK) && take) || (group_done && takes_mask);

  reg [2:0] state_d;
  always @(*) begin
    state_d = state_q;
    case (state_q)
      IDLE:       if (load) state_d = CHECK_ROW;
      CHECK_ROW:  state_d = row_bad ? FAILED : takes_mask ? READ_MASK : STREAM;
      READ_MASK:  if (take) state_d = AWAIT_MASK;
      AWAIT_MASK: if (v_rvalid_i) state_d = STREAM;
      STREAM:     if (group_done) state_d = makes_mask_q ? WRITE_MASK : row_ends ? ROW_DONE : READ_MASK;
      WRITE_MASK: if (take) state_d = row_ends ? ROW_DONE : STREAM;
      ROW_DONE:   state_d = (last_row && last_plane) ? IDLE : CHECK_ROW;
      default:    state_d = FAILED;
    endcase
  end

  assign cmd_ready_o    = (state_q == IDLE) && !halt_i;
  assign busy_o         = state_q != IDLE;
  assign error_o        = state_q == FAILED;
  assign error_status_o = wc_cmd_pkg::STATUS_BUFFER_RANGE;
  assign error_index_o  = index_q;
  assign done_index_o   = index_q;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      state_q      <= IDLE;
      done_o       <= 1'b0;
      held_q       <= 1'b0;
      held_write_q <= 1'b0;
      read_aux_q   <= 1'b0;
      back_aux_q   <= 1'b0;
      in_flight_q  <= 3'd0;
    end else begin
      state_q      <= state_d;
      done_o       <= (state_q == ROW_DONE) && last_row && last_plane;
      held_q       <= v_req_o && !v_gnt_i;
      held_write_q <= writes;
      if (read_take) read_aux_q <= takes_aux && !read_aux_q;
      if (stream_back) back_aux_q <= takes_aux && !back_aux_q;
      in_flight_q  <= in_flight_q + {2'd0, read_take && !read_aux_q} - {2'd0, write_take};
    end

  always @(posedge clk_i) begin
    if (load) begin
      index_q       <= cmd_index_i;
      op_q          <= cmd_i[wc_cmd_pkg::VECTOR_OP_L+:2];
      makes_mask_q  <= (cmd_i[wc_cmd_pkg::VECTOR_OP_L+:2] == 2'd0) && cmd_i[wc_cmd_pkg::VECTOR_FLAGS_L];
      elements_q    <= cmd_i[wc_cmd_pkg::VECTOR_ROW_ELEMENTS_L+:32];
      count1_q      <= cmd_i[wc_cmd_pkg::VECTOR_COUNT1_L+:16];
      rows_left_q   <= cmd_i[wc_cmd_pkg::VECTOR_COUNT1_L+:16] - 16'd1;
      planes_left_q <= cmd_i[wc_cmd_pkg::VECTOR_COUNT2_L+:16] - 16'd1;
    end else if (state_q == ROW_DONE) begin
      rows_left_q <= last_row ? count1_q - 16'd1 : rows_left_q - 16'd1;
      if (last_row) planes_left_q <= planes_left_q - 16'd1;
    end

    if (open_row) begin
      read_offset_q  <= 32'd0;
      read_left_q    <= elements_q;
      write_offset_q <= 32'd0;
      write_left_q   <= elements_q;
    end else begin
      if (chunk_asked) begin
        read_offset_q <= read_offset_q + LineBytes;
        read_left_q   <= last_read ? 32'd0 : read_left_q - Lanes;
      end
      if (write_take) begin
        write_offset_q <= write_offset_q + LineBytes;
        write_left_q   <= write_left_q - Lanes;
      end
    end

    if (open_group) begin
      read_chunk_q   <= 5'd0;
      write_chunk_q  <= 4'd0;
      group_offset_q <= open_row ? 32'd0 : group_offset_q + LineBytes;
      group_left_q   <= open_row ? elements_q : read_left_q;
    end else begin
      if (chunk_asked) read_chunk_q <= read_chunk_q + 5'd1;
      if (write_take) write_chunk_q <= write_chunk_q + 4'd1;
    end

    if (state_q == AWAIT_MASK && v_rvalid_i) mask_q <= v_rdata_i;
    else if (open_group) mask_q <= {LineBits{1'b0}};
    else if (write_take && makes_mask_q) mask_q[write_chunk_q*Lanes+:Lanes] <= keep & in_row;
  end

  // The header but for its flag, what follows the last field; space in the queues is reserved by in_flight_q.
  wire unused = &{1'b0, src_count, src_ready, aux_count, aux_ready, cmd_i[wc_cmd_pkg::VECTOR_FLAGS_L-1:0],
                  cmd_i[wc_cmd_pkg::VECTOR_OP_L-1:wc_cmd_pkg::VECTOR_FLAGS_L+1],
                  cmd_i[wc_cmd_pkg::VECTOR_ROW_ELEMENTS_L-1:wc_cmd_pkg::VECTOR_OP_L+2],
                  cmd_i[2047:wc_cmd_pkg::VECTOR_DST_STRIDE2_L+32], 1'b0};

`ifdef WC_ASSERT
  // Every chunk read is written.
  relu_written: assert property (@(posedge clk_i) disable iff (!rst_ni)
    !((state_q == ROW_DONE) && (src_valid || aux_valid || (in_flight_q != 3'd0))))
  else $error("relu: a chunk was read and not written");
`endif
endmodule
`default_nettype wire
