/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"

/*
 * When a user last changed an object, from metadata.managedFields, in milliseconds since the
 * epoch; 0 if unknown. An object that only Karmada has changed, or whose generation is 1, was
 * last changed when it was created. Without managedFields the time of a later change is unknown:
 * the time of creation would be too old.
 *
 * An element for the status subresource, or one that owns nothing but status and keys of labels
 * or annotations that contain ".karmada.io", is Karmada's and does not count (Karmada:
 * ResourceChangeByKarmada). The label namespace.karmada.io/skip-auto-propagation is a user's.
 *
 * `by`, unless NULL, becomes the manager of the element that the time is from, borrowed of
 * `metadata`; NULL where the time is that of the creation, or unknown, or has no manager.
 */
int64_t user_changed_ms(struct decode *d, const cJSON *metadata, const char **by);

/* The number in metadata.resourceVersion, or in another member of that name; 0 if it is none. */
uint64_t resource_version_decode(struct decode *d, const cJSON *parent, const char *where);

/* A hash that is only compared with others of its kind; nobody else's choice of text matters. */
uint32_t text_hash32(const char *text);

/*
 * What two versions of an object are compared by to tell a user's change from Karmada's: hashes,
 * because of the texts themselves nothing else is needed. Times are in seconds, as Kubernetes
 * writes them; 0 if unknown.
 */
struct traces {
    uint32_t user_keys;    /* Of the labels and annotations without ".karmada.io". */
    uint32_t karmada_keys; /* Of the annotations with it. */
    /* Without a generation: how many fields users own, else of the content. */
    uint32_t content : 31;
    uint32_t managed : 1; /* There are managedFields. */
    uint32_t generation;  /* 0 if the kind has none. */
    uint32_t newest_s;    /* The last write by whoever is not Karmada (user_write_s). */
    uint32_t newest_by;   /* Whose it was. */
    uint32_t other_s;     /* The last write of another manager than that one. */
};

/* Read the traces of an object. */
void traces_decode(struct decode *d, const cJSON *json, struct traces *out);

/*
 * True if a user made `fresh` of `old`, rather than Karmada or a write of status. `claims_count`:
 * of a kind whose generation annotations move (Deployments), so that Karmada's claim does too.
 */
bool changed_by_user(const struct traces *old, const struct traces *fresh, bool claims_count);

/*
 * When anybody but the manager `karmada` (text_hash32 of its name) last wrote the object, without
 * writes of subresources, of status and of Karmada's keys.
 */
uint32_t user_write_s(const struct traces *t, uint32_t karmada);

/* Who last wrote the spec of an object, and when. */
struct spec_write {
    int64_t time_ms;     /* 0 if unknown. */
    const char *manager; /* Shared: the caller drops it. NULL if unknown. */
};

/* The newest entry of managedFields that owns part of the spec, without a subresource. */
void spec_write_decode(struct decode *d, const cJSON *metadata, struct spec_write *out);

/* When a binding was made from its template's version, and by which manager. */
struct binding_write {
    uint32_t time_s;
    uint32_t manager; /* text_hash32 of its name. */
};

/*
 * The entry of a binding's managedFields that owns f:resource, else the newest without a
 * subresource.
 */
void write_decode(struct decode *d, const cJSON *metadata, struct binding_write *out);
