// How long the array is that is allocated, only a run knows.
// expect c20 safe: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int wanted;

void *ask(void *unused) {
  wanted = 2;
  return NULL;
}

void *work(void *unused) {
  int n = wanted + 1;
  atomic_int *block = calloc(n, sizeof(atomic_int));
  block[n - 1] = 1;
  assert(n == 1 || block[0] == 0);
  free(block);
  return NULL;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, NULL, ask, NULL);
  pthread_create(&b, NULL, work, NULL);
}
