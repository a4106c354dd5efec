/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/rules/decision.h"

/*
 * Versions of policies and the templates that run them (product contract 3.7). A version is a set
 * of the values that Karmada copies into bindings; a change of selectors, priority or preemption
 * makes no new version. Karmada keeps no record of versions. The exporter observes new ones with
 * their time and author, and recovers earlier ones from the values that bindings still have.
 */

/* ---- one version ---- */

struct policy_history;

struct policy_version {
    struct policy_history *history;
    /* Values of the policy, with interned texts; `preserve` is true or false, not unset. */
    struct propagation values;
    const char *by;     /* Field manager that wrote the version, interned; NULL if unknown. */
    int64_t generation; /* Generation of the policy when the version came; 0 if unknown. */
    int64_t since_ms;   /* Time at which the version came into force; 0 if unknown or recovered. */
    /* Latest time at which a binding had the values of a recovered version; 0 if unknown. */
    int64_t evidence_ms;
    uint32_t number; /* From 1; a later version has a higher number. */
    uint32_t turn; /* Ordinal among the observed versions; a recovered one has that of the next. */
    uint32_t templates; /* Number of templates that run the version. */
    bool recovered;
    bool since_seen; /* `since_ms` is when the exporter saw the change: no object has the time. */
    bool missed;     /* Other versions may have been in force since the previous observed one. */
    bool undated;    /* `since_ms` is to be set by policy_history_date_versions(). */
};

/*
 * policy_version_hash() writes a hash of the values, which is the same after a restart. Exception:
 * the hash of a recovered version ignores the name of a PriorityClass, which bindings do not have.
 */
enum { POLICY_VERSION_HASH_SIZE = 11 };
void policy_version_hash(const struct policy_version *v, char out[POLICY_VERSION_HASH_SIZE]);

/* Returns how many versions the templates of a policy run; all unknown values count as one. */
int policy_version_count_later(const struct policy_version *v);
/* Returns when the next version came into force; 0 for the current version or if unknown. */
int64_t policy_version_superseded_ms(const struct policy_version *v);

/* ---- history of one policy ---- */

/* Limit of recovered versions per policy; further values in bindings count as unknown. */
enum { POLICY_VERSIONS_RECOVERED_MAX = 256 };

/* The versions of one policy. A return to earlier values makes that version the newest again. */
struct policy_history {
    struct entry *policy;
    struct policy_version **versions; /* Oldest first, the current version last; never empty. */
    size_t count;
    struct policy_version unknown; /* For templates with values that no version ever had. */
    uint32_t turns;                /* Number of observed versions. */
    uint32_t holders;              /* Number of references. */
    bool gone;   /* The policy was deleted, or deleted and created again under its name. */
    bool queued; /* The history is queued for policy_versions_report_queued(). */
};

/*
 * Drops one reference to a history; the last one frees it. Accepts NULL. `strings` are the interned
 * texts of the policy's store.
 */
void policy_history_drop(struct policy_history *h, struct intern *strings);

/* Sets `since_ms` of the history's undated versions to `now_ms`. */
void policy_history_date_versions(struct policy_history *h, int64_t now_ms);

/* Values that a template runs with, and whether versions may be recovered from them. */
struct running {
    const struct binding *binding; /* The binding of the template; a policy made it. */
    const struct priority *priority;
    bool cluster_scoped;
    bool priority_moved;   /* See struct template_decision. */
    bool has_policy_claim; /* The binding carries the claim of this policy. */
};

/* Returns the current version of the policy. */
static inline const struct policy_version *
policy_history_current_version(const struct policy_history *h)
{
    return h->versions[h->count - 1];
}

/* Returns the known version with this number or hash; NULL if there is no such version. */
const struct policy_version *policy_history_find_version(const struct policy_history *h,
                                                         const char *name);

/* Returns true if `v` is the unknown version, which stands for values that no version ever had. */
static inline bool policy_version_is_unknown(const struct policy_version *v)
{
    return v == &v->history->unknown;
}

/* Returns how many versions templates run; all unknown values count as one version. */
size_t policy_history_count_used_versions(const struct policy_history *h);

/* Returns how many templates do not run the current version; above 0 during a rollout. */
uint32_t policy_history_count_outdated_templates(const struct policy_history *h);

/* ---- histories of all policies ---- */

/*
 * The histories of all policies, updated by changes of the store and by decisions about templates.
 * This is the only state of an engine that does not follow from the present objects.
 */
struct policy_versions {
    struct map by_policy;
    struct intern *strings;
    size_t limit; /* Number of versions kept per policy beside those that templates run. */
    bool paused;  /* A simulation is running: histories neither gain nor lose versions. */
    struct policy_history **queued; /* Queued histories; one reference each. */
    size_t queued_count;
    size_t queued_capacity;
};

void policy_versions_init(struct policy_versions *all, struct intern *strings, size_t limit);
/* Frees all histories. Other holders must have dropped their references. */
void policy_versions_release(struct policy_versions *all);

/* Updates the history after a policy was created (`old` is NULL), deleted or replaced. */
void policy_versions_update(struct policy_versions *all, struct entry *policy,
                            const struct policy *old);
/* Returns a new reference to the history of a policy; NULL if there is no history. */
struct policy_history *policy_versions_ref_history(const struct policy_versions *all,
                                                   const struct entry *policy);

/*
 * Counts a template as running the version that `r` shows, until policy_versions_remove_template().
 * Returns the version; NULL if `h` is NULL.
 */
struct policy_version *policy_versions_add_template(struct policy_versions *all,
                                                    struct policy_history *h,
                                                    const struct running *r);
/* Ends the count that policy_versions_add_template() began. Accepts NULL. */
void policy_versions_remove_template(struct policy_versions *all, struct policy_version *v);

/*
 * Calls `decided`, unless NULL, for up to `budget` of the policies with a version that templates
 * began or ceased to run, in no order. Drops their old versions that no template runs;
 * policy_versions_remove_template() cannot do so, because a template that is evaluated again leaves
 * its version for a moment. Returns true if no history is queued any more.
 */
bool policy_versions_report_queued(struct policy_versions *all, size_t budget,
                                   void (*decided)(void *context, struct entry *policy),
                                   void *context);
