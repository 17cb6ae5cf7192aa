// A struct that is set in part may be copied, and what was set may be used.
// expect sc safe: holds
#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct pair {
  int first, second;
};

int main(void) {
  struct pair *p = malloc(sizeof *p), *q = malloc(sizeof *q), local;
  int from[2], to[2];
  p->first = 1;
  *q = *p;
  local = *q;
  memcpy(p, &local, sizeof local);
  from[0] = 2;
  for (int i = 0; i < 2; i++)
    to[i] = from[i];
  (void)from;
  assert(p->first + to[0] == 3);
}
