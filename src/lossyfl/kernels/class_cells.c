/* Cells of magnitudes, chosen by what a symbol costs in the class of its entry; class_cells.py says how. */
#include <float.h>
#include <math.h>

#include "logarithms.h"

enum { MOST_CELLS = 127, ROUNDS = 4, VALUE_BITS = 32, WAY = 5, FOUND = 5 };
#define UNSEEN 0.3       /* the count that lengths give a symbol without any, so that it may come back */
#define NEARLY 0.02      /* what is left of a limit may be used by cells that are like these */
#define FIRST_ZONE 0.6   /* dead zone of the cells to begin with, in steps */

/* A vector by class, sign and bin: how many entries, and which sum of magnitudes, lie before each bin. */
typedef struct { int64_t first, bins, classes; const int64_t *ahead; const double *sums; double energy; } ClassBins;

/* The values of levels from 1 on; those that no entry has taken are out of use. Even ones are multiples of the first,
   all in use up to the last that was taken. */
typedef struct { int64_t levels, even; double values[MOST_CELLS + 1]; uint8_t used[MOST_CELLS + 1]; } Codewords;

/* One class: of both signs the bins at which levels begin (level l is [edges[l], edges[l + 1])), entries, sums. */
typedef struct {
  int64_t edges[2][MOST_CELLS + 2];
  double entries[2][MOST_CELLS + 1], sums[2][MOST_CELLS + 1], size, quiet;
} OneClass;

/* All classes: entries and sums of every level, bits of symbols, and how many pairs of class and symbol there are. */
typedef struct { double entries[MOST_CELLS + 1], sums[MOST_CELLS + 1], bits; int64_t pairs; } Totals;

/* The edge of bins that is nearest to a magnitude, counted from the first bin, which is never kept. */
INLINE int64_t nearest_edge(double x, const ClassBins *of) {
  if (!(x <= FLT_MAX)) return of->bins;
  const float narrow = x > 0 ? (float)x : 0;
  const int64_t place = (int64_t)(((uint64_t)float_bits(narrow) + 0x8000) >> 16) - of->first;
  return place < 1 ? 1 : place > of->bins ? of->bins : place;
}

/* Where the cheapest level changes: the lower envelope of value^2 - 2 x value + price * length, on edges of bins. */
static void place_by_price(const ClassBins *of, const Codewords *words, const double *lengths, double price, int64_t *edges) {
  int64_t stack[MOST_CELLS + 1] = {0}, top = 0, next = of->bins;
  double begins[MOST_CELLS + 1] = {0};
  for (int64_t l = 1; l <= words->levels; l++) {
    const double value = words->values[l];
    if (!words->used[l] || !(value > words->values[stack[top]])) continue;
    for (;; top--) {
      const double other = words->values[stack[top]];
      const double begin = (value * value - other * other + price * (lengths[l] - lengths[stack[top]])) / (2 * (value - other));
      if (top && begin <= begins[top]) continue;
      stack[++top] = l;
      begins[top] = begin;
      break;
    }
  }
  edges[words->levels + 1] = of->bins;
  for (int64_t l = words->levels; l > 0; l--) {
    if (top && stack[top] == l) {
      const int64_t own = nearest_edge(begins[top--], of);
      next = own < next ? own : next;
    }
    edges[l] = next;
  }
}

/* Entries and sums between the edges of a class. */
static void fill_class(const ClassBins *of, int64_t c, int64_t levels, OneClass *one) {
  double busy = 0;
  one->size = 0;
  for (int64_t sign = 0; sign < 2; sign++) {
    const int64_t *ahead = of->ahead + (2 * c + sign) * (of->bins + 1), *edges = one->edges[sign];
    const double *sums = of->sums + (2 * c + sign) * (of->bins + 1);
    one->size += (double)ahead[of->bins];
    for (int64_t l = 1; l <= levels; l++) {
      one->entries[sign][l] = (double)minus(ahead[edges[l + 1]], ahead[edges[l]]);
      one->sums[sign][l] = sums[edges[l + 1]] - sums[edges[l]];
      busy += one->entries[sign][l];
    }
  }
  one->quiet = one->size - busy;
}

