/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json.h"
#include "metrics/base/map.h"

/* What a node weighs when an alias repeats it. A text has the height 0. */
struct weight {
    size_t nodes;
    size_t bytes;
    unsigned height;
};

/* Count a node into the one that holds it. */
void weight_add(struct weight *sum, struct weight part);

/* `node` is NULL while the node itself is still being read. Borrowed from the tree. */
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

/* Name a node that is still to come. NULL for no name. */
struct anchor *anchors_open(struct anchors *a, const char *name);
/* The node is complete. Takes NULL. */
void anchor_close(struct anchor *anchor, const cJSON *node, struct weight weight);

/* NULL if nothing has the name. */
const struct anchor *anchors_find(const struct anchors *a, const char *name);
