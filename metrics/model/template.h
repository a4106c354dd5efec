/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

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
 * Annotation that `reconcile` sets to the current time, so that Karmada observes a change by a
 * user. A key with ".karmada.io" would count as Karmada's own, and a Lazy policy would not be
 * applied.
 */
#define RECONCILE_ANNOTATION "karmada-policy-exporter/reconcile-at"

/*
 * References and replicas are unknown if the source has read metadata only. Labels, claim, the
 * part for Config Connector and the owner are part of the template's own allocation: never pass
 * them to labels_release() or claim_free().
 */
struct template
{
    struct labels labels;
    struct claim *claim;          /* NULL if no policy claims it. */
    const char *claimed_by;       /* Label resourcetemplate.karmada.io/claimed-by; else NULL. */
    struct reference *references; /* In the order of references_decode(). */
    const char *requests;         /* For requests_parse(); NULL if empty or unknown. Interned. */
    const char *changed_by;       /* Use template_changed_by(). */
    uint32_t reference_count;
    int32_t replicas;          /* -1 if unknown. */
    int64_t created_ms;        /* 0 if unknown. */
    int64_t changed_ms;        /* Last change by a user, not by Karmada; 0 if unknown. */
    uint64_t resource_version; /* 0 if unknown. */
    /* resourceVersion of the last user's change that the source observed; 0 if unknown. */
    uint64_t user_version;
    struct traces traces;
    uint32_t uid_hash; /* uid_hash() of the UID of the template. */
    int32_t priority;  /* Value of a PriorityClass, if `has_priority`. */
    bool has_priority : 1;
    bool references_known : 1;      /* Member `known` of struct references. */
    bool user_version_is_lower : 1; /* user_version is the version before the change. */
    bool user_change_observed : 1;  /* The source has observed the change at changed_ms. */
    bool undated : 1;         /* The change has no time: template_set_change_time() sets it. */
    bool changer_unknown : 1; /* changed_ms is not a time of managedFields. */
    bool claim_moves_generation : 1; /* A change of the claim increments the generation. */
    bool claim_incomplete : 1;       /* The claim has only an id: Karmada matches policies again. */
    bool deleting : 1;
    bool reconciled : 1; /* RECONCILE_ANNOTATION is set. */
    bool has_owner : 1;  /* Use template_owner(). */
    bool unread : 1;     /* Only the identity is known: reading is forbidden. */
    uint8_t role;        /* Value of enum connector_role. */
};

/* Return the Config Connector part of a template; NULL if `t` is NULL or has another role. */
const struct connector *template_connector(const struct template *t);
const struct connector_defaults *template_connector_defaults(const struct template *t);
const struct namespace_ids *template_namespace_ids(const struct template *t);

/*
 * Returns the field manager of the change at changed_ms (an interned string); NULL if unknown, for
 * example if the source observed a change that has no time.
 */
const char *template_changed_by(const struct template *t);

/*
 * Returns the owner of the template: the value of the label, else of the annotation, with the key
 * of store_set_owner_key(). Interned; NULL if there is no owner or the value is longer than 256
 * bytes.
 */
const char *template_owner(const struct template *t);

/* Returns true if Karmada reads the replicas of the kind without an interpreter. */
bool kind_has_replicas(const char *api_version, const char *kind);

/*
 * Returns the requests of one pod, parsed from `requests` of a template; NULL if `text` is NULL.
 * The caller drops the resource names and frees the array.
 */
struct resource_request *requests_parse(struct intern *strings, const char *text, uint32_t *count);

/*
 * Returns a copy of `t` with the claim `claim`, which may be NULL. The copy borrows from `t` and
 * `claim`: free it with free(), before both.
 */
struct template *template_copy_with_claim(const struct template *t,
                                          const struct claim *claim) MUST_USE;

/*
 * Makes `t` the successor of `old` after a change by a user: it keeps the identity of `old` and
 * gets `version` (not 0) as the version of that change. The time of the change is unknown.
 */
void template_apply_user_change(struct template *t, const struct template *old, uint64_t version);

/*
 * Returns true if rules read the content of the object even if it is not a template: a
 * PriorityClass, or an object with settings of Config Connector (CLASS_SETTING).
 */
bool is_setting_object(const cJSON *json);

/* Callbacks of the row in the table of kinds (struct kind_def). */
void *template_decode(struct decode *d, const cJSON *json);
void template_release(struct intern *strings, void *object);
void template_inherit(void *fresh, const void *last, bool relisted);

/* Sets changed_ms to `now_ms` if the source has observed a change without a time (`undated`). */
void template_set_change_time(struct template *t, int64_t now_ms);
