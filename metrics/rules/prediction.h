/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/placement.h"
#include "metrics/model/store.h"
#include "metrics/rules/control_plane.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/scheduling/replica_assignment.h"

/*
 * Outcome of a prediction about one template (product contract 3.12): what Karmada does with it. A
 * prediction is never better than Karmada.
 */
enum prediction {
    PREDICTION_PLACED,       /* All clusters and replicas are determined. */
    PREDICTION_NOWHERE,      /* No cluster passes the filters, or Karmada removes all copies. */
    PREDICTION_REFUSED,      /* The API server, a webhook or the scheduler refuses. */
    PREDICTION_IGNORED,      /* Karmada never processes the template. */
    PREDICTION_UNDETERMINED, /* See enum undetermined_reason. */
    PREDICTION_NOT_SIMULATED,
    PREDICTION_STORED, /* Of an object in a change: stored without some fields; the rest applies. */
    PREDICTION_COUNT,
};
/* Names of the enumerators in JSON (`outcome`) and in --fail-on. */
extern const char *const prediction_names[PREDICTION_COUNT];

/* An outcome and its reason. */
struct predicted {
    enum prediction outcome;
    const char *reason; /* Word in JSON (`outcomeReason`); static. */
};

/*
 * Returns the outcome that the decision about a template and its binding show: in a simulation that
 * of the simulated Karmada, else the present one. A template without binding that only waits for
 * Karmada is undetermined, reason "waiting": predict_template() predicts it.
 */
struct predicted predict_from_decision(const struct template_decision *d,
                                       const struct entry *template);

/* Returns true if the outcome depends on another scheduler than Karmada's. */
bool predicted_by_other_scheduler(struct predicted p);

/*
 * Returns true if a decided template has no binding, and a policy would propagate it: the scheduler
 * decides on its outcome (predict_template), or the API server refuses the policy.
 */
bool template_waits_for_placement(const struct entry *template);

/*
 * Returns true if a placement with this division divides replicas of a template that only a
 * resource interpreter of its custom kind knows.
 */
bool template_divides_unknown_replicas(const struct entry *template, enum division division);

/*
 * Copies the template's replicas to its binding as Karmada does, if the kind has replicas and they
 * are known. Returns the reason why they are unknown; UNDETERMINED_REASON_COUNT if they are known.
 */
enum undetermined_reason copy_replicas(const struct entry *template, struct release_range range,
                                       struct binding *out);

/*
 * Sets the members of a binding that the scheduler reads, as Karmada creates it for a template with
 * a placement of this division; texts are borrowed. Returns copy_replicas().
 */
enum undetermined_reason expected_binding_make(const struct entry *template, enum division division,
                                               struct release_range range, struct binding *out);

struct projection;
struct rule_context;

/*
 * Returns the outcome of a decided template. If the template has no binding and Karmada is about to
 * create one, `out` gets the clusters that the scheduler would select, or the reason why they are
 * undetermined; of a dependency, those of its referrers, with 0 replicas. Else `out` is empty.
 * Release it with projection_release().
 */
struct predicted predict_in_context(const struct rule_context *c, const struct entry *template,
                                    struct projection *out);
