// Any of two ways.
// expect sc safe: violated
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

extern bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_assume(int);
atomic_int x;

void *work(void *unused) {
  if (__VERIFIER_nondet_bool())
    x += 2;
  else
    x ^= 1;
  __VERIFIER_assume(x != 2);
  assert(x != 3);
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  pthread_create(&t, 0, work, 0);
}
