/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/prediction.h"
#include "metrics/simulate/overlay.h"
#include "metrics/simulate/override_plan.h"

/*
 * Actions of a user in a simulation: applies and deletes objects in an overlay. The caller then
 * lets the simulated Karmada process its queue.
 */

/*
 * Reasons why an object of the change has not its whole effect in the simulation. A row has an
 * enumerator, the outcome, the name in JSON, and a sentence for people.
 */
#define CHANGE_REASONS(ROW)                                                                        \
    ROW(OVERRIDE_POLICY, NOT_SIMULATED, "override_policy",                                         \
        "The override policy selects templates of which only the metadata are known: the plan "    \
        "lacks its effect on them.")                                                               \
    ROW(KIND, NOT_SIMULATED, "kind", "The plan does not simulate objects of this kind.")           \
    ROW(QUOTA_OFF, IGNORED, "quota_not_enforced",                                                  \
        "FederatedQuotaEnforcement is off, its default: spec.overall limits no template. Set "     \
        "--karmada.feature-gates if it is on.")                                                    \
    ROW(QUOTA_ASSIGNMENTS, NOT_SIMULATED, "static_assignments",                                    \
        "The plan does not simulate the ResourceQuotas that Karmada creates in the member "        \
        "clusters of staticAssignments.")                                                          \
    ROW(EVICTION, NOT_SIMULATED, "eviction",                                                       \
        "Karmada may evict templates from the cluster because of its new NoExecute taint; the "    \
        "plan does not simulate evictions.")                                                       \
    ROW(CLUSTER_EVICTS, NOT_SIMULATED, "eviction",                                                 \
        "Karmada deletes the copies in the cluster, except those with "                            \
        "preserveResourcesOnDeletion. Until 1.13 it taints the cluster, too, and may evict the "   \
        "templates; the plan does not simulate evictions: bindings still name the cluster.")       \
    ROW(CLUSTER_NAMED, NOT_SIMULATED, "cluster_named",                                             \
        "Karmada deletes the copies in the cluster, except those with "                            \
        "preserveResourcesOnDeletion. The Cluster stays in deletion, because bindings still name " \
        "it.")                                                                                     \
    ROW(SOURCE_UNREAD, NOT_SIMULATED, "source_unread",                                             \
        "The source cannot be read, so that the result is incomplete")                             \
    ROW(REFUSED, REFUSED, "admission", "The API server refuses the object")                        \
    ROW(PROTECTED, REFUSED, "deletion_protected",                                                  \
        "Karmada's webhook refuses to delete the object, because it has the "                      \
        "label " DELETION_PROTECTION_LABEL ": Always. Remove the label first.")                    \
    ROW(PROTECTED_CONTENT, REFUSED, "deletion_protected",                                          \
        "Karmada's webhook refuses to delete the object, because it has the "                      \
        "label " DELETION_PROTECTION_LABEL                                                         \
        ": Always. Its Namespace stays in phase Terminating, without "                             \
        "the objects that are not protected. Remove the label first.")                             \
    ROW(NAMESPACE_DELETED, REFUSED, "namespace_deleted",                                           \
        "The API server refuses the object, because its Namespace is deleted.")                    \
    ROW(KIND_NOT_SERVED, REFUSED, "kind_not_served",                                               \
        "The API server refuses the object, because it does not serve its kind in this version. "  \
        "Correct apiVersion and kind, or create the CustomResourceDefinition first.")              \
    ROW(KIND_DEFINED, NOT_SIMULATED, "kind_defined",                                               \
        "The change defines the kind of the object: the plan does not simulate objects of a kind " \
        "that the API server does not serve yet.")                                                 \
    ROW(REFUSED_BY_SOME, UNDETERMINED, "release",                                                  \
        "Some of the releases that Karmada may have refuse the object; the plan shows the effect " \
        "in the others. Set --karmada.version.")                                                   \
    ROW(FIELD_PRUNED, STORED, "field_pruned",                                                      \
        "The API server stores the object without fields that its CustomResourceDefinition does "  \
        "not have; the plan shows the effect of the others")                                       \
    ROW(EXCLUSIONS_PRUNED, STORED, "field_pruned",                                                 \
        "No release of Karmada has all fields of the object. The plan assumes a control plane "    \
        "with excludedResources; with --karmada.version, or with the CustomResourceDefinitions, "  \
        "it shows the effect of the other fields")                                                 \
    ROW(REFUSED_LATER, REFUSED, "upgrade",                                                         \
        "The object stays stored and in force after the upgrade, but its next write is refused")   \
    ROW(PRUNED_LATER, STORED, "upgrade",                                                           \
        "After the upgrade the API server drops fields at the next write of the object")           \
    ROW(KEPT_LATER, STORED, "upgrade",                                                             \
        "Before the upgrade the API server drops fields of the object; after the upgrade, its "    \
        "next write stores them")                                                                  \
    ROW(REBALANCER_EXISTS, NOT_SIMULATED, "rebalancer_exists",                                     \
        "The WorkloadRebalancer exists already: the plan cannot tell which of its workloads "      \
        "Karmada has scheduled again.")                                                            \
    ROW(BINDING_MISSING, IGNORED, "binding_missing",                                               \
        "The WorkloadRebalancer names a workload without a binding: Karmada reports "              \
        "ReferencedBindingNotFound and does nothing.")

