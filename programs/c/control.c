// Loops, switch, goto and what they do to a value.
// expect sc safe: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int input;

static int classify(int value) {
  switch (value) {
  case 0:
    return 10;
  case 1:
  case 2:
    value += 5;
    break;
  default:
    goto other;
  }
  return value;
other:
  for (int i = 0;; i++) {
    if (i == 3)
      break;
    if (i == 1)
      continue;
    value++;
  }
  do
    value--;
  while (value > 20);
  return value;
}

void *set(void *value) {
  input = (int)(long)value;
  return 0;
}

void *get(void *unused) {
  int seen = input;
  int result = classify(seen);
  assert(result == (seen == 0 ? 10 : seen == 2 ? 7 : 20));
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, set, (void *)2);
  pthread_create(&t, 0, set, (void *)30);
  pthread_create(&t, 0, get, 0);
}
