/* Subtractive dither: added before rounding, taken off after; lossyfl/wire/dither.py says why. */
#include "blocks.h"
#include "random_words.h"

/* What is added to an entry, in steps: in [-1/2, 1/2). */
INLINE float noise(uint32_t bits) { return (float)(int32_t)(bits >> 8) * 0x1p-24f - 0.5f; }

/* The symbols of entries [start, stop): round(x / step + u) + levels, in float32. What is out of range is cut
   before it is rounded down, so that all conversions are defined. */
#define ADD_DITHER(SYMBOL)                                                                                         \
  if (!are_bounds(bounds, bounds_len, x_len) || steps_len != bounds_len - 1 || symbols_len != x_len ||             \
      start < bounds[0] || stop > bounds[bounds_len - 1] || levels < 1 || levels > 0x7FFF)                         \
    return -1;                                                                                                     \
  const float most = (float)levels;                                                                                \
  uint32_t bits[DRAWN];                                                                                            \
  for (int64_t at = start, end, block = block_of(bounds, bounds_len, start); at < stop; at = end) {                            \
    while (at == bounds[block + 1]) block++;                                                                       \
    end = stop < bounds[block + 1] ? stop : bounds[block + 1];                                                     \
    end = end - at < DRAWN ? end : at + DRAWN;                                                                     \
    const float step = steps[block];                                                                               \
    const float *own = x + at;                                                                                     \
    SYMBOL *out = symbols + at;                                                                                    \
    draw_bits(a, b, (uint64_t)at, bits, end - at);                                                                 \
    for (int64_t i = 0; i < end - at; i++) {                                                                       \
      float place = own[i] / step + noise(bits[i]) + 0.5f;                                                         \
      place = place > -most ? place : -most;                                                                       \
      place = place < most ? place : most;                                                                         \
      int32_t level = (int32_t)place;                                                                              \
      level -= (float)level > place; /* rounded down, not to zero */                                               \
      out[i] = (SYMBOL)(level + (int32_t)levels);                                                                  \
    }                                                                                                              \
    if (!(step > 0))                                                                                               \
      for (int64_t i = 0; i < end - at; i++) out[i] = (SYMBOL)levels; /* a block of zeros has no steps */          \
  }                                                                                                                \
  return 0;

int64_t KERNEL(add_dither_u8)(const float *restrict x, int64_t x_len, int64_t start, int64_t stop,
                              const int64_t *restrict bounds, int64_t bounds_len, const float *restrict steps,
                              int64_t steps_len, int64_t levels, uint64_t a, uint64_t b, uint8_t *restrict symbols,
                              int64_t symbols_len) {
  ADD_DITHER(uint8_t)
}

int64_t KERNEL(add_dither_u16)(const float *restrict x, int64_t x_len, int64_t start, int64_t stop,
                               const int64_t *restrict bounds, int64_t bounds_len, const float *restrict steps,
                               int64_t steps_len, int64_t levels, uint64_t a, uint64_t b, uint16_t *restrict symbols,
                               int64_t symbols_len) {
  ADD_DITHER(uint16_t)
}

/* x - step * noise for all of it, in two roundings per entry. */
int64_t KERNEL(take_off_dither)(float *restrict x, int64_t x_len, const int64_t *restrict bounds, int64_t bounds_len,
                                const float *restrict steps, int64_t steps_len, uint64_t a, uint64_t b) {
  if (!are_bounds(bounds, bounds_len, x_len) || steps_len != bounds_len - 1) return -1;
  uint32_t bits[DRAWN];
  for (int64_t block = 0; block < steps_len; block++) {
    const float step = steps[block];
    for (int64_t at = bounds[block]; at < bounds[block + 1]; at += DRAWN) {
      const int64_t count = bounds[block + 1] - at < DRAWN ? bounds[block + 1] - at : DRAWN;
      draw_bits(a, b, (uint64_t)at, bits, count);
      for (int64_t i = 0; i < count; i++) x[at + i] -= step * noise(bits[i]);
    }
  }
  return 0;
}
