/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Base of all files: standard headers, attributes, memory functions that abort instead of returning
 * NULL, and a list of forbidden C library functions.
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
 * Called after a failed allocation of `size` bytes, 0 if unknown; does not return. This weak
 * definition aborts; a program may define another one that logs the failure first.
 */
_Noreturn void memory_exhausted(size_t size);

/*
 * These functions allocate memory or abort. Every input has a maximum size, so callers could not
 * handle a failed allocation.
 */
void *xmalloc(size_t size) MUST_USE;
void *xcalloc(size_t count, size_t size) MUST_USE;
/* Resizes memory to `count` elements of `size` bytes; aborts also if the product overflows. */
void *xreallocarray(void *memory, size_t count, size_t size) MUST_USE;
char *xstrdup(const char *s) MUST_USE;
/* Returns the first `len` bytes of `s` as a C string, owned by the caller. */
char *xmemdup0(const char *s, size_t len) MUST_USE;

/* For CLEANUP of a pointer to allocated memory; `slot` is the address of the pointer. */
void free_cleanup(void *slot);

/* Returns the earlier of two times of the same clock. */
static inline int64_t earlier_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/*
 * Forbidden functions: without a size of the destination, without error reporting, or with static
 * state. glibc defines some as macros, which cannot be poisoned, so they are undefined first.
 */
#undef sprintf
#undef vsprintf
#pragma GCC poison strcpy strcat sprintf vsprintf strtok atoi atol atoll strtol strtoul
#pragma GCC poison gmtime localtime
#pragma GCC poison asctime ctime gets
