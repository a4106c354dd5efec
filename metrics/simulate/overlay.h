/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/engine.h"
#include "metrics/rules/prediction.h"
#include "metrics/rules/replica_projection.h"
#include "metrics/rules/rule.h"

/*
 * Overlay over the store of an engine for a simulation of Karmada: replaces objects, keeps the
 * originals, and restores all of them in the end. A queue holds the templates that the simulated
 * Karmada is to process. The cost depends on the number of changes, not on the size of the store.
 */
struct overlay;
struct quota_totals;

/*
 * Assumptions and limits of a simulation; a set has a bit for each row. A row has an enumerator and
 * a sentence for people.
 */
#define ASSUMPTIONS(ROW)                                                                           \
    ROW(PREEMPTION_OFF, "PropagationPolicyPreemption is off, its default: no policy takes over a " \
                        "template by preemption. Set --karmada.feature-gates if it is on.")        \
    ROW(PREEMPTION_ON, "PropagationPolicyPreemption is on (--karmada.feature-gates).")             \
    ROW(DEPENDENCIES_ON, "PropagateDeps is on. If Karmada was installed by its Helm chart, it is " \
                         "off there: set --karmada.feature-gates.")                                \
    ROW(DEPENDENCIES_OFF, "PropagateDeps is off: Karmada creates no bindings of dependencies.")    \
    ROW(REFERENCES_UNKNOWN,                                                                        \
        "Some templates are known by metadata only: their dependencies stay unchanged.")           \
    ROW(REPLICAS_UNKNOWN,                                                                          \
        "Some templates are known by metadata only: their replicas are unknown.")                  \
    ROW(CLUSTERS_NAMED,                                                                            \
        "No Cluster objects are known: placements use all clusters that they name.")               \
    ROW(SCHEDULED_ONLY, "Member clusters accept everything that is scheduled to them.")            \
    ROW(LEAVING,                                                                                   \
        "Karmada deletes the copies that leave a cluster. The change also changes "                \
        "preserveResourcesOnDeletion: the order of Karmada's controllers decides which value "     \
        "applies to them.")                                                                        \
    ROW(PRIORITY_CLASS,                                                                            \
        "The PriorityClasses that policies name exist. Without its PriorityClass, Karmada does "   \
        "not apply a policy.")                                                                     \
    ROW(QUOTA,                                                                                     \
        "FederatedQuotaEnforcement is on (--karmada.feature-gates), and the requests of some "     \
        "templates, or the quotas, are not known: no FederatedResourceQuota refuses these "        \
        "templates.")                                                                              \
    ROW(KIND_UNREAD, "Some selected or changed kinds are not completely read: templates of these " \
                     "kinds stay unchanged.")                                                      \
    ROW(EVICTION_OFF,                                                                              \
        "Failover is off, its default: no template leaves a cluster because of the new NoExecute " \
        "taint. Set --karmada.feature-gates if it is on.")                                         \
    ROW(EVICTION_ON,                                                                               \
        "Since Karmada 1.14, evictions also need --enable-no-execute-taint-eviction of its "       \
        "controller manager, which is off by default: the plan assumes that it is set. All "       \
        "tolerationSeconds and eviction tasks are over.")                                          \
    ROW(NO_TAINT_POLICY,                                                                           \
        "There is no ClusterTaintPolicy, because the exporter reads none from an API server. If "  \
        "there are some, add them with -f.")

#define ASSUMPTION_ENUMERATOR(id, text) ASSUMED_##id,
enum assumption { ASSUMPTIONS(ASSUMPTION_ENUMERATOR) ASSUMPTION_COUNT };
extern const char *const assumption_texts[ASSUMPTION_COUNT];

/* One template that the simulated Karmada is to process. */
struct queue_item {
    struct entry *template;
    /*
     * The item does not count as a user's change (Karmada: ResourceChangeByKarmada). Without static
     * takeover, a Lazy policy then only claims the template. With static takeover, no policy is
     * applied if a policy has made the binding, unless the binding lacks the user's last change.
     */
    bool by_karmada;
};

/*
 * Returns an overlay over the store of the engine, which must have no evaluation left to do. Until
 * overlay_free(), only the overlay may change the store. Simulated time is fixed at the last
 * run of the engine. The engine's own observer is not called, and no history is recorded.
 */
struct overlay *overlay_new(struct engine *e) MUST_USE;
/* Restores objects, decisions and the engine's observer, and frees the overlay. Accepts NULL. */
void overlay_free(struct overlay *overlay);

