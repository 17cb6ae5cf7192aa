#include <pthread.h>
typedef pthread_t thrd_t;
typedef pthread_mutex_t mtx_t;
typedef pthread_cond_t cnd_t;
typedef pthread_once_t once_flag;
typedef int (*thrd_start_t)(void *);
#define thread_local _Thread_local
#define ONCE_FLAG_INIT { 0 }
enum { thrd_success = 0, thrd_nomem = 1, thrd_timedout = 2, thrd_busy = 3, thrd_error = 4 };
enum { mtx_plain = 0, mtx_recursive = 1, mtx_timed = 2 };
static inline int mtx_init(mtx_t *mutex, int type) { __palisade_not_recursive(type & mtx_recursive); return pthread_mutex_init(mutex, 0); }
static inline void mtx_destroy(mtx_t *mutex) { pthread_mutex_destroy(mutex); }
static inline int mtx_lock(mtx_t *mutex) { return pthread_mutex_lock(mutex); }
static inline int mtx_trylock(mtx_t *mutex) { return pthread_mutex_trylock(mutex) ? thrd_busy : thrd_success; }
static inline int mtx_unlock(mtx_t *mutex) { return pthread_mutex_unlock(mutex); }
static inline int cnd_init(cnd_t *condition) { return 0; }
static inline void cnd_destroy(cnd_t *condition) { }
static inline int cnd_signal(cnd_t *condition) { return 0; }
static inline int cnd_broadcast(cnd_t *condition) { return 0; }
static inline int cnd_wait(cnd_t *condition, mtx_t *mutex) { return pthread_cond_wait(condition, mutex); }
static inline void call_once(once_flag *flag, void (*function)(void)) { pthread_once(flag, function); }
static inline int mtx_timedlock(mtx_t *mutex, const struct timespec *until) { return pthread_mutex_timedlock(mutex, until) ? thrd_timedout : thrd_success; }
static inline int cnd_timedwait(cnd_t *condition, mtx_t *mutex, const struct timespec *until) { return pthread_cond_timedwait(condition, mutex, until) ? thrd_timedout : thrd_success; }
typedef pthread_key_t tss_t;
typedef void (*tss_dtor_t)(void *);
static inline int tss_create(tss_t *key, tss_dtor_t destructor) { return pthread_key_create(key, destructor); }
static inline void tss_delete(tss_t key) { }
static inline int tss_set(tss_t key, void *value) { return pthread_setspecific(key, value); }
static inline void *tss_get(tss_t key) { return pthread_getspecific(key); }
