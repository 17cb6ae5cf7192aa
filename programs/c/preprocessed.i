// What a compiler's preprocessor leaves of a program: the headers of a machine are part of it, with types of their own for threads and mutexes, and nothing
// in them has a body. The shape is that of the C library's headers; the text is made up.
// expect sc safe: holds
# 1 "preprocessed.c"
# 1 "/usr/include/types.h" 1 3 4
typedef __builtin_va_list __gnuc_va_list;
__extension__ typedef signed long long int __quad_t;
typedef unsigned int size_t;
struct timespec {
  long tv_sec;
  long tv_nsec;
};
enum { PTHREAD_CREATE_JOINABLE, PTHREAD_CREATE_DETACHED };
enum { PTHREAD_MUTEX_TIMED_NP, PTHREAD_MUTEX_RECURSIVE_NP };
struct __inner_list {
  struct __inner_list *__next, *__previous;
};
typedef unsigned long int pthread_t;
typedef union {
  struct {
    int __lock;
    unsigned int __count;
    int __kind;
    struct __inner_list __list;
  } __data;
  char __size[40];
  long int __align;
} pthread_mutex_t;
typedef union {
  char __size[56];
  long int __align;
} pthread_attr_t;
typedef int pthread_once_t;
extern int pthread_create(pthread_t *__restrict __new, const pthread_attr_t *__restrict __attributes, void *(*__start)(void *), void *__restrict __argument)
    __attribute__((__nothrow__)) __attribute__((__nonnull__(1, 3)));
extern int pthread_join(pthread_t __which, void **__result);
extern int pthread_mutex_lock(pthread_mutex_t *__mutex) __attribute__((__nothrow__, __leaf__));
extern int pthread_mutex_unlock(pthread_mutex_t *__mutex) __attribute__((__nothrow__, __leaf__));
extern int pthread_once(pthread_once_t *__control, void (*__initialise)(void));
extern void abort(void) __attribute__((__nothrow__, __leaf__)) __attribute__((__noreturn__));
extern void __assert_fail(const char *__text, const char *__file, unsigned int __line, const char *__function) __attribute__((__nothrow__, __leaf__))
    __attribute__((__noreturn__));
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
# 4 "preprocessed.c" 2
void reach_error() {
  ((void)sizeof((0) ? 1 : 0), __extension__({
     if (0)
       ;
     else
       __assert_fail("0", "preprocessed.c", 4, __extension__ __PRETTY_FUNCTION__);
   }));
}
void __VERIFIER_assert(int condition) {
  if (!(condition)) {
  ERROR: {
    reach_error();
    abort();
  }
  }
  return;
}
pthread_mutex_t mutex = {{0, 0, PTHREAD_MUTEX_TIMED_NP, {((void *)0), ((void *)0)}}};
pthread_once_t once = 0;
int initial, count, both;

void begin(void) { initial = 5; }

void *add(void *unused) {
  pthread_once(&once, begin);
  pthread_mutex_lock(&mutex);
  count = count + initial;
  pthread_mutex_unlock(&mutex);
  __VERIFIER_atomic_begin();
  both = both + 1;
  __VERIFIER_atomic_end();
  return 0;
}

int main() {
  pthread_t a, b;
  pthread_create(&a, ((void *)0), add, ((void *)0));
  pthread_create(&b, ((void *)0), add, ((void *)0));
  pthread_join(a, ((void *)0));
  pthread_join(b, ((void *)0));
  __VERIFIER_assert(count == 10 && both == 2);
  return 0;
}
