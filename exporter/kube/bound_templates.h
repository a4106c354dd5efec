/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/reflector.h"
#include "metrics/rules/object_index.h"

/*
 * Reads or marks templates that bindings refer to and that no stream brings:
 *
 * - A reflector with `bound_templates_only`, because no policy selects the kind, drops objects
 *   that nothing refers to. When a binding to a dropped object is added later, a request reads this
 *   object, and the reflector's stream keeps it up to date. If the reflector began a new pass or
 *   removed an object during the request, the object is read again, because the response may be
 *   outdated. If many objects of a kind are needed at once, the reflector lists the kind instead.
 * - If the exporter may not read the kind or the object, the template is stored as unread.
 */
struct bound_templates {
    struct reflector_context *context; /* Borrowed. */
    struct entry **changed;            /* Templates to update in the next turn; pinned. */
    size_t changed_count;
    size_t changed_capacity;
    struct bound_templates_fetch *fetches;
    unsigned open_count; /* Number of fetches with a request. */
};

void bound_templates_init(struct bound_templates *b, struct reflector_context *context);
/* Cancels all requests and frees memory. */
void bound_templates_release(struct bound_templates *b);

/* Records that a binding began or ceased to refer to a template, for the next turn. */
void bound_templates_note_change(struct bound_templates *b, const struct identity *template);

/* Updates the changed templates, and starts and ends requests, for these reflectors. */
void bound_templates_turn(struct bound_templates *b, struct reflector *const *reflectors,
                          size_t count);
/*
 * Returns the steady time in ms of the next bound_templates_turn() if no response data arrives
 * before; INT64_MAX: no call needed.
 */
int64_t bound_templates_due(const struct bound_templates *b);

/*
 * Returns true if no changed template is pending and each remaining fetch has failed at least once
 * or waits for the stream of its reflector.
 */
bool bound_templates_ready(const struct bound_templates *b);
