// A pointer to a single thing is moved beside it, which is not the next variable.
// expect c20 safe: violated
// expect sc safe: violated
#include <pthread.h>
#include <stdlib.h>

struct pair {
  int left;
  int right;
};

struct pair *pairs;
int other;

void *work(void *me) {
  pairs[(long)me].left = 7;
  return NULL;
}

int main(void) {
  pthread_t t[2];
  pairs = malloc(sizeof *pairs);
  for (long i = 0; i < 2; i++)
    pthread_create(&t[i], NULL, work, (void *)i);
}
