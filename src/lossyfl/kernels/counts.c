/* The table of counts as bits, the most significant first; counts.py says how it is laid out. */
#include "kernels.h"

enum { SIGNIFICANT = 7, FIRST_LENGTH = 16, MAX_LENGTH = 34, MAX_ZEROS = 20 };

/* Bits of n; 0 for 0. */
INLINE int length_of(uint64_t n) { return n ? 64 - __builtin_clzll(n) : 0; }

/* A count as the receiver will see it: seven significant bits. */
INLINE uint64_t rounded(uint64_t count) {
  int length = length_of(count), drop = length > SIGNIFICANT ? length - SIGNIFICANT : 0;
  return (count + (((uint64_t)1 << drop) >> 1)) >> drop << drop;
}

/* Bits on their way to `out`; `bytes` goes on counting where there is no more room. */
typedef struct { uint8_t *out; int64_t room, bytes; uint64_t held; int bits; } Writer;

/* The lower `bits` bits of n, 40 at the most. */
INLINE void put(Writer *to, uint64_t n, int bits) {
  to->held = to->held << bits | n;
  to->bits += bits;
  while (to->bits >= 8) {
    to->bits -= 8;
    if (to->bytes < to->room) to->out[to->bytes] = (uint8_t)(to->held >> to->bits);
    to->bytes++;
  }
}

INLINE void put_gamma(Writer *to, uint64_t n) { put(to, n, 2 * length_of(n) - 1); }

/* The bytes of the table of `weight(i)`; -1 if there is no room or a weight is beyond all limits. */
#define WRITE_TABLE(weight)                                                     \
  Writer to = {out, room, 0, 0, 0};                                             \
  int64_t used = 0, last = -1;                                                  \
  int last_length = FIRST_LENGTH;                                               \
  for (int64_t i = 0; i < alphabet; i++) used += (weight) != 0;                 \
  put_gamma(&to, (uint64_t)used + 1);                                           \
  for (int64_t i = 0; i < alphabet; i++) {                                      \
    uint64_t w = (weight);                                                      \
    if (!w) continue;                                                           \
    int length = length_of(w), change = length - last_length;                   \
    int kept = length < SIGNIFICANT ? length : SIGNIFICANT;                     \
    if (length > MAX_LENGTH) return -1;                                         \
    put_gamma(&to, (uint64_t)(i - last));                                       \
    put_gamma(&to, (uint64_t)(change >= 0 ? 2 * change : -2 * change - 1) + 1); \
    put(&to, w >> (length - kept) & (((uint64_t)1 << (kept - 1)) - 1), kept - 1); \
    last = i;                                                                   \
    last_length = length;                                                       \
  }                                                                             \
  if (to.bits) put(&to, 0, 8 - to.bits);                                        \
  return to.bytes <= room ? to.bytes : -1;

static int64_t write_rounded(const int64_t *counts, int64_t alphabet, uint8_t *out, int64_t room) {
  WRITE_TABLE(rounded((uint64_t)counts[i]))
}

int64_t KERNEL(write_counts)(const uint64_t *weights, int64_t alphabet, uint8_t *out, int64_t room) {
  WRITE_TABLE(weights[i])
}

/* The next 57 bits or more from bit `at` on, the first one at the top; zeros follow the end. */
INLINE uint64_t peek(const uint8_t *data, int64_t size, int64_t at) {
  const int64_t byte = at / 8;
  uint64_t bits = 0;
  if (byte + 8 <= size) return __builtin_bswap64(load64(data + byte)) << (at % 8);
  for (int64_t i = byte; i < byte + 8; i++) bits = bits << 8 | (i < size ? data[i] : 0);
  return bits << (at % 8);
}

/* The next gamma code, or -1; moves `at` behind it. */
INLINE int64_t take_gamma(const uint8_t *data, int64_t size, int64_t *at) {
  uint64_t bits = peek(data, size, *at);
  int zeros = bits ? __builtin_clzll(bits) : 64;
  if (zeros > MAX_ZEROS || *at + 2 * zeros + 1 > 8 * size) return -1;
  *at += 2 * zeros + 1;
  return (int64_t)(bits << zeros >> (63 - zeros));
}

/* Fills `weights`; the number of bits read, or -1 if they are not a table. */
static int64_t read_table(const uint8_t *data, int64_t size, uint64_t *weights, int64_t alphabet) {
  memset(weights, 0, 8 * (size_t)alphabet);
  int64_t at = 0, symbol = -1, length = FIRST_LENGTH, used = take_gamma(data, size, &at);
  if (used < 1 || used - 1 > alphabet) return -1;
  for (int64_t i = 1; i < used; i++) {
    int64_t gap = take_gamma(data, size, &at);
    int64_t zigzag = gap < 1 ? -1 : take_gamma(data, size, &at);
    if (zigzag < 1) return -1;
    symbol += gap;
    length += zigzag % 2 ? zigzag / 2 : -(zigzag / 2);
    if (symbol >= alphabet || length < 1 || length > MAX_LENGTH) return -1;
    int kept = length < SIGNIFICANT ? (int)length : SIGNIFICANT;
    if (at + kept - 1 > 8 * size) return -1;
    uint64_t below = kept > 1 ? peek(data, size, at) >> (65 - kept) : 0;
    at += kept - 1;
    weights[symbol] = ((uint64_t)1 << (kept - 1) | below) << (length - kept);
  }
  return at;
}

int64_t KERNEL(read_counts)(const uint8_t *data, int64_t size, uint64_t *weights, int64_t alphabet) {
  return read_table(data, size, weights, alphabet);
}
