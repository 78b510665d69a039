/* rANS through all classes as one row of letters; class_coder.py says how. */
#include "levels.h"
#include "parallel.h"

/* All classes as one row of letters: class c is the symbols [starts[c], starts[c + 1]) and the letters
   [letters[c], letters[c + 1]). */
typedef struct {
  const int64_t *starts; const uint8_t *groups; const uint64_t *frequencies;
  int64_t classes, alphabet, letters[KEYS + 1];
} Classes;

static int are_classes(Classes *of, int64_t alphabet, const int64_t *starts, int64_t starts_len, const uint8_t *groups,
                       int64_t groups_len, const uint64_t *frequencies, int64_t len, int64_t entries) {
  const Classes made = {starts, groups, frequencies, groups_len, alphabet, {0}};
  *of = made;
  if (alphabet > 256 || groups_len < 1 || groups_len > KEYS || starts_len != groups_len + 1 || len != groups_len * MAX_LETTERS) return 0;
  if (!are_bounds(starts, starts_len, entries) || starts[0] || starts[groups_len] != entries) return 0;
  for (int64_t c = 0; c < groups_len; c++) {
    const int64_t letters = letters_of(alphabet, groups[c]), size = starts[c + 1] - starts[c];
    if (letters < 0 || !are_frequencies(frequencies + c * MAX_LETTERS, letters)) return 0;
    of->letters[c + 1] = of->letters[c] + size / groups[c] + (size % groups[c] != 0);
  }
  return 1;
}

/* Letters [low, high) of a class onto the states; `begin` is the first letter of the segment. */
static size_t push_part(const Classes *of, int64_t c, const uint8_t *symbols, int64_t filler, int64_t low, int64_t high,
                        int64_t begin, uint8_t *words, size_t at, uint32_t *state) {
  PushRow rows[MAX_LETTERS];
  const int64_t group = of->groups[c], size = of->starts[c + 1] - of->starts[c];
  const Gather how = {of->alphabet, group, filler};
  const int64_t phase = of->letters[c] - begin;
  const uint8_t *own = symbols + of->starts[c];
  int64_t i = high;
  push_rows(of->frequencies + c * MAX_LETTERS, letters_of(of->alphabet, group), rows);
  while (i > low && ((phase + i) % 4 || i * group > size)) {
    i--;
    uint32_t *one = state + (phase + i) % 4;
    *one = push(*one, words, &at, rows + last_letter(own, size, i, &how));
  }
  const int64_t fours = (i - low) / 4 * 4;
  const uint8_t *from = own + (i - fours) * group;
  if (group == 3) at = push_fours(from, fours, words, at, rows, state, &how, 3);
  else if (group == 2) at = push_fours(from, fours, words, at, rows, state, &how, 2);
  else if (group == 1) at = push_fours(from, fours, words, at, rows, state, &how, 1);
  else at = push_fours(from, fours, words, at, rows, state, &how, group);
  for (i -= fours; i > low;) {
    i--;
    uint32_t *one = state + (phase + i) % 4;
    *one = push(*one, words, &at, rows + last_letter(own, size, i, &how));
  }
  return at;
}

/* Segments that are pushed or popped, from segment `number` on, of `own` letters each or what is left. */
typedef struct {
  Classes of;
  int64_t own, number, width, *first;
  const uint8_t *keyed, *fillers, *data;
  const int64_t *edges;
  uint8_t *words, *out;
  uint32_t bad;
} Segments;

static void push_through(void *context, int64_t i, int64_t worker) {
  const Segments *all = context;
  const Classes *of = &all->of;
  uint8_t *row = all->words + i * all->width;
  uint32_t state[4] = {LOWEST, LOWEST, LOWEST, LOWEST};
  const int64_t begin = (all->number + i) * all->own, end = least(begin + all->own, of->letters[of->classes]);
  size_t at = (size_t)all->width / 2;
  (void)worker;
  for (int64_t c = of->classes - 1; c >= 0; c--) {
    const int64_t low = begin > of->letters[c] ? begin - of->letters[c] : 0;
    const int64_t high = least(end, of->letters[c + 1]) - of->letters[c];
    if (low < high) at = push_part(of, c, all->keyed, all->fillers[c], low, high, begin, row, at, state);
  }
  for (int k = 3; k >= 0; k--) store32(row + 2 * (at -= 2), state[k]);
  all->first[i] = 2 * (int64_t)at;
}

