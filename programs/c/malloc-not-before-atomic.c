// An atomic store to memory that the other thread allocated, and whose allocation does not happen before it.
// expect c20 safe: violated
// expect c20 drf: violated
// expect rc11 safe: violated
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

_Atomic(atomic_int *) shared;

void *maker(void *unused) {
  atomic_int *made = malloc(sizeof *made);
  atomic_store_explicit(&shared, made, memory_order_relaxed);
  return NULL;
}

void *user(void *unused) {
  atomic_int *found = atomic_load_explicit(&shared, memory_order_acquire);
  if (found)
    atomic_store_explicit(found, 42, memory_order_relaxed);
  return NULL;
}

int main(void) {
  pthread_t m, u;
  pthread_create(&m, NULL, maker, NULL);
  pthread_create(&u, NULL, user, NULL);
}
