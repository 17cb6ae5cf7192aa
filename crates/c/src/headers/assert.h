#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) __palisade_assert(condition)
#endif
#define static_assert _Static_assert
