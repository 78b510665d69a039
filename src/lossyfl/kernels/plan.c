/* How symbols with given counts are coded, in one call; and what a frame's counts stand for, in another. */
#include "kernels.h"

enum { PREAMBLE = 3, SEGMENT_ENTRIES = 1 << 16, SEGMENT_BYTES = 5000, MAX_SEGMENTS = 1 << 15, STATES = 8 };
#define TOLERANCE 0.002
#define MAX_TOTAL ((int64_t)1 << 34)

typedef struct { int64_t group, segments, nbytes, table; } Plan;

INLINE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* The model with the largest letters that wastes at most TOLERANCE, and its cost in bits. `weights` are the counts
   rounded, or all 1. */
static double choose(const uint64_t *weights, const int64_t *counts, int64_t alphabet, int64_t entries,
                     uint64_t *frequencies, int64_t *group) {
  const double allowed = entropy_of(counts, alphabet, entries) * (1 + TOLERANCE) + 32;
  int64_t k = 0;
  while (letters_of(alphabet, k + 1) > 0) k++;
  for (; k > 0; k--) {
    build_letters(weights, alphabet, k, frequencies);
    double needed = mean_bits(frequencies, counts, alphabet, entries, k) * (double)entries / (double)k;
    if (needed <= allowed) { *group = k; return needed; }
  }
  *group = 0;
  normalise(weights, alphabet, WIDE_BITS, frequencies);
  return mean_bits(frequencies, counts, alphabet, entries, 0) * (double)entries;
}

static Plan plan_of(const uint64_t *weights, const int64_t *counts, int64_t alphabet, int64_t entries, int64_t table,
                    uint64_t *frequencies) {
  Plan plan = {0, 0, PREAMBLE + table, table};
  int64_t used = 0;
  for (int64_t i = 0; i < alphabet; i++) used += weights[i] != 0;
  if (used == 1) {
    normalise(weights, alphabet, WIDE_BITS, frequencies);
    return plan;
  }
  double bits = choose(weights, counts, alphabet, entries, frequencies, &plan.group);
  int64_t share = least(least(entries / SEGMENT_ENTRIES, (int64_t)bits / 8 / SEGMENT_BYTES), MAX_SEGMENTS);
  plan.segments = (int64_t)1 << (length_of(share > 1 ? (uint64_t)share : 1) - 1);
  const int64_t states = STATES * (plan.group ? 2 : 4);
  /* A state also holds what it was worth when it was written: about half of its bytes come back. */
  plan.nbytes += states * plan.segments + 4 * (plan.segments - 1);
  plan.nbytes += (int64_t)(bits / 8) - states * plan.segments / 2;
  return plan;
}

/* Fills the table of counts and the frequencies. 0 if sizes or counts are impossible. */
static int make_plan(const int64_t *counts, int64_t alphabet, uint64_t *weights, uint8_t *table, int64_t table_len,
                     uint64_t *frequencies, Plan *best) {
  int64_t entries = 0;
  for (int64_t i = 0; i < alphabet; i++) {
    if (counts[i] < 0 || counts[i] > MAX_TOTAL - entries) return 0;
    entries += counts[i];
    weights[i] = rounded((uint64_t)counts[i]);
  }
  int64_t size = write_rounded(counts, alphabet, table, table_len);
  if (!entries || size < 1) return 0;
  *best = plan_of(weights, counts, alphabet, entries, size, frequencies);
  /* Equal frequencies can only win where the table of counts costs more than it saves. */
  if (log2_of((double)alphabet) * (double)entries / 8 <= (double)best->nbytes) {
    for (int64_t i = 0; i < alphabet; i++) weights[i] = 1;
    Plan equal = plan_of(weights, counts, alphabet, entries, 1, frequencies);
    if (equal.nbytes < best->nbytes) {
      *best = equal;
      table[0] = 0x80;
    } else {
      for (int64_t i = 0; i < alphabet; i++) weights[i] = rounded((uint64_t)counts[i]);
      plan_of(weights, counts, alphabet, entries, size, frequencies);
    }
  }
  return 1;
}

/* The same, and `found`: group, segments, expected bytes, bytes of the table. `weights` is room for one number a
   symbol. -1 if sizes or counts are impossible. */
int64_t KERNEL(plan)(const int64_t *counts, int64_t alphabet, uint64_t *weights, int64_t weights_len, uint8_t *table,
                     int64_t table_len, uint64_t *frequencies, int64_t len, int64_t *found, int64_t found_len) {
  Plan best;
  if (alphabet < 2 || weights_len < alphabet || len < alphabet || len < MAX_LETTERS || found_len < 4) return -1;
  if (!make_plan(counts, alphabet, weights, table, table_len, frequencies, &best)) return -1;
  found[0] = best.group;
  found[1] = best.segments;
  found[2] = best.nbytes;
  found[3] = best.table;
  return 0;
}

/* The rounded counts that `data` begins with and the frequencies they stand for; the bytes they take, or -1. */
static int64_t model_of(const uint8_t *data, int64_t size, int64_t group, uint64_t *weights, int64_t alphabet,
                        uint64_t *frequencies) {
  int64_t bits = read_table(data, size, weights, alphabet);
  uint64_t total = 0;
  for (int64_t i = 0; i < alphabet; i++) total += weights[i];
  if (bits < 0 || total > (uint64_t)MAX_TOTAL) return -1;
  if (!total) for (int64_t i = 0; i < alphabet; i++) weights[i] = 1;
  if (group) build_letters(weights, alphabet, group, frequencies);
  else normalise(weights, alphabet, WIDE_BITS, frequencies);
  return (bits + 7) / 8;
}

int64_t KERNEL(open_model)(const uint8_t *data, int64_t size, int64_t group, uint64_t *weights, int64_t alphabet,
                           uint64_t *frequencies, int64_t len) {
  if (alphabet < 1 || len != (group ? letters_of(alphabet, group) : alphabet)) return -1;
  return model_of(data, size, group, weights, alphabet, frequencies);
}
