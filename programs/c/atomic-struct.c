// Atomic structs: members of all widths, with and without a sign, as initial values, by exchange, as members of structs and arrays, and by pointers.
// expect sc safe: holds
// expect c20 safe: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

typedef struct {
  int8_t small;
  uint16_t middle;
  int32_t large;
} mixed_t;

struct holder {
  int before;
  _Atomic mixed_t mixed;
  int after;
};

static int target;
static _Atomic mixed_t given = {-3, 65535, -70000};
static struct holder holders[2] = {[1] = {.before = 7, .mixed = {.large = 5}, .after = 9}};
static _Atomic(struct { int *place; int64_t number; }) wide = {&target, 12};

static void *change(void *pointer) {
  _Atomic(mixed_t) *mixed = pointer;
  mixed_t old = atomic_exchange(mixed, ((mixed_t){.small = 1, .middle = 2, .large = 3}));
  assert(old.small == 0 && old.middle == 0 && old.large == 5);
  return NULL;
}

int main(void) {
  mixed_t m = atomic_load(&given);
  assert(m.small == -3 && m.middle == 65535 && m.large == -70000);
  __typeof__(atomic_load(&wide)) w = wide;
  assert(w.place == &target && w.number == 12);
  pthread_t t;
  pthread_create(&t, NULL, change, &holders[1].mixed);
  m = atomic_load_explicit(&holders[1].mixed, memory_order_relaxed);
  assert(m.large == 5 || m.small + m.middle + m.large == 6);
  pthread_join(t, NULL);
  mixed_t expected = {1, 2, 4};
  assert(!atomic_compare_exchange_strong(&holders[1].mixed, &expected, m));
  assert(expected.large == 3);
  expected.small = -expected.small;
  holders[0].mixed = expected;
  mixed_t copy = holders[0].mixed;
  assert(copy.small == -1 && copy.middle == 2 && copy.large == 3);
  assert(holders[1].before == 7 && holders[1].after == 9);
}
