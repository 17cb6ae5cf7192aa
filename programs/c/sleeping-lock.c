// A lock with a count of those who wait, which the owner reads relaxed before it wakes somebody: it may miss one, and so may not be robust, but the lock is one. Threads
// count up and down as often as they like, so there is no end to what may be read.
// expect c20 safe: holds
// expect c20 robust: violated
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int lock, waiters, wakes;
int inside;

static void take(void) {
  int free = 0;
  while (!atomic_compare_exchange_strong_explicit(&lock, &free, 1, memory_order_acquire, memory_order_relaxed)) {
    atomic_fetch_add_explicit(&waiters, 1, memory_order_relaxed);
    int before = atomic_load_explicit(&wakes, memory_order_relaxed);
    if (atomic_load_explicit(&lock, memory_order_relaxed) == 1)
      while (atomic_load_explicit(&wakes, memory_order_relaxed) == before)
        ;
    atomic_fetch_sub_explicit(&waiters, 1, memory_order_relaxed);
    free = 0;
  }
}

static void give_back(void) {
  atomic_store_explicit(&lock, 0, memory_order_release);
  if (atomic_load_explicit(&waiters, memory_order_relaxed) > 0)
    atomic_fetch_add_explicit(&wakes, 1, memory_order_relaxed);
}

void *client(void *unused) {
  take();
  assert(inside == 0);
  inside = 1;
  inside = 0;
  give_back();
  return NULL;
}

int main(void) {
  pthread_t t[3];
  for (int i = 0; i < 3; i++)
    pthread_create(&t[i], NULL, client, NULL);
}