/* Limit of a simulation: `reached` returns true to end the simulation; NULL for no limit. */
struct overlay_limit {
    bool (*reached)(void *context);
    void *context;
};
void overlay_set_limit(struct overlay *overlay, struct overlay_limit limit);
/* Returns true if the limit is reached, or was at an earlier call: the simulation is incomplete. */
bool overlay_limit_reached(struct overlay *overlay);

/* Returns the state that the rules of the overlay's engine share. */
struct rule_context *overlay_context(const struct overlay *overlay);
/*
 * Sets the releases that Karmada may have, until overlay_restore_release() or overlay_free(). Then
 * call overlay_evaluate().
 */
void overlay_set_release(struct overlay *overlay, struct release_range release);
void overlay_restore_release(struct overlay *overlay);
/* Returns true if a feature gate of Karmada is on. */
bool overlay_gate_is_on(const struct overlay *overlay, enum gate gate);
/* Records that the simulation depends on an assumption. */
void overlay_assume(struct overlay *overlay, enum assumption assumption);
/* Returns the recorded assumptions, bits by enum assumption, and clears them. */
unsigned overlay_take_assumptions(struct overlay *overlay);

/* ---- objects ---- */

/*
 * Replaces the object of the entry by `object`, or removes it if `object` is NULL, until
 * overlay_rollback() or overlay_free(). `object` is borrowed, and a cell of the store's memory
 * (intern_memory()): overlay_own_object(), overlay_own_cell() and overlay_alloc_cell() own one.
 */
void overlay_replace(struct overlay *overlay, struct entry *entry, void *object);
/* Passes the ownership of `memory`, allocated by malloc(), to the overlay. Returns `memory`. */
void *overlay_own_memory(struct overlay *overlay, void *memory);
/* Passes the ownership of `cell`, allocated by pool_alloc(), to the overlay. Returns `cell`. */
void *overlay_own_cell(struct overlay *overlay, void *cell);
/* Returns an uninitialized cell of the store's memory that the overlay owns. */
void *overlay_alloc_cell(struct overlay *overlay, size_t bytes) MUST_USE;
/* Passes the ownership of `object`, decoded as kind `def`, to the overlay. Returns `object`. */
void *overlay_own_object(struct overlay *overlay, const struct kind_def *def, void *object);
/* Returns the interned string equal to `text`, valid until the overlay is freed. */
const char *overlay_intern(struct overlay *overlay, const char *text);

/*
 * Returns the placement of a canonical JSON text (struct propagation), resolved to member clusters;
 * valid until the next call. The overlay keeps one reference, so that a sequence of templates with
 * the same placement parses the text once.
 */
const struct resolved_placement *overlay_resolve_placement(struct overlay *overlay,
                                                           const char *text);

/* Returns the sums for quotas over the bindings of the store, replaced objects included. */
struct quota_totals *overlay_quota_totals(const struct overlay *overlay);

/*
 * Moves the next replacement of an object to `entry` and `old`, the object before it (may be NULL),
 * in the order of the replacements; a rollback takes replacements back. Returns false at the end.
 */
bool overlay_next_replacement(struct overlay *overlay, struct entry **entry, const void **old);

/* Evaluates entries until all decisions are up to date with the replaced objects. */
void overlay_evaluate(struct overlay *overlay);

/* Returns a mark of the present objects for overlay_rollback(). The queue must be empty. */
size_t overlay_mark(const struct overlay *overlay);
/*
 * Undoes all replacements of objects since the mark; with mark 0 all of them. Decisions stay
 * outdated until overlay_evaluate(), and recorded assumptions stay.
 */
void overlay_rollback(struct overlay *overlay, size_t mark);

/*
 * Observer of entries. `touched` is called before overlay_replace() changes the object of an entry,
 * and before each evaluation of an entry, which may change its decision. All zero: no observer.
 */
struct overlay_observer {
    void (*touched)(void *context, struct entry *entry);
    void *context;
};
/* Replaces the observer. */
void overlay_observe(struct overlay *overlay, struct overlay_observer observer);

/* ---- queue ---- */

/* Appends an item, even if the template is already queued. */
void overlay_enqueue(struct overlay *overlay, struct queue_item item);
/* Moves the oldest item of the queue to `out`. Returns false if the queue is empty. */
bool overlay_dequeue(struct overlay *overlay, struct queue_item *out);

/* Records a template that is still queued when the simulation is given up. */
void overlay_note_unsettled(struct overlay *overlay, struct entry *template);
/*
 * Returns the templates of overlay_note_unsettled() without duplicates, in the order of
 * entry_compare(). Borrowed.
 */
const struct entry_list *overlay_unsettled_templates(const struct overlay *overlay);

/*
 * Returns the entries of a class with a decision that depends on `entry` (`readers` of struct
 * entry), as of their last evaluation. Release the list with entry_list_release().
 */
