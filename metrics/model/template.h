/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/autoscaler.h"
#include "metrics/model/binding.h"
#include "metrics/model/claim.h"
#include "metrics/model/connector_resource.h"
#include "metrics/model/managed_fields.h"
#include "metrics/model/references.h"

/*
 * Resource template: the parts of an object that the rules need to decide how Karmada propagates
 * it. Namespaces, ConfigMaps and PriorityClasses with settings are decoded as templates, too.
 */

#define PRIORITY_CLASS_API_VERSION "scheduling.k8s.io/v1"
#define PRIORITY_CLASS_KIND        "PriorityClass"

/*
 * Annotation that the command `reconcile` sets to the current time, so that Karmada observes a
 * change by a user. Karmada ignores a change of a key with ".karmada.io" (is_karmada_key()).
 */
#define RECONCILE_ANNOTATION "karmada-policy-exporter/reconcile-at"

/*
 * Annotation of a template that overrides the conflictResolution of its binding in all Works
 * (Karmada: mergeConflictResolution).
 */
#define CONFLICT_RESOLUTION_ANNOTATION "work.karmada.io/conflict-resolution"

/* Members that are equal in many templates: an interned block. Interned members. */
struct template_shared {
    const struct claim *claim; /* Result of claim_decode(); NULL without a claim. */
    /* Of one Pod: see requests_parse(). NULL if none, unknown or too long. */
    const char *requests;
    const char *changed_by; /* Use template_changed_by(). */
    int32_t replicas;       /* -1 if unknown. */
    uint32_t unused;        /* 0: blocks have no padding. */
};

/* Members that few templates have. */
struct template_extra;

/* Bits of a time in milliseconds since the epoch, in a template. */
enum { TEMPLATE_TIME_BITS = 43 };

/*
 * References, replicas and requests are unknown if the source has read metadata only. A store has
 * up to a million templates: rare and shared members are outside, times are as short as possible.
 */
struct template
{
    const struct template_shared *shared;
    const struct reference *references; /* `items` of struct references: template_references(). */
    uint64_t resource_version;          /* 0 if unknown. */
    /* resourceVersion after (user_version_is_lower: before) the last observed change by a user. */
    uint64_t user_version; /* 0 if unknown. */
    struct traces traces;
    pool_handle extra;      /* Cell of struct template_extra; 0 if all members are absent. */
    pool_handle label_keys; /* See template_labels(). */
    uint32_t uid_hash;      /* uid_hash() of the UID of the template. */
    uint32_t created_s;     /* Use template_created_ms(). 0 also outside 1970 to 2106. */
    uint64_t changed : TEMPLATE_TIME_BITS; /* Use template_changed_ms(). */
    bool references_known : 1;             /* Member `known` of struct references. */
    bool user_version_is_lower : 1;        /* user_version is from before the change by the user. */
    bool user_change_observed : 1;         /* The source has observed a change by a user. */
    bool undated : 1;                /* A change was observed, but `changed` is not its time yet. */
    bool changer_unknown : 1;        /* The manager of that change is unknown. */
    bool claim_moves_generation : 1; /* See was_changed_by_user(). */
    bool claim_incomplete : 1; /* has_claim_id(), but no claim: Karmada matches policies again. */
    bool deleting : 1;
    bool protected : 1;  /* Result of deletion_is_protected(). */
    bool reconciled : 1; /* RECONCILE_ANNOTATION is set. */
    bool controlled : 1; /* One of the ownerReferences is a controller. */
    bool unread : 1;     /* Reading the object is forbidden: only its identity is known. */
    bool sets_conflict_resolution : 1; /* CONFLICT_RESOLUTION_ANNOTATION has a valid value. */
    bool overwrites : 1;               /* That value is "overwrite"; else it is "abort". */
    bool replicas_unset : 1; /* The object proves that no user or client sets spec.replicas. */
    pool_handle label_values[];
};

static_assert(sizeof(struct template) <= 80, "a store has up to a million templates");

static inline struct labels template_labels(const struct template *t)
{
    return t->label_keys != 0 ? labels_of_packed(pool_of(t), t->label_keys, t->label_values)
                              : (struct labels){0};
}

/* Returns the value of the label `shared_key`, an interned string; NULL if it is absent. */
static inline const char *template_label(const struct template *t, const char *shared_key)
{
    const struct labels labels = template_labels(t);

    return labels_get(&labels, shared_key);
}

