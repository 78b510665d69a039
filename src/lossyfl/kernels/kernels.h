/* What all kernels share.

   A kernel is a C11 function without allocation, global state or dependency. Arrays come as a pointer and a
   number of elements, whole numbers as int64_t. Its NumPy reference stands in the Python file of the same
   name and gives the same bits; kernels/native.py calls the one or the other. */
#ifndef LFL_KERNELS_H
#define LFL_KERNELS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(_WIN32)
#define LFL_EXPORT __declspec(dllexport)
#else
#define LFL_EXPORT __attribute__((visibility("default")))
#endif

/* KERNEL(push_segments) is lfl_push_segments, or lfl_push_segments_v3 where it is compiled for wider instructions. */
#define LFL_PASTE_(a, b, c) a##b##_##c
#define LFL_PASTE(a, b, c) LFL_PASTE_(a, b, c)
#ifdef LFL_LEVEL
#define KERNEL(name) LFL_EXPORT LFL_PASTE(lfl_, name, LFL_LEVEL)
#else
#define KERNEL(name) LFL_EXPORT lfl_##name
#endif

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define HIDE(x) __asm__("" : "+r"(x)) /* what x is, the compiler shall not know */
#define INLINE static inline __attribute__((always_inline))

/* Counts may be anybody's: sums of them wrap around, as NumPy's do. */
INLINE int64_t plus(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
INLINE int64_t minus(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }

/* Numbers on the wire are little-endian and stand anywhere. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LFL_LITTLE(bits, x) __builtin_bswap##bits(x)
#else
#define LFL_LITTLE(bits, x) (x)
#endif
INLINE uint16_t load16(const uint8_t *p) { uint16_t x; memcpy(&x, p, 2); return LFL_LITTLE(16, x); }
INLINE uint32_t load32(const uint8_t *p) { uint32_t x; memcpy(&x, p, 4); return LFL_LITTLE(32, x); }
INLINE uint64_t load64(const uint8_t *p) { uint64_t x; memcpy(&x, p, 8); return LFL_LITTLE(64, x); }
INLINE void store16(uint8_t *p, uint16_t x) { x = LFL_LITTLE(16, x); memcpy(p, &x, 2); }
INLINE void store32(uint8_t *p, uint32_t x) { x = LFL_LITTLE(32, x); memcpy(p, &x, 4); }

/* Entry i of symbols of uint8, or of uint16 where `wide` says so; a constant wherever it is called. */
INLINE uint32_t symbol_at(const void *symbols, int64_t i, int wide) {
  return wide ? ((const uint16_t *)symbols)[i] : ((const uint8_t *)symbols)[i];
}

/* Whether all symbols are below `alphabet`: one vectorised pass, so that look-ups need not check. */
INLINE int all_below(const void *symbols, int64_t count, int64_t alphabet, int wide) {
  if (alphabet > (wide ? 0xFFFF : 0xFF)) return 1;
  uint32_t most = 0;
  if (wide) {
    uint16_t m = 0;
    for (int64_t i = 0; i < count; i++) { uint16_t s = ((const uint16_t *)symbols)[i]; m = s > m ? s : m; }
    most = m;
  } else {
    uint8_t m = 0;
    for (int64_t i = 0; i < count; i++) { uint8_t s = ((const uint8_t *)symbols)[i]; m = s > m ? s : m; }
    most = m;
  }
  return count <= 0 || (int64_t)most < alphabet;
}

/* Whether `bounds` cut part of `entries` entries into blocks: upwards, within them, at least one block. */
INLINE int are_bounds(const int64_t *bounds, int64_t len, int64_t entries) {
  if (len < 2 || bounds[0] < 0) return 0;
  for (int64_t i = 1; i < len; i++) if (bounds[i] < bounds[i - 1]) return 0;
  return bounds[len - 1] <= entries;
}

#endif
