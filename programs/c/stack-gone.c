// A variable of a function that has returned, used by another thread.
// expect sc safe: violated
// expect c20 safe: violated
#include <pthread.h>
#include <stdatomic.h>

_Atomic(int *) known;

static void publish(int *variable) { atomic_store(&known, variable); }

void *one(void *unused) {
  int variable = 0;
  publish(&variable);
  return NULL;
}

void *two(void *unused) {
  int *p = atomic_load(&known);
  if (p)
    *p = 42;
  return NULL;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, NULL, one, NULL);
  pthread_create(&b, NULL, two, NULL);
}
