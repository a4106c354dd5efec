/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"
#include "metrics/rules/admission/crd_fields.h"
#include "metrics/rules/control_plane.h"

/*
 * Places in an object under review: a value, its path, and the fields that the schema allows below.
 * Used by the files of this folder only.
 */
struct place {
    const struct place *parent; /* NULL: the object itself. */
    const char *key;            /* Name of the field; NULL: an element of an array. */
    size_t index;               /* Position of the element. */
    const cJSON *item;          /* The value, also null; NULL: absent. */
    const cJSON *value;         /* `item`, if it is not null. */
    release_set releases;       /* Releases that do not drop the value. */
    uint16_t first;             /* First of the `count` rows of crd_fields below the value. */
    uint16_t count;
};

/* Fields of one name in a list of crd_fields. `count` is 0 if the list has no such field. */
struct field_variants {
    const struct crd_field *items;
    size_t count;
    release_set releases; /* Releases that have the field. */
};

/* Returns the fields of a name below a place. */
struct field_variants place_find_fields(const struct place *p, const char *name);

/* Returns the place of a member; its value is NULL if the member is absent, null or dropped. */
struct place place_member(const struct place *p, const char *name);
/*
 * Sets `element` to the next element of the array `p`; returns false at the end, and if `p` is no
 * array. `element` is all zero before the first call.
 */
bool place_next_element(const struct place *p, struct place *element);

/* Return a member's text or number; "" or 0 if it is absent, dropped or of another type. */
const char *place_text(const struct place *p, const char *name);
double place_number(const struct place *p, const char *name);
/* Returns true if the place is a list with elements. */
bool place_has_elements(const struct place *list);
/*
 * Returns a text that two elements of a list have as `key`; NULL if all differ. `with_empty`: ""
 * counts too.
 */
const char *place_find_twice(const struct place *list, const char *key, bool with_empty);

/*
 * Returns the place of a member of which the table has no row, such as a label; its value is NULL
 * if the member is absent or null.
 */
struct place place_unlisted_member(const struct place *p, const char *name);

/* Returns the kind of Karmada with this apiVersion and kind; NULL if it is not in the table. */
const struct crd_kind *admission_find_kind(const char *api_version, const char *kind);

/* Findings of a review. */
struct review {
    const struct crd_kind *kind;
    const char *ns; /* Namespace of the object; "" without a namespace. */
    struct strbuf texts;
    struct admission_finding *items;
    size_t count;
    release_set refused;
    release_set pruned;
};

/* Adds a refusal of the value at `p`; the text is the predicate of a sentence. */
void review_refuse(struct review *r, const struct place *p, release_set releases, const char *text,
                   ...) PRINTF_LIKE(4, 5);

/* Maps of texts, which differ in the syntax of keys and values. */
enum text_map { MAP_OF_LABELS, MAP_OF_ANNOTATIONS };

/* Refuses invalid keys and values of the map, and annotations that are too large. */
void review_text_map(struct review *r, const struct place *map, enum text_map kind);

/* Adds the refusals of the metadata of an object. `root` is the place of the object. */
void metadata_review(struct review *r, const struct place *root);

/* Returns the releases that accept gracePeriodSeconds with a purgeMode; "" is the default. */
release_set webhook_graceful_releases(const char *purge_mode);
/* Returns true if a selector of the list names ServiceImports: then propagateDeps is true. */
bool webhook_finds_service_import(const struct place *selectors);

/* Adds the refusals of Karmada's own API server for a Cluster. `root` is the place of the object.
 */
void cluster_review(struct review *r, const struct place *root);

/* Adds the refusals of the webhooks of kinds that are no policies; part of webhook_review(). */
void webhook_review_other(struct review *r, const struct place *spec);

/* Adds the refusals of Karmada's validating webhooks. `spec` is the place of the spec. */
void webhook_review(struct review *r, const struct place *spec);
