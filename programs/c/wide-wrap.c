// At 64 bits numbers wrap around as in C.
// expect sc safe: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

_Atomic uint64_t counter = UINT64_MAX;

void *more(void *unused) {
  atomic_fetch_add(&counter, 1);
  return NULL;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, NULL, more, NULL);
  pthread_join(a, NULL);
  assert(counter == 0);
}
