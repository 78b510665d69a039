/* How often each symbol occurs.

   Counting one symbol after the other is slow when one of them dominates: every increment waits for the store of
   the last one. A few symbols are compared with every one of a block, many at a time; more go to several lanes of
   counters in turn. */
#include "kernels.h"

enum { FEW = 12, LANES = 8, VECTOR = 32, VECTORS = 255 };
typedef uint8_t Bytes32 __attribute__((vector_size(VECTOR)));

/* Symbols of a small alphabet; a lane of 8 bits counts to 255 before it is added up. */
static void count_few(const uint8_t *symbols, int64_t count, int64_t *counts, int64_t alphabet) {
  while (count >= VECTOR) {
    int64_t vectors = count / VECTOR < VECTORS ? count / VECTOR : VECTORS;
    for (int64_t s = 0; s < alphabet; s++) {
      Bytes32 own = {0}, seen = {0}, x;
      own = own + (uint8_t)s;
      for (int64_t v = 0; v < vectors; v++) {
        memcpy(&x, symbols + v * VECTOR, VECTOR);
        seen -= (Bytes32)(x == own);
      }
      uint32_t sum = 0;
      for (int lane = 0; lane < VECTOR; lane++) sum += seen[lane];
      counts[s] = plus(counts[s], sum);
    }
    symbols += vectors * VECTOR;
    count -= vectors * VECTOR;
  }
  for (int64_t i = 0; i < count; i++) if (symbols[i] < alphabet) counts[symbols[i]] = plus(counts[symbols[i]], 1);
}

static void count_bytes(const uint8_t *symbols, int64_t count, int64_t *counts, int64_t alphabet) {
  uint32_t lanes[LANES][256];
  while (count > 0) {
    int64_t now = count < INT32_MAX ? count : INT32_MAX, i = 0;
    memset(lanes, 0, sizeof lanes);
    for (; i + 8 <= now; i += 8) {
      uint64_t eight = load64(symbols + i);
      for (int lane = 0; lane < 8; lane++) lanes[lane][(uint8_t)(eight >> (8 * lane))]++;
    }
    for (; i < now; i++) lanes[0][symbols[i]]++;
    for (int64_t s = 0; s < alphabet; s++)
      for (int lane = 0; lane < LANES; lane++) counts[s] = plus(counts[s], lanes[lane][s]);
    symbols += now;
    count -= now;
  }
}

/* Adds to `counts`; symbols that have none are left out. */
static void count_any(const uint8_t *symbols, int64_t count, int64_t *counts, int64_t alphabet) {
  if (alphabet <= FEW) count_few(symbols, count, counts, alphabet);
  else count_bytes(symbols, count, counts, alphabet);
}

INLINE uint64_t sum_of(const int64_t *counts, int64_t alphabet) {
  uint64_t sum = 0;
  for (int64_t s = 0; s < alphabet; s++) sum += (uint64_t)counts[s];
  return sum;
}

/* Adds to `counts`; -1 if there is a symbol that has none, with no more said about the counts. */
int64_t KERNEL(count_u8)(const uint8_t *symbols, int64_t count, int64_t *counts, int64_t alphabet, uint32_t *lanes,
                         int64_t lanes_len) {
  (void)lanes;
  (void)lanes_len;
  const int64_t known = alphabet < 256 ? alphabet : 256;
  const uint64_t before = sum_of(counts, known); /* counts of anybody's wrap around */
  count_any(symbols, count, counts, known);
  return sum_of(counts, known) - before == (uint64_t)count ? 0 : -1;
}

/* Counts symbols that are below `alphabet` into four lanes of it; a lane counts 2^32 of them. */
static void count_words(const uint16_t *symbols, int64_t count, uint32_t *lanes) {
  int64_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (int lane = 0; lane < 4; lane++) lanes[4 * (size_t)symbols[i + lane] + (size_t)lane]++;
  for (; i < count; i++) lanes[4 * (size_t)symbols[i]]++;
}

static void add_lanes(const uint32_t *lanes, int64_t *counts, int64_t alphabet) {
  for (int64_t s = 0; s < alphabet; s++)
    counts[s] = plus(counts[s], (uint64_t)lanes[4 * s] + lanes[4 * s + 1] + lanes[4 * s + 2] + lanes[4 * s + 3]);
}

/* The same; `lanes` is room for four counters a symbol. */
int64_t KERNEL(count_u16)(const uint16_t *symbols, int64_t count, int64_t *counts, int64_t alphabet, uint32_t *lanes,
                          int64_t lanes_len) {
  if (lanes_len / 4 < alphabet || !all_below(symbols, count, alphabet, 1)) return -1;
  while (count > 0) {
    const int64_t now = count < INT32_MAX ? count : INT32_MAX;
    memset(lanes, 0, 16 * (size_t)alphabet);
    count_words(symbols, now, lanes);
    add_lanes(lanes, counts, alphabet);
    symbols += now;
    count -= now;
  }
  return 0;
}
