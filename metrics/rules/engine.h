/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/api_versions.h"
#include "metrics/rules/connector_conflicts.h"
#include "metrics/rules/dependency.h"
#include "metrics/rules/object_index.h"
#include "metrics/rules/prediction.h"
#include "metrics/rules/problems/problems.h"
#include "metrics/rules/selector.h"
#include "metrics/rules/transitions.h"

/*
 * The engine keeps the decision of every entry of a store. After a change it evaluates only the
 * entries that the change can affect.
 *
 * Invariant, checked by tests: once engine_run() has returned true, the decisions, apart from their
 * history, equal those of a fresh engine over the same objects at the same time. The order of the
 * changes does not matter.
 */
struct engine;

/* Default options: Karmada's defaults, one minute of grace, and ten versions per policy. */
extern const struct rules_options rules_options_default;

/* Callbacks before and after each evaluation of an entry; both may be NULL. */
struct engine_observer {
    /*
     * Called after the evaluation: the decision, the object or both may have changed, and the
     * object may be gone. Other entries may still wait for their evaluation. Also called for a
     * policy after the evaluation of a template that runs or ran its version.
     */
    void (*decided)(void *context, struct entry *entry);
    void *context;
    /* Called before the evaluation, while the entry has its last decision. */
    void (*deciding)(void *context, struct entry *entry);
};

/*
 * Returns an engine over an empty store and sets it as the listener of the store. Returns NULL and
 * sets `err` if an option is not valid. `seed` seeds the hash maps. Free the engine before the
 * store.
 */
struct engine *engine_new(struct store *store, const struct rules_options *options, uint64_t seed,
                          struct error *err) MUST_USE;
/* Frees the engine and all decisions. Accepts NULL. */
void engine_free(struct engine *e);
/* Replaces the observer (all zero: no observer) and returns the previous one. */
struct engine_observer engine_observe(struct engine *e, struct engine_observer observer);
/* Returns the store of engine_new(). */
const struct store *engine_store(const struct engine *e);
/* Returns the state that the rules share; metrics/simulate changes it and restores it. */
struct rule_context;
struct rule_context *engine_context(struct engine *e);
/* Returns the state that the rules share, read-only. */
const struct rule_context *engine_context_const(const struct engine *e);

/*
 * Evaluates the entries that changes and timers have marked, in at most about `budget` steps.
 * `now_ms`, milliseconds since the epoch, is the reference for ages; an earlier time than that of a
 * previous call is ignored. Returns true if no step is left: only then are the decisions
 * consistent.
 */
bool engine_run(struct engine *e, int64_t now_ms, size_t budget);

/*
 * Discards the transitions of templates kept so far, and keeps up to `limit` new ones; 0, the
 * default, disables this. Call it after engine_run() has returned true: the initial load is no
 * transition. Changes of a simulation (metrics/simulate) are not kept.
 */
void engine_keep_transitions(struct engine *e, size_t limit);
/* Returns the transitions kept (transitions.h); NULL if the limit is 0. */
const struct transitions *engine_transitions(const struct engine *e);

/*
 * Discards the problems (problems.h), and judges all entries from now on. Call it after
 * engine_run() has returned true: what is still to be read must not look like a problem.
 * Simulations do not change problems.
 */
void engine_judge_problems(struct engine *e, const struct problem_options *options);
/* Takes over the problems of `last` after a reload: problems_inherit(). */
void engine_inherit_problems(struct engine *e, const struct engine *last);
/*
 * Returns the judge of Karmada's components (controller_progress.h), to report their Leases to;
 * NULL without problems, and with those of a snapshot.
 */
struct controller_progress;
struct controller_progress *engine_progress(const struct engine *e);
/*
 * Handles a binding in a namespace that the exporter does not keep, such as one of another shard:
 * if Karmada wrote it since it was handled last, that is progress (product contract 3.10, rule 10).
 * Call it for each version that is read, also before engine_judge_problems(), so that a write
 * before the start does not count. `now_ms` is in milliseconds since the epoch.
 */
void engine_note_other_binding(struct engine *e, const cJSON *binding, int64_t now_ms);
/*
 * For a list of bindings that the API server limits to the kept ones: writes of other bindings
 * before `now_ms`, in milliseconds since the epoch, do not count if they are read later.
 */
void engine_skip_other_bindings(struct engine *e, int64_t now_ms);
/*
 * Handle a policy in a namespace of another shard: a version that was read in the pass `origin`, a
 * deletion, and the end of a complete pass, which removes the policies of the source that were not
 * in it. Such a policy selects no template, but its kinds count as selected: without a policy, a
 * template is in the same state in all divisions of the namespaces.
 */
void engine_put_other_policy(struct engine *e, const cJSON *policy, struct origin origin);
void engine_remove_other_policy(struct engine *e, const cJSON *policy);
void engine_sweep_other_policies(struct engine *e, struct origin origin);
/*
 * Compares the clock with a steady clock, both in milliseconds: if the clock was set forwards by
 * more than a minute since the last call, the observation of problems begins anew, because nobody
 * observed the time that it skipped. Call it before engine_run() with the same `now_ms`.
 */
void engine_note_clock(struct engine *e, int64_t now_ms, int64_t steady_ms);
/* Returns the problems; NULL before engine_judge_problems(). */
struct problems *engine_problems(const struct engine *e);

