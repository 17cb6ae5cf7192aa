// A variable of `main` is set after a thread was created, and its address published by a release store: no race.
// expect c20 safe: holds
// expect c20 drf: holds
#include <pthread.h>
#include <stdatomic.h>

_Atomic(int *) shared;

void *reader(void *unused) {
  int *found = atomic_load_explicit(&shared, memory_order_acquire);
  if (found)
    return *found == 5 ? found : NULL;
  return NULL;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, reader, NULL);
  int x = 5;
  atomic_store_explicit(&shared, &x, memory_order_release);
  pthread_join(t, NULL);
}
