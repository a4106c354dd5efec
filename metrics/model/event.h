/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"

/*
 * An Event of core/v1 or of events.k8s.io/v1. Of DependencyPolicyConflict, what
 * counting takes; of any other nothing: `is_conflict` is false and all else is zero.
 */
struct event {
    const char *kind; /* The object it is about, normally the attached ResourceBinding. */
    const char *ns;   /* "" if that is cluster-scoped. */
    const char *name;
    const char *uid; /* The Event's own; NULL if not told. */
    uint32_t count;  /* How often it was seen, at least once. */
    bool is_conflict;
    bool conflict_resolution; /* What its message says the referrers disagree on. */
    bool preserve;
};

void *event_decode(struct decode *d, const cJSON *json);
void event_release(struct intern *strings, void *object);
