// A stack whose top is a pointer with a counter, as one atomic struct of 16 bytes: a node that was taken and put back in between is not taken for the old one.
// expect sc safe: holds
// expect c20 safe: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

struct node {
  struct node *next;
  int value;
};

struct top {
  struct node *node;
  uintptr_t count;
};

static _Atomic struct top top = {NULL, 0};

static void push(struct node *node) {
  struct top old = atomic_load(&top), new;
  do {
    node->next = old.node;
    new = (struct top){.node = node, .count = old.count + 1};
  } while (!atomic_compare_exchange_weak(&top, &old, new));
}

static struct node *pop(void) {
  struct top old = atomic_load_explicit(&top, memory_order_acquire), new;
  do {
    if (old.node == NULL)
      return NULL;
    new.node = old.node->next;
    new.count = old.count + 1;
  } while (!atomic_compare_exchange_strong(&top, &old, new));
  return old.node;
}

static void *work(void *number) {
  struct node *node = malloc(sizeof *node);
  node->value = (int)(intptr_t)number;
  push(node);
  struct node *taken = pop();
  assert(taken != NULL && (taken->value == 1 || taken->value == 2));
  return NULL;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, NULL, work, (void *)1);
  pthread_create(&b, NULL, work, (void *)2);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  struct top left = top;
  assert(left.node == NULL && left.count == 4);
}
