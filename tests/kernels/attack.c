/* One input of a fuzzer is one call of a kernel; fuzz.py puts a case per kernel into `attack`.

   Nothing is expected but that no kernel touches what it was not given, or does what C leaves undefined, whatever it
   was given. Inputs are short, however large the arrays: lengths may be those of arrays before, and content is literal,
   repeated or a ramp. So most changes of an input leave a call that a kernel does not refuse at once. Arrays lie in one
   arena, poisoned but for their bytes, because malloc with its redzones takes longer than most kernels do. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <sanitizer/asan_interface.h>

#define LFL_LEVEL attacked /* without the library's pool: pieces are shared here, by lfl_share */
#include "all.c"

#ifdef __clang__
#define OWN __attribute__((no_sanitize("address", "undefined", "coverage")))
#else
#define OWN __attribute__((no_sanitize("address", "undefined")))
#endif
#define CALL(name) LFL_PASTE(lfl_, name, attacked)

/* Bits of the second byte of an input. Large arrays take long, so few inputs have them. */
enum { POOL = 1, SHIFTED = 2, LARGE = 128 };
enum { ARENA = 3 << 19, GAP = 128, MOST_ARRAYS = 12, LONGEST_INPUT = 4096 };

typedef struct { void *at; int64_t length; } Array;

static uint8_t arena[ARENA] __attribute__((aligned(64)));
static size_t used;
static int64_t lengths[MOST_ARRAYS];
static int arrays;
static uint64_t how;
static const uint8_t *input, *input_end;

/* How often each kernel was called, and how often it did not refuse; seen by whoever started this program. */
typedef struct { uint64_t calls[256], accepted[256]; } Tally;
static Tally *tally;

/* Numbers beyond the end of the input are 0. */
OWN static uint64_t read_bytes(int bytes) {
  uint64_t n = 0;
  for (int i = 0; i < bytes; i++) n |= (input < input_end ? (uint64_t)*input++ : 0) << (8 * i);
  return n;
}

/* The length of an array before, eight of them and five relations. */
OWN static int64_t related(uint64_t code) {
  const int back = (int)(code / 5) % 8 + 1;
  const int64_t length = back <= arrays ? lengths[arrays - back] : 0;
  switch (code % 5) {
    case 0: return length;
    case 1: return length + 1;
    case 2: return length - 1;
    case 3: return 2 * length;
    default: return length / 2;
  }
}

OWN static uint64_t read_u(void) {
  const uint64_t code = read_bytes(1);
  if (code < 160) return code;
  if (code < 200) return (uint64_t)related(code - 160);
  const int bytes = (int)(code % 8) + 1;
  const uint64_t n = read_bytes(bytes), top = (uint64_t)1 << (8 * bytes - 1);
  return (n ^ top) - top; /* with its sign */
}

OWN static double read_d(void) {
  const uint64_t code = read_bytes(1);
  double x = (double)code / 8;
  if (code < 128) return x;
  const uint64_t bits = read_bytes(8);
  memcpy(&x, &bits, sizeof x);
  return x;
}

OWN static int64_t read_length(void) {
  const uint64_t code = read_bytes(1);
  if (code < 200) return (int64_t)code;
  if (code < 240) { const int64_t n = related(code - 200); return n < 0 ? 0 : n; }
  if (code < 255) return (int64_t)(read_bytes(2) % 1024);
  return (int64_t)(read_bytes(3) % (how & LARGE ? 1 << 17 : 1024));
}

/* How many elements alike; 1 to 32, a power of two, or all that are left. */
OWN static int64_t read_run(uint64_t code, int64_t left) {
  const int64_t run = code < 32 ? (int64_t)code + 1 : code < 63 ? (int64_t)1 << (code % 16) : left;
  return run < left ? run : left;
}

/* `count` elements that begin with `value` and go on by `step`. */
#define RAMP(type)                                                                                       \
  {                                                                                                      \
    type *elements = (type *)to;                                                                         \
    for (int64_t i = 0; i < count; i++) elements[i] = (type)(value + (uint64_t)i * step);                \
  }

OWN static void fill_ramp(uint8_t *to, int64_t count, size_t size, uint64_t value, uint64_t step) {
  if (!step && (size == 1 || !value)) memset(to, (int)value, (size_t)count * size);
  else if (size == 1) RAMP(uint8_t)
  else if (size == 2) RAMP(uint16_t)
  else if (size == 4) RAMP(uint32_t)
  else RAMP(uint64_t)
}

OWN static void fill(uint8_t *to, int64_t length, size_t size) {
  uint64_t value = 0;
  while (length && input < input_end) {
    const uint64_t code = read_bytes(1);
    int64_t count = code < 128 ? (int64_t)code + 1 : read_run(code % 64, length);
    if (code < 128) {
      const int64_t there = (int64_t)((size_t)(input_end - input) / size);
      count = count < length ? count : length;
      count = count < there ? count : there;
      if (!count) { input = input_end; continue; }
      memcpy(to, input, (size_t)count * size);
      memcpy(&value, input + (size_t)(count - 1) * size, size);
      input += (size_t)count * size;
    } else if (code < 192) {
      fill_ramp(to, count, size, value = read_bytes((int)size), 0);
    } else {
      const uint64_t step = (uint64_t)(int64_t)(int8_t)read_bytes(1);
      fill_ramp(to, count, size, value + step, step);
      value += (uint64_t)count * step;
    }
    to += (size_t)count * size, length -= count;
  }
  memset(to, 0, (size_t)length * size);
}

