// A later relaxed store of the same thread does not continue a release sequence since C++20; before, this had no race.
// expect c20 safe: violated
#include <pthread.h>
#include <stdatomic.h>

int data;
atomic_int flag;

void *producer(void *unused) {
  data = 1;
  atomic_store_explicit(&flag, 1, memory_order_release);
  atomic_store_explicit(&flag, 2, memory_order_relaxed);
  return NULL;
}

void *consumer(void *unused) {
  if (atomic_load_explicit(&flag, memory_order_acquire) == 2)
    data = 2;
  return NULL;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, NULL, producer, NULL);
  pthread_create(&b, NULL, consumer, NULL);
}
