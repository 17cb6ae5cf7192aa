// Message passing with fences around relaxed accesses.
// expect sc safe: holds
// expect c20 safe: holds
// expect c20 robust: holds
#include <assert.h>
#include <stdatomic.h>
#include <threads.h>

int data;
atomic_bool ready;

int producer(void *unused) {
  data = 1;
  atomic_thread_fence(memory_order_release);
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
  return 0;
}

int consumer(void *unused) {
  if (atomic_load_explicit(&ready, memory_order_relaxed)) {
    atomic_thread_fence(memory_order_acquire);
    assert(data == 1);
  }
  return 0;
}

int main(void) {
  thrd_t threads[2];
  thrd_create(&threads[0], producer, NULL);
  thrd_create(&threads[1], consumer, NULL);
  for (int i = 0; i < 2; i++)
    thrd_join(threads[i], NULL);
}
