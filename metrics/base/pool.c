/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/pool.h"

/* Numbers of blocks in a new pool. Without AddressSanitizer, these are all numbers. */
enum { FIRST_NUMBERS = POOL_BLOCK_UNIT_BITS > 0 ? 1 << (32 - POOL_BLOCK_UNIT_BITS) : 1024 };

struct pool *pool_new(void)
{
    struct pool *p = xcalloc(1, sizeof(*p));

    p->starts = xcalloc(FIRST_NUMBERS, sizeof(*p->starts));
    p->number_capacity = FIRST_NUMBERS;
    p->number_count = 1;
    return p;
}

size_t pool_bytes(const struct pool *p)
{
    return p->bytes;
}

/*
 * Doubles the numbers. Other threads may read the old table: it stays, with its address in the
 * unused first place of the new one.
 */
static void add_numbers(struct pool *p)
{
    char **starts = xcalloc(2 * (size_t)p->number_capacity, sizeof(*starts));

    memcpy(starts, p->starts, p->number_capacity * sizeof(*starts));
    starts[0] = (char *)p->starts;
    p->starts = starts;
    p->number_capacity *= 2;
}

static void free_numbers(struct pool *p)
{
    while (p->starts) {
        char **starts = p->starts;

        p->starts = (char **)(void *)starts[0];
        free(starts);
    }
}

/* Returns the number of a new block that begins at `start`; never 0. */
static uint32_t add_number(struct pool *p, char *start)
{
    uint32_t number = p->number_count;

    for (uint32_t i = 1; p->free_numbers > 0 && i < p->number_count; i++) {
        if (p->starts[i])
            continue;
        p->free_numbers--;
        p->starts[i] = start;
        return i;
    }
    if ((((uint64_t)number + 1) << POOL_BLOCK_UNIT_BITS) > UINT32_MAX)
        memory_exhausted(0);
    if (number == p->number_capacity)
        add_numbers(p);
    p->starts[number] = start;
    p->number_count = number + 1;
    return number;
}

void *pool_alloc_zeroed(struct pool *p, size_t bytes)
{
    return memset(pool_alloc(p, bytes), 0, bytes);
}

#ifdef POOL_SEPARATE_CELLS

void *pool_alloc(struct pool *p, size_t bytes)
{
    struct pool_chunk *header = xmalloc(sizeof(*header) + bytes);
    char *cell = (char *)(header + 1);

    *header = (struct pool_chunk){
        .pool = p, .handle = add_number(p, cell), .cell_bytes = (uint32_t)bytes};
    p->live_cells++;
    p->bytes += bytes;
    return cell;
}

void pool_free(void *cell)
{
    struct pool_chunk *header;

    if (!cell)
        return;
    header = pool_chunk_of(cell);
    header->pool->live_cells--;
    header->pool->bytes -= header->cell_bytes;
    header->pool->starts[header->handle] = NULL; /* The number is not reused: see pool_at(). */
    free(header);
}

pool_handle pool_handle_of(const void *cell)
{
    return cell ? pool_chunk_of(cell)->handle : 0;
}

static bool cell_has_size(const void *cell, size_t bytes)
{
    return pool_chunk_of(cell)->cell_bytes == bytes;
}

void pool_destroy(struct pool *p)
{
    if (!p)
        return;
    assert(p->live_cells == 0);
    free_numbers(p);
    free(p);
}

#else

enum {
    EXACT_UNITS = 32, /* Up to this number of units, each number has a size class. */
    STEPS = 4,        /* Size classes for each doubling above. */
    DOUBLINGS = 5,
    MAX_UNITS = EXACT_UNITS << DOUBLINGS, /* A larger cell has a block of its own. */
    LARGE_CLASS = POOL_CLASS_COUNT,
    BLOCK_CHUNKS = 64, /* Chunks of a block, except of the first ones. */
};

static_assert(sizeof(struct pool_chunk) % POOL_UNIT_BYTES == 0, "cells are aligned");
static_assert(POOL_CLASS_COUNT == EXACT_UNITS + 1 + STEPS * DOUBLINGS, "one list for each class");
static_assert(BLOCK_CHUNKS * POOL_CHUNK_BYTES == POOL_UNIT_BYTES << POOL_BLOCK_UNIT_BITS,
              "handles reach each cell of a block");

/* Memory of some chunks, or of one large cell. */
struct pool_block {
    struct pool_block *previous; /* Neighbours among the blocks that have unused chunks. */
    struct pool_block *next;
    size_t bytes; /* Size of the allocation, which begins with this struct. */
    uint32_t number;
    uint32_t chunk_count;
    uint64_t unused; /* Bits of the chunks without cells. */
};

