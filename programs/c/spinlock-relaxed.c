// The same with a relaxed unlock: the next owner does not see what was written.
// expect sc safe: holds
// expect c20 safe: violated
// expect c20 robust: violated
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_flag lock = ATOMIC_FLAG_INIT;
int owner;

void *work(void *arg) {
  long me = (long)arg;
  while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
    ;
  owner = me;
  assert(owner == me);
  atomic_flag_clear_explicit(&lock, memory_order_relaxed);
  return 0;
}

int main(void) {
  pthread_t t;
  for (long i = 1; i <= 3; i++)
    pthread_create(&t, 0, work, (void *)i);
}
