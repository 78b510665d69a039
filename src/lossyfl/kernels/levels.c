/* The encoder's choice of levels and leans, in whole numbers; levels.py says how.

   Entries of the symbol in the middle are most of all and are passed over many at a time: what they cost is known
   from how many there are. */
#include "busy.h"
#include "logarithms.h"

enum { ROUND_UP = 32, UNITS = 32, MOST_COST = 480, NEVER = 960, FAR = 1 << 28 };

/* What an entry costs by magnitude of lean, bucket and score, in 32nds of a bit; `busy` is that beyond a quiet one. */
typedef struct {
  int32_t quiet[3][ROUND_UP], busy[3][BUCKETS][ROUND_UP], steps[LEVELS][LEVELS], leans[LEANS];
} Costs;

INLINE int64_t seen_of(const Matrix *of) { return least(of->width, MOST_OF_ROW); }

/* Entries of a row that are read, by the level of their column. */
static void sampled_levels(const Matrix *of, const Search *by, int64_t *entries) {
  const int64_t seen = seen_of(of);
  for (int64_t o = 0; o < LEVELS; o++) entries[o] = 0;
  for (int64_t j = 0; j < of->columns_len && j * of->run < seen; j += by->column_step)
    entries[of->columns[j]] += least(of->run, seen - j * of->run);
}

/* round(log2(sum / count)) + shift, of a mean that is never quite zero. */
static uint8_t level_of(int64_t sum, int64_t count, double beside, int64_t shift) {
  const double mean = (double)(2 * sum + 1) / (double)(2 * count) / beside;
  const double level = log2_of(mean) + (double)shift + 0.5;
  return (uint8_t)(level < 0 ? 0 : level >= LEVELS ? LEVELS - 1 : (int64_t)level);
}

/* Levels by mean magnitudes, leans by signs. */
static void first_levels(const Matrix *of, const Search *by, int64_t *sums) {
  int64_t total = 0, seen = 0, entries[LEVELS];
  memset(sums, 0, 8 * (size_t)of->columns_len);
  memset(of->columns, NEUTRAL, (size_t)of->columns_len);
  sampled_levels(of, by, entries);
  for (int64_t o = 0; o < LEVELS; o++) seen += entries[o];
  for (int64_t r = 0; r < of->count; r++) {
    const uint8_t *row = of->symbols + r * of->width;
    int64_t sum = 0, up = 0, down = 0;
    EACH_BUSY(row, seen_of(of), by->column_step, {
      const int64_t size = b < QUIET ? QUIET - b : b - QUIET;
      sum += size;
      up += b > QUIET;
      down += b < QUIET;
      sums[j] += size;
    })
    const int64_t lean = up - down, square = lean * lean, both = up + down, most = lean < 0 ? -lean : lean;
    const int64_t size = square <= 3 * both ? 0 : 4 * most > 3 * both ? 2 : 5 * most > both ? 1 : 0;
    of->leans[r] = (uint8_t)(UPRIGHT + (lean < 0 ? -size : size));
    of->rows[r] = level_of(sum, seen, 1, 12);
    total += sum;
  }
  if (of->columns_len == 1) return;
  const double mean = (double)(2 * total + 1) / (double)(2 * seen * of->count);
  for (int64_t j = 0; j < of->columns_len; j++)
    of->columns[j] = j % by->column_step ? NEUTRAL : level_of(sums[j], of->count * of->run, mean, NEUTRAL);
}

/* How often each bucket occurs beside each key, added to. */
static void count_buckets(const Matrix *of, const Search *by, int64_t (*counts)[SCORES][BUCKETS]) {
  int64_t entries[LEVELS];
  sampled_levels(of, by, entries);
  for (int64_t r = 0; r < of->count; r += by->row_step) {
    const uint8_t *row = of->symbols + r * of->width;
    const int64_t lean = of->leans[r], level = of->rows[r];
    int64_t(*own)[BUCKETS] = counts[lean_size(lean)];
    for (int64_t o = 0; o < LEVELS; o++) own[level + o][QUIET] += entries[o];
    EACH_BUSY(row, seen_of(of), by->column_step, {
      int64_t *beside = own[level + of->columns[j]];
      beside[QUIET]--;
      beside[lean < UPRIGHT ? 2 * QUIET - b : b]++;
    })
  }
}

/* -log2(count / total) in 32nds of a bit. */
INLINE int32_t units_of(int64_t count, int64_t total) {
  const double units = UNITS * (log2_of((double)total) - log2_of((double)count)) + 0.5;
  return units < MOST_COST ? (int32_t)units : MOST_COST;
}