/* Returns the size class of `units` units, and stores the size of its cells in units. */
static unsigned size_class(size_t units, uint32_t *cell_units)
{
    unsigned doubling = 0;

    *cell_units = units > 0 ? (uint32_t)units : 1;
    if (units <= EXACT_UNITS)
        return *cell_units;
    if (units > MAX_UNITS)
        return LARGE_CLASS;
    while ((size_t)EXACT_UNITS << (doubling + 1) < units)
        doubling++;

    uint32_t base = (uint32_t)EXACT_UNITS << doubling;
    uint32_t step = base / STEPS;
    uint32_t steps = ((uint32_t)units - base + step - 1) / step;

    *cell_units = base + steps * step;
    return EXACT_UNITS + STEPS * doubling + steps;
}

static size_t units_of(size_t bytes)
{
    return bytes / POOL_UNIT_BYTES + (bytes % POOL_UNIT_BYTES > 0);
}

/* ---- blocks ---- */

static void link_block(struct pool *p, struct pool_block *block)
{
    block->previous = NULL;
    block->next = p->open_blocks;
    if (block->next)
        block->next->previous = block;
    p->open_blocks = block;
}

static void unlink_block(struct pool *p, struct pool_block *block)
{
    if (block->previous)
        block->previous->next = block->next;
    else
        p->open_blocks = block->next;
    if (block->next)
        block->next->previous = block->previous;
}

/* Returns the bits of all chunks of a block; `count` is from 1 to BLOCK_CHUNKS. */
static uint64_t all_chunks(uint32_t count)
{
    return UINT64_MAX >> (BLOCK_CHUNKS - count);
}

/* Allocates a block of `count` unused chunks, the last of which ends after `bytes` bytes. */
static struct pool_block *add_block(struct pool *p, uint32_t count, size_t bytes)
{
    size_t total = sizeof(struct pool_block) + POOL_CHUNK_BYTES + bytes;
    struct pool_block *block = total > bytes ? xmalloc(total) : NULL;

    if (!block)
        memory_exhausted(SIZE_MAX);

    uintptr_t start = (uintptr_t)(block + 1) + POOL_CHUNK_BYTES - 1;

    start &= ~(uintptr_t)(POOL_CHUNK_BYTES - 1);
    *block = (struct pool_block){.bytes = total,
                                 .number = add_number(p, (char *)start),
                                 .chunk_count = count,
                                 .unused = all_chunks(count)};
    link_block(p, block);
    p->unused_chunks += count;
    p->bytes += total;
    return block;
}

static void free_block(struct pool *p, struct pool_block *block)
{
    unlink_block(p, block);
    p->unused_chunks -= block->chunk_count;
    p->bytes -= block->bytes;
    p->starts[block->number] = NULL;
    p->free_numbers++;
    free(block);
}

/* ---- chunks ---- */

static void link_chunk(struct pool *p, struct pool_chunk *chunk)
{
    struct pool_chunk **first = &p->open[chunk->size_class];

    chunk->previous = NULL;
    chunk->next = *first;
    if (*first)
        (*first)->previous = chunk;
    *first = chunk;
}

static void unlink_chunk(struct pool *p, struct pool_chunk *chunk)
{
    if (chunk->previous)
        chunk->previous->next = chunk->next;
    else
        p->open[chunk->size_class] = chunk->next;
    if (chunk->next)
        chunk->next->previous = chunk->previous;
}

/* Takes an unused chunk of the block and prepares it for cells that end before `end`. */
static struct pool_chunk *take_chunk(struct pool *p, struct pool_block *block, unsigned class,
                                     size_t cell_bytes, size_t end)
{
    unsigned index = (unsigned)__builtin_ctzll(block->unused);
    size_t offset = (size_t)index * POOL_CHUNK_BYTES;
    struct pool_chunk *chunk = (void *)(p->starts[block->number] + offset);
    uint32_t units = (uint32_t)(offset / POOL_UNIT_BYTES);

    block->unused &= block->unused - 1;
    p->unused_chunks--;
    if (block->unused == 0)
        unlink_block(p, block);
    *chunk = (struct pool_chunk){.pool = p,
                                 .block = block,
                                 .handle = (block->number << POOL_BLOCK_UNIT_BITS) + units,
                                 .cell_bytes = (uint32_t)cell_bytes,
                                 .fresh = sizeof(*chunk),
                                 .end = (uint32_t)end,
                                 .size_class = class};
    return chunk;
}

/* Returns a chunk without cells to its block, and frees the block if other chunks are unused. */
static void return_chunk(struct pool *p, struct pool_chunk *chunk)
{
    struct pool_block *block = chunk->block;
    uintptr_t offset = (uintptr_t)chunk - (uintptr_t)p->starts[block->number];

    if (block->unused == 0)
        link_block(p, block);
    block->unused |= (uint64_t)1 << (offset / POOL_CHUNK_BYTES);
    p->unused_chunks++;
    if (block->unused == all_chunks(block->chunk_count) &&
        (chunk->size_class == LARGE_CLASS || p->unused_chunks > block->chunk_count))
        free_block(p, block);
}

