// Peterson's lock with release and acquire alone is no lock.
// expect sc safe: holds
// expect c20 safe: violated
// expect c20 robust: violated
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int flag[2];
atomic_int turn;
int inside;

void *work(void *arg) {
  int me = (int)(long)arg, other = 1 - me;
  atomic_store_explicit(&flag[me], 1, memory_order_release);
  atomic_store_explicit(&turn, other, memory_order_release);
  while (atomic_load_explicit(&flag[other], memory_order_acquire) && atomic_load_explicit(&turn, memory_order_acquire) == other)
    ;
  inside++;
  assert(inside == 1);
  inside--;
  atomic_store_explicit(&flag[me], 0, memory_order_release);
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, work, (void *)0);
  pthread_create(&b, 0, work, (void *)1);
}
