// The member of a node that may not be there: it is an error, and not what happens to have a small address.
// expect c20 safe: violated
// expect sc safe: violated
#include <pthread.h>
#include <stdatomic.h>

struct node {
  int key;
  int value;
  struct node *next;
};

int keys = 3;
int values = 4;
static struct node last;
static struct node first = {1, 2, &last};
struct node *_Atomic head = &first;

void *remover(void *unused) {
  head = 0;
  return NULL;
}

void *reader(void *unused) {
  struct node *node = head;
  return node->next ? node->next : &last;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, remover, NULL);
  pthread_create(&t, NULL, reader, NULL);
}
