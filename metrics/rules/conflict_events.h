/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/event.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/subject_index.h"

/*
 * Events that say what a dependency's referrers disagree on (seed 000; Karmada:
 * recordEventIfPolicyConflict): which there are about a binding, and how one reads and is named
 * that says it where Karmada does not.
 *
 * Fields are bits by enum dependency_field, as dependency_conflicts() has them.
 */
struct conflict_events {
    struct subject_index index; /* By binding. */
};

void conflict_events_init(struct conflict_events *c, uint64_t seed);
void conflict_events_release(struct conflict_events *c);

/* An entry's Event came (`old` is NULL), was replaced or went. */
void conflict_events_changed(struct conflict_events *c, struct entry *entry,
                             const struct event *old);

/*
 * The fields that others than this program have said of this binding. Events of one that had its
 * name before do not count.
 */
unsigned conflict_events_by_others(const struct conflict_events *c, const struct entry *binding);

/* Our own Event about this binding that names these fields and no other; NULL if there is none. */
const struct entry *conflict_events_own(const struct conflict_events *c,
                                        const struct entry *binding, unsigned fields);

/* Append "ConflictResolution conflicted (Overwrite vs Abort)". */
void conflict_event_hint(enum dependency_field field, struct strbuf *out);

/* Append the message of an Event, with the hints of all these fields. */
void conflict_event_message(unsigned fields, struct strbuf *out);

/*
 * Append the name of our Event about a binding: of one binding, by its uid, and one message there
 * is only one, whoever writes it, so that a second one cannot be created. At most
 * OBJECT_NAME_MAX bytes; of a binding whose name leaves no room it has the beginning.
 */
void conflict_event_name(const char *binding, const char *uid, unsigned fields, struct strbuf *out);
