// Freed once the reader has ended.
// expect sc safe: holds
// expect c20 safe: holds
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

void *reader(void *argument) {
  int *value = argument;
  assert(*value == 5);
  return 0;
}

int main(void) {
  pthread_t t;
  int *value = malloc(sizeof(int));
  *value = 5;
  pthread_create(&t, 0, reader, value);
  pthread_join(t, 0);
  free(value);
}
