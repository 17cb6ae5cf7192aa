#include <stdbool.h>
#include <stdint.h>
#define await_while(condition) while (condition)
#define await_do do
#define while_await(condition) while (condition)
#define MODEL_ASSERT(condition) __palisade_assert(condition)
#define __VERIFIER_loop_begin() ((void)0)
#define __VERIFIER_spin_start() ((void)0)
#define __VERIFIER_spin_end(ok) ((void)(ok))
#define __VERIFIER_loop_bound(bound) ((void)0)
#define __VERIFIER_hp_alloc() ((void *)0)
#define __VERIFIER_local_write(to, value) ((to) = (value))
#define __VERIFIER_read_own(from) (from)
#define __VERIFIER_final_write(to, value) ((to) = (value))
#define __VERIFIER_annotate_begin(kind) ((void)0)
#define __VERIFIER_annotate_end(kind) ((void)0)
#define __VERIFIER_optional(body) body
#define __CONFIRM() ((void)0)
