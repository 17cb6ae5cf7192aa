// A variable of a function is shared with a thread that the function waits for.
// expect sc safe: holds
// expect c20 safe: holds
#include <assert.h>
#include <pthread.h>

void *set(void *p) {
  *(int *)p = 42;
  return NULL;
}

static int answer(void) {
  int variable = 0;
  pthread_t thread;
  pthread_create(&thread, NULL, set, &variable);
  pthread_join(thread, NULL);
  return variable;
}

int main(void) {
  assert(answer() == 42);
  assert(answer() == 42);
}
