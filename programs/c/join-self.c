// A thread that waits for itself.
// expect sc safe: violated
#include <pthread.h>

void *one(void *unused) {
  pthread_join(pthread_self(), NULL);
  return NULL;
}

int main(void) {
  pthread_t a;
  pthread_create(&a, NULL, one, NULL);
}
