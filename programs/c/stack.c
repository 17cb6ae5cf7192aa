// Treiber's stack, two pushes and a pop; nodes come from malloc and stay.
// expect sc safe: holds
// expect c20 safe: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
  int value;
  struct node *next;
};

_Atomic(struct node *) top;

void push(int value) {
  struct node *node = malloc(sizeof *node);
  node->value = value;
  struct node *old = atomic_load_explicit(&top, memory_order_relaxed);
  do {
    node->next = old;
  } while (!atomic_compare_exchange_weak_explicit(&top, &old, node, memory_order_release,
                                                  memory_order_relaxed));
}

int pop(void) {
  struct node *old = atomic_load_explicit(&top, memory_order_acquire);
  while (old != NULL) {
    if (atomic_compare_exchange_strong_explicit(&top, &old, old->next, memory_order_acquire,
                                                memory_order_acquire))
      return old->value;
  }
  return 0;
}

void *pusher(void *value) {
  push((int)(long)value);
  return NULL;
}

void *popper(void *unused) {
  int value = pop();
  assert(value == 0 || value == 7 || value == 8);
  return NULL;
}

int main(void) {
  pthread_t t[3];
  pthread_create(&t[0], NULL, pusher, (void *)7L);
  pthread_create(&t[1], NULL, pusher, (void *)8L);
  pthread_create(&t[2], NULL, popper, NULL);
  for (int i = 0; i < 3; i++)
    pthread_join(t[i], NULL);
}
