/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/base.h"

__attribute__((weak)) void memory_exhausted(size_t size)
{
    (void)size;
    abort();
}

void *xmalloc(size_t size)
{
    void *memory = malloc(size > 0 ? size : 1);

    if (!memory)
        memory_exhausted(size);
    return memory;
}

/* Returns count * size; SIZE_MAX if the product overflows. */
static size_t saturating_product(size_t count, size_t size)
{
    return size > 0 && count > SIZE_MAX / size ? SIZE_MAX : count * size;
}

void *xcalloc(size_t count, size_t size)
{
    /* calloc() may return NULL for an empty block, which would look like a failure. */
    void *memory = count > 0 && size > 0 ? calloc(count, size) : malloc(1);

    if (!memory)
        memory_exhausted(saturating_product(count, size));
    return memory;
}

void *xreallocarray(void *memory, size_t count, size_t size)
{
    /* reallocarray() with size 0 would free the block and return NULL. */
    bool empty = count == 0 || size == 0;
    void *resized = reallocarray(memory, empty ? 1 : count, empty ? 1 : size);

    if (!resized)
        memory_exhausted(saturating_product(count, size));
    return resized;
}

char *xstrdup(const char *s)
{
    return xmemdup0(s, strlen(s));
}

char *xmemdup0(const char *s, size_t len)
{
    if (len == SIZE_MAX)
        memory_exhausted(len);

    char *copy = xmalloc(len + 1);

    if (len > 0)
        memcpy(copy, s, len);
    copy[len] = '\0';
    return copy;
}

void free_cleanup(void *variable)
{
    void *memory;

    /* The pointer may have any type: reading it as `void *` would violate aliasing rules. */
    memcpy(&memory, variable, sizeof(memory));
    free(memory);
}
