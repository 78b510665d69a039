/* The stochastic quantizer: ranges of magnitudes, and levels drawn at random; quantizers/stochastic.py says how.

   The loops have no branches, so that gcc and clang make vectors of them: a choice between integers is made with
   masks, because gcc would make jumps of it. */
#include <math.h>

#include "blocks.h"
#include "parallel.h"
#include "random_words.h"

/* All bits of a float but its sign; the least magnitude that is not finite. */
enum { MAGNITUDE = 0x7FFFFFFF, INFINITY_BITS = 0x7F800000 };

INLINE uint32_t bits_of(const float *x) { uint32_t bits; memcpy(&bits, x, sizeof bits); return bits; }
INLINE float float_of(uint32_t bits) { float x; memcpy(&x, &bits, sizeof x); return x; }

/* What turns a magnitude of a block into a position among its levels: a power of two s near 1 / x_max, x_min s,
   q / (x_max s - x_min s), and x_max, which always goes to level q; unless all are one, which is level 0. */
typedef struct { float shift, base, inverse, top; } Step;

INLINE Step step_of(uint32_t low_bits, uint32_t high_bits, int32_t q) {
  const float low = float_of(low_bits), high = float_of(high_bits);
  const int32_t exponent = 126 - (int32_t)(high_bits >> 23 & 255);
  Step step = {float_of((uint32_t)((exponent < -126 ? -126 : exponent) + 127) << 23), 0, 0, high};
  step.base = low * step.shift;
  const float spread = high * step.shift - step.base;
  if (spread != 0) step.inverse = (float)q / spread;
  if (!(step.inverse > 0)) step.top = INFINITY;
  return step;
}

/* A vector in blocks, and what is made of it. Ranges are bits: magnitudes order as their bit patterns do. `counts` and
   `lanes` have `width` counters, and four times as many, for every worker. */
typedef struct {
  const float *x;
  const int64_t *bounds;
  int64_t bounds_len, piece; /* entries that are done at a time: they stay in the second-level cache */
  uint32_t *low, *high;
  int64_t q, twin;
  uint64_t a, b;
  uint8_t *symbols;
  uint16_t *wide_symbols; /* instead, in a large alphabet */
  int64_t *counts, width;
  uint32_t *lanes;
} Vector;

/* A piece of the entries, and the block that it begins in. */
typedef struct { int64_t at, stop, block; } Piece;

INLINE Piece piece_of(const Vector *all, int64_t number) {
  const int64_t at = all->bounds[0] + number * all->piece, left = all->bounds[all->bounds_len - 1] - at;
  return (Piece){at, at + (left < all->piece ? left : all->piece), block_of(all->bounds, all->bounds_len, at)};
}

INLINE int64_t pieces_of(const Vector *all) {
  const int64_t entries = all->bounds[all->bounds_len - 1] - all->bounds[0];
  return entries / all->piece + (entries % all->piece != 0);
}

static void measure_piece(void *context, int64_t number, int64_t worker) {
  const Vector *all = context;
  Piece own = piece_of(all, number);
  (void)worker;
  for (; own.at < own.stop; own.block++) {
    const int64_t next = all->bounds[own.block + 1], end = next < own.stop ? next : own.stop;
    int32_t least = MAGNITUDE, most = 0; /* signed: SSE2 has no other comparison */
    for (int64_t i = own.at; i < end; i++) {
      const int32_t magnitude = (int32_t)(bits_of(all->x + i) & MAGNITUDE);
      least = magnitude < least ? magnitude : least;
      most = magnitude > most ? magnitude : most;
    }
    lower(all->low + own.block, (uint32_t)least);
    raise_to(all->high + own.block, (uint32_t)most);
    own.at = end;
  }
}

/* Finds the ranges of all blocks. Whether level 0 has two symbols: 1 if any block has no zero; -1 if not all is finite. */
static int64_t measure(Vector *all, int64_t threads) {
  int64_t twin = 0;
  for (int64_t block = 0; block < all->bounds_len - 1; block++) all->low[block] = MAGNITUDE, all->high[block] = 0;
  share(measure_piece, all, pieces_of(all), threads);
  for (int64_t block = 0; block < all->bounds_len - 1; block++) {
    if (all->high[block] >= INFINITY_BITS) return -1;
    twin |= all->low[block] != 0;
  }
  return twin;
}