INLINE double length_among(double whole, double count) { return whole - log2_of(count > UNSEEN ? count : UNSEEN); }

/* What symbols of a class cost by its counts, a row a sign; the bits of all of them, and how many differ. */
static double fill_code(const OneClass *one, int64_t levels, double *lengths, int64_t *different) {
  const double whole = log2_of(one->size > UNSEEN ? one->size : UNSEEN), quiet = length_among(whole, one->quiet);
  double bits = one->quiet * quiet;
  *different = one->quiet > 0;
  for (int64_t sign = 0; sign < 2; sign++, lengths += MOST_CELLS + 1) {
    lengths[0] = quiet;
    for (int64_t l = 1; l <= levels; l++) lengths[l] = length_among(whole, one->entries[sign][l]);
    for (int64_t l = 1; l <= levels; l++) {
      bits += one->entries[sign][l] * lengths[l];
      *different += one->entries[sign][l] > 0;
    }
  }
  return bits;
}

/* How much smaller a class makes the sum of squared errors than zeros would. */
static double gain_of(const OneClass *one, const Codewords *words) {
  double gain = 0;
  for (int64_t sign = 0; sign < 2; sign++)
    for (int64_t l = 1; l <= words->levels; l++)
      gain += words->values[l] * (2 * one->sums[sign][l] - words->values[l] * one->entries[sign][l]);
  return gain;
}

static void silence(const ClassBins *of, int64_t levels, OneClass *one) {
  one->quiet = one->size;
  for (int64_t sign = 0; sign < 2; sign++)
    for (int64_t l = 1; l <= levels; l++) {
      one->entries[sign][l] = one->sums[sign][l] = 0;
      one->edges[sign][l] = of->bins;
    }
}

/* Counts a class as its edges say, or as zeros where all its symbols together are not worth their bits. */
static void count_class(const ClassBins *of, int64_t c, const Codewords *words, double price, double *lengths,
                        OneClass *one, Totals *totals) {
  int64_t different;
  fill_class(of, c, words->levels, one);
  double bits = fill_code(one, words->levels, lengths, &different);
  if (price > 0 && gain_of(one, words) < price * (bits + (double)(SYMBOL_BITS * different))) {
    silence(of, words->levels, one);
    bits = fill_code(one, words->levels, lengths, &different);
  }
  totals->bits += bits;
  totals->pairs += different;
  for (int64_t sign = 0; sign < 2; sign++)
    for (int64_t l = 1; l <= words->levels; l++) {
      totals->entries[l] += one->entries[sign][l];
      totals->sums[l] += one->sums[sign][l];
    }
}

/* The multiples that leave least of what levels hold. */
static void learn_even_values(const Totals *totals, Codewords *words) {
  double sum = 0, squares = 0;
  for (int64_t l = 1; l <= words->levels; l++) {
    sum += (double)l * totals->sums[l];
    squares += (double)(l * l) * totals->entries[l];
  }
  while (words->levels && !(totals->entries[words->levels] > 0)) words->levels--;
  for (int64_t l = 1; l <= words->levels; l++) {
    words->used[l] = 1;
    words->values[l] = (double)l * (sum / squares);
  }
}

/* Values are the means of what levels hold. */
static void learn_values(const Totals *totals, Codewords *words) {
  if (words->even) {
    learn_even_values(totals, words);
    return;
  }
  for (int64_t l = 1; l <= words->levels; l++) {
    words->used[l] = totals->entries[l] > 0;
    if (words->used[l]) words->values[l] = totals->sums[l] / totals->entries[l];
  }
}

