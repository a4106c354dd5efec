/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/decision.h"

#include "metrics/model/store.h"
#include "metrics/rules/object_index.h"

/* ---- names and texts ---- */

/* Columns of the X-macro tables. Parentheses, because some texts consist of several literals. */
#define ROW_WORD(id, word, text) word,
#define ROW_TEXT(id, word, text) (text),

const char *const stage_names[STAGE_COUNT] = {STAGES(ROW_WORD)};
const char *const stage_texts[STAGE_COUNT] = {STAGES(ROW_TEXT)};
const char *const stage_reason_names[STAGE_REASON_COUNT] = {STAGE_REASONS(ROW_WORD)};
const char *const stage_reason_texts[STAGE_REASON_COUNT] = {STAGE_REASONS(ROW_TEXT)};

#define WHY(id) (UINT64_C(1) << WHY_##id)

/* Possible reasons of each stage. A stage with any reason can have WHY_OTHER, too. */
static const uint64_t stage_reasons[STAGE_COUNT] = {
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
    if (stage_reasons[stage] == 0)
        return reason == WHY_NONE;
    return reason == WHY_OTHER || (stage_reasons[stage] & UINT64_C(1) << reason) != 0;
}

/* ---- does the binding contain the template's last change? ---- */

/*
 * Compares the template version in the binding with the version of the last user change. If other
 * bindings require this one, Karmada's dependencies distributor writes spec.resource, too: an older
 * version does not prove then that the change is missing.
 */
static enum change_applied check_change_applied_by_version(const struct template *t,
                                                           const struct binding *b)
{
    enum change_applied older =
        binding_rare(b)->referrer_count > 0 ? CHANGE_UNKNOWN : CHANGE_NOT_APPLIED;

    if (!b->resource_version)
        return CHANGE_UNKNOWN;
    if (b->resource_version == t->resource_version)
        return CHANGE_APPLIED;
    if (!t->user_version)
        return CHANGE_UNKNOWN;
    if (t->user_version_is_lower)
        return b->resource_version <= t->user_version ? older : CHANGE_UNKNOWN;
    return b->resource_version >= t->user_version ? CHANGE_APPLIED : older;
}

/* Returns true if a Deployment, StatefulSet or ReplicaSet has other known replicas than `b`. */
static bool template_replicas_differ(const struct entry *template, const struct binding *b)
{
    static const char *const kinds[] = {"Deployment", "StatefulSet", "ReplicaSet"};
    const struct template *t = entry_template(template);

    if (template_replicas(t) < 0 || !b->has_replicas || b->component_count > 0 ||
        strcmp(entry_type(template)->api_version, "apps/v1") != 0)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (strcmp(kinds[i], entry_kind(template)) == 0)
            return template_replicas(t) != b->replicas;
    }
    return false;
}

/*
 * Returns true if a user, with a manager other than the binding's writer, wrote the template over
 * one second after the binding: both times are rounded down to whole seconds.
 */
static bool is_template_written_after(const struct template *t, const struct binding *b)
{
    return b->write.time_s > 0 &&
           other_manager_write_time_s(&t->traces, b->write.manager) > b->write.time_s + 1;
}

enum change_applied check_change_applied(const struct entry *template, const struct binding *b)
{
    const struct template *t = entry_template(template);
    enum change_applied change_applied = check_change_applied_by_version(t, b);

    if (change_applied != CHANGE_UNKNOWN)
        return change_applied;
    return template_replicas_differ(template, b) || is_template_written_after(t, b)
               ? CHANGE_NOT_APPLIED
               : CHANGE_UNKNOWN;
}

enum change_applied check_orphan_change_applied(const struct entry *template,
                                                const struct binding *b)
{
    const struct template *t = entry_template(template);
    enum change_applied change_applied = check_change_applied(template, b);
    uint32_t claim_writes = t->claim_moves_generation ? 1 : 0;

    if (change_applied != CHANGE_UNKNOWN)
        return change_applied;
    return b->delivered_generation > 0 &&
                   traces_generation(&t->traces) > b->delivered_generation + claim_writes
               ? CHANGE_NOT_APPLIED
               : CHANGE_UNKNOWN;
}

/* ---- names of states and reasons ---- */

