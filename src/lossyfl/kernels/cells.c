/* What cells of magnitudes cost, and the search for the best; quantizers/cells.py says what cells are. */
#include <float.h>
#include <math.h>

#include "logarithms.h"

enum { TABLE_BITS = 44, LEVELS_AT_ONCE = 64 };

/* A vector by bins, the first of which is `first`: how many entries, and which sum, lie before each of them. Two
   rows of entries, not negative and negative; all rows are one longer than there are bins. */
typedef struct { int64_t first, bins; const int64_t *above, *below; const double *sums; double energy; } Bins;

INLINE int bins_of(int64_t first, const int64_t *ahead, int64_t ahead_len, const double *sums, int64_t sums_len,
                   double energy, Bins *bins) {
  Bins made = {first, sums_len - 1, ahead, ahead + sums_len, sums, energy};
  *bins = made;
  return first >= 0 && first <= 0xFFFF && sums_len >= 1 && ahead_len == 2 * sums_len;
}

/* The entries of `count` cells from level `level` on, by sign, and the sums of their magnitudes; 0 if an edge is
   not among the bins. */
INLINE int read_cells(const Bins *bins, const int64_t *edges, int64_t levels, int64_t level, int64_t count,
                      double *above, double *below, double *sums) {
  for (int64_t i = 0; i < count; i++, level++) {
    const int64_t low = minus(edges[level], bins->first);
    const int64_t high = level + 1 < levels ? minus(edges[level + 1], bins->first) : bins->bins;
    if ((uint64_t)low > (uint64_t)bins->bins || (uint64_t)high > (uint64_t)bins->bins) return 0;
    above[i] = (double)minus(bins->above[high], bins->above[low]);
    below[i] = (double)minus(bins->below[high], bins->below[low]);
    sums[i] = bins->sums[high] - bins->sums[low];
  }
  return 1;
}

/* Bits of some of so many symbols that are alike. */
INLINE double bits_of_some(double some, double total) { return some > 0 ? some * log2_of(total / (some > 0 ? some : 1)) : 0; }

/* Bits of symbols and tables, and the sum of squared errors; 0 if an edge is not among the bins. Terms are made
   many at a time, and added one after the other. */
static int cost_of(const Bins *bins, const int64_t *edges, int64_t levels, double out[2]) {
  const double total = (double)plus(bins->above[bins->bins], bins->below[bins->bins]);
  double bits = 0, error = bins->energy, zeros = total;
  int64_t used = 1;
  double above[LEVELS_AT_ONCE], below[LEVELS_AT_ONCE], sums[LEVELS_AT_ONCE];
  for (int64_t level = 0; level < levels; level += LEVELS_AT_ONCE) {
    const int64_t count = levels - level < LEVELS_AT_ONCE ? levels - level : LEVELS_AT_ONCE;
    if (!read_cells(bins, edges, levels, level, count, above, below, sums)) return 0;
    for (int64_t i = 0; i < count; i++) {
      const double entries = above[i] + below[i];
      zeros -= entries; /* whole numbers: exact in any order */
      used += entries > 0 ? 2 : 0;
      sums[i] = entries > 0 ? sums[i] * sums[i] / (entries > 0 ? entries : 1) : 0;
    }
    for (int64_t i = 0; i < count; i++) {
      above[i] = bits_of_some(above[i], total);
      below[i] = bits_of_some(below[i], total);
    }
    for (int64_t i = 0; i < count; i++) {
      bits += above[i];
      bits += below[i];
      error -= sums[i];
    }
  }
  bits += bits_of_some(zeros, total);
  out[0] = bits + (double)(TABLE_BITS * used);
  out[1] = error;
  return 1;
}

/* The bins at which cells begin: at `low` and every step on, each bin once; their number. Bin 0 is that of zero,
   and never kept. Where steps are shorter than bins, steps are left out. */
static int64_t place_evenly(double low, double step, int64_t first, int64_t stop, int64_t *edges, int64_t room) {
  double level = 0;
  int64_t levels = 0;
  const int64_t least = first > 1 ? first : 1;
  while (levels < room) {
    const double edge = low + level * step;
    if (!(edge <= FLT_MAX)) break;
    float narrow = (float)edge;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    int64_t place = (int64_t)(((uint64_t)bits + 0x8000) >> 16);
    place = place > least ? place : least;
    if (place >= stop) break;
    edges[levels++] = place;
    bits = (uint32_t)(place + 1) << 16;
    memcpy(&narrow, &bits, sizeof bits);
    const double next = ceil(((double)narrow - low) / step - 0.5);
    level = next > level + 1 ? next : level + 1;
  }
  return levels;
}

