/* Which block an entry is in. */
#ifndef LFL_BLOCKS_H
#define LFL_BLOCKS_H

#include "kernels.h"

/* The last block that begins at `entry` or before, where `bounds` is what are_bounds asks for. */
INLINE int64_t block_of(const int64_t *bounds, int64_t len, int64_t entry) {
  int64_t low = 0, high = len - 1; /* bounds[low] <= entry; the blocks from `high` on begin behind it */
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    if (bounds[middle] <= entry) low = middle; else high = middle;
  }
  return low;
}

#endif
