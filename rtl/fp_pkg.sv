// SPDX-License-Identifier: Apache-2.0
//
// Floating-point arithmetic of the device as pure functions, shared by the modules (fp32_add, fp32_mul,
// fp16_mul, fp32_to_fp16, mac) and by the fast simulation form of the array, so that there is one source of bits.
//
// IEEE 754 binary16 and binary32, round to nearest even, subnormals kept, NaNs canonical (0x7fc00000, 0x7e00).
// Every local (but a 48-bit product) is 32 bits wide and there are no branches: leading zeros are counted by halving, choices
// are multiplexers. Verilator turns this into short chains of 32-bit operations, which the C++
// compiler can also spread over vector lanes; synthesis removes the constant bits.
//
// An "expanded" half is an fp16 value written as fp32. That is exact and never subnormal in fp32.
`default_nettype none

package fp_pkg;

  // fp16 -> fp32, exact. A NaN stays a NaN (payload shifted), which every consumer makes canonical.
  //
  // With s = leading zeros of a subnormal's fraction counted from bit 10 (0 for a normal value), the value is
  // (m << s) in units whose fp32 exponent is 112 - s; the leading one at bit 23 adds one to the exponent.
  function automatic [31:0] fp16_expand(input [31:0] half);
    reg [31:0] mag, t, s, k, r;
    begin
      mag = half & 32'h7fff;
      s = (mag < 32'h8) ? 32'd8 : 32'd0;
      t = mag << s[4:0];
      k = (t < 32'h80) ? 32'd4 : 32'd0;
      t = t << k[4:0];
      s = s + k;
      k = (t < 32'h200) ? 32'd2 : 32'd0;
      t = t << k[4:0];
      s = s + k;
      k = (t < 32'h400) ? 32'd1 : 32'd0;
      t = t << k[4:0];
      s = s + k;
      r = ((32'd112 - s) << 23) + (t << 13);
      r = (mag >= 32'h7c00) ? r + (32'd112 << 23) : r;  // infinity, NaN: exponent 31 -> 255
      r = (mag == 32'd0) ? 32'd0 : r;
      fp16_expand = r | ((half & 32'h8000) << 16);
    end
  endfunction

  // Product of two expanded halves, exact: 11 x 11 bits fit in 24, and no exponent leaves fp32's normal range.
  function automatic [31:0] expanded_mul(input [31:0] a, input [31:0] b);
    reg [31:0] am, bm, lo, hi, sign, prod, carry, r;
    begin
      am = a & 32'h7fffffff;
      bm = b & 32'h7fffffff;
      sign = (a ^ b) & 32'h80000000;
      hi = (am > bm) ? am : bm;
      lo = (am > bm) ? bm : am;
      prod = (((am & 32'h7fffff) | 32'h800000) >> 13) * (((bm & 32'h7fffff) | 32'h800000) >> 13);
      carry = prod >> 21;
      // The leading one (bit 20 or 21) moves to bit 23 and adds one to the exponent.
      r = (((am >> 23) + (bm >> 23) + carry - 32'd128) << 23) + (prod << (32'd3 - carry));
      r = (lo == 32'd0) ? 32'd0 : r;
      r = (hi >= 32'h7f800000) ? 32'h7f800000 : r;
      r = r | sign;
      // A NaN operand, or infinity x 0.
      expanded_mul = ((hi > 32'h7f800000) | ((hi == 32'h7f800000) & (lo == 32'd0))) ? 32'h7fc00000 : r;
    end
  endfunction

  // fp32 + fp32, rounded to nearest even.
  //
  // Significands sit at bits 30..7, so that seven bits lie below the last place and bit 31 takes the carry:
  //     31      30 ........ 7      6 ..... 1   0
  //    carry  24-bit significand  guard bits  sticky
  // An alignment by up to 7 loses nothing; a greater one cancels at most one leading bit, so one sticky bit is enough.
  function automatic [31:0] fp32_add(input [31:0] a, input [31:0] b);
    reg [31:0] am, bm, x, xm, ym, ex, ey, xs, ys, d, y, sub, sum, sh, k, t, n, r, sign;
    begin
      am = a & 32'h7fffffff;
      bm = b & 32'h7fffffff;
      // x has the greater magnitude.
      x = (am < bm) ? b : a;
      xm = (am < bm) ? bm : am;
      ym = (am < bm) ? am : bm;
      ex = xm >> 23;
      ey = ym >> 23;
      xs = ((xm & 32'h7fffff) | ((ex != 32'd0) ? 32'h800000 : 32'd0)) << 7;
      ys = ((ym & 32'h7fffff) | ((ey != 32'd0) ? 32'h800000 : 32'd0)) << 7;
      ex = (ex != 32'd0) ? ex : 32'd1;
      ey = (ey != 32'd0) ? ey : 32'd1;
      d = ex - ey;
      d = (d < 32'd31) ? d : 32'd31;
      y = ys >> d[4:0];
      y = y | (((y << d[4:0]) != ys) ? 32'd1 : 32'd0);
      sub = 32'd0 - ((a ^ b) >> 31);  // all ones: subtract
      sum = xs + (y ^ sub) - sub;
      // Leading zeros, at most ex: below that the result is subnormal.
      sh = (sum < 32'h10000) ? 32'd16 : 32'd0;
      t = sum << sh[4:0];
      k = (t < 32'h1000000) ? 32'd8 : 32'd0;
      t = t << k[4:0];
      sh = sh + k;
      k = (t < 32'h10000000) ? 32'd4 : 32'd0;
      t = t << k[4:0];
      sh = sh + k;
      k = (t < 32'h40000000) ? 32'd2 : 32'd0;
      t = t << k[4:0];
      sh = sh + k;
      k = (t < 32'h80000000) ? 32'd1 : 32'd0;
      sh = sh + k;
      sh = (sh < ex) ? sh : ex;
      n = sum << sh[4:0];
      // The leading one at bit 23 adds one to the exponent, a rounding carry one more.
      r = ((ex - sh) << 23) + (n >> 8) + (((n & 32'hff) + 32'h7f + ((n >> 8) & 32'd1)) >> 8);
      r = ((r > 32'h7f800000) | (ex == 32'd255)) ? 32'h7f800000 : r;
      r = (sum == 32'd0) ? 32'd0 : r;
      // An exact zero is +0 unless both operands are -0.
      sign = ((sum == 32'd0) ? (a & b) : x) & 32'h80000000;
      r = r | sign;
      // NaN: an operand is one, or infinities of opposite signs.
      fp32_add = ((xm > 32'h7f800000) | ((ym & sub) == 32'h7f800000)) ? 32'h7fc00000 : r;
    end
  endfunction

  // fp32 x fp32, rounded to nearest even.
  //
  // A subnormal operand is normalized first; if both are, the product rounds to zero whatever their bits. Of the 48 bits of the product the
  // upper 32 are kept, the leading one at bit 31, and the rest as one sticky bit: 24 bits of significand, 8 below the last place.
  function automatic [31:0] fp32_mul(input [31:0] a, input [31:0] b);
    reg [31:0] am, bm, hi, lo, eh, el, hs, ls, k, carry, e, n, under, r, sign;
    reg [63:0] prod;
    begin
      am = a & 32'h7fffffff;
      bm = b & 32'h7fffffff;
      sign = (a ^ b) & 32'h80000000;
      hi = (am > bm) ? am : bm;
      lo = (am > bm) ? bm : am;
      eh = hi >> 23;
      el = lo >> 23;
      hs = (hi & 32'h7fffff) | ((eh != 32'd0) ? 32'h800000 : 32'd0);
      ls = (lo & 32'h7fffff) | ((el != 32'd0) ? 32'h800000 : 32'd0);
      el = (el != 32'd0) ? el : 32'd1;
      k = (ls < 32'h100) ? 32'd16 : 32'd0;
      ls = ls << k[4:0];
      el = el - k;
      k = (ls < 32'h10000) ? 32'd8 : 32'd0;
      ls = ls << k[4:0];
      el = el - k;
      k = (ls < 32'h100000) ? 32'd4 : 32'd0;
      ls = ls << k[4:0];
      el = el - k;
      k = (ls < 32'h400000) ? 32'd2 : 32'd0;
      ls = ls << k[4:0];
      el = el - k;
      k = (ls < 32'h800000) ? 32'd1 : 32'd0;
      ls = ls << k[4:0];
      el = el - k;
      prod = {32'd0, hs} * {32'd0, ls};
      carry = {31'd0, prod[47]};
      prod = prod << (32'd1 - carry);
      n = prod[47:16] | ((prod[15:0] != 16'd0) ? 32'd1 : 32'd0);
      e = eh + el + carry - 32'd127;
      // Below exponent 1 the result is subnormal.
      under = ((e == 32'd0) | e[31]) ? 32'd1 - e : 32'd0;
      under = (under < 32'd31) ? under : 32'd31;
      e = ((e == 32'd0) | e[31]) ? 32'd1 : e;
      k = n >> under[4:0];
      n = k | (((k << under[4:0]) != n) ? 32'd1 : 32'd0);
      // The leading one at bit 23 adds one to the exponent, a rounding carry one more.
      r = ((e - 32'd1) << 23) + (n >> 8) + (((n & 32'hff) + 32'h7f + ((n >> 8) & 32'd1)) >> 8);
      r = ((r > 32'h7f800000) | (hi == 32'h7f800000)) ? 32'h7f800000 : r;
      r = (lo == 32'd0) ? 32'd0 : r;
      r = r | sign;
      fp32_mul = ((hi > 32'h7f800000) | ((hi == 32'h7f800000) & (lo == 32'd0))) ? 32'h7fc00000 : r;
    end
  endfunction

  // fp32 -> fp16 (bits 15..0 of the result), rounded to nearest even, overflow to infinity.
  //
  // A normal result drops 13 bits of the re-biased pattern; a subnormal one drops 126 - exponent bits of the
  // significand, where 25 already leaves zero. A rounding carry runs into the exponent, as it should.
  function automatic [31:0] fp32_narrow(input [31:0] value);
    reg [31:0] mag, e, small_value, src, drop, r;
    begin
      mag = value & 32'h7fffffff;
      e = mag >> 23;
      small_value = (e < 32'd113) ? 32'd1 : 32'd0;
      drop = (e < 32'd101) ? 32'd25 : 32'd126 - e;
      drop = (small_value != 32'd0) ? drop : 32'd13;
      src = (small_value != 32'd0) ? ((mag & 32'h7fffff) | 32'h800000) : mag - (32'd112 << 23);
      r = (src + ((32'd1 << (drop - 32'd1)) - 32'd1) + ((src >> drop[4:0]) & 32'd1)) >> drop[4:0];
      r = (r > 32'h7c00) ? 32'h7c00 : r;
      r = r | ((value >> 16) & 32'h8000);
      fp32_narrow = (mag > 32'h7f800000) ? 32'h7e00 : r;
    end
  endfunction

endpackage
`default_nettype wire
