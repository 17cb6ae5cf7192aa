// The kernel's names, mapped to C11: message passing, and store buffering with full barriers.
// expect sc safe: holds
// expect c20 safe: holds
#include <assert.h>
#include <palisade/linux.h>
#include <pthread.h>

int x, y, data, flag;
int a, b;

void *left(void *unused) {
  WRITE_ONCE(data, 1);
  smp_store_release(&flag, 1);
  WRITE_ONCE(x, 1);
  smp_mb();
  a = READ_ONCE(y);
  return 0;
}

void *right(void *unused) {
  if (smp_load_acquire(&flag))
    assert(READ_ONCE(data) == 1);
  WRITE_ONCE(y, 1);
  asm volatile("mfence" ::: "memory");
  b = READ_ONCE(x);
  return 0;
}

int main(void) {
  pthread_t l, r;
  pthread_create(&l, 0, left, 0);
  pthread_create(&r, 0, right, 0);
  pthread_join(l, 0);
  pthread_join(r, 0);
  assert(a || b);
}
