/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"

/*
 * What no object says but a source saw happen: when a change came that left no time of its own,
 * and how long Karmada works off a change of a policy. A change is noted when the store reports
 * it, and dated at the start of the next evaluation, because only then the time is known.
 */
struct seen {
    bool paused;               /* Changes are played, not seen. */
    struct entry_list undated; /* Templates and policies whose change left no time. */
    struct entry_list worked;  /* Policies that Karmada was seen to work off. */
};

/* An object was replaced (`old` was there before), came (`old` is NULL) or went. */
void seen_note(struct seen *seen, struct store *store, struct entry *entry, const void *old);

/*
 * Date what was noted. A policy that Karmada was seen to work off within the grace after its
 * change, or after it was last seen to, has as long again (struct policy, busy_until_ms).
 */
void seen_date(struct seen *seen, int64_t now_ms, int64_t grace_ms);

void seen_release(struct seen *seen);
