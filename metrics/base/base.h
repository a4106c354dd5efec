/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * What every file of the project may use: sizes, attributes, memory that cannot
 * fail, and a list of functions that must not be called.
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

/* Run fn(&variable) when the variable goes out of scope, on every path out. */
#define CLEANUP(fn) __attribute__((cleanup(fn)))

/*
 * Called where so many bytes cannot be had, 0 for an unknown number; does not return. Aborts,
 * unless the program defines another one, which reports it first.
 */
_Noreturn void memory_exhausted(size_t size);

/* Allocate or abort: every input has a ceiling, so no caller can do better. */
void *xmalloc(size_t size) MUST_USE;
void *xcalloc(size_t count, size_t size) MUST_USE;
/* Room for `count` elements of `size` bytes; aborts too where the product does not fit a size_t. */
void *xreallocarray(void *memory, size_t count, size_t size) MUST_USE;
char *xstrdup(const char *s) MUST_USE;
/* The first `len` bytes of `s` as a C string. */
char *xmemdup0(const char *s, size_t len) MUST_USE;

/* For CLEANUP: free what the pointer variable points at. `slot` is the variable's address. */
void free_cleanup(void *slot);

/* Of two times, of one clock. */
static inline int64_t earlier_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* These have a checked twin, keep hidden state, or cannot know their room. */
/* glibc has macros for some, depending on compiler and flags; a macro cannot be poisoned. */
#undef sprintf
#undef vsprintf
#pragma GCC poison strcpy strcat sprintf vsprintf strtok atoi atol atoll strtol strtoul
#pragma GCC poison gmtime localtime
#pragma GCC poison asctime ctime gets
