// From a member to the struct around it.
// expect sc safe: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define container_of(pointer, type, member)                                                        \
  ({                                                                                               \
    const __typeof__(((type *)0)->member) *inner = (pointer);                                      \
    (type *)((char *)inner - offsetof(type, member));                                              \
  })

struct list {
  struct list *next;
};
struct item {
  int key;
  int weight;
  struct list link;
};

struct item items[2] = {{10, 1}, {20, 2}};
_Atomic(struct list *) head;

void *publish(void *unused) {
  items[1].link.next = &items[0].link;
  head = &items[1].link;
  return 0;
}

void *sum(void *unused) {
  int total = 0;
  for (struct list *at = head; at; at = at->next)
    total += container_of(at, struct item, link)->key;
  assert(total == 0 || total == 30);
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, publish, 0);
  pthread_create(&t, 0, sum, 0);
}
