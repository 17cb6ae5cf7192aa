// expect sc safe: holds
//
// What is known before the program runs: constants in declarations, literals outside functions, choices by type, conditions of the preprocessor.

#include <assert.h>

#if 0 && (1 / 0) || (1 ? 0 : 1 % 0)
#error "the side that does not count is not computed"
#endif
#if -1 < 0u || (0 ? 1u : -1) < 0
#error "beside a number without a sign, none is negative"
#endif
#line 500
#if __LINE__ != 500
#error "the line has the number that was said"
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define SHOWN(x) JOIN(x, _shown)
#define BOTH(a, b) a##b + 1
#define AROUND(a, b, c) JOIN_(a, b)##c

#define KEPT 1
#pragma push_macro("KEPT")
#undef KEPT
#define KEPT 2
#pragma pop_macro("KEPT")

struct point { int x, y; };
struct point flat[] = { 1, 2, 3, 4, { 5 } };
int rows[][2] = { 1, 2, 3 };
struct point *origin = &(struct point){ 3, 4 };
struct point copy = (struct point){ .y = 7 };
int *numbers = (int[]){ 5, 6, 7 };
struct { int *first; struct point *second; } pair = { &(int){ 9 }, &(struct point){ 1 } };

struct outer { int before; struct { int first, second; } inner; } outer = { .inner = 6, 7 };

enum { NARROW = (unsigned char)300, TOP = ~0u >> 31, SIZE = sizeof(int), HIGH = 1 ? 0xffffffffu : 1, SHORT = 0 && 1 / 0 };

int known[];
int other = 11;
int known[3];

static int sum(int values[static 2], int count[volatile 1]) { return values[0] + values[1] + count[0]; }

static int side(int *changed) { return ++*changed; }

static int kind(unsigned long long number) {
  switch (number) {
  case 0 ... 9:
    return 1;
  case 10 ... 0xffffffffffffff00ULL:
    return 2;
  case 0xffffffffffffffffULL:
    return 3;
  }
  return 4;
}

int main(void) {
  int line_shown = 21;
  assert(JOIN(SHO, WN)(line) == 21);
  assert(BOTH(line, _shown) == 22 && BOTH(, line_shown) == 22 && BOTH(line_shown, ) == 22);

  goto inside;
  {
    int a[1 && 1], b[0 || 2], c[1 ? 3 : -1], d[sizeof(int) > 2 && sizeof(long)];
  inside:
    a[0] = b[0] = c[2] = d[0] = 1;
    assert(a[0] + b[0] + c[2] + d[0] == 4);
  }

  int changed = 0;
  const char *text = "a";
  assert(_Generic(side(&changed), long: 1, int: 2) == 2 && changed == 0);
  assert(_Generic(text, char *: 1, const char *: 2) == 2);
  assert(_Generic(numbers, const int *: 1, int *: 2, default: 3) == 2);
  assert(_Generic("text", char *: 1, default: 2) == 1);

  assert(NARROW == 44 && TOP == 1 && SIZE == 4 && HIGH > 0 && SHORT == 0);
  assert(sizeof(float) == 4 && _Generic((float)1, double: 1, float: 2) == 2);
  assert(!__builtin_types_compatible_p(char *, const char *) && __builtin_types_compatible_p(const int, int));
  assert(((int (__attribute__((noinline)) *)(int *))side)(&changed) == 1);
  assert(KEPT == 1 && sizeof flat == 24 && flat[1].y == 4 && flat[2].x == 5 && sizeof rows == 16 && rows[1][0] == 3);

  assert(origin->x == 3 && origin->y == 4 && copy.x == 0 && copy.y == 7);
  assert(numbers[2] == 7 && *pair.first == 9 && pair.second->x == 1 && pair.second->y == 0);
  assert(outer.before == 0 && outer.inner.first == 6 && outer.inner.second == 7);

  char letters[4] = "b";
  assert(letters[0] == 'b' && letters[1] == 0 && letters[3] == 0);

  for (int i = 0; i < 3; i++)
    known[i] = i;
  assert(other == 11 && sum(known, numbers) == 6);

  assert(kind(3) == 1 && kind(1ULL << 63) == 2 && kind(-1ULL) == 3 && kind(-2ULL) == 4);
}
