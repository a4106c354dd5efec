/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/expose/registry.h"
#include "tests/bench/generate.h"

/* A store with generated objects, and what evaluates them. */
struct world {
    struct store *store;
    struct engine *engine;
    struct registry *registry;
    struct strbuf text; /* JSON of the next object. */
    int64_t now_ms;     /* Time of world_run(), since the epoch. */
};

void world_init(struct world *w, int64_t now_ms);
void world_release(struct world *w);

/* Puts the object whose JSON is in `text`, and empties it. Aborts if the object is rejected. */
void world_put(struct world *w);
/* Puts all policies, or all templates with a binding each. */
void world_put_policies(struct world *w, const struct generated *g, const char *member_cluster);
void world_put_bound_templates(struct world *w, const struct generated *g);

/* Evaluates until nothing is left to evaluate at `now_ms`. */
void world_run(struct world *w);
