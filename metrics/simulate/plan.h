/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"
#include "metrics/simulate/cluster_loss.h"
#include "metrics/simulate/overlay.h"
#include "metrics/simulate/user_change.h"

/*
 * Plan of a change: applies a user's objects to an overlay, one after another as kubectl does, and
 * lets the simulated Karmada process its queue. The result compares templates, clusters and
 * conflicts before and after. The cost depends on the number of affected objects.
 *
 * Plans are deterministic: no time passes, and the queue is processed in order.
 */
struct plan;

/* ---- result of a plan ---- */

enum plan_side { PLAN_BEFORE, PLAN_AFTER, PLAN_SIDES };

/* Resources with requests that a plan compares with the free capacity of a cluster. */
enum plan_resource { PLAN_CPU, PLAN_MEMORY, PLAN_PODS, PLAN_RESOURCE_COUNT };
/* Names of the enumerators of plan_resource, as Kubernetes names the resources. */
extern const char *const plan_resource_names[PLAN_RESOURCE_COUNT];

/* Sums over the affected templates of a plan in one member cluster. */
struct plan_cluster {
    const char *name;
    int64_t replicas[PLAN_SIDES];
    double cores[PLAN_SIDES];
    double memory_bytes[PLAN_SIDES];
    /* Free amounts that the Cluster reports, by enum plan_resource; NAN if unknown. */
    double free[PLAN_RESOURCE_COUNT];
    unsigned
        exceeded; /* Resources that increase by more than is free: bits by enum plan_resource. */
    bool lost;    /* The plan simulates the loss of the cluster. */
};

/* Sums by member cluster; all zeros is an empty list. */
struct plan_clusters {
    struct plan_cluster *items; /* Sorted by name by plan_finish(). */
    size_t count;
};

/*
 * The time at which the change takes effect on a template. PLAN_AT_NEXT_CHANGE has precedence: the
 * template is stale or unbound after the change, and its user's next change makes it current.
 */
enum plan_when {
    PLAN_AT_ONCE, /* The outcome changes. */
    PLAN_AT_NEXT_CHANGE,
    PLAN_NEVER, /* The outcome stays as it is. */
    PLAN_WHEN_COUNT,
};
/* Names of the enumerators of plan_when in JSON. */
extern const char *const plan_when_names[PLAN_WHEN_COUNT];

/* A template that the change affects. */
struct plan_template {
    const struct entry *template;
    enum plan_when when;
    struct outcome before;
    struct outcome after; /* After Karmada has processed the change. */
    struct outcome next;  /* After the user's next change; only for PLAN_AT_NEXT_CHANGE. */
    struct lost_copies loss;
    /* Behaviours of plan_upgrade() that change the outcome: at once, or at the next scheduling. */
    behaviour_set causes;
    /* The restart of Karmada's controllers by an upgrade changes the outcome. */
    bool by_restart;
    /* PLAN_AT_NEXT_CHANGE: the next scheduling has the outcome `next`, because of an upgrade. */
    bool at_next_scheduling;
    /* The copies in the clusters that the template leaves stay there; Karmada forgets them. */
    bool preserved;
};

/*
 * A field of a dependency with another degree of conflict after the change. The degrees in order:
 * no conflict, predicted conflict, present conflict.
 */
struct plan_conflict {
    const struct entry *dependency;
    enum dependency_field field;
    bool appears; /* The degree after the change is higher; false if lower. */
};

/* An upgrade of Karmada; all zero without one. */
struct plan_upgrade {
    bool planned;
    enum release from;
    enum release to;
    gate_set gates_before; /* Feature gates that are on: defaults and options. */
    gate_set gates_after;
    size_t templates[BEHAVIOUR_COUNT]; /* Number of templates that a behaviour changes. */
    size_t restarted;                  /* Number of templates that only the restart changes. */
    /* Number of templates with clusters that only the scheduler can compute: not compared. */
    size_t not_compared;
};

struct plan_result {
    struct plan_template *templates; /* In the order of entry_compare(). */
    size_t template_count;
    /* Conflicts that appear, then the others; both in the order of entry_compare(), then field. */
    struct plan_conflict *conflicts;
    size_t conflict_count;
    struct plan_clusters clusters; /* Sums over `templates`. */
    /*
     * Sources that cannot be read, and objects of the change without their whole effect, in the
     * order of the change. Borrowed.
     */
    const struct change_object *objects;
    size_t object_count;
    /* Copies in member clusters that override policies change. Borrowed. */
    const struct plan_override *overrides;
    size_t override_count;
    size_t when[PLAN_WHEN_COUNT]; /* Number of templates by enum plan_when. */
    size_t conflicts_appear;
    size_t conflicts_vanish; /* Number of conflicts without `appears`. */
    size_t undetermined;     /* Number of `templates` with unknown clusters after the change. */
    unsigned assumptions;    /* Bits by enum assumption. */
    struct release_range release; /* Releases of Karmada that were simulated. */
    /* Lost clusters, in the order of entry_compare(); and templates with copies there. Borrowed. */
    const struct entry_list *lost;
    size_t fates[LOSS_FATE_COUNT]; /* Number of these templates by enum loss_fate. */
    size_t last_copies;            /* Number of those with `last_copy`. */
    struct plan_upgrade upgrade;
    bool settled; /* No simulation was given up before its queue was empty. */
    /* Templates still queued when the simulation was given up, in the order of entry_compare(). */
    const struct entry_list *unsettled;
};

