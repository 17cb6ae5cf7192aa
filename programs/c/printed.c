// What is only printed is read, too.
// expect c20 safe: violated
#include <pthread.h>
#include <stdio.h>

int total;

void *work(void *unused) {
  total++;
  return NULL;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, work, NULL);
  printf("%d\n", total);
  pthread_join(t, NULL);
}
