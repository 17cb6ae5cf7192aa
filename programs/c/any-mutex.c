// Any number of threads add to an account and take from it under a mutex, which one thread initialises.
// expect sc safe: holds
// expect c20 safe: holds
#include <assert.h>
#include <pthread.h>

pthread_mutex_t mutex;
int balance;

void *adder(void *unused) {
  for (;;) {
    pthread_mutex_lock(&mutex);
    balance = 1;
    pthread_mutex_unlock(&mutex);
  }
}

void *taker(void *unused) {
  for (;;) {
    pthread_mutex_lock(&mutex);
    if (balance > 0)
      balance = 0;
    assert(balance == 0);
    pthread_mutex_unlock(&mutex);
  }
}

int main(void) {
  pthread_t t;
  pthread_mutex_init(&mutex, NULL);
  while (1) {
    pthread_create(&t, NULL, adder, NULL);
    pthread_create(&t, NULL, taker, NULL);
  }
}
