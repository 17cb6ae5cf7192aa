// The last one who lets go frees: release, and acquire before the free.
// expect sc safe: holds
// expect c20 safe: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct {
  atomic_int references;
  int value;
} object;

void let_go(object *o) {
  if (atomic_fetch_sub_explicit(&o->references, 1, memory_order_release) == 1) {
    atomic_thread_fence(memory_order_acquire);
    free(o);
  }
}

void *work(void *argument) {
  object *o = argument;
  assert(o->value == 3);
  let_go(o);
  return NULL;
}

int main(void) {
  pthread_t a, b;
  object *o = malloc(sizeof(object));
  atomic_init(&o->references, 2);
  o->value = 3;
  pthread_create(&a, NULL, work, o);
  pthread_create(&b, NULL, work, o);
}
