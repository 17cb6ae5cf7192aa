// A plain counter that two threads increment.
// expect sc safe: violated
// expect c20 safe: violated
#include <assert.h>
#include <pthread.h>

int count;

void *increment(void *unused) {
  count++;
  return 0;
}

int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; ++i)
    pthread_create(t + i, 0, increment, 0);
  for (int i = 0; i < 2; ++i)
    pthread_join(t[i], 0);
  assert(count == 2);
}
