// The low bit of a pointer marks a node as removed.
// expect sc safe: holds
// expect c20 safe: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct node {
  int key;
  _Atomic(uintptr_t) next;
};

struct node first = {1}, second = {2}, third = {3};

static struct node *pointer(uintptr_t word) { return (struct node *)(word & ~(uintptr_t)1); }
static int is_marked(uintptr_t word) { return word & 1; }

void *mark(void *unused) {
  uintptr_t next = atomic_load(&first.next);
  while (!is_marked(next) && !atomic_compare_exchange_weak(&first.next, &next, next | 1))
    ;
  return 0;
}

void *insert(void *unused) {
  uintptr_t next = (uintptr_t)&second;
  if (atomic_compare_exchange_strong(&first.next, &next, (uintptr_t)&third))
    assert(!is_marked(next));
  else
    assert(is_marked(next));
  struct node *found = pointer(atomic_load(&first.next));
  assert(found->key == 2 || found->key == 3);
  return 0;
}

int main(void) {
  pthread_t a, b;
  atomic_init(&first.next, (uintptr_t)&second);
  pthread_create(&a, 0, mark, 0);
  pthread_create(&b, 0, insert, 0);
}