static struct pool_chunk *add_chunk(struct pool *p, unsigned class, uint32_t cell_units)
{
    size_t cell_bytes = (size_t)cell_units * POOL_UNIT_BYTES;
    size_t room = POOL_CHUNK_BYTES - sizeof(struct pool_chunk);
    uint32_t count = 2;
    struct pool_chunk *chunk;

    /* The first blocks are small, because many pools are. */
    for (uint32_t i = 0; i < p->number_count && count < BLOCK_CHUNKS; i++)
        count *= 2;
    if (!p->open_blocks)
        add_block(p, count, (size_t)count * POOL_CHUNK_BYTES);
    chunk = take_chunk(p, p->open_blocks, class, cell_bytes,
                       sizeof(*chunk) + room / cell_bytes * cell_bytes);
    link_chunk(p, chunk);
    return chunk;
}

/* ---- cells ---- */

static void *alloc_large(struct pool *p, size_t units)
{
    size_t bytes = units * POOL_UNIT_BYTES;
    struct pool_chunk *chunk;

    if (bytes > UINT32_MAX - sizeof(*chunk))
        memory_exhausted(bytes);
    chunk = take_chunk(p, add_block(p, 1, sizeof(*chunk) + bytes), LARGE_CLASS, bytes, 0);
    chunk->live = 1;
    return chunk + 1;
}

void *pool_alloc(struct pool *p, size_t bytes)
{
    uint32_t cell_units;
    unsigned class = size_class(units_of(bytes), &cell_units);
    struct pool_chunk *chunk;
    char *cell;

    p->live_cells++;
    if (class == LARGE_CLASS)
        return alloc_large(p, cell_units);
    chunk = p->open[class] ? p->open[class] : add_chunk(p, class, cell_units);
    if (chunk->freed > 0) {
        cell = (char *)chunk + chunk->freed;
        memcpy(&chunk->freed, cell, sizeof(chunk->freed));
    } else {
        cell = (char *)chunk + chunk->fresh;
        chunk->fresh += chunk->cell_bytes;
    }
    chunk->live++;
    if (chunk->freed == 0 && chunk->fresh == chunk->end)
        unlink_chunk(p, chunk);
    return cell;
}

void pool_free(void *cell)
{
    struct pool_chunk *chunk;
    struct pool *p;

    if (!cell)
        return;
    chunk = pool_chunk_of(cell);
    p = chunk->pool;
    p->live_cells--;
    chunk->live--;
    if (chunk->size_class == LARGE_CLASS) {
        return_chunk(p, chunk);
        return;
    }
    if (chunk->freed == 0 && chunk->fresh == chunk->end)
        link_chunk(p, chunk);
    memcpy(cell, &chunk->freed, sizeof(chunk->freed));
    chunk->freed = (uint32_t)((char *)cell - (char *)chunk);
    /* One empty chunk stays: the next cell of this size is then cheap. */
    if (chunk->live == 0 && (chunk->previous || chunk->next)) {
        unlink_chunk(p, chunk);
        return_chunk(p, chunk);
    }
}

pool_handle pool_handle_of(const void *cell)
{
    const struct pool_chunk *chunk;

    if (!cell)
        return 0;
    chunk = pool_chunk_of(cell);
    return chunk->handle + (pool_handle)(((uintptr_t)cell - (uintptr_t)chunk) / POOL_UNIT_BYTES);
}

static bool cell_has_size(const void *cell, size_t bytes)
{
    const struct pool_chunk *chunk = pool_chunk_of(cell);
    uint32_t cell_units;

    size_class(units_of(bytes), &cell_units);
    return chunk->cell_bytes == (uint64_t)cell_units * POOL_UNIT_BYTES;
}

void pool_destroy(struct pool *p)
{
    if (!p)
        return;
    assert(p->live_cells == 0);
    for (unsigned i = 0; i < POOL_CLASS_COUNT; i++) {
        while (p->open[i]) {
            struct pool_chunk *chunk = p->open[i];

            unlink_chunk(p, chunk);
            return_chunk(p, chunk);
        }
    }
    while (p->open_blocks)
        free_block(p, p->open_blocks);
    free_numbers(p);
    free(p);
}

#endif

void *pool_resize(struct pool *p, void *cell, size_t bytes)
{
    void *resized;
    size_t kept;

    if (cell && cell_has_size(cell, bytes))
        return cell;
    resized = pool_alloc(p, bytes);
    kept = cell ? pool_chunk_of(cell)->cell_bytes : 0;
    if (kept > 0)
        memcpy(resized, cell, kept < bytes ? kept : bytes);
    pool_free(cell);
    return resized;
}