/* What all entries of a block share. zero: the symbol of level 0, the upper one of two; once: all bits where
   level 0 has one symbol, else none */
typedef struct { Step step; int32_t q, zero, once; } Rule;

/* The symbol of one entry; `mixed`: level 0 has two symbols, and entries of this block none of the lower one. */
INLINE int32_t drawn_symbol(float value, uint32_t bits, const Rule *rule, int mixed) {
  const float q = (float)rule->q;
  float magnitude = fabsf(value);
  float y = (magnitude * rule->step.shift - rule->step.base) * rule->step.inverse;
  y = y > 0 ? y : 0; /* never, unless the ranges are not those of x: conversions stay defined */
  y = y < q ? y : q;
  y = magnitude >= rule->step.top ? q : y;
  int32_t level = (int32_t)y;
  float u = (float)(int32_t)(bits >> 8);
  level += u < (y - (float)level) * 0x1p24f;
  int32_t below = -(int32_t)(value < 0);
  if (mixed) below &= -(int32_t)(level > 0);
  return rule->zero + (level ^ below) - (below & rule->once); /* zero + level, or q - level */
}

/* The symbols of one run of entries of a block. */
#define DRAW_RUN(SYMBOL)                                                                        \
  uint32_t bits[DRAWN];                                                                         \
  while (count > 0) {                                                                           \
    const int64_t now = count < DRAWN ? count : DRAWN;                                          \
    draw_bits(a, b, start, bits, now);                                                          \
    if (mixed)                                                                                  \
      for (int64_t i = 0; i < now; i++) out[i] = (SYMBOL)drawn_symbol(x[i], bits[i], &rule, 1); \
    else                                                                                        \
      for (int64_t i = 0; i < now; i++) out[i] = (SYMBOL)drawn_symbol(x[i], bits[i], &rule, 0); \
    x += now, out += now, start += (uint64_t)now, count -= now;                                 \
  }

static void draw_run_u8(const float *restrict x, uint64_t start, int64_t count, const Rule rule, int mixed, uint64_t a,
                        uint64_t b, uint8_t *restrict out) {
  DRAW_RUN(uint8_t)
}

static void draw_run_u16(const float *restrict x, uint64_t start, int64_t count, const Rule rule, int mixed, uint64_t a,
                         uint64_t b, uint16_t *restrict out) {
  DRAW_RUN(uint16_t)
}

static void draw_piece(void *context, int64_t number, int64_t worker) {
  const Vector *all = context;
  Piece own = piece_of(all, number);
  const int64_t first = own.at;
  for (; own.at < own.stop; own.block++) {
    const int64_t next = all->bounds[own.block + 1], end = next < own.stop ? next : own.stop;
    const int32_t q = (int32_t)all->q;
    const Rule rule = {step_of(all->low[own.block], all->high[own.block], q), q, q + (int32_t)all->twin,
                       all->twin ? 0 : -1};
    const int mixed = all->twin && rule.step.base == 0;
    const uint64_t start = (uint64_t)own.at;
    if (all->wide_symbols)
      draw_run_u16(all->x + own.at, start, end - own.at, rule, mixed, all->a, all->b, all->wide_symbols + own.at);
    else draw_run_u8(all->x + own.at, start, end - own.at, rule, mixed, all->a, all->b, all->symbols + own.at);
    own.at = end;
  }
  /* Counted while they are in the cache. */
  if (all->wide_symbols) count_words(all->wide_symbols + first, own.stop - first, all->lanes + 4 * worker * all->width);
  else count_any(all->symbols + first, own.stop - first, all->counts + worker * all->width, all->width);
}

enum { SHORT_PIECE = 1 << 14, LONG_PIECE = 1 << 16 };

