/* All kernels as one translation unit, compiled once for every level of instructions. */
#include "kernels.h"

#include "random_words.c"
#include "stochastic.c"
#include "natural.c"
#include "sign.c"
#include "dither.c"
#include "rotation.c"
#include "magnitudes.c"
#include "cells.c"
#include "dithered.c"
#include "theory.c"
#include "rans.c"