#define CHANGE_REASON_ENUMERATOR(id, outcome, name, text) CHANGE_REASON_##id,
enum change_reason { CHANGE_REASONS(CHANGE_REASON_ENUMERATOR) CHANGE_REASON_COUNT };

/*
 * An object of the change that has not its whole effect in the simulation, or a source that cannot
 * be read (kind Source).
 */
struct change_object {
    struct identity id; /* Texts of the overlay. */
    enum prediction outcome;
    const char *reason; /* Name for programs. Static, or a text of the overlay. */
    const char *text;   /* Sentence for people. Likewise. */
};

/* Kind of a CustomResourceDefinition; texts of the overlay. */
struct defined_kind {
    const char *group;
    const char *kind;
};

/* The user's actions so far. */
struct user_change {
    struct overlay *overlay;       /* Borrowed. */
    struct change_object *objects; /* In the order of the actions. */
    size_t object_count;
    /* Deleted templates with copies that stay in the member clusters. */
    struct entry_list preserved;
    /* Namespaces that are deleted and not applied again. Texts of the overlay. */
    const char **deleted_namespaces;
    size_t deleted_namespace_count;
    struct defined_kind *defined_kinds; /* Kinds of applied CustomResourceDefinitions. */
    size_t defined_kind_count;
    /* Clusters that are lost after the change; NULL without any. Borrowed. */
    const struct entry_list *lost;
    struct override_plan overrides;
};

/* Initializes an empty list of actions in the overlay, which is borrowed. */
void user_change_init(struct user_change *u, struct overlay *overlay);

/* Adds a source that cannot be read, because of `why`: the result lacks its objects. */
void user_change_note_unread(struct user_change *u, const char *name, const char *why);

/*
 * Adds the policies, override policies and other objects of Karmada's groups that one of two
 * releases refuses, or of which one drops fields. Objects that only the newer release refuses count
 * as stored from now on.
 */
void user_change_note_upgrade(struct user_change *u, enum release older, enum release newer);

/* Frees the lists. */
void user_change_release(struct user_change *u);

/* A decoded object that the user applies. */
struct applied_object {
    struct entry *entry; /* NULL if the object is refused. */
    void *object;        /* Owned by the overlay. */
};

/*
 * Decodes an object that the user applies, as the API server and Karmada's webhooks store it in the
 * newest release that Karmada may have. If all these releases refuse the object, it is new in a
 * Namespace that is deleted, or the API server does not serve its kind, only adds it to `objects`;
 * then `out->entry` is NULL. Returns false and sets `err` if the object is invalid.
 */
bool user_change_decode(struct user_change *u, const cJSON *json, struct applied_object *out,
                        struct error *err) MUST_USE;

/*
 * Applies the object as kubectl does. `json` is the object of user_change_decode(); NULL for a
 * template.
 */
void user_change_apply(struct user_change *u, struct applied_object applied, const cJSON *json);

/*
 * Deletes the object of an entry, if it exists; a Namespace with all objects in it. Objects that
 * Karmada protects against deletion stay, with their Namespace, and are added to `objects`.
 */
void user_change_delete(struct user_change *u, struct entry *entry);

/*
 * Deletes all objects in a Namespace that are not protected. The Namespace need not be in the store
 * itself. Karmada deletes the Namespace in the member clusters too, so that no copy stays there.
 * Returns false if the store has no object in it.
 */
bool user_change_delete_namespace(struct user_change *u, const char *name);

/*
 * Simulates a user's change of a template that has no effect on matching, such as a new annotation.
 * Gives the template a new version and enqueues it. Does nothing if the template does not exist.
 */
void simulation_touch_template(struct overlay *overlay, struct entry *template);
