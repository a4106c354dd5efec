/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/model/template.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/options.h"

/*
 * The state of a template (product contract 3.2 and 3.3): what the rules want
 * now, held against what Karmada made. A pure function of what it is given.
 */

/* Bits by enum drift_field: where the binding's copy is not what the policy says. */
unsigned drift_fields(const struct propagation *policy, const struct propagation *binding,
                      bool cluster_scoped);

/* Everything that the state of one template depends on. */
struct situation {
    const struct rules_options *options;
    int64_t now_ms;
    const struct entry *template;
    const struct claim *claim; /* The template's own, else its binding's; NULL if none. */
    struct entry *claimed;     /* The claim's policy, existing or not. */
    bool own_claim;            /* The claim is on the template itself. */
    struct entry *binding;     /* Of this template; NULL if there is none. */
    struct entry *winner;      /* Of a fresh match. */
    const struct candidate *candidates;
    size_t candidate_count;
    bool required;      /* Somebody that is propagated depends on it (derived). */
    bool kind_selected; /* Some policy selects this kind at all. */
};

/*
 * Fill in state, reason, phase, fields, governing and since_ms. The answer is
 * when the decision changes by time alone: the end of a grace period, else
 * INT64_MAX.
 */
int64_t drift_decide(const struct situation *s, struct template_decision *out);
