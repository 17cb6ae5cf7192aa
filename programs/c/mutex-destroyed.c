// A mutex is locked after it was destroyed.
// expect sc safe: violated
// expect c20 safe: violated
#include <pthread.h>
#include <stdatomic.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
atomic_int gone;

void *one(void *unused) {
  pthread_mutex_destroy(&mutex);
  atomic_store_explicit(&gone, 1, memory_order_release);
  return NULL;
}

void *two(void *unused) {
  if (atomic_load_explicit(&gone, memory_order_acquire))
    pthread_mutex_lock(&mutex);
  return NULL;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, NULL, one, NULL);
  pthread_create(&b, NULL, two, NULL);
}
