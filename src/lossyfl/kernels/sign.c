/* The sign of every entry, and the mean magnitude of every block. */
#include <math.h>

#include "kernels.h"

enum { LANES_OF_SUM = 8, COUNTED = 1 << 20 };

/* Whether x >= 0, on the bits: vectors of 32-bit ARM take the smallest numbers for zero when they compare. */
INLINE uint8_t is_plus(const float *x) {
  uint32_t bits;
  memcpy(&bits, x, sizeof bits);
  return (bits <= 0x7F800000) | (bits == 0x80000000);
}

/* Sum of magnitudes, eight sums at a time: one would wait for itself. */
INLINE double sum_of_magnitudes(const float *x, int64_t count) {
  double parts[LANES_OF_SUM] = {0}, total = 0;
  int64_t whole = count / LANES_OF_SUM * LANES_OF_SUM;
  for (int64_t i = 0; i < whole; i += LANES_OF_SUM)
    for (int k = 0; k < LANES_OF_SUM; k++) parts[k] += fabs((double)x[i + k]);
  for (int64_t i = whole; i < count; i++) parts[0] += fabs((double)x[i]);
  for (int k = 0; k < LANES_OF_SUM; k++) total += parts[k];
  return total;
}

/* How many are plus, zero included. */
int64_t KERNEL(signs)(const float *restrict x, int64_t x_len, const int64_t *restrict bounds, int64_t bounds_len,
                      uint8_t *restrict symbols, int64_t symbols_len, float *restrict means, int64_t means_len) {
  if (!are_bounds(bounds, bounds_len, x_len) || symbols_len != x_len || means_len != bounds_len - 1) return -1;
  int64_t plus = 0;
  for (int64_t block = 0; block < means_len; block++) {
    const float *own = x + bounds[block];
    uint8_t *out = symbols + bounds[block];
    const int64_t count = bounds[block + 1] - bounds[block];
    for (int64_t at = 0; at < count; at += COUNTED) {
      const int64_t stop = count - at < COUNTED ? count : at + COUNTED;
      uint32_t seen = 0;
      for (int64_t i = at; i < stop; i++) {
        out[i] = is_plus(own + i);
        seen += out[i];
      }
      plus += seen;
    }
    means[block] = count ? (float)(sum_of_magnitudes(own, count) / (double)count) : 0;
  }
  return plus;
}
