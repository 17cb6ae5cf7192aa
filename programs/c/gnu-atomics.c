// GNU C's operations on plain integers.
// expect sc safe: holds
// expect c20 safe: holds
#include <assert.h>
#include <pthread.h>

int lock, count;
unsigned flags;

void *work(void *bit) {
  while (__sync_lock_test_and_set(&lock, 1))
    while (__atomic_load_n(&lock, __ATOMIC_RELAXED))
      ;
  count++;
  __sync_lock_release(&lock);
  unsigned old = __atomic_fetch_or(&flags, 1u << (long)bit, __ATOMIC_ACQ_REL);
  assert(!(old & (1u << (long)bit)));
  int expected = 5;
  __atomic_compare_exchange_n(&flags, &expected, 9, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
  assert(expected != 5);
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, work, (void *)0);
  pthread_create(&b, 0, work, (void *)1);
  pthread_join(a, 0);
  pthread_join(b, 0);
  __sync_synchronize();
  assert(count == 2 && flags == 3);
}
