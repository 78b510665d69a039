/* All kernels as one translation unit, compiled once for every level of instructions. */
#include "kernels.h"

#include "rans.c"