static inline struct references template_references(const struct template *t)
{
    return references_of_block(t->references, t->references_known);
}

static inline const struct claim *template_claim(const struct template *t)
{
    return t->shared->claim;
}

static inline const char *template_requests(const struct template *t)
{
    return t->shared->requests;
}

/* Returns the replicas of the template; -1 if unknown. */
static inline int32_t template_replicas(const struct template *t)
{
    return t->shared->replicas;
}

/* Returns the creation time, in whole seconds as API servers write it; 0 if unknown. */
static inline int64_t template_created_ms(const struct template *t)
{
    return (int64_t)t->created_s * 1000;
}

/* Returns the last change by a user, not by Karmada, in ms; 0 if unknown, or before 1970. */
static inline int64_t template_changed_ms(const struct template *t)
{
    return (int64_t)t->changed;
}

/* Sets template_changed_ms(); a time after the year 2248 becomes the last time of that range. */
void template_set_changed_ms(struct template *t, int64_t changed_ms);

/* Returns the label resourcetemplate.karmada.io/claimed-by, interned; NULL if absent. */
const char *template_claimed_by(const struct template *t);

/* Returns true, and the value of a PriorityClass, if `t` is one with a valid value. */
bool template_priority(const struct template *t, int32_t *value);

/* Return the Config Connector part of a template; NULL if `t` is NULL or has another role. */
const struct connector *template_connector(const struct template *t);
const struct connector_defaults *template_connector_defaults(const struct template *t);
const struct namespace_ids *template_namespace_ids(const struct template *t);

/*
 * Returns the field manager of the change at template_changed_ms(), an interned string; NULL if
 * unknown, for example if that is the time at which the source observed the change.
 */
const char *template_changed_by(const struct template *t);

/*
 * Returns the owner of the template: the value of the label, else of the annotation, with the key
 * of store_set_owner_key(). Interned; NULL if there is no owner or the value is longer than 256
 * bytes.
 */
const char *template_owner(const struct template *t);

/* Returns the autoscaler of a HorizontalPodAutoscaler; NULL for others, without a target or `t`. */
const struct autoscaler *template_autoscaler(const struct template *t);

/*
 * Returns true for kinds of templates of which the rules need the whole object, not its metadata
 * alone, to decide about it or about other templates.
 */
bool template_needs_object(const char *api_version, const char *kind);

/*
 * Returns the JSON text of the whole object; NULL if only its metadata are known, or the store does
 * not keep it (store_keep_documents). May contain secrets.
 */
const char *template_document(const struct template *t);

/* Returns true for Deployment, StatefulSet, ReplicaSet, Job and Pod: their replicas are known. */
bool kind_has_replicas(const char *api_version, const char *kind);
/*
 * Returns true if kind_has_replicas(), or for a custom kind: a resource interpreter of Karmada may
 * read its replicas from any field.
 */
bool kind_may_have_replicas(const char *api_version, const char *kind);

/*
 * Returns `*count` requests of one Pod, parsed from `text`, the member `requests` of a template;
 * NULL if `text` is NULL. The caller drops the resource names and frees the array.
 */
struct resource_request *requests_parse(struct intern *strings, const char *text, uint32_t *count);

/*
 * Returns a copy of `t` with the claim `claim`, which may be NULL. The copy borrows from `t` and
 * `claim`: free it with pool_free(), before both.
 */
struct template *template_copy_with_claim(const struct template *t,
                                          const struct claim *claim) MUST_USE;

/*
 * Makes `t` the result of a change of `old` by a user: sets UID, creation time and traces to those
 * of `old`, resource_version and user_version to `version` (not 0), time and manager to unknown.
 */
void template_apply_user_change(struct template *t, const struct template *old, uint64_t version);

/*
 * For an object of a row with CLASS_SETTING: returns true if the object contains settings, that is,
 * if it is a PriorityClass or has a role for Config Connector.
 */
bool contains_settings(const cJSON *json);

/* Members that template_decode() reads, for the row in the table of kinds (struct kind_def). */
extern const struct json_filter template_fields;

/* Callbacks of the row in the table of kinds (struct kind_def). */
void *template_decode(struct decode *d, const cJSON *json);
void template_release(struct intern *strings, void *object);
void template_inherit(void *fresh, const void *last, bool relisted);

/*
 * If `undated`, raises the time of the change to `now_ms` (its manager is then unknown); clears
 * `undated`.
 */
void template_set_change_time(struct template *t, int64_t now_ms);
