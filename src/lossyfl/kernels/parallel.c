/* Sharing the pieces of one call among threads that Python started; kernels/parallel.py says why.

   A helper spends its time in lfl_help, outside the interpreter, and looks for a job again and again: taking up the next
   call of an encoder costs a cache line, not the 0.1 ms that a sleeping thread needs to wake up. There is one job at a
   time. Who finds it taken does his pieces alone, and nobody waits for a helper that has not begun. */
#include <time.h>

#if defined(__unix__) || defined(__APPLE__)
#include <sched.h>
#endif

#include "parallel.h"

#define READ(x) __atomic_load_n(&(x), __ATOMIC_SEQ_CST)
#define WRITE(x, value) __atomic_store_n(&(x), value, __ATOMIC_SEQ_CST)
#define ADD(x, value) __atomic_fetch_add(&(x), value, __ATOMIC_SEQ_CST)

enum { MOST_REGIONS = 16 };

/* taken: there is an owner. open: helpers may join. inside: helpers that read the fields below; the owner changes
   none of them before it is 0. next: the piece of every region that nobody has begun. */
static struct {
  uint32_t taken, open, inside, joined, next[MOST_REGIONS];
  int64_t pieces, threads, regions;
  Work work;
  void *context;
} job;

static int64_t region_begin(int64_t region) { return job.pieces * region / job.regions; }

/* Takes pieces until none is left. Everyone begins in a region of his own: two threads that write to one page which the
   system has not yet mapped make it do the work twice, and a page may be of two megabytes. */
static void drain(int64_t worker) {
  for (int64_t i = 0; i < job.regions; i++) {
    const int64_t region = (worker + i) % job.regions, end = region_begin(region + 1);
    for (;;) {
      const int64_t piece = ADD(job.next[region], 1);
      if (piece >= end) break;
      job.work(job.context, piece, worker);
    }
  }
}

/* Waits for a moment; now and then others may have the processor, which may be the very one that the owner needs, or
   the helper he waits for. Not every time: a call of the system takes longer than what is waited for. */
static void step_aside(uint32_t turn) {
#if defined(__unix__) || defined(__APPLE__)
  if (turn % 512 == 511) sched_yield();
#endif
  (void)turn;
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

void lfl_share(Work work, void *context, int64_t pieces, int64_t threads) {
  uint32_t nobody = 0;
  const int few = pieces <= INT32_MAX && threads <= INT32_MAX; /* so that `next` cannot wrap around */
  if (!few || !__atomic_compare_exchange_n(&job.taken, &nobody, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    for (int64_t i = 0; i < pieces; i++) work(context, i, 0);
    return;
  }
  job.work = work, job.context = context, job.pieces = pieces, job.threads = threads;
  job.regions = threads < MOST_REGIONS ? threads : MOST_REGIONS;
  for (int64_t i = 0; i < job.regions; i++) WRITE(job.next[i], (uint32_t)region_begin(i));
  WRITE(job.joined, 1);
  WRITE(job.open, 1);
  drain(0);
  WRITE(job.open, 0);
  for (uint32_t turn = 0; READ(job.inside); turn++) step_aside(turn);
  WRITE(job.taken, 0);
}

/* Works at the job, if there is one that is not fully manned. */
static int join_in(void) {
  int worked = 0;
  if (!READ(job.open)) return 0;
  ADD(job.inside, 1);
  if (READ(job.open)) { /* still, so that its owner waits */
    const int64_t worker = ADD(job.joined, 1);
    worked = worker < job.threads;
    if (worked) drain(worker);
  }
  ADD(job.inside, (uint32_t)-1);
  return worked;
}

static int64_t nanoseconds(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

LFL_EXPORT void lfl_help(int64_t patience);
LFL_EXPORT int64_t lfl_awake(void);
LFL_EXPORT void lfl_forget(void);

/* Threads that are in lfl_help. */
static uint32_t awake;

/* Works at jobs until there has been none for so many nanoseconds. */
void lfl_help(int64_t patience) {
  ADD(awake, 1);
  int64_t since = nanoseconds();
  for (uint32_t turn = 0;; turn++) {
    const int64_t waited = nanoseconds() - since;
    if (join_in()) since = nanoseconds();
    else if (waited < 0 || waited > patience) break; /* below 0 if the clock was set */
    else step_aside(turn);
  }
  ADD(awake, (uint32_t)-1);
}

int64_t lfl_awake(void) { return READ(awake); }

/* In a forked child: whoever was at work is not in it. */
void lfl_forget(void) {
  memset(&job, 0, sizeof job);
  awake = 0;
}