struct entry_list list_readers(const struct entry *entry, enum object_class class);

/* ---- bindings ---- */

/*
 * Returns the entry with the name of a template's binding; adds it to the store if missing. The
 * entry may have no object, or the binding of another template (binding_belongs_to).
 */
struct entry *overlay_binding_entry(struct overlay *overlay, const struct entry *template);
/*
 * Returns true if the binding refers to this existing template by apiVersion, kind, namespace, name
 * and, if both are known, uid. Karmada can give bindings of other templates the same name.
 */
bool binding_belongs_to(const struct binding *b, const struct entry *template);

/*
 * Returns a shallow copy of a binding, owned by the overlay. The caller may replace members, but
 * not change the objects that they point to: `old` owns these.
 */
struct binding *overlay_copy_binding(struct overlay *overlay, const struct binding *old) MUST_USE;
/*
 * Returns a binding, owned by the overlay, that has only the identity and uid of the template. All
 * other members are zero.
 */
struct binding *overlay_new_binding(struct overlay *overlay, const struct entry *template) MUST_USE;

/*
 * Sets the suspended targets of `fresh` from its suspension. Karmada neither creates nor updates
 * their copies; a copy that the cluster has from `old` (may be NULL) stays there as it is. Must be
 * called after each change of targets or suspension.
 */
void overlay_suspend_targets(struct overlay *overlay, const struct binding *old,
                             struct binding *fresh);

/* Marks the clusters of the binding as unpredictable: only the real scheduler can select them. */
void binding_set_undetermined(struct binding *b, enum undetermined_reason reason);

/* Marks the binding as made from the version `t` of its template, at an unknown time. */
void binding_set_template_version(struct binding *b, const struct template *t);

/* ---- outcomes ---- */

/* A referrer of an attached template, and its clusters. */
struct outcome_referrer {
    const char *ns; /* Namespace and name of the referrer's binding. Interned. */
    const char *name;
    struct target_cluster *clusters; /* By name. Owned array. */
    uint32_t cluster_count;
    enum undetermined_reason undetermined; /* UNDETERMINED_REASON_COUNT: the clusters are known. */
};

/* State of a template at one moment, as shown to users. */
struct outcome {
    bool exists; /* The template exists and has a decision; else the others are empty. */
    enum template_state state;
    unsigned reason;
    /* The claimed policy, else the governing policy; NULL without both. Pinned, because the entry
     * of a policy that does not exist may have no other reference. */
    struct entry *policy;
    struct target_cluster *clusters;    /* Targets of the binding, by name. Owned array. */
    struct outcome_referrer *referrers; /* By namespace and name. Owned array. */
    uint32_t cluster_count;
    uint32_t referrer_count;
    enum undetermined_reason undetermined; /* UNDETERMINED_REASON_COUNT: the clusters are known. */
    struct predicted predicted;            /* Outcome for users. */
    const struct binding *binding;         /* NULL if the template has no binding. Borrowed. */
};

/*
 * Sets `out` from the template's decision. The binding and the names of clusters are borrowed from
 * the store or the overlay. Release `out` with outcome_release().
 */
void outcome_read(const struct store *store, const struct entry *template, struct outcome *out);
void outcome_release(struct outcome *o, struct store *store);

/*
 * Returns the results of different releases if these make the clusters undetermined, such as "until
 * 1.15 m2: 2, from 1.16 m1: 1 and m2: 1"; else NULL. Borrowed.
 */
const char *outcome_by_release(const struct outcome *o);

/*
 * Returns true if scheduling is suspended for the template: changes of its placement and replicas
 * have no effect before the suspension ends.
 */
bool outcome_waits_for_scheduling(const struct outcome *o);

/* Returns the target of this name; NULL without one. */
const struct target_cluster *outcome_find_cluster(const struct outcome *o, const char *name);

/* Returns true if clusters, replicas and `undetermined` of both outcomes are equal. */
bool outcome_clusters_equal(const struct outcome *a, const struct outcome *b);
/*
 * Returns the fields of struct propagation in which the bindings of the outcomes differ, bits by
 * enum drift_field; 0 if an outcome has no binding.
 */
unsigned outcome_differing_fields(const struct outcome *a, const struct outcome *b);
/* Returns true if a referrer of both outcomes has other clusters. */
bool outcome_referrers_move(const struct outcome *a, const struct outcome *b);
/*
 * Returns true if existence, state, reason, policy, clusters, prediction, binding fields and the
 * replicas that wait for the scheduler are equal, and no referrer moves. A referrer that is added
 * or removed counts by its clusters alone.
 */
bool outcome_equal(const struct outcome *a, const struct outcome *b);
