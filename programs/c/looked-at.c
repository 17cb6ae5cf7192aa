// expect sc safe: holds
//
// Numbers that are read with another sign than they were stored with, bytes that are set, texts, and what assembly without instructions sets.

#include <assert.h>
#include <string.h>

struct item { char name[4]; int number; char kind[2]; };
union either { int with; unsigned without; };

int strcmp(const char *, const char *);
int tentative;

old(number, text)
  int number;
  char *text;
{
  return number + text[1];
}

static void fill(unsigned char *bytes, int much) { memset(bytes, much > 1 ? 200 : 1, 3); }

static int next(int *counter) { return ++*counter; }

int main(void) {
  char *text = "\xff" "b";
  unsigned char *bytes = (unsigned char *)text;
  assert(*bytes == 255 && *text == -1 && bytes[0] + 1 == 256);

  int numbers[2] = { -1, 5 };
  unsigned others[2];
  memcpy(others, numbers, sizeof others);
  assert(others[0] == 0xffffffffu && others[0] > 5 && *(unsigned *)&numbers[1] == 5);

  union either either = { .with = -2 };
  assert(either.without == 0xfffffffeu);

  unsigned char set[4] = { 0 };
  fill(set, 2);
  assert(set[0] == 200 && set[2] == 200 && set[3] == 0);
  int times = 6;
  memset(set, ++times, 4);
  assert(times == 7 && set[3] == 7);

  struct item item = { "abc", 7, "k" };
  void *whole = &item;
  memset(whole, 0, sizeof(struct item));
  assert(item.name[1] == 0 && item.number == 0 && item.kind[0] == 0);

  assert(strlen(text + 1) == 1 && *strchr(text, 'b') == 'b' && strrchr(text, 'x') == NULL);
  char joined[6] = "ab";
  strcat(joined, "cd");
  assert(strcmp(joined, "abcd") == 0 && __builtin_strlen(joined) == 4);
  assert(strcmp(__func__, "main") == 0 && old(1, "ab") == 99);

  assert(memcmp(joined, "abce", 4) < 0 && memcmp(joined, "abce", 3) == 0 && memcmp(text, joined, 1) > 0);

  int counter = 0, copy;
  asm("" : "=r"(copy) : "0"(counter + 4));
  asm("" : "+r"(copy) : "r"(next(&counter)));
  assert(copy == 4 && counter == 1);
  assert(_Alignof(struct item) == 4 && _Alignof(char[8]) == 1);

  int tentative = 3;
  {
    extern int tentative;
    assert(tentative == 0);
  }
  assert(tentative == 3);
}
