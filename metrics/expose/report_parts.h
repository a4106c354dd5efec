/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json_writer.h"
#include "metrics/expose/policy_names.h"
#include "metrics/rules/policy_versions.h"
#include "metrics/rules/projection.h"
#include "metrics/rules/transitions.h"

/* What the elements of the report and of explanations are made of: members of the open object. */

/* {kind, namespace, name}; null if no policy is known. */
void report_put_policy(struct json_writer *w, const char *key, struct policy_name policy);

/* The kind, the namespace and the name of an entry, as members. */
void report_put_object(struct json_writer *w, const struct entry *entry);

/* The same with the apiVersion. */
void report_put_identity(struct json_writer *w, struct identity id);

/* A number, null if it is not known. */
void report_put_known(struct json_writer *w, const char *key, int64_t value, bool known);

/* A time in milliseconds since the epoch; null for 0, which is unknown. */
void report_put_time(struct json_writer *w, const char *key, int64_t time_ms);

/* {namespace, name} of a binding, or of the one that a template would get. */
void report_put_binding(struct json_writer *w, const char *key, const struct entry *entry);

/* A list of {cluster, replicas}, in this order. */
void report_put_clusters(struct json_writer *w, const char *key,
                         const struct target_cluster *clusters, uint32_t count);

/* "assigned": where the replicas of a template are now, by cluster; none without a binding. */
void report_put_assigned(struct json_writer *w, const struct binding *b);

/* "projected": where they would go, null where no policy or no binding says; or "undetermined". */
void report_put_projected(struct json_writer *w, const struct capacity *c);

/* As the API has it: ConflictResolution is a text, PreserveResourcesOnDeletion a boolean. */
void report_put_value(struct json_writer *w, const char *key, enum dependency_field field,
                      bool value);

/*
 * "stored": what the binding of a dependency has; null where there is none, and where a referrer
 * has none yet, so that nobody has resolved with it.
 */
void report_put_stored(struct json_writer *w, const struct entry *dependency,
                       enum dependency_field field);

/* What lists and explanations say of a transition (rules/transitions.h). */

/* Append it as a JSON object. Members have the names that a template's row has (row.h). */
void transition_write(struct json_writer *w, const struct transition *x);

/* Append what differs, for people: "state pending (no_match) to unbound (waiting); policy ...". */
void transition_say(struct strbuf *out, const struct transition *x);

/* Who runs a version of a policy, and with how much of the member clusters. */
struct version_use {
    const struct policy_version *version;
    uint32_t templates;
    int64_t replicas;
    double cores;          /* What the replicas request. */
    double memory;         /* In bytes. */
    const char **clusters; /* By name, in byte order. */
    size_t cluster_count;
};

struct version_uses {
    struct version_use *items; /* Newest first; the unknown version last, if templates run it. */
    size_t count;
};

/* All known versions of a policy, of which the first is that of now; none without a history. */
struct version_uses version_uses_of(const struct entry *policy) MUST_USE;
void version_uses_release(struct version_uses *uses);

/* Versions of policies (product contract 3.7), as members of the open object. */

/*
 * Of a template what it runs: "version", "behind" and "supersededSince", null where that is not
 * known or where it runs none (`v` is NULL); "versionUnknown" where no version ever had the values.
 */
void report_put_version(struct json_writer *w, const struct policy_version *v);

/* What a version is, and who runs it. Of the unknown one "version" and what it is are null. */
void report_put_version_use(struct json_writer *w, const struct version_use *use);

/* "versions" of a policy: newest first, that of now always; those of the unknown one last. */
void report_put_versions(struct json_writer *w, const struct entry *policy);