/* The costs of one magnitude of lean: counts beside near scores help, and a little those of all. */
static void fill_costs(int64_t (*counts)[BUCKETS], const int64_t *all, int64_t total, int64_t size, Costs *out) {
  int64_t low = SCORES, high = -1;
  for (int64_t s = 0; s < SCORES; s++)
    for (int64_t b = 0; b < BUCKETS; b++)
      if (counts[s][b]) { low = least(low, s); high = s; }
  for (int64_t s = 0; s < ROUND_UP; s++) {
    int64_t near[BUCKETS], sum = 0;
    const int64_t at = s < low ? low : s > high ? high : s;
    for (int64_t b = 0; high >= 0 && b < BUCKETS; b++) {
      near[b] = 1 + 32 * all[b] / total + 16 * counts[at][b];
      for (int64_t d = 1; d <= 2; d++) {
        if (at - d >= 0) near[b] += (d == 1 ? 4 : 1) * counts[at - d][b];
        if (at + d < SCORES) near[b] += (d == 1 ? 4 : 1) * counts[at + d][b];
      }
      sum += near[b];
    }
    out->quiet[size][s] = high >= 0 ? units_of(near[QUIET], sum) : NEVER;
    for (int64_t b = 0; b < BUCKETS; b++)
      out->busy[size][b][s] = high >= 0 ? units_of(near[b], sum) - out->quiet[size][s] : 0;
  }
}

/* The costs of steps from one level to the next, as often as there are such steps now. */
static void fill_steps(const uint8_t *levels, int64_t count, int32_t (*steps)[LEVELS]) {
  int64_t seen[LEVELS] = {0};
  for (int64_t i = 1; i < count; i++) seen[levels[i] < levels[i - 1] ? levels[i - 1] - levels[i] : levels[i] - levels[i - 1]]++;
  for (int64_t a = 0; a < LEVELS; a++)
    for (int64_t b = 0; b < LEVELS; b++) {
      const int64_t step = a < b ? b - a : a - b;
      steps[a][b] = units_of(seen[step] + 1, count + LEVELS) + (step ? UNITS : 0);
    }
}

/* One step of the cheapest way through all levels: what each level of this unit costs beside its own, and from
   which level of the unit before it is reached. */
INLINE void go_on(int32_t *best, const int32_t *own, int32_t (*steps)[LEVELS], uint8_t *back) {
  Lanes next = {0}, from = {0};
  int32_t lowest = best[0];
  add_at(&next, steps[0]);
  next += best[0];
  for (int p = 1; p < LEVELS; p++) {
    Lanes other = {0};
    add_at(&other, steps[p]);
    other += best[p];
    const Lanes less = other < next;
    lowest = best[p] < lowest ? best[p] : lowest;
    next = (other & less) | (next & ~less);
    from = (less & p) | (from & ~less);
  }
  next -= lowest;
  add_at(&next, own);
  memcpy(best, &next, sizeof next);
  for (int l = 0; l < LEVELS; l++) back[l] = (uint8_t)from[l];
}

/* The levels at the end of the cheapest way. */
static void come_back(const int32_t *best, const uint8_t *back, int64_t count, uint8_t *levels) {
  int64_t level = 0;
  for (int l = 1; l < LEVELS; l++) if (best[l] < best[level]) level = l;
  for (int64_t i = count - 1; i >= 0; level = back[LEVELS * i + level], i--) levels[i] = (uint8_t)level;
}

/* The beginning of a way that goes on from a level, if there is one. */
static void set_out(int32_t *best, const uint8_t *last) {
  for (int l = 0; l < LEVELS; l++) best[l] = last && *last != l ? FAR : 0;
}

/* Costs of sampled entries for all, none above FAR. */
INLINE void spread(const int32_t *sums, int64_t step, int32_t *out) {
  int32_t lowest = sums[0];
  for (int l = 1; l < LEVELS; l++) lowest = sums[l] < lowest ? sums[l] : lowest;
  for (int l = 0; l < LEVELS; l++) out[l] = (int32_t)least(((int64_t)sums[l] - lowest) * step, FAR);
}