/* An array of elements of `size` bytes, to the byte; some begin where only such an element may. */
OWN static Array read_array(size_t size, int anywhere) {
  int64_t length = read_length();
  size_t begin = (used + GAP + 63) / 64 * 64 + (anywhere && how & SHIFTED ? size : 0);
  const size_t room = begin + GAP < ARENA ? (ARENA - GAP - begin) / size : 0;
  if (!room) begin = ARENA - GAP;
  if ((uint64_t)length > room) length = (int64_t)room;
  const Array made = {arena + begin, length};
  used = begin + (size_t)length * size;
  if (arrays < MOST_ARRAYS) lengths[arrays++] = length;
  ASAN_UNPOISON_MEMORY_REGION(made.at, (size_t)length * size);
  fill(made.at, length, size);
  return made;
}

void library_share(Work work, void *context, int64_t pieces, int64_t threads);
int64_t lfl_abi(void);
const char *lfl_level(void);
void lfl_help(int64_t patience);
int64_t lfl_awake(void);
void lfl_forget(void);

/* What kernels give their pieces to: the library's pool, where nobody helps, or as if many did, in another order. */
OWN void lfl_share(Work work, void *context, int64_t pieces, int64_t threads) {
  if (how & POOL) library_share(work, context, pieces, threads);
  else for (int64_t i = pieces - 1; i >= 0; i--) work(context, i, i % threads);
}

OWN static void ask_loader(uint64_t patience) {
  lfl_help((int64_t)(patience % 1000));
  if (lfl_awake() || !lfl_abi() || !lfl_level()) abort();
  lfl_forget();
}

OWN static void attack(uint64_t number) {
  switch (number) {
    /* CASES */
    default: tally->calls[KERNELS]++, tally->accepted[KERNELS]++, ask_loader(read_u());
  }
}

OWN static void begin(void) {
  static Tally own;
  const char *path = getenv("LOSSYFL_TALLY");
  const int file = path ? open(path, O_RDWR) : -1;
  void *shared = file < 0 ? MAP_FAILED : mmap(NULL, sizeof own, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  tally = shared == MAP_FAILED ? &own : shared;
  ASAN_POISON_MEMORY_REGION(arena, ARENA);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

OWN int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!tally) begin();
  input = data, input_end = data + size;
  used = 0, arrays = 0;
  const uint64_t number = read_bytes(1);
  how = read_bytes(1);
  attack(number % (KERNELS + 1));
  ASAN_POISON_MEMORY_REGION(arena, used);
  return 0;
}

#ifndef LIBFUZZER
static uint64_t next_random(uint64_t *state) { return random_word((*state)++, 0, 1); }

/* Changes some of the bytes of an input. */
static void change(uint8_t *data, size_t size, uint64_t *state) {
  for (uint64_t changes = next_random(state) % 4; changes && size; changes--) {
    const uint64_t r = next_random(state);
    uint8_t *at = data + (r >> 24) % size;
    *at = (uint8_t[]){0, 1, 0x7F, 0x80, 0xFF, (uint8_t)(r >> 8), (uint8_t)(*at + 1), (uint8_t)(*at - 1)}[r % 8];
  }
}

/* Recorded calls with some bytes changed: what a compiler without libFuzzer can do; no runs are each of them once, as it
   is. The file has a size, two bytes, before each of them. */
int main(int count, char **arguments) {
  static uint8_t seeds[1 << 25], data[LONGEST_INPUT];
  FILE *file = count == 4 ? fopen(arguments[1], "rb") : NULL;
  const size_t whole = file ? fread(seeds, 1, sizeof seeds, file) : 0;
  const long long runs = count == 4 ? atoll(arguments[2]) : 0;
  uint64_t state = runs ? strtoull(arguments[3], NULL, 10) : 0;
  if (!whole || whole == sizeof seeds) return 2;
  for (size_t at = 0, size; at + 2 <= whole; at += 2 + size) {
    size = load16(seeds + at);
    if (size > LONGEST_INPUT || size > whole - at - 2) return 2;
    if (!runs) LLVMFuzzerTestOneInput(seeds + at + 2, size);
  }
  size_t at = 0;
  for (long long run = 0; run < runs; run++) {
    const size_t size = load16(seeds + at);
    memcpy(data, seeds + at + 2, size);
    change(data, size, &state);
    LLVMFuzzerTestOneInput(data, size);
    if (run % 20 == 19) at = at + 2 + size < whole ? at + 2 + size : 0;
  }
  printf("%lld calls, nothing found\n", runs);
  return 0;
}
#endif
