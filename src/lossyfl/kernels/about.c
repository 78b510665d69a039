/* What the loader asks before it calls anything. */
#include "kernels.h"

/* Counted up whenever a kernel is added, dropped or called otherwise; ABI in kernels/native.py is the same number. */
#define LFL_ABI 1

LFL_EXPORT int64_t lfl_abi(void);
LFL_EXPORT const char *lfl_level(void);

int64_t lfl_abi(void) { return LFL_ABI; }

/* The suffix of the kernels for this processor; empty for those that run on any. */
const char *lfl_level(void) {
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
  __builtin_cpu_init();
  /* 64-bit multiplications, of which random words are made, have vectors here and nowhere before. */
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("bmi2"))
    return "_v4";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) return "_v3";
#endif
  return "";
}