const char *const state_names[STATE_COUNT] = {
    [STATE_CURRENT] = "current", [STATE_STALE] = "stale",     [STATE_ORPHANED] = "orphaned",
    [STATE_PENDING] = "pending", [STATE_UNBOUND] = "unbound", [STATE_ATTACHED] = "attached",
    [STATE_IGNORED] = "ignored",
};

const char *const stale_reason_names[STALE_REASON_COUNT] = {
    [STALE_POLICY_UPDATED] = "policy_updated",
    [STALE_POLICY_REPLACED] = "policy_replaced",
    [STALE_SELECTOR_MISMATCH] = "selector_mismatch",
    [STALE_POLICY_GONE] = "policy_gone",
    [STALE_NEVER_BOUND] = "never_bound",
    [STALE_TEMPLATE_UPDATED] = "template_updated",
};

const char *const phase_names[PHASE_COUNT] = {
    [PHASE_DEFERRED] = "deferred",
    [PHASE_OVERDUE] = "overdue",
};

const char *const pending_reason_names[PENDING_REASON_COUNT] = {
    [PENDING_NO_MATCH] = "no_match",
    [PENDING_EXCLUDED] = "excluded",
    [PENDING_POLICY_GONE] = "policy_gone",
    [PENDING_OVERRIDE_MISSING] = "override_missing",
    [PENDING_POLICY_DELETING] = "policy_deleting",
    [PENDING_KIND_NOT_SELECTED] = "kind_not_selected",
};

const char *const unbound_reason_names[UNBOUND_REASON_COUNT] = {
    [UNBOUND_NAMESAKE] = "namesake",
    [UNBOUND_PRIORITY_CLASS_MISSING] = "priority_class_missing",
    [UNBOUND_STUCK] = "stuck",
    [UNBOUND_WAITING] = "waiting",
};

const char *const ignored_reason_names[IGNORED_REASON_COUNT] = {
    [IGNORED_RESERVED_NAMESPACE] = "reserved_namespace",
    [IGNORED_SKIPPED_NAMESPACE] = "skipped_namespace",
    [IGNORED_SKIPPED_API] = "skipped_api",
    [IGNORED_SYSTEM_OBJECT] = "system_object",
    [IGNORED_CLAIMED_BY] = "claimed_by",
    [IGNORED_UNWATCHED_VERSION] = "unwatched_version",
};

const char *const drift_field_names[DRIFT_FIELD_COUNT] = {
    [FIELD_PLACEMENT] = "placement",
    [FIELD_CONFLICT_RESOLUTION] = "conflictResolution",
    [FIELD_PRESERVE] = "preserveResourcesOnDeletion",
    [FIELD_PROPAGATE_DEPS] = "propagateDeps",
    [FIELD_FAILOVER] = "failover",
    [FIELD_SUSPENSION] = "suspension",
    [FIELD_SCHEDULER_NAME] = "schedulerName",
    [FIELD_SCHEDULE_PRIORITY] = "schedulePriority",
};

const char *const dependency_field_names[DEPENDENCY_FIELD_COUNT] = {
    [DEPENDENCY_CONFLICT_RESOLUTION] = "ConflictResolution",
    [DEPENDENCY_PRESERVE] = "PreserveResourcesOnDeletion",
};

const char *const template_flag_names[TEMPLATE_FLAG_COUNT] = {TEMPLATE_FLAGS(ROW_WORD)};
const char *const template_flag_texts[TEMPLATE_FLAG_COUNT] = {TEMPLATE_FLAGS(ROW_TEXT)};

const char *const defect_names[DEFECT_COUNT] = {DEFECTS(ROW_WORD)};
const char *const defect_texts[DEFECT_COUNT] = {DEFECTS(ROW_TEXT)};

const char *const policy_problem_names[POLICY_PROBLEM_COUNT] = {POLICY_PROBLEMS(ROW_WORD)};
const char *const policy_problem_texts[POLICY_PROBLEM_COUNT] = {POLICY_PROBLEMS(ROW_TEXT)};

/* Names of the reasons of each state; empty for states without reasons. */
static const struct {
    const char *const *names;
    size_t count;
} state_reasons[STATE_COUNT] = {
    [STATE_STALE] = {stale_reason_names, STALE_REASON_COUNT},
    [STATE_PENDING] = {pending_reason_names, PENDING_REASON_COUNT},
    [STATE_UNBOUND] = {unbound_reason_names, UNBOUND_REASON_COUNT},
    [STATE_IGNORED] = {ignored_reason_names, IGNORED_REASON_COUNT},
};

