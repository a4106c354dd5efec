/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <malloc.h>

#include "metrics/base/base.h"

/* 1 if heap_bytes() is valid; 0 with sanitizers, which replace malloc(). */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HEAP_COUNTS 0
#elif defined(__has_feature)
#define HEAP_COUNTS (!__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer))
#else
#define HEAP_COUNTS 1
#endif

/* Returns the allocated bytes, including large blocks, which malloc() maps separately. */
static inline size_t heap_bytes(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}
