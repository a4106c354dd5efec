/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/engine.h"
#include "metrics/rules/replica_projection.h"
#include "metrics/rules/rule.h"

/*
 * Overlay over the store of an engine for a simulation of Karmada: replaces objects, keeps the
 * originals, and restores all of them in the end. A queue holds the templates that the simulated
 * Karmada has not processed yet. The cost depends on the number of changes, not on the store.
 */
struct overlay;

/*
 * Assumptions of a simulation that no object confirms; bits. A row has an enumerator and a sentence
 * for people.
 */
#define ASSUMPTIONS(ROW)                                                                           \
    ROW(PREEMPTION_OFF,                                                                            \
        "PropagationPolicyPreemption is off, as it is by default: a policy with preemption "       \
        "Always takes no template from another. --karmada.feature-gates says otherwise.")          \
    ROW(PREEMPTION_ON, "PropagationPolicyPreemption is on, as --karmada.feature-gates says.")      \
    ROW(DEPENDENCIES_ON,                                                                           \
        "PropagateDeps is on, which it is not where Karmada's Helm chart has installed it.")       \
    ROW(DEPENDENCIES_OFF, "PropagateDeps is off: no binding is made for dependencies.")            \
    ROW(REFERENCES_UNKNOWN,                                                                        \
        "Of some templates only the metadata is known: their dependencies are left as they are.")  \
    ROW(REPLICAS_UNKNOWN,                                                                          \
        "Of some templates only the metadata is known: how many replicas they want is not.")       \
    ROW(CLUSTERS_NAMED,                                                                            \
        "There are no Cluster objects: placements use all clusters that they name.")               \
    ROW(SCHEDULED_ONLY, "Member clusters take what is scheduled to them: this ends there.")        \
    ROW(NOT_SIMULATED,                                                                             \
        "Of the change only policies, templates and what policies depend on are played: "          \
        "override policies, quotas, rebalancers and clusters act on what runs, not on bindings.")

#define ASSUMPTION_ENUMERATOR(id, text) ASSUMED_##id,
enum assumption { ASSUMPTIONS(ASSUMPTION_ENUMERATOR) ASSUMPTION_COUNT };
extern const char *const assumption_texts[ASSUMPTION_COUNT];

/* One template that the simulated Karmada has to process. */
struct queue_item {
    struct entry *template;
    /* The cause is Karmada or a Lazy policy, not the user: Lazy policies are not applied. */
    bool by_karmada;
};

/*
 * Returns an overlay over the store of the engine, which must have no evaluation left to do. Until
 * overlay_free(), only the overlay may change the store. Simulated time is fixed at the last
 * run of the engine, and the engine's own observer is not called.
 */
struct overlay *overlay_new(struct engine *e) MUST_USE;
/* Restores all objects, evaluates them again and frees the overlay. Does nothing for NULL. */
void overlay_free(struct overlay *overlay);

/* Limit of a simulation, checked while it runs; without a limit if `reached` is NULL. */
struct overlay_limit {
    bool (*reached)(void *context);
    void *context;
};
void overlay_set_limit(struct overlay *overlay, struct overlay_limit limit);
/* Returns true from the first time that the limit was reached: the simulation is incomplete. */
bool overlay_limit_reached(struct overlay *overlay);

struct rule_context *overlay_context(const struct overlay *overlay);
/* Returns whether a feature gate of Karmada is on. */
bool overlay_gate_is_on(const struct overlay *overlay, enum gate gate);
/* Records that the simulation depends on an assumption. */
void overlay_assume(struct overlay *overlay, enum assumption assumption);
/* Returns the recorded assumptions, bits by enum assumption, and clears them. */
unsigned overlay_take_assumptions(struct overlay *overlay);

/* ---- objects ---- */

/*
 * Replaces the object of the entry until the overlay is freed or rolled back; NULL removes it. The
 * overlay does not own `object`: see overlay_own_memory() and overlay_own_object().
 */
void overlay_replace(struct overlay *overlay, struct entry *entry, void *object);
/* Returns `memory`, which is freed together with the overlay. */
void *overlay_own_memory(struct overlay *overlay, void *memory);
/* Returns `object`, of kind `def`, which is released together with the overlay. */
void *overlay_own_object(struct overlay *overlay, const struct kind_def *def, void *object);
/* Returns the interned string equal to `text`, valid until the overlay is freed. */
const char *overlay_intern(struct overlay *overlay, const char *text);

