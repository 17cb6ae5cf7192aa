// One thread frees what the other still reads.
// expect sc safe: violated
// expect c20 safe: violated
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct box {
  int value;
};

_Atomic(struct box *) shared;

void *reader(void *unused) {
  struct box *box = atomic_load(&shared);
  if (box)
    assert(box->value == 5);
  return 0;
}

int main(void) {
  pthread_t t;
  struct box *box = malloc(sizeof(struct box));
  box->value = 5;
  shared = box;
  pthread_create(&t, 0, reader, 0);
  shared = NULL;
  free(box);
}
