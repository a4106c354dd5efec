/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/decision.h"
#include "metrics/rules/engine.h"

/* Who is who in a decision: metrics and report both ask here, so that they agree. */

/* What names a policy, whether or not there is such a policy. */
struct policy_name {
    const char *kind; /* NULL if no policy is known. */
    const char *ns;
    const char *name;
};

/* The name of a policy's entry; of NULL, no policy. */
struct policy_name policy_name_of(const struct entry *policy);

/* The policy that has to answer for a stale template: what governs it, else what it claims. */
const struct entry *stale_policy(const struct template_decision *d);

/*
 * Who made a decided template what it is, and by writing which object. Of one that is stale by what
 * its policy says: who last wrote the spec of that policy (stale_policy). Of any other: whose the
 * template's last change by a user is (template_changed_by). `by` is NULL if unknown: of a stale
 * one also where its policy is gone, or where the number behind a PriorityClass moved.
 */
struct changer {
    const char *by; /* A manager of managedFields; shared. */
    const struct entry *wrote;
};
struct changer template_changer(const struct entry *template);

/* Since when a template is in its state: as objects say, else since when that is seen. */
struct since {
    int64_t time_ms; /* 0 if unknown. */
    bool seen;       /* No object has the time. */
};
struct since template_since(const struct template_decision *d);

/*
 * Whose will a ballot is: `current` asks for the policy that governs the referrer now,
 * else it is the one that its binding was made from.
 */
struct policy_name referrer_policy(const struct dependency_referrer *referrer, bool current);

/*
 * Append what a defect of an entry is about: the binding in dispute, the policy, the template, the
 * bindings that do not exist, or the fields with the values they have and should have.
 */
void defect_subject(const struct entry *entry, enum defect defect, struct strbuf *out);

/* The object that a dependency's entry, a binding or (derived) a template, is about. */
struct identity dependency_resource(const struct entry *dependency);

/*
 * The other policies that select templates of a policy, and what decides between the two in a fresh
 * match. Templates that one of the two wins count alone, as where a third one does nothing is
 * decided between them: karmada_propagationpolicy_overlaps goes by the best two likewise. A policy
 * that excludes a template or is being deleted does not select it, and nobody an ignored one. What
 * the policy would win another may keep, besides, by its claim.
 */
struct policy_overlap {
    const struct entry *policy;
    enum rank_step step; /* From RANK_KIND on. */
    bool first;          /* The policy that was asked for comes before this one. */
    bool claims;         /* This one keeps them by its claim; `step` is nothing then. */
    size_t templates;
};

/* Ties first, then those with the most templates. One policy is there once for each way. */
struct policy_overlaps {
    struct policy_overlap *items;
    size_t count;
};

struct policy_overlaps policy_overlaps_of(const struct entry *policy) MUST_USE;
void policy_overlaps_release(struct policy_overlaps *overlaps);

/* True if the two rank equal but for the name: nobody said which one is to win. */
bool policy_overlap_is_tie(const struct policy_overlap *overlap);
