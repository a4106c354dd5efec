/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"
#include "metrics/rules/problems/problem_conditions.h"
#include "metrics/rules/problems/problem_table.h"

/*
 * Life of problems (product contract 3.10): one instance for each problem and subject, from the
 * beginning of its condition over patience and resolve delay to its end. The engine owns the
 * problems (engine_judge_problems) and evaluates them after the decisions, on which they depend.
 *
 * Invariant, checked by tests: the open problems equal those of a fresh engine over the same
 * objects that is given the same times.
 */
struct problems;
struct rule_context;

/* Names of the external subjects of kind "ControlPlane". */
#define CONTROLLER_COMPONENT "karmada-controller-manager"
#define SCHEDULER_COMPONENT  "karmada-scheduler"

/* Status of an instance. */
enum problem_status {
    PROBLEM_OPEN,      /* The condition holds for longer than the patience. */
    PROBLEM_RESOLVING, /* Open, but the condition does not hold for less than the resolve delay. */
    PROBLEM_PENDING,   /* The condition holds, for less than the patience. */
    PROBLEM_HIDDEN,    /* An open problem, `cause`, explains it. */
    PROBLEM_STATUS_COUNT,
};
extern const char *const problem_status_names[PROBLEM_STATUS_COUNT];

/*
 * Subject of problems that is no object of the store: a component of the control plane, a watched
 * kind, a file, or an object that files declare twice. Texts are "" if unset.
 */
struct external_subject {
    const char *api_version;
    const char *kind; /* "ControlPlane" or "Source", else the kind of the object. */
    const char *ns;
    const char *name;
};

/* One instance; read only. Times are in milliseconds since the epoch. */
struct problem {
    struct entry *subject; /* NULL: see `external`. Pinned. */
    const struct external_subject *external;
    const struct problem *cause; /* Open problem that hides this one, or NULL. */
    int64_t since_ms;            /* Beginning of the condition. */
    int64_t opened_ms;           /* Time at which it opened; 0 if it never did. */
    int64_t ended_ms;            /* RESOLVING: when the condition ended. */
    enum problem_reason reason;
    enum problem_status status;
    bool since_seen; /* No object proves `since_ms`: it is the time of the first evaluation. */
};

/* Returns the problem of an instance. */
static inline enum problem_id problem_id(const struct problem *p)
{
    return problem_reasons[p->reason].problem;
}

/* Returns true for instances that metrics and notifications count. */
static inline bool problem_counts(const struct problem *p)
{
    return p->status == PROBLEM_OPEN || p->status == PROBLEM_RESOLVING;
}

/*
 * Return the apiVersion, kind, namespace ("" without one) and name of the subject. Equal namespaces
 * have equal addresses.
 */
const char *problem_api_version(const struct problem *p);
const char *problem_subject_kind(const struct problem *p);
const char *problem_ns(const struct problem *p);
const char *problem_name(const struct problem *p);

/* Returns the severity of a problem under the settings; SEVERITY_OFF if it is disabled. */
enum problem_severity problem_severity(const struct problems *ps, enum problem_id problem);

/*
 * Returns the beginning of an instance in milliseconds since the epoch; 0 if unknown. In a snapshot
 * (struct problem_options) only times that objects prove are known.
 */
int64_t problem_since_ms(const struct problems *ps, const struct problem *p);

/*
 * Compares two instances in the order of the contract: severity, since (oldest first, unknown
 * last), problem, kind, namespace, name, apiVersion, reason. Returns 0 only for the same instance.
 */
int problem_compare(const struct problems *ps, const struct problem *a, const struct problem *b);

/*
 * Returns an array of `*count` instances whose status is in `statuses` (bits by enum
 * problem_status), in the order of problem_compare(). Valid until the engine runs again; the caller
 * frees the array.
 */
const struct problem **problems_list(const struct problems *ps, unsigned statuses,
                                     size_t *count) MUST_USE;

