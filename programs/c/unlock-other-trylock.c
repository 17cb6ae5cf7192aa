// A thread that did not get the mutex unlocks it all the same; the mutex is held whenever that happens.
// expect sc safe: violated
// expect c20 safe: violated
#include <threads.h>

mtx_t mutex;

int second(void *unused) {
  mtx_trylock(&mutex);
  mtx_unlock(&mutex);
  return 0;
}

int main(void) {
  thrd_t s;
  mtx_init(&mutex, mtx_plain);
  mtx_lock(&mutex);
  thrd_create(&s, second, 0);
  thrd_join(s, 0);
  mtx_unlock(&mutex);
}
