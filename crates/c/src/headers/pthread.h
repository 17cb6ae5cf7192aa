#include <stddef.h>
#include <unistd.h>
typedef unsigned long pthread_t;
typedef struct { int unused; } pthread_attr_t;
typedef struct { int kind; } pthread_mutexattr_t;
typedef struct { int unused; } pthread_condattr_t;
typedef struct { int unused; } pthread_rwlockattr_t;
typedef struct { int unused; } pthread_barrierattr_t;
/* Which thread holds it: 0 where none does, -1 where it was destroyed. */
typedef struct { _Atomic long owner; } pthread_mutex_t;
typedef struct { _Atomic long owner; } pthread_spinlock_t;
typedef struct { int unused; } pthread_cond_t;
/* So many readers, or minus the thread that writes. */
typedef struct { _Atomic long holders; } pthread_rwlock_t;
typedef struct { _Atomic unsigned arrived; unsigned count; _Atomic unsigned round; } pthread_barrier_t;
typedef struct { _Atomic int state; } pthread_once_t;
#define PTHREAD_MUTEX_INITIALIZER { 0 }
#define PTHREAD_COND_INITIALIZER { 0 }
#define PTHREAD_RWLOCK_INITIALIZER { 0 }
#define PTHREAD_ONCE_INIT { 0 }
#define PTHREAD_PROCESS_PRIVATE 0
#define PTHREAD_PROCESS_SHARED 1
#define PTHREAD_BARRIER_SERIAL_THREAD (-1)
#define PTHREAD_CREATE_JOINABLE 0
#define PTHREAD_CREATE_DETACHED 1
#define PTHREAD_MUTEX_NORMAL 0
#define PTHREAD_MUTEX_DEFAULT 0
#define PTHREAD_MUTEX_RECURSIVE 1
#define PTHREAD_MUTEX_ERRORCHECK 2
#define PTHREAD_MUTEX_ADAPTIVE_NP 3
#define PTHREAD_CANCEL_ENABLE 0
#define PTHREAD_CANCEL_DISABLE 1
#define PTHREAD_CANCEL_DEFERRED 0
static inline int pthread_mutexattr_settype(pthread_mutexattr_t *attributes, int kind) { __palisade_not_recursive(kind == PTHREAD_MUTEX_RECURSIVE); return 0; }
static inline int pthread_mutex_init(pthread_mutex_t *mutex, const void *attributes) { __palisade_init(&mutex->owner, 0); return 0; }
static inline int pthread_mutex_destroy(pthread_mutex_t *mutex) { __palisade_never_above(&mutex->owner, 0); __palisade_init(&mutex->owner, -1); return 0; }
static inline int pthread_mutex_lock(pthread_mutex_t *mutex) { __palisade_never(&mutex->owner, -1); __palisade_take(&mutex->owner, 0, pthread_self()); return 0; }
static inline int pthread_mutex_trylock(pthread_mutex_t *mutex) { __palisade_never(&mutex->owner, -1); return __palisade_try(&mutex->owner, 0, pthread_self()) ? 0 : 16; }
static inline int pthread_mutex_unlock(pthread_mutex_t *mutex) { __palisade_never_but(&mutex->owner, pthread_self()); __palisade_put(&mutex->owner, 0); return 0; }
static inline int pthread_spin_init(pthread_spinlock_t *lock, int shared) { __palisade_init(&lock->owner, 0); return 0; }
static inline int pthread_spin_destroy(pthread_spinlock_t *lock) { __palisade_never_above(&lock->owner, 0); __palisade_init(&lock->owner, -1); return 0; }
static inline int pthread_spin_lock(pthread_spinlock_t *lock) { __palisade_never(&lock->owner, -1); __palisade_take(&lock->owner, 0, pthread_self()); return 0; }
static inline int pthread_spin_trylock(pthread_spinlock_t *lock) { __palisade_never(&lock->owner, -1); return __palisade_try(&lock->owner, 0, pthread_self()) ? 0 : 16; }
static inline int pthread_spin_unlock(pthread_spinlock_t *lock) { __palisade_never_but(&lock->owner, pthread_self()); __palisade_put(&lock->owner, 0); return 0; }
/* A wait may end at any time, so it is just an unlock and a lock. */
static inline int pthread_cond_init(pthread_cond_t *condition, const void *attributes) { return 0; }
static inline int pthread_cond_destroy(pthread_cond_t *condition) { return 0; }
static inline int pthread_cond_signal(pthread_cond_t *condition) { return 0; }
static inline int pthread_cond_broadcast(pthread_cond_t *condition) { return 0; }
static inline int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) { pthread_mutex_unlock(mutex); pthread_mutex_lock(mutex); return 0; }
static inline int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until) { pthread_mutex_unlock(mutex); pthread_mutex_lock(mutex); return __VERIFIER_nondet_bool() ? 110 : 0; }
static inline int pthread_rwlock_init(pthread_rwlock_t *lock, const void *attributes) { __palisade_init(&lock->holders, 0); return 0; }
static inline int pthread_rwlock_destroy(pthread_rwlock_t *lock) { return 0; }
static inline int pthread_rwlock_wrlock(pthread_rwlock_t *lock) { __palisade_take(&lock->holders, 0, -(long)pthread_self()); return 0; }
static inline int pthread_rwlock_trywrlock(pthread_rwlock_t *lock) { return __palisade_try(&lock->holders, 0, -(long)pthread_self()) ? 0 : 16; }
static inline int pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
  long holders = __palisade_wait_above(&lock->holders, -1);
  while (!__palisade_try(&lock->holders, holders, holders + 1))
    holders = __palisade_wait_above(&lock->holders, -1);
  return 0;
}
static inline int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock) {
  long holders = __palisade_read(&lock->holders);
  while (holders >= 0) {
    if (__palisade_try(&lock->holders, holders, holders + 1))
      return 0;
    holders = __palisade_read(&lock->holders);
  }
  return 16;
}
static inline int pthread_rwlock_unlock(pthread_rwlock_t *lock) {
  if (__palisade_try(&lock->holders, -(long)pthread_self(), 0))
    return 0;
  /* It is held by none, or another thread writes. */
  __palisade_never_below(&lock->holders, 1);
  __palisade_less(&lock->holders);
  return 0;
}
static inline int pthread_barrier_init(pthread_barrier_t *barrier, const void *attributes, unsigned count) {
  /* A barrier without a count is none, or was destroyed. */
  __palisade_never_above(&barrier->count, 0);
  __palisade_assert(count > 0);
  __palisade_init(&barrier->arrived, 0);
  __palisade_init(&barrier->round, 0);
  barrier->count = count;
  return 0;
}
static inline int pthread_barrier_destroy(pthread_barrier_t *barrier) { __palisade_never(&barrier->count, 0); barrier->count = 0; return 0; }
static inline int pthread_barrier_wait(pthread_barrier_t *barrier) {
  __palisade_never(&barrier->count, 0);
  unsigned count = barrier->count;
  unsigned round = __palisade_read(&barrier->round);
  if (__palisade_more(&barrier->arrived) + 1 == count) {
    __palisade_put(&barrier->arrived, 0);
    __palisade_put(&barrier->round, 1 - round);
    return -1;
  }
  __palisade_wait_not(&barrier->round, round);
  return 0;
}
static inline int pthread_once(pthread_once_t *once, void (*function)(void)) {
  if (__palisade_try(&once->state, 0, 1)) {
    function();
    __palisade_put(&once->state, 2);
  } else {
    __palisade_wait_is(&once->state, 2);
  }
  return 0;
}
static inline int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until) {
  if (__VERIFIER_nondet_bool())
    return 110;
  return pthread_mutex_lock(mutex);
}
/* What each thread keeps for itself by keys. */
typedef unsigned pthread_key_t;
static unsigned __palisade_keys;
static _Thread_local void *__palisade_kept[8];
static inline int pthread_key_create(pthread_key_t *key, void (*destructor)(void *)) {
  __palisade_no_destructor(destructor);
  __palisade_assert(__palisade_keys < 8);
  *key = __palisade_keys++;
  return 0;
}
static inline int pthread_key_delete(pthread_key_t key) { return 0; }
static inline int pthread_setspecific(pthread_key_t key, const void *value) { __palisade_kept[key] = (void *)value; return 0; }
static inline void *pthread_getspecific(pthread_key_t key) { return __palisade_kept[key]; }
