/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/rules/decision.h"

/*
 * A version of a policy (product contract 3.7): a set of the values that Karmada copies into
 * bindings. A change of selectors, priority or preemption makes none.
 */
struct policy_history;

struct policy_version {
    struct policy_history *history; /* That it is part of (policy_history.h). */
    struct propagation values; /* As a policy sets them; `preserve` is true or false. Shared. */
    const char *by;            /* The manager who wrote it; NULL if unknown. Shared. */
    int64_t generation;        /* The policy's when it came; 0 if unknown. */
    int64_t since_ms;          /* When it came; 0 if unknown, always so where recovered. */
    /* Recovered: when a binding with these values was last seen to be written; 0 if unknown. */
    int64_t evidence_ms;
    uint32_t number;    /* From 1 on, greater for what came later. */
    uint32_t turn;      /* How many versions had been seen with it, or after a recovered one. */
    uint32_t templates; /* That run it. */
    bool recovered;
    bool since_seen; /* `since_ms` is when the change was seen: no object has the time. */
    bool missed;     /* Others may have come between the version seen before and this one. */
    bool undated;
};

/*
 * The same text for the same values, also after a restart; save that a recovered version does not
 * know the name of a PriorityClass.
 */
enum { POLICY_VERSION_HASH_SIZE = 11 };
void policy_version_hash(const struct policy_version *v, char out[POLICY_VERSION_HASH_SIZE]);

/*
 * The versions of one policy, oldest first, and who runs them. Karmada keeps no record of them:
 * what was seen to come is known with its time and author, what only bindings still show is
 * recovered from these. A policy that goes back to what it said before has that version again, as
 * the newest.
 */

/* Beyond these recovered versions of one policy, what bindings show is unknown. */
enum { POLICY_VERSIONS_RECOVERED_MAX = 256 };

struct policy_history {
    struct entry *policy;
    struct policy_version **versions; /* Oldest first. The last one is what the policy says now. */
    size_t count;
    struct policy_version unknown; /* Of templates that run what no version ever said. */
    uint32_t turns;                /* Versions that were seen to come. */
    uint32_t holders;
    bool gone;    /* The policy was deleted, or is another one of its name. */
    bool touched; /* See policy_versions.h. */
};

/* One holder less. Takes NULL. `strings` are those of the policy's store. */
void policy_history_drop(struct policy_history *h, struct intern *strings);

/* The versions that were seen to come and have no time of their own came now. */
void policy_history_date(struct policy_history *h, int64_t now_ms);

/* What a template runs, and whether a history may learn from it. */
struct running {
    const struct binding *binding; /* That a policy made. */
    const struct priority *priority;
    bool cluster_scoped;
    bool priority_moved; /* As in struct template_decision. */
    bool made_by_it;     /* The binding carries the claim of this policy. */
};

/* What the policy says now. */
static inline const struct policy_version *policy_history_now(const struct policy_history *h)
{
    return h->versions[h->count - 1];
}

/* The known version of this number or this hash; NULL if there is none. */
const struct policy_version *policy_history_named(const struct policy_history *h, const char *name);

/* True if it is the one for values that no version ever had. */
static inline bool policy_version_is_unknown(const struct policy_version *v)
{
    return v == &v->history->unknown;
}

/*
 * How many later versions are known: 0 exactly for what the policy says now, -1 if that is not
 * known, because the values are no version's or nothing tells which of two was first.
 */
int policy_version_behind(const struct policy_version *v);
/* When the next version came, as far as is known; 0 for that of now, and if unknown. */
int64_t policy_version_superseded_ms(const struct policy_version *v);

/* How many versions templates run, the unknown ones as one. */
size_t policy_history_in_force(const struct policy_history *h);

/* Templates that run anything but what the policy says now: then a rollout is under way. */
uint32_t policy_history_lagging(const struct policy_history *h);

/*
 * The histories of all policies (policy_history.h), kept in step with what the store reports and
 * with what templates are decided to run. It is the one thing that an engine knows beyond the
 * objects there are now.
 */
struct policy_versions {
    struct map by_policy;
    struct intern *strings;
    size_t limit; /* Versions kept of a policy beside those that templates run. */
    bool paused;  /* Changes are played, not seen: nothing is learnt and nothing forgotten. */
    struct policy_history **touched; /* Templates run other versions of these policies. */
    size_t touched_count;
    size_t touched_capacity;
};

void policy_versions_init(struct policy_versions *all, struct intern *strings, size_t limit);
/* All that hold a history must have dropped it. */
void policy_versions_release(struct policy_versions *all);

/* A policy came (`old` is NULL), went or was replaced. */
void policy_versions_changed(struct policy_versions *all, struct entry *policy,
                             const struct policy *old);
/* The history of a policy, with one holder more; NULL if there is none. */
struct policy_history *policy_versions_hold(const struct policy_versions *all,
                                            const struct entry *policy);

/*
 * A template begins to run what `r` says of this policy: the version, until
 * policy_versions_leave(); NULL without a history.
 */
struct policy_version *policy_versions_enter(struct policy_versions *all, struct policy_history *h,
                                             const struct running *r);
/* Takes NULL. */
void policy_versions_leave(struct policy_versions *all, struct policy_version *v);

/*
 * Report up to `budget` of the policies of whose versions templates have come or gone, in no order;
 * `decided` is NULL where nobody asks. What is too old and run by nobody is forgotten now, not
 * before: a template that is decided anew leaves its version for a moment. True if none is left.
 */
bool policy_versions_tell(struct policy_versions *all, size_t budget,
                          void (*decided)(void *context, struct entry *policy), void *context);
