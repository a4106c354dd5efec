/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"
#include "metrics/expose/families.h"
#include "metrics/expose/multiset.h"

/*
 * The rows of one family, each with its text made beforehand: a page is texts
 * and numbers, one after another.
 *
 * A block is what shares the free labels: one cell for each combination of the
 * enumerated ones. Blocks are found by the text of their free labels, so that
 * what reads the same is the same, and go with their last contributor.
 */
struct cell {
    struct block *block;
    union {
        int64_t sum;              /* FOLD_SUM, FOLD_ONSET, FOLD_ZEROS */
        double number;            /* FOLD_SET, FOLD_ONCE */
        struct multiset *minimum; /* FOLD_MIN */
    };
    const char *text; /* `name{labels} ` */
};

struct block {
    struct rows *rows;
    char *key; /* The free labels as text; the cells' texts follow it in the same memory. */
    uint32_t contributors;
    uint32_t present; /* How many of them gave a 0, only to have the rows present. */
    bool gone;
    struct cell cells[];
};

/* What the cells of a family differ in; the same for all blocks. */
struct row_text {
    const char *suffix; /* Of the name: "", "_bucket", ... */
    char *labels;       /* `reason="x",phase="y"` */
};

struct rows {
    const struct family *family;
    unsigned cell_count;
    struct row_text *texts; /* By cell. */
    unsigned *order;        /* Cells as they are shown. */
    uint64_t seed;
    struct map found;
    struct block **blocks; /* The first `sorted` by key; the others, and those gone, as it came. */
    size_t count;
    size_t sorted;
    size_t capacity;
    size_t gone;
};

void rows_init(struct rows *r, const struct family *family, uint64_t seed);
void rows_release(struct rows *r);

/* Append `name="value"` to the text of a key, after a comma if it is not the first. */
void key_add(struct strbuf *key, const char *name, const char *value);

/* The block of a key, made if it is not there yet; it stays from the first block_hold on. */
struct block *rows_get(struct rows *r, const struct strbuf *key);

/* One contributor more. */
static inline void block_hold(struct block *b)
{
    b->contributors++;
}

/* One contributor less; without any the block is gone. */
void block_drop(struct block *b);

/* Let go of what is gone and sort the rest by key: blocks[0] to blocks[count - 1] are shown. */
void rows_sort(struct rows *r);

/* Let go of all blocks, whoever holds them. */
void rows_clear(struct rows *r);
