// Integers have their widths, and conversions are those of C.
// expect sc safe: holds
#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

_Atomic uint8_t small;

void *work(void *unused) {
  uint8_t byte = small;
  byte += 255;
  assert(byte == 254 || byte == 0);
  unsigned u = byte;
  u -= 255;
  assert(u == UINT_MAX || u == UINT_MAX - 254);
  assert(-1 > 1u);
  assert((int8_t)200 == -56);
  assert(sizeof(int) * CHAR_BIT == 32);
  uint32_t shifted = (uint32_t)byte << 31 << 1;
  assert(shifted == 0);
  int64_t wide = INT32_MAX;
  wide++;
  assert(wide == 2147483648L);
  size_t n = 0;
  assert(n - 1 > 100);
  return 0;
}

void *set(void *unused) {
  small = 1;
  return 0;
}

int main(void) {
  small = 255;
  pthread_t a, b;
  pthread_create(&a, 0, set, 0);
  pthread_create(&b, 0, work, 0);
}
