/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"
#include "metrics/model/policy.h"
#include "metrics/model/store.h"

/*
 * Whether one selector, or one policy, selects one template. Texts of one store are shared, so
 * they are compared as pointers; only names, which are not, are compared as texts.
 */

/* How closely a selector fits a template; the larger one counts (Karmada: ImplicitPriority). */
enum selector_score {
    SCORE_NONE,   /* Not selected. */
    SCORE_ALL,    /* By kind alone. */
    SCORE_LABELS, /* By a labelSelector, even an empty one. */
    SCORE_NAME,
};

/* True if all requirements hold (apimachinery: LabelSelectorAsSelector). Not of an invalid one. */
bool label_selector_matches(const struct label_selector *selector, const struct labels *labels);

/*
 * Karmada: ResourceSelectorPriority. A selector with a name ignores its labelSelector.
 * `template` must have an object, here and below.
 */
enum selector_score selector_score(const struct resource_selector *selector,
                                   const struct entry *template);

/*
 * Seed 003: an exclusion rule matches if all its fields that are set match; an empty
 * labelSelector counts as not set; a rule with nothing set never matches.
 */
bool exclusion_matches(const struct resource_selector *rule, const struct entry *template);

/* The index of the first exclusion rule of the policy that matches; exclusion_count if none does.
 */
uint32_t policy_exclusion_of(const struct policy *policy, const struct entry *template);
/* True if any exclusion rule of the policy matches. */
bool policy_excludes(const struct policy *policy, const struct entry *template);

/* The best score of any of `count` selectors, SCORE_NONE without any. */
enum selector_score selectors_score(const struct resource_selector *selectors, uint32_t count,
                                    const struct entry *template);
/* That of all the policy's selectors, whatever its exclusions say. */
enum selector_score policy_score(const struct policy *policy, const struct entry *template);

/* True if no field of an exclusion rule is set: it is invalid and excludes nothing. */
bool exclusion_is_empty(const struct resource_selector *rule);

/* What keeps a selector from selecting a template, in the order in which it is looked at. */
enum selector_miss {
    MISS_NOTHING, /* It selects it. */
    MISS_KIND,
    MISS_API_VERSION, /* Another group or version of the same kind. */
    MISS_NAMESPACE,
    MISS_NAME,
    MISS_LABELS,
    MISS_COUNT,
};
enum selector_miss selector_miss(const struct resource_selector *selector,
                                 const struct entry *template);

/* The rules by which a template goes over to another policy (product contract 3.2). */
enum takeover { TAKEOVER_PREEMPTION, TAKEOVER_STATIC };

/* How Karmada is run, as far as the rules depend on it. Texts are borrowed. */
struct rules_options {
    enum takeover takeover;
    int64_t grace_ms;      /* Differences younger than this are not overdue yet. */
    size_t versions;       /* Kept of a policy, beside those that templates run. */
    int64_t lease_skew_ms; /* By how much clocks may differ before an expiry is past (lease.h). */
    /* Comma-separated regular expressions, each for a whole namespace; "" skips none. */
    const char *skipped_namespaces;
    /* As karmada-controller-manager's --skipped-propagating-apis; "" adds none. */
    const char *skipped_apis;
    /* As --feature-gates of Karmada's components (gates.h); NULL or "" for its defaults. */
    const char *feature_gates;
    /* The release of Karmada (release.h); NULL or "" for the newest. */
    const char *karmada_version;
};
