// Each thread has its own.
// expect sc safe: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Thread_local int mine = 3;
atomic_int turn;

void *work(void *by) {
  mine += (int)(long)by;
  turn++;
  assert(mine == 3 + (long)by);
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, work, (void *)1);
  pthread_create(&t, 0, work, (void *)2);
}
