/* The Walsh-Hadamard transform, stage by stage; lossyfl/wire/rotation.py says what for.

   Stages of short stride run inside pieces that fit the first-level cache; of all stages, two run in one pass.
   Every output is the same tree of float32 additions, in whatever order the stages touch the memory. */
#include "kernels.h"

enum { PIECE = 1 << 13 };

/* Change the sign of entry i where bit i mod 32 of word i / 32 is set. */
int64_t KERNEL(flip_signs)(uint32_t *restrict z, int64_t z_len, const uint32_t *restrict words, int64_t words_len) {
  if (words_len < z_len / 32 + (z_len % 32 != 0)) return -1;
  for (int64_t word = 0; word < z_len / 32; word++) {
    const uint32_t own = words[word];
    uint32_t *out = z + 32 * word;
    for (uint32_t bit = 0; bit < 32; bit++) out[bit] ^= (own >> bit) << 31;
  }
  for (int64_t i = z_len / 32 * 32; i < z_len; i++) z[i] ^= (words[i / 32] >> (i % 32)) << 31;
  return 0;
}

/* Two stages of four entries, or of four vectors of them. */
INLINE void butterfly(float *restrict first, float *restrict second, float *restrict third, float *restrict fourth) {
  const float a = *first + *second, b = *first - *second, c = *third + *fourth, d = *third - *fourth;
  *first = a + c, *second = b + d, *third = a - c, *fourth = b - d;
}

static void one_stage(float *z, int64_t count, int64_t stride) {
  for (int64_t start = 0; start < count; start += 2 * stride) {
    float *restrict low = z + start, *restrict high = low + stride;
    for (int64_t i = 0; i < stride; i++) {
      const float a = low[i], b = high[i];
      low[i] = a + b;
      high[i] = a - b;
    }
  }
}

/* The stages of `stride` and 2 * `stride` in one pass. */
INLINE void two_stages(float *z, int64_t count, int64_t stride) {
  for (int64_t start = 0; start < count; start += 4 * stride) {
    float *restrict first = z + start, *restrict second = first + stride;
    float *restrict third = second + stride, *restrict fourth = third + stride;
    for (int64_t i = 0; i < stride; i++) butterfly(first + i, second + i, third + i, fourth + i);
  }
}

/* The stages of a piece that are shorter than it, behind `stride` 1 and 2 times the scale. */
static void stages_of_piece(float *z, int64_t count, float scale) {
  for (int64_t i = 0; i < count; i++) z[i] *= scale; /* first of all: large entries do not overflow then */
  int64_t stride = 1;
  if (count >= 4) two_stages(z, count, 1), stride = 4;
  if (count >= 16) two_stages(z, count, 4), stride = 16;
  for (; 4 * stride <= count; stride *= 4) two_stages(z, count, stride);
  if (stride < count) one_stage(z, count, stride);
}

/* H z times the scale; the length is a power of two. */
int64_t KERNEL(hadamard_stages)(float *z, int64_t z_len, float scale) {
  if (z_len < 1 || (z_len & (z_len - 1))) return -1;
  const int64_t piece = z_len < PIECE ? z_len : PIECE;
  for (int64_t start = 0; start < z_len; start += piece) stages_of_piece(z + start, piece, scale);
  int64_t stride = PIECE;
  for (; 4 * stride <= z_len; stride *= 4) two_stages(z, z_len, stride);
  if (stride < z_len) one_stage(z, z_len, stride);
  return 0;
}
