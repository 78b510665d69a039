/* What the loader asks before it calls anything. */
#include "kernels.h"

/* Counted up whenever a kernel is added, dropped or called otherwise; ABI in kernels/native.py is the same number. */
#define LFL_ABI 6

LFL_EXPORT int64_t lfl_abi(void);

/* The suffix of the kernels for this processor; empty for those that run on any. */
LFL_EXPORT const char *lfl_level(void);

int64_t lfl_abi(void) { return LFL_ABI; }

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

static int has(unsigned reg, unsigned bits) { return (reg & bits) == bits; }

/* The widest instructions that both processor and system support. Asked by hand: __builtin_cpu_supports needs a symbol
   that not every linker lets a shared library have. */
const char *lfl_level(void) {
  unsigned a, b, c, d, saved, high;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !has(c, bit_OSXSAVE | bit_POPCNT)) return "";
  __asm__ volatile("xgetbv" : "=a"(saved), "=d"(high) : "c"(0)); /* the registers that the system saves */
  if (!__get_cpuid(0x80000001, &a, &b, &c, &d) || !has(c, bit_LZCNT)) return "";
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !has(b, bit_AVX2 | bit_BMI | bit_BMI2) || !has(saved, 0x06)) return "";
  /* 64-bit multiplications, of which random words are made, have vectors here and nowhere before. */
  const unsigned v4 = bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL;
  return has(b, v4) && has(saved, 0xE6) ? "_v4" : "_v3";
}
#else
const char *lfl_level(void) { return ""; }
#endif
