/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/object_request.h"
#include "exporter/system/rate_limit.h"
#include "metrics/base/map.h"
#include "metrics/model/store.h"
#include "metrics/rules/engine.h"

/*
 * The conflict about one dependency, and the Events about the conflict. The record stays for some
 * time after the conflict has ended. Times are steady milliseconds.
 */
struct tracked_conflict {
    const char *ns; /* Namespace and name of the dependency's binding; stored behind the struct. */
    const char *name;
    unsigned fields; /* Fields in conflict: bits by enum dependency_field; 0 after the conflict. */
    unsigned reported;  /* Subset of `fields` that an Event of another component has reported. */
    unsigned written;   /* Fields of the exporter's Event that was last written or found. */
    int64_t written_ms; /* When `written` was last set. */
    int64_t began_ms;   /* When `fields` last changed. */
    int64_t due_ms;     /* Earliest time of the next write. */
    bool pending;  /* `fields` changed while this replica led; neither written nor dropped yet. */
    bool in_store; /* The store has the binding; used by conflict_tracker_adopt_store(). */
    struct rate_limit rate_limit; /* Limit of Events about this binding. */
    size_t position;              /* Index in conflict_tracker.items. */
};

/* All conflicts. The tracker outlives the store, because a reload creates another store. */
struct conflict_tracker {
    struct map map; /* Conflicts by the names of their bindings. */
    uint64_t seed;
    struct tracked_conflict **items; /* In no order. Owned. */
    size_t count;
    size_t capacity;
    size_t ended;  /* Number of items without fields in conflict. */
    size_t cursor; /* Index of the next item to check. */
    int64_t now_ms;
    bool leads;
    bool changed; /* A conflict, an Event or the store has changed; the event writer resets this. */
};

/* Sets the time and the role of this replica for changes that follow. */
void conflict_tracker_set_role(struct conflict_tracker *t, int64_t now_ms, bool leads);

/* Updates the conflict of a binding, or notes an Event; an engine_observer.decided function. */
void conflict_tracker_update_entry(void *tracker, struct entry *entry);

/* Updates or ends all conflicts by another store, in which every entry has its decision. */
void conflict_tracker_adopt_store(struct conflict_tracker *t, struct store *store);

/*
 * Writes Events about conflicts, one at a time and at most five a second, with the text of Karmada
 * 1.16 and later. Only the leader writes.
 *
 * - No Event is written twice, not even after a restart or by another replica: the store has the
 *   Events of the API server. If the store lacks an Event, its creation fails with 409, because the
 *   name depends only on binding and fields (conflict_event_name).
 * - If a conflict ends and begins again, or its fields change and change back, the count of the
 *   existing Event is incremented, as by client-go. The replica must have led at the change, and
 *   the Event must not have been written in or after the second of the change. The count can
 *   be too low, but not too high.
 * - The API server deletes Events after --event-ttl. While the conflict lasts, its Event is created
 *   again, but at most once an hour unless the conflict restarts: a user may have deleted it.
 * - Each binding has the rate limit of client-go: 25 Events at once, then one every 300 s. Beyond
 *   that, an increment is dropped and counted; a creation is delayed.
 * - Fields that another component's Event reports are left out until their conflict ends.
 */

/* Results of writes; a row has the enumerator and the label value of the counter. */
#define EVENT_RESULTS(ROW)                                                                         \
    ROW(CREATED, "created")                                                                        \
    ROW(UPDATED, "updated")                                                                        \
    /* The Event had already been created, or its count incremented. */                            \
    ROW(EXISTS, "exists")                                                                          \
    /* A request failed; the write is tried again. */                                              \
    ROW(FAILED, "failed")                                                                          \
    /* The rate limit of the binding does not allow the increment. */                              \
    ROW(DROPPED, "dropped")

#define EVENT_RESULT_ENUMERATOR(id, word) EVENT_RESULT_##id,
enum event_writer_result { EVENT_RESULTS(EVENT_RESULT_ENUMERATOR) EVENT_RESULT_COUNT };
extern const char *const event_writer_result_names[EVENT_RESULT_COUNT];

/* Input of one turn. Borrowed. */
struct event_writer_input {
    const struct engine *engine;
    struct transport transport;
    int64_t patience_ms; /* Minimum age of a conflict for an Event; Karmada may write it first. */
    bool leads;          /* This replica may write. */
};

enum event_writer_step {
    EVENT_STEP_READ_BINDING, /* Reads uid and resourceVersion for the Event. */
    EVENT_STEP_CREATE,
    EVENT_STEP_READ_EVENT, /* Reads the count of the Event. */
    EVENT_STEP_INCREMENT,
};

struct event_writer {
    const char *instance; /* reportingInstance of the Events; borrowed. */
    struct conflict_tracker conflicts;
    struct fetch *fetch;               /* Request under way; NULL without one. */
    enum event_writer_step step;       /* Purpose of `fetch`. */
    struct tracked_conflict *conflict; /* Subject of the Event being written; or NULL. */
    unsigned fields;                   /* Fields in the Event. */
    char *name;                        /* Name of the Event; NULL while unknown. Owned. */
    size_t unchecked;                  /* Number of conflicts to check in the present round. */
    int64_t next_round_ms;             /* Start of the next round without changes; steady. */
    int64_t paused_until_ms;           /* Earliest next checks and write; steady. */
    unsigned failures;                 /* Failed requests in a row. */
    uint64_t results[EVENT_RESULT_COUNT];
    const char *forbidden_verb; /* Verb of a right that the API server denies; or NULL. */
    const char *forbidden_resource;
    struct error err; /* Error of the last failed request. */
};

void event_writer_init(struct event_writer *e, const char *instance, uint64_t seed);
void event_writer_release(struct event_writer *e);

/*
 * If this replica leads, processes a response and starts the next request; the engine must have
 * evaluated all changes. Else cancels the request under way. `now_ms` is steady; `clock_ms`, since
 * the epoch, is for times in Events.
 */
void event_writer_turn(struct event_writer *e, const struct event_writer_input *input,
                       int64_t now_ms, int64_t clock_ms);
/* Returns the steady time in ms of the next turn if nothing arrives before; INT64_MAX: never. */
int64_t event_writer_due(const struct event_writer *e);
/* Cancels the request under way. Call this before its transport ends. */
void event_writer_suspend(struct event_writer *e);
