// A mutex is unlocked by a thread that does not hold it.
// expect sc safe: violated
// expect c20 safe: violated
#include <pthread.h>

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int data;

void *holder(void *unused) {
  pthread_mutex_lock(&mutex);
  data++;
  pthread_mutex_unlock(&mutex);
  return NULL;
}

void *other(void *unused) {
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(void) {
  pthread_t h;
  pthread_mutex_lock(&mutex);
  pthread_create(&h, NULL, holder, NULL);
  other(NULL);
  pthread_t o;
  pthread_create(&o, NULL, other, NULL);
  pthread_join(h, NULL);
}
