// expect sc safe: holds
// expect c20 safe: holds
//
// Addresses that are kept as numbers: the program has their low bits for itself, and comes back from a member to the whole.

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

struct node { int key; long weight; struct node *next; } first, second;

static uintptr_t marked(const struct node *node) { return (uintptr_t)node | 1; }

int main(void) {
  uintptr_t link = marked(&first);
  assert((link & 1) == 1 && (struct node *)(link & ~(uintptr_t)1) == &first);
  link = (uintptr_t)&second + 2;
  unsigned tag = link & 3;
  assert(tag + 40 == 42);
  assert((struct node *)(link - 2) == &second);
  assert((struct node *)((uintptr_t)&first.weight - offsetof(struct node, weight)) == &first);
  long *weight = (long *)((char *)&second + offsetof(struct node, weight));
  *weight = 7;
  assert(second.weight == 7);
}
