/* All kernels as one translation unit, compiled once for every level of instructions. */
#include "kernels.h"

#include "histogram.c"
#include "counts.c"
#include "model.c"
#include "plan.c"
#include "rans.c"
#include "wide.c"
#include "values.c"
#include "adding.c"
