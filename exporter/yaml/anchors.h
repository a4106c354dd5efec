/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json.h"
#include "metrics/base/map.h"

/* What an alias of a node costs. The height of a scalar is 0. */
struct weight {
    size_t nodes;
    size_t bytes;
    unsigned height;
};

/* Add the weight of a node to that of the one that contains it. */
void weight_add(struct weight *sum, struct weight part);

/* `node` is borrowed from the tree, NULL while it is still being read. */
struct anchor {
    const cJSON *node;
    struct weight weight;
    struct anchor *older;
    char name[];
};

/*
 * The anchors of one YAML document by name. A name that is given again means
 * the newer node from then on. Filled with zeros it is empty and ready.
 */
struct anchors {
    struct map by_name;
    struct anchor *newest;
};

/* Forget all; ready again. */
void anchors_release(struct anchors *a);

/*
 * Note the name of a node that is about to be read. NULL for no name. `seed` is always the same
 * number, which the author of the text cannot guess (platform_seed).
 */
struct anchor *anchors_open(struct anchors *a, uint64_t seed, const char *name);
/* The node is complete. Takes NULL. */
void anchor_close(struct anchor *anchor, const cJSON *node, struct weight weight);

/* NULL if nothing has the name. */
const struct anchor *anchors_find(const struct anchors *a, uint64_t seed, const char *name);
