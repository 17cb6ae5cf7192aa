// As in beyond-the-end.c, with allocated memory.
// expect c20 safe: violated
#include <pthread.h>
#include <stdlib.h>

static int *block;
int count = 2;

static void fill(int *to, int last) {
  for (int i = 0; i <= last; i++)
    to[i] = i;
}

void *work(void *unused) {
  int *mine = malloc(sizeof *mine);
  *mine = 1;
  fill(block, count + *mine - 1);
  return NULL;
}

int main(void) {
  pthread_t t;
  block = malloc(2 * sizeof *block);
  pthread_create(&t, NULL, work, NULL);
  pthread_join(t, NULL);
}
