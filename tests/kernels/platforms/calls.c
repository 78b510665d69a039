/* Makes kernel calls that stand in a file, or in an input of a fuzzer; replay.py puts a case per kernel into `make_call`.

   Replayed, every result and every written array is compared to the bit. Fuzzed, nothing is expected but that no kernel
   touches what it was not given, whatever it was given: arrays are allocated to the byte, for AddressSanitizer. */
#include <stdio.h>
#include <stdlib.h>

#include "all.c"

#ifdef LFL_LEVEL
#define CALL(name) LFL_PASTE(lfl_, name, LFL_LEVEL)
#else
#define CALL(name) lfl_##name
#endif

typedef struct {
  void *at;
  uint32_t size;
  int64_t length, bytes;
} Array;

static const uint8_t *input, *input_end;

#ifdef FUZZED
enum { REPLAYED = 0 };
#else
enum { REPLAYED = 1 };
#endif

static void read_bytes(void *to, size_t bytes) {
  const size_t there = (size_t)(input_end - input), some = bytes < there ? bytes : there;
  if (REPLAYED && some < bytes) { puts("the file of calls ends too soon"); exit(2); }
  if (some) memcpy(to, input, some);
  memset((uint8_t *)to + some, 0, bytes - some);
  input += some;
}

/* Elements are little-endian in the file. */
static void swap_if_big(uint8_t *at, uint32_t size, int64_t length) {
  const uint16_t one = 1;
  uint8_t low;
  memcpy(&low, &one, 1);
  for (int64_t i = 0; !low && i < length; i++, at += size)
    for (uint32_t k = 0; k < size / 2; k++) { uint8_t t = at[k]; at[k] = at[size - 1 - k]; at[size - 1 - k] = t; }
}

static uint64_t read_u(void) {
  uint64_t n;
  read_bytes(&n, sizeof n);
  swap_if_big((uint8_t *)&n, sizeof n, 1);
  return n;
}

static double read_d(void) {
  uint64_t bits = read_u();
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* `size` is that of an element where the kernel knows it, 0 where it takes any. */
static Array read_array(uint32_t size) {
  Array a;
  read_bytes(&a.size, sizeof a.size);
  swap_if_big((uint8_t *)&a.size, sizeof a.size, 1);
  if (size) a.size = size;
  else if (!REPLAYED) a.size = 1u << (a.size & 3);
  a.length = (int64_t)read_u();
  if (!REPLAYED) a.length = (int64_t)((uint64_t)a.length % ((uint64_t)(input_end - input) / a.size + 1));
  a.bytes = a.length * a.size;
  a.at = malloc((size_t)a.bytes);
  read_bytes(a.at, (size_t)a.bytes);
  swap_if_big(a.at, a.size, a.length);
  return a;
}

static int same_u(uint64_t got, const char *kernel) {
  if (!REPLAYED) return 1;
  const uint64_t expected = read_u();
  if (got != expected) printf("%s gives %lld instead of %lld\n", kernel, (long long)got, (long long)expected);
  return got == expected;
}

static int same_d(double got, const char *kernel) {
  if (!REPLAYED) return 1;
  const double expected = read_d();
  const int same = !memcmp(&got, &expected, sizeof got);
  if (!same) printf("%s gives %.17g instead of %.17g\n", kernel, got, expected);
  return same;
}

static int same_array(Array got, const char *kernel, int argument) {
  if (!REPLAYED) return 1;
  uint8_t *expected = malloc(got.bytes ? (size_t)got.bytes : 1);
  read_bytes(expected, (size_t)got.bytes);
  swap_if_big(expected, got.size, got.length);
  const int same = !memcmp(got.at, expected, (size_t)got.bytes);
  if (!same) printf("%s writes something else into argument %d\n", kernel, argument);
  free(expected);
  return same;
}

/* 1 if the call gave what it should, 0 if not, -1 if there is no such kernel. */
static int make_call(uint32_t number) {
  int ok = 1;
  switch (number) {
    /* CASES */
    default: return -1;
  }
  return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* One input: the number of a kernel, and its arguments as in a file of calls. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint32_t number;
  input = data, input_end = data + size;
  read_bytes(&number, sizeof number);
  make_call(number % KERNELS);
  return 0;
}

#ifndef LIBFUZZER

typedef struct {
  uint32_t number, bytes;
  const uint8_t *at;
} Call;

static Call read_call(void) {
  Call call;
  read_bytes(&call.number, sizeof call.number);
  swap_if_big((uint8_t *)&call.number, sizeof call.number, 1);
  read_bytes(&call.bytes, sizeof call.bytes);
  swap_if_big((uint8_t *)&call.bytes, sizeof call.bytes, 1);
  call.at = input;
  return call;
}

static int replay(const uint8_t *end) {
  long long calls = 0, bad = 0;
  for (; input < end && bad < 10; calls++) {
    const Call call = read_call();
    const int ok = make_call(call.number);
    if (ok < 0) { printf("there is no kernel %u\n", (unsigned)call.number); return 2; }
    bad += !ok;
  }
  printf("%lld calls, %lld differ\n", calls, bad);
  return bad > 0;
}

static uint64_t next_random(uint64_t *state) { /* SplitMix64 */
  uint64_t z = *state += 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return z ^ z >> 31;
}

enum { LONGEST = 1 << 14 };

/* Recorded calls with some bytes changed: what a compiler without libFuzzer can do. */
static int mutate(const uint8_t *whole, const uint8_t *end, long long runs, uint64_t state) {
  static uint8_t data[LONGEST + 4];
  const uint8_t *next = whole;
  for (long long run = 0; run < runs;) {
    if (next >= end) next = whole;
    input = next, input_end = end;
    const Call call = read_call();
    next = call.at + call.bytes;
    if (call.bytes > LONGEST) continue;
    memcpy(data, &call.number, 4);
    for (int again = 0; again < 20; again++, run++) {
      memcpy(data + 4, call.at, call.bytes);
      for (uint64_t change = next_random(&state) % 4; change && call.bytes; change--) {
        const uint64_t r = next_random(&state);
        const size_t place = 4 + (r >> 24) % call.bytes;
        data[place] = (uint8_t[]){0, 1, 0x7F, 0x80, 0xFF, (uint8_t)(r >> 8), (uint8_t)(data[place] + 1),
                                  (uint8_t)(data[place] - 1)}[r % 8];
      }
      LLVMFuzzerTestOneInput(data, call.bytes + 4);
    }
  }
  printf("%lld calls, nothing found\n", runs);
  return 0;
}

int main(int count, char **arguments) {
  FILE *file = count > 1 ? fopen(arguments[1], "rb") : NULL;
  if (!file || fseek(file, 0, SEEK_END)) return 2;
  const size_t size = (size_t)ftell(file);
  uint8_t *whole = malloc(size ? size : 1);
  rewind(file);
  if (!whole || fread(whole, 1, size, file) != size) return 2;
  input = whole, input_end = whole + size;
  if (!REPLAYED) return count == 4 ? mutate(whole, whole + size, atoll(arguments[2]), strtoull(arguments[3], NULL, 10)) : 2;
  return replay(whole + size);
}
#endif
