/* Finding the few symbols that are not in the middle, eight or 32 at a time. */
#ifndef LFL_QUIET_H
#define LFL_QUIET_H

#include "kernels.h"

/* The symbol in the middle, or both that are, in every byte. */
typedef struct { uint64_t high[4], low[4]; } Quiet;

INLINE void fill_quiet(int64_t alphabet, Quiet *out) {
  memset(out->high, (int)(alphabet / 2), sizeof out->high);
  memset(out->low, (int)((alphabet - 1) / 2), sizeof out->low);
}

/* The highest bit of every byte that is not zero. */
INLINE uint64_t marked(uint64_t bytes) {
  const uint64_t low = 0x7F7F7F7F7F7F7F7F;
  return (((bytes & low) + low) | bytes) & ~low;
}

/* The highest bit of every byte of eight that is another symbol. */
INLINE uint64_t busy_bytes(const uint8_t *from, const Quiet *by) {
  const uint64_t bytes = load64(from);
  return marked(bytes ^ by->high[0]) & marked(bytes ^ by->low[0]);
}

/* Whether none of 32 bytes is another symbol. */
INLINE int are_quiet(const uint8_t *from, const Quiet *by) {
  typedef uint8_t Bytes __attribute__((vector_size(32)));
  Bytes x, high, low;
  uint64_t same[4];
  memcpy(&x, from, sizeof x);
  memcpy(&high, by->high, sizeof high);
  memcpy(&low, by->low, sizeof low);
  const Bytes either = (Bytes)((x == high) | (x == low));
  memcpy(same, &either, sizeof same);
  return !~(same[0] & same[1] & same[2] & same[3]);
}

/* Where the first of the next `count` bytes that may be another symbol is, in steps of 32 from a multiple of 32. */
INLINE int64_t pass_quiet(const uint8_t *from, int64_t at, int64_t count, const Quiet *by) {
  if (at % 32) return at;
  while (at + 32 <= count && are_quiet(from + at, by)) at += 32;
  return at;
}

#endif
