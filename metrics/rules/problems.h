/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"
#include "metrics/rules/problem_conditions.h"
#include "metrics/rules/problem_table.h"

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

/* Return the apiVersion, kind, namespace ("" without one) and name of the subject. */
const char *problem_api_version(const struct problem *p);
const char *problem_subject_kind(const struct problem *p);
const char *problem_ns(const struct problem *p);
const char *problem_name(const struct problem *p);

/* Returns the severity of a problem under the settings; SEVERITY_OFF if it is disabled. */
enum problem_severity problem_severity(const struct problems *ps, enum problem_id problem);

/*
 * Returns an array of `*count` instances whose status is in `statuses` (bits by enum
 * problem_status), in the order of the contract: severity, since (oldest first), problem, kind,
 * namespace, name, reason. Valid until the engine runs again; the caller frees the array.
 */
const struct problem **problems_list(const struct problems *ps, unsigned statuses,
                                     size_t *count) MUST_USE;

/* Iterates over all instances, in no order: *at is 0 before the first call; NULL at the end. */
const struct problem *problems_next(const struct problems *ps, size_t *at);

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
/* Ends the condition of problems_report() for this problem; does nothing if there is none. */
void problems_withdraw(struct problems *ps, const struct external_subject *subject,
                       enum problem_id problem);

/* ---- for the engine ---- */

/* Source of objects, as problems need it: files prove nothing by being observed. */
struct problem_options {
    struct problem_settings settings;
    size_t history_limit; /* Maximum number of events kept; 0: none. */
    /* `check`: a condition counts as open unless the objects prove that it is younger. */
    bool snapshot;
    /* Returns true if the entry's object was read from files; NULL: none was. */
    bool (*is_from_files)(const void *context, const struct entry *entry);
    const void *context;
};

/* Returns problems without an instance. Free them before the store. */
struct problems *problems_new(struct store *store, const struct problem_options *options,
                              uint64_t seed) MUST_USE;
/* Accepts NULL. */
void problems_free(struct problems *ps);

/* Queues an entry whose conditions may have changed; `live`: its decision was made before. */
void problems_queue(struct problems *ps, struct entry *entry, bool live);

/*
 * Evaluates queued entries, then those that a change of an open problem hides or shows, in at most
 * about `budget` steps. Sets timers in the graph of `c`. Returns true if no step is left.
 */
bool problems_run(struct problems *ps, struct rule_context *c, size_t budget);

/* Returns the time of the next problems_run() for external subjects; INT64_MAX for never. */
int64_t problems_deadline(const struct problems *ps);

/* Begins the observation of all pending instances anew, as after a start (restore of etcd). */
void problems_restart_observation(struct problems *ps, int64_t now_ms);