const char *reason_name(enum template_state state, unsigned reason)
{
    assert(state < STATE_COUNT &&
           (state_reasons[state].count == 0 || reason < state_reasons[state].count));
    return state_reasons[state].names ? state_reasons[state].names[reason] : NULL;
}

bool reason_exists(const char *name)
{
    for (size_t i = 0; i < STATE_COUNT; i++) {
        for (size_t k = 0; k < state_reasons[i].count; k++) {
            if (strcmp(state_reasons[i].names[k], name) == 0)
                return true;
        }
    }
    return false;
}

/* ---- decisions about templates ---- */

#define TIME_MASK (((uint64_t)1 << DECISION_TIME_BITS) - 1)

/* Returns the nearest time that decision_time() can return. */
static uint64_t nearest_time(int64_t ms)
{
    const int64_t max = (int64_t)(TIME_MASK / 2);

    return (uint64_t)(ms > max ? max : ms < -max ? -max : ms);
}

void decision_set_since_ms(struct template_decision *d, int64_t since_ms)
{
    d->since = nearest_time(since_ms) & TIME_MASK;
}

void decision_set_seen_ms(struct template_decision *d, int64_t seen_ms)
{
    d->seen = nearest_time(seen_ms) & TIME_MASK;
}

struct dependency_values decision_values(const struct template_decision *d)
{
    struct dependency_values values;

    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++)
        values.wants[i] = d->wants >> i & 1;
    return values;
}

void decision_set_values(struct template_decision *d, const struct dependency_values *values)
{
    unsigned wants = 0;

    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++)
        wants |= (unsigned)values->wants[i] << i;
    d->wants = wants & ((1U << DEPENDENCY_FIELD_COUNT) - 1);
}

/* Returns the bytes of a decision up to the handle of its parts. */
static size_t size_without_parts(size_t candidate_count, size_t target_count)
{
    return offsetof(struct template_decision, candidates) +
           candidate_count * sizeof(struct packed_candidate) +
           target_count * (sizeof(struct stage_and_reason) + sizeof(uint16_t));
}

/* Returns the place of the handle of the parts, which is not aligned. */
static char *parts_handle(const struct template_decision *d)
{
    return (char *)(uintptr_t)d + size_without_parts(d->candidate_count, d->target_count);
}

struct decision_parts *decision_parts(const struct template_decision *d)
{
    pool_handle handle = 0;

    if (d->has_parts)
        memcpy(&handle, parts_handle(d), sizeof(handle));
    return decision_cell(d, handle);
}

struct template_decision *template_decision_new(struct pool *memory,
                                                const struct candidate *candidates,
                                                size_t candidate_count, uint32_t target_count)
{
    size_t bytes = size_without_parts(candidate_count, target_count);
    struct template_decision *d =
        pool_alloc_zeroed(memory, bytes > sizeof(*d) ? bytes : sizeof(*d));

    d->candidate_count = candidate_count & 0xfffff;
    d->target_count = target_count & 0xfffff;
    if (d->candidate_count != candidate_count || d->target_count != target_count)
        memory_exhausted(bytes);
    for (size_t i = 0; i < candidate_count; i++)
        d->candidates[i] = (struct packed_candidate){.policy = pool_handle_of(candidates[i].policy),
                                                     .score = (uint8_t)candidates[i].score,
                                                     .excluded = candidates[i].excluded,
                                                     .deleting = candidates[i].deleting,
                                                     .refused = candidates[i].refused};
    return d;
}

struct template_decision *template_decision_add_parts(struct template_decision *d,
                                                      struct decision_parts parts)
{
    size_t bytes = size_without_parts(d->candidate_count, d->target_count) + sizeof(pool_handle);
    struct pool *memory = pool_of(d);
    struct decision_parts *cell = pool_alloc(memory, sizeof(*cell));
    pool_handle handle = pool_handle_of(cell);

    assert(!d->has_parts);
    *cell = parts;
    d = pool_resize(memory, d, bytes > sizeof(*d) ? bytes : sizeof(*d));
    d->has_parts = true;
    memcpy(parts_handle(d), &handle, sizeof(handle));
    return d;
}

void template_decision_free(struct template_decision *d)
{
    if (!d)
        return;
    pool_free(decision_parts(d));
    pool_free(d);
}

/* ---- reading decisions ---- */

