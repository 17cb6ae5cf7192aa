// Memory that was allocated and never set is read. Copying such a value is allowed, using it is not.
// expect sc safe: violated
#include <assert.h>
#include <stdlib.h>

struct pair {
  int first, second;
};

int main(void) {
  struct pair *p = malloc(sizeof *p), *q = malloc(sizeof *q);
  p->first = 1;
  *q = *p;
  assert(q->first == 1);
  return q->second;
}
