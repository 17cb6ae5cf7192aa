#include <stddef.h>
typedef struct __palisade_file { int unused; } FILE;
extern FILE *stdin, *stdout, *stderr;
#define EOF (-1)
int printf(const char *format, ...);
int fprintf(FILE *file, const char *format, ...);
int puts(const char *text);
int putchar(int c);
int fflush(FILE *file);
void perror(const char *text);
