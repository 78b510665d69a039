/* What kernels of class-coded frames share: tensors as matrices, and the levels of their rows and columns. */
#ifndef LFL_LEVELS_H
#define LFL_LEVELS_H

#include "kernels.h"

enum {
  LEVELS = 16,         /* of a row or column */
  NEUTRAL = 8,         /* the level of a column like all of its tensor */
  LEANS = 5,           /* of a row: -2 to 2, plus 2 */
  UPRIGHT = 2,
  SCORES = 31,         /* sums of two levels */
  KEYS = 3 * SCORES,   /* magnitude of a lean, and a score */
  MOST_OF_ROW = 1 << 20, /* entries of a row that are read, and the largest step */
  MOST_ENTRIES_LOG = 33
};

/* A tensor as a matrix: entry i of a row belongs to column i / run. `rows`, `columns` and `leans` are its own. */
typedef struct {
  const uint8_t *symbols;
  uint8_t *rows, *columns, *leans;
  int64_t count, columns_len, run, width;
} Matrix;

/* The next matrix of `shapes`, three numbers each. */
INLINE void next_matrix(Matrix *of, const int64_t *shape, int first) {
  if (!first) {
    if (of->symbols) of->symbols += of->count * of->width; /* not every kernel has them */
    of->rows += of->count;
    of->leans += of->count;
    of->columns += of->columns_len;
  }
  of->count = shape[0];
  of->columns_len = shape[1];
  of->run = shape[2];
  of->width = shape[1] * shape[2];
}

/* Whether `shapes` are of so many entries, rows and columns. */
INLINE int are_shapes(const int64_t *shapes, int64_t shapes_len, int64_t entries, int64_t rows, int64_t columns) {
  const int64_t most = (int64_t)1 << MOST_ENTRIES_LOG;
  if (shapes_len < 3 || shapes_len % 3 || entries > most) return 0;
  for (int64_t t = 0; t < shapes_len; t += 3) {
    const int64_t count = shapes[t], across = shapes[t + 1], run = shapes[t + 2];
    if (count < 1 || across < 1 || run < 1 || count > rows || across > columns || run > entries) return 0;
    if (across > most / run || count > most / (across * run) || count * across * run > entries) return 0;
    rows -= count;
    columns -= across;
    entries -= count * across * run;
  }
  return !rows && !columns && !entries;
}

/* Whether levels and leans are what they may be. */
INLINE int are_levels(const uint8_t *rows, int64_t rows_len, const uint8_t *columns, int64_t columns_len,
                      const uint8_t *leans, int64_t leans_len) {
  return leans_len == rows_len && all_below(rows, rows_len, LEVELS, 0) && all_below(columns, columns_len, LEVELS, 0) &&
         all_below(leans, leans_len, LEANS, 0);
}

INLINE int64_t lean_size(int64_t lean) { return lean < UPRIGHT ? UPRIGHT - lean : lean - UPRIGHT; }

/* How many entries of a row have a column of each level. */
INLINE void count_levels(const Matrix *of, int64_t *entries) {
  for (int64_t o = 0; o < LEVELS; o++) entries[o] = 0;
  for (int64_t j = 0; j < of->columns_len; j++) entries[of->columns[j]] += of->run;
}

#endif
