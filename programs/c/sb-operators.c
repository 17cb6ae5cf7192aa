// Store buffering with seq_cst accesses, written as plain operators.
// expect sc safe: holds
// expect c20 safe: holds
// expect c20 robust: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int x, y;
int a, b;

void *left(void *unused) {
  x = 1;
  a = y;
  return NULL;
}

void *right(void *unused) {
  y = 1;
  b = x;
  return NULL;
}

int main(void) {
  pthread_t l, r;
  pthread_create(&l, NULL, left, NULL);
  pthread_create(&r, NULL, right, NULL);
  pthread_join(l, NULL);
  pthread_join(r, NULL);
  assert(a == 1 || b == 1);
}
