/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * Memory of many small cells that stay allocated for a long time, such as the objects of a store.
 * Compared with malloc(), a cell has no header, its size is rounded up to eight bytes only, a
 * 32-bit handle can replace its address, and cells do not lie between short-lived allocations.
 *
 * A pool divides blocks of memory into chunks of POOL_CHUNK_BYTES at addresses that are multiples
 * of that. A chunk has a header and cells of one size. Builds with AddressSanitizer allocate each
 * cell with malloc() instead, so that the sanitizer detects invalid accesses and leaks.
 */
struct pool;

/* Handle of a cell; 0 is no cell. A handle is valid in its pool until the cell is freed. */
typedef uint32_t pool_handle;

/* Returns an empty pool. */
struct pool *pool_new(void) MUST_USE;
/* Frees the pool, which may be NULL. All cells must be freed before. */
void pool_destroy(struct pool *p);

/*
 * Return a new cell of `bytes` bytes, aligned to eight bytes; free it with pool_free(). The first
 * function leaves the cell uninitialized, the second one fills it with zeros. They call
 * memory_exhausted() if memory or handles run out: a pool has 32 GiB of handles.
 */
void *pool_alloc(struct pool *p, size_t bytes) MUST_USE;
void *pool_alloc_zeroed(struct pool *p, size_t bytes) MUST_USE;

/*
 * Returns a cell of `bytes` bytes with the contents of `cell` as far as they fit. `cell` is no
 * longer valid, unless it is the result. A NULL `cell` is an empty cell.
 */
void *pool_resize(struct pool *p, void *cell, size_t bytes) MUST_USE;

/* Frees a cell; ignores NULL. */
void pool_free(void *cell);

/* Returns the handle of a cell; 0 for NULL. */
pool_handle pool_handle_of(const void *cell);

/*
 * Returns the cell of a handle; NULL for 0. Another thread may call it for cells that stay
 * allocated, also while the pool grows.
 */
static inline void *pool_at(const struct pool *p, pool_handle handle);

/* Returns the pool of a cell. */
static inline struct pool *pool_of(const void *cell);

/* Returns the cell of a handle in the pool of another cell; NULL for 0. */
static inline void *pool_beside(const void *cell, pool_handle handle)
{
    return pool_at(pool_of(cell), handle);
}

/* Returns the number of bytes that the pool has allocated for its cells, including free space. */
size_t pool_bytes(const struct pool *p);

/* ---- used only by the inline functions and pool.c ---- */

#if defined(__SANITIZE_ADDRESS__)
#define POOL_SEPARATE_CELLS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POOL_SEPARATE_CELLS 1
#endif
#endif

enum {
    POOL_CHUNK_BYTES = 1 << 14,
    POOL_UNIT_BYTES = 8,           /* Handles count the units of a block. */
    POOL_CLASS_COUNT = 33 + 4 * 5, /* See size_class() in pool.c. */
#ifdef POOL_SEPARATE_CELLS
    POOL_BLOCK_UNIT_BITS = 0, /* Each cell is a block. */
#else
    POOL_BLOCK_UNIT_BITS = 17, /* The chunks of a block have at most 1 MiB. */
#endif
};

/* Header of a chunk; in builds with AddressSanitizer the header of a cell. */
struct pool_chunk {
    struct pool *pool;
    struct pool_block *block;
    struct pool_chunk *previous; /* Neighbours among the chunks of one size with free cells. */
    struct pool_chunk *next;
    pool_handle handle;  /* Handle of the header; that of a cell is larger by its offset. */
    uint32_t cell_bytes; /* Size of its cells. */
    uint32_t live;       /* Number of cells in use. */
    uint32_t freed;      /* Offset of the first freed cell, which has the next offset; 0: none. */
    uint32_t fresh;      /* Offset of the first cell that was never in use. */
    uint32_t end;        /* Offset of the end of the last cell. */
    uint32_t size_class;
};

struct pool {
    char *
        *starts; /* Start of each block by number; NULL for unused numbers. Number 0 is no block. */
    uint32_t number_count;
    uint32_t number_capacity;
    uint32_t free_numbers;
    size_t live_cells;
    size_t unused_chunks;
    size_t bytes;
    struct pool_block *open_blocks;            /* Blocks that have unused chunks. */
    struct pool_chunk *open[POOL_CLASS_COUNT]; /* Chunks that have free cells, by size class. */
};

static inline struct pool_chunk *pool_chunk_of(const void *cell)
{
#ifdef POOL_SEPARATE_CELLS
    return (struct pool_chunk *)(uintptr_t)cell - 1;
#else
    return (struct pool_chunk *)((uintptr_t)cell & ~(uintptr_t)(POOL_CHUNK_BYTES - 1));
#endif
}

static inline struct pool *pool_of(const void *cell)
{
    return pool_chunk_of(cell)->pool;
}

static inline void *pool_at(const struct pool *p, pool_handle handle)
{
    uint32_t unit = handle & ((1U << POOL_BLOCK_UNIT_BITS) - 1);

    if (handle == 0)
        return NULL;
    return p->starts[handle >> POOL_BLOCK_UNIT_BITS] + (size_t)unit * POOL_UNIT_BYTES;
}
