// The same lock, released too weakly: two of any number of threads are enough to show it.
// expect sc safe: holds
// expect c20 safe: violated
// expect c20 drf: violated
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_flag lock = ATOMIC_FLAG_INIT;
int inside;

void *client(void *unused) {
  for (;;) {
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
      ;
    assert(inside == 0);
    inside = 1;
    inside = 0;
    atomic_flag_clear_explicit(&lock, memory_order_relaxed);
  }
}

int main(void) {
  pthread_t t;
  for (;;)
    pthread_create(&t, NULL, client, NULL);
}
