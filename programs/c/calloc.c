// Memory whose size the program's beginning computes, all 0.
// expect sc safe: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int *counters;

void *more(void *number) {
  atomic_fetch_add(&counters[(long)number], 1);
  return NULL;
}

int main(void) {
  int count = 3;
  pthread_t *threads = malloc(count * sizeof(pthread_t));
  counters = calloc(count, sizeof *counters);
  for (long i = 0; i < count; i++)
    pthread_create(&threads[i], NULL, more, (void *)i);
  for (int i = 0; i < count; i++)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < count; i++)
    assert(counters[i] == 1);
}
