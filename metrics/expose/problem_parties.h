/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/engine.h"
#include "metrics/rules/problems/problem_list.h"

/*
 * Objects that take part in a problem, beside its subject, policy and owner (problem.h): member
 * clusters, other parties; and Karmada's message and time limits about it. All decisions must be up
 * to date. An external subject has no other parties.
 */

/*
 * Returns true if the subject is the object or, of a template and its binding, the other one. Files
 * can report an object as an external subject.
 */
bool problem_is_about(const struct problem *p, const struct entry *entry);

/* Returns the entry of the subject: also of an external one, if the store has it; else NULL. */
const struct entry *problem_subject_entry(const struct engine *e, const struct problem *p);

typedef void problem_cluster_fn(void *context, const char *cluster);
typedef void problem_related_fn(void *context, const struct entry *related);

/*
 * Calls `each` with the name of every member cluster that a problem is about, in byte order: the
 * failing targets, or the cluster that is the subject.
 */
void problem_each_cluster(const struct engine *e, const struct problem *p, problem_cluster_fn *each,
                          void *context);

/*
 * Like problem_each_cluster(), but leaves out the targets that fail for other reasons than that of
 * the instance, because sentences about the reason would be wrong for them.
 */
void problem_each_cluster_of_reason(const struct engine *e, const struct problem *p,
                                    problem_cluster_fn *each, void *context);

/*
 * Calls `each` for every other party, in the order of entry_compare(): competing policies,
 * templates of one name, referrers with the policies that decide their values, missing objects. At
 * most 100 templates with the same name of their binding, or the same cloud resource, are listed.
 */
void problem_each_related(const struct engine *e, const struct problem *p, problem_related_fn *each,
                          void *context);

/* Paths of the fields of dependencies, as policies and bindings have them. */
extern const char *const dependency_field_paths[DEPENDENCY_FIELD_COUNT];

/* Returns the field of a problem of dependencies by its reason; DEPENDENCY_FIELD_COUNT else. */
enum dependency_field problem_dependency_field(const struct problem *p);

/*
 * Returns Karmada's message about the problem, of the first failing target by name or of the
 * binding; "" without one. Valid until the store changes.
 */
const char *problem_message(const struct engine *e, const struct problem *p);

/*
 * Appends why an override policy will fail for the first target (OVERRIDE_FAILED, `predicted`);
 * nothing for other problems.
 */
void problem_add_override_failure(const struct engine *e, const struct problem *p,
                                  struct strbuf *out);

/* Time at which Karmada or Config Connector acts. */
struct time_limit {
    int64_t time_ms; /* Milliseconds since the epoch; 0 if unknown. */
    bool assumed;    /* The object sets no time: Karmada's default of ten minutes counts. */
};

/*
 * Returns the earliest end of an eviction task (LAST_COPY_AT_RISK, EVICTION_STUCK) or the
 * expiration of the lease (LEASE_AT_RISK).
 */
struct time_limit problem_time_limit(const struct problem *p);
