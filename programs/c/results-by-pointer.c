// What threads return, where a computed pointer says which thread is meant: objects are then apart in memory, a thread's end and its result are not.
// expect sc safe: holds
// expect c20 safe: holds
// expect c20 robust: holds
#include <assert.h>
#include <threads.h>

#define N 2

int twice(void *number) { return 2 * *(int *)number; }

int main(void) {
  thrd_t t[N];
  int numbers[N] = {1, 2}, sum = 0;
  for (int i = 0; i < N; i++)
    thrd_create(t + i, twice, numbers + i);
  for (int i = 0; i < N; i++) {
    int result;
    thrd_join(t[i], &result);
    sum += result;
  }
  assert(sum == 6);
}
