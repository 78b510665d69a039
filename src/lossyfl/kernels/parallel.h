/* One call of a kernel on several threads. */
#ifndef LFL_PARALLEL_H
#define LFL_PARALLEL_H

#include "kernels.h"

/* One piece of a job. `worker` is below the job's threads, and no two that work at once have the same. */
typedef void (*Work)(void *context, int64_t piece, int64_t worker);

/* Does all pieces, in any order, with the helpers that are awake; parallel.c says how. */
void lfl_share(Work work, void *context, int64_t pieces, int64_t threads);

/* Does all pieces on at most so many threads, the calling one included. */
INLINE void share(Work work, void *context, int64_t pieces, int64_t threads) {
  if (threads > 1 && pieces > 1) lfl_share(work, context, pieces, threads);
  else for (int64_t i = 0; i < pieces; i++) work(context, i, 0);
}

/* What several threads lower or raise to the least or most of all. */
INLINE void lower(uint32_t *to, uint32_t value) {
  uint32_t now = __atomic_load_n(to, __ATOMIC_RELAXED);
  while (value < now && !__atomic_compare_exchange_n(to, &now, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

INLINE void raise_to(uint32_t *to, uint32_t value) {
  uint32_t now = __atomic_load_n(to, __ATOMIC_RELAXED);
  while (value > now && !__atomic_compare_exchange_n(to, &now, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

#endif
