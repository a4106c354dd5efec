/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json_writer.h"
#include "metrics/rules/engine.h"

/*
 * Elements of the report's lists, one object at a time; also used by the API and by explanations.
 * Functions report_put_* append members to the open object; other functions append
 * whole elements.
 */

void report_template(struct json_writer *w, const struct engine *engine,
                     const struct entry *template);

/*
 * Appends the element of an observed or predicted conflict about a field of a dependency. `change`
 * is the value of the member "change"; NULL omits the member.
 */
void report_conflict(struct json_writer *w, const struct engine *engine,
                     const struct entry *dependency, enum dependency_field field,
                     const char *change);

/* Appends one element for each field with an observed or predicted conflict. */
void report_conflicts(struct json_writer *w, const struct engine *engine,
                      const struct entry *dependency);

void report_dependency(struct json_writer *w, const struct entry *dependency);

/* Numbers of templates that have a relation to a policy; ignored templates do not count. */
struct policy_counts {
    uint32_t selected;
    uint32_t won; /* Templates for which the policy ranks first. */
    uint32_t claimed;
    uint32_t
        stale; /* Templates that are stale and counted for the policy (policy_of_stale_template). */
};
struct policy_counts policy_counts_of(const struct entry *policy);
void report_put_counts(struct json_writer *w, const struct policy_counts *counts);
void report_policy(struct json_writer *w, const struct entry *policy);

/* Appends one element for each problem of the spec of a policy. */
void report_policy_problems(struct json_writer *w, const struct entry *policy);

/* Appends one element for each defect of a template or a binding, with the subject of the defect.
 */
void report_defects(struct json_writer *w, const struct entry *entry);

/* Maximal number of listed objects that share a cloud resource; more are only counted. */
enum { REPORT_SHARERS_MAX = 10 };

/* Appends identity, conflicts, sharers and lease of a template of Config Connector. */
void report_put_connector(struct json_writer *w, const struct engine *engine,
                          const struct entry *template);

void report_lease(struct json_writer *w, const struct entry *entry);

/* Target cluster of a template's binding, with the delivery stage there. */
struct target_place {
    const char *cluster;
    struct stage_and_reason at;
    const char *message; /* Karmada's message; "" if there is no message. */
};

/*
 * Returns the targets of a decided template, unsorted; the decision has their number
 * (`target_count`). Texts are borrowed. Release the array with free().
 */
struct target_place *list_target_places(const struct engine *engine, const struct entry *template);

/* Appends stage, delivery and Karmada's message of a template, and "targets" by member cluster. */
void report_put_stages(struct json_writer *w, const struct engine *engine,
                       const struct entry *template);
