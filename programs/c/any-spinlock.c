// A lock that spins, used by any number of threads.
// expect sc safe: holds
// expect c20 safe: holds
// expect c20 robust: holds
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
    atomic_flag_clear_explicit(&lock, memory_order_release);
  }
}

int main(void) {
  pthread_t t;
  for (;;)
    pthread_create(&t, NULL, client, NULL);
}
