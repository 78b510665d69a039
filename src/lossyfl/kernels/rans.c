/* Interleaved rANS over letters: 32-bit states, 16-bit words, four states in turn; rans.py says how and why.

   Symbols are put together to letters as they are pushed, and what they stand for is written as letters are popped:
   letters themselves are never stored. */
#include "parallel.h"

enum { STATE_WORDS = 8, LOWEST = 1 << 16, SLOTS = 1 << LETTER_BITS, PUSH_SHIFT = 32 + LETTER_BITS };

/* Frequencies of at most 256 letters, none above 2^15, that fill the slots. */
static int are_frequencies(const uint64_t *frequencies, int64_t letters) {
  uint64_t sum = 0;
  if (letters < 1 || letters > MAX_LETTERS) return 0;
  for (int64_t i = 0; i < letters; i++) {
    if (frequencies[i] > SLOTS) return 0;
    sum += frequencies[i];
  }
  return sum == SLOTS;
}

/* Per letter: reciprocal m, the last x below the limit f 2^(32 - bits), start c, complement F - f. */
typedef struct { uint64_t reciprocal; uint32_t last, start, complement, unused[3]; } PushRow;

enum { ROW_BITS = 5 }; /* of the size of a row */

/* All 256, so that no symbol of anybody's leads out of the table. */
static void push_rows(const uint64_t *frequencies, int64_t letters, PushRow *rows) {
  uint32_t start = 0;
  for (int64_t i = letters; i < MAX_LETTERS; i++) rows[i] = (PushRow){(uint64_t)1 << PUSH_SHIFT, (1 << (32 - LETTER_BITS)) - 1, SLOTS, SLOTS, {0}};
  for (int64_t i = 0; i < letters; i++) {
    const uint64_t f = frequencies[i], some = f ? f : 1;
    rows[i].reciprocal = (((uint64_t)1 << PUSH_SHIFT) + some - 1) / some;
    rows[i].last = (uint32_t)((some << (32 - LETTER_BITS)) - 1);
    rows[i].start = start;
    rows[i].complement = (uint32_t)(SLOTS - f);
    start += (uint32_t)f;
  }
}

/* One letter onto one state. The word is always stored, and kept only where it is due: as in `refill`, a select. */
INLINE uint32_t push(uint32_t x, uint8_t *words, size_t *at, const PushRow *row) {
  uint32_t rest = x >> 16;
  store16(words + 2 * *at - 2, (uint16_t)x);
#if defined(__x86_64__)
  __asm__("cmpl %k0, %3\n\tcmovb %k2, %k0\n\tsbbq $0, %1" : "+r"(x), "+r"(*at) : "r"(rest), "m"(row->last) : "cc");
#else
  const int due = x > row->last;
  x = due ? rest : x;
  *at -= (size_t)due;
#endif
  return x + row->start + (uint32_t)((x * row->reciprocal) >> PUSH_SHIFT) * row->complement;
}

/* How a letter is made of its symbols: the first is the highest digit. */
typedef struct { int64_t alphabet, group, filler; } Gather;

enum { AT_A_TIME = 1024 };

/* The rows of so many letters, as offsets in bytes. Simple loops, so that they are vectorised. */
INLINE void gather(const uint8_t *symbols, int64_t letters, uint16_t *offsets, const Gather *how, const int64_t group) {
  const uint16_t n = (uint16_t)how->alphabet, square = (uint16_t)(n * n);
  if (group == 1) {
    for (int64_t i = 0; i < letters; i++) offsets[i] = (uint16_t)(symbols[i] << ROW_BITS);
  } else if (group == 2) {
    for (int64_t i = 0; i < letters; i++)
      offsets[i] = (uint16_t)((uint8_t)(symbols[2 * i] * n + symbols[2 * i + 1]) << ROW_BITS);
  } else if (group == 3) {
    for (int64_t i = 0; i < letters; i++)
      offsets[i] = (uint16_t)((uint8_t)(symbols[3 * i] * square + symbols[3 * i + 1] * n + symbols[3 * i + 2]) << ROW_BITS);
  } else {
    for (int64_t i = 0; i < letters; i++) {
      uint32_t letter = 0;
      for (int64_t k = 0; k < group; k++) letter = letter * n + symbols[i * group + k];
      offsets[i] = (uint16_t)((uint8_t)letter << ROW_BITS);
    }
  }
}

/* A last letter that is filled up. */
static uint8_t last_letter(const uint8_t *symbols, int64_t count, int64_t i, const Gather *how) {
  uint32_t letter = 0;
  for (int64_t j = i * how->group; j < (i + 1) * how->group; j++)
    letter = letter * (uint32_t)how->alphabet + (j < count ? symbols[j] : (uint32_t)how->filler);
  return (uint8_t)letter;
}

