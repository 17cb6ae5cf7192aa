// Nobody reads before all have written.
// expect sc safe: holds
// expect c20 safe: holds
#include <assert.h>
#include <pthread.h>

pthread_barrier_t barrier;
int written[2];

void *work(void *argument) {
  int me = (long)argument;
  written[me] = 1;
  pthread_barrier_wait(&barrier);
  assert(written[1 - me] == 1);
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_barrier_init(&barrier, 0, 2);
  pthread_create(&t, 0, work, (void *)0);
  pthread_create(&t, 0, work, (void *)1);
}
