// A stack whose nodes are freed and come back from malloc: the exchange of a pop succeeds though the stack is another one.
// expect sc safe: violated
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
  _Atomic(struct node *) next;
};

_Atomic(struct node *) top;
atomic_int popped;

static void push(void) {
  struct node *node = malloc(sizeof(struct node));
  struct node *old = top;
  do
    atomic_store(&node->next, old);
  while (!atomic_compare_exchange_strong(&top, &old, node));
}

static struct node *pop(void) {
  struct node *old = top;
  while (old && !atomic_compare_exchange_strong(&top, &old, atomic_load(&old->next)))
    ;
  return old;
}

void *once(void *unused) {
  struct node *node = pop();
  if (node)
    popped++;
  return 0;
}

void *busy(void *unused) {
  struct node *node = pop();
  if (node) {
    popped++;
    free(node);
    push();
    popped--;
  }
  return 0;
}

int main(void) {
  pthread_t a, b;
  push();
  pthread_create(&a, 0, once, 0);
  pthread_create(&b, 0, busy, 0);
}
