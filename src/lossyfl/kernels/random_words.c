/* The bits of a stream, for those who need them in an array. */
#include "random_words.h"

int64_t KERNEL(random_bits)(uint64_t a, uint64_t b, int64_t start, uint32_t *bits, int64_t count) {
  draw_bits(a, b, (uint64_t)start, bits, count);
  return 0;
}
