/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json_writer.h"
#include "metrics/rules/engine.h"

/* The elements of the report's lists, one object at a time, for all who list some of them. */

void report_template(struct json_writer *w, const struct engine *engine,
                     const struct entry *template);

/*
 * The element of a dependency's field that is in conflict, or predicted to be. `change` is the
 * value of the member of that name, which is left out if NULL.
 */
void report_conflict(struct json_writer *w, const struct engine *engine,
                     const struct entry *dependency, enum dependency_field field,
                     const char *change);

/* One element for each field in conflict or predicted to be: none, one or two. */
void report_conflicts(struct json_writer *w, const struct engine *engine,
                      const struct entry *dependency);

void report_dependency(struct json_writer *w, const struct entry *dependency);

/* How many templates a policy has to do with. */
struct policy_counts {
    uint32_t selected;
    uint32_t won;
    uint32_t claimed;
    uint32_t stale;
};
struct policy_counts policy_counts_of(const struct entry *policy);
/* The counts as members. */
void report_put_counts(struct json_writer *w, const struct policy_counts *counts);
void report_policy(struct json_writer *w, const struct entry *policy);

/* One element for each thing that is wrong with a policy. */
void report_problems(struct json_writer *w, const struct entry *policy);

/* One element for each defect of a template or a binding, with what it is about. */
void report_defects(struct json_writer *w, const struct entry *entry);

/* Objects that share a cloud resource are few; those beyond are only counted. */
enum { REPORT_SHARERS_MAX = 10 };
/* What Config Connector makes of a template: as members, and as a member of its element. */
void report_put_connector(struct json_writer *w, const struct engine *engine,
                          const struct entry *template);
void report_connector(struct json_writer *w, const struct engine *engine,
                      const struct entry *template);

void report_lease(struct json_writer *w, const struct entry *entry);

/* A target of a template's binding: where it is, and Karmada's own words ("" without any). */
struct target_place {
    const char *cluster;
    struct stage_and_reason at;
    const char *message;
};
/* All `target_count` of the decision, in no order. The texts are borrowed; free() the array. */
struct target_place *target_places(const struct engine *engine, const struct entry *template);

/*
 * Where a template is on its way, as members of the open object: stage, delivery, Karmada's
 * message, and each member cluster under "targets".
 */
void report_put_way(struct json_writer *w, const struct engine *engine,
                    const struct entry *template);
