// A store to memory that was given back, ordered behind the `free`.
// expect sc safe: violated
// expect c20 safe: violated
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

_Atomic(atomic_int *) cell;
atomic_int gone;

void *owner(void *unused) {
  free((void *)atomic_load(&cell));
  atomic_store_explicit(&gone, 1, memory_order_release);
  return NULL;
}

void *late(void *unused) {
  if (atomic_load_explicit(&gone, memory_order_acquire))
    atomic_store_explicit(atomic_load(&cell), 2, memory_order_relaxed);
  return NULL;
}

int main(void) {
  pthread_t a, b;
  atomic_int *first = malloc(sizeof *first);
  atomic_init(first, 1);
  cell = first;
  pthread_create(&a, NULL, owner, NULL);
  pthread_create(&b, NULL, late, NULL);
}