/* Whether there are so many segments from `number` on. */
static int are_segments(const Classes *of, int64_t own, int64_t number, int64_t segments) {
  const int64_t all = of->letters[of->classes];
  if (segments < 1 || number < 0 || own < 1 || own > all + 3 || segments > all || number > all) return 0;
  return number + segments - 1 <= (all - 1) / own;
}

/* Segment i ends at the end of row i of `words`, and begins at byte first[i] of it. -1 if sizes do not fit. */
int64_t KERNEL(push_classes)(const uint8_t *keyed, int64_t count, int64_t alphabet, const int64_t *starts,
                             int64_t starts_len, const uint8_t *groups, int64_t groups_len, const uint8_t *fillers,
                             int64_t fillers_len, const uint64_t *frequencies, int64_t len, int64_t own, int64_t number,
                             int64_t threads, uint8_t *words, int64_t words_len, int64_t *first, int64_t segments) {
  Segments all;
  if (!are_classes(&all.of, alphabet, starts, starts_len, groups, groups_len, frequencies, len, count)) return -1;
  if (fillers_len != groups_len || !are_segments(&all.of, own, number, segments)) return -1;
  all.width = words_len / segments;
  if (all.width % 2 || all.width / 2 < own + STATE_WORDS + 1) return -1;
  all.own = own, all.number = number, all.first = first, all.keyed = keyed, all.fillers = fillers, all.words = words;
  share(push_through, &all, segments, threads);
  return 0;
}

/* One segment; 0 if words run out, are left, or states begin or end elsewhere. */
static int pop_all(const Classes *of, Popper *from, const uint8_t *at, const uint8_t *end, int64_t begin, int64_t stop,
                   uint8_t *out) {
  uint8_t symbols[256];
  uint32_t state[4];
  if (end - at < 2 * STATE_WORDS) return 0;
  for (int k = 0; k < 4; k++, at += 4)
    if ((state[k] = load32(at)) < LOWEST) return 0;
  for (int s = 0; s < 256; s++) symbols[s] = (uint8_t)s;
  for (int64_t c = 0; c < of->classes; c++) {
    const int64_t low = begin > of->letters[c] ? begin - of->letters[c] : 0, group = of->groups[c];
    const int64_t high = least(stop, of->letters[c + 1]) - of->letters[c], size = of->starts[c + 1] - of->starts[c];
    const int64_t letters = letters_of(of->alphabet, group);
    if (low >= high) continue;
    pop_rows(from, of->frequencies + c * MAX_LETTERS, letters);
    pop_values(from, symbols, 1, of->alphabet, group, letters);
    at = pop_part(from, state, at, end, of->letters[c] + low - begin, out + of->starts[c] + low * group,
                  least(high * group, size) - low * group);
    if (!at) return 0;
  }
  return at == end && state[0] == LOWEST && state[1] == LOWEST && state[2] == LOWEST && state[3] == LOWEST;
}

static void pop_through(void *context, int64_t i, int64_t worker) {
  Segments *all = context;
  Popper from;
  const int64_t begin = (all->number + i) * all->own, end = least(begin + all->own, all->of.letters[all->of.classes]);
  (void)worker;
  if (!pop_all(&all->of, &from, all->data + 2 * all->edges[i], all->data + 2 * all->edges[i + 1], begin, end, all->out))
    lower(&all->bad, (uint32_t)i);
}

/* Segment i of those from `number` on is the words [edges[i], edges[i + 1]) of `data`; symbols by key go to `out`. The
   first segment that no encoder wrote, -1 if there is none, -2 if sizes do not fit. */
int64_t KERNEL(pop_classes)(const uint8_t *data, int64_t size, const int64_t *edges, int64_t edges_len, int64_t alphabet,
                            const int64_t *starts, int64_t starts_len, const uint8_t *groups, int64_t groups_len,
                            const uint64_t *frequencies, int64_t len, int64_t own, int64_t number, int64_t threads,
                            uint8_t *out, int64_t out_len) {
  Segments all;
  const int64_t segments = edges_len - 1;
  if (!are_classes(&all.of, alphabet, starts, starts_len, groups, groups_len, frequencies, len, out_len)) return -2;
  if (!are_bounds(edges, edges_len, size / 2) || !are_segments(&all.of, own, number, segments)) return -2;
  if (segments >= UINT32_MAX) return -2;
  all.own = own, all.number = number, all.data = data, all.edges = edges, all.out = out, all.bad = UINT32_MAX;
  share(pop_through, &all, segments, threads);
  return all.bad == UINT32_MAX ? -1 : (int64_t)all.bad;
}