/* Position of an iteration over all instances; all zero is the start. */
struct problem_walk {
    const struct problem *at;
    size_t position;
    bool in_externals;
};
/* Returns the next instance, in no order; NULL at the end. No instance may change meanwhile. */
const struct problem *problems_next(const struct problems *ps, struct problem_walk *walk);

/* Returns the first instance about an entry, in no order, and the next one; NULL at the end. */
const struct problem *problems_of(const struct problems *ps, const struct entry *subject);
const struct problem *problems_next_of(const struct problem *p);

/* Returns a number that changes when any instance begins, ends or changes. */
uint64_t problems_version(const struct problems *ps);

/* Returns how many instances of the problem have opened and resolved since the start. */
uint64_t problems_opened_total(const struct problems *ps, enum problem_id problem);
uint64_t problems_resolved_total(const struct problems *ps, enum problem_id problem);

/* ---- history ---- */

/* An opening or a resolution. The texts are copies, because the subject may be gone. */
struct problem_event {
    int64_t time_ms;
    enum problem_reason reason;
    bool opened; /* False: resolved. */
    char *api_version;
    char *kind;
    char *ns;
    char *name;
};

/*
 * Returns the event with the number *below - 1, or the newest one if *below is higher, and stores
 * its number in *below. Start with UINT64_MAX. Returns NULL if no older event is kept.
 */
const struct problem_event *problems_next_event(const struct problems *ps, uint64_t *below);

/* ---- external subjects ---- */

/*
 * Sets the condition of an external subject: `reason` holds since `since_ms` (0 if unknown). A
 * changed reason of the same problem does not restart the time. Takes effect at the next
 * engine_run().
 */
void problems_report(struct problems *ps, const struct external_subject *subject,
                     enum problem_reason reason, int64_t since_ms);
/* Ends the condition of problems_report() for this problem, if it holds. */
void problems_withdraw(struct problems *ps, const struct external_subject *subject,
                       enum problem_id problem);

/* ---- for the engine ---- */

struct problem_options {
    struct problem_settings settings;
    size_t history_limit; /* Maximum number of events kept; may be 0. */
    /*
     * `check`, and objects from files: observation proves nothing. A condition counts as open
     * unless the objects prove that it is younger than its patience.
     */
    bool snapshot;
    bool some_namespaces; /* Other namespaces are not read (controller_progress.h). */
    /* Returns true while objects of the type cannot be read as they are now. NULL: never. */
    bool (*is_unreadable)(const void *context, const struct type *type);
    const void *context;
};

/*
 * Returns problems without an instance, which judge all entries of the store at the next
 * problems_run(). Free them before the store.
 */
struct problems *problems_new(struct store *store, const struct problem_options *options,
                              uint64_t seed) MUST_USE;
/* Accepts NULL. */
void problems_free(struct problems *ps);

/*
 * Takes over the instances, counters and times of `last`, which belongs to another store: after a
 * reload no problem begins anew. Instances whose condition no longer holds end as usual; the
 * history begins anew. Call it before the first problems_run().
 */
void problems_inherit(struct problems *ps, const struct problems *last);

/* Queues an entry: its conditions may have changed. `ps` may be NULL. */
void problems_queue(struct problems *ps, struct entry *entry);

/*
 * Evaluates queued entries, then those that a change of an open problem hides or shows, in at most
 * about `budget` steps. Lowers timers in the graph of `c`, whose decisions must be up to date.
 * Returns true if no step is left.
 */
bool problems_run(struct problems *ps, struct rule_context *c, size_t budget);

/* Returns the time of the next problems_run() for external subjects; INT64_MAX for never. */
int64_t problems_deadline(const struct problems *ps);

/* Begins the observation of all pending instances anew, as after a start: etcd was restored. */
void problems_restart_observation(struct problems *ps, int64_t now_ms);

/*
 * Returns the open or resolving instance of a problem about an entry or, with a NULL `subject`,
 * about an external subject of this name; NULL without one. If the problem is by reason, `reason`
 * must be that of the instance; else it is ignored.
 */
const struct problem *problems_find_open(const struct problems *ps, const struct entry *subject,
                                         const char *external_name, enum problem_reason reason);
