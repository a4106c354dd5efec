/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"
#include "metrics/simulate/overlay.h"

/*
 * Plan of a change: applies the objects of a user to an overlay, one after another as kubectl does,
 * and after each lets the simulated Karmada act until its queue is empty. The result compares
 * templates, clusters and conflicts before and after. The cost depends on the size of the change.
 *
 * Plans are deterministic: no time passes, and the queue is processed in order.
 */
struct plan;

/* ---- result of a plan ---- */

enum plan_side { PLAN_BEFORE, PLAN_AFTER, PLAN_SIDES };

/* Sums over the templates of a plan in one member cluster. */
struct plan_cluster {
    const char *name;
    int64_t replicas[PLAN_SIDES];
    double cores[PLAN_SIDES];
    double memory_bytes[PLAN_SIDES];
    bool overflows; /* The increase exceeds the free resources of the cluster. */
};

/* Sums by member cluster; all zeros is an empty list. */
struct plan_clusters {
    struct plan_cluster *items; /* By name, after plan_finish(). */
    size_t count;
};

/* The time at which the change takes effect on a template. */
enum plan_when {
    PLAN_AT_ONCE,
    PLAN_AT_NEXT_CHANGE, /* Change of the template by its user, or when Karmada's controllers
                            restart. */
    PLAN_NEVER,          /* The change selects or claims the template without any effect. */
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
    struct outcome next;  /* After the template's next change; only for PLAN_AT_NEXT_CHANGE. */
};

/* A field of a dependency that the change moves into a conflict or out of it. */
struct plan_conflict {
    const struct entry *dependency;
    enum dependency_field field;
    bool appears; /* True if the conflict is new, false if it vanishes. */
};

struct plan_result {
    struct plan_template *templates; /* In the order of entry_compare(). */
    size_t template_count;
    /* Conflicts that appear, then conflicts that vanish; both in the order of entry_compare(). */
    struct plan_conflict *conflicts;
    size_t conflict_count;
    struct plan_clusters clusters; /* Sums over `templates`. */
    size_t when[PLAN_WHEN_COUNT];  /* Number of templates by enum plan_when. */
    size_t conflicts_appear;
    size_t conflicts_vanish;
    size_t undetermined;  /* Templates with unknown clusters after the change (struct outcome). */
    unsigned assumptions; /* Bits by enum assumption. */
    bool settled;         /* The simulation processed its whole queue. */
    /* Templates still queued when the simulation was given up, in the order of entry_compare(). */
    const struct entry_list *unsettled;
};

/* ---- plans ---- */

/*
 * Returns an empty plan; its time is fixed at the last run of the engine. The engine must have no
 * evaluation left to do.
 */
struct plan *plan_new(struct engine *e) MUST_USE;
/* Restores the store and frees the plan. Does nothing for NULL. */
void plan_free(struct plan *p);

/*
 * Sets a limit of the simulation. After it is reached, the functions below only return, and the
 * result is meaningless (plan_limit_reached).
 */
void plan_set_limit(struct plan *p, struct overlay_limit limit);
bool plan_limit_reached(const struct plan *p);

/*
 * Lets Karmada process all manifests that no user has applied yet, as the state before the change.
 * Must be called before the first change. Visits every template.
 */
void plan_admit_manifests(struct plan *p);

/*
 * Applies an object as its user, and simulates Karmada until its queue is empty. New templates, and
 * templates that wait for policies, are processed last, in plan_finish(): the result does not
 * depend on the order of the objects. Returns false and sets `err` if the object is not valid.
 */
bool plan_apply(struct plan *p, const cJSON *json, struct error *err) MUST_USE;
/* Deletes the object of the entry as its user, and simulates Karmada until its queue is empty. */
void plan_delete(struct plan *p, struct entry *entry);
/* Changes the template as its user, without an effect on matching, and simulates Karmada. */
void plan_touch_template(struct plan *p, struct entry *template);

/* Returns the result, owned by the plan. The engine keeps the state after the change. */
const struct plan_result *plan_finish(struct plan *p);
/*
 * Resets the engine to the state before the change, so that resolved conflicts can be read. The
 * entries in the result stay valid.
 */
void plan_undo(struct plan *p);

/* ---- steps of a simulation ---- */

/* Changes a member of the template that policies do not depend on, and enqueues the template. */
void simulation_touch_template(struct overlay *overlay, struct entry *template);

/*
 * Limit of processed queue items in one simulation_process_queue(): SIMULATION_EVENTS_EACH for each
 * template of the store, plus SIMULATION_EVENTS_MIN. A simulation beyond the limit counts as
 * endless.
 */
enum { SIMULATION_EVENTS_EACH = 64, SIMULATION_EVENTS_MIN = 4096 };

/*
 * Processes the queue until it is empty. Returns false if the limit of items or of the overlay is
 * reached: the state is then incomplete, and the queue is emptied.
 */
bool simulation_process_queue(struct overlay *overlay) MUST_USE;
