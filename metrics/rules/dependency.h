/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/model/event.h"
#include "metrics/rules/control_plane.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/object_index.h"

/*
 * Shared dependencies: the values that their referrers request, the value that results (Karmada:
 * detectAndResolveConflictResolution and its counterpart for preserveResourcesOnDeletion), and the
 * Events that report conflicting requests.
 */

/* Returns the values that a policy or binding requests for its dependencies. */
struct dependency_values dependency_values_of(const struct propagation *p);
bool dependency_values_equal(const struct dependency_values *a, const struct dependency_values *b);

/*
 * One referrer of a dependency, and the values that it requests. A listed referrer is an element of
 * spec.requiredBy. An unlisted referrer is a template that references the dependency, and whose
 * policy propagates dependencies. An unlisted referrer is derived if no policy has made a binding
 * for it yet.
 */
struct dependency_referrer {
    struct entry *binding;             /* Existing or not; NULL if derived or unknown. */
    struct entry *template;            /* Existing or not; NULL if unknown. */
    struct dependency_values observed; /* Values in the binding or, if not listed, in the policy. */
    struct dependency_values current;  /* Values in the governing policy, else in the binding. */
    bool counts_observed; /* Listed with an existing binding, or derived and about to get one. */
    bool counts_current;  /* A referrer once Karmada has applied the present policies. */
    bool derived;
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
 * Appends the referrers of `dependency`, a template or a binding. First come the elements of the
 * binding's spec.requiredBy, in order. Then come, sorted by entry_compare(), other templates of the
 * namespace that reference the dependency, if their policies propagate it. These are omitted for a
 * binding that has a placement, lists no referrer, or is not template_binding() of its template
 * (unless the kind is in `incomplete`). The decisions about the templates must be up to date.
 */
void dependency_referrers_gather(const struct store *s, const struct incomplete *incomplete,
                                 const struct entry *dependency, struct dependency_referrers *out);

/*
 * Returns the decision about a dependency with these referrers: about the binding `b` or, if `b` is
 * NULL, about a template that has no binding and no governing policy. `release` determines which
 * value Karmada gives the binding. Returns NULL if the object is no dependency. The decision
 * is a cell of `memory`; the caller frees it with pool_free().
 */
struct dependency_decision *dependency_decide(struct pool *memory, const struct binding *b,
                                              const struct dependency_referrers *referrers,
                                              struct release_range release);

/*
 * Appends the resolved value of a field or, if it is undetermined, the reason. `predicted` stands
 * for the value once the present policies are applied.
 */
void dependency_describe_resolved(const struct dependency_decision *d, enum dependency_field field,
                                  bool predicted, struct strbuf *out);

/*
 * ---- Events about conflicts (Karmada: recordEventIfPolicyConflict) ----
 *
 * `fields` are bits by dependency_field, as in dependency_conflicts(). A `binding` has an object.
 */

/* Index of the existing Events about conflicts, Karmada's and the exporter's. */
struct conflict_events {
    struct subject_index index; /* Events by the binding that they are about. */
};

void conflict_events_init(struct conflict_events *c, uint64_t seed);
void conflict_events_release(struct conflict_events *c);

/* Updates the index after an Event was added (`old` is NULL), replaced or deleted. */
void conflict_events_update(struct conflict_events *c, struct entry *entry,
                            const struct event *old);

/*
 * Returns the fields that Events about this binding report, without the exporter's own Events.
 * Events about a deleted binding of the same name (another uid) do not count.
 */
unsigned conflict_events_by_others(const struct conflict_events *c, const struct entry *binding);

/* Returns the exporter's Event about this binding with exactly these fields, or NULL. */
const struct entry *conflict_events_find_own(const struct conflict_events *c,
                                             const struct entry *binding, unsigned fields);

/* Appends a text such as "ConflictResolution conflicted (Overwrite vs Abort)". */
void conflict_event_hint(enum dependency_field field, struct strbuf *out);

/* Appends the message of the Event that the exporter creates about these fields. */
void conflict_event_message(unsigned fields, struct strbuf *out);

/*
 * Appends the name of the exporter's Event about a binding, at most OBJECT_NAME_MAX bytes; a long
 * binding name is truncated. The name depends only on the binding's name and uid and the fields, so
 * that two replicas of the exporter cannot both create the Event.
 */
void conflict_event_name(const char *binding, const char *uid, unsigned fields, struct strbuf *out);
