// Threads that a loop creates, each with an argument of its own that is stored when others run already.
// expect sc safe: holds
// expect c20 safe: holds
// expect c20 robust: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define N 3

int argument[N];
atomic_int sum;

void *add(void *pointer) {
  int *number = pointer;
  atomic_fetch_add_explicit(&sum, *number, memory_order_relaxed);
  return NULL;
}

int main(void) {
  pthread_t t[N];
  for (int i = 0; i < N; i++) {
    argument[i] = i + 1;
    pthread_create(&t[i], NULL, add, &argument[i]);
  }
  for (int i = 0; i < N; i++)
    pthread_join(t[i], NULL);
  assert(sum == 6);
}
