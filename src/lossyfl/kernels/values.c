/* The table look-up: out[i] = rows[block of i, symbols[i]]; and the rows of uniform tables. */
#include "kernels.h"

/* The values -high ... -low, low ... high, `alphabet` of them: magnitude l of q is low + (high - low) l / q, in double
   and rounded once; an odd alphabet has one symbol for 0. */
INLINE void ladder_row(float low, float high, int64_t q, int64_t alphabet, float *row) {
  const double from = low, spread = (double)high - from;
  for (int64_t l = 0; l <= q; l++) {
    const float magnitude = (float)(from + spread * (double)l / (double)q);
    row[q - l] = -magnitude;
    row[alphabet - 1 - q + l] = magnitude;
  }
}

/* One row per block. */
int64_t KERNEL(ladder_rows)(const float *low, int64_t blocks, const float *high, int64_t high_len, int64_t alphabet,
                            float *rows, int64_t rows_len) {
  if (alphabet < 3 || high_len != blocks || rows_len / alphabet != blocks || rows_len % alphabet) return -1;
  const int64_t q = (alphabet - 1) / 2;
  for (int64_t block = 0; block < blocks; block++, rows += alphabet) ladder_row(low[block], high[block], q, alphabet, rows);
  return 0;
}

/* Whether blocks of symbols, one row of `width` values each, lie within the symbols and the rows. */
INLINE int64_t width_of(const void *symbols, int64_t count, const int64_t *bounds, int64_t bounds_len, int64_t rows_len,
                        int wide) {
  if (!are_bounds(bounds, bounds_len, count)) return -1;
  const int64_t blocks = bounds_len - 1, width = rows_len / blocks, first = bounds[0];
  const void *own = (const uint8_t *)symbols + first * (wide ? 2 : 1);
  if (width < 1 || !all_below(own, bounds[blocks] - first, width, wide)) return -1;
  return width;
}

INLINE int64_t look_up(const void *symbols, int64_t count, const int64_t *bounds, int64_t bounds_len,
                       const float *rows, int64_t rows_len, float *out, int64_t out_len, int wide) {
  const int64_t width = width_of(symbols, count, bounds, bounds_len, rows_len, wide);
  if (width < 1 || out_len != count) return -1;
  for (int64_t block = 0; block < bounds_len - 1; block++, rows += width)
    for (int64_t i = bounds[block]; i < bounds[block + 1]; i++) out[i] = rows[symbol_at(symbols, i, wide)];
  return 0;
}

int64_t KERNEL(look_up_u8)(const uint8_t *symbols, int64_t count, const int64_t *bounds, int64_t bounds_len,
                           const float *rows, int64_t rows_len, float *out, int64_t out_len) {
  return look_up(symbols, count, bounds, bounds_len, rows, rows_len, out, out_len, 0);
}

int64_t KERNEL(look_up_u16)(const uint16_t *symbols, int64_t count, const int64_t *bounds, int64_t bounds_len,
                            const float *rows, int64_t rows_len, float *out, int64_t out_len) {
  return look_up(symbols, count, bounds, bounds_len, rows, rows_len, out, out_len, 1);
}
