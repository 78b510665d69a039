/* Natural compression: for every entry one of the two powers of two around it. */
#include "random_words.h"

enum { FRACTION = 0x7FFFFF, NEGATIVE = 512 };

/* 0 for zero, e + 150 for 2^e, and 512 more for a negative entry.

   A number below the smallest exponent is a whole number of steps of 2^-149: converted to a float it has an
   exponent and a fraction of its own. */
INLINE uint16_t drawn_power(uint32_t bits, uint32_t drawn) {
  float steps = (float)(int32_t)(bits & FRACTION);
  uint32_t small;
  memcpy(&small, &steps, sizeof small);
  uint32_t exponent = (bits >> 23) & 255;
  uint32_t normal = -(uint32_t)(exponent != 0), some = -(uint32_t)(bits << 1 != 0);
  uint32_t wide = (exponent & normal) | (((small >> 23) - 149) & ~normal);
  uint32_t fraction = ((bits & normal) | (small & ~normal)) & FRACTION;
  uint32_t up = (drawn >> 8) < 2 * fraction;
  return (uint16_t)((((bits >> 31) * NEGATIVE) + wide + 23 + up) & some);
}

/* The codes of entries `start` and on. */
int64_t KERNEL(draw_powers)(const uint32_t *restrict x, int64_t x_len, uint64_t a, uint64_t b, int64_t start,
                            uint16_t *restrict codes, int64_t codes_len) {
  if (codes_len != x_len) return -1;
  uint32_t bits[DRAWN];
  for (int64_t at = 0; at < x_len; at += DRAWN) {
    const int64_t count = x_len - at < DRAWN ? x_len - at : DRAWN;
    draw_bits(a, b, (uint64_t)start + (uint64_t)at, bits, count);
    for (int64_t i = 0; i < count; i++) codes[at + i] = drawn_power(x[at + i], bits[i]);
  }
  return 0;
}
