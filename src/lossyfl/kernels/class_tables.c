/* Classes of keys: which keys share a table, and the tables; class_tables.py says how. */
#include "levels.h"
#include "logarithms.h"

enum { CLASS_BITS = 6, SYMBOL_BITS = 6 }; /* what a class, and a symbol in use of it, cost about */

INLINE double bits_in(int64_t count) { return count > 0 ? (double)count * log2_of((double)count) : 0; }

/* The entropy of counts between two rows of sums, and about what their table costs. */
static double cost_of_class(const int64_t *low, const int64_t *high, int64_t alphabet) {
  int64_t total = 0, used = 0;
  double bits = 0;
  for (int64_t s = 0; s < alphabet; s++) {
    const int64_t count = minus(high[s], low[s]);
    bits += bits_in(count);
    total = plus(total, count);
    used += count > 0;
  }
  return bits_in(total) - bits + (double)(CLASS_BITS + SYMBOL_BITS * used);
}

/* Sums of the counts of all keys before each. */
static void add_up(const uint8_t *keyed, const int64_t *starts, int64_t alphabet, int64_t *sums) {
  memset(sums, 0, 8 * (size_t)alphabet);
  for (int64_t k = 0; k < KEYS; k++) {
    int64_t *own = sums + (k + 1) * alphabet;
    memcpy(own, own - alphabet, 8 * (size_t)alphabet);
    const int64_t count = starts[k + 1] - starts[k];
    if (count) count_any(keyed + starts[k], count, own, alphabet);
  }
}

/* The classes of all keys, neighbours together, that cost least: `classes[k]` for every key. Returns how many there
   are, -1 if sizes do not fit. `sums` is room for one more row of counts than there are keys. */
int64_t KERNEL(choose_classes)(const uint8_t *keyed, int64_t count, const int64_t *starts, int64_t starts_len,
                               int64_t alphabet, int64_t *sums, int64_t sums_len, uint8_t *classes, int64_t classes_len) {
  double best[KEYS + 1];
  int64_t from[KEYS + 1], present[KEYS + 1], some = 0, made = 0, ends[KEYS + 1];
  if (alphabet < 2 || alphabet > 256 || sums_len != (KEYS + 1) * alphabet || classes_len != KEYS) return -1;
  if (starts_len != KEYS + 1 || !are_bounds(starts, starts_len, count)) return -1;
  add_up(keyed, starts, alphabet, sums);
  for (int64_t k = 0; k < KEYS; k++) if (starts[k + 1] > starts[k]) present[some++] = k;
  best[0] = 0;
  for (int64_t j = 1; j <= some; j++)
    for (int64_t i = 0; i < j; i++) {
      const double cost = best[i] + cost_of_class(sums + present[i] * alphabet, sums + (present[j - 1] + 1) * alphabet, alphabet);
      if (!i || cost < best[j]) { best[j] = cost; from[j] = i; }
    }
  for (int64_t j = some; j > 0; j = from[j]) ends[made++] = present[j - 1];
  for (int64_t k = 0, c = 0; k < KEYS; k++) {
    classes[k] = (uint8_t)c;
    if (c < made - 1 && k == ends[made - 1 - c]) c++;
  }
  return made;
}

/* A count as few leading bits tell it, by its place among all such counts, and back. */
INLINE int64_t place_of(uint64_t count, int bits) {
  const int drop = length_of(count) - bits;
  return drop <= 0 ? (int64_t)count : (int64_t)(((uint64_t)drop << (bits - 1)) + (count >> drop));
}

INLINE uint64_t count_at(int64_t place, int bits) {
  const int64_t step = (int64_t)1 << (bits - 1), drop = place / step - 1;
  return drop < 1 ? (uint64_t)place : (uint64_t)(place % step + step) << drop;
}

/* To the nearest of such counts. */
INLINE int64_t nearest_place(uint64_t count, int bits) {
  const int drop = length_of(count) - bits;
  return place_of(count + (drop > 0 ? ((uint64_t)1 << drop) / 2 : 0), bits);
}

/* What a class expects of a symbol: its share of the last class, as many entries as it has. */
INLINE int64_t expected_place(uint64_t weight, int64_t size, int64_t last, int bits) {
  if (!last) return 0;
  const double count = (double)weight * (double)size / (double)last;
  return nearest_place((uint64_t)count, bits);
}

/* The frequencies of letters of a class. */
static void build_class(const uint64_t *weights, int64_t alphabet, int64_t group, uint64_t *frequencies) {
  memset(frequencies, 0, 8 * MAX_LETTERS);
  build_letters(weights, alphabet, group, frequencies);
}

