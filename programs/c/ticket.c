// A ticket lock in a struct, passed by pointer.
// expect sc safe: holds
// expect c20 safe: holds
// expect c20 robust: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

typedef struct {
  _Atomic uint16_t next;
  _Atomic uint16_t serving;
} ticket_lock;

static inline void take(ticket_lock *lock) {
  uint16_t mine = atomic_fetch_add_explicit(&lock->next, 1, memory_order_relaxed);
  while (atomic_load_explicit(&lock->serving, memory_order_acquire) != mine) {
  }
}

static inline void give(ticket_lock *lock) {
  uint16_t now = atomic_load_explicit(&lock->serving, memory_order_relaxed);
  atomic_store_explicit(&lock->serving, now + 1, memory_order_release);
}

ticket_lock lock;
int inside;

void *work(void *unused) {
  take(&lock);
  inside++;
  assert(inside == 1);
  inside--;
  give(&lock);
  return 0;
}

int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++)
    pthread_create(&t[i], 0, work, 0);
}
