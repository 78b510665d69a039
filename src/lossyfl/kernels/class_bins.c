/* A vector by class, sign and bin of magnitude; class_bins.py says how. */
#include <math.h>

#include "logarithms.h"

/* Where an entry belongs: its class, its sign and its bin; the first bin takes all below, the last all above. */
INLINE int64_t place_in_class(float x, int64_t class, int64_t first, int64_t bins) {
  const uint32_t bits = float_bits(x);
  const int64_t bin = (int64_t)((bits >> 16) & (BINS - 1)) - first;
  return (2 * class + (int64_t)(bits >> 31)) * bins + (bin < 0 ? 0 : bin >= bins ? bins - 1 : bin);
}

/* Whether there are rows of `bins` numbers for both signs of every class. */
INLINE int are_rows(int64_t len, int64_t first, int64_t bins) {
  return first >= 0 && first <= BINS && bins >= 1 && bins <= BINS && len % (2 * bins) == 0;
}

/* Adds entries to counts, and their magnitudes to sums. -1 if sizes do not fit. */
int64_t KERNEL(bin_by_class)(const float *restrict x, int64_t x_len, const uint8_t *restrict classes, int64_t classes_len,
                             int64_t first, int64_t bins, int64_t *restrict counts, int64_t counts_len,
                             double *restrict sums, int64_t sums_len) {
  if (classes_len != x_len || !are_rows(counts_len, first, bins) || sums_len != counts_len) return -1;
  if (!all_below(classes, x_len, counts_len / (2 * bins), 0)) return -1;
  for (int64_t i = 0; i < x_len; i++) {
    const int64_t place = place_in_class(x[i], classes[i], first, bins);
    counts[place] = plus(counts[place], 1);
    sums[place] += fabs((double)x[i]);
  }
  return 0;
}

/* symbols_of[class, sign, bin] for entries [start, stop). -1 if sizes do not fit. */
int64_t KERNEL(look_up_by_class)(const float *restrict x, int64_t x_len, int64_t start, int64_t stop,
                                 const uint8_t *restrict classes, int64_t classes_len, int64_t first, int64_t bins,
                                 const uint8_t *restrict symbols_of, int64_t of_len, uint8_t *restrict symbols,
                                 int64_t symbols_len) {
  if (classes_len != x_len || symbols_len != x_len || !are_rows(of_len, first, bins)) return -1;
  if (start < 0 || start > stop || stop > x_len) return -1;
  if (!all_below(classes + start, stop - start, of_len / (2 * bins), 0)) return -1;
  for (int64_t i = start; i < stop; i++) symbols[i] = symbols_of[place_in_class(x[i], classes[i], first, bins)];
  return 0;
}
