// Deeper than is followed: what is said is "unknown", not "holds".
// expect sc safe: unknown
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int depth;

static int fall(int n) { return n == 0 ? 0 : 1 + fall(n - 1); }

void *work(void *unused) {
  int n = depth;
  assert(fall(n) == n);
  return 0;
}

void *deeper(void *unused) {
  depth = 9;
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  pthread_create(&t, 0, deeper, 0);
}