/* The largest letters that waste little, and their bits. */
static double choose_letters(const uint64_t *weights, const int64_t *counts, int64_t alphabet, int64_t size,
                             uint8_t *group, uint64_t *frequencies) {
  int64_t most = 1;
  double allowed = 0, bits = 0;
  while (letters_of(alphabet, most + 1) > 0) most++;
  for (int64_t k = 1, tried = 0; tried <= most; tried++, k = most + 1 - tried) {
    build_class(weights, alphabet, k, frequencies);
    bits = mean_bits(frequencies, counts, alphabet, size, k) * (double)size / (double)k;
    if (!tried) allowed = bits * (1 + TOLERANCE) + 1;
    if (tried && bits <= allowed) { *group = (uint8_t)k; break; }
  }
  return bits;
}

/* Tables of all classes. `numbers` is what travels of each: of every symbol but the commonest, how far its count is
   from what is expected. Returns the expected bits of all symbols, -1 if sizes do not fit. */
double KERNEL(make_tables)(const int64_t *counts, int64_t counts_len, int64_t alphabet, int64_t bits,
                           uint64_t *weights, int64_t weights_len, int64_t *numbers, int64_t numbers_len,
                           uint8_t *commonest, int64_t commonest_len, uint8_t *groups, int64_t groups_len,
                           uint64_t *frequencies, int64_t len) {
  const int64_t classes = commonest_len;
  double total = 0;
  if (alphabet < 2 || alphabet > 256 || bits < 2 || bits > 16 || classes < 1 || classes > KEYS || groups_len != classes) return -1;
  if (counts_len != classes * alphabet || weights_len != counts_len || numbers_len != classes * (alphabet - 1)) return -1;
  if (len != classes * MAX_LETTERS) return -1;
  for (int64_t c = 0, last = 0; c < classes; c++) {
    const int64_t *own = counts + c * alphabet;
    uint64_t *out = weights + c * alphabet, others = 0;
    int64_t size = 0, top = 0;
    for (int64_t s = 0; s < alphabet; s++) {
      if (own[s] < 0 || own[s] > MAX_TOTAL - size) return -1;
      size += own[s];
      top = own[s] > own[top] ? s : top;
    }
    if (!size) return -1;
    for (int64_t s = 0; s < alphabet; s++) {
      if (s == top) continue;
      const int64_t place = nearest_place((uint64_t)own[s], (int)bits);
      *numbers++ = place - (c ? expected_place(out[s - alphabet], size, last, (int)bits) : 0);
      out[s] = count_at(place, (int)bits);
      others += out[s];
    }
    out[top] = others < (uint64_t)size ? (uint64_t)size - others : 1;
    commonest[c] = (uint8_t)top;
    total += choose_letters(out, own, alphabet, size, groups + c, frequencies + c * MAX_LETTERS);
    last = size;
  }
  return total;
}

/* The tables that such numbers stand for, of classes of so many entries; -1 if there are none. */
int64_t KERNEL(open_tables)(const int64_t *numbers, int64_t numbers_len, int64_t alphabet, int64_t bits,
                            const int64_t *sizes, int64_t classes, const uint8_t *commonest, int64_t commonest_len,
                            const uint8_t *groups, int64_t groups_len, uint64_t *weights, int64_t weights_len,
                            uint64_t *frequencies, int64_t len) {
  if (alphabet < 2 || alphabet > 256 || bits < 2 || bits > 16 || classes < 1 || classes > KEYS) return -1;
  if (commonest_len != classes || groups_len != classes || weights_len != classes * alphabet) return -1;
  if (numbers_len != classes * (alphabet - 1) || len != classes * MAX_LETTERS) return -1;
  const int64_t most = place_of((uint64_t)MAX_TOTAL, (int)bits);
  for (int64_t c = 0; c < classes; c++) {
    uint64_t *out = weights + c * alphabet, others = 0;
    if (sizes[c] < 1 || sizes[c] > MAX_TOTAL || commonest[c] >= alphabet || letters_of(alphabet, groups[c]) < 0) return -1;
    for (int64_t s = 0; s < alphabet; s++) {
      if (s == commonest[c]) continue;
      const int64_t expected = c ? expected_place(out[s - alphabet], sizes[c], sizes[c - 1], (int)bits) : 0;
      const int64_t place = plus(expected, *numbers++);
      if (place < 0 || place > most) return -1;
      out[s] = count_at(place, (int)bits);
      others += out[s];
    }
    if (others > 2 * (uint64_t)sizes[c]) return -1; /* rounding adds a quarter at the most */
    out[commonest[c]] = others < (uint64_t)sizes[c] ? (uint64_t)sizes[c] - others : 1;
    build_class(out, alphabet, groups[c], frequencies + c * MAX_LETTERS);
  }
  return 0;
}
