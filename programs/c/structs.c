// Structs by value, arrays of structs, unions, designated initial values.
// expect sc safe: holds
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

struct point {
  int x, y;
};
struct shape {
  const char *name;
  struct point corners[2];
  union {
    int radius;
    int width;
  };
};

struct shape shapes[2] = {
    {"first", {{1, 2}, {3, 4}}, {5}},
    {.corners[1] = {.y = 6}, .width = 7},
};
atomic_int ready;

static struct point sum(struct point a, struct point b) {
  struct point result = {a.x + b.x, a.y + b.y};
  return result;
}

void *work(void *unused) {
  if (ready) {
    struct point total = sum(shapes[0].corners[0], shapes[0].corners[1]);
    assert(total.x == 4 && total.y == 6);
    assert(shapes[1].corners[1].y == 6 && shapes[1].radius == 7);
    struct shape copy = shapes[0];
    memset(&copy.corners, 0, sizeof(copy.corners));
    assert(copy.corners[1].x == 0 && copy.radius == 5);
  }
  return 0;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  ready = 1;
}
