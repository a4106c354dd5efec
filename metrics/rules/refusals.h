/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/event.h"
#include "metrics/rules/object_index.h"

/*
 * Index of Karmada's Events about templates to which it could not apply the policy (struct
 * refusal_event). The index contains only Events in the store; by default, an API server deletes
 * Events after an hour.
 */
struct refusals {
    struct subject_index index; /* Events by template. */
    struct store *store;
};

/* Initializes `r`, which borrows `store`. `seed` is the seed of its hashes. */
void refusals_init(struct refusals *r, struct store *store, uint64_t seed);
void refusals_release(struct refusals *r);

/*
 * Updates the index after an Event was created (`old` is NULL), replaced or deleted. Returns true
 * if the result of refusals_latest_ms() may differ for the templates of the old and new Event.
 */
bool refusals_update(struct refusals *r, struct entry *entry, const struct event *old);

/*
 * Returns the entry, existing or not, of the template that an Event about a refusal concerns; NULL
 * if the store has no such entry, or the Event is NULL, is about a deleted object of the template's
 * name (another uid), or has another subject.
 */
struct entry *refused_template(const struct refusals *r, const struct event *event);

/*
 * Returns the time of the latest refusal of a template, in milliseconds since the epoch; 0 without
 * one. Times of Events are whole seconds. Events about a deleted object of the template's name do
 * not count.
 */
int64_t refusals_latest_ms(const struct refusals *r, const struct entry *template);
