// Both threads free the same block.
// expect sc safe: violated
#include <pthread.h>
#include <stdlib.h>

void *work(void *block) {
  free(block);
  return 0;
}

int main(void) {
  pthread_t a, b;
  long *block = calloc(2, sizeof(long));
  pthread_create(&a, 0, work, block);
  pthread_create(&b, 0, work, block);
}
