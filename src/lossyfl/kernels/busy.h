/* Entries that are busy, passing over the others; levels.py says which are. */
#ifndef LFL_BUSY_H
#define LFL_BUSY_H

#include "levels.h"
#include "quiet.h"

enum { BUCKETS = 15, QUIET = 7 };

typedef struct {
  uint8_t buckets[256];
  Quiet quiet;
  int64_t row_step, column_step;
  int32_t *sums;  /* of columns, 16 each */
  uint8_t *back, *chosen; /* of rows or columns, 16 each */
} Search;

/* The bucket of every symbol: its magnitude, ever more coarsely, and its sign. */
static void fill_buckets(int64_t alphabet, uint8_t *buckets) {
  for (int64_t s = 0; s < 256; s++) {
    const int64_t twice = 2 * (s < alphabet ? s : alphabet - 1) - (alphabet - 1), k = (twice < 0 ? -twice : twice) / 2;
    const int64_t size = k < 4 ? k : k < 6 ? 4 : k < 9 ? 5 : k < 16 ? 6 : 7;
    buckets[s] = (uint8_t)(twice < 0 ? QUIET - size : QUIET + size);
  }
}

/* Sixteen sums at once, one a level. */
typedef int32_t Lanes __attribute__((vector_size(4 * LEVELS)));

INLINE void add_at(Lanes *to, const int32_t *from) { /* by pointers: how vectors are returned depends on the level */
  Lanes x;
  memcpy(&x, from, sizeof x);
  *to += x;
}

/* `body` for an entry that is busy. */
#define IF_BUSY(row, i, column, body)          \
  {                                            \
    const int64_t b = by->buckets[(row)[i]];   \
    const int64_t j = (column);                \
    if (b != QUIET) { body }                   \
  }

/* `body` for every busy entry of the first `seen` of a row: its column j and its bucket b. Of every `step` columns
   the first is read. A run of more than MOST_OF_ROW is all of its row: 32 bits do to divide by. */
#define EACH_BUSY(row, seen, step, body)                                                                        \
  if ((step) == 1) {                                                                                            \
    int64_t at = pass_quiet((row), 0, (seen), &by->quiet);                                                      \
    for (; at + 8 <= (seen); at = pass_quiet((row), at + 8, (seen), &by->quiet))                                \
      for (uint64_t left = busy_bytes((row) + at, &by->quiet); left; left &= left - 1) {                        \
        const int64_t i = at + __builtin_ctzll(left) / 8;                                                       \
        IF_BUSY(row, i, of->run == 1 ? i : (int64_t)((uint32_t)i / (uint32_t)least(of->run, MOST_OF_ROW)), body)  \
      }                                                                                                         \
    for (; at < (seen); at++) IF_BUSY(row, at, at / of->run, body)                                              \
  } else                                                                                                        \
    for (int64_t of_step = 0; of_step < of->columns_len; of_step += (step))                                     \
      for (int64_t i = of_step * of->run, stop = least(i + of->run, (seen)); i < stop; i++)                     \
        IF_BUSY(row, i, of_step, body)

#endif