/*
 * Returns the time of the next engine_run() if no entry changes before, in milliseconds since the
 * epoch: a grace period or a lease may end then. INT64_MAX: no call needed.
 */
int64_t engine_deadline(const struct engine *e);

/* Returns the latest time that engine_run() was called with. */
int64_t engine_now_ms(const struct engine *e);

/* Returns the number of evaluations of entries so far. */
uint64_t engine_evaluations(const struct engine *e);

/* Returns the takeover rules in force. */
enum takeover engine_takeover(const struct engine *e);

/* Returns predict_in_context(). */
struct predicted predict_template(const struct engine *e, const struct entry *template,
                                  struct projection *out);

/*
 * Sets the releases that Karmada may run, and the defaults of its feature gates; marks all entries
 * if the releases differ from the last ones. No effect if the options set the release.
 */
void engine_set_release(struct engine *e, struct release_range release);
struct release_range engine_release(const struct engine *e);
/*
 * Sets the releases for a simulation, also if the options set the release, with the defaults of
 * their feature gates. Returns the last ones, for the call that ends the simulation.
 */
struct release_range engine_simulate_release(struct engine *e, struct release_range release);

/* Returns true if all releases that Karmada may have resolve values of dependencies. */
bool engine_resolves_dependencies(const struct engine *e);

/*
 * Iterates over every apiVersion and kind that a selector of some policy names, also of another
 * shard, then those of engine_select_type(); start with *at = 0. Returns false at the end. Unset
 * texts are NULL. No policy may change meanwhile; the texts are valid until a policy changes.
 */
bool engine_next_selected_type(const struct engine *e, size_t *at, const char **api_version,
                               const char **kind);
/*
 * Sets the source of the versions of kinds that Karmada watches, and marks all policies and the
 * templates that depend on it. Call this again when answers of the source have changed. All zero:
 * the objects in the store decide.
 */
void engine_set_api_version_source(struct engine *e, struct api_version_source source);
/* Returns the source of the versions of kinds. */
struct api_version_source engine_api_version_source(const struct engine *e);

/*
 * Makes the sources read the objects of a kind, or PriorityClasses, as if a policy selected them,
 * until the engine is freed. For policies of a planned change, which are not in the store.
 */
void engine_select_type(struct engine *e, const char *api_version, const char *kind);
void engine_select_priority_classes(struct engine *e);

/* Returns true if some policy sets schedulePriority and Karmada's feature gate for it is on. */
bool engine_uses_priority_classes(const struct engine *e);
/* Returns true if the store has an override policy. */
bool engine_has_overrides(const struct engine *e);
/*
 * Returns a number that changes if the types of engine_next_selected_type() change, or the result
 * of engine_uses_priority_classes() or engine_has_overrides().
 */
uint64_t engine_needed_kinds_version(const struct engine *e);

/*
 * Iterates over every apiVersion and kind that a binding refers to, in the order of
 * type_counts_next: start with *at = 0. Returns false at the end. No binding may change meanwhile.
 */
bool engine_next_bound_type(const struct engine *e, size_t *at, const char **api_version,
                            const char **kind);
/* Returns a number that changes if the types of engine_next_bound_type() change. */
uint64_t engine_bound_types_version(const struct engine *e);
/* Replaces the observer of references of bindings to templates; all zero: no observer. */
void engine_observe_bound_templates(struct engine *e, struct bound_observer observer);

/*
 * Sets whether objects of a kind are still to be read. Meanwhile the objects of the kind that have
 * been read get no decision, and a missing object does not count as absent. Examples: templates of
 * the kind have no state; the readiness of clusters is unknown.
 */
void engine_set_incomplete(struct engine *e, const char *api_version, const char *kind,
                           bool incomplete);
/*
 * Sets whether a source watches Works. If it does, and the kind is complete, a missing Work counts
 * as absent. Without a watch, the same holds once the store has any Work.
 */
void engine_follow_works(struct engine *e, bool followed);
/* Returns the classes of the incomplete kinds: a bit for each enum object_class. */
unsigned engine_incomplete_classes(const struct engine *e);

/* Calls delivery_target_message() or delivery_message() (delivery.h) with this engine's data. */
const char *engine_target_message(const struct engine *e, const struct entry *template,
                                  uint32_t target);
const char *engine_delivery_message(const struct engine *e, const struct entry *template);

/* Returns the namespace that holds leases under this id, from the store; NULL if unknown. */
const char *engine_namespace_of_id(const struct engine *e, const char *id);

/*
 * Returns how many other templates declare the same cloud resource as a template of Config
 * Connector. Stores the first `max` of them in `out`, in the order of entry_compare().
 */
size_t engine_same_resource_templates(const struct engine *e, const struct entry *template,
                                      const struct entry **out, size_t max);

/*
 * Returns the lease on the cloud resource of a template of Config Connector; NULL if no inventory
 * has the lease, or the identity is `unclear`. The template's decision must have a connector part.
 */
const struct entry *engine_lease_of(const struct engine *e, const struct entry *template);
/* Calls connector_lease_verdict() (connector_conflicts.h) with this engine's data. */
enum lease_verdict engine_lease_verdict(const struct engine *e, const struct entry *template,
                                        const struct entry *lease);

/* Calls `each` for every result of dependency_referrers_gather() for a dependency, in order. */
void engine_dependency_referrers(const struct engine *e, const struct entry *dependency,
                                 void (*each)(void *context,
                                              const struct dependency_referrer *referrer),
                                 void *context);
