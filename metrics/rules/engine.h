/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/dependency.h"
#include "metrics/rules/lease.h"
#include "metrics/rules/options.h"

/*
 * Keeps a decision on every entry of a store, and after each change looks again
 * only at what that change can affect.
 *
 * The property that guards it: whatever the order of changes, once settled the
 * decisions equal those of a fresh engine over the same objects at the same time.
 */
struct engine;

extern const struct rules_options rules_options_default;

/*
 * Told after each look at an entry: decision and object may have changed; the
 * object may be gone. Decisions of other entries may still be on the way.
 */
struct engine_observer {
    void (*decided)(void *context, struct entry *entry);
    void *context;
};

/*
 * An engine over an empty store, which it listens to from now on. NULL with the reason where an
 * option is not valid. Free the engine before the store.
 */
struct engine *engine_new(struct store *store, const struct rules_options *options, uint64_t seed,
                          struct error *err) MUST_USE;
void engine_free(struct engine *e);
void engine_observe(struct engine *e, struct engine_observer observer);
const struct store *engine_store(const struct engine *e);

/*
 * Look again at up to `budget` entries. `now_ms` is the time that ages are
 * measured against. True when nothing is left to look at: only then do the
 * decisions agree with each other.
 */
bool engine_run(struct engine *e, int64_t now_ms, size_t budget);

/* When settling is due without any change, because a grace period ends; INT64_MAX for never. */
int64_t engine_deadline(const struct engine *e);

/* How many looks there have been since the start. */
uint64_t engine_evaluations(const struct engine *e);

/* The rule set in force. */
enum takeover engine_takeover(const struct engine *e);

/* True while the store holds no binding: dependencies are derived from pod templates. */
bool engine_derives(const struct engine *e);

/*
 * Walk over every apiVersion and kind that a selector of some policy names, in no
 * order: start with *at = 0; false at the end. The texts are the engine's, and good
 * until a policy changes; none may during the walk.
 */
bool engine_next_selected(const struct engine *e, size_t *at, const char **api_version,
                          const char **kind);
/* Another number whenever that set has changed. */
uint64_t engine_selected_version(const struct engine *e);

/*
 * The namespace that signs Config Connector's leases with this id; NULL if it is nobody's
 * here, or no ids are known. Borrowed.
 */
const char *engine_namespace_of_id(const struct engine *e, const char *id);

/*
 * The lease on the cloud resource that a template of Config Connector stands for; NULL if no
 * inventory tells of one. It looks through all of them: for one object that somebody asks about.
 */
const struct entry *engine_lease_of(const struct engine *e, const struct entry *template);
/* What comes of it at the next look of the template's own namespace. */
enum lease_verdict engine_lease_verdict(const struct engine *e, const struct entry *template,
                                        const struct entry *lease);

/*
 * The referrers of a dependency in the order that spec.requiredBy lists them
 * (derived: by template name), for those who have to name them. Calls `each` per referrer.
 */
void engine_ballots(const struct engine *e, const struct entry *dependency,
                    void (*each)(void *context, const struct ballot *ballot), void *context);
