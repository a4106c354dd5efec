/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"
#include "metrics/rules/decision.h"

/*
 * History of decisions about templates: earlier decisions, the time of each change, and its cause.
 * Keeps the newest transitions of all templates, up to a limit. The history omits a change that the
 * same run of the engine reverts within a second. Also: times of changes that no object records
 * (observed_times).
 */

/* ---- causes ---- */

/*
 * Causes of a new decision. If several apply, the first in this order counts. TEMPLATE is late in
 * the order, because templates are often written without effect on the decision. A template's first
 * decision, and its removal, have the cause TEMPLATE, unless the cause is DISCOVERY. A row has the
 * enumerator, the word for programs and a sentence for people.
 */
#define CAUSES(ROW)                                                                                \
    ROW(DISCOVERY, "discovery",                                                                    \
        "The set of kinds that the API server serves, or that have been read, changed.")           \
    ROW(POLICY, "policy", "A policy was created, changed or deleted.")                             \
    ROW(OVERRIDE, "override_policy", "An override policy was created, changed or deleted.")        \
    ROW(BINDING, "binding", "The binding, or a binding that requires it, was written or deleted.") \
    ROW(CLUSTER, "cluster", "A member cluster was added, changed or removed.")                     \
    ROW(SETTING, "setting",                                                                        \
        "A namespace, PriorityClass or another object that rules read changed.")                   \
    ROW(LEASE, "lease", "A lease on a cloud resource changed.")                                    \
    ROW(WORK, "work", "The Work for a member cluster changed.")                                    \
    ROW(EVENT, "event", "Karmada reported an Event about the template.")                           \
    ROW(TEMPLATE, "template", "The template itself was created, changed or deleted.")              \
    ROW(OTHER_TEMPLATE, "other_template",                                                          \
        "Another template changed: a referrer, one with the same binding name, or the namespace.") \
    ROW(TIME, "time", "Time passed: a grace period or a lease ended.")

#define CAUSE_ENUMERATOR(id, word, text) CAUSE_##id,
enum cause { CAUSES(CAUSE_ENUMERATOR) CAUSE_COUNT };
extern const char *const cause_names[CAUSE_COUNT];
extern const char *const cause_texts[CAUSE_COUNT];

/* Returns the cause of a decision that follows a change of an object of this class. */
enum cause cause_of_class(enum object_class class);
/* Returns the cause for entries that depend on a template whose new decision has this cause. */
enum cause cause_for_dependents(enum cause cause);

/* ---- transitions ---- */

/* The parts of a decision about a template that the history keeps. */
struct moment {
    struct entry *policy;  /* Winner of a fresh match; NULL without one and if ignored. */
    struct entry *claimed; /* Claimed policy, existing or not; NULL without a claim. */
    uint32_t version;      /* Number of the policy version that the binding has; 0 if unknown. */
    uint32_t version_key;  /* `key` of that version, which a renumbering keeps; 0 if unknown. */
    uint32_t cluster_hash; /* Hash of the set of target clusters; independent of their order. */
    uint32_t clusters;     /* Number of target clusters. */
    uint8_t state;
    uint8_t reason;
    uint8_t phase; /* 0 unless the state is stale. */
    uint8_t stage;
    uint8_t stage_reason;
    bool decided; /* False if the template had no decision: all other members are 0. */
};

/* Returns the parts of the present decision about a template; all 0 if it has no decision. */
struct moment moment_of_template(const struct entry *template);
bool moment_equal(const struct moment *a, const struct moment *b);
/* Returns a hash of the set of a binding's target clusters; independent of their order. */
uint32_t cluster_set_hash(const struct binding *b);
/* Undoes one store_pin() of an entry of a moment. Accepts NULL as `entry`. */
void unpin_unless_null(struct store *store, struct entry *entry);

/*
 * The transitions kept, one record each. A record holds only the decision before the transition.
 * The decision after it is in the template's next record, or is the present decision. Records pin
 * their template and policies, so that the names stay available after a deletion.
 */
struct transitions;

/* Returns a history from `now_ms` on, of up to `limit` > 0 records. Free it before the store. */
struct transitions *transitions_new(struct store *store, size_t limit, int64_t now_ms) MUST_USE;
/* This and all other functions with a parameter `t` accept NULL as an empty history. */
void transitions_free(struct transitions *t);

/*
 * The engine calls transitions_note_before() before it replaces the decision of an entry, and
 * transitions_note_after() after that. Both ignore entries that are no templates. Between the two
 * calls, the policies in `before` are pinned.
 */
void transitions_note_before(const struct transitions *t, struct entry *template,
                             struct moment *before);
void transitions_note_after(struct transitions *t, struct entry *template,
                            const struct moment *before, enum cause cause, int64_t now_ms);
/* Marks the end of a run of the engine: no entry is left to evaluate. */
void transitions_end_run(struct transitions *t);

/* One transition, as returned to readers. Entries are borrowed until the engine runs again. */
struct transition {
    uint64_t number; /* From 1; a later transition has a higher number. */
    int64_t time_ms; /* Milliseconds since the epoch. */
    struct entry *template;
    enum cause cause;
    struct moment before;
    struct moment after;
};

/*
 * Stores in `out` the newest transition with a number below *below, of all templates or of one, and
 * stores its number in *below. Start with UINT64_MAX. Returns false if no such transition is kept.
 */
bool transitions_next(const struct transitions *t, uint64_t *below, struct transition *out);
bool transitions_next_of_template(const struct transitions *t, const struct entry *template,
                                  uint64_t *below, struct transition *out);

/*
 * Returns the next template with a record after `after_ms`, each template once, in undefined order;
 * NULL after the last one. The record can be of a reverted change. *at must be 0 before the first
 * call, and the history must not change between the calls.
 */
struct entry *transitions_next_template(const struct transitions *t, int64_t after_ms,
                                        uint64_t *at);

/* Return the maximum and the present number of records, including reverted ones; 0 for NULL. */
size_t transitions_limit(const struct transitions *t);
size_t transitions_count(const struct transitions *t);
/* Returns when the history began, in milliseconds since the epoch; 0 for NULL. */
int64_t transitions_start_ms(const struct transitions *t);
/* Returns the time since which no record is missing: the start, or the oldest record's time. */
int64_t transitions_complete_since_ms(const struct transitions *t);

/* ---- observed times ---- */

/*
 * Times that no object contains: when the source observed a change without a time stamp, and how
 * long Karmada processes a change of a policy. A change is recorded first, and gets its time at the
 * start of the next run of the engine.
 */
struct observed_times {
    bool paused;                 /* A simulation is running: changes are not observed. */
    struct entry_list undated;   /* Templates and policies that are `undated`. */
    struct entry_list processed; /* Policies that Karmada was observed to process. */
};

/*
 * Handles an object that was replaced, created (`old` is NULL) or deleted, unless paused. Records
 * the entry if its object is `undated`. If the claim, or the values in a binding, have changed in a
 * replaced object, records the policies of the old and the new claim: Karmada processes these
 * policies.
 */
void observed_times_record(struct observed_times *seen, struct store *store, struct entry *entry,
                           const void *old);

/*
 * Sets the time of the recorded changes to `now_ms`. Extends the grace period of the recorded
 * policies to `now_ms` + `grace_ms` (grace_extended_until_ms of struct policy) if the period has
 * not ended: it lasts until `grace_ms` after the policy's change, or until an earlier extension.
 * Then empties both lists.
 */
void observed_times_set_times(struct observed_times *seen, int64_t now_ms, int64_t grace_ms);

void observed_times_release(struct observed_times *seen);
