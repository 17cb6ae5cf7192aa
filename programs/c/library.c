// More of the libraries: memory of a thread by keys, waits until a time, what text is, arrays of a length that is computed, floating-point numbers that are only
// printed, and unsigned numbers of 64 bits that use all of them.
// expect sc safe: holds
// expect c20 safe: holds
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_key_t key;
static pthread_mutex_t mutex;
static sem_t semaphore;
static int locked, count, threads = 2;

static void say(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vprintf(format, list);
  va_end(list);
}

static uint64_t mix(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 27;
  return x;
}

static void *work(void *number) {
  pthread_setspecific(key, number);
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 1;
  if (pthread_mutex_timedlock(&mutex, &until) == 0) {
    locked++;
    pthread_mutex_unlock(&mutex);
  }
  while (sem_timedwait(&semaphore, &until) != 0)
    ;
  count++;
  sem_post(&semaphore);
  assert(pthread_getspecific(key) == number);
  say("%d\n", *(int *)number);
  return NULL;
}

int main(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&mutex, &attributes);
  pthread_key_create(&key, NULL);
  sem_init(&semaphore, 0, 0);
  assert(strcmp("one", "other") < 0 && strlen("four") == 4 && abs(-3) == 3);
  uint64_t large = 0xfffffffffffffff7ull;
  assert(large >> 60 == 15 && large % 10 == 7 && large / 10 == 1844674407370955160ull);
  assert(mix(large) % 7 == 6 && mix(large) >> 1 == 4870451999830302378ull && mix(1) == 0xbf58477af7ec081aull);
  int n = threads;
  pthread_t t[n];
  int *numbers;
  if (posix_memalign((void **)&numbers, 16, 2 * sizeof(int)) != 0)
    return 1;
  for (int i = 0; i < n; i++) {
    numbers[i] = i;
    pthread_create(&t[i], NULL, work, &numbers[i]);
  }
  sem_post(&semaphore);
  for (int i = 0; i < n; i++)
    pthread_join(t[i], NULL);
  double seconds = clock() / 1000.0;
  printf("%f\n", n / seconds);
  assert(count == 2 && locked <= 2);
}
