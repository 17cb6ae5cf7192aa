// Only the one whose try succeeds touches the data.
// expect sc safe: holds
// expect c20 safe: holds
#include <assert.h>
#include <pthread.h>

pthread_mutex_t lock;
int data;

void *work(void *unused) {
  if (pthread_mutex_trylock(&lock) == 0) {
    int before = data++;
    assert(data == before + 1);
    pthread_mutex_unlock(&lock);
  }
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_mutex_init(&lock, 0);
  pthread_create(&a, 0, work, 0);
  pthread_create(&b, 0, work, 0);
  pthread_exit(0);
}
