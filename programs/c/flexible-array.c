// A struct that ends in an array whose length is given at run time.
// expect c20 safe: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct ring {
  _Atomic size_t head, tail;
  size_t capacity;
  int slots[];
};

static struct ring *ring;

static struct ring *make(size_t capacity) {
  struct ring *new = malloc(sizeof *new + capacity * sizeof(int));
  atomic_init(&new->head, 0);
  atomic_init(&new->tail, 0);
  new->capacity = capacity;
  return new;
}

void *producer(void *unused) {
  for (int i = 0; i < 4; i++) {
    size_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    while (head - atomic_load_explicit(&ring->tail, memory_order_acquire) == ring->capacity)
      ;
    ring->slots[head % ring->capacity] = i;
    atomic_store_explicit(&ring->head, head + 1, memory_order_release);
  }
  return NULL;
}

void *consumer(void *unused) {
  for (int i = 0; i < 4; i++) {
    size_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    while (atomic_load_explicit(&ring->head, memory_order_acquire) == tail)
      ;
    assert(ring->slots[tail % ring->capacity] == i);
    atomic_store_explicit(&ring->tail, tail + 1, memory_order_release);
  }
  return NULL;
}

int main(void) {
  pthread_t p, c;
  ring = make(3);
  pthread_create(&p, NULL, producer, NULL);
  pthread_create(&c, NULL, consumer, NULL);
  pthread_join(p, NULL);
  pthread_join(c, NULL);
  free(ring);
}
