/* The kernel's names, mapped to the atomics of C11. This is not the Linux kernel's memory model:
   dependencies order nothing here, and a full barrier is a seq_cst fence. */
#include <stdatomic.h>
#include <stdint.h>
#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, value) __atomic_store_n(&(x), value, __ATOMIC_RELAXED)
#define ACCESS_ONCE(x) (*(volatile __typeof__(x) *)&(x))
#define smp_mb() atomic_thread_fence(memory_order_seq_cst)
#define smp_rmb() atomic_thread_fence(memory_order_acquire)
#define smp_wmb() atomic_thread_fence(memory_order_release)
#define smp_mb__before_atomic() atomic_thread_fence(memory_order_seq_cst)
#define smp_mb__after_atomic() atomic_thread_fence(memory_order_seq_cst)
#define smp_mb__after_spinlock() atomic_thread_fence(memory_order_seq_cst)
#define smp_mb__after_unlock_lock() atomic_thread_fence(memory_order_seq_cst)
#define barrier() atomic_signal_fence(memory_order_seq_cst)
#define cpu_relax() ((void)0)
#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define smp_store_release(p, value) __atomic_store_n(p, value, __ATOMIC_RELEASE)
#define smp_store_mb(x, value) do { WRITE_ONCE(x, value); smp_mb(); } while (0)
#define rcu_dereference(p) __atomic_load_n(&(p), __ATOMIC_ACQUIRE)
#define rcu_assign_pointer(p, value) __atomic_store_n(&(p), value, __ATOMIC_RELEASE)
#define xchg(p, value) __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST)
#define xchg_relaxed(p, value) __atomic_exchange_n(p, value, __ATOMIC_RELAXED)
#define xchg_acquire(p, value) __atomic_exchange_n(p, value, __ATOMIC_ACQUIRE)
#define xchg_release(p, value) __atomic_exchange_n(p, value, __ATOMIC_RELEASE)
#define cmpxchg(p, old, value) __palisade_cmpxchg(p, old, value, __ATOMIC_SEQ_CST)
#define cmpxchg_relaxed(p, old, value) __palisade_cmpxchg(p, old, value, __ATOMIC_RELAXED)
#define cmpxchg_acquire(p, old, value) __palisade_cmpxchg(p, old, value, __ATOMIC_ACQUIRE)
#define cmpxchg_release(p, old, value) __palisade_cmpxchg(p, old, value, __ATOMIC_RELEASE)
typedef struct { int counter; } atomic_t;
typedef struct { long counter; } atomic64_t;
#define ATOMIC_INIT(value) { (value) }
#define atomic_read(v) READ_ONCE((v)->counter)
#define atomic_set(v, value) WRITE_ONCE((v)->counter, value)
#define atomic_read_acquire(v) smp_load_acquire(&(v)->counter)
#define atomic_set_release(v, value) smp_store_release(&(v)->counter, value)
#define atomic_inc(v) ((void)__atomic_fetch_add(&(v)->counter, 1, __ATOMIC_RELAXED))
#define atomic_dec(v) ((void)__atomic_fetch_sub(&(v)->counter, 1, __ATOMIC_RELAXED))
#define atomic_add(by, v) ((void)__atomic_fetch_add(&(v)->counter, by, __ATOMIC_RELAXED))
#define atomic_sub(by, v) ((void)__atomic_fetch_sub(&(v)->counter, by, __ATOMIC_RELAXED))
#define atomic_inc_return(v) __atomic_add_fetch(&(v)->counter, 1, __ATOMIC_SEQ_CST)
#define atomic_dec_return(v) __atomic_sub_fetch(&(v)->counter, 1, __ATOMIC_SEQ_CST)
#define atomic_add_return(by, v) __atomic_add_fetch(&(v)->counter, by, __ATOMIC_SEQ_CST)
#define atomic_add_return_relaxed(by, v) __atomic_add_fetch(&(v)->counter, by, __ATOMIC_RELAXED)
#define atomic_add_return_acquire(by, v) __atomic_add_fetch(&(v)->counter, by, __ATOMIC_ACQUIRE)
#define atomic_add_return_release(by, v) __atomic_add_fetch(&(v)->counter, by, __ATOMIC_RELEASE)
#define atomic_sub_return(by, v) __atomic_sub_fetch(&(v)->counter, by, __ATOMIC_SEQ_CST)
#define atomic_dec_and_test(v) (__atomic_sub_fetch(&(v)->counter, 1, __ATOMIC_SEQ_CST) == 0)
#define atomic_cmpxchg(v, old, value) cmpxchg(&(v)->counter, old, value)
#define atomic_cmpxchg_acquire(v, old, value) cmpxchg_acquire(&(v)->counter, old, value)
#define atomic_cmpxchg_release(v, old, value) cmpxchg_release(&(v)->counter, old, value)
#define atomic_cmpxchg_relaxed(v, old, value) cmpxchg_relaxed(&(v)->counter, old, value)
#define atomic_xchg(v, value) xchg(&(v)->counter, value)
#define atomic_fetch_add_relaxed(by, v) __atomic_fetch_add(&(v)->counter, by, __ATOMIC_RELAXED)
#define atomic_fetch_add_acquire(by, v) __atomic_fetch_add(&(v)->counter, by, __ATOMIC_ACQUIRE)
#define atomic_fetch_add_release(by, v) __atomic_fetch_add(&(v)->counter, by, __ATOMIC_RELEASE)
typedef struct { _Atomic int locked; } spinlock_t;
typedef spinlock_t arch_spinlock_t;
#define DEFINE_SPINLOCK(name) spinlock_t name = { 0 }
#define __SPIN_LOCK_UNLOCKED(name) { 0 }
static inline void spin_lock_init(spinlock_t *lock) { __palisade_init(&lock->locked, 0); }
static inline void spin_lock(spinlock_t *lock) { __palisade_take(&lock->locked, 0, 1); }
static inline int spin_trylock(spinlock_t *lock) { return __palisade_try(&lock->locked, 0, 1); }
static inline void spin_unlock(spinlock_t *lock) { __palisade_put(&lock->locked, 0); }
#define likely(x) (x)
#define unlikely(x) (x)
#define BUG_ON(x) __palisade_assert(!(x))
#define WARN_ON(x) (x)