/* Whether any entry lies between two edges. */
static int64_t has_some(const ClassBins *of, int64_t low, int64_t high) {
  int64_t some = 0;
  for (int64_t row = 0; row < 2 * of->classes; row++)
    some |= of->ahead[row * (of->bins + 1) + high] ^ of->ahead[row * (of->bins + 1) + low];
  return some;
}

/* Even cells without those that are empty, the same in all classes; from `wider` on each group of sixteen is of cells
   twice as wide. 0 if there are too many. */
static int begin_at(const ClassBins *of, const int64_t *edges, int64_t found, int64_t wider, Codewords *words, OneClass *one) {
  int64_t width = 1;
  words->levels = 0;
  for (int64_t i = 0; i < found; i += width) {
    if (words->levels >= wider && (words->levels - wider) % 16 == 0) width *= 2;
    const int64_t low = edges[i] - of->first, high = i + width < found ? edges[i + width] - of->first : of->bins;
    if (!has_some(of, low, high)) continue;
    if (words->levels == MOST_CELLS) return 0;
    one->edges[0][++words->levels] = low;
  }
  return 1;
}

/* Even cells to begin with; where there are too many, those of large magnitudes are wider. */
static int begin_evenly(const ClassBins *of, double step, Codewords *words, OneClass *one, int64_t *room, int64_t room_len) {
  const int64_t found = place_evenly(FIRST_ZONE * step, step, of->first + 1, of->first + of->bins, room, room_len);
  int64_t wider = MOST_CELLS;
  while (!begin_at(of, room, found, wider, words, one)) {
    if (wider < MOST_CELLS / 2) return 0;
    wider -= 16;
  }
  one->edges[0][words->levels + 1] = of->bins;
  memcpy(one->edges[1], one->edges[0], sizeof one->edges[0]);
  return 1;
}

/* Even cells, empty ones among them; 0 if there are too many. */
static int begin_with_all(const ClassBins *of, double step, Codewords *words, OneClass *one) {
  words->levels = 0;
  for (double l = FIRST_ZONE;; l += 1) {
    const int64_t edge = nearest_edge(l * step, of);
    if (edge >= of->bins) break;
    if (words->levels == MOST_CELLS) return 0;
    one->edges[0][++words->levels] = edge;
  }
  one->edges[0][words->levels + 1] = of->bins;
  memcpy(one->edges[1], one->edges[0], sizeof one->edges[0]);
  return 1;
}

/* The level of every bin of a class, a row a sign. */
static void write_levels_of(const ClassBins *of, const OneClass *one, int64_t levels, uint8_t *out) {
  memset(out, 0, 2 * (size_t)of->bins);
  for (int64_t sign = 0; sign < 2; sign++, out += of->bins)
    for (int64_t l = 1; l <= levels; l++)
      memset(out + one->edges[sign][l], (int)l, (size_t)(one->edges[sign][l + 1] - one->edges[sign][l]));
}

/* The cells that a step and a price lead to; bits of symbols and tables, and the sum of squared errors, or infinities
   where there are too many cells. `levels_of`, if there is one, gets the level of every class, sign and bin. */
static void cells_at(const ClassBins *of, double step, double price, int64_t even, Codewords *words, double *lengths,
                     int64_t *room, int64_t room_len, uint8_t *levels_of, double found[2]) {
  OneClass one;
  Totals totals;
  memset(words, 0, sizeof *words);
  words->even = even;
  found[0] = found[1] = INFINITY;
  if (!(even ? begin_with_all(of, step, words, &one) : begin_evenly(of, step, words, &one, room, room_len))) return;
  for (int64_t round = 0; round <= ROUNDS; round++) {
    memset(&totals, 0, sizeof totals);
    for (int64_t c = 0; c < of->classes; c++) {
      double *own = lengths + 2 * c * (MOST_CELLS + 1);
      for (int64_t sign = 0; round && sign < 2; sign++)
        place_by_price(of, words, own + sign * (MOST_CELLS + 1), price, one.edges[sign]);
      count_class(of, c, words, round ? price : 0, own, &one, &totals);
      if (levels_of && round == ROUNDS) write_levels_of(of, &one, words->levels, levels_of + 2 * c * of->bins);
    }
    learn_values(&totals, words);
  }
  int64_t values = 1;
  found[1] = of->energy;
  for (int64_t l = 1; l <= words->levels; l++) {
    if (!words->used[l]) continue;
    found[1] -= words->values[l] * (2 * totals.sums[l] - words->values[l] * totals.entries[l]);
    values += even ? 0 : 2;
  }
  found[0] = totals.bits + (double)(VALUE_BITS * values + CLASS_BITS * of->classes + SYMBOL_BITS * totals.pairs);
}

