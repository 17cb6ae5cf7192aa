// A lock on which threads sleep until a counter moves on, used by any number of threads. Whatever they read from the counter, the lock is one:
// so it does not matter that the counter is read relaxed, nor that it wraps around some day.
// expect c20 safe: holds
// expect rc11 safe: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int lock;   // 0 free, 1 taken, 2 taken and somebody may sleep
atomic_uint wakes;
int inside;

static void sleep_while_taken(void) {
  unsigned before = atomic_load_explicit(&wakes, memory_order_relaxed);
  if (atomic_load_explicit(&lock, memory_order_relaxed) != 2)
    return;
  while (atomic_load_explicit(&wakes, memory_order_relaxed) == before)
    ;
}

static void take(void) {
  int free = 0;
  if (atomic_compare_exchange_strong_explicit(&lock, &free, 1, memory_order_acquire, memory_order_relaxed))
    return;
  while (atomic_exchange_explicit(&lock, 2, memory_order_acquire) != 0)
    sleep_while_taken();
}

static void give_back(void) {
  if (atomic_exchange_explicit(&lock, 0, memory_order_release) == 2)
    atomic_fetch_add_explicit(&wakes, 1, memory_order_relaxed);
}

void *client(void *unused) {
  for (;;) {
    take();
    assert(inside == 0);
    inside = 1;
    inside = 0;
    give_back();
  }
}

int main(void) {
  pthread_t t;
  for (;;)
    pthread_create(&t, NULL, client, NULL);
}
