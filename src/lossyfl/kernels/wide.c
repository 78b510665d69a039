/* Interleaved rANS over single symbols of a large alphabet: 64-bit states, 32-bit words; wide.py says how and why. */
#include "parallel.h"

#define WIDE_LOWEST ((uint64_t)1 << 31)
enum { GUIDE_BITS = 12, GUIDES = 1 << GUIDE_BITS, GUIDE_SHIFT = WIDE_BITS - GUIDE_BITS };

/* Whether `starts` are the sums of frequencies before every symbol, and of all: 2^28. */
static int are_starts(const uint32_t *starts, int64_t len) {
  if (len < 2 || starts[0] || starts[len - 1] != (uint32_t)1 << WIDE_BITS) return 0;
  for (int64_t i = 1; i < len; i++) if (starts[i] < starts[i - 1]) return 0;
  return 1;
}

/* One segment of symbols that are all in use; its words end at `at`, its states stand just before them. */
INLINE uint8_t *push_wide_segment(const void *symbols, int64_t count, uint8_t *at, const uint32_t *starts, int wide) {
  uint64_t state[4] = {WIDE_LOWEST, WIDE_LOWEST, WIDE_LOWEST, WIDE_LOWEST};
  for (int64_t i = count - 1; i >= 0; i--) {
    const uint32_t symbol = symbol_at(symbols, i, wide), start = starts[symbol];
    const uint64_t f = starts[symbol + 1] - start;
    uint64_t x = state[i & 3];
    if (x >= f << (63 - WIDE_BITS)) {
      if (!f) return NULL;
      store32(at -= 4, (uint32_t)x);
      x >>= 32;
    }
    const uint64_t quotient = x / f;
    state[i & 3] = (quotient << WIDE_BITS) + (x - quotient * f) + start;
  }
  for (int k = 3; k >= 0; k--) {
    store32(at -= 4, (uint32_t)(state[k] >> 32));
    store32(at -= 4, (uint32_t)state[k]);
  }
  return at;
}

/* Segments that are pushed, as in rans.c; `bad` is 1 where a symbol has no frequency. */
typedef struct {
  const uint8_t *symbols;
  int64_t count, own, width, *first;
  uint8_t *words;
  const uint32_t *starts;
  uint32_t bad;
  int wide;
} WidePushing;

static void push_one_wide(void *context, int64_t i, int64_t worker) {
  WidePushing *all = context;
  const int64_t count = least(all->own, all->count - i * all->own);
  uint8_t *row = all->words + i * all->width, *end = row + all->width, *at;
  const uint8_t *symbols = all->symbols + i * all->own * (all->wide ? 2 : 1);
  (void)worker;
  if (all->wide) at = push_wide_segment(symbols, count, end, all->starts, 1);
  else at = push_wide_segment(symbols, count, end, all->starts, 0);
  if (at) all->first[i] = at - row;
  else raise_to(&all->bad, 1);
}

static int64_t push_wide(const void *symbols, int64_t count, const uint32_t *starts, int64_t starts_len, int64_t share_of,
                         int64_t threads, uint8_t *words, int64_t words_len, int64_t *first, int64_t segments, int wide) {
  WidePushing all = {symbols, count, share_of, 0, first, words, starts, 0, wide};
  if (!are_starts(starts, starts_len) || !all_below(symbols, count, starts_len - 1, wide)) return -1;
  if (segments < 1 || share_of < 1 || share_of > INT64_MAX / 8 / segments) return -1;
  all.width = words_len / segments;
  if (all.width / 4 < share_of + 9 || (segments - 1) * share_of >= count || count > segments * share_of) return -1;
  share(push_one_wide, &all, segments, threads);
  return all.bad ? -1 : 0;
}

int64_t KERNEL(push_wide_u8)(const uint8_t *symbols, int64_t count, const uint32_t *starts, int64_t starts_len,
                             int64_t share_of, int64_t threads, uint8_t *words, int64_t words_len, int64_t *first,
                             int64_t segments) {
  return push_wide(symbols, count, starts, starts_len, share_of, threads, words, words_len, first, segments, 0);
}

int64_t KERNEL(push_wide_u16)(const uint16_t *symbols, int64_t count, const uint32_t *starts, int64_t starts_len,
                              int64_t share_of, int64_t threads, uint8_t *words, int64_t words_len, int64_t *first,
                              int64_t segments) {
  return push_wide(symbols, count, starts, starts_len, share_of, threads, words, words_len, first, segments, 1);
}

/* For each of 2^12 equal ranges of slots the symbol that its first slot belongs to. */
typedef struct { const uint32_t *starts; uint16_t guide[GUIDES + 1]; } Finder;