/* The best of all cells that some ways lead to: five numbers each, a step or 0, a factor, the lowest and highest to try
   of what is free, and 1 for even values. Free is the price, or the step where there is none, and then the price is
   factor * step^2.

   Best is the least error within so many bits, or the fewest bits within so much error, where a small part of the
   limit that is left counts for what its price says. Writes the level of every class, sign and bin, the value of every
   level, 0 for one out of use, and bits, error, step, price and kind; infinities and zeros if there are none. -1 if
   sizes do not fit. */
int64_t KERNEL(search_by_class)(int64_t first, int64_t classes, const int64_t *ahead, int64_t ahead_len, const double *sums,
                                int64_t sums_len, double energy, const double *ways, int64_t ways_len, int64_t by_size,
                                double limit, int64_t halvings, int64_t *room, int64_t room_len, double *lengths,
                                int64_t lengths_len, uint8_t *levels, int64_t levels_len, double *values,
                                int64_t values_len, double *out, int64_t out_len) {
  if (classes < 1 || classes > KEYS || sums_len != ahead_len || ahead_len % (2 * classes) || ways_len % WAY) return -1;
  const ClassBins of = {first, ahead_len / (2 * classes) - 1, classes, ahead, sums, energy};
  if (of.bins < 1 || of.bins > BINS || levels_len != 2 * classes * of.bins || !are_rows(levels_len, first, of.bins)) return -1;
  if (lengths_len != 2 * classes * (MOST_CELLS + 1) || values_len != MOST_CELLS + 1 || out_len != FOUND) return -1;
  Codewords words;
  double step_at = 0, price_at = 0, least = INFINITY, found[2];
  int64_t even_at = 0;
  out[0] = out[1] = INFINITY;
  for (const double *way = ways; way < ways + ways_len; way += WAY) {
    double within = way[by_size ? 3 : 2], beyond = way[by_size ? 2 : 3];
    for (int64_t h = 0; h < halvings; h++) {
      const double middle = sqrt(within * beyond), step = way[0] > 0 ? way[0] : middle;
      const double price = way[0] > 0 ? middle : way[1] * middle * middle;
      cells_at(&of, step, price, way[4] > 0, &words, lengths, room, room_len, 0, found);
      if (!(found[by_size ? 0 : 1] <= limit)) { beyond = middle; continue; }
      within = middle;
      double unused = limit - found[by_size ? 0 : 1];
      unused = unused > NEARLY * limit || !(price > 0) ? 0 : by_size ? price * unused : unused / price;
      if (!(found[by_size ? 1 : 0] - unused < least)) continue;
      least = found[by_size ? 1 : 0] - unused;
      out[0] = found[0];
      out[1] = found[1];
      step_at = step;
      price_at = price;
      even_at = way[4] > 0;
    }
  }
  memset(levels, 0, (size_t)levels_len);
  memset(&words, 0, sizeof words);
  if (step_at > 0) cells_at(&of, step_at, price_at, even_at, &words, lengths, room, room_len, levels, found);
  out[2] = step_at;
  out[3] = price_at;
  out[4] = (double)even_at;
  for (int64_t l = 0; l <= MOST_CELLS; l++) values[l] = words.used[l] && l <= words.levels ? words.values[l] : 0;
  memset(lengths, 0, 8 * (size_t)lengths_len);
  return 0;
}