const char *const dependency_outcome_reasons[DEPENDENCY_OUTCOME_COUNT] = {
    [DEPENDENCY_OUTCOME_LAST_REFERRER] = "last_referrer",
    [DEPENDENCY_OUTCOME_BY_RELEASE] = "release",
};

const char *dependency_resolved_name(enum dependency_field field, enum dependency_outcome outcome,
                                     bool resolved)
{
    return dependency_outcome_is_certain(outcome) ? dependency_value_name(field, resolved)
                                                  : "undetermined";
}

const char *dependency_value_name(enum dependency_field field, bool value)
{
    if (field == DEPENDENCY_CONFLICT_RESOLUTION)
        return value ? "Overwrite" : "Abort";
    return value ? "true" : "false";
}

const struct dependency_decision *dependency_decision(const struct entry *e)
{
    const struct template_decision *t = template_decision(e);
    const struct binding_decision *b = binding_decision(e);

    return t ? decision_dependency(t) : b ? binding_decision_dependency(b) : NULL;
}

/* Returns the propagation in the binding of a template, else in its policy; NULL without both. */
static const struct propagation *propagation_of(const struct template_decision *d)
{
    const struct binding *b = entry_binding(decision_binding(d));
    const struct policy *p = entry_policy(decision_governing(d));

    return b ? b->propagation : p ? p->propagation : NULL;
}

bool template_overrides_conflict_resolution(const struct entry *template, bool *overridden)
{
    const struct template *t = entry_template(template);
    const struct template_decision *d = template_decision(template);
    const struct propagation *p;

    if (!t || !t->sets_conflict_resolution || !d || d->state == STATE_IGNORED)
        return false;
    p = propagation_of(d);
    if (!p && !decision_dependency(d))
        return false;
    *overridden = p ? p->conflict_resolution == CONFLICT_RESOLUTION_OVERWRITE
                    : decision_dependency(d)->fields[DEPENDENCY_CONFLICT_RESOLUTION].stored;
    return *overridden != t->overwrites;
}

unsigned entry_policy_problems(const struct entry *e)
{
    return policy_decision(e) ? policy_decision(e)->problems : 0;
}

unsigned entry_defects(const struct entry *e)
{
    const struct template_decision *t = template_decision(e);
    const struct binding_decision *b = binding_decision(e);

    return t ? t->defects : b ? b->defects : 0;
}

unsigned defect_fields(const struct entry *e, enum defect defect)
{
    const struct dependency_decision *d = dependency_decision(e);
    unsigned fields = 0;

    for (unsigned i = 0; d && i < DEPENDENCY_FIELD_COUNT; i++) {
        if (defect == DEFECT_OVERRIDDEN_VALUE)
            fields |= (unsigned)d->fields[i].overridden << i;
        else if (defect == DEFECT_UNAPPLIED_RESOLUTION || defect == DEFECT_UNCLEARED_FIELDS)
            fields |= (unsigned)d->fields[i].unapplied << i;
    }
    return fields;
}

/* The only policy that the decision about a binding reads is the claimed one. */
const struct entry *binding_claimed_policy(const struct entry *binding)
{
    for (uint32_t i = 0; i < entry_read_count(binding); i++) {
        if (entry_class(entry_read(binding, i)) == CLASS_POLICY)
            return entry_read(binding, i);
    }
    return NULL;
}

const struct entry *policy_of_stale_template(const struct template_decision *d)
{
    return decision_governing(d) ? decision_governing(d) : decision_claimed(d);
}

bool template_claim_holds(const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    const struct binding *b = entry_binding(decision_binding(d));
    const struct claim *claim = d->own_claim ? template_claim(entry_template(template))
                                : b          ? b->claim
                                             : NULL;

    return claim && claim_policy_exists(claim, decision_claimed(d));
}

unsigned dependency_conflicts(const struct dependency_decision *d)
{
    unsigned bits = 0;

    for (unsigned i = 0; d && i < DEPENDENCY_FIELD_COUNT; i++)
        bits |= (unsigned)d->fields[i].conflict << i;
    return bits;
}

const struct entry *decision_refused_policy(const struct template_decision *d)
{
    if (decision_winner(d) || decision_governing(d))
        return NULL;
    for (uint32_t i = 0; i < d->candidate_count; i++) {
        if (d->candidates[i].refused)
            return decision_candidate(d, i).policy;
    }
    return NULL;
}
