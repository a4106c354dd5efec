/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/policy_history.h"

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
