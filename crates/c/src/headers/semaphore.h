#include <stdatomic.h>
#include <unistd.h>
typedef struct { _Atomic unsigned value; } sem_t;
static inline int sem_init(sem_t *semaphore, int shared, unsigned value) { __palisade_init(&semaphore->value, value); return 0; }
static inline int sem_destroy(sem_t *semaphore) { return 0; }
static inline int sem_post(sem_t *semaphore) { __palisade_more(&semaphore->value); return 0; }
static inline int sem_wait(sem_t *semaphore) {
  unsigned value = __palisade_wait_not(&semaphore->value, 0);
  while (!__palisade_try(&semaphore->value, value, value - 1))
    value = __palisade_wait_not(&semaphore->value, 0);
  return 0;
}
static inline int sem_trywait(sem_t *semaphore) {
  unsigned value = __palisade_read(&semaphore->value);
  while (value != 0) {
    if (__palisade_try(&semaphore->value, value, value - 1))
      return 0;
    value = __palisade_read(&semaphore->value);
  }
  return -1;
}
static inline int sem_timedwait(sem_t *semaphore, const struct timespec *until) {
  if (__VERIFIER_nondet_bool())
    return -1;
  return sem_wait(semaphore);
}
static inline int sem_getvalue(sem_t *semaphore, int *value) { *value = __palisade_read(&semaphore->value); return 0; }
