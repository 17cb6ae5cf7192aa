// A sequence lock: the reader sees both words of one version.
// expect sc safe: holds
// expect c20 robust: violated
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_uint version;
atomic_int low, high;

void *writer(void *unused) {
  unsigned v = atomic_load_explicit(&version, memory_order_relaxed);
  atomic_store_explicit(&version, v + 1, memory_order_relaxed);
  atomic_thread_fence(memory_order_release);
  atomic_store_explicit(&low, 1, memory_order_relaxed);
  atomic_store_explicit(&high, 1, memory_order_relaxed);
  atomic_store_explicit(&version, v + 2, memory_order_release);
  return NULL;
}

void *reader(void *unused) {
  unsigned before, after;
  int l, h;
  do {
    before = atomic_load_explicit(&version, memory_order_acquire);
    l = atomic_load_explicit(&low, memory_order_relaxed);
    h = atomic_load_explicit(&high, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    after = atomic_load_explicit(&version, memory_order_relaxed);
  } while (before != after || before % 2);
  assert(l == h);
  return NULL;
}

int main(void) {
  pthread_t w, r;
  pthread_create(&w, NULL, writer, NULL);
  pthread_create(&r, NULL, reader, NULL);
}
