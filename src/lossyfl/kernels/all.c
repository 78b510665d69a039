/* All kernels as one translation unit, compiled once for every level of instructions. */
#include "kernels.h"

#ifndef LFL_LEVEL
#include "parallel.c" /* one for all levels */
#endif
#include "random_words.c"
#include "histogram.c"
#include "stochastic.c"
#include "natural.c"
#include "sign.c"
#include "dither.c"
#include "dithered.c"
#include "rotation.c"
#include "magnitudes.c"
#include "cells.c"
#include "theory.c"
#include "counts.c"
#include "model.c"
#include "plan.c"
#include "rans.c"
#include "wide.c"
#include "values.c"
#include "short.c"
#include "adding.c"
