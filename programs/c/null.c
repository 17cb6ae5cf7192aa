// A pointer that may not have been set yet.
// expect sc safe: violated
#include <pthread.h>
#include <stdatomic.h>

int object = 1;
int *_Atomic pointer;

void *setter(void *unused) {
  pointer = &object;
  return 0;
}

void *user(void *unused) {
  int *p = pointer;
  *p = 2;
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, setter, 0);
  pthread_create(&t, 0, user, 0);
}
