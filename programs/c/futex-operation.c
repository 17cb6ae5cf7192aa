// A lock over the system call as it is usually wrapped: the operation is a parameter.
// expect sc safe: holds
// expect c20 safe: holds
#include <assert.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static long futex(void *word, int operation, uint32_t value) { return syscall(SYS_futex, (uint32_t *)word, operation, value, NULL, NULL, 0); }

static _Atomic uint32_t lock;
static int count;

static void take(void) {
  uint32_t seen = 0;
  if (atomic_compare_exchange_strong_explicit(&lock, &seen, 1, memory_order_acquire, memory_order_relaxed))
    return;
  while (atomic_exchange_explicit(&lock, 2, memory_order_acquire) != 0)
    futex(&lock, FUTEX_WAIT_PRIVATE, 2);
}

static void give(void) {
  if (atomic_exchange_explicit(&lock, 0, memory_order_release) == 2)
    futex(&lock, FUTEX_WAKE_PRIVATE, 1);
}

static void *add(void *unused) {
  take();
  count++;
  give();
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, NULL, add, NULL);
  pthread_create(&b, NULL, add, NULL);
  pthread_join(a, NULL);
  pthread_join(b, NULL);
  assert(count == 2);
}
