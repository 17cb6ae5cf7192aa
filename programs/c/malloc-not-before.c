// A pointer is published by a relaxed store: the allocation does not happen before what the other thread stores there.
// expect c20 safe: violated
// expect c20 drf: violated
// expect rc11 safe: violated
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

_Atomic(int *) shared;

void *maker(void *unused) {
  int *made = malloc(sizeof(int));
  atomic_store_explicit(&shared, made, memory_order_relaxed);
  return NULL;
}

void *user(void *unused) {
  int *found = atomic_load_explicit(&shared, memory_order_acquire);
  if (found)
    *found = 42;
  return NULL;
}

int main(void) {
  pthread_t m, u;
  pthread_create(&m, NULL, maker, NULL);
  pthread_create(&u, NULL, user, NULL);
}
