/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/decision.h"
#include "metrics/rules/engine.h"
#include "metrics/rules/policy_rank.h"

/*
 * Details of decisions: names of policies, writers, start times, subjects of defects, and overlaps
 * of policies. Metrics, report and explanations use the same functions, so that they agree.
 */

/* Name of a policy; the policy need not exist. */
struct policy_name {
    const char *kind; /* NULL if no policy is known. */
    const char *ns;
    const char *name;
};

/* Returns the name of a policy's entry; `kind` is NULL if the entry is NULL. */
struct policy_name policy_name_of(const struct entry *policy);

/* Return true if the policy is known and is named `name`, which is NAME or NAMESPACE/NAME. */
bool policy_is_named(struct policy_name policy, const char *name);
bool policy_has_name(const struct entry *policy, const char *name);

/* Writer of the change that led to the state of a template. */
struct state_writer {
    const char *by;              /* Manager in managedFields, interned; NULL if unknown. */
    const struct entry *written; /* The template or the policy that was written; NULL if unknown. */
};

/*
 * Returns the writer for the state of a decided template. If the template is stale, but not because
 * of its own change: the last writer of the spec of policy_of_stale_template(), unknown if that
 * policy is gone or the value of a PriorityClass changed. Else: the last user who changed the
 * template.
 */
struct state_writer state_writer_of_template(const struct entry *template);

/* Start of the state of a template. */
struct since {
    int64_t time_ms; /* Milliseconds since the epoch; 0 if unknown. */
    bool seen;       /* `time_ms` is when the state was first observed: no object has the time. */
};
struct since template_since(const struct template_decision *d);

/*
 * Returns the policy that decides which values a referrer requests for its dependencies: with
 * `current`, or if the referrer has no binding with a claim, the policy that governs the referrer
 * now, if any; else the policy of the claim on the binding.
 */
struct policy_name referrer_policy(const struct dependency_referrer *referrer, bool current);
/* Returns the entry of that policy, existing or not; NULL if it is not known. */
const struct entry *referrer_policy_entry(const struct dependency_referrer *referrer, bool current);

/*
 * Appends the subject of a defect. The defect determines which: the disputed name of a binding, the
 * claimed policy, the missing template, missing bindings (at most three, and the number of others),
 * or fields with their values.
 */
void defect_add_subject(const struct entry *entry, enum defect defect, struct strbuf *out);

/*
 * Returns the identity of the resource that an existing binding propagates; for other entries,
 * their own identity. A dependency is represented by its binding or, without one, by its template.
 */
struct identity resource_identity_of(const struct entry *entry);

/*
 * Overlap of a policy with one other policy: the templates for which the two compete with the same
 * result (members `step`, `first` and `claims`).
 *
 * Two policies compete for a template if both are eligible candidates and one of them ranks first.
 * They also compete if the policy ranks first, but the other one governs the template by its claim
 * (`claims`). Ignored templates do not count.
 */
struct policy_overlap {
    const struct entry *policy; /* The other policy. */
    enum rank_step step;        /* Criterion that ranks the two; not used if `claims`. */
    bool first;                 /* The other policy ranks after this one; true if `claims`. */
    bool claims;                /* The other policy keeps the templates by its claim. */
    size_t templates;           /* Number of templates. */
};

/* All overlaps of a policy, ties first, then by descending number of templates. */
struct policy_overlaps {
    struct policy_overlap *items;
    size_t count;
};

/* Returns the overlaps of a policy; free them with policy_overlaps_release(). */
struct policy_overlaps policy_overlaps_of(const struct entry *policy) MUST_USE;
void policy_overlaps_release(struct policy_overlaps *overlaps);

/* Returns true if only the names of the policies rank them, and no claim decides. */
bool policy_overlap_is_tie(const struct policy_overlap *overlap);
