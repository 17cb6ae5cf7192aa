// expect sc safe: holds
// expect c20 safe: holds
//
// A struct that is a variable of a function comes back whole when it is returned, also where its address was taken or kept.

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

struct range { long first, last; char name; };
struct range *kept;
atomic_int done;

static struct range made(long first, long last) {
  struct range range = { first, last, 'r' };
  long *end = &range.last;
  ++*end;
  return range;
}

struct range wider(struct range range, int by) {
  struct range result;
  kept = &result;
  result = range;
  result.last += by;
  kept = 0;
  if (by > 1)
    return wider(result, by - 1);
  return result;
}

struct range (*widen)(struct range, int) = wider;

void *work(void *unused) {
  struct range range = made(3, 4);
  range = wider(range, 1);
  assert(range.first == 3 && range.last == 6 && range.name == 'r');
  atomic_store(&done, 1);
  return 0;
}

int main(void) {
  struct range range = ({ made(1, 2); });
  assert(range.first == 1 && range.last == 3 && range.name == 'r');
  assert(widen(made(5, 6), 2).last == 10);
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  assert(made(0, 8).last == 9);
  pthread_join(thread, 0);
  assert(atomic_load(&done));
}
