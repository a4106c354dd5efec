/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/discovery.h"
#include "exporter/kube/reflector.h"
#include "exporter/system/log.h"
#include "metrics/model/metadata.h"
#include "metrics/rules/engine.h"

/* The kinds that selectors name and that are not watched. */

struct unserved_kind {
    char *api_version;
    char *kind;
    enum discovery_answer answer; /* Not DISCOVERY_SERVED. */
};

struct unserved_kinds {
    struct unserved_kind *items;
    size_t count;
};

/* Add a kind, of which no name is given; `before` is the list before this round, so that the log
 * has each change once. */
void unserved_kinds_add(struct unserved_kinds *list, const struct identity *kind,
                        enum discovery_answer answer, const struct unserved_kinds *before,
                        const struct log *log);
void unserved_kinds_release(struct unserved_kinds *list);

/*
 * How long a source waits for kinds, and which of them it goes on without.
 *
 * Policies and bindings are what every answer rests on: they are waited for as long as it takes.
 * Once they are there, each other kind is waited for KIND_WAIT_MS at most, and one that nothing
 * but a counter rests on not at all. From then on the engine is told which kinds are incomplete
 * (engine_set_incomplete), so that nothing is guessed until they have been read. One that is not
 * read KIND_WAIT_MS after it was first wanted is late, and the log names it.
 *
 * A template kind that may not be read is not waited for: its bindings say what they can (bound.h).
 */
enum { KIND_WAIT_MS = 15 * 1000 };

/* A kind of which not all objects have been read. */
struct missing_kind {
    char *api_version; /* As the store has it, as is the kind. */
    char *kind;
    const struct reflector *reflector; /* That reads it; NULL: nobody knows yet how to. Borrowed. */
    int64_t since_ms;                  /* Steady: since when it has been waited for. */
    bool late;
};

struct missing_kinds {
    struct engine *engine;
    const struct discovery *discovery;
    const struct log *log;
    struct missing_kind *kinds; /* Once it is ready. */
    size_t count;
    uint64_t listed;      /* What `kinds` was made of, to see when that changes. */
    int64_t essential_ms; /* Since when only other kinds are waited for; INT64_MAX: not yet. */
    bool ready;
};

void missing_kinds_init(struct missing_kinds *l, struct engine *engine,
                        const struct discovery *discovery, const struct log *log);
void missing_kinds_release(struct missing_kinds *l);

/* Wait anew: more is wanted than before, and an answer without it is of no use. */
void missing_kinds_wait_again(struct missing_kinds *l);

/*
 * Look at what has been read. `settled`: there is nothing left to wait for but what the reflectors
 * themselves read.
 */
void missing_kinds_turn(struct missing_kinds *l, const struct reflector_list *reflectors,
                        const struct unserved_kinds *unserved, bool settled, int64_t now_ms);

/* When the next turn is due although nothing arrives; INT64_MAX for never. */
int64_t missing_kinds_due(const struct missing_kinds *l);

/* Why the reflector has not read its kind, or (NULL) why there is none, for people. */
const char *missing_kind_reason(const struct reflector *r);
/* True if it could not be read in time, and nobody has forbidden that. */
bool missing_kind_is_failure(const struct missing_kind *k);
