// A thread that reads gives back a lock that it does not have: another one writes.
// expect sc safe: violated
// expect c20 safe: violated
#include <assert.h>
#include <pthread.h>

pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
int a, b;

void *reader(void *unused) {
  pthread_rwlock_unlock(&lock);
  return NULL;
}

void *writer(void *unused) {
  pthread_rwlock_wrlock(&lock);
  a++;
  b++;
  pthread_rwlock_unlock(&lock);
  return NULL;
}

int main(void) {
  pthread_t first, second, third;
  pthread_create(&first, NULL, reader, NULL);
  pthread_create(&second, NULL, writer, NULL);
  pthread_create(&third, NULL, writer, NULL);
}
