#include <stddef.h>
void *memset(void *to, int byte, size_t size);
void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
static inline size_t strlen(const char *text) {
  size_t length = 0;
  while (text[length])
    length++;
  return length;
}
static inline int strncmp(const char *one, const char *other, size_t most) {
  for (size_t at = 0; at < most; at++) {
    if (one[at] != other[at])
      return one[at] < other[at] ? -1 : 1;
    if (!one[at])
      break;
  }
  return 0;
}
static inline int strcmp(const char *one, const char *other) { return strncmp(one, other, 1L << 40); }
static inline char *strncpy(char *to, const char *from, size_t most) {
  size_t at = 0;
  for (; at < most && from[at]; at++)
    to[at] = from[at];
  for (; at < most; at++)
    to[at] = 0;
  return to;
}
static inline char *strcpy(char *to, const char *from) { return strncpy(to, from, strlen(from) + 1); }
static inline int __palisade_compare_bytes(const unsigned char *one, const unsigned char *other, size_t size) {
  for (size_t at = 0; at < size; at++)
    if (one[at] != other[at])
      return one[at] < other[at] ? -1 : 1;
  return 0;
}
int memcmp(const void *one, const void *other, size_t size);
static inline char *strcat(char *to, const char *from) {
  strcpy(to + strlen(to), from);
  return to;
}
static inline char *strchr(const char *text, int wanted) {
  for (;; text++) {
    if (*text == (char)wanted)
      return (char *)text;
    if (!*text)
      return (char *)0;
  }
}
static inline char *strrchr(const char *text, int wanted) {
  const char *found = (char *)0;
  for (;; text++) {
    if (*text == (char)wanted)
      found = text;
    if (!*text)
      return (char *)found;
  }
}
