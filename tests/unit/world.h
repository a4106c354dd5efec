/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/engine.h"

/* A store and its engine. */
struct world {
    struct store *store;
    struct engine *engine;
    uint32_t random;
    /* Bytes of a fuzzer in place of random numbers, then 0; NULL: not used. */
    const uint8_t *choices;
    size_t choices_left;
    bool manifests_only; /* random_object() returns no bindings, so dependencies are derived. */
};

void world_init(struct world *w, const struct rules_options *options, uint32_t seed);
void world_release(struct world *w);

/* Returns the next random number below `limit`. */
uint32_t world_random(struct world *w, uint32_t limit);

/* Puts one object. Fails if the store rejects it. */
void world_put(struct world *w, const cJSON *json);
void world_put_text(struct world *w, const char *json);
/* Puts every element of an array of objects. */
void world_put_all(struct world *w, const cJSON *objects);
/* Runs the engine until no step is left. */
void world_run(struct world *w, int64_t now_ms);

/*
 * Lets `ms` pass from *now_ms on, with a run at each deadline of the engine, as in the event loop.
 * *now_ms becomes the end.
 */
void world_pass(struct world *w, int64_t *now_ms, int64_t ms);

/*
 * Copies the observed history, such as the time of a user change, from the objects of `old` to the
 * objects of `w` with the same names. Equal objects then lead to equal decisions.
 */
void world_inherit(struct world *w, const struct world *old);

/* Returns a random entry with an object, NULL if the store has no object. */
struct entry *world_pick(struct world *w);

struct entry *world_find(const struct world *w, const char *api_version, const char *kind,
                         const char *ns, const char *name);

/* Appends all decisions as text, sorted by entry, to compare two engines. */
void world_dump(const struct world *w, struct strbuf *out);
