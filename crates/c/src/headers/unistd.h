#include <stddef.h>
#include <stdint.h>
/* What a clock says is not followed, as floating-point numbers are not: it may be kept, printed and waited for. */
typedef double time_t;
struct timespec { double tv_sec; double tv_nsec; };
struct timeval { double tv_sec; double tv_usec; };
int sched_yield(void);
unsigned sleep(unsigned seconds);
int usleep(unsigned microseconds);
int nanosleep(const struct timespec *time, struct timespec *rest);
#define SYS_futex 202
#define __NR_futex 202
#define FUTEX_WAIT 0
#define FUTEX_WAKE 1
#define FUTEX_PRIVATE_FLAG 128
#define FUTEX_WAIT_PRIVATE 128
#define FUTEX_WAKE_PRIVATE 129
#define FUTEX_WAIT_BITSET 9
#define FUTEX_WAKE_BITSET 10
#define FUTEX_BITSET_MATCH_ANY 0xffffffff
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
#define TIME_UTC 1
#define _SC_NPROCESSORS_CONF 83
#define _SC_NPROCESSORS_ONLN 84
typedef double clock_t;
typedef int clockid_t;
typedef struct { int unused; } cpu_set_t;
#define CPU_ZERO(set) __palisade_cpus(set)
#define CPU_SET(cpu, set) __palisade_cpus(cpu, set)
