#include <stdbool.h>
#include <stdint.h>
#define await_while(condition) while (condition)
#define await_do do
#define while_await(condition) while (condition)
#define MODEL_ASSERT(condition) __palisade_assert(condition)
#define __VERIFIER_read_own(from) (from)
#define store_8(to, value) (*(to) = (value))
#define store_16(to, value) (*(to) = (value))
#define store_32(to, value) (*(to) = (value))
#define store_64(to, value) (*(to) = (value))
#define load_8(from) (*(from))
#define load_16(from) (*(from))
#define load_32(from) (*(from))
#define load_64(from) (*(from))
#define __CONFIRM() ((void)0)
typedef long __VERIFIER_thread_t;
typedef struct { void *unused; } __VERIFIER_hp_t;
typedef __VERIFIER_hp_t __VERIFIER_hazptr_t;
#define __VERIFIER_local_write(statement) do { statement; } while (0)
#define __VERIFIER_final_write(statement) do { statement; } while (0)
#define __VERIFIER_helped_CAS(statement) do { statement; } while (0)
#define __VERIFIER_helping_CAS(statement) do { statement; } while (0)
#define __VERIFIER_speculative_read(value) (value)
#define __VERIFIER_confirming_read(value) (value)
#define __VERIFIER_confirming_CAS(value) (value)
#define __VERIFIER_final_CAS(value) (value)
#define __VERIFIER_optional(body) do { if (__VERIFIER_opt_begin()) { body; __VERIFIER_assume(0); } } while (0)
#define __VERIFIER_hp_alloc() ((__VERIFIER_hp_t *)0)
#define __VERIFIER_hp_protect(hp, place) ((void *)__atomic_load_n((place), __ATOMIC_ACQUIRE))
#define __VERIFIER_hp_clear(hp) __VERIFIER_hazptr_clear(hp)
#define __VERIFIER_hp_free(hp) __VERIFIER_hazptr_free(hp)
#define __VERIFIER_hp_retire(p) __VERIFIER_hazptr_retire(p)