/* Costs of a row at every level, with the best lean for each. */
INLINE void cost_of_row(const Matrix *of, const Search *by, const Costs *costs, const uint8_t *row,
                        int32_t (*base)[LEVELS], int32_t *own, uint8_t *chosen) {
  Lanes sums[LEANS];
  memcpy(sums, base, sizeof sums);
  EACH_BUSY(row, seen_of(of), by->column_step, {
    const int64_t o = of->columns[j];
    const int64_t r = 2 * QUIET - b;
    add_at(sums, costs->busy[2][r] + o);
    add_at(sums + 1, costs->busy[1][r] + o);
    add_at(sums + 2, costs->busy[0][b] + o);
    add_at(sums + 3, costs->busy[1][b] + o);
    add_at(sums + 4, costs->busy[2][b] + o);
  })
  int64_t most[LEVELS], lowest = INT64_MAX;
  for (int l = 0; l < LEVELS; l++) {
    for (int t = 0; t < LEANS; t++) {
      const int64_t sum = (int64_t)sums[t][l] * by->column_step + costs->leans[t];
      if (!t || sum < most[l]) { most[l] = sum; chosen[l] = (uint8_t)t; }
    }
    lowest = least(lowest, most[l]);
  }
  for (int l = 0; l < LEVELS; l++) own[l] = (int32_t)least(most[l] - lowest, FAR);
}

static void choose_rows(const Matrix *of, const Search *by, Costs *costs, const uint8_t *last) {
  int64_t entries[LEVELS];
  int32_t base[LEANS][LEVELS] = {{0}}, best[LEVELS];
  sampled_levels(of, by, entries);
  for (int64_t t = 0; t < LEANS; t++)
    for (int64_t l = 0; l < LEVELS; l++)
      for (int64_t o = 0; o < LEVELS; o++) base[t][l] += (int32_t)entries[o] * costs->quiet[lean_size(t)][o + l];
  set_out(best, last);
  for (int64_t r = 0; r < of->count; r++) {
    int32_t own[LEVELS];
    cost_of_row(of, by, costs, of->symbols + r * of->width, base, own, by->chosen + LEVELS * r);
    go_on(best, own, costs->steps, by->back + LEVELS * r);
  }
  come_back(best, by->back, of->count, of->rows);
  for (int64_t r = 0; r < of->count; r++) of->leans[r] = by->chosen[LEVELS * r + of->rows[r]];
}

static void choose_columns(const Matrix *of, const Search *by, Costs *costs, const uint8_t *last) {
  int32_t base[LEVELS] = {0}, best[LEVELS];
  memset(by->sums, 0, 4 * LEVELS * (size_t)of->columns_len);
  for (int64_t r = 0; r < of->count; r += by->row_step) {
    const uint8_t *row = of->symbols + r * of->width;
    const int64_t lean = of->leans[r], level = of->rows[r];
    const int32_t(*busy)[ROUND_UP] = (const int32_t(*)[ROUND_UP])costs->busy[lean_size(lean)];
    for (int64_t l = 0; l < LEVELS; l++) base[l] += (int32_t)of->run * costs->quiet[lean_size(lean)][level + l];
    EACH_BUSY(row, seen_of(of), 1, {
      int32_t *to = by->sums + LEVELS * j;
      Lanes sum = {0};
      add_at(&sum, to);
      add_at(&sum, busy[lean < UPRIGHT ? 2 * QUIET - b : b] + level);
      memcpy(to, &sum, sizeof sum);
    })
  }
  set_out(best, last);
  for (int64_t j = 0; j < of->columns_len; j++) {
    int32_t sums[LEVELS], own[LEVELS];
    for (int l = 0; l < LEVELS; l++) sums[l] = by->sums[LEVELS * j + l] + base[l];
    spread(sums, by->row_step, own);
    go_on(best, own, costs->steps, by->back + LEVELS * j);
  }
  come_back(best, by->back, of->columns_len, of->columns);
}

static void learn_costs(int64_t (*counts)[SCORES][BUCKETS], Costs *out) {
  int64_t all[BUCKETS] = {0}, total = 0;
  for (int64_t size = 0; size < 3; size++)
    for (int64_t s = 0; s < SCORES; s++)
      for (int64_t b = 0; b < BUCKETS; b++) { all[b] += counts[size][s][b]; total += counts[size][s][b]; }
  for (int64_t size = 0; size < 3; size++) fill_costs(counts[size], all, total, size, out);
}

static void learn_leans(const uint8_t *leans, int64_t count, int32_t *out) {
  int64_t seen[LEANS] = {0};
  for (int64_t i = 0; i < count; i++) seen[leans[i]]++;
  for (int64_t t = 0; t < LEANS; t++) out[t] = units_of(seen[t] + 1, count + LEANS);
}