/* Whether all arrays fit together, and the piece that is best for them. */
static int is_vector(Vector *all, int64_t x_len, int64_t low_len, int64_t high_len, int64_t symbols_len,
                     int64_t counts_len, int64_t lanes_len, int64_t threads) {
  if (!are_bounds(all->bounds, all->bounds_len, x_len) || low_len != all->bounds_len - 1 || high_len != low_len) return 0;
  if (symbols_len != x_len || all->q < 1 || all->q > 0x7FFF || all->twin < 0 || all->twin > 1 || threads < 1) return 0;
  const int64_t least = 2 * all->q + 1 + all->twin; /* of small numbers: what comes in may be anything */
  all->width = counts_len / threads;
  all->piece = all->width <= FEW ? SHORT_PIECE : LONG_PIECE;
  if (all->width < least) return 0;
  return all->wide_symbols ? all->width <= 1 << 16 && lanes_len / 4 / threads >= all->width : all->width <= 256;
}

/* All symbols and their counts, which are the first of all workers'. */
static void draw_all(Vector *all, int64_t threads) {
  memset(all->counts, 0, 8 * (size_t)(threads * all->width));
  if (all->wide_symbols) memset(all->lanes, 0, 16 * (size_t)(threads * all->width));
  share(draw_piece, all, pieces_of(all), threads);
  for (int64_t worker = 0; worker < threads; worker++) {
    if (all->wide_symbols) add_lanes(all->lanes + 4 * worker * all->width, all->counts, all->width);
    else if (worker)
      for (int64_t s = 0; s < all->width; s++)
        all->counts[s] = plus(all->counts[s], all->counts[worker * all->width + s]);
  }
}

typedef uint8_t u8_type;
typedef uint16_t u16_type;

/* The symbols of all blocks, whose magnitudes are in [low, high], and how often each occurs. */
#define DRAW_LEVELS(SYMBOL, NARROW, WIDE)                                                                            \
  int64_t KERNEL(draw_levels_##SYMBOL)(                                                                              \
      const float *x, int64_t x_len, const int64_t *bounds, int64_t bounds_len, uint32_t *low, int64_t low_len,      \
      uint32_t *high, int64_t high_len, int64_t q, int64_t twin, uint64_t a, uint64_t b, int64_t threads,            \
      SYMBOL##_type *symbols, int64_t symbols_len, int64_t *counts, int64_t counts_len, uint32_t *lanes,             \
      int64_t lanes_len) {                                                                                           \
    Vector all = {x, bounds, bounds_len, 0, low, high, q, twin, a, b, NARROW, WIDE, counts, 0, lanes};               \
    if (!is_vector(&all, x_len, low_len, high_len, symbols_len, counts_len, lanes_len, threads)) return -1;          \
    draw_all(&all, threads);                                                                                         \
    return 0;                                                                                                        \
  }                                                                                                                  \
                                                                                                                     \
  /* The same with the ranges, which are found first; the size of the alphabet, or -2 if not all is finite. */       \
  int64_t KERNEL(quantize_levels_##SYMBOL)(                                                                          \
      const float *x, int64_t x_len, const int64_t *bounds, int64_t bounds_len, int64_t q, uint64_t a, uint64_t b,   \
      int64_t threads, uint32_t *low, int64_t low_len, uint32_t *high, int64_t high_len, SYMBOL##_type *symbols,     \
      int64_t symbols_len, int64_t *counts, int64_t counts_len, uint32_t *lanes, int64_t lanes_len) {                \
    Vector all = {x, bounds, bounds_len, 0, low, high, q, 1, a, b, NARROW, WIDE, counts, 0, lanes};                  \
    if (!is_vector(&all, x_len, low_len, high_len, symbols_len, counts_len, lanes_len, threads)) return -1;          \
    all.twin = measure(&all, threads);                                                                               \
    if (all.twin < 0) return -2;                                                                                     \
    draw_all(&all, threads);                                                                                         \
    return 2 * q + 1 + all.twin;                                                                                     \
  }

DRAW_LEVELS(u8, symbols, NULL)
DRAW_LEVELS(u16, NULL, symbols)
