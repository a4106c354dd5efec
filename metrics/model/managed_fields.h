/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"

/*
 * Changes of an object by users, as opposed to changes by Karmada and writes of status, from
 * metadata.managedFields and from the comparison of two versions of the object.
 *
 * An entry of managedFields is Karmada's if it is for the status subresource, or owns nothing but
 * status and labels or annotations with ".karmada.io" in their key (Karmada:
 * ResourceChangeByKarmada); the label namespace.karmada.io/skip-auto-propagation is a user's. All
 * other entries are user entries.
 */

/*
 * Returns the time of the last change by a user in milliseconds since the epoch; 0 if unknown.
 * This is the creation time if only Karmada has changed the object, or if the object has no
 * managedFields and generation 1. Without managedFields the time of a later change is unknown.
 *
 * Sets `by`, unless it is NULL, to the manager of the entry with that time, borrowed from
 * `metadata`; to NULL if the time is unknown or the creation time, or the entry has no manager.
 */
int64_t user_change_time_ms(struct decode *d, const cJSON *metadata, const char **by);

/* Returns the number in `parent.resourceVersion`; 0 if it is absent or not a number. */
uint64_t resource_version_decode(struct decode *d, const cJSON *parent, const char *where);

/*
 * Fingerprint of one version of an object, to tell a user's change from Karmada's. Hashes suffice,
 * because versions are only compared. Times are in seconds since the epoch; 0 if unknown.
 */
struct traces {
    uint32_t user_keys;    /* Hash of the labels and annotations without ".karmada.io". */
    uint32_t karmada_keys; /* Hash of the annotations with ".karmada.io". */
    /* Number of user-owned fields; hash of the object if not `managed`; 0 with a generation. */
    uint32_t content : 31;
    uint32_t managed : 1; /* managedFields is not empty. */
    uint32_t generation;  /* 0 if the kind has no generation. */
    uint32_t newest_s;    /* Time of the newest user entry without a subresource. */
    uint32_t newest_by;   /* text_hash32() of the manager of the entry at newest_s. */
    uint32_t other_s;     /* Time of the newest user entry of another manager. */
};

/* Sets `out` to the fingerprint of an object. */
void traces_decode(struct decode *d, const cJSON *json, struct traces *out);

/*
 * Returns true if a user changed the object between the versions `old` and `fresh`.
 * `claim_moves_generation`: an annotation, such as Karmada's claim, increments the generation of
 * objects of this kind (Deployments).
 */
bool was_changed_by_user(const struct traces *old, const struct traces *fresh,
                         bool claim_moves_generation);

/*
 * Returns the time of the last user entry without a subresource whose manager is not `karmada`
 * (text_hash32() of its name), in seconds since the epoch.
 */
uint32_t user_write_time_s(const struct traces *t, uint32_t karmada);

/* Last write of the spec of an object. */
struct spec_write {
    int64_t time_ms;     /* 0 if unknown. */
    const char *manager; /* Interned, dropped by the caller; NULL if unknown. */
};

/* Sets `out` from the newest entry without a subresource that owns a part of the spec. */
void spec_write_decode(struct decode *d, const cJSON *metadata, struct spec_write *out);

/* Time at which a binding was written from a version of its template, and the manager. */
struct binding_write {
    uint32_t time_s;  /* 0 if unknown. */
    uint32_t manager; /* text_hash32() of the name of the manager. */
};

/*
 * Sets `out` from the newest entry without a subresource that owns spec.resource; if there is no
 * such entry, from the newest entry without a subresource.
 */
void binding_write_decode(struct decode *d, const cJSON *metadata, struct binding_write *out);

/* For tests. */

/* Returns a hash without a seed. Use it only where intentional collisions do no harm. */
uint32_t text_hash32(const char *text);
