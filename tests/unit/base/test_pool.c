/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/pool.h"

#include "tests/unit/number_sequence.h"
#include "tests/unit/suite.h"

enum { CELLS = 3000, STEPS = 200000 };

/* A cell of the model: all its bytes have the value `mark`. */
struct known_cell {
    unsigned char *bytes; /* NULL if free. */
    pool_handle handle;
    size_t size;
    unsigned char mark;
};

/* Returns a size: mostly small, at times of each size class, at times with a block of its own. */
static size_t random_size(uint64_t *random)
{
    uint32_t kind = next_random(random) % 1000;

    if (kind < 900)
        return next_random(random) % 300;
    if (kind < 998)
        return next_random(random) % 9000;
    return next_random(random) % 300000;
}

static void check_cell(const struct pool *p, const struct known_cell *cell)
{
    assert_ptr_equal(pool_at(p, cell->handle), cell->bytes);
    assert_int_equal(pool_handle_of(cell->bytes), cell->handle);
    assert_ptr_equal(pool_of(cell->bytes), p);
    for (size_t i = 0; i < cell->size; i++)
        assert_int_equal(cell->bytes[i], cell->mark);
}

static void set_cell(struct known_cell *cell, void *bytes, size_t size, unsigned char mark)
{
    assert_int_equal((uintptr_t)bytes % 8, 0);
    *cell = (struct known_cell){bytes, pool_handle_of(bytes), size, mark};
    memset(bytes, mark, size);
}

static void free_cell(struct known_cell *cell)
{
    pool_free(cell->bytes);
    *cell = (struct known_cell){0};
}

TEST(cells_keep_their_bytes_and_handles)
{
    struct known_cell *cells = xcalloc(CELLS, sizeof(*cells));
    struct pool *p = pool_new();
    uint64_t random = 20261128;

    for (unsigned step = 0; step < STEPS; step++) {
        struct known_cell *cell = &cells[next_random(&random) % CELLS];
        size_t size = random_size(&random);
        /* The pool grows and shrinks in turn, so that chunks and blocks are freed. */
        bool growing = step / 20000 % 2 == 0;

        if (cell->bytes)
            check_cell(p, cell);
        if (cell->bytes && next_random(&random) % 4 == 0) {
            size_t kept = size < cell->size ? size : cell->size;
            unsigned char mark = cell->mark;

            set_cell(cell, pool_resize(p, cell->bytes, size), kept, mark);
            cell->size = kept;
        } else if (cell->bytes && next_random(&random) % 4 >= (growing ? 3 : 1)) {
            free_cell(cell);
        } else if (!cell->bytes && growing) {
            set_cell(cell, pool_alloc(p, size), size, (unsigned char)step);
        }
    }
    for (size_t i = 0; i < CELLS; i++) {
        if (cells[i].bytes)
            check_cell(p, &cells[i]);
        free_cell(&cells[i]);
    }
    pool_destroy(p);
    free(cells);
}

TEST(resized_cells_keep_their_first_bytes)
{
    static const char text[] = "the first bytes";
    struct pool *p = pool_new();
    char *cell = pool_resize(p, NULL, sizeof(text));

    memcpy(cell, text, sizeof(text));
    for (size_t size = sizeof(text); size < 200000; size = size * 3 / 2) {
        cell = pool_resize(p, cell, size);
        assert_string_equal(cell, text);
    }
    cell = pool_resize(p, cell, sizeof(text));
    assert_string_equal(cell, text);
    pool_free(cell);
    pool_destroy(p);
}

TEST(cells_can_be_filled_with_zeros)
{
    static const char zeros[100];
    struct pool *p = pool_new();
    char *first = pool_alloc(p, sizeof(zeros));

    memset(first, 1, sizeof(zeros));
    pool_free(first);
    first = pool_alloc_zeroed(p, sizeof(zeros));
    assert_memory_equal(first, zeros, sizeof(zeros));
    pool_free(first);
    pool_destroy(p);
}

TEST(handle_0_is_no_cell)
{
    struct pool *p = pool_new();
    void *cell = pool_alloc(p, 0);

    assert_int_equal(pool_handle_of(NULL), 0);
    assert_null(pool_at(p, 0));
    assert_int_not_equal(pool_handle_of(cell), 0);
    assert_null(pool_beside(cell, 0));
    assert_ptr_equal(pool_beside(cell, pool_handle_of(cell)), cell);
    pool_free(NULL);
    pool_free(cell);
    pool_destroy(p);
    pool_destroy(NULL);
}

#ifndef POOL_SEPARATE_CELLS

TEST(cells_have_no_header)
{
    enum { COUNT = 200000, SIZE = 72 };
    struct pool *p = pool_new();
    void **cells = xcalloc(COUNT, sizeof(*cells));

    for (size_t i = 0; i < COUNT; i++)
        cells[i] = pool_alloc(p, SIZE);
    assert_true(pool_bytes(p) < (size_t)COUNT * SIZE * 120 / 100);
    for (size_t i = 0; i < COUNT; i++)
        pool_free(cells[i]);
    /* Freed cells return to the C library, except one block. */
    assert_true(pool_bytes(p) < 2 << 20);
    free(cells);
    pool_destroy(p);
}

#endif
