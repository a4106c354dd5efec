/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"
#include "metrics/model/policy.h"
#include "metrics/model/store.h"
#include "metrics/rules/control_plane.h"

/*
 * Matches one selector or one policy with one template of the same store. Interned texts are
 * compared as pointers. Also: the options of the rules.
 */

/*
 * Precision of a match; the highest score of a policy's selectors counts (Karmada:
 * ImplicitPriority).
 */
enum selector_score {
    SCORE_NONE,   /* Not selected. */
    SCORE_ALL,    /* Selected by kind, and perhaps namespace, alone. */
    SCORE_LABELS, /* Selected by a labelSelector, even an empty one. */
    SCORE_NAME,   /* Selected by name. */
};

/*
 * Returns true if the selector is valid and the labels meet all its requirements (apimachinery:
 * LabelSelectorAsSelector).
 */
bool label_selector_matches(const struct label_selector *selector, const struct labels *labels);

/* The fields of an object by which selectors select. Interned texts, except `name`. */
struct selector_subject {
    const char *api_version; /* NULL: a version that no selector names; likewise the others. */
    const char *kind;
    const char *ns;
    const char *name;
    struct labels labels;
};

/*
 * Returns the best score of `count` selectors for an object that need not be in the store;
 * SCORE_NONE if `count` is 0.
 */
enum selector_score selectors_score_subject(const struct resource_selector *selectors,
                                            uint32_t count, const struct selector_subject *subject);

/* Returns true if the labels meet one requirement of a valid selector. */
bool label_requirement_holds(const struct label_requirement *r, const struct labels *labels);

/* Appends a requirement in kubectl's notation, such as "app in (web, api)". */
void label_requirement_add_text(const struct label_requirement *r, struct strbuf *out);

/*
 * Returns the score of one selector (Karmada: ResourceSelectorPriority). A selector with a name
 * ignores its labelSelector. `template` must have an object, as for all functions of this file.
 */
enum selector_score selector_score(const struct resource_selector *selector,
                                   const struct entry *template);
/* Like selector_score(), as if the template had the interned `api_version`. */
enum selector_score selector_score_in_version(const struct resource_selector *selector,
                                              const char *api_version,
                                              const struct entry *template);

/*
 * Returns true if the template matches every field that the exclusion rule sets. An empty
 * labelSelector counts as not set. A rule that sets no field excludes nothing.
 */
bool exclusion_matches(const struct resource_selector *rule, const struct entry *template);

/*
 * Returns the index of the policy's first rule that excludes the template, or
 * policy->exclusion_count.
 */
uint32_t policy_find_exclusion(const struct policy *policy, const struct entry *template);
/*
 * Returns true if any exclusion rule of the policy matches the template. Rules that the API server
 * drops (admission_drops_exclusions()) match nothing.
 */
bool policy_excludes_template(const struct policy *policy, const struct entry *template,
                              struct release_range release);

/* Returns the best score of `count` selectors; SCORE_NONE if `count` is 0. */
enum selector_score selectors_best_score(const struct resource_selector *selectors, uint32_t count,
                                         const struct entry *template);
/* Returns the best score of the policy's selectors; ignores its exclusions and its namespace. */
enum selector_score policy_best_score(const struct policy *policy, const struct entry *template);

/* Returns true if no field of an exclusion rule is set: such a rule excludes nothing. */
bool exclusion_is_empty(const struct resource_selector *rule);

/* The first condition of a selector, in this order, that a template does not meet. */
enum selector_miss {
    MISS_NOTHING, /* The selector selects the template. */
    MISS_KIND,
    MISS_API_VERSION, /* The kind matches, but not the group or the version. */
    MISS_NAMESPACE,
    MISS_NAME,
    MISS_LABELS,
    MISS_COUNT,
};
enum selector_miss selector_miss(const struct resource_selector *selector,
                                 const struct entry *template);

/* Rules by which another policy takes over a template that a policy has claimed. */
enum takeover {
    TAKEOVER_PREEMPTION, /* Karmada >= 1.8: the policy of a valid claim governs. */
    TAKEOVER_STATIC,     /* Earlier: the winner of a fresh match governs, whatever the claim. */
};

struct yaml_converter;

/* Options of the rules. Most of them repeat settings of Karmada. Texts are borrowed. */
struct rules_options {
    enum takeover takeover;
    int64_t grace_ms;      /* Age at which a difference becomes overdue. */
    size_t versions;       /* See `limit` of struct policy_versions. */
    int64_t lease_skew_ms; /* Tolerated difference between the clocks that check leases. */
    /* Comma-separated regular expressions, each for a whole namespace name; may be "". */
    const char *skipped_namespaces;
    /* Value of karmada-controller-manager's --skipped-propagating-apis; may be "". */
    const char *skipped_apis;
    /*
     * Feature gates of all Karmada components, as gates_parse() reads them; NULL or "": defaults.
     */
    const char *feature_gates;
    /* Release of Karmada (control_plane.h); NULL or "" for the newest known one. */
    const char *karmada_version;
    const struct yaml_converter *yaml; /* For YAML in overridden fields; NULL: not evaluated. */
};
