// expect c20 safe: holds
// expect sc safe: holds
//
// A fence in assembly, without the word `volatile`.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x, y;
int seen_x, seen_y;

void *one(void *unused) {
  atomic_store_explicit(&x, 1, memory_order_relaxed);
  asm("mfence" ::: "memory");
  seen_y = atomic_load_explicit(&y, memory_order_relaxed);
  return 0;
}

void *other(void *unused) {
  atomic_store_explicit(&y, 1, memory_order_relaxed);
  __asm__("mfence" : : : "memory");
  seen_x = atomic_load_explicit(&x, memory_order_relaxed);
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, one, 0);
  pthread_create(&b, 0, other, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(seen_x || seen_y);
}
