/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/simulate/outcome.h"
#include "metrics/simulate/play.h"

/*
 * Plays what Karmada makes of a change until it comes to rest. A user's changes are made one after
 * another, as kubectl would; after each Karmada acts until nothing is left to do.
 *
 * Deterministic: no time passes but that which Karmada needs, and everything happens in the order
 * in which Karmada queues it.
 */

/* Room for the longest play: more events than so many for each template there is, and so many more
 * to begin with, is no rest. */
enum { SIMULATION_EVENTS_EACH = 64, SIMULATION_EVENTS_MIN = 4096 };

/*
 * Play what Karmada makes of templates that nobody has applied yet, as in a repository of
 * manifests: those without a uid, claim and binding. False as simulation_settle().
 */
bool simulation_admit(struct play *play) MUST_USE;

/* An object that a user is about to apply, whole. */
struct applied_object {
    struct entry *entry;
    void *object; /* The play's. */
};
/* Read it. False with the reason if it is not valid. */
bool simulation_read(struct play *play, const cJSON *json, struct applied_object *out,
                     struct error *err) MUST_USE;
/* The user applies it. */
void simulation_apply(struct play *play, struct applied_object applied);
/* A user deletes an object. Nothing happens if it does not exist. */
void simulation_delete(struct play *play, struct entry *entry);
/* The user of a template changes something in it that no policy looks at. */
void simulation_touch(struct play *play, struct entry *template);

/*
 * Play until nothing moves. False if that takes too long, or the play's limit is reached: then
 * Karmada is left in mid-air.
 */
bool simulation_settle(struct play *play) MUST_USE;
