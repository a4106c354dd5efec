/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/discovery.h"
#include "exporter/kube/reflector.h"
#include "exporter/system/log.h"
#include "metrics/model/metadata.h"
#include "metrics/rules/engine.h"

/* A kind that a selector names and discovery does not offer, so that it has no reflector. */
struct unserved_kind {
    char *api_version;
    char *kind;
    enum discovery_answer answer; /* Not DISCOVERY_SERVED. */
};

struct unserved_kinds {
    struct unserved_kind *items;
    size_t count;
};

/*
 * Appends the apiVersion and kind of `kind`. Logs a warning unless the answer is DISCOVERY_UNKNOWN
 * or equals the answer for this kind in `before`, the previous list.
 */
void unserved_kinds_add(struct unserved_kinds *list, const struct identity *kind,
                        enum discovery_answer answer, const struct unserved_kinds *before,
                        const struct log *log);
void unserved_kinds_release(struct unserved_kinds *list);

/*
 * Initial sync: decides when a source is ready, and which kinds have not been read then.
 *
 * Required kinds, such as policies and bindings, are waited for without a limit. When all of them
 * have been read, the source waits at most KIND_WAIT_MS for the other kinds, and not at all for
 * optional ones. The engine then omits results that depend on missing kinds (engine_set_incomplete)
 * until they have been read.
 *
 * When the source becomes ready, missing kinds are late, except optional ones; all others are late
 * KIND_WAIT_MS after missing_kind.since_ms. Late kinds are logged. Template kinds that the exporter
 * may not read (bound_templates.h), supplements and kinds that are not served are never missing.
 */
enum { KIND_WAIT_MS = 15 * 1000 };

/* A kind without all of its objects. */
struct missing_kind {
    char *api_version; /* apiVersion and kind as in the store. */
    char *kind;
    const struct reflector *reflector; /* Borrowed. NULL: discovery has no result for the kind. */
    int64_t since_ms; /* Steady time from which the kind has been in missing_kinds.kinds. */
    bool late;
};

struct missing_kinds {
    struct engine *engine;
    const struct discovery *discovery;
    const struct log *log;
    struct missing_kind *kinds; /* Initially empty; updated while the source is ready. */
    size_t count;
    uint64_t kinds_hash; /* hash_missing_kinds() at the last update of `kinds`. */
    /* Steady time when all required kinds were read; INT64_MAX: not yet. */
    int64_t required_read_ms;
    bool ready;
};

/* The arguments are borrowed. */
void missing_kinds_init(struct missing_kinds *l, struct engine *engine,
                        const struct discovery *discovery, const struct log *log);
void missing_kinds_release(struct missing_kinds *l);

/* Begins the wait again, because more kinds are needed than before. */
void missing_kinds_wait_again(struct missing_kinds *l);

/*
 * Updates `ready`, `kinds` and the engine, and logs late kinds. `settled`: discovery and single
 * requests for templates need no more time; only reflectors may.
 */
void missing_kinds_turn(struct missing_kinds *l, const struct reflector_list *reflectors,
                        const struct unserved_kinds *unserved, bool settled, int64_t now_ms);
/*
 * Returns the steady time in ms of the next missing_kinds_turn() if no response data arrives
 * before; INT64_MAX: no call needed.
 */
int64_t missing_kinds_due(const struct missing_kinds *l);

/* Returns, for people, why a kind is missing; borrowed. `r` is its reflector, or NULL. */
const char *missing_kind_reason(const struct reflector *r);
/* Returns true if the kind is late for another reason than missing permission. */
bool missing_kind_is_failure(const struct missing_kind *k);
