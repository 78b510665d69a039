/* Adding to a sum, and sums of squares: float32 and float64 additions in one order, so the same bits everywhere. */
#include "kernels.h"

/* total += weight x. */
int64_t KERNEL(add)(const float *x, int64_t count, float weight, float *total, int64_t total_len) {
  if (total_len > count) return -1;
  for (int64_t i = 0; i < total_len; i++) total[i] += weight * x[i];
  return 0;
}

/* total[i] += rows[block of i, symbols[i]]. */
INLINE int64_t add_rows(const void *symbols, int64_t count, const int64_t *bounds, int64_t bounds_len,
                        const float *rows, int64_t rows_len, float *total, int64_t total_len, int wide) {
  const int64_t width = width_of(symbols, count, bounds, bounds_len, rows_len, wide);
  if (width < 1 || bounds[bounds_len - 1] > total_len) return -1;
  for (int64_t block = 0; block < bounds_len - 1; block++, rows += width)
    for (int64_t i = bounds[block]; i < bounds[block + 1]; i++) total[i] += rows[symbol_at(symbols, i, wide)];
  return 0;
}

int64_t KERNEL(add_rows_u8)(const uint8_t *symbols, int64_t count, const int64_t *bounds, int64_t bounds_len,
                            const float *rows, int64_t rows_len, float *total, int64_t total_len) {
  return add_rows(symbols, count, bounds, bounds_len, rows, rows_len, total, total_len, 0);
}

int64_t KERNEL(add_rows_u16)(const uint16_t *symbols, int64_t count, const int64_t *bounds, int64_t bounds_len,
                             const float *rows, int64_t rows_len, float *total, int64_t total_len) {
  return add_rows(symbols, count, bounds, bounds_len, rows, rows_len, total, total_len, 1);
}

enum { AT_ONCE = 1024, MOST_GROUP = 8 };

/* total[i group + k] += rows[letters[i], k]: looked up into a buffer, which is then added many entries at a time. */
INLINE void add_whole(const void *letters, int64_t whole, const float *rows, const int64_t group, float *total,
                      int wide) {
  float buffer[AT_ONCE * MOST_GROUP];
  for (int64_t start = 0; start < whole; start += AT_ONCE) {
    const int64_t now = least(AT_ONCE, whole - start);
    for (int64_t i = 0; i < now; i++) {
      const float *row = rows + (int64_t)symbol_at(letters, start + i, wide) * group;
      for (int64_t k = 0; k < group; k++) buffer[i * group + k] = row[k];
    }
    float *to = total + start * group;
    for (int64_t i = 0; i < now * group; i++) to[i] += buffer[i];
  }
}

INLINE int64_t add_letters(const void *letters, int64_t count, const float *rows, int64_t rows_len, int64_t group,
                           float *total, int64_t total_len, int wide) {
  if (group < 1 || group > MOST_GROUP || (total_len + group - 1) / group > count) return -1;
  const int64_t whole = total_len / group;
  if (!all_below(letters, (total_len + group - 1) / group, rows_len / group, wide)) return -1;
  if (group == 1) add_whole(letters, whole, rows, 1, total, wide);
  else if (group == 2) add_whole(letters, whole, rows, 2, total, wide);
  else if (group == 3) add_whole(letters, whole, rows, 3, total, wide);
  else add_whole(letters, whole, rows, group, total, wide);
  for (int64_t i = whole * group; i < total_len; i++)
    total[i] += rows[(int64_t)symbol_at(letters, whole, wide) * group + i - whole * group];
  return 0;
}

int64_t KERNEL(add_letters_u8)(const uint8_t *letters, int64_t count, const float *rows, int64_t rows_len,
                               int64_t group, float *total, int64_t total_len) {
  return add_letters(letters, count, rows, rows_len, group, total, total_len, 0);
}

int64_t KERNEL(add_letters_u16)(const uint16_t *letters, int64_t count, const float *rows, int64_t rows_len,
                                int64_t group, float *total, int64_t total_len) {
  return add_letters(letters, count, rows, rows_len, group, total, total_len, 1);
}

/* Sums of squares have four lanes, added up in a fixed order: quick, and the same bits everywhere. */
double KERNEL(sum_of_squares)(const float *x, int64_t count) {
  double a = 0, b = 0, c = 0, d = 0;
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    a += (double)x[i] * x[i];
    b += (double)x[i + 1] * x[i + 1];
    c += (double)x[i + 2] * x[i + 2];
    d += (double)x[i + 3] * x[i + 3];
  }
  for (; i < count; i++) a += (double)x[i] * x[i];
  return (a + b) + (c + d);
}

/* The sum of squares[letter]; -1 if there is a letter that has none. */
INLINE double sum_looked_up(const void *letters, int64_t count, const double *squares, int64_t len, int wide) {
  double a = 0, b = 0, c = 0, d = 0;
  int64_t i = 0;
  if (!all_below(letters, count, len, wide)) return -1;
  for (; i + 4 <= count; i += 4) {
    a += squares[symbol_at(letters, i, wide)];
    b += squares[symbol_at(letters, i + 1, wide)];
    c += squares[symbol_at(letters, i + 2, wide)];
    d += squares[symbol_at(letters, i + 3, wide)];
  }
  for (; i < count; i++) a += squares[symbol_at(letters, i, wide)];
  return (a + b) + (c + d);
}

double KERNEL(sum_looked_up_u8)(const uint8_t *letters, int64_t count, const double *squares, int64_t len) {
  return sum_looked_up(letters, count, squares, len, 0);
}

double KERNEL(sum_looked_up_u16)(const uint16_t *letters, int64_t count, const double *squares, int64_t len) {
  return sum_looked_up(letters, count, squares, len, 1);
}

/* The sum of squares[block of i, symbols[i]], one addition after the other; -1 if something is out of bounds. */
INLINE double sum_rows(const void *symbols, int64_t count, const int64_t *bounds, int64_t bounds_len,
                       const double *squares, int64_t squares_len, int wide) {
  const int64_t width = width_of(symbols, count, bounds, bounds_len, squares_len, wide);
  double total = 0;
  if (width < 1) return -1;
  for (int64_t block = 0; block < bounds_len - 1; block++, squares += width)
    for (int64_t i = bounds[block]; i < bounds[block + 1]; i++) total += squares[symbol_at(symbols, i, wide)];
  return total;
}

double KERNEL(sum_rows_u8)(const uint8_t *symbols, int64_t count, const int64_t *bounds, int64_t bounds_len,
                           const double *squares, int64_t len) {
  return sum_rows(symbols, count, bounds, bounds_len, squares, len, 0);
}

double KERNEL(sum_rows_u16)(const uint16_t *symbols, int64_t count, const int64_t *bounds, int64_t bounds_len,
                            const double *squares, int64_t len) {
  return sum_rows(symbols, count, bounds, bounds_len, squares, len, 1);
}
