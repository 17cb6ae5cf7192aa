// Threads get and give values; each in a struct of its own.
// expect sc safe: holds
// expect c20 safe: holds
#include <assert.h>
#include <pthread.h>

struct job {
  int from, to;
  long sum;
};

void *work(void *argument) {
  struct job *job = argument;
  for (int i = job->from; i < job->to; i++)
    job->sum += i;
  return (void *)job->sum;
}

int main(void) {
  struct job jobs[2] = {{0, 3, 0}, {3, 5, 0}};
  pthread_t threads[2];
  void *result;
  long total = 0;
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], 0, work, &jobs[i]);
  for (int i = 0; i < 2; i++) {
    pthread_join(threads[i], &result);
    total += (long)result;
  }
  assert(total == 10 && jobs[0].sum == 3);
}
