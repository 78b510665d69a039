/* Symbols in the order of their keys and back, and which keys share a table; classes.py says how. */
#include "levels.h"
#include "quiet.h"

enum { SPARSE = 16 }; /* one busy symbol in so many is few */

/* Where each key begins: how many entries have a smaller one. */
static void place_keys(const int64_t *shapes, int64_t shapes_len, Matrix of, int64_t *starts) {
  int64_t sizes[KEYS] = {0}, entries[LEVELS];
  for (int64_t t = 0; t < shapes_len; t += 3) {
    next_matrix(&of, shapes + t, !t);
    count_levels(&of, entries);
    for (int64_t r = 0; r < of.count; r++) {
      int64_t *own = sizes + SCORES * lean_size(of.leans[r]) + of.rows[r];
      for (int64_t o = 0; o < LEVELS; o++) own[o] += entries[o];
    }
  }
  starts[0] = 0;
  for (int64_t k = 0; k < KEYS; k++) starts[k + 1] = starts[k] + sizes[k];
}

/* -1 if sizes do not fit. */
int64_t KERNEL(key_starts)(const int64_t *shapes, int64_t shapes_len, int64_t count, const uint8_t *rows,
                           int64_t rows_len, const uint8_t *columns, int64_t columns_len, const uint8_t *leans,
                           int64_t leans_len, int64_t *starts, int64_t starts_len) {
  if (starts_len != KEYS + 1 || !are_shapes(shapes, shapes_len, count, rows_len, columns_len)) return -1;
  if (!are_levels(rows, rows_len, columns, columns_len, leans, leans_len)) return -1;
  const Matrix first = {0, (uint8_t *)(uintptr_t)rows, (uint8_t *)(uintptr_t)columns, (uint8_t *)(uintptr_t)leans, 0, 0, 0, 0};
  place_keys(shapes, shapes_len, first, starts);
  return 0;
}

/* How a row is put in the order of its columns' levels: entry i goes to place ranks[i] of `held`, and those of level
   o begin at edges[o]. Where all columns are of one level, `only`, nothing moves. */
typedef struct { int64_t edges[LEVELS + 1], only; uint32_t *ranks; uint8_t *held; } Order;

static void order_row(const Matrix *of, Order *order) {
  int64_t entries[LEVELS], next[LEVELS];
  count_levels(of, entries);
  order->edges[0] = 0;
  order->only = -1;
  for (int64_t o = 0; o < LEVELS; o++) {
    if (entries[o] == of->width) order->only = o;
    next[o] = order->edges[o];
    order->edges[o + 1] = order->edges[o] + entries[o];
  }
  if (order->only >= 0) return;
  uint32_t *ranks = order->ranks;
  for (int64_t j = 0; j < of->columns_len; j++) {
    int64_t *at = next + of->columns[j];
    for (int64_t k = 0; k < of->run; k++) *ranks++ = (uint32_t)(*at)++;
  }
}

/* Room for a row of a tensor whose columns are of several levels. */
static int has_room(const int64_t *shapes, int64_t shapes_len, int64_t ranks_len, int64_t held_len) {
  for (int64_t t = 0; t < shapes_len; t += 3) {
    const int64_t width = shapes[t + 1] * shapes[t + 2];
    if (shapes[t + 1] > 1 && (width > ranks_len || width > held_len || width > UINT32_MAX)) return 0;
  }
  return 1;
}

INLINE void flip(uint8_t *symbols, int64_t count, int64_t alphabet) {
  for (int64_t i = 0; i < count; i++) symbols[i] = (uint8_t)(alphabet - 1 - symbols[i]);
}

/* Rows of a tensor to the places of their keys. */
static void gather_rows(const Matrix *of, const Order *order, int64_t alphabet, int64_t *places, uint8_t *out) {
  for (int64_t r = 0; r < of->count; r++) {
    const uint8_t *row = of->symbols + r * of->width;
    int64_t *own = places + SCORES * lean_size(of->leans[r]) + of->rows[r];
    if (order->only >= 0) {
      uint8_t *to = out + own[order->only];
      memcpy(to, row, (size_t)of->width);
      if (of->leans[r] < UPRIGHT) flip(to, of->width, alphabet);
      own[order->only] += of->width;
      continue;
    }
    for (int64_t i = 0; i < of->width; i++) order->held[order->ranks[i]] = row[i];
    if (of->leans[r] < UPRIGHT) flip(order->held, of->width, alphabet);
    for (int64_t o = 0; o < LEVELS; o++) {
      const int64_t some = order->edges[o + 1] - order->edges[o];
      memcpy(out + own[o], order->held + order->edges[o], (size_t)some);
      own[o] += some;
    }
  }
}