/*
 * Parses a placement, as JSON text, and resolves it to member clusters; the result is valid until
 * the next call. All templates of a policy have the same placement, so the last result is cached.
 */
const struct resolved_placement *overlay_placement(struct overlay *overlay, const char *text);

/* Updates the decisions of all entries that replacements of objects have outdated. */
void overlay_evaluate(struct overlay *overlay);

/*
 * Returns a mark of the present objects (not of the recorded assumptions) for overlay_rollback().
 * The queue must be empty.
 */
size_t overlay_mark(const struct overlay *overlay);
/* Undoes all replacements since the mark; with mark 0 all of them. */
void overlay_rollback(struct overlay *overlay, size_t mark);

/*
 * Observer of entries. `touched` is called before each replacement of an object and before each
 * evaluation, while the old object and decision can still be read. All zero for no observer.
 */
struct overlay_observer {
    void (*touched)(void *context, struct entry *entry);
    void *context;
};
void overlay_observe(struct overlay *overlay, struct overlay_observer observer);

/* ---- queue ---- */

void overlay_enqueue(struct overlay *overlay, struct queue_item item);
/* Moves the oldest item of the queue to `out`. Returns false if the queue is empty. */
bool overlay_dequeue(struct overlay *overlay, struct queue_item *out);

/* Records a template that was still queued when the simulation was given up. */
void overlay_note_unsettled(struct overlay *overlay, struct entry *template);
/* Returns the recorded templates without duplicates, in the order of entry_compare(). Borrowed. */
const struct entry_list *overlay_unsettled(const struct overlay *overlay);

/*
 * Returns the entries of a class that have decisions which depend on `entry` at present. Release
 * the list with entry_list_release().
 */
struct entry_list entries_depending_on(const struct entry *entry, enum object_class class);

/* ---- bindings ---- */

/*
 * The simulated Karmada writes bindings as copies in memory of the overlay, which borrow all
 * unchanged members from the original.
 */

/* Returns the entry of a template's binding; the binding itself need not exist. */
struct entry *overlay_binding_entry(struct overlay *overlay, const struct entry *template);
/*
 * Returns true if the binding belongs to this template, not to another template that Karmada gives
 * the same binding name.
 */
bool binding_belongs_to(const struct binding *b, const struct entry *template);

/* Returns a copy of a binding that the caller may change; the overlay owns it. */
struct binding *overlay_copy_binding(struct overlay *overlay, const struct binding *old) MUST_USE;
/* Returns a new binding of the template, without placement, claim and referrers. */
struct binding *overlay_new_binding(struct overlay *overlay, const struct entry *template) MUST_USE;

/* Marks the clusters of the binding as unknown: only the real scheduler can determine them. */
void binding_set_undetermined(struct binding *b, enum undetermined_reason reason);

/* Marks the binding as made from the present version of the template. */
void binding_set_template_version(struct binding *b, const struct template *t);

/* ---- outcomes ---- */

/* State of a template at one moment, as shown to users. */
struct outcome {
    bool exists; /* The template exists; if false, all members are zero. */
    enum template_state state;
    unsigned reason;
    /* The claimed policy, else the policy that would claim it; NULL if there is no such policy.
     * Pinned, because nothing else may refer to a policy that does not exist. */
    struct entry *policy;
    struct target_cluster *clusters; /* Clusters of the template's own binding, by name. Owned. */
    uint32_t cluster_count;
    enum undetermined_reason undetermined; /* UNDETERMINED_REASON_COUNT: the clusters are known. */
    const struct binding *binding;         /* NULL if the template has no binding. Borrowed. */
};

/*
 * Fills `out` from the template's decision. Borrowed members are valid as long as the objects that
 * they point to.
 */
void outcome_read(const struct entry *template, struct outcome *out);
void outcome_release(struct outcome *o, struct store *store);

/* Returns true if both outcomes have the same clusters and replicas, as far as they are known. */
bool outcome_has_same_clusters(const struct outcome *a, const struct outcome *b);
/* Returns the fields of policies in which the bindings differ; bits by enum drift_field. */
unsigned outcome_differing_fields(const struct outcome *a, const struct outcome *b);
/* Returns true if users see no difference between the two outcomes. */
bool outcome_equal(const struct outcome *a, const struct outcome *b);
