// Which variable is meant was never said.
// expect c20 safe: violated
// expect sc safe: violated
#include <pthread.h>

int left;
int right;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *work(void *unused) {
  int which;
  int *chosen = which ? &left : &right;
  pthread_mutex_lock(&lock);
  *chosen = 1;
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, work, NULL);
  pthread_join(t, NULL);
}