/* What `first` and the passes after it have in common. */
typedef struct { uint8_t *rows, *columns, *leans; int64_t rows_len, columns_len; } Levels;

static void improve(const uint8_t *symbols, const int64_t *shapes, int64_t tensors, const Levels *of, Search *by) {
  int64_t counts[3][SCORES][BUCKETS];
  Costs costs;
  const Matrix start = {symbols, of->rows, of->columns, of->leans, 0, 0, 0, 0};
  Matrix own = start;
  memset(counts, 0, sizeof counts);
  for (int64_t t = 0; t < tensors; t++) {
    next_matrix(&own, shapes + 3 * t, !t);
    count_buckets(&own, by, counts);
  }
  learn_costs(counts, &costs);
  learn_leans(of->leans, of->rows_len, costs.leans);
  fill_steps(of->rows, of->rows_len, costs.steps);
  own = start;
  for (int64_t t = 0; t < tensors; t++) {
    next_matrix(&own, shapes + 3 * t, !t);
    choose_rows(&own, by, &costs, own.rows > of->rows ? own.rows - 1 : 0);
  }
  fill_steps(of->columns, of->columns_len, costs.steps);
  own = start;
  const uint8_t *last = 0;
  for (int64_t t = 0; t < tensors; t++) {
    next_matrix(&own, shapes + 3 * t, !t);
    if (own.columns_len == 1) continue; /* the level of a single column does not travel */
    choose_columns(&own, by, &costs, last);
    last = own.columns + own.columns_len - 1;
  }
}

INLINE int all_same(const uint8_t *levels, int64_t count) {
  for (int64_t i = 1; i < count; i++) if (levels[i] != *levels) return 0;
  return 1;
}

/* Whether nothing tells entries apart, which no further pass changes. */
static int are_alike(const Levels *of) {
  return all_same(of->rows, of->rows_len) && all_same(of->columns, of->columns_len) &&
         of->leans[0] == UPRIGHT && all_same(of->leans, of->rows_len);
}

/* Begins anew, or improves what is there. -1 if sizes do not fit. `scratch` is room for ten numbers a row or column of
   the tensor that has most of them. */
int64_t KERNEL(choose_levels)(const uint8_t *symbols, int64_t count, int64_t alphabet, const int64_t *shapes,
                              int64_t shapes_len, int64_t row_step, int64_t column_step, int64_t anew, int64_t passes,
                              uint8_t *rows, int64_t rows_len, uint8_t *columns, int64_t columns_len, uint8_t *leans,
                              int64_t leans_len, int64_t *scratch, int64_t scratch_len) {
  Search by;
  if (alphabet < 2 || alphabet > 256 || leans_len != rows_len || row_step < 1 || column_step < 1 || passes < 0) return -1;
  if (row_step > MOST_OF_ROW || column_step > MOST_OF_ROW || passes > 16) return -1;
  if (!are_shapes(shapes, shapes_len, count, rows_len, columns_len)) return -1;
  for (int64_t t = 0; t < shapes_len; t += 3) {
    if (shapes[t + 1] > 1 && (shapes[t + 1] * shapes[t + 2] > MOST_OF_ROW || shapes[t] > MOST_OF_ROW / shapes[t + 2])) return -1;
    if (scratch_len / 10 < shapes[t] || scratch_len / 10 < shapes[t + 1]) return -1;
  }
  if (!anew && !are_levels(rows, rows_len, columns, columns_len, leans, leans_len)) return -1;
  const int64_t units = scratch_len / 10;
  fill_buckets(alphabet, by.buckets);
  fill_quiet(alphabet, &by.quiet);
  by.row_step = row_step;
  by.column_step = column_step;
  by.sums = (int32_t *)(void *)scratch;
  by.back = (uint8_t *)(scratch + 8 * units); /* `chosen` is of rows, which need no sums */
  by.chosen = (uint8_t *)scratch;
  const Levels all = {rows, columns, leans, rows_len, columns_len};
  Matrix own = {symbols, rows, columns, leans, 0, 0, 0, 0};
  for (int64_t t = 0; anew && t < shapes_len; t += 3) {
    next_matrix(&own, shapes + t, !t);
    first_levels(&own, &by, scratch);
  }
  for (int64_t pass = 0; pass < passes && !(pass && are_alike(&all)); pass++) improve(symbols, shapes, shapes_len / 3, &all, &by);
  memset(scratch, 0, 8 * (size_t)scratch_len); /* nothing is left that depends on the order of bytes */
  return 0;
}
