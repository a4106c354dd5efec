/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Base of all files: standard headers, attributes, memory functions that never return NULL, and a
 * list of forbidden C library functions.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ARRAY_LEN(a)           (sizeof(a) / sizeof((a)[0]))
#define MUST_USE               __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))

/* Calls fn(&variable) when the variable goes out of scope, on every path. */
#define CLEANUP(fn) __attribute__((cleanup(fn)))

/*
 * Called after a failed allocation of `size` bytes (0 if unknown, SIZE_MAX if the size overflows);
 * does not return. The weak definition in base.c aborts. A program can define a function of this
 * name that logs the failure first.
 */
_Noreturn void memory_exhausted(size_t size);

/*
 * These functions allocate memory, and call memory_exhausted() if that fails. They never return
 * NULL, even for a size of 0. The caller frees the memory.
 */
void *xmalloc(size_t size) MUST_USE;
void *xcalloc(size_t count, size_t size) MUST_USE;
/* Resizes `memory`, or allocates it if NULL, to `count` elements of `size` bytes. */
void *xreallocarray(void *memory, size_t count, size_t size) MUST_USE;
char *xstrdup(const char *s) MUST_USE;
/* Returns the first `len` bytes of `s` as a C string, owned by the caller. */
char *xmemdup0(const char *s, size_t len) MUST_USE;

/* Frees the memory that a variable declared with CLEANUP(free_cleanup) points to. */
void free_cleanup(void *variable);

/* Return the earlier and the later of two times of the same clock. */
static inline int64_t earlier_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t later_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/*
 * Forbidden functions: they write without a maximum size, accept text that is no number, or use
 * static memory. glibc may define sprintf as a macro, which cannot be poisoned: #undef comes first.
 */
#undef sprintf
#undef vsprintf
#pragma GCC poison strcpy strcat sprintf vsprintf strtok atoi atol atoll strtol strtoul
#pragma GCC poison gmtime localtime
#pragma GCC poison asctime ctime gets
