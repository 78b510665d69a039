/* Bins of magnitudes: all floats that agree in their upper 16 bits but the sign; lossyfl/quantizers/magnitudes.py says why. */
#include <math.h>

#include "blocks.h"

enum { BINS = 1 << 15, SCALED = 1024 };

/* factor * x for a run of entries: in double precision, where the product of two float32 is exact. */
INLINE const float *scaled(const float *x, int64_t count, double factor, float *restrict products) {
  if (factor == 1) return x;
  for (int64_t i = 0; i < count; i++) products[i] = (float)(x[i] * factor);
  return products;
}

INLINE uint32_t float_bits(float x) { uint32_t bits; memcpy(&bits, &x, sizeof bits); return bits; }

/* Where the run of entries from `at` on ends: with its block, the strip or the buffer. Moves `block` on. */
INLINE int64_t end_of_run(const int64_t *bounds, int64_t *block, int64_t at, int64_t stop) {
  while (at == bounds[*block + 1]) ++*block;
  int64_t end = stop < bounds[*block + 1] ? stop : bounds[*block + 1];
  return end - at < SCALED ? end : at + SCALED;
}

/* Adds entries [start, stop) to counts (not negative, negative) and sums, and moves `used`, the first bin that is not
   empty and the one behind the last; the sum of their squares, or -1. */
double KERNEL(bin_magnitudes)(const float *restrict x, int64_t x_len, int64_t start, int64_t stop,
                              const int64_t *restrict bounds, int64_t bounds_len, const double *restrict factors,
                              int64_t factors_len, int64_t *restrict counts, int64_t counts_len,
                              double *restrict sums, int64_t sums_len, int64_t *restrict used, int64_t used_len) {
  if (!are_bounds(bounds, bounds_len, x_len) || factors_len != bounds_len - 1 || counts_len != 2 * BINS ||
      sums_len != BINS || used_len != 2 || start < bounds[0] || stop > bounds[bounds_len - 1])
    return -1;
  float products[SCALED];
  double energy = 0;
  uint32_t least = BINS, most = 0;
  for (int64_t at = start, end, block = block_of(bounds, bounds_len, start); at < stop; at = end) {
    end = end_of_run(bounds, &block, at, stop);
    const float *own = scaled(x + at, end - at, factors[block], products);
    for (int64_t i = 0; i < end - at; i++) {
      const double value = fabs((double)own[i]);
      const uint32_t place = float_bits(own[i]) >> 16, bin = place & (BINS - 1);
      counts[place] = plus(counts[place], 1);
      sums[bin] += value;
      energy += value * value;
      least = bin < least ? bin : least;
      most = bin > most ? bin : most;
    }
  }
  if (least < BINS) {
    used[0] = (int64_t)least < used[0] ? (int64_t)least : used[0];
    used[1] = (int64_t)most >= used[1] ? (int64_t)most + 1 : used[1];
  }
  return energy;
}

/* symbols_of[upper 16 bits of factor * x] for entries [start, stop). */
#define LOOK_UP_BINS                                                                                               \
  if (!are_bounds(bounds, bounds_len, x_len) || factors_len != bounds_len - 1 || of_len != 2 * BINS ||             \
      symbols_len != x_len || start < bounds[0] || stop > bounds[bounds_len - 1])                                  \
    return -1;                                                                                                     \
  float products[SCALED];                                                                                          \
  for (int64_t at = start, end, block = block_of(bounds, bounds_len, start); at < stop; at = end) {                            \
    end = end_of_run(bounds, &block, at, stop);                                                                    \
    const float *own = scaled(x + at, end - at, factors[block], products);                                         \
    for (int64_t i = 0; i < end - at; i++) symbols[at + i] = symbols_of[float_bits(own[i]) >> 16];                 \
  }                                                                                                                \
  return 0;

int64_t KERNEL(look_up_bins_u8)(const float *restrict x, int64_t x_len, int64_t start, int64_t stop,
                                const int64_t *restrict bounds, int64_t bounds_len, const double *restrict factors,
                                int64_t factors_len, const uint8_t *restrict symbols_of, int64_t of_len,
                                uint8_t *restrict symbols, int64_t symbols_len) {
  LOOK_UP_BINS
}

int64_t KERNEL(look_up_bins_u16)(const float *restrict x, int64_t x_len, int64_t start, int64_t stop,
                                 const int64_t *restrict bounds, int64_t bounds_len, const double *restrict factors,
                                 int64_t factors_len, const uint16_t *restrict symbols_of, int64_t of_len,
                                 uint16_t *restrict symbols, int64_t symbols_len) {
  LOOK_UP_BINS
}

/* The root of the mean square of every block, one square after the other. */
int64_t KERNEL(root_mean_squares)(const float *restrict x, int64_t x_len, const int64_t *restrict bounds,
                                  int64_t bounds_len, double *restrict out, int64_t out_len) {
  if (!are_bounds(bounds, bounds_len, x_len) || out_len != bounds_len - 1) return -1;
  for (int64_t block = 0; block < out_len; block++) {
    const int64_t count = bounds[block + 1] - bounds[block];
    double total = 0;
    for (int64_t i = bounds[block]; i < bounds[block + 1]; i++) total += (double)x[i] * (double)x[i];
    out[block] = count ? sqrt(total / (double)count) : 0;
  }
  return 0;
}
