// A pointer that goes down too far: there is nothing before an array, and the variable before it is not meant.
// expect c20 safe: violated
// expect sc safe: violated
#include <pthread.h>

int before;
int numbers[3];
int *last = &numbers[2];

void *work(void *unused) {
  int *to = last;
  for (int i = 0; i <= 3; i++)
    *to-- = i;
  return NULL;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, work, NULL);
}
