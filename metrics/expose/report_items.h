/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json_writer.h"
#include "metrics/expose/problem_rows.h"
#include "metrics/rules/engine.h"

/*
 * Elements of the report's lists, for one entry each; also used by the API and by explanations.
 * Functions report_put_* append members to the open object; other functions report_* append
 * elements to the open array.
 */

void report_template(struct json_writer *w, const struct engine *engine,
                     const struct entry *template);

/*
 * Appends the element of the conflict about a field of a dependency, observed or predicted.
 * `change` is the value of the member "change"; NULL omits the member. The dependency, and the
 * policies that set the values, have the places of `locations`; NULL omits them.
 */
void report_conflict(struct json_writer *w, const struct engine *engine,
                     const struct entry *dependency, enum dependency_field field,
                     const char *change, const struct location_source *locations);

/* Appends the members of report_conflict() to the open object. */
void report_put_conflict_members(struct json_writer *w, const struct engine *engine,
                                 const struct entry *dependency, enum dependency_field field,
                                 const struct location_source *locations);

/* Appends one element for each field with an observed or predicted conflict. */
void report_conflicts(struct json_writer *w, const struct engine *engine,
                      const struct entry *dependency, const struct location_source *locations);

void report_dependency(struct json_writer *w, const struct entry *dependency);

/* Numbers of templates that have a relation to a policy; ignored templates do not count. */
struct policy_counts {
    uint32_t selected; /* Templates with the policy as an eligible candidate. */
    uint32_t won;      /* Templates for which the policy ranks first. */
    uint32_t claimed;  /* Templates that the policy has claimed, directly or on their binding. */
    uint32_t stale;    /* Stale templates counted for the policy (policy_of_stale_template). */
};
struct policy_counts policy_counts_of(const struct entry *policy);
void report_put_counts(struct json_writer *w, const struct policy_counts *counts);
void report_policy(struct json_writer *w, const struct entry *policy);
/* Appends the members of report_policy() to the open object. */
void report_put_policy_members(struct json_writer *w, const struct entry *policy);

/* Appends one element for each problem of the spec of a policy. */
void report_policy_problems(struct json_writer *w, const struct entry *policy);

/*
 * Appends one element for each defect of a template or binding: the defect and its subject, such as
 * the claimed policy or fields.
 */
void report_defects(struct json_writer *w, const struct entry *entry);

/* Maximal number of listed templates with the same cloud resource; all of them are counted. */
enum { REPORT_SHARERS_MAX = 10 };

/*
 * Appends cloud identity, protection, conflicts and lease of a template of Config Connector, and
 * the other templates with the same cloud resource.
 */
void report_put_connector(struct json_writer *w, const struct engine *engine,
                          const struct entry *template);

void report_lease(struct json_writer *w, const struct entry *entry);

/* Target cluster of a template's binding, and the stage of the template there. */
struct target_cluster_stage {
    const char *cluster;
    struct stage_and_reason at;
    const char *message; /* Karmada's message; "" if there is no message. */
};

/*
 * Returns the targets of a decided template in the order of its binding; their number is
 * `target_count` of the decision. Texts are borrowed. The caller frees the array.
 */
struct target_cluster_stage *list_target_stages(const struct engine *engine,
                                                const struct entry *template);

/* Appends stage, delivery and Karmada's message of a template, and "targets" by member cluster. */
void report_put_stages(struct json_writer *w, const struct engine *engine,
                       const struct entry *template);
