// Less common corners of the language: ranges in initial values, `typeof` of variables, `offsetof`, `switch` on unsigned numbers, `*=` on atomics,
// names in any alphabet, text of warnings that is no C.
// expect sc safe: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#ifdef NEVER
#warning "this quote has no end
#endif

struct node {
  char tag;
  long key;
  struct node *next;
};

#define container_of(pointer, type, member) ((type *)((char *)(pointer) - offsetof(type, member)))
#define old_container_of(pointer, type, member) \
  ({ const __typeof__(((type *)0)->member) *inner = (pointer); (type *)((char *)inner - (size_t)&((type *)0)->member); })

int table[6] = {[0 ... 3] = 7, [4] = 8};
atomic_int größe = 3;

static int classify(unsigned value) {
  switch (value) {
  case -1:
    return 1;
  case 0 ... 9:
    return 2;
  default:
    return 3;
  }
}

void *times(void *unused) {
  größe *= 2;
  return NULL;
}

int main(void) {
  struct node first = {.key = 5}, *here = &first;
  __typeof__(*here) copy = *here;
  __typeof__(here->key) key = copy.key;
  assert(container_of(&first.key, struct node, key) == &first);
  assert(old_container_of(&first.next, struct node, next) == &first);
  assert(offsetof(struct node, next) == 16 && sizeof(struct node) == 24);
  assert(key == 5 && table[3] == 7 && table[4] == 8 && table[5] == 0);
  assert(classify(4294967295u) == 1 && classify(4) == 2 && classify(40) == 3);
  pthread_t a, b;
  pthread_create(&a, NULL, times, NULL);
  pthread_create(&b, NULL, times, NULL);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  assert(größe == 12);
}
