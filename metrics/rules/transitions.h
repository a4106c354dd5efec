/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"
#include "metrics/rules/decision.h"

/*
 * The history of decisions: what was decided about templates before, when that changed, and what
 * made it. The newest transitions of all templates are kept, up to a limit; the oldest go first.
 *
 * A transition keeps the values before it. Those after it are what the template's next transition
 * has before it, or its present decision. One that is kept pins its template and its policies: they
 * have their names for as long, whether or not the objects exist.
 *
 * What is undone within one run of the engine leaves no trace.
 */

/*
 * Why a decision was made again. Of several causes the first one here counts: a template is often
 * written, or read again, without consequence. One that comes or goes is its own cause. A row is
 * its enumerator, its word for programs and a sentence for people.
 */
#define CAUSES(ROW)                                                                                \
    ROW(DISCOVERY, "discovery",                                                                    \
        "Which kinds the API server serves, or which of them have been read, has changed.")        \
    ROW(POLICY, "policy", "A policy was created, changed or deleted.")                             \
    ROW(OVERRIDE, "override_policy", "An override policy was created, changed or deleted.")        \
    ROW(BINDING, "binding", "Its binding, or one that requires it, was written or deleted.")       \
    ROW(CLUSTER, "cluster", "A member cluster came, changed or went.")                             \
    ROW(SETTING, "setting",                                                                        \
        "A namespace, PriorityClass or other object that rules go by was changed.")                \
    ROW(LEASE, "lease", "A lease on a cloud resource was changed.")                                \
    ROW(WORK, "work", "Its Work for a member cluster was changed.")                                \
    ROW(EVENT, "event", "Karmada reported an Event about it.")                                     \
    ROW(TEMPLATE, "template", "The template itself was created, changed or deleted.")              \
    ROW(OTHER_TEMPLATE, "other_template",                                                          \
        "Another template moved: one that requires it, is in its way, or is its namespace.")       \
    ROW(TIME, "time", "Time passed: a grace period or a lease ended.")

#define CAUSE_ENUMERATOR(id, word, text) CAUSE_##id,
enum cause { CAUSES(CAUSE_ENUMERATOR) CAUSE_COUNT };
extern const char *const cause_names[CAUSE_COUNT];
/* One sentence for people. */
extern const char *const cause_texts[CAUSE_COUNT];

/* The cause that a change of an object of this class is. */
enum cause cause_of_class(enum object_class class);
/* The cause to whom a template's new decision affects. */
enum cause cause_of_decision(enum cause cause);

/* What a decision about a template says, as far as it is kept. */
struct moment {
    struct entry *policy;  /* That wins a fresh match, and that it claims; NULL: none. */
    struct entry *claimed; /* Existing or not. */
    uint32_t version;      /* Of the claimed policy, that it runs; 0 if unknown. */
    uint32_t cluster_hash; /* The same number for the same set of clusters. */
    uint32_t clusters;
    uint8_t state;
    uint8_t reason;
    uint8_t phase; /* Only of what is stale. */
    uint8_t stage;
    uint8_t stage_reason;
    bool decided; /* False: there was no decision, and all the rest is zero. */
};

/* What is decided about a template now. */
struct moment moment_now(const struct entry *template);
bool moment_equal(const struct moment *a, const struct moment *b);
/* A number for the set of clusters that a binding is on: the same for the same set. */
uint32_t cluster_set_hash(const struct binding *b);

struct transitions;

/* Keep up to `limit` from `now_ms` on, milliseconds since the epoch. The store outlives it. */
struct transitions *transitions_new(struct store *store, size_t limit, int64_t now_ms) MUST_USE;
/* NULL is fine, here and below: then nothing is kept. */
void transitions_free(struct transitions *t);

/*
 * For the engine: the template is about to be decided anew, and has been. `before` holds the
 * entries that it names from the first call to the second.
 */
void transitions_before(const struct transitions *t, struct entry *template, struct moment *before);
void transitions_after(struct transitions *t, struct entry *template, const struct moment *before,
                       enum cause cause, int64_t now_ms);
/* The run has come to its end: nothing is left to evaluate. */
void transitions_settle(struct transitions *t);

/* A transition as it is read: entries are borrowed, until the engine runs. */
struct transition {
    uint64_t number; /* From 1 on, greater for what came later; never used twice. */
    int64_t time_ms; /* Since the epoch. */
    struct entry *template;
    enum cause cause;
    struct moment before;
    struct moment after;
};

/*
 * The newest transition with a number below *below, of all templates or of one, which then is in
 * *below: start with UINT64_MAX. False if no older one is kept.
 */
bool transitions_next(const struct transitions *t, uint64_t *below, struct transition *out);
bool transitions_next_of(const struct transitions *t, const struct entry *template, uint64_t *below,
                         struct transition *out);

/* How many there is room for, and how many are kept. */
size_t transitions_limit(const struct transitions *t);
size_t transitions_count(const struct transitions *t);
/* When it began, and since when all are kept: that, until there is no room, then the oldest's. */
int64_t transitions_begun_ms(const struct transitions *t);
int64_t transitions_since_ms(const struct transitions *t);

/*
 * What no object says but a source saw happen: when a change came that left no time of its own,
 * and how long Karmada works off a change of a policy. A change is noted when the store reports
 * it, and dated at the start of the next evaluation, because only then the time is known.
 */
struct observed_times {
    bool paused;               /* Changes are played, not seen. */
    struct entry_list undated; /* Templates and policies whose change left no time. */
    struct entry_list worked;  /* Policies that Karmada was seen to work off. */
};

/* An object was replaced (`old` was there before), came (`old` is NULL) or went. */
void observed_times_note(struct observed_times *seen, struct store *store, struct entry *entry,
                         const void *old);

/*
 * Date what was noted. A policy that Karmada was seen to work off within the grace after its
 * change, or after it was last seen to, has as long again (struct policy, busy_until_ms).
 */
void observed_times_date(struct observed_times *seen, int64_t now_ms, int64_t grace_ms);

void observed_times_release(struct observed_times *seen);
