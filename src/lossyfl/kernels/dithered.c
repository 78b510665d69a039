/* What the symbols of dithered steps will take, before any is drawn; quantizers/dithered.py asks. */
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
double KERNEL(expected_bits)(const double *values, int64_t values_len, const int64_t *counts, int64_t counts_len,
                             double step, double *restrict expected, int64_t room) {
  if (values_len < 1 || counts_len != 2 * values_len) return -1;
  const double last = values[values_len - 1] / step;
  if (!(last >= 0 && last < (double)(room / 2 - 1))) return -1;
  const int64_t levels = (int64_t)last + 2;
  memset(expected, 0, (size_t)(2 * levels) * sizeof *expected);
  if (!spread_over_levels(values, values_len, counts, step, expected, levels)) return -1;
  expected[0] += expected[levels]; /* there is one zero */
  expected[levels] = 0;
  double total = 0, bits = 0;
  for (int64_t i = 0; i < 2 * levels; i++) total += expected[i];
  for (int64_t i = 0; i < 2 * levels; i++) {
    const double entries = expected[i], some = entries > 0 ? entries : 1;
    const double taken = some * log2_of(total / some) + COUNT_BITS * (1 - exp_of_minus(some));
    expected[i] = entries > 0 ? taken : 0;
  }
  for (int64_t i = 0; i < 2 * levels; i++) bits += expected[i];
  return bits;
}
