// The initial value of a global means what the file says, whatever the function's own names are that mentions it first.
// expect c20 safe: holds
// expect sc safe: holds
#include <assert.h>
#include <pthread.h>

struct node {
  int value;
  struct node *next;
};

static struct node p = {9, NULL};
static struct node head = {3, &p};

void *work(void *unused) {
  struct node *p = &head;
  assert(p->next->value == 9);
  return NULL;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, work, NULL);
  pthread_join(t, NULL);
}
