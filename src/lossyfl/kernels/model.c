/* From counts of symbols to the integer frequencies that the coders use; model.py says how and why. */
#include "logarithms.h"

enum { LETTER_BITS = 15, WIDE_BITS = 28, MAX_LETTERS = 256 };

/* What is above a share of 1 in units of total / 2^bits. */
INLINE uint64_t above_one(uint64_t weight, uint64_t total, int bits) {
  uint64_t share = weight << bits;
  return share > total ? share - total : 0;
}

/* Frequencies in proportion to `weights` that sum to 2^bits, at least 1 for every weight that is not 0. */
static void normalise(const uint64_t *weights, int64_t count, int bits, uint64_t *frequencies) {
  uint64_t total = 0, used = 0, above = 0, seen = 0, filled = 0;
  for (int64_t i = 0; i < count; i++) { total += weights[i]; used += weights[i] > 0; }
  for (int64_t i = 0; i < count; i++) above += above_one(weights[i], total, bits);
  int spare = 0; /* dropped bits, so that the products below fit 64 */
  while (above >> spare >> (62 - bits)) spare++;
  above = 0;
  for (int64_t i = 0; i < count; i++) above += above_one(weights[i], total, bits) >> spare;
  const uint64_t room = ((uint64_t)1 << bits) - used;
  for (int64_t i = 0; i < count; i++) {
    seen += above_one(weights[i], total, bits) >> spare;
    uint64_t edge = above ? seen * room / above : 0;
    frequencies[i] = edge - filled + (weights[i] > 0);
    filled = edge;
  }
}

int64_t KERNEL(normalise)(const uint64_t *weights, int64_t count, int64_t bits, uint64_t *frequencies, int64_t len) {
  if (len != count || bits < 1 || bits > WIDE_BITS) return -1;
  normalise(weights, count, (int)bits, frequencies);
  return 0;
}

/* alphabet^group, or -1 if letters of so many symbols do not fit a byte. */
INLINE int64_t letters_of(int64_t alphabet, int64_t group) {
  int64_t letters = 1;
  if (group < 1 || alphabet < 2) return -1;
  for (int64_t k = 0; k < group && letters <= MAX_LETTERS; k++) letters *= alphabet < 1024 ? alphabet : 1024;
  return letters <= MAX_LETTERS ? letters : -1;
}

/* Frequencies of letters: products of 16-bit shares, each rounded to 32 bits after the point, never to zero. */
static void build_letters(const uint64_t *weights, int64_t alphabet, int64_t group, uint64_t *frequencies) {
  uint64_t base[MAX_LETTERS], joint[MAX_LETTERS] = {(uint64_t)1 << 32};
  int64_t done = 1;
  normalise(weights, alphabet, 16, base);
  for (int64_t k = 0; k < group; k++, done *= alphabet)
    for (int64_t i = done - 1; i >= 0; i--) /* from the end, so that nothing is overwritten too soon */
      for (int64_t j = alphabet - 1; j >= 0; j--) {
        uint64_t product = joint[i] * base[j], rounded = (product + (1 << 15)) >> 16;
        joint[i * alphabet + j] = product && !rounded ? 1 : rounded;
      }
  normalise(joint, done, LETTER_BITS, frequencies);
}

/* Group 0 stands for single symbols of the wide coder. -1 if sizes do not fit. */
int64_t KERNEL(build_frequencies)(const uint64_t *weights, int64_t alphabet, int64_t group, uint64_t *frequencies,
                                  int64_t len) {
  if (len != (group ? letters_of(alphabet, group) : alphabet)) return -1;
  if (group) build_letters(weights, alphabet, group, frequencies);
  else normalise(weights, alphabet, WIDE_BITS, frequencies);
  return 0;
}

/* Mean bits of one symbol or letter with this chance; infinity if it cannot be coded. */
INLINE double expected_bits_of(double chance, uint64_t frequency, int bits) {
  if (!(chance > 0)) return 0;
  return frequency ? chance * (bits - log2_of((double)frequency)) : __builtin_inf();
}

/* Mean bits a letter when its symbols are independent, one product a symbol, the first symbol's first. */
static double mean_bits(const uint64_t *frequencies, const int64_t *counts, int64_t alphabet, int64_t entries,
                        int64_t group) {
  double total = 0, share[MAX_LETTERS], chance[MAX_LETTERS] = {1};
  int64_t letters = 1;
  if (!group) {
    for (int64_t i = 0; i < alphabet; i++)
      total += expected_bits_of((double)counts[i] / (double)entries, frequencies[i], WIDE_BITS);
    return total;
  }
  for (int64_t i = 0; i < alphabet; i++) share[i] = (double)counts[i] / (double)entries;
  for (int64_t k = 0; k < group; k++, letters *= alphabet)
    for (int64_t i = letters - 1; i >= 0; i--)
      for (int64_t j = alphabet - 1; j >= 0; j--) chance[i * alphabet + j] = chance[i] * share[j];
  for (int64_t i = 0; i < letters; i++) total += expected_bits_of(chance[i], frequencies[i], LETTER_BITS);
  return total;
}

double KERNEL(mean_bits)(const uint64_t *frequencies, int64_t letters, const int64_t *counts, int64_t alphabet,
                         int64_t group) {
  if (alphabet < 1 || letters != (group ? letters_of(alphabet, group) : alphabet)) return __builtin_inf();
  return mean_bits(frequencies, counts, alphabet, (int64_t)sum_of(counts, alphabet), group);
}

/* Empirical entropy of all entries together, in bits. */
static double entropy_of(const int64_t *counts, int64_t alphabet, int64_t entries) {
  double total = 0, all = log2_of((double)entries);
  for (int64_t i = 0; i < alphabet; i++)
    if (counts[i] > 0) total += (double)counts[i] * (all - log2_of((double)counts[i]));
  return total;
}
