/* Interleaved rANS over letters: 32-bit states, 16-bit words, four states in turn; wire/rans.py says how and why. */
#include "kernels.h"

enum { STATE_WORDS = 8, LOWEST = 1 << 16 };

/* Per letter: reciprocal m, limit f 2^(32 - bits), start c, complement F - f. */
typedef struct { uint64_t reciprocal, limit, start, complement; } PushRow;

/* One letter onto one state. The word is always stored, and kept only where it is due. */
INLINE uint64_t push(uint64_t x, uint16_t **at, PushRow row, int shift) {
  (*at)[-1] = (uint16_t)x;
  int due = x >= row.limit;
  x = due ? x >> 16 : x;
  *at -= due;
  uint64_t quotient = (x * row.reciprocal) >> shift;
  return x + row.start + quotient * row.complement;
}

/* One segment per row of `words`, which ends with its words; its states stand just before them. */
void KERNEL(push_segments)(const uint8_t *letters, int64_t count, int64_t share, const uint64_t *rows, int64_t rows_len,
                           int64_t bits, uint16_t *words, int64_t words_len, int64_t *first, int64_t segments) {
  (void)rows_len;
  const PushRow *row = (const PushRow *)rows;
  const int shift = 32 + (int)bits;
  const int64_t width = segments ? words_len / segments : 0;
  for (int64_t segment = 0; segment < segments; segment++) {
    const uint8_t *own = letters + segment * share;
    int64_t n = count - segment * share < share ? count - segment * share : share;
    uint64_t state[4] = {LOWEST, LOWEST, LOWEST, LOWEST};
    uint16_t *begin = words + segment * width, *at = begin + width;
    int64_t i = n;
    while (i % 4) { i--; state[i % 4] = push(state[i % 4], &at, row[own[i]], shift); }
    uint64_t a = state[0], b = state[1], c = state[2], d = state[3];
    while (i) {
      i -= 4;
      d = push(d, &at, row[own[i + 3]], shift);
      c = push(c, &at, row[own[i + 2]], shift);
      b = push(b, &at, row[own[i + 1]], shift);
      a = push(a, &at, row[own[i]], shift);
    }
    at -= STATE_WORDS;
    const uint64_t last[4] = {a, b, c, d};
    for (int k = 0; k < 4; k++) { at[2 * k] = (uint16_t)last[k]; at[2 * k + 1] = (uint16_t)(last[k] >> 16); }
    first[segment] = at - begin;
  }
}
