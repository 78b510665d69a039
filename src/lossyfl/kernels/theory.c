/* The sum of squares that the bound's eps asks for; lossyfl/theory.py says what it is. */
#include <math.h>

#include "kernels.h"

enum { SUMMED = 4096 }; /* sums of sums lose less */

#define SUM_OF_SQUARES                                                             \
  double total = 0;                                                                \
  for (int64_t start = 0; start < x_len; start += SUMMED) {                        \
    const int64_t stop = x_len - start < SUMMED ? x_len : start + SUMMED;          \
    double part = 0;                                                               \
    for (int64_t i = start; i < stop; i++) {                                       \
      const double scaled = fabs((double)x[i]) / high;                             \
      part += scaled * scaled;                                                     \
    }                                                                              \
    total += part;                                                                 \
  }                                                                                \
  return total;

/* The sum of squares of entries divided by `high`, so that squares neither overflow nor vanish. */
double KERNEL(sum_of_squares_f32)(const float *x, int64_t x_len, double high) { SUM_OF_SQUARES }

double KERNEL(sum_of_squares_f64)(const double *x, int64_t x_len, double high) { SUM_OF_SQUARES }
