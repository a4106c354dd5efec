/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/engine.h"

/* A store with its engine, for tests to put objects into. */
struct world {
    struct store *store;
    struct engine *engine;
    uint32_t random;
    /* Where choices come from instead, if anywhere: bytes that a fuzzer chose; after the last, 0.
     */
    const uint8_t *choices;
    size_t choices_left;
    bool manifests_only; /* random_object makes no bindings: dependencies are derived. */
};

void world_init(struct world *w, const struct rules_options *options, uint32_t seed);
void world_release(struct world *w);

/* The next number below `limit`. */
uint32_t world_random(struct world *w, uint32_t limit);

/* Put one object; the test fails if it is rejected. */
void world_put(struct world *w, const cJSON *json);
void world_put_text(struct world *w, const char *json);
/* Put every element of an array of objects. */
void world_put_all(struct world *w, const cJSON *objects);
void world_run(struct world *w, int64_t now_ms);

/*
 * Tell the world's objects what the sources of `old` saw happen to those of the same names: with
 * that, and the objects, a fresh engine says the same as one that was there all the time.
 */
void world_inherit(struct world *w, const struct world *old);

/* A random one of the objects that are there, NULL if there are none. */
struct entry *world_pick(struct world *w);

struct entry *world_find(const struct world *w, const char *api_version, const char *kind,
                         const char *ns, const char *name);

/* All decisions, sorted, as text: what two engines that agree have in common. */
void world_dump(const struct world *w, struct strbuf *out);