INLINE const PushRow *row_at(const PushRow *rows, uint16_t offset) {
  return (const PushRow *)(const void *)((const uint8_t *)rows + offset);
}

/* Letters [0, letters) of the symbols onto the states, last to first; where their words begin. `letters` is a
   multiple of four. */
INLINE size_t push_fours(const uint8_t *symbols, int64_t letters, uint8_t *words, size_t at, const PushRow *rows,
                         uint32_t *state, const Gather *how, const int64_t group) {
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
  uint16_t offsets[AT_A_TIME];
  while (letters > 0) {
    const int64_t now = letters % AT_A_TIME ? letters % AT_A_TIME : AT_A_TIME;
    letters -= now;
    gather(symbols + letters * group, now, offsets, how, group);
    for (const uint16_t *four = offsets + now; four != offsets;) {
      four -= 4;
      d = push(d, words, &at, row_at(rows, four[3]));
      c = push(c, words, &at, row_at(rows, four[2]));
      b = push(b, words, &at, row_at(rows, four[1]));
      a = push(a, words, &at, row_at(rows, four[0]));
    }
  }
  state[0] = a; state[1] = b; state[2] = c; state[3] = d;
  return at;
}

/* One segment: its words end at word `at`, its states stand just before them. Returns where they begin. */
static size_t push_segment(const uint8_t *symbols, int64_t count, uint8_t *words, size_t at, const PushRow *rows,
                           const Gather *how) {
  const int64_t group = how->group;
  uint32_t state[4] = {LOWEST, LOWEST, LOWEST, LOWEST};
  int64_t i = (count + group - 1) / group;
  while (i % 4 || i * group > count) {
    i--;
    state[i % 4] = push(state[i % 4], words, &at, rows + last_letter(symbols, count, i, how));
  }
  if (group == 3) at = push_fours(symbols, i, words, at, rows, state, how, 3);
  else if (group == 2) at = push_fours(symbols, i, words, at, rows, state, how, 2);
  else if (group == 1) at = push_fours(symbols, i, words, at, rows, state, how, 1);
  else at = push_fours(symbols, i, words, at, rows, state, how, group);
  for (int k = 3; k >= 0; k--) store32(words + 2 * (at -= 2), state[k]);
  return at;
}

/* Segments that are pushed: `own` symbols each, the last one what is left, into rows of `width` bytes. */
typedef struct {
  const uint8_t *symbols;
  int64_t count, own, width, *first;
  uint8_t *words;
  PushRow rows[MAX_LETTERS];
  Gather how;
} Pushing;

static void push_one(void *context, int64_t i, int64_t worker) {
  const Pushing *all = context;
  uint8_t *row = all->words + i * all->width;
  const int64_t count = least(all->own, all->count - i * all->own);
  (void)worker;
  all->first[i] = 2 * (int64_t)push_segment(all->symbols + i * all->own, count, row, (size_t)all->width / 2, all->rows,
                                            &all->how);
}

/* `share_of` letters a segment; segment i ends at the end of row i of `words`, and begins at byte `first[i]` of it. */
int64_t KERNEL(push_segments)(const uint8_t *symbols, int64_t count, int64_t alphabet, int64_t group, int64_t filler,
                              const uint64_t *frequencies, int64_t letters, int64_t share_of, int64_t threads,
                              uint8_t *words, int64_t words_len, int64_t *first, int64_t segments) {
  Pushing all;
  if (letters != letters_of(alphabet, group) || !are_frequencies(frequencies, letters)) return -1;
  if (segments < 1 || share_of < 1 || share_of > INT64_MAX / 8 / segments || filler < 0 || filler > 255) return -1;
  all.width = words_len / segments;
  all.own = share_of * group;
  if (all.width % 2 || all.width / 2 < share_of + STATE_WORDS + 1) return -1;
  if ((segments - 1) * all.own >= count || count > segments * all.own) return -1;
  all.symbols = symbols, all.count = count, all.words = words, all.first = first;
  all.how = (Gather){alphabet, group, filler};
  push_rows(frequencies, letters, all.rows);
  share(push_one, &all, segments, threads);
  return 0;
}

/* What a letter is popped with, F - f and c: f (x / F) + x mod F - c = x - c - (F - f) (x / F). Of a letter that cannot
   occur nothing is ever looked up. */
typedef struct { uint32_t complement, start; } PopRow;

enum { VALUES = 32, MAX_GROUP = 8 }; /* the most bytes that the symbols of a letter stand for, and from here on read and dropped */

