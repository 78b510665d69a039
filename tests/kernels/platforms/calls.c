/* Makes the kernel calls that stand in a file, and compares every result and every written array to the bit; replay.py
   puts a case per kernel into `make_call`. */
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

static void read_bytes(void *to, size_t bytes) {
  if (bytes > (size_t)(input_end - input)) { puts("the file of calls ends too soon"); exit(2); }
  if (bytes) memcpy(to, input, bytes);
  input += bytes;
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
  a.length = (int64_t)read_u();
  a.bytes = a.length * a.size;
  a.at = malloc(a.bytes ? (size_t)a.bytes : 1);
  read_bytes(a.at, (size_t)a.bytes);
  swap_if_big(a.at, a.size, a.length);
  return a;
}

static int same_u(uint64_t got, const char *kernel) {
  const uint64_t expected = read_u();
  if (got != expected) printf("%s gives %lld instead of %lld\n", kernel, (long long)got, (long long)expected);
  return got == expected;
}

static int same_d(double got, const char *kernel) {
  const double expected = read_d();
  const int same = !memcmp(&got, &expected, sizeof got);
  if (!same) printf("%s gives %.17g instead of %.17g\n", kernel, got, expected);
  return same;
}

static int same_array(Array got, const char *kernel, int argument) {
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

static int replay(const uint8_t *end) {
  long long calls = 0, bad = 0;
  for (; input < end && bad < 10; calls++) {
    uint32_t head[2]; /* the number of the kernel, and the bytes that its arguments take */
    read_bytes(head, sizeof head);
    swap_if_big((uint8_t *)head, sizeof *head, 2);
    const int ok = make_call(head[0]);
    if (ok < 0) { printf("there is no kernel %u\n", (unsigned)head[0]); return 2; }
    bad += !ok;
  }
  printf("%lld calls, %lld differ\n", calls, bad);
  return bad > 0;
}

int main(int count, char **arguments) {
  FILE *file = count > 1 ? fopen(arguments[1], "rb") : NULL;
  if (!file || fseek(file, 0, SEEK_END)) return 2;
  const size_t size = (size_t)ftell(file);
  uint8_t *whole = malloc(size ? size : 1);
  rewind(file);
  if (!whole || fread(whole, 1, size, file) != size) return 2;
  input = whole, input_end = whole + size;
  return replay(whole + size);
}