/* ---- plans ---- */

/*
 * Returns an empty plan with a new overlay over the engine's store: see overlay_new() for the
 * conditions.
 */
struct plan *plan_new(struct engine *e) MUST_USE;
/* Restores the store, and frees the plan with its result. Accepts NULL. */
void plan_free(struct plan *p);

/*
 * Sets a limit of the simulation. Once plan_limit_reached() returns true, the simulation ends early
 * and the result is meaningless.
 */
void plan_set_limit(struct plan *p, struct overlay_limit limit);
bool plan_limit_reached(const struct plan *p);

/*
 * Lets Karmada process all templates without uid, claim and binding, as if a user had applied their
 * manifests before the change. Must be called before the first change. Visits every template.
 */
void plan_admit_manifests(struct plan *p);

/* Records a source that cannot be read, because of `why`: the result lacks its objects. */
void plan_note_unread_source(struct plan *p, const char *name, const char *why);

/* Records that templates of kinds that the change selects are not read: ASSUMED_KIND_UNREAD. */
void plan_assume_unread_kinds(struct plan *p);

/*
 * Applies an object as its user, and simulates Karmada until its queue is empty. New templates, and
 * templates that wait for policies, are processed in plan_finish(), after all policies are applied.
 * Applies nothing once plan_limit_reached(). Returns false and sets `err` if the object is invalid.
 */
bool plan_apply(struct plan *p, const cJSON *json, struct error *err) MUST_USE;
/*
 * Deletes the object of the entry, if it exists, as its user, and simulates Karmada until its queue
 * is empty.
 */
void plan_delete(struct plan *p, struct entry *entry);
/*
 * Deletes all objects in a Namespace, which the store need not have, as plan_delete() does. Returns
 * false if the store has no object in it.
 */
bool plan_delete_namespace(struct plan *p, const char *name);
/*
 * Records that an existing member cluster is lost after all other changes: plan_finish() simulates
 * the loss, unless the change deletes the cluster. Must be called before the first change. Returns
 * false if it is recorded already.
 */
bool plan_lose(struct plan *p, struct entry *cluster) MUST_USE;
/*
 * Upgrades Karmada from a release, which it must run exactly, to a later one: its components
 * restart and process all objects again. The following changes happen in the new release. Must be
 * called once, before the first change. Visits every object.
 */
void plan_upgrade(struct plan *p, enum release release);
/* Calls simulation_touch_template(), and simulates Karmada until its queue is empty. */
void plan_touch_template(struct plan *p, struct entry *template);

/*
 * Stores the outcome of the next change of the template by its user: simulates the change, and
 * undoes it. Release the outcome with outcome_release(). The decisions change meanwhile.
 */
void plan_predict_next_change(struct plan *p, struct entry *template, struct outcome *out);

/*
 * Processes the postponed templates and returns the result, owned by the plan. Call it once, after
 * the last change. The engine keeps the state after the change. If the plan changes nothing, the
 * result only has assumptions that may have prevented a change.
 */
const struct plan_result *plan_finish(struct plan *p);
/*
 * Resets the engine to the state before the change: decisions then have the conflicts that the
 * change resolves. The entries in the result stay valid.
 */
void plan_undo(struct plan *p);

/* ---- steps of a simulation ---- */

/*
 * Limit of processed queue items in one simulation_process_queue(): SIMULATION_ITEMS_PER_TEMPLATE
 * for each template of the store, plus SIMULATION_ITEMS_MIN. A simulation beyond the limit counts
 * as endless.
 */
enum { SIMULATION_ITEMS_PER_TEMPLATE = 64, SIMULATION_ITEMS_MIN = 4096 };

/*
 * Processes the queue until it is empty, and updates all decisions. Returns false if the limit of
 * items or of the overlay is reached: the templates that are left in the queue are then recorded as
 * unsettled, and removed from the queue.
 */
bool simulation_process_queue(struct overlay *overlay) MUST_USE;