/* The same where few symbols are not in the middle, and all of `out` is that already. */
static void gather_few(const Matrix *of, const Order *order, int64_t alphabet, const Quiet *by, int64_t *places, uint8_t *out) {
  for (int64_t r = 0; r < of->count; r++) {
    const uint8_t *row = of->symbols + r * of->width;
    const int down = of->leans[r] < UPRIGHT;
    int64_t *own = places + SCORES * lean_size(of->leans[r]) + of->rows[r];
    for (int64_t at = 0; (at = pass_quiet(row, at, of->width, by)) < of->width; at += 8) {
      uint64_t left = at + 8 <= of->width ? busy_bytes(row + at, by) : 0x8080808080808080 >> 8 * (at + 8 - of->width);
      for (; left; left &= left - 1) {
        const int64_t i = at + __builtin_ctzll(left) / 8;
        const int64_t o = of->columns[of->run == 1 ? i : i / of->run];
        out[own[o] + order->ranks[i] - order->edges[o]] = (uint8_t)(down ? alphabet - 1 - row[i] : row[i]);
      }
    }
    for (int64_t o = 0; o < LEVELS; o++) own[o] += order->edges[o + 1] - order->edges[o];
  }
}

/* Whether nearly all symbols are the one in the middle: some of them tell. */
static int are_few(const uint8_t *symbols, int64_t count, int64_t alphabet) {
  int64_t seen = 0, busy = 0;
  for (int64_t i = 0; i < count; i += 61, seen++) busy += symbols[i] != alphabet / 2;
  return alphabet % 2 && SPARSE * busy < seen;
}

/* The symbols by key, those of rows that lean down turned round. -1 if sizes do not fit. */
int64_t KERNEL(gather_keys)(const uint8_t *symbols, int64_t count, int64_t alphabet, const int64_t *shapes,
                            int64_t shapes_len, const uint8_t *rows, int64_t rows_len, const uint8_t *columns,
                            int64_t columns_len, const uint8_t *leans, int64_t leans_len, uint32_t *ranks,
                            int64_t ranks_len, uint8_t *held, int64_t held_len, uint8_t *out, int64_t out_len) {
  int64_t places[KEYS + 1];
  Quiet quiet;
  if (alphabet < 2 || out_len != count || !are_shapes(shapes, shapes_len, count, rows_len, columns_len)) return -1;
  if (!has_room(shapes, shapes_len, ranks_len, held_len)) return -1;
  if (!are_levels(rows, rows_len, columns, columns_len, leans, leans_len) || !all_below(symbols, count, alphabet, 0)) return -1;
  Matrix of = {symbols, (uint8_t *)(uintptr_t)rows, (uint8_t *)(uintptr_t)columns, (uint8_t *)(uintptr_t)leans, 0, 0, 0, 0};
  Order order = {{0}, 0, ranks, held};
  const int few = alphabet <= 256 && are_few(symbols, count, alphabet);
  place_keys(shapes, shapes_len, of, places);
  fill_quiet(alphabet, &quiet);
  if (few) memset(out, (int)(alphabet / 2), (size_t)count);
  for (int64_t t = 0; t < shapes_len; t += 3) {
    next_matrix(&of, shapes + t, !t);
    order_row(&of, &order);
    if (few && order.only < 0) gather_few(&of, &order, alphabet, &quiet, places, out);
    else gather_rows(&of, &order, alphabet, places, out);
  }
  return 0;
}

/* What a symbol stands for, and what it does where it is turned round. */
typedef struct { uint8_t small[2][256]; uint32_t large[2][256]; } Meanings;

