/* What the loader asks before it calls anything. */
#include "kernels.h"

/* Counted up whenever a kernel is added, dropped or called otherwise; ABI in kernels/native.py is the same number. */
#define LFL_ABI 1

LFL_EXPORT int64_t lfl_abi(void);
LFL_EXPORT const char *lfl_level(void);

int64_t lfl_abi(void) { return LFL_ABI; }

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

/* Whether processor and system have all that `_v3` is compiled for. Asked by hand: __builtin_cpu_supports needs a
   symbol that not every linker lets a shared library have. */
static int has_v3(void) {
  unsigned a, b, c, d, low, high;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !(c & bit_POPCNT)) return 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if ((low & 6) != 6) return 0; /* the system saves vector registers */
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & bit_AVX2) || !(b & bit_BMI) || !(b & bit_BMI2)) return 0;
  return __get_cpuid(0x80000001, &a, &b, &c, &d) && (c & bit_LZCNT);
}
#else
static int has_v3(void) { return 0; }
#endif

/* The suffix of the kernels for this processor; empty for those that run on any. */
const char *lfl_level(void) { return has_v3() ? "_v3" : ""; }
