// What SV-COMP's programs say happens at once: what stands between two calls, and functions whose names begin as those do. C has no such thing.
// expect sc safe: holds
// expect tso safe: holds
#include <assert.h>
#include <pthread.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

int first, second;

int __VERIFIER_atomic_both(int by) {
  first += by;
  second += by;
  if (first == 2)
    return first;
  return second;
}

void *add(void *unused) {
  __VERIFIER_atomic_both(1);
  return unused;
}

void *look(void *unused) {
  __VERIFIER_atomic_begin();
  int a = first, b = second;
  __VERIFIER_atomic_end();
  assert(a == b);
  return unused;
}

int main(void) {
  pthread_t a, b, c;
  pthread_create(&a, NULL, add, NULL);
  pthread_create(&b, NULL, add, NULL);
  pthread_create(&c, NULL, look, NULL);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  pthread_join(c, NULL);
  assert(first == 2 && second == 2);
}