typedef struct {
  uint8_t slots[SLOTS];
  PopRow rows[MAX_LETTERS];
  uint8_t values[MAX_LETTERS * VALUES];
  int64_t step; /* bytes that a letter's symbols stand for */
  int64_t size; /* bytes from one letter's values to the next one's: a power of two */
} Popper;

static void pop_rows(Popper *to, const uint64_t *frequencies, int64_t letters) {
  uint32_t start = 0;
  for (int64_t i = 0; i < letters; i++) {
    const uint32_t f = (uint32_t)frequencies[i];
    to->rows[i] = (PopRow){SLOTS - f, start};
    memset(to->slots + start, (int)i, f);
    start += f;
  }
}

/* The values of the symbols of every letter, one after the other; `bytes` each. */
static void pop_values(Popper *to, const uint8_t *values, int64_t bytes, int64_t alphabet, int64_t group,
                       int64_t letters) {
  to->step = group * bytes;
  to->size = 1;
  while (to->size < to->step) to->size *= 2;
  if (to->size == 2) to->size = 4;
  uint32_t digit[MAX_GROUP] = {0};
  for (int64_t i = 0; i < letters; i++) {
    uint8_t *own = to->values + i * to->size;
    if (bytes == 4) for (int64_t k = 0; k < group; k++) memcpy(own + 4 * k, values + 4 * digit[k], 4);
    else for (int64_t k = 0; k < group; k++) own[k] = values[digit[k]];
    for (int64_t k = group - 1; k >= 0 && ++digit[k] == alphabet; k--) digit[k] = 0; /* the next letter */
  }
}

/* The state goes on with the next word, if one is due. Every third to tenth letter takes one, which no processor can
   foresee: so the word is always read, and selected, which has to be spelled out on x86-64, where gcc and clang make a
   branch of it otherwise. */
INLINE uint32_t refill(uint32_t x, const uint8_t *words, size_t *at) {
  const uint32_t refilled = (x << 16 | x >> 16) | load16(words + 2 * *at); /* turned: one instruction; x >> 16 is 0 */
#if defined(__x86_64__)
  __asm__("cmpl $65536, %k0\n\tcmovb %k2, %k0\n\tadcq $0, %1" : "+r"(x), "+r"(*at) : "r"(refilled) : "cc");
  return x;
#else
  const int due = x < LOWEST;
  *at += (size_t)due;
  return due ? refilled : x;
#endif
}

/* x with one letter off, before a word is read; bits = 15, which the compiler does not know: shorter instructions. */
INLINE uint32_t popped(uint32_t x, const PopRow *row, int bits) {
  return x - row->start - row->complement * (x >> bits);
}

/* So many groups of four letters; every value is written with `size` bytes, of which the next one keeps `step`. */
INLINE const uint8_t *pop_fours(const Popper *from, uint32_t *state, const uint8_t *words, uint8_t *out, int64_t fours,
                                const size_t size, const int64_t step) {
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
  int bits = LETTER_BITS;
  size_t at = 0;
  HIDE(bits);
  const uint32_t mask = ((uint32_t)1 << bits) - 1;
  for (const uint8_t *end = out + 4 * step * fours; out != end; out += 4 * step) {
    const size_t p = from->slots[a & mask], q = from->slots[b & mask];
    const size_t r = from->slots[c & mask], s = from->slots[d & mask];
    a = refill(popped(a, from->rows + p, bits), words, &at);
    b = refill(popped(b, from->rows + q, bits), words, &at);
    c = refill(popped(c, from->rows + r, bits), words, &at);
    d = refill(popped(d, from->rows + s, bits), words, &at);
    memcpy(out, from->values + p * size, size);
    memcpy(out + step, from->values + q * size, size);
    memcpy(out + 2 * step, from->values + r * size, size);
    memcpy(out + 3 * step, from->values + s * size, size);
  }
  state[0] = a; state[1] = b; state[2] = c; state[3] = d;
  return words + 2 * at;
}

static const uint8_t *pop_any(const Popper *from, uint32_t *state, const uint8_t *at, uint8_t *out, int64_t fours) {
  if (from->step == 12) return pop_fours(from, state, at, out, fours, 16, 12);
  if (from->step == 8) return pop_fours(from, state, at, out, fours, 8, 8);
  if (from->step == 4) return pop_fours(from, state, at, out, fours, 4, 4);
  if (from->step == 3) return pop_fours(from, state, at, out, fours, 4, 3);
  if (from->step == 1) return pop_fours(from, state, at, out, fours, 1, 1);
  if (from->size == 4) return pop_fours(from, state, at, out, fours, 4, from->step);
  if (from->size == 8) return pop_fours(from, state, at, out, fours, 8, from->step);
  if (from->size == 16) return pop_fours(from, state, at, out, fours, 16, from->step);
  return pop_fours(from, state, at, out, fours, 32, from->step);
}

