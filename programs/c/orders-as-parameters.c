// Orders that are arguments of a function.
// expect sc safe: holds
// expect c20 safe: holds
// expect c20 robust: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

int data;
atomic_int flag;

static void set(atomic_int *to, int value, memory_order order) {
  atomic_store_explicit(to, value, order);
}

static int get(atomic_int *from, memory_order order) {
  return atomic_load_explicit(from, order);
}

void *sender(void *unused) {
  data = 1;
  set(&flag, 1, memory_order_release);
  return 0;
}

void *receiver(void *unused) {
  if (get(&flag, memory_order_acquire))
    assert(data == 1);
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, sender, 0);
  pthread_create(&t, 0, receiver, 0);
}
