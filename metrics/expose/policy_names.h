/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/decision.h"
#include "metrics/rules/engine.h"
#include "metrics/rules/policy_rank.h"

/*
 * Policies, dates, authors and subjects that a decision refers to. Metrics, report and explanations
 * all use these functions, so their answers agree.
 */

/* Name of a policy; the policy need not exist. */
struct policy_name {
    const char *kind; /* NULL if no policy is known. */
    const char *ns;
    const char *name;
};

/* Returns the name of a policy's entry; `kind` is NULL if the entry is NULL. */
struct policy_name policy_name_of(const struct entry *policy);

/* Returns the policy that a stale template is counted for: the governing, else the claimed one. */
const struct entry *policy_of_stale_template(const struct template_decision *d);

/* Last writer of the object that put a template into its state. */
struct last_writer {
    const char *by;            /* Manager in managedFields, interned; NULL if unknown. */
    const struct entry *wrote; /* Object that was written. */
};

/*
 * Returns the last writer of the spec of the policy (policy_of_stale_template) if a decided
 * template is stale because of the policy; else the author of the last change of the template by a
 * user. The writer is unknown if the policy is gone or the value of a PriorityClass changed.
 */
struct last_writer template_last_writer(const struct entry *template);

/* Start of the state of a template. */
struct since {
    int64_t time_ms; /* Milliseconds since the epoch; 0 if unknown. */
    bool seen;       /* Time of the first observation, because no object has the time. */
};
struct since template_since(const struct template_decision *d);

/*
 * Returns the policy that sets the values of a referrer: the policy that governs the referrer now
 * if `current`, else the policy that its binding was made from.
 */
struct policy_name referrer_policy(const struct dependency_referrer *referrer, bool current);

/*
 * Appends the subject of a defect: the disputed name of a binding, the policy, the template, the
 * bindings that do not exist, or the fields with their actual and their correct values.
 */
void defect_add_subject(const struct entry *entry, enum defect defect, struct strbuf *out);

/*
 * Returns the identity of the dependency that an entry represents. The entry is the attached
 * binding, or the template if the dependency is derived.
 */
struct identity dependency_resource(const struct entry *dependency);

/*
 * Another policy that selects the same templates as a policy, and the criterion that ranks the two.
 *
 * A template counts only if one of the two ranks first: other policies do not matter then. The
 * family karmada_propagationpolicy_overlaps also compares the two best policies only. Policies that
 * exclude a template or are being deleted do not select it, and ignored templates do not count.
 * Another policy can also keep templates by its claim although the policy ranks first.
 */
struct policy_overlap {
    const struct entry *policy; /* The other policy. */
    enum rank_step step;        /* RANK_KIND or later; not used if `claims`. */
    bool first;                 /* The other policy ranks after the given policy. */
    bool claims;                /* The other policy keeps the templates by its claim. */
    size_t templates;           /* Number of templates. */
};

/*
 * All overlaps of a policy, ties first, then by number of templates. Policy, criterion and order of
 * an overlap are unique.
 */
struct policy_overlaps {
    struct policy_overlap *items;
    size_t count;
};

/* Returns the overlaps of a policy; free them with policy_overlaps_release(). */
struct policy_overlaps policy_overlaps_of(const struct entry *policy) MUST_USE;
void policy_overlaps_release(struct policy_overlaps *overlaps);

/* Returns true if only the names decide: neither policy sets a higher priority or closer selector.
 */
bool policy_overlap_is_tie(const struct policy_overlap *overlap);
