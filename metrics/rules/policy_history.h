/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/policy_version.h"

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

/* The history of a policy that is seen for the first time; one holder. */
struct policy_history *policy_history_new(struct entry *policy) MUST_USE;
/* Takes NULL and answers it: one holder more. */
struct policy_history *policy_history_ref(struct policy_history *h);
/* One holder less. Takes NULL. `strings` are those of the policy's store. */
void policy_history_drop(struct policy_history *h, struct intern *strings);

/* The policy was replaced; `old` is what it was. */
void policy_history_follow(struct policy_history *h, struct intern *strings,
                           const struct policy *old);
/* The versions that were seen to come and have no time of their own came now. */
void policy_history_date(struct policy_history *h, int64_t now_ms);
/* Drop the oldest versions that no template runs, until `limit` are left beside that of now. */
void policy_history_trim(struct policy_history *h, struct intern *strings, size_t limit);

/* What a template runs, and whether a history may learn from it. */
struct running {
    const struct binding *binding; /* That a policy made. */
    const struct priority *priority;
    bool cluster_scoped;
    bool priority_moved; /* As in struct template_decision. */
    bool made_by_it;     /* The binding carries the claim of this policy. */
};

/* The version that it runs; NULL if no known one has its values. */
struct policy_version *policy_history_find(const struct policy_history *h, const struct running *r);
/*
 * The same, recovered where it came before the history began, or while nobody watched; the unknown
 * one for values that cannot be a version. Never NULL.
 */
struct policy_version *policy_history_recover(struct policy_history *h, const struct running *r);

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
