/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"
#include "metrics/simulate/overlay.h"

/* What some templates have of each member cluster, before a change and after it. */
enum plan_side { PLAN_BEFORE, PLAN_AFTER, PLAN_SIDES };

struct plan_cluster {
    const char *name;
    int64_t replicas[PLAN_SIDES];
    double cores[PLAN_SIDES];
    double memory_bytes[PLAN_SIDES];
    bool overflows; /* What arrives is more than what is free. */
};

/* All zero is an empty list. */
struct plan_clusters {
    struct plan_cluster *items; /* By name, once plan_clusters_finish() has been called. */
    size_t count;
};

/*
 * Plays what Karmada makes of a change until it comes to rest. A user's changes are made one after
 * another, as kubectl would; after each Karmada acts until nothing is left to do.
 *
 * Deterministic: no time passes but that which Karmada needs, and everything happens in the order
 * in which Karmada queues it.
 */

/* Room for the longest play: more events than so many for each template there is, and so many more
 * to begin with, is no rest. */
enum { SIMULATION_EVENTS_EACH = 64, SIMULATION_EVENTS_MIN = 4096 };

/* An object that a user is about to apply, whole. */
struct applied_object {
    struct entry *entry;
    void *object; /* The play's. */
};
/* The user of a template changes something in it that no policy looks at. */
void simulation_touch(struct overlay *overlay, struct entry *template);

/*
 * Play until nothing moves. False if that takes too long, or the play's limit is reached: then
 * Karmada is left in mid-air.
 */
bool simulation_settle(struct overlay *overlay) MUST_USE;

/*
 * A change, played to rest, and what it does to templates, to what runs in member clusters, and to
 * conflicts. It costs what the change touches.
 */
struct plan;

/* When a template is what the change makes of it. */
enum plan_when {
    PLAN_AT_ONCE,
    PLAN_AT_NEXT_CHANGE, /* Of its user, or when Karmada's controllers restart. */
    PLAN_NEVER,          /* It is selected, or claimed, and goes on as it is. */
    PLAN_WHEN_COUNT,
};
/* As in JSON. */
extern const char *const plan_when_names[PLAN_WHEN_COUNT];

/* A template that the change touches. */
struct plan_template {
    const struct entry *template;
    enum plan_when when;
    struct outcome before;
    struct outcome after; /* Once Karmada has come to rest. */
    struct outcome next;  /* After its next change, for PLAN_AT_NEXT_CHANGE. */
};

struct plan_conflict {
    const struct entry *dependency;
    enum dependency_field field;
    bool appears; /* Else it vanishes. */
};

struct plan_result {
    struct plan_template *templates; /* In the order of entry_compare(). */
    size_t template_count;
    struct plan_conflict *conflicts; /* Those that appear first; then as entry_compare(). */
    size_t conflict_count;
    struct plan_clusters clusters; /* Of those templates. */
    size_t when[PLAN_WHEN_COUNT];  /* How many templates. */
    size_t conflicts_appear;
    size_t conflicts_vanish;
    size_t undetermined;  /* Templates whose clusters afterwards only the scheduler knows. */
    unsigned assumptions; /* Bits by enum assumption. */
    bool settled;         /* Karmada has come to rest. */
    /* Templates that Karmada had yet to look at when the play gave up; once each, sorted. */
    const struct entry_list *unsettled;
};

/* A plan for this engine, in which nothing is left to evaluate, at the time of its last run. */
struct plan *plan_new(struct engine *e) MUST_USE;
/* The store is as before then. Takes NULL. */
void plan_free(struct plan *p);

/*
 * Stop once the limit is reached: what is left to do then is left out, so that the functions below
 * end soon, and the result says nothing (plan_is_cut).
 */
void plan_set_limit(struct plan *p, struct overlay_limit limit);
bool plan_is_cut(const struct plan *p);

/*
 * Before the change: manifests that nobody has applied yet (simulation_admit) count as applied. It
 * looks at every template.
 */
void plan_admit(struct plan *p);

/*
 * A user applies an object, or deletes it, and Karmada comes to rest. What waits for policies, and
 * templates that are new, come last, in plan_finish(): a change is of one piece, whatever the order
 * of its objects. False with the reason if the object is not valid.
 */
bool plan_apply(struct plan *p, const cJSON *json, struct error *err) MUST_USE;
void plan_delete(struct plan *p, struct entry *entry);
/* The user of a template changes something in it that no policy looks at. */
void plan_touch(struct plan *p, struct entry *template);

/* The result, which the plan owns. The engine is as Karmada has come to rest. */
const struct plan_result *plan_finish(struct plan *p);
/* Put the engine back to before, to look at what vanishes; the result's entries stay. */
void plan_undo(struct plan *p);
