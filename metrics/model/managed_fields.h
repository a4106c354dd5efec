/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json_filter.h"
#include "metrics/model/decode.h"

/*
 * Changes of an object by users, as opposed to changes by Karmada and writes of status, from
 * metadata.managedFields and from the comparison of two versions of the object.
 *
 * An entry of managedFields is a user entry, unless its subresource is status, or all its fields
 * are status, or labels and annotations with ".karmada.io" in the key (Karmada:
 * ResourceChangeByKarmada). namespace.karmada.io/skip-auto-propagation counts as a user's label.
 */

/* ---- members of metadata that decoders read ---- */

/* List of FIELD(key) for the keys in f:spec of the members of struct propagation. */
#define PROPAGATION_FIELDS(FIELD)                                                                  \
    FIELD("f:placement"), FIELD("f:failover"), FIELD("f:suspension"), FIELD("f:schedulerName"),    \
        FIELD("f:schedulePriority"), FIELD("f:conflictResolution"), FIELD("f:propagateDeps"),      \
        FIELD("f:preserveResourcesOnDeletion")

/* Filter of an object of which all members are read, except parts of managedFields. */
extern const struct json_filter whole_object_fields;

/* Filters of the member `metadata`. Both reduce managedFields. */

/* For bindings and Works: drops also finalizers, ownerReferences and unknown members. */
extern const struct json_filter metadata_fields_of_derived;
/*
 * For templates: marks a positive generation, and reduces managedFields only then, because
 * struct traces counts the fields of objects without a generation.
 */
extern const struct json_filter metadata_fields_of_template;

/* ---- changes ---- */

/*
 * Returns the time of the newest user entry that has a time, in milliseconds since the epoch.
 * Without such an entry, returns the creation time; but 0 (unknown) if the object has no
 * managedFields and its generation is not 1.
 *
 * Sets `by`, unless it is NULL, to the manager of that user entry, borrowed from `metadata`; to
 * NULL if there is no user entry or it has no manager.
 */
int64_t user_change_time_ms(struct decode *d, const cJSON *metadata, const char **by);

/* Returns true if an entry of managedFields that has no subresource owns spec.replicas. */
bool owns_replicas_field(const cJSON *metadata);

/* Returns the number in `parent.resourceVersion`; 0 if it is absent or not a 64-bit number. */
uint64_t resource_version_decode(struct decode *d, const cJSON *parent, const char *where);

/*
 * Summary of one version of an object. A comparison of two summaries shows if a user changed the
 * object between the two versions. Times are in seconds since the epoch; 0 if unknown.
 */
struct traces {
    uint32_t user_keys; /* Hash of labels and annotations without ".karmada.io" in the key. */
    uint32_t karmada_keys : 30;  /* Hash of the annotations with ".karmada.io" in the key. */
    uint32_t managed : 1;        /* managedFields is not empty. */
    uint32_t has_generation : 1; /* `number` is traces_generation(), else traces_content(). */
    uint32_t number;
    uint32_t newest_s;  /* Time of the newest user entry that has no subresource. */
    uint32_t newest_by; /* text_hash32() of the manager of the entry at newest_s. */
    uint32_t other_s;   /* Like newest_s, of all managers except newest_by. */
};

/* Returns metadata.generation, at most UINT32_MAX; 0 if absent. */
static inline uint32_t traces_generation(const struct traces *t)
{
    return t->has_generation ? t->number : 0;
}

/*
 * Returns 0 if the object has a generation. Otherwise returns, if `managed`, the number of fields
 * that users own; if not, a hash of the object without metadata and status.
 */
static inline uint32_t traces_content(const struct traces *t)
{
    return t->has_generation ? 0 : t->number;
}

void traces_decode(struct decode *d, const cJSON *json, struct traces *out);

/*
 * Returns true if a user changed the object between the versions `old` and `fresh`.
 * `claim_moves_generation`: the kind is Deployment, for which a change of annotations, such as
 * those of a claim, increments the generation.
 */
bool was_changed_by_user(const struct traces *old, const struct traces *fresh,
                         bool claim_moves_generation);

/*
 * Returns the time of the newest user entry of a manager other than `manager` (text_hash32() of its
 * name), in seconds since the epoch; 0 if unknown. Ignores entries with a subresource.
 */
uint32_t other_manager_write_time_s(const struct traces *t, uint32_t manager);

/* Last write of the spec of an object. */
struct spec_write {
    int64_t time_ms;     /* 0 if unknown. */
    const char *manager; /* Interned, dropped by the caller; NULL if unknown. */
};

/* Sets `out` from the newest entry that owns part of spec, has a time and has no subresource. */
void spec_write_decode(struct decode *d, const cJSON *metadata, struct spec_write *out);

/* Last write of an object that Karmada derives from a template: a binding or a Work. */
struct binding_write {
    uint32_t time_s;  /* 0 if unknown. */
    uint32_t manager; /* text_hash32() of the manager's name, or of ""; 0 if time_s is unknown. */
};

/*
 * Sets `out` from the newest entry that owns spec.resource, which bindings have. If no entry owns
 * spec.resource, as in Works, sets `out` from the newest entry. Ignores entries that have a
 * subresource or no time.
 */
void binding_write_decode(struct decode *d, const cJSON *metadata, struct binding_write *out);

/* Used only by managed_fields.c and tests. */

/* Returns a hash without a seed. Use it only where intentional collisions do no harm. */
uint32_t text_hash32(const char *text);
