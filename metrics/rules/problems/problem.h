/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"
#include "metrics/rules/problems/problem_table.h"

/*
 * One problem: an instance for its readers, reports about external subjects, and the queue of
 * entries to evaluate. problems.h has the life of all problems.
 */
struct problems;

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

/* Names of other objects of an instance, taken while its condition held. NULL if unknown. */
struct problem_names {
    const char *policy_kind;
    const char *policy_ns; /* "" for a ClusterPropagationPolicy. */
    const char *policy_name;
    const char *owner;
};

/*
 * One instance; read only. Times are in milliseconds since the epoch. A failover begins one for
 * each binding, so the members of problems.c have no struct of their own with its padding.
 */
struct problem {
    struct entry *subject; /* NULL: see `external`. Pinned. */
    union {
        const struct external_subject *external; /* Only with a NULL `subject`. */
        /* Else: interned block for the history, of problems.c; NULL before the opening. */
        const struct problem_names *names;
    };
    const struct problem *cause; /* Open problem that hides this one, or NULL. */
    int64_t since_ms;            /* Beginning of the condition. */
    int64_t opened_ms;           /* Time at which it opened; 0 if it never did. */
    int64_t ended_ms;            /* Time at which the condition ended; 0 while it holds. */
    enum problem_reason reason : 16;
    enum problem_status status : 8;
    bool since_seen : 1; /* No object proves `since_ms`: it is the time of the first evaluation. */

    /* ---- only for problems.c ---- */
    bool holds : 1;         /* The condition holds. */
    bool unknown : 1;       /* An input of the condition is not readable. */
    bool found : 1;         /* The first problems_run() found it: its opening does not count. */
    bool dead : 1;          /* To be removed. */
    bool opened_before : 1; /* It was open before the observation began, or this is unknown. */
    pool_handle next;       /* Next instance of the subject. */
    int64_t wait_from_ms;   /* Start of the patience: since_ms, or the end of the hiding. */
    int64_t observed_ms;    /* Start of the observation. */
};

static_assert(sizeof(struct problem) <= 72, "a failover makes up to a million instances");

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
 * Return the identity, apiVersion, kind, namespace ("" without one) and name of the subject. Equal
 * namespaces have equal addresses.
 */
struct identity problem_identity(const struct problem *p);
const char *problem_api_version(const struct problem *p);
const char *problem_subject_kind(const struct problem *p);
const char *problem_ns(const struct problem *p);
const char *problem_name(const struct problem *p);

/* ---- policy, owner and template; all decisions must be up to date ---- */

/* Returns the policy that a problem is about, existing or not; NULL without one. */
const struct entry *problem_policy(const struct problem *p);

/* Returns the owner of the subject (template_owner()); NULL if unknown. */
const char *problem_owner(const struct problem *p);

/*
 * Returns the template of the subject, existing or not: the subject itself, or the template of a
 * binding. NULL without one.
 */
const struct entry *problem_template(const struct problem *p);

/* ---- instances of a subject ---- */

/* Returns the first instance about an entry, in no order, and the next one; NULL at the end. */
const struct problem *problems_of(const struct problems *ps, const struct entry *subject);
const struct problem *problems_next_of(const struct problem *p);

/*
 * Returns the open or resolving instance of a problem about an entry or, with a NULL `subject`,
 * about an external subject of this name; NULL without one. If the problem is by reason, `reason`
 * must be that of the instance; else it is ignored.
 */
const struct problem *problems_find_open(const struct problems *ps, const struct entry *subject,
                                         const char *external_name, enum problem_reason reason);

/* ---- shards ---- */

/* Part of the control plane's namespaces that an exporter judges. */
enum problem_shard {
    SHARD_NONE, /* No other exporter judges further namespaces. */
    SHARD_WITH_EMPTY_NAMESPACE,
    SHARD_WITHOUT_EMPTY_NAMESPACE, /* Another shard reports cluster-scoped objects. */
};
/* Returns the part that the options set; SHARD_NONE if `ps` is NULL. */
enum problem_shard problems_shard(const struct problems *ps);

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

/*
 * While `held`, the conditions of an external subject are not known: its instances keep their
 * status. Does nothing for a subject without conditions or instances.
 */
void problems_hold(struct problems *ps, const struct external_subject *subject, bool held);

/* ---- queue ---- */

/* Queues an entry: its conditions may have changed. `ps` may be NULL. */
void problems_queue(struct problems *ps, struct entry *entry);
