// Double-checked initialisation.
// expect sc safe: holds
// expect c20 safe: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

static struct config {
  int size;
  int depth;
} config;

static atomic_bool done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct config *get(void) {
  if (!atomic_load_explicit(&done, memory_order_acquire)) {
    pthread_mutex_lock(&lock);
    if (!atomic_load_explicit(&done, memory_order_relaxed)) {
      config = (struct config){.size = 4, .depth = 2};
      atomic_store_explicit(&done, true, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
  }
  return &config;
}

static void *use(void *unused) {
  struct config *c = get();
  assert(c->size == 4 && c->depth == 2);
  return NULL;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, NULL, use, NULL);
  pthread_create(&b, NULL, use, NULL);
}
