/* What the symbols of dithered steps will take, before any is drawn; quantizers/dithered.py asks. */
#include <math.h>

#include "logarithms.h"

enum { COUNT_BITS = 14 };

/* Every value adds its entries to the multiples of the step below and above it, by nearness; 0 if there is no
   room for so many levels. */
static int spread_over_levels(const double *values, int64_t values_len, const int64_t *counts, double step,
                              double *expected, int64_t levels) {
  for (int64_t i = 0; i < values_len; i++) {
    const double share = values[i] / step;
    if (!(share >= 0 && share < (double)(levels - 1))) return 0;
    const int64_t level = (int64_t)share;
    for (int sign = 0; sign < 2; sign++) {
      const double entries = (double)counts[sign * values_len + i];
      expected[sign * levels + level] += entries * (1 - (share - (double)level));
      expected[sign * levels + level + 1] += entries * (share - (double)level);
    }
  }
  return 1;
}

/* Bits of symbols and counts: a value between two multiples of the step becomes either, by nearness. -1 if
   `expected` has no room for two rows of levels. Terms are added one after the other. */
static double expected_bits(const double *values, int64_t values_len, const int64_t *counts, double step,
                            double *restrict expected, int64_t room) {
  const double last = values[values_len - 1] / step;
  if (!(last >= 0 && last < (double)(room / 2 - 1))) return -1;
  const int64_t levels = (int64_t)last + 2;
  memset(expected, 0, (size_t)(2 * levels) * sizeof *expected);
  if (!spread_over_levels(values, values_len, counts, step, expected, levels)) return -1;
  expected[0] += expected[levels]; /* there is one zero */
  expected[levels] = 0;
  double total = 0, bits = 0;
  int64_t used = 0; /* levels with entries move to the front: far from zero few have any */
  for (int64_t i = 0; i < 2 * levels; i++)
    if (expected[i] > 0) {
      total += expected[i];
      expected[used++] = expected[i];
    }
  for (int64_t i = 0; i < used; i++)
    expected[i] = expected[i] * log2_of(total / expected[i]) + COUNT_BITS * (1 - exp_of_minus(expected[i]));
  for (int64_t i = 0; i < used; i++) bits += expected[i];
  return bits;
}

double KERNEL(expected_bits)(const double *values, int64_t values_len, const int64_t *counts, int64_t counts_len,
                             double step, double *expected, int64_t room) {
  if (values_len < 1 || counts_len != 2 * values_len) return -1;
  return expected_bits(values, values_len, counts, step, expected, room);
}

/* The smallest step that takes so many bits, or the coarsest: the middle of two is their geometric mean. */
double KERNEL(step_for_bits)(const double *values, int64_t values_len, const int64_t *counts, int64_t counts_len,
                             double bits, double fine, double coarse, int64_t halvings, double *expected,
                             int64_t room) {
  if (values_len < 1 || counts_len != 2 * values_len) return -1;
  for (int64_t halving = 0; halving < halvings; halving++) {
    const double middle = sqrt(fine * coarse);
    const double taken = expected_bits(values, values_len, counts, middle, expected, room);
    if (taken < 0) return -1;
    if (taken <= bits) coarse = middle; else fine = middle;
  }
  return coarse;
}
