/* The stochastic quantizer: ranges of magnitudes, and levels drawn at random; quantizers/stochastic.py says how.

   The loops have no branches, so that gcc and clang make vectors of them: a choice between integers is made with
   masks, because gcc would make jumps of it. */
#include <math.h>

#include "random_words.h"

enum { MAGNITUDE = 0x7FFFFFFF }; /* all bits of a float but its sign */

/* What turns a magnitude of a block into a position on its ladder: a power of two s near 1 / x_max, x_min s,
   q / (x_max s - x_min s), and x_max, which always goes to level q; unless all are one, which is level 0. */
typedef struct { float shift, base, inverse, top; } Step;

INLINE Step step_of(float low, float high, int32_t q) {
  uint32_t bits;
  memcpy(&bits, &high, sizeof bits);
  const int32_t exponent = 126 - (int32_t)(bits >> 23 & 255);
  bits = (uint32_t)((exponent < -126 ? -126 : exponent) + 127) << 23;
  Step step = {0, 0, 0, high};
  memcpy(&step.shift, &bits, sizeof bits);
  step.base = low * step.shift;
  const float spread = high * step.shift - step.base;
  if (spread != 0) step.inverse = (float)q / spread;
  if (!(step.inverse > 0)) step.top = INFINITY;
  return step;
}

/* Range of |x| per block, on the bits: magnitudes order as their bit patterns do. */
int64_t KERNEL(magnitude_ranges)(const uint32_t *x, int64_t x_len, const int64_t *bounds, int64_t bounds_len,
                                 uint32_t *low, int64_t low_len, uint32_t *high, int64_t high_len) {
  if (!are_bounds(bounds, bounds_len, x_len) || low_len != bounds_len - 1 || high_len != low_len) return -1;
  for (int64_t block = 0; block < low_len; block++) {
    int32_t least = MAGNITUDE, most = 0; /* signed: SSE2 has no other comparison */
    for (int64_t i = bounds[block]; i < bounds[block + 1]; i++) {
      int32_t magnitude = (int32_t)(x[i] & MAGNITUDE);
      least = magnitude < least ? magnitude : least;
      most = magnitude > most ? magnitude : most;
    }
    low[block] = (uint32_t)least;
    high[block] = (uint32_t)most;
  }
  return 0;
}

/* What all entries of a block share. zero: the symbol of level 0, the upper one of two; once: all bits where
   level 0 has one symbol, else none */
typedef struct { Step step; int32_t q, zero, once; } Rule;

/* The symbol of one entry; `mixed`: level 0 has two symbols, and entries of this block none of the lower one. */
INLINE int32_t drawn_symbol(float value, uint32_t bits, const Rule *rule, int mixed) {
  const float q = (float)rule->q;
  float magnitude = fabsf(value);
  float y = (magnitude * rule->step.shift - rule->step.base) * rule->step.inverse;
  y = y > 0 ? y : 0; /* never, unless the ranges are not those of x: conversions stay defined */
  y = y < q ? y : q;
  y = magnitude >= rule->step.top ? q : y;
  int32_t level = (int32_t)y;
  float u = (float)(int32_t)(bits >> 8);
  level += u < (y - (float)level) * 0x1p24f;
  int32_t below = -(int32_t)(value < 0);
  if (mixed) below &= -(int32_t)(level > 0);
  return rule->zero + (level ^ below) - (below & rule->once); /* zero + level, or q - level */
}

/* The symbols of the blocks of `bounds`, whose magnitudes are in [low, high]. */
#define DRAW_LEVELS(SYMBOL)                                                                                        \
  if (!are_bounds(bounds, bounds_len, x_len) || low_len != bounds_len - 1 || high_len != low_len ||                \
      symbols_len != x_len || q < 1 || q > 0x7FFF || twin < 0 || twin > 1)                                                                 \
    return -1;                                                                                                     \
  uint32_t bits[DRAWN];                                                                                            \
  for (int64_t block = 0; block < bounds_len - 1; block++) {                                                       \
    const Rule rule = {step_of(low[block], high[block], (int32_t)q), (int32_t)q, (int32_t)(q + twin),              \
                       twin ? 0 : -1};                                                                             \
    const int mixed = twin && rule.step.base == 0;                                                                 \
    for (int64_t at = bounds[block]; at < bounds[block + 1]; at += DRAWN) {                                        \
      const int64_t count = bounds[block + 1] - at < DRAWN ? bounds[block + 1] - at : DRAWN;                       \
      const float *own = x + at;                                                                                   \
      SYMBOL *out = symbols + at;                                                                                  \
      draw_bits(a, b, (uint64_t)at, bits, count);                                                                  \
      if (mixed)                                                                                                   \
        for (int64_t i = 0; i < count; i++) out[i] = (SYMBOL)drawn_symbol(own[i], bits[i], &rule, 1);              \
      else                                                                                                         \
        for (int64_t i = 0; i < count; i++) out[i] = (SYMBOL)drawn_symbol(own[i], bits[i], &rule, 0);              \
    }                                                                                                              \
  }                                                                                                                \
  return 0;

int64_t KERNEL(draw_levels_u8)(const float *restrict x, int64_t x_len, const int64_t *restrict bounds, int64_t bounds_len,
                               const float *restrict low, int64_t low_len, const float *restrict high,
                               int64_t high_len, int64_t q, int64_t twin, uint64_t a, uint64_t b,
                               uint8_t *restrict symbols, int64_t symbols_len) {
  DRAW_LEVELS(uint8_t)
}

int64_t KERNEL(draw_levels_u16)(const float *restrict x, int64_t x_len, const int64_t *restrict bounds, int64_t bounds_len,
                                const float *restrict low, int64_t low_len, const float *restrict high,
                                int64_t high_len, int64_t q, int64_t twin, uint64_t a, uint64_t b,
                                uint16_t *restrict symbols, int64_t symbols_len) {
  DRAW_LEVELS(uint16_t)
}
