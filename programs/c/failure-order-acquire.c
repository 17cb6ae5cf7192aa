// The order of an exchange that fails is a parameter: with acquire, what was published is ordered.
// expect c20 safe: holds
#include <pthread.h>
#include <stdatomic.h>

int data;
atomic_int flag;

static int seen(memory_order success, memory_order failure) {
  int expected = 2;
  atomic_compare_exchange_strong_explicit(&flag, &expected, 3, success, failure);
  return expected;
}

void *producer(void *unused) {
  data = 1;
  atomic_store_explicit(&flag, 1, memory_order_release);
  return NULL;
}

void *consumer(void *unused) {
  if (seen(memory_order_acq_rel, memory_order_acquire) == 1)
    data = 2;
  return NULL;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, NULL, producer, NULL);
  pthread_create(&b, NULL, consumer, NULL);
}
