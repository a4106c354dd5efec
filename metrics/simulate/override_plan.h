/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/override/template_overrides.h"

/*
 * Effects of override policies before and after a planned change: what Karmada writes into the
 * Works of a template. A template is recorded before the first change that may alter them.
 */

/* What a member cluster gets; owned texts. */
struct overridden_copy {
    char *cluster;
    cJSON *object; /* NULL if a rule fails. */
    char *failure; /* The rule that fails and the reason; NULL without a failure. */
};

struct overridden_copies {
    struct overridden_copy *items; /* Sorted by cluster. */
    size_t count;
};

/* Difference that the change makes for one template in one member cluster. */
struct plan_override {
    const struct entry *template;
    const char *cluster;             /* Text of the plan. */
    struct override_changes changes; /* The copy before against the copy after. */
    const char *failure_before;      /* NULL without a failure. */
    const char *failure_after;
};

struct override_plan {
    struct map records; /* struct override_record by template. */
    struct plan_override
        *items; /* Sorted by template, then cluster; after override_plan_finish(). */
    size_t count;
};

void override_plan_init(struct override_plan *o);
void override_plan_release(struct override_plan *o, struct store *store);

/*
 * Records the templates that an override policy selects, as it is or as `fresh`, which is NULL for
 * a deletion. Call it before the change; all decisions must be up to date. Returns true if the
 * whole object of each of them is known: the effect on the others is unknown.
 */
bool override_plan_note_policy(struct override_plan *o, const struct rule_context *c,
                               const struct entry *policy, const struct override *fresh);

/*
 * Records a template that is about to change, exist or not: only failures that appear or vanish
 * count, because its own changes are no effect of an override policy.
 */
void override_plan_note_template(struct override_plan *o, const struct rule_context *c,
                                 struct entry *template);

/* Compares the recorded templates with the present state. Call it once. */
void override_plan_finish(struct override_plan *o, const struct rule_context *c);
