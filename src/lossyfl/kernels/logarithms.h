/* Logarithm and exponential by additions, multiplications and divisions alone: the same bits on every processor,
   which no libm promises. logarithms.py says how far off they are, and gives the same bits in NumPy. */
#ifndef LFL_LOGARITHMS_H
#define LFL_LOGARITHMS_H

#include "kernels.h"

INLINE uint64_t double_bits(double x) { uint64_t bits; memcpy(&bits, &x, sizeof bits); return bits; }
INLINE double double_of(uint64_t bits) { double x; memcpy(&x, &bits, sizeof x); return x; }

/* log2 x for normal x > 0. With x = 2^k m, m in [sqrt(1/2), sqrt(2)) and s = (m - 1) / (m + 1):
   log2 x = k + 2 / ln 2 (s + s^3 / 3 + s^5 / 5 + ...) */
INLINE double log2_of(double x) {
  const uint64_t one = 0x3FF0000000000000, root = 0x3FE6A09E667F3BCD; /* of 1 and of sqrt(1/2) */
  const uint64_t bits = double_bits(x) + (one - root);
  /* k: the bits of 2^52 + n are those of 2^52 and n, and conversions are slow where vectors have none */
  const double k = double_of(0x4330000000000000 + (bits >> 52)) - (0x1p52 + 1023);
  const double f = double_of((bits & 0x000FFFFFFFFFFFFF) + root) - 1;
  const double s = f / (2 + f), t = s * s;
  double tail = 0x1.3703c1f4d0ffep-3; /* 2 / (19 ln 2), and so on down to 2 / (3 ln 2) */
  tail = tail * t + 0x1.5b9ac9b743f0dp-3;
  tail = tail * t + 0x1.89f3b1694cffep-3;
  tail = tail * t + 0x1.c68f568d31760p-3;
  tail = tail * t + 0x1.0c9a84994022dp-2;
  tail = tail * t + 0x1.484b13d7c02a9p-2;
  tail = tail * t + 0x1.a61762a7aded9p-2;
  tail = tail * t + 0x1.2776c50ef9bfep-1;
  tail = tail * t + 0x1.ec709dc3a03fdp-1;
  return k + (s * 0x1.71547652b82fep+1 + s * (t * tail));
}

/* exp(-x) for x >= 0; from 40 on, where one would not see it beside 1, that of 40. */
INLINE double exp_of_minus(double x) {
  x = x < 40 ? -x : -40;
  double k = x * 0x1.71547652b82fep+0 + 0x1.8p52; /* rounded to a whole number by its size */
  uint64_t power = double_bits(k) - double_bits(0x1.8p52);
  k -= 0x1.8p52;
  double r = (x - k * 0x1.62e42fee00000p-1) - k * 0x1.a39ef35793c76p-33; /* ln 2 in two parts */
  double e = 1.0 / 6227020800;
  e = e * r + 1.0 / 479001600;
  e = e * r + 1.0 / 39916800;
  e = e * r + 1.0 / 3628800;
  e = e * r + 1.0 / 362880;
  e = e * r + 1.0 / 40320;
  e = e * r + 1.0 / 5040;
  e = e * r + 1.0 / 720;
  e = e * r + 1.0 / 120;
  e = e * r + 1.0 / 24;
  e = e * r + 1.0 / 6;
  e = e * r + 0.5;
  e = e * r + 1;
  e = e * r + 1;
  return e * double_of((power + 1023) << 52);
}

#endif