static void guide_of(Finder *to, const uint32_t *starts, int64_t len) {
  int64_t symbol = 0;
  to->starts = starts;
  for (int64_t g = 0; g <= GUIDES; g++) {
    while (symbol + 2 < len && starts[symbol + 1] <= (uint32_t)g << GUIDE_SHIFT) symbol++;
    to->guide[g] = (uint16_t)symbol;
  }
}

/* The last symbol that starts at the slot or before: by bisection between two guides. */
INLINE uint32_t symbol_of(const Finder *from, uint32_t slot) {
  uint32_t low = from->guide[slot >> GUIDE_SHIFT], high = from->guide[(slot >> GUIDE_SHIFT) + 1];
  while (low < high) {
    const uint32_t middle = (low + high + 1) >> 1;
    if (from->starts[middle] <= slot) low = middle;
    else high = middle - 1;
  }
  return low;
}

/* One segment into `count` values; 0 if words run out, are left, or states begin or end elsewhere. */
INLINE int pop_wide_segment(const Finder *from, const uint8_t *at, const uint8_t *end, const uint8_t *values,
                            uint8_t *out, int64_t count, const int64_t bytes) {
  uint64_t state[4];
  if (end - at < 32) return 0;
  for (int k = 0; k < 4; k++, at += 8) {
    state[k] = load64(at);
    if (state[k] < WIDE_LOWEST || state[k] >> 63) return 0;
  }
  for (int64_t i = 0; i < count; i++) {
    uint64_t x = state[i & 3];
    const uint32_t slot = x & (((uint32_t)1 << WIDE_BITS) - 1), symbol = symbol_of(from, slot);
    const uint32_t start = from->starts[symbol], f = from->starts[symbol + 1] - start;
    memcpy(out + i * bytes, values + symbol * bytes, (size_t)bytes);
    x = f * (x >> WIDE_BITS) + slot - start;
    if (x < WIDE_LOWEST) {
      if (end - at < 4) return 0;
      x = x << 32 | load32(at);
      at += 4;
    }
    state[i & 3] = x;
  }
  for (int k = 0; k < 4; k++) if (state[k] != WIDE_LOWEST) return 0;
  return at == end;
}

typedef struct {
  Finder from;
  const uint8_t *data, *values;
  const int64_t *edges;
  uint8_t *out;
  int64_t count, own, bytes;
  uint32_t bad;
} WidePopping;

static void pop_one_wide(void *context, int64_t i, int64_t worker) {
  WidePopping *all = context;
  const uint8_t *at = all->data + 4 * all->edges[i], *end = all->data + 4 * all->edges[i + 1], *values = all->values;
  const int64_t bytes = all->bytes, count = least(all->own, all->count - i * all->own);
  uint8_t *out = all->out + i * all->own * bytes;
  (void)worker;
  const int whole = bytes == 4   ? pop_wide_segment(&all->from, at, end, values, out, count, 4)
                    : bytes == 2 ? pop_wide_segment(&all->from, at, end, values, out, count, 2)
                                 : pop_wide_segment(&all->from, at, end, values, out, count, 1);
  if (!whole) lower(&all->bad, (uint32_t)i);
}

/* As pop_segments; values of one, two or four bytes. */
int64_t KERNEL(pop_wide)(const uint8_t *data, int64_t size, const int64_t *edges, int64_t edges_len,
                         const uint32_t *starts, int64_t starts_len, const uint8_t *values, int64_t values_len,
                         int64_t share_of, int64_t threads, uint8_t *out, int64_t out_len) {
  WidePopping all;
  if (starts_len > 65537 || !are_starts(starts, starts_len) || !are_bounds(edges, edges_len, size / 4)) return -2;
  const int64_t segments = edges_len - 1, alphabet = starts_len - 1, bytes = values_len / alphabet;
  if ((bytes != 1 && bytes != 2 && bytes != 4) || values_len != bytes * alphabet || out_len % bytes) return -2;
  if (share_of < 1 || share_of > INT64_MAX / 8 / segments || segments >= UINT32_MAX) return -2;
  if ((segments - 1) * share_of * bytes >= out_len || out_len > segments * share_of * bytes) return -2;
  all.data = data, all.values = values, all.edges = edges, all.out = out, all.bad = UINT32_MAX;
  all.count = out_len / bytes, all.own = share_of, all.bytes = bytes;
  guide_of(&all.from, starts, starts_len);
  share(pop_one_wide, &all, segments, threads);
  return all.bad == UINT32_MAX ? -1 : (int64_t)all.bad;
}
