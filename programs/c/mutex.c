// A counter behind a mutex.
// expect sc safe: holds
// expect c20 safe: holds
// expect c20 robust: holds
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *work(void *by) {
  pthread_mutex_lock(&lock);
  count += (long)by;
  pthread_mutex_unlock(&lock);
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, work, (void *)2);
  pthread_create(&b, 0, work, (void *)3);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(count == 5);
}
