// An index that leaves its array.
// expect sc safe: violated
#include <pthread.h>
#include <stdatomic.h>

atomic_int next;
atomic_int slots[2];

void *work(void *unused) {
  int i = atomic_fetch_add(&next, 1);
  slots[i] = 1;
  return 0;
}

int main(void) {
  pthread_t t;
  for (int i = 0; i < 3; i++)
    pthread_create(&t, 0, work, 0);
}
