/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/model/claim.h"
#include "metrics/model/connector_resource.h"
#include "metrics/model/managed_fields.h"
#include "metrics/model/references.h"

#define PRIORITY_CLASS_API_VERSION "scheduling.k8s.io/v1"
#define PRIORITY_CLASS_KIND        "PriorityClass"

/*
 * What `reconcile` writes into a template, with the time, for Karmada to see a user's change. A key
 * with ".karmada.io" in it would be Karmada's own, and a Lazy policy would go on waiting.
 */
#define RECONCILE_ANNOTATION "karmada-policy-exporter/reconcile-at"

/*
 * What the rules need of a resource template. A source that reads metadata alone yields no
 * references and no replicas: both are unknown then.
 *
 * Labels, claim, the part for Config Connector and the owner are in the template's own allocation:
 * never pass them to labels_release() or claim_free().
 */
struct template
{
    struct labels labels;
    struct claim *claim;          /* NULL if unclaimed. */
    const char *claimed_by;       /* resourcetemplate.karmada.io/claimed-by: another controller. */
    struct reference *references; /* As references_decode orders them. */
    const char *requests;         /* Of one pod (requests.h); NULL if none or unknown. */
    const char *changed_by;       /* See template_changed_by(). */
    uint32_t reference_count;
    int32_t replicas;          /* -1 if unknown. */
    int64_t created_ms;        /* 0 if unknown. */
    int64_t changed_ms;        /* Last change by a user rather than by Karmada; 0 if unknown. */
    uint64_t resource_version; /* 0 if unknown. */
    /* The version at a user's change that the source saw happen, 0 for none; see `user_lower`. */
    uint64_t user_version;
    struct traces traces;
    uint32_t uid_hash; /* Of metadata.uid (identity.h). */
    int32_t priority;  /* `value` of a PriorityClass, if `has_priority`. */
    bool has_priority : 1;
    bool references_known : 1; /* See struct references. */
    bool user_lower : 1; /* The change came after user_version, and not later than this version. */
    bool user_seen : 1;  /* changed_ms is of a change that the source saw. */
    bool undated : 1;    /* It saw one that left no time: template_date() is to give one. */
    bool changer_unknown : 1; /* The time in changed_ms is none of its managedFields. */
    bool claims_count : 1;    /* Karmada's claim moves the generation, too. */
    bool half_claim : 1;      /* It has the id of a claim but not the rest: it is matched anew. */
    bool deleting : 1;
    bool reconciled : 1; /* It has RECONCILE_ANNOTATION. */
    bool has_owner : 1;  /* See template_owner(). */
    bool unread : 1;     /* It exists, and only its identity is known: it may not be read. */
    uint8_t role;        /* To Config Connector: enum connector_role */
};

/* The part of a template for Config Connector; NULL if it has none of this role, or is NULL. */
const struct connector *template_connector(const struct template *t);
const struct connector_defaults *template_connector_defaults(const struct template *t);
const struct namespace_ids *template_namespace_ids(const struct template *t);

/*
 * The manager whose change changed_ms is the time of; shared. NULL if unknown, as of a change that
 * a source saw and that left no time.
 */
const char *template_changed_by(const struct template *t);

/*
 * Whose it is: what the label says whose key the store was given (store_own_by), else the
 * annotation of that key. Shared; NULL if unknown, also where that is too long to be a name.
 */
const char *template_owner(const struct template *t);

/* True for the kinds whose replicas Karmada itself knows to read. */
bool template_has_replicas(const char *api_version, const char *kind);

/*
 * The template with another claim, NULL for none. It borrows all that `t` and `claim` own: free it
 * with free(), before either.
 */
struct template *template_with_claim(const struct template *t, const struct claim *claim) MUST_USE;

/*
 * For a template that stands for `old` after a change by its user: it keeps the identity, and has
 * a version, not 0, that is the user's. When that was is not known.
 */
void template_change(struct template *t, const struct template *old, uint64_t version);

/*
 * True if rules go by what the object itself says, even where it is no template: by a PriorityClass
 * and by what Config Connector goes by. Such are read as settings (kind.c).
 */
bool is_setting(const cJSON *json);

/* As struct kind_def wants them. */
void *template_decode(struct decode *d, const cJSON *json);
void template_release(struct intern *strings, void *object);
void template_succeed(void *fresh, const void *last, bool relisted);

/* The time at which the source saw the change that has none of its own, if there was one. */
void template_date(struct template *t, int64_t now_ms);

/*
 * What one pod of a template requests, as Karmada adds it up for a binding's replicaRequirements
 * (AddPodTemplateRequest): the containers together, no less than any init container, and the
 * overhead. A shared text, because templates of few sizes are many: "cpu 0.1\nmemory 64\n", by
 * resource, in base units.
 */

/*
 * The requests of a text, as many as *count; NULL for none. The names are shared: the caller drops
 * them, and frees the array.
 */
struct resource_request *requests_of(struct intern *strings, const char *text, uint32_t *count);
