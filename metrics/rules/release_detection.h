/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <cjson/cJSON.h>

#include "metrics/rules/control_plane.h"

/*
 * Detection of Karmada's release from the schemas of its own kinds. Each release adds fields to the
 * kinds of policies and bindings; a schema that has or lacks these fields limits the releases that
 * it can come from. Schemas show the release of the CustomResourceDefinitions, not of the running
 * components.
 */

/* Kinds with schemas that differ between releases: enumerator, group, version and kind. */
#define RELEASE_SCHEMAS(ROW)                                                                       \
    ROW(POLICY, "policy.karmada.io", "v1alpha1", "PropagationPolicy")                              \
    ROW(CLUSTER_POLICY, "policy.karmada.io", "v1alpha1", "ClusterPropagationPolicy")               \
    ROW(TAINT_POLICY, "policy.karmada.io", "v1alpha1", "ClusterTaintPolicy")                       \
    ROW(BINDING, "work.karmada.io", "v1alpha2", "ResourceBinding")                                 \
    ROW(CLUSTER_BINDING, "work.karmada.io", "v1alpha2", "ClusterResourceBinding")

#define RELEASE_SCHEMA_ENUMERATOR(id, group, version, kind) RELEASE_SCHEMA_##id,
enum release_schema { RELEASE_SCHEMAS(RELEASE_SCHEMA_ENUMERATOR) RELEASE_SCHEMA_COUNT };

/* Returns the kind of a row. */
const char *release_schema_kind(enum release_schema schema);

/* Releases that the schema of one kind can come from, as indexes; all zero: no schema was read. */
struct release_bounds {
    bool read;
    int oldest;            /* enum release; -1: also releases before the oldest known one. */
    int newest;            /* enum release; -1: only releases before the oldest known one. */
    bool lacks_exclusions; /* A kind of policies without excludedResources. */
};

/* Schemas read so far. All zero is the beginning. */
struct release_evidence {
    struct release_bounds bounds[RELEASE_SCHEMA_COUNT];
    bool group_is_complete; /* A kind of policies without a schema is not on the API server. */
};

/*
 * Adds the schema of a CustomResourceDefinition, if it is that of a row; a later definition of the
 * same kind replaces it. Returns true if the evidence has changed.
 */
bool release_evidence_add_definition(struct release_evidence *e, const cJSON *definition);

/*
 * Adds the schemas of an OpenAPI v3 document, as an API server publishes it for one group and
 * version. Returns false if it is not such a document.
 */
bool release_evidence_add_openapi(struct release_evidence *e, const cJSON *document);

/* Adds the schemas of `from`, where they were read. */
void release_evidence_merge(struct release_evidence *e, const struct release_evidence *from);

/* The releases that the evidence shows, and doubts about them. */
struct release_finding {
    struct release_range range;
    bool is_older; /* The schemas are older than the oldest known release. */
    /*
     * The schemas of these two kinds are not from one release, as after half an upgrade;
     * RELEASE_SCHEMA_COUNT without a contradiction. They may be the same kind.
     */
    enum release_schema behind;
    enum release_schema ahead;
    struct release_bounds behind_bounds;
    struct release_bounds ahead_bounds;
};

/*
 * Returns the releases that all schemas can come from or, without such a release, those from the
 * oldest to the newest one that a schema can come from. Without evidence, the newest release,
 * RELEASE_ASSUMED; else the origin is `origin`.
 */
struct release_finding release_evidence_evaluate(const struct release_evidence *e,
                                                 enum release_origin origin);

/* Returns true if two findings have equal members. */
bool release_finding_equal(const struct release_finding *a, const struct release_finding *b);

/*
 * Appends the warning about a finding: names the contradicting kinds, or releases that are too old.
 * Without a reason for a warning, leaves the text as it is.
 */
void release_finding_warn(const struct release_finding *finding, struct strbuf *out);
