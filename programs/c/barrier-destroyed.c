// A barrier is used after it was destroyed.
// expect sc safe: violated
#include <pthread.h>
#include <stdatomic.h>

pthread_barrier_t barrier;
atomic_int gone;

void *one(void *unused) {
  pthread_barrier_wait(&barrier);
  pthread_barrier_destroy(&barrier);
  gone = 1;
  return NULL;
}

void *two(void *unused) {
  if (gone)
    pthread_barrier_wait(&barrier);
  return NULL;
}

int main(void) {
  pthread_t a, b;
  pthread_barrier_init(&barrier, NULL, 1);
  pthread_create(&a, NULL, one, NULL);
  pthread_create(&b, NULL, two, NULL);
}
