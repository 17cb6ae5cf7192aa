// The same with an atomic counter: x++ is a read-modify-write.
// expect sc safe: holds
// expect c20 safe: holds
// expect c20 robust: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#ifndef THREADS
#define THREADS 3
#endif

_Atomic unsigned count;

void *increment(void *unused) {
  count++;
  return 0;
}

int main(void) {
  pthread_t t[THREADS];
  for (int i = 0; i < THREADS; ++i)
    pthread_create(&t[i], 0, increment, 0);
  for (int i = 0; i < THREADS; ++i)
    pthread_join(t[i], 0);
  assert(count == THREADS);
}
