// One element too many is written through a pointer: to nothing, and not to what happens to be next.
// expect c20 safe: violated
// expect sc safe: violated
#include <pthread.h>

int numbers[3];
int sum;
int count = 3;

static void fill(int *to, int last) {
  for (int i = 0; i <= last; i++)
    to[i] = i;
}

void *work(void *unused) {
  fill(numbers, count);
  sum = numbers[0] + numbers[1] + numbers[2];
  return NULL;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, work, NULL);
  pthread_join(t, NULL);
  return sum;
}
