/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/stage.h"

#define WORD(id, word, text) word,
/* In parentheses, because some are of several literals. */
#define TEXT(id, word, text) (text),

const char *const stage_names[STAGE_COUNT] = {STAGES(WORD)};
const char *const stage_texts[STAGE_COUNT] = {STAGES(TEXT)};
const char *const stage_reason_names[STAGE_REASON_COUNT] = {STAGE_REASONS(WORD)};
const char *const stage_reason_texts[STAGE_REASON_COUNT] = {STAGE_REASONS(TEXT)};

#define WHY(id) (UINT64_C(1) << WHY_##id)

/* Besides OTHER, which every stage with reasons has. */
static const uint64_t reasons[STAGE_COUNT] = {
    [STAGE_UNMATCHED] = WHY(IGNORED) | WHY(LEFT_BEHIND_CHANGED) | WHY(LEFT_BEHIND) | WHY(NO_POLICY),
    [STAGE_UNBOUND] = WHY(LAZY) | WHY(OVERRIDE_MISSING) | WHY(NAMESAKE) |
                      WHY(PRIORITY_CLASS_MISSING) | WHY(STUCK) | WHY(NOT_CLAIMED) | WHY(WAITING),
    [STAGE_OUTDATED] = WHY(POLICY_UPDATED) | WHY(POLICY_REPLACED) | WHY(SELECTOR_MISMATCH) |
                       WHY(POLICY_GONE) | WHY(TEMPLATE_UPDATED) | WHY(PRIORITY_CLASS_MISSING) |
                       WHY(OVERRIDE_MISSING),
    [STAGE_EVICTING] = WHY(LAST_COPY) | WHY(PURGE_BLOCKED) | WHY(RESCHEDULING) | WHY(REPLACING),
    [STAGE_UNSCHEDULED] = WHY(SUSPENDED) | WHY(NO_CLUSTER_FIT) | WHY(UNSCHEDULABLE) |
                          WHY(QUOTA_EXCEEDED) | WHY(SCHEDULER_ERROR) | WHY(OTHER_SCHEDULER) |
                          WHY(WAITING),
    [STAGE_PLACED_NOWHERE] = WHY(NO_REPLICAS) | WHY(REFERRER),
    [STAGE_UNDISPATCHED] = WHY(SUSPENDED) | WHY(CLUSTER_NOT_READY) | WHY(OVERRIDE_FAILED) |
                           WHY(WORK_MISSING) | WHY(WORK_DELETING) | WHY(WAITING),
    [STAGE_UNAPPLIED] = WHY(ALREADY_EXISTS) | WHY(REFUSED),
    [STAGE_UNDELIVERED] = WHY(SUSPENDED) | WHY(CLUSTER_NOT_READY) | WHY(OVERRIDE_FAILED) |
                          WHY(WORK_OUTDATED) | WHY(WAITING),
    [STAGE_UNHEALTHY] = WHY(ROLLING) | WHY(UNAVAILABLE) | WHY(UNKNOWN),
    [STAGE_UNREACHABLE] = WHY(CLUSTER_NOT_READY),
};
static_assert(STAGE_REASON_COUNT <= 64, "a bit for each");

bool stage_has_reason(enum stage stage, enum stage_reason reason)
{
    if (reasons[stage] == 0)
        return reason == WHY_NONE;
    return reason == WHY_OTHER || (reasons[stage] & UINT64_C(1) << reason) != 0;
}
