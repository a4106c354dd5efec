/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json_writer.h"
#include "metrics/expose/policy_names.h"
#include "metrics/rules/admission/quota.h"
#include "metrics/rules/policy_versions.h"
#include "metrics/rules/replica_projection.h"
#include "metrics/rules/transitions.h"

/*
 * Parts of report elements and explanations: policies, objects, clusters, dependency values,
 * transitions of templates and versions of policies. Functions report_put_* append members to the
 * open object.
 */

/* ---- objects and values ---- */

/* Appends a policy as {kind, namespace, name}; null if no policy is known. */
void report_put_policy(struct json_writer *w, const char *key, struct policy_name policy);

/*
 * Appends a quota that refuses a write as {namespace, name, resource, limit, used, needed}, in base
 * units (cores, bytes); null for NULL.
 */
void report_put_quota_excess(struct json_writer *w, const char *key,
                             const struct quota_excess *excess);

/* Appends kind, namespace and name of an entry. */
void report_put_object(struct json_writer *w, const struct entry *entry);

/* Appends the members apiVersion, kind, namespace and name of an identity. */
void report_put_identity(struct json_writer *w, struct identity id);

/* Appends a number; null unless `known`. */
void report_put_number_or_null(struct json_writer *w, const char *key, int64_t value, bool known);

/* Appends a time in milliseconds since the epoch as text; null if the time is 0 (unknown). */
void report_put_time(struct json_writer *w, const char *key, int64_t time_ms);

/* Appends {namespace, name} of a binding, or of the binding that Karmada makes for a template. */
void report_put_binding(struct json_writer *w, const char *key, const struct entry *entry);

/* Appends target clusters as a list of {cluster, replicas}, in the given order. */
void report_put_clusters(struct json_writer *w, const char *key,
                         const struct target_cluster *clusters, uint32_t count);

/* Appends "assigned": the clusters of a binding, sorted by name; empty if `b` is NULL. */
void report_put_assigned(struct json_writer *w, const struct binding *b);

/*
 * Appends "projected": the predicted clusters; null if `c` is NULL or without a governing policy.
 * If the clusters cannot be predicted, appends the reason as "undetermined" instead.
 */
void report_put_projected(struct json_writer *w, const struct capacity *c);

/*
 * Appends the value of a dependency field as in Karmada's API: ConflictResolution as text, the
 * other field as boolean.
 */
void report_put_value(struct json_writer *w, const char *key, enum dependency_field field,
                      bool value);

/*
 * Appends "resolved": the resolved value of a dependency field; null if the outcome is
 * undetermined, with the reason as "undetermined".
 */
void report_put_resolved(struct json_writer *w, enum dependency_field field,
                         enum dependency_outcome outcome, bool resolved);

/* Appends "karmada": the releases that Karmada may run, and how they were found. */
void report_put_release(struct json_writer *w, struct release_range range);

/*
 * Returns true if the binding of a dependency has values. False without a binding, and with a
 * derived referrer (dependency.h): Karmada has not resolved the values with it yet.
 */
bool dependency_value_is_stored(const struct entry *dependency);

/* Appends "stored": the value in the binding; null unless dependency_value_is_stored(). */
void report_put_stored(struct json_writer *w, const struct entry *dependency,
                       enum dependency_field field);

/* ---- transitions of templates ---- */

/* Appends a transition as JSON; "before" and "after" are null or have members of row_write(). */
void transition_write(struct json_writer *w, const struct transition *x);

/*
 * Appends the differences for people: "state pending (no_match) to unbound (waiting); policy ...".
 * For a template that appears or disappears, appends only its state.
 */
void transition_add_text(struct strbuf *out, const struct transition *x);

/* ---- versions of policies ---- */

/* The templates that run a version of a policy, with sums over the clusters of their bindings. */
struct version_use {
    const struct policy_version *version;
    uint32_t templates; /* Number of templates that run the version. */
    int64_t replicas;
    double cores;          /* CPU that the replicas request. */
    double memory;         /* Memory that the replicas request, in bytes. */
    const char **clusters; /* Names in byte order; the array is owned, names are borrowed. */
    size_t cluster_count;
};

struct version_uses {
    struct version_use *items; /* Newest first; the unknown version last, if templates run it. */
    size_t count;
};

/*
 * Returns all known versions of a policy, and the unknown version if templates run it; empty if the
 * policy has no history. Release the result with version_uses_release().
 */
struct version_uses version_uses_of(const struct entry *policy) MUST_USE;
void version_uses_release(struct version_uses *uses);

/*
 * Appends "version", "behind" and "supersededSince" of the version that a template runs; each is
 * null if unknown, and all are null if `v` is NULL. Appends "versionUnknown" if no known version
 * has the values of the template's binding.
 */
void report_put_version(struct json_writer *w, const struct policy_version *v);

/* Appends the members of a version and of its use; null for data that the unknown version lacks. */
void report_put_version_use(struct json_writer *w, const struct version_use *use);

/* Appends "versions", the uses of a policy's versions; [] without a history. */
void report_put_versions(struct json_writer *w, const struct entry *policy);
