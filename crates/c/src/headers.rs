//! The headers that are in the binary, so that a C file needs no others.

use crate::lex::Token;

/// What is defined before the first line.
pub const PREDEFINED: &[(&str, &str)] = &[
    ("__STDC__", "1"),
    ("__STDC_VERSION__", "201112L"),
    ("__STDC_HOSTED__", "1"),
    ("__GNUC__", "4"),
    ("__GNUC_MINOR__", "2"),
    ("__x86_64__", "1"),
    ("__LP64__", "1"),
    ("__linux__", "1"),
    ("__unix__", "1"),
    ("__CHAR_BIT__", "8"),
    ("__SIZEOF_POINTER__", "8"),
    ("__SIZEOF_INT__", "4"),
    ("__SIZEOF_LONG__", "8"),
    ("__ATOMIC_RELAXED", "0"),
    ("__ATOMIC_CONSUME", "1"),
    ("__ATOMIC_ACQUIRE", "2"),
    ("__ATOMIC_RELEASE", "3"),
    ("__ATOMIC_ACQ_REL", "4"),
    ("__ATOMIC_SEQ_CST", "5"),
    ("__ORDER_LITTLE_ENDIAN__", "1234"),
    ("__ORDER_BIG_ENDIAN__", "4321"),
    ("__BYTE_ORDER__", "1234"),
    ("__INT_MAX__", "0x7fffffff"),
    ("__LONG_MAX__", "0x7fffffffffffffffL"),
    ("__LONG_LONG_MAX__", "0x7fffffffffffffffLL"),
    ("__SCHAR_MAX__", "0x7f"),
    ("__SHRT_MAX__", "0x7fff"),
    ("__SIZEOF_SHORT__", "2"),
    ("__SIZEOF_LONG_LONG__", "8"),
    ("__SIZEOF_SIZE_T__", "8"),
    ("__SIZE_TYPE__", "unsigned long"),
    ("__PTRDIFF_TYPE__", "long"),
    ("__INTPTR_TYPE__", "long"),
    ("__UINTPTR_TYPE__", "unsigned long"),
    ("__WCHAR_TYPE__", "int"),
    ("__INT8_TYPE__", "signed char"),
    ("__INT16_TYPE__", "short"),
    ("__INT32_TYPE__", "int"),
    ("__INT64_TYPE__", "long"),
    ("__UINT8_TYPE__", "unsigned char"),
    ("__UINT16_TYPE__", "unsigned short"),
    ("__UINT32_TYPE__", "unsigned int"),
    ("__UINT64_TYPE__", "unsigned long"),
    ("__PALISADE__", "1"),
];

/// Whether a file is one of these, by the name that it has in a source.
pub fn is_own(file: &str) -> bool {
    file.starts_with('<')
}

/// Which of these headers a text needs that a compiler's preprocessor has made: the machine's headers are part of it then, and define the types of threads,
/// but nothing has a body.
pub fn behind(tokens: &[Token]) -> Vec<&'static str> {
    const TYPES: &[(&str, &str)] = &[
        ("pthread_t", "pthread.h"),
        ("sem_t", "semaphore.h"),
        ("thrd_t", "threads.h"),
    ];
    let defines = |name: &str| {
        let mut pairs = tokens.windows(2);
        pairs.any(|pair| pair[0].is_name(name) && pair[1].is(";"))
    };
    let needed = TYPES.iter().filter(|(name, _)| defines(name));
    let mut headers: Vec<_> = needed.map(|(_, header)| *header).collect();
    if !headers.is_empty() {
        headers.extend(["string.h", "stdlib.h"]);
    }
    headers
}

/// The headers with bodies of functions that a text calls without including them: those that it has declared itself, and those that compilers know.
pub fn behind_calls(tokens: &[Token]) -> Vec<&'static str> {
    const WITH_BODIES: &[(&str, &str)] = &[
        ("memcmp", "string.h"),
        ("strlen", "string.h"),
        ("strcmp", "string.h"),
        ("strncmp", "string.h"),
        ("strcpy", "string.h"),
        ("strncpy", "string.h"),
        ("strcat", "string.h"),
        ("strchr", "string.h"),
        ("strrchr", "string.h"),
        ("abs", "stdlib.h"),
        ("labs", "stdlib.h"),
        ("llabs", "stdlib.h"),
    ];
    let called = |name: &str| {
        let mut pairs = tokens.windows(2);
        pairs.any(|pair| {
            let word = &*pair[0].text;
            let plain = word.strip_prefix("__builtin_").unwrap_or(word);
            plain == name && pair[1].is("(")
        })
    };
    let mut headers = Vec::new();
    for (name, header) in WITH_BODIES {
        if !headers.contains(header) && called(name) {
            headers.push(*header);
        }
    }
    headers
}

/// A header of that name.
pub fn find(name: &str) -> Option<&'static str> {
    Some(match name {
        "stdatomic.h" => include_str!("headers/stdatomic.h"),
        "pthread.h" => include_str!("headers/pthread.h"),
        "threads.h" => include_str!("headers/threads.h"),
        "stdint.h" | "inttypes.h" => include_str!("headers/stdint.h"),
        "stddef.h" | "sys/types.h" => include_str!("headers/stddef.h"),
        "stdlib.h" | "malloc.h" | "alloca.h" => include_str!("headers/stdlib.h"),
        "stdbool.h" => include_str!("headers/stdbool.h"),
        "assert.h" => include_str!("headers/assert.h"),
        "stdio.h" => include_str!("headers/stdio.h"),
        "string.h" | "strings.h" | "memory.h" => include_str!("headers/string.h"),
        "limits.h" => include_str!("headers/limits.h"),
        "errno.h" => include_str!("headers/errno.h"),
        "semaphore.h" => include_str!("headers/semaphore.h"),
        "unistd.h" | "sched.h" | "time.h" | "sys/syscall.h" | "linux/futex.h" | "sys/time.h" => {
            include_str!("headers/unistd.h")
        }
        "palisade/linux.h" | "lkmm.h" => include_str!("headers/linux.h"),
        "genmc.h" | "genmc_internal.h" | "verifier.h" | "dat3m.h" | "nidhugg.h"
        | "model-assert.h" | "librace.h" => include_str!("headers/verifier.h"),
        "stdalign.h" => "#define alignas _Alignas\n#define alignof _Alignof\n",
        "stdnoreturn.h" => "#define noreturn _Noreturn\n",
        "sys/cdefs.h" => "#define __BEGIN_DECLS\n#define __END_DECLS\n",
        "err.h" => "#include <stddef.h>\n",
        "stdarg.h" => {
            "typedef void *va_list;\n#define va_start(list, last) ((list) = (void *)0)\n#define va_end(list) ((void)(list))\n#define va_arg(list, type) __builtin_va_arg(list, type)\n#define va_copy(to, from) ((to) = (from))\n"
        }
        "signal.h" | "ctype.h" | "math.h" | "fcntl.h" | "sys/mman.h" | "sys/wait.h"
        | "sys/stat.h" | "locale.h" | "float.h" | "emmintrin.h" | "immintrin.h" | "x86intrin.h"
        | "xmmintrin.h" => "",
        _ => return None,
    })
}