/* One letter off its state into `room` bytes; where its words go on, 0 if there are none. */
static const uint8_t *pop_letter(const Popper *from, uint32_t *state, const uint8_t *at, const uint8_t *end, uint8_t *out,
                              int64_t room) {
  const size_t letter = from->slots[*state % SLOTS];
  *state = popped(*state, from->rows + letter, LETTER_BITS);
  if (*state < LOWEST) {
    if (end - at < 2) return 0;
    *state = *state << 16 | load16(at);
    at += 2;
  }
  memcpy(out, from->values + letter * (size_t)from->size, (size_t)least(from->step, room));
  return at;
}

/* So many letters into `room` bytes, the first of them off state `turn`. */
static const uint8_t *pop_part(const Popper *from, uint32_t *state, const uint8_t *at, const uint8_t *end, int64_t turn,
                               uint8_t *out, int64_t room) {
  const int64_t step = from->step;
  for (; turn % 4 && room > 0; turn++, out += step, room -= step)
    if (!(at = pop_letter(from, state + turn % 4, at, end, out, room))) return 0;
  int64_t fours = (room - (from->size - step)) / (4 * step);
  while (fours > 0 && end - at >= 8) { /* a group reads four words at the most */
    const int64_t now = least(fours, (end - at) / 8);
    at = pop_any(from, state, at, out, now);
    out += 4 * step * now;
    room -= 4 * step * now;
    fours -= now;
  }
  for (turn = 0; room > 0; turn++, out += step, room -= step)
    if (!(at = pop_letter(from, state + turn % 4, at, end, out, room))) return 0;
  return at;
}

/* One segment into `room` bytes; 0 if words run out, are left, or states begin or end elsewhere. */
static int pop_segment(const Popper *from, const uint8_t *at, const uint8_t *end, uint8_t *out, int64_t room) {
  uint32_t state[4];
  if (end - at < 2 * STATE_WORDS) return 0;
  for (int k = 0; k < 4; k++, at += 4) {
    state[k] = load32(at);
    if (state[k] < LOWEST) return 0;
  }
  at = pop_part(from, state, at, end, 0, out, room);
  return at == end && state[0] == LOWEST && state[1] == LOWEST && state[2] == LOWEST && state[3] == LOWEST;
}

/* Segments that are popped, `own` bytes each, the last one what is left; `bad` is the first that no encoder wrote. */
typedef struct {
  Popper from;
  const uint8_t *data;
  const int64_t *edges;
  uint8_t *out;
  int64_t out_len, own;
  uint32_t bad;
} Popping;

static void pop_one(void *context, int64_t i, int64_t worker) {
  Popping *all = context;
  const uint8_t *at = all->data + 2 * all->edges[i], *end = all->data + 2 * all->edges[i + 1];
  (void)worker;
  if (!pop_segment(&all->from, at, end, all->out + i * all->own, least(all->own, all->out_len - i * all->own)))
    lower(&all->bad, (uint32_t)i);
}

/* Segment i is the words [edges[i], edges[i + 1]) of `data` and fills share_of * group values of `out`, the last one
   what is left. The first segment that no encoder wrote, -1 if there is none, -2 if sizes do not fit. */
int64_t KERNEL(pop_segments)(const uint8_t *data, int64_t size, const int64_t *edges, int64_t edges_len,
                             const uint64_t *frequencies, int64_t letters, const uint8_t *values, int64_t values_len,
                             int64_t alphabet, int64_t group, int64_t share_of, int64_t threads, uint8_t *out,
                             int64_t out_len) {
  Popping all;
  const int64_t segments = edges_len - 1, bytes = alphabet > 0 ? values_len / alphabet : 0;
  if (letters != letters_of(alphabet, group) || !are_frequencies(frequencies, letters)) return -2;
  if ((bytes != 1 && bytes != 4) || values_len != bytes * alphabet || !are_bounds(edges, edges_len, size / 2)) return -2;
  if (segments < 1 || share_of < 1 || share_of > INT64_MAX / VALUES / segments || out_len % bytes) return -2;
  all.own = share_of * group * bytes;
  if (segments >= UINT32_MAX || (segments - 1) * all.own >= out_len || out_len > segments * all.own) return -2;
  all.data = data, all.edges = edges, all.out = out, all.out_len = out_len, all.bad = UINT32_MAX;
  pop_rows(&all.from, frequencies, letters);
  pop_values(&all.from, values, bytes, alphabet, group, letters);
  share(pop_one, &all, segments, threads);
  return all.bad == UINT32_MAX ? -1 : (int64_t)all.bad;
}
