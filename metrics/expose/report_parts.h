/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json_writer.h"
#include "metrics/expose/parties.h"
#include "metrics/rules/projection.h"

/* What the elements of the report and of explanations are made of: members of the open object. */

/* {kind, namespace, name}; null if no policy is known. */
void report_put_policy(struct writer *w, const char *key, struct policy_name policy);

/* The kind, the namespace and the name of an entry, as members. */
void report_put_object(struct writer *w, const struct entry *entry);

/* The same with the apiVersion. */
void report_put_identity(struct writer *w, struct identity id);

/* A number, null if it is not known. */
void report_put_known(struct writer *w, const char *key, int64_t value, bool known);

/* A time in milliseconds since the epoch; null for 0, which is unknown. */
void report_put_time(struct writer *w, const char *key, int64_t time_ms);

/* {namespace, name} of a binding, or of the one that a template would get. */
void report_put_binding(struct writer *w, const char *key, const struct entry *entry);

/* A list of {cluster, replicas}, in this order. */
void report_put_clusters(struct writer *w, const char *key, const struct target_cluster *clusters,
                         uint32_t count);

/* "assigned": where the replicas of a template are now, by cluster; none without a binding. */
void report_put_assigned(struct writer *w, const struct binding *b);

/* "projected": where they would go, null where no policy or no binding says; or "undetermined". */
void report_put_projected(struct writer *w, const struct capacity *c);

/* As the API has it: ConflictResolution is a text, PreserveResourcesOnDeletion a boolean. */
void report_put_value(struct writer *w, const char *key, enum dependency_field field, bool value);

/*
 * "stored": what the binding of a dependency has; null where there is none, and where a referrer
 * has none yet, so that nobody has resolved with it.
 */
void report_put_stored(struct writer *w, const struct entry *dependency,
                       enum dependency_field field);
