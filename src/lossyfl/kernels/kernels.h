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
#define INLINE static inline __attribute__((always_inline))

#endif
