// An atomic counter that wraps around is a bound, not an answer.
// expect sc safe: unknown
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_uint counter = 4294967295u;

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
