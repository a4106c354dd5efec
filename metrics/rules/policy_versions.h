/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/rules/decision.h"

/*
 * Versions of policies and the templates that run them (product contract 3.7). A version is a set
 * of the values that Karmada copies into bindings (struct propagation); a change of other fields,
 * such as selectors or priority, makes no new version. A template runs the version that its binding
 * has. Karmada keeps no record of versions. The exporter observes new versions with their time and
 * author, and recovers earlier versions from the values that bindings still have.
 */

/* ---- one version ---- */

struct policy_history;

/* Versions and histories are cells of the pool of the policy's store. */
struct policy_version {
    struct policy_history *history;
    /* Interned texts; from a binding if `recovered`. `preserve` is true or false, not unset. */
    struct propagation values;
    const char *by;     /* Field manager that wrote the version, interned; NULL if unknown. */
    int64_t generation; /* First generation read with the version; 0 if unknown. */
    int64_t since_ms;   /* Time at which the version came into force; 0 if unknown or recovered. */
    /* If `recovered`: last change or scheduling of a binding with the values; 0 if unknown. */
    int64_t evidence_ms;
    uint32_t key; /* Bits of policy_version_hash(): versions with equal values have equal keys. */
    uint32_t number; /* From 1; a later version has a higher number. A recovery may renumber. */
    /* Observed version: its ordinal, from 1. Recovered: `turn` of the observed version after it. */
    uint32_t turn;
    uint32_t templates; /* Number of templates that run the version. */
    bool recovered;     /* Known only from the values of bindings. */
    bool since_seen;    /* `since_ms` is when the change was observed: no object has the time. */
    bool missed;        /* Unknown versions may lie between the last observed one and this one. */
    bool undated;       /* policy_history_date_versions() is to set `since_ms`. */
};

enum { POLICY_VERSION_HASH_SIZE = 11 }; /* Including the terminating NUL. */
/*
 * Writes a hash of the values as text, which is the same after a restart. The hash of a recovered
 * version ignores the name of a PriorityClass, which bindings do not have.
 */
void policy_version_hash(const struct policy_version *v, char out[POLICY_VERSION_HASH_SIZE]);

/* Returns how many versions of the policy are later than `v`; -1 if unknown. */
int policy_version_count_later(const struct policy_version *v);
/* Returns the first known `since_ms` of later versions: `v` had ended by then. 0 without one. */
int64_t policy_version_superseded_ms(const struct policy_version *v);

/* ---- history of one policy ---- */

/* Limit of recovered versions per policy; further values in bindings count as unknown. */
enum { POLICY_VERSIONS_RECOVERED_MAX = 256 };

/*
 * The versions of one policy. If the policy returns to the values of an earlier version, that
 * version becomes the newest again, with a new number.
 */
struct policy_history {
    struct entry *policy;
    struct policy_version **versions; /* Oldest first, the current version last; never empty. */
    /* Stands for values in bindings that are in no version; NULL if no binding ever had such. */
    struct policy_version *unknown;
    uint32_t count;   /* Number of `versions`. */
    uint32_t turns;   /* Highest `turn`. */
    uint32_t holders; /* Number of references. */
    bool gone;        /* The policy was deleted, or deleted and created again under its name. */
    bool queued;      /* The history is queued for policy_versions_report_queued(). */
};

/*
 * Drops one reference to a history; the last one frees it. Accepts NULL. `strings` are the interned
 * texts of the policy's store.
 */
void policy_history_drop(struct policy_history *h, struct intern *strings);

/* Sets `since_ms` of the history's undated versions to `now_ms`. */
void policy_history_date_versions(struct policy_history *h, int64_t now_ms);

/* The binding of a template, to find the version that the template runs. */
struct running {
    const struct binding *binding;   /* A policy made it: it has a placement. */
    const struct priority *priority; /* Resolved schedulePriority of the policy. */
    bool cluster_scoped;             /* `binding` is a ClusterResourceBinding. */
    bool priority_moved;             /* See struct template_decision. */
    bool has_policy_claim; /* `binding` has the policy's claim: versions may be recovered. */
};

/* Returns the current version of the policy. */
static inline const struct policy_version *
policy_history_current_version(const struct policy_history *h)
{
    return h->versions[h->count - 1];
}

/* Returns the version whose decimal number or hash is `name`; NULL if there is no such version. */
const struct policy_version *policy_history_find_version(const struct policy_history *h,
                                                         const char *name);

/* Returns true if `v` is `unknown` of its history. */
static inline bool policy_version_is_unknown(const struct policy_version *v)
{
    return v == v->history->unknown;
}

/* Returns how many versions of the policy are run by templates; `unknown` counts as one version. */
size_t policy_history_count_used_versions(const struct policy_history *h);

/* Returns how many templates do not run the current version; above 0 during a rollout. */
uint32_t policy_history_count_outdated_templates(const struct policy_history *h);

/* ---- histories of all policies ---- */

/* The histories of all policies, updated by changes of policies and decisions about templates. */
struct policy_versions {
    struct map by_policy;
    struct intern *strings;
    size_t limit; /* Maximum number of unused versions kept per policy, beside the current one. */
    bool paused;  /* A simulation is running: histories neither gain nor lose versions. */
    struct policy_history **queued; /* Queued histories; one reference each. */
    size_t queued_count;
    size_t queued_capacity;
};

void policy_versions_init(struct policy_versions *all, struct intern *strings, size_t limit);
/* Frees all histories. Other holders must have dropped their references. */
void policy_versions_release(struct policy_versions *all);

/* Updates the history, unless paused, after a policy was created, deleted or replaced. */
void policy_versions_update(struct policy_versions *all, struct entry *policy,
                            const struct policy *old);
/* Returns a new reference to the history of a policy; NULL if there is no history. */
struct policy_history *policy_versions_ref_history(const struct policy_versions *all,
                                                   const struct entry *policy);

/*
 * Counts a template as running the version that its binding in `r` has, and returns the version. If
 * there is none, it is a recovered version, added unless paused, or h->unknown. The count and a
 * reference to the history last until policy_versions_remove_template(). NULL if `h` is NULL.
 */
struct policy_version *policy_versions_add_template(struct policy_versions *all,
                                                    struct policy_history *h,
                                                    const struct running *r);
/* Ends the count that policy_versions_add_template() began. Accepts NULL. */
void policy_versions_remove_template(struct policy_versions *all, struct policy_version *v);

/*
 * Handles up to `budget` queued histories, for which templates were added or removed. Calls
 * `decided`, unless NULL, for the policy of each history that is not `gone`, in no order. Frees
 * unused versions beyond all->limit, unless all->paused. policy_versions_remove_template() does not
 * free them, as the same evaluation may add the template again. Returns true if the queue is empty.
 */
bool policy_versions_report_queued(struct policy_versions *all, size_t budget,
                                   void (*decided)(void *context, struct entry *policy),
                                   void *context);