INLINE void look_up_row(const uint8_t *from, int64_t count, const Meanings *by, int down, void *out, const int64_t bytes) {
  if (bytes == 1) for (int64_t i = 0; i < count; i++) ((uint8_t *)out)[i] = by->small[down][from[i]];
  else for (int64_t i = 0; i < count; i++) ((uint32_t *)out)[i] = by->large[down][from[i]];
}

INLINE void look_up_ranked(const uint8_t *held, const uint32_t *ranks, int64_t count, const Meanings *by, int down,
                           void *out, const int64_t bytes) {
  if (bytes == 1) for (int64_t i = 0; i < count; i++) ((uint8_t *)out)[i] = by->small[down][held[ranks[i]]];
  else for (int64_t i = 0; i < count; i++) ((uint32_t *)out)[i] = by->large[down][held[ranks[i]]];
}

INLINE void scatter_rows(const Matrix *of, const Order *order, const uint8_t *keyed, int64_t *places,
                         const Meanings *by, uint8_t *out, const int64_t bytes) {
  for (int64_t r = 0; r < of->count; r++, out += bytes * of->width) {
    int64_t *own = places + SCORES * lean_size(of->leans[r]) + of->rows[r];
    const int down = of->leans[r] < UPRIGHT;
    if (order->only >= 0) {
      look_up_row(keyed + own[order->only], of->width, by, down, out, bytes);
      own[order->only] += of->width;
      continue;
    }
    for (int64_t o = 0; o < LEVELS; o++) {
      const int64_t some = order->edges[o + 1] - order->edges[o];
      memcpy(order->held + order->edges[o], keyed + own[o], (size_t)some);
      own[o] += some;
    }
    look_up_ranked(order->held, order->ranks, of->width, by, down, out, bytes);
  }
}

static void fill_meanings(const uint8_t *values, int64_t bytes, int64_t alphabet, Meanings *out) {
  memset(out, 0, sizeof *out);
  for (int64_t s = 0; s < alphabet; s++) {
    if (bytes == 1) out->small[0][s] = out->small[1][alphabet - 1 - s] = values[s];
    else {
      memcpy(out->large[0] + s, values + 4 * s, 4);
      memcpy(out->large[1] + alphabet - 1 - s, values + 4 * s, 4);
    }
  }
}

/* The values of symbols by key where they belong; values of one or four bytes. -1 if sizes do not fit. */
int64_t KERNEL(scatter_keys)(const uint8_t *keyed, int64_t count, const int64_t *shapes, int64_t shapes_len,
                             const uint8_t *rows, int64_t rows_len, const uint8_t *columns, int64_t columns_len,
                             const uint8_t *leans, int64_t leans_len, const uint8_t *values, int64_t values_len,
                             int64_t alphabet, uint32_t *ranks, int64_t ranks_len, uint8_t *held, int64_t held_len,
                             uint8_t *out, int64_t out_len) {
  int64_t places[KEYS + 1];
  Meanings by;
  const int64_t bytes = alphabet > 0 ? values_len / alphabet : 0;
  if (alphabet < 2 || alphabet > 256 || (bytes != 1 && bytes != 4) || values_len != bytes * alphabet) return -1;
  if (!are_shapes(shapes, shapes_len, count, rows_len, columns_len) || out_len != bytes * count) return -1;
  if (!has_room(shapes, shapes_len, ranks_len, held_len) || ((uintptr_t)out % (uintptr_t)bytes)) return -1;
  if (!are_levels(rows, rows_len, columns, columns_len, leans, leans_len) || !all_below(keyed, count, alphabet, 0)) return -1;
  Matrix of = {0, (uint8_t *)(uintptr_t)rows, (uint8_t *)(uintptr_t)columns, (uint8_t *)(uintptr_t)leans, 0, 0, 0, 0};
  Order order = {{0}, 0, ranks, held};
  fill_meanings(values, bytes, alphabet, &by);
  place_keys(shapes, shapes_len, of, places);
  for (int64_t t = 0; t < shapes_len; t += 3) {
    next_matrix(&of, shapes + t, !t);
    order_row(&of, &order);
    if (bytes == 1) scatter_rows(&of, &order, keyed, places, &by, out, 1);
    else scatter_rows(&of, &order, keyed, places, &by, out, 4);
    out += bytes * of.count * of.width;
  }
  return 0;
}
