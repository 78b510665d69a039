/* The coded symbols of a short frame, of one segment of letters, in one call: what takes a dozen otherwise. Python's
   calls cost more than the coding there. Everything else is left to the kernels that do one step each. */
#include "kernels.h"

enum { NOT_SHORT = -2, TABLE_ROOM = 2048 };

/* Writes group, segments, table and segment, so that they end at the end of `words`; where they begin. -1 if counts are
   impossible, -2 if it is no body of one segment of letters, of less than `limit` bytes as planned, or there is no
   room. */
int64_t KERNEL(write_short)(const uint8_t *symbols, int64_t count, const int64_t *counts, int64_t alphabet,
                            int64_t limit, uint8_t *words, int64_t words_len) {
  uint64_t weights[MAX_LETTERS], frequencies[MAX_LETTERS];
  uint8_t table[TABLE_ROOM];
  PushRow rows[MAX_LETTERS];
  Plan best;
  if (alphabet < 2 || alphabet > MAX_LETTERS || count < 1 || words_len % 2) return NOT_SHORT;
  if (!make_plan(counts, alphabet, weights, table, TABLE_ROOM, frequencies, &best)) return -1;
  if (best.segments != 1 || !best.group || best.nbytes >= limit) return NOT_SHORT;
  const int64_t letters = letters_of(alphabet, best.group), pushed = (count - 1) / best.group + 1;
  const int64_t head = PREAMBLE + best.table;
  if (!are_frequencies(frequencies, letters)) return -1;
  if (words_len / 2 - head < pushed + STATE_WORDS + 1) return NOT_SHORT;
  int64_t filler = 0;
  for (int64_t i = 1; i < alphabet; i++) if (counts[i] > counts[filler]) filler = i;
  push_rows(frequencies, letters, rows);
  const Gather how = {alphabet, best.group, filler};
  uint8_t *at = words + 2 * push_segment(symbols, count, words, (size_t)words_len / 2, rows, &how) - head;
  at[0] = (uint8_t)best.group;
  store16(at + 1, 1);
  memcpy(at + PREAMBLE, table, (size_t)best.table);
  return at - words;
}

/* The values of the same symbols in a uniform table; 0, or -2 if it is another body, or one that no encoder wrote. */
int64_t KERNEL(read_short)(const uint8_t *data, int64_t size, int64_t alphabet, float low, float high, float *out,
                           int64_t out_len) {
  uint64_t weights[MAX_LETTERS], frequencies[MAX_LETTERS];
  float row[MAX_LETTERS];
  Popper from;
  if (alphabet < 3 || alphabet > MAX_LETTERS || out_len < 1 || out_len > INT64_MAX / 4 || size < PREAMBLE) return NOT_SHORT;
  const int64_t group = data[0], letters = letters_of(alphabet, group);
  if (letters < 1 || load16(data + 1) != 1) return NOT_SHORT;
  const int64_t table = model_of(data + PREAMBLE, size - PREAMBLE, group, weights, alphabet, frequencies);
  if (table < 0 || (size - PREAMBLE - table) % 2 || !are_frequencies(frequencies, letters)) return NOT_SHORT;
  int64_t used = 0;
  for (int64_t i = 0; i < alphabet; i++) used += weights[i] != 0;
  if (used == 1) return NOT_SHORT;
  ladder_row(low, high, (alphabet - 1) / 2, alphabet, row);
  pop_rows(&from, frequencies, letters);
  pop_values(&from, (const uint8_t *)row, 4, alphabet, group, letters);
  const uint8_t *at = data + PREAMBLE + table;
  return pop_segment(&from, at, data + size, (uint8_t *)out, 4 * out_len) ? 0 : NOT_SHORT;
}
