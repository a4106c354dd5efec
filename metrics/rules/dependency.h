/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/model/event.h"
#include "metrics/rules/control_plane.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/object_index.h"

/*
 * Shared dependencies: the values that their referrers request, the value that results (seed 000;
 * Karmada: detectAndResolveConflictResolution and its counterpart for preserveResourcesOnDeletion),
 * and the Events that report conflicting requests.
 */

/* Returns the values that a policy or binding requests for its dependencies. */
struct dependency_values dependency_values_of(const struct propagation *p);
bool dependency_values_equal(const struct dependency_values *a, const struct dependency_values *b);

/* One referrer of a dependency, and the values that it requests. */
struct dependency_referrer {
    struct entry *binding;             /* The referring binding; NULL if derived. */
    struct entry *template;            /* Template of the referrer; NULL if it does not exist. */
    struct dependency_values observed; /* Values in its binding or, if derived, its policy. */
    struct dependency_values current;  /* Values in its policy, which its binding gets later. */
    bool counts_observed; /* False if no binding exists, or it does not require the object yet. */
    bool counts_current;  /* False if its policy no longer propagates dependencies. */
    bool derived;         /* Template without a binding yet: its references make it a referrer. */
};

/* Growing list of referrers; all zero is the empty list. */
struct dependency_referrers {
    struct dependency_referrer *items;
    size_t count;
    size_t capacity;
};

/* Frees the items. The list is empty and usable again. */
void dependency_referrers_release(struct dependency_referrers *list);

/*
 * Appends each referrer of a dependency, which is a template or its binding: first the elements of
 * the binding's spec.requiredBy in order, then, sorted by name, unlisted templates that need the
 * dependency, if their policies propagate it. Unlisted referrers without a binding are derived;
 * unlisted ones with a binding have only `counts_current`. A binding with a placement has listed
 * referrers only. A binding that lists no referrer is left over: its template is the dependency.
 * The decisions about the templates must be up to date.
 */
void dependency_referrers_gather(const struct store *s, const struct incomplete *incomplete,
                                 const struct entry *dependency, struct dependency_referrers *out);

/*
 * Returns the decision about a dependency with these referrers: about the binding `b` or, if `b` is
 * NULL, about a template without a binding that no policy governs. `resolves` is true if Karmada
 * writes the resulting value to the binding (release_resolves_dependencies). Returns NULL if the
 * object is no dependency. The caller frees the decision.
 */
struct dependency_decision *dependency_decide(const struct binding *b,
                                              const struct dependency_referrers *referrers,
                                              bool resolves);

/*
 * ---- Events about conflicts (seed 000; Karmada: recordEventIfPolicyConflict) ----
 *
 * The Events that exist about a binding, and the message and name of the Event that the exporter
 * creates if Karmada has not. `fields` are bits by dependency_field, as in dependency_conflicts().
 */
struct conflict_events {
    struct subject_index index; /* Events by the binding that they are about. */
};

void conflict_events_init(struct conflict_events *c, uint64_t seed);
void conflict_events_release(struct conflict_events *c);

/* Updates the index after an Event was added (`old` is NULL), replaced or deleted. */
void conflict_events_update(struct conflict_events *c, struct entry *entry,
                            const struct event *old);

/*
 * Returns the fields in Events about this binding that another component than the exporter wrote.
 * Events about a deleted binding of the same name (another uid) do not count.
 */
unsigned conflict_events_by_others(const struct conflict_events *c, const struct entry *binding);

/* Returns the exporter's Event about this binding with exactly these fields, or NULL. */
const struct entry *conflict_events_own(const struct conflict_events *c,
                                        const struct entry *binding, unsigned fields);

/* Appends the text for one field: "ConflictResolution conflicted (Overwrite vs Abort)". */
void conflict_event_hint(enum dependency_field field, struct strbuf *out);

/* Appends the message of an Event about these fields. */
void conflict_event_message(unsigned fields, struct strbuf *out);

/*
 * Appends the name of the exporter's Event about a binding, at most OBJECT_NAME_MAX bytes; a long
 * binding name is truncated. The name depends only on the binding's name and uid and the message,
 * so that two replicas cannot create the same Event twice.
 */
void conflict_event_name(const char *binding, const char *uid, unsigned fields, struct strbuf *out);