/* Edges that part `low`, in bin `start`, to `peak` evenly; their number. */
static int64_t place_from(int64_t start, double low, double peak, int64_t stop, int64_t *edges, int64_t room) {
  if (start >= stop) return 0;
  const double step = (peak - low) / (double)room;
  return place_evenly(low, step > 0 ? step : 1, start, stop, edges, room);
}

int64_t KERNEL(cost_of_cells)(int64_t first, const int64_t *ahead, int64_t ahead_len, const double *sums,
                              int64_t sums_len, double energy, const int64_t *edges, int64_t levels, double *out,
                              int64_t out_len) {
  Bins bins;
  if (!bins_of(first, ahead, ahead_len, sums, sums_len, energy, &bins) || out_len != 2) return -1;
  return cost_of(&bins, edges, levels, out) ? 0 : -1;
}

int64_t KERNEL(even_edges)(double low, double step, int64_t first, int64_t stop, int64_t *edges, int64_t room) {
  return place_evenly(low, step, first, stop, edges, room);
}

int64_t KERNEL(spread_edges)(int64_t start, double low, double peak, int64_t stop, int64_t *edges, int64_t room) {
  return place_from(start, low, peak, stop, edges, room);
}

/* Bits and squared errors (a row each) when the bins from each of `starts` on are kept, in even cells. */
int64_t KERNEL(costs_of_largest)(int64_t first, const int64_t *ahead, int64_t ahead_len, const double *sums,
                                 int64_t sums_len, double energy, const int64_t *starts, int64_t starts_len,
                                 const double *lows, int64_t lows_len, double peak, int64_t *edges, int64_t room,
                                 double *out, int64_t out_len) {
  Bins bins;
  if (!bins_of(first, ahead, ahead_len, sums, sums_len, energy, &bins) || lows_len != starts_len ||
      out_len != 2 * starts_len)
    return -1;
  for (int64_t i = 0; i < starts_len; i++) {
    double found[2];
    const int64_t levels = place_from(starts[i], lows[i], peak, first + bins.bins, edges, room);
    if (!cost_of(&bins, edges, levels, found)) return -1;
    out[i] = found[0];
    out[starts_len + i] = found[1];
  }
  return 0;
}

/* The best step for every zone, its bits and its squared error (a row each).

   Best is the least error within so many bits, or the fewest bits within so much error. If no step keeps to the
   limit: the coarsest, or the finest for an error, and infinities. The middle of two steps is their geometric mean. */
int64_t KERNEL(search_steps)(int64_t first, const int64_t *ahead, int64_t ahead_len, const double *sums,
                             int64_t sums_len, double energy, double finest, double peak, const double *zones,
                             int64_t zones_len, int64_t by_size, double limit, int64_t halvings, int64_t *edges,
                             int64_t room, double *out, int64_t out_len) {
  Bins bins;
  if (!bins_of(first, ahead, ahead_len, sums, sums_len, energy, &bins) || out_len != 3 * zones_len) return -1;
  const double coarsest = 4 * peak;
  for (int64_t zone = 0; zone < zones_len; zone++) {
    double best = by_size ? coarsest : finest, least_bits = INFINITY, least_error = INFINITY, found[2];
    double within = by_size ? coarsest : finest, beyond = by_size ? finest : coarsest;
    for (int64_t halving = 0; halving < halvings; halving++) {
      const double step = sqrt(within * beyond);
      const int64_t levels = place_evenly(zones[zone] * step, step, first, first + bins.bins, edges, room);
      if (!cost_of(&bins, edges, levels, found)) return -1;
      if ((by_size ? found[0] : found[1]) > limit) {
        beyond = step;
        continue;
      }
      within = step;
      if (by_size ? found[1] < least_error : found[0] < least_bits) best = step, least_bits = found[0], least_error = found[1];
    }
    out[zone] = best;
    out[zones_len + zone] = least_bits;
    out[2 * zones_len + zone] = least_error;
  }
  return 0;
}
