// Functions chosen by a table.
// expect sc safe: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int which;
int add(int a, int b) { return a + b; }
int multiply(int a, int b) { return a * b; }
int (*const table[])(int, int) = {add, multiply};

void *chooser(void *unused) {
  which = 1;
  return 0;
}

void *user(void *unused) {
  int (*operation)(int, int) = table[which];
  int result = operation(3, 4);
  assert(result == 7 || result == 12);
  return 0;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, chooser, 0);
  pthread_create(&b, 0, user, 0);
}
