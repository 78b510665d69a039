/* Small whole numbers as bits whose chances adapt, coded by one rANS state; numbers.py says how. */
#include "kernels.h"

enum { FAMILIES = 12, CHANCES = 64, BIT_BITS = 11, BIT_LOWEST = 1 << 16, MOST_LENGTH = 40, SEEN = 30, FIRST_CHANCE = 1 << 23 };
enum { SIGN = 3, LENGTH = 6, BELOW = 48 }; /* where the chances of a family's sign, length and lower bits begin */

/* Chance of a one in units of 2^-11, from 16 bits of chance over 8 bits of how often it was seen. */
INLINE uint32_t one_of(uint32_t chance) {
  const uint32_t one = chance >> 8 & 0xFFFF, f = one >> (16 - BIT_BITS);
  return f < 1 ? 1 : f;
}

/* The chance after one more bit: the mean of all bits at first, then a mean that forgets. */
INLINE uint32_t learned(uint32_t chance, int bit) {
  uint32_t one = chance >> 8 & 0xFFFF, seen = chance & 0xFF;
  seen = seen < SEEN ? seen : SEEN;
  const uint32_t rate = 655360 / (10 * seen + 16);
  if (bit) one += (uint32_t)(((uint64_t)(0xFFFF - one) * rate) >> 16);
  else one -= (uint32_t)(((uint64_t)one * rate) >> 16);
  return one << 8 | (seen < SEEN ? seen + 1 : SEEN);
}

/* Bits on their way: each as its frequency and where that begins. */
typedef struct { uint32_t *bits; int64_t count, room; uint32_t *chances; } Bitter;

INLINE void put_bit(Bitter *to, int64_t place, int bit) {
  const uint32_t one = one_of(to->chances[place]), zero = (1u << BIT_BITS) - one;
  if (to->count < to->room) to->bits[to->count] = bit ? one << 16 | zero : zero << 16;
  to->count++;
  to->chances[place] = learned(to->chances[place], bit);
}

INLINE void put_even(Bitter *to, int bit) {
  const uint32_t half = 1u << (BIT_BITS - 1);
  if (to->count < to->room) to->bits[to->count] = bit ? half << 16 | half : half << 16;
  to->count++;
}

/* What a number is coded beside: the magnitude of the last one of its family, up to two. */
INLINE int64_t beside(int64_t last) {
  const uint64_t size = last < 0 ? 0 - (uint64_t)last : (uint64_t)last;
  return size < 2 ? (int64_t)size : 2;
}

INLINE int64_t sign_beside(int64_t last) { return SIGN + (last > 0) + 2 * (last < 0); }

/* 0 if the number is beyond all limits. */
static int put_number(Bitter *to, int64_t base, int64_t last, int64_t value) {
  const uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  put_bit(to, base + beside(last), value != 0);
  if (!value) return 1;
  const int length = length_of(size) - 1;
  if (length >= MOST_LENGTH) return 0;
  put_bit(to, base + sign_beside(last), value < 0);
  for (int i = 0; i < length; i++) put_bit(to, base + LENGTH + i, 1);
  put_bit(to, base + LENGTH + length, 0);
  for (int i = length - 1; i >= 0; i--) {
    const int bit = (int)(size >> i & 1);
    if (length <= 2) put_bit(to, base + BELOW + (int64_t)(size >> (i + 1)), bit);
    else put_even(to, bit);
  }
  return 1;
}

/* The bits as bytes at the end of `out`, from the last bit to the first; how many, or -1 if there is no room. */
static int64_t push_bits(const Bitter *from, uint8_t *out, int64_t room) {
  uint32_t x = BIT_LOWEST;
  int64_t at = room;
  for (int64_t i = from->count; i-- > 0;) {
    const uint32_t f = from->bits[i] >> 16, start = from->bits[i] & 0xFFFF;
    while (x >= f << (24 - BIT_BITS)) {
      if (at < 1) return -1;
      out[--at] = (uint8_t)x;
      x >>= 8;
    }
    x = (x / f << BIT_BITS) + x % f + start;
  }
  if (at < 3) return -1;
  at -= 3;
  for (int k = 0; k < 3; k++) out[at + k] = (uint8_t)(x >> (8 * k));
  return room - at;
}

int64_t KERNEL(push_numbers)(const int64_t *values, int64_t count, const uint8_t *families, int64_t families_len,
                             uint32_t *bits, int64_t bits_len, uint8_t *out, int64_t room) {
  uint32_t chances[FAMILIES * CHANCES];
  int64_t last[FAMILIES] = {0};
  Bitter to = {bits, 0, bits_len, chances};
  if (families_len != count) return -1;
  for (int64_t i = 0; i < FAMILIES * CHANCES; i++) chances[i] = FIRST_CHANCE;
  for (int64_t i = 0; i < count; i++) {
    const int64_t family = families[i];
    if (family >= FAMILIES || !put_number(&to, family * CHANCES, last[family], values[i])) return -1;
    last[family] = values[i];
  }
  return to.count <= to.room ? push_bits(&to, out, room) : -1;
}

typedef struct { const uint8_t *data; int64_t size, at; uint32_t x; uint32_t *chances; int short_of; } Taker;

INLINE int take_any(Taker *from, uint32_t one) {
  const uint32_t slot = from->x & ((1u << BIT_BITS) - 1), zero = (1u << BIT_BITS) - one;
  const int bit = slot >= zero;
  from->x = (bit ? one : zero) * (from->x >> BIT_BITS) + slot - (bit ? zero : 0);
  while (from->x < BIT_LOWEST) {
    const int some = from->at < from->size;
    from->short_of |= !some;
    from->x = from->x << 8 | (some ? from->data[from->at] : 1);
    from->at += some;
  }
  return bit;
}

INLINE int take_bit(Taker *from, int64_t place) {
  const int bit = take_any(from, one_of(from->chances[place]));
  from->chances[place] = learned(from->chances[place], bit);
  return bit;
}

static int64_t take_number(Taker *from, int64_t base, int64_t last) {
  if (!take_bit(from, base + beside(last))) return 0;
  const int minus = take_bit(from, base + sign_beside(last));
  int length = 0;
  while (take_bit(from, base + LENGTH + length))
    if (++length >= MOST_LENGTH) { from->short_of = 1; return 0; }
  int64_t size = 1;
  for (int i = length - 1; i >= 0; i--) {
    const int bit = length <= 2 ? take_bit(from, base + BELOW + size) : take_any(from, 1u << (BIT_BITS - 1));
    size = 2 * size + bit;
  }
  return minus ? -size : size;
}

/* The next numbers of a family. `state` is the coder's, the byte it goes on with, and the last number of every
   family. -1 if the bytes end too soon, or a number is beyond all limits. */
int64_t KERNEL(pop_numbers)(const uint8_t *data, int64_t size, int64_t *state, int64_t state_len, uint32_t *chances,
                            int64_t chances_len, int64_t family, int64_t *values, int64_t count) {
  if (state_len != 2 + FAMILIES || chances_len != FAMILIES * CHANCES || family < 0 || family >= FAMILIES) return -1;
  if (state[0] < BIT_LOWEST || state[0] >= (int64_t)BIT_LOWEST << 8 || state[1] < 0 || state[1] > size) return -1;
  Taker from = {data, size, state[1], (uint32_t)state[0], chances, 0};
  int64_t last = state[2 + family];
  for (int64_t i = 0; i < count; i++) {
    values[i] = last = take_number(&from, family * CHANCES, last);
    if (from.short_of) return -1;
  }
  state[0] = from.x;
  state[1] = from.at;
  state[2 + family] = last;
  return 0;
}
