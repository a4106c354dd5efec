/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/connector_conflicts.h"
#include "metrics/rules/dependency.h"
#include "metrics/rules/object_index.h"
#include "metrics/rules/selector.h"
#include "metrics/rules/selector_index.h"
#include "metrics/rules/transitions.h"

/*
 * Keeps a decision on every entry of a store. After a change only the entries that it can
 * affect are evaluated again.
 *
 * The invariant that tests check: whatever the order of changes, once engine_run() answers true the
 * decisions equal those of a fresh engine over the same objects at the same time.
 */
struct engine;

/* Preemption, a minute of grace, and the namespaces that Karmada skips by default: kube-.*. */
extern const struct rules_options rules_options_default;

/*
 * `decided` is called after each evaluation of an entry: its decision, its object or both may
 * have changed, and the object may be gone. Other entries may still wait to be evaluated.
 */
struct engine_observer {
    void (*decided)(void *context, struct entry *entry);
    void *context;
    /* Called before each evaluation: the entry still has its last decision. NULL: nobody asks. */
    void (*deciding)(void *context, struct entry *entry);
};

/*
 * An engine over an empty store; it becomes the store's listener. NULL with the reason if an
 * option is not valid. `seed` is that of the hash maps. Free the engine before the store.
 */
struct engine *engine_new(struct store *store, const struct rules_options *options, uint64_t seed,
                          struct error *err) MUST_USE;
/* Takes NULL. All decisions are freed. */
void engine_free(struct engine *e);
/* From now on there is this observer and no other; all zero for none. Answers the last one. */
struct engine_observer engine_observe(struct engine *e, struct engine_observer observer);
const struct store *engine_store(const struct engine *e);
/* What its rules share, for metrics/simulate, which plays with the store and puts it back. */
struct rule_context;
struct rule_context *engine_context(struct engine *e);
/* The same to look at. */
const struct rule_context *engine_facts(const struct engine *e);

/*
 * Evaluate up to `budget` of the entries that changes and timers have marked. `now_ms`,
 * milliseconds since the epoch, is the time that ages are measured against; it never goes back.
 * True if none is left: only then do the decisions agree with each other.
 */
bool engine_run(struct engine *e, int64_t now_ms, size_t budget);

/*
 * From now on transitions of templates are remembered, up to `limit` of them; 0: none, as before
 * the first call. What was remembered is forgotten. Call it when engine_run() has answered true, so
 * that what is read at a start is no transition; what is only played (metrics/simulate) is none.
 */
void engine_remember(struct engine *e, size_t limit);
/* What it remembers (transitions.h); NULL: nothing. */
const struct transitions *engine_transitions(const struct engine *e);

/*
 * When engine_run() is due although nothing changes, because a grace period or a lease ends:
 * milliseconds since the epoch, INT64_MAX for never.
 */
int64_t engine_deadline(const struct engine *e);

/* The time of the last engine_run(). */
int64_t engine_now_ms(const struct engine *e);

/* How many evaluations of an entry there have been. */
uint64_t engine_evaluations(const struct engine *e);

/* The takeover rules in force. */
enum takeover engine_takeover(const struct engine *e);

/* True if this release of Karmada resolves what referrers want of a dependency (release.h). */
bool engine_resolves_dependencies(const struct engine *e);

/*
 * Walk over every apiVersion and kind that a selector of some policy names, in no order: start
 * with *at = 0; false at the end. No policy may change during the walk; the texts are valid
 * until one does.
 */
bool engine_next_selected(const struct engine *e, size_t *at, const char **api_version,
                          const char **kind);
/*
 * From now on this one is asked which versions of kinds Karmada looks at, and whatever depends on
 * its answers is evaluated again: call it again when they have changed. All zero: nobody knows.
 */
void engine_judge_api_versions(struct engine *e, struct api_version_judge judge);

/* True while some policy names a PriorityClass and Karmada goes by it. */
bool engine_names_priorities(const struct engine *e);
/* True while there are override policies. */
bool engine_has_overrides(const struct engine *e);
/* A number that changes whenever that set does, or one of these. */
uint64_t engine_selected_version(const struct engine *e);

/* The same of every apiVersion and kind that a binding refers to. */
bool engine_next_bound(const struct engine *e, size_t *at, const char **api_version,
                       const char **kind);
uint64_t engine_bound_version(const struct engine *e);
/* From now on this observer hears of the templates that bindings refer to; all zero for none. */
void engine_observe_bound(struct engine *e, struct bound_observer observer);

/*
 * Not all objects of a kind have been read yet, or (false) they have. Meanwhile those that have
 * been have no decision, and nobody concludes from one that is missing that it does not exist: of
 * the templates of the kind there is no state, without Clusters no capacity, without override
 * policies none is missing.
 */
void engine_set_incomplete(struct engine *e, const char *api_version, const char *kind,
                           bool incomplete);
/*
 * Works are read from now on (false: no longer), so that one that is missing does not exist, as
 * soon as their kind is complete. Those that come from files count without this.
 */
void engine_follow_works(struct engine *e, bool followed);
/* The classes of these kinds, a bit for each enum object_class. */
unsigned engine_incomplete_classes(const struct engine *e);

/* delivery_target_message() and delivery_message() (delivery.h) for this engine. */
const char *engine_target_message(const struct engine *e, const struct entry *template,
                                  uint32_t target);
const char *engine_delivery_message(const struct engine *e, const struct entry *template);

/*
 * The namespace that signs Config Connector's leases with this id; NULL if none is known to.
 * Borrowed.
 */
const char *engine_namespace_of_id(const struct engine *e, const char *id);

/*
 * How many other templates stand for the same cloud resource as a template of Config Connector;
 * the first `max` of them, in the order of lists, go to `out`.
 */
size_t engine_sharers(const struct engine *e, const struct entry *template,
                      const struct entry **out, size_t max);

/*
 * The lease on the cloud resource that a template of Config Connector stands for; NULL if no
 * inventory has one. The template's decision has a connector part.
 */
const struct entry *engine_lease_of(const struct engine *e, const struct entry *template);
/* connector_lease_verdict() (connector_lookup.h) for this engine. */
enum lease_verdict engine_lease_verdict(const struct engine *e, const struct entry *template,
                                        const struct entry *lease);

/*
 * Call `each` for every referrer of a dependency, in the order of spec.requiredBy (derived: by
 * template name).
 */
void engine_dependency_referrers(const struct engine *e, const struct entry *dependency,
                                 void (*each)(void *context,
                                              const struct dependency_referrer *referrer),
                                 void *context);
