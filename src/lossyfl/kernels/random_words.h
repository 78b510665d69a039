/* Words of a stream (lossyfl/streams.py): the one place in C where they are made. */
#ifndef LFL_RANDOM_WORDS_H
#define LFL_RANDOM_WORDS_H

#include "kernels.h"

/* Entries whose bits a kernel makes at a time: they stay in the first-level cache. */
enum { DRAWN = 1024 };

/* Word j of the stream with the key (a, b). */
INLINE uint64_t random_word(uint64_t a, uint64_t b, uint64_t j) {
  uint64_t z = a + j * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30) ^ b) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/* The 32 bits of `count` entries from `start` on: the lower half of word j is entry 2j's, the upper one entry
   2j + 1's. Whole words are stored, their halves in this order in memory, so that compilers use vectors. */
INLINE void draw_bits(uint64_t a, uint64_t b, uint64_t start, uint32_t *bits, int64_t count) {
  if (count > 0 && start % 2) {
    *bits++ = (uint32_t)(random_word(a, b, start / 2) >> 32);
    start++;
    count--;
  }
  for (int64_t j = 0; j < count / 2; j++) {
    uint64_t word = random_word(a, b, start / 2 + (uint64_t)j);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = word << 32 | word >> 32;
#endif
    memcpy(bits + 2 * j, &word, sizeof word);
  }
  if (count % 2) bits[count - 1] = (uint32_t)random_word(a, b, start / 2 + (uint64_t)(count / 2));
}

#endif
