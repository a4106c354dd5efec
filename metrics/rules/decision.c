/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/decision.h"

#include "metrics/model/store.h"
#include "metrics/rules/links.h"

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

/* From tables of rows (id, word, text). */
#define ROW_WORD(id, word, text) word,
#define ROW_TEXT(id, word, text) (text),

const char *const template_flag_names[TEMPLATE_FLAG_COUNT] = {TEMPLATE_FLAGS(ROW_WORD)};
const char *const template_flag_texts[TEMPLATE_FLAG_COUNT] = {TEMPLATE_FLAGS(ROW_TEXT)};

const char *const defect_names[DEFECT_COUNT] = {DEFECTS(ROW_WORD)};
const char *const defect_texts[DEFECT_COUNT] = {DEFECTS(ROW_TEXT)};

const char *const policy_problem_names[POLICY_PROBLEM_COUNT] = {POLICY_PROBLEMS(ROW_WORD)};
const char *const policy_problem_texts[POLICY_PROBLEM_COUNT] = {POLICY_PROBLEMS(ROW_TEXT)};

/* By state; none where its name is all that there is to say. */
static const struct {
    const char *const *names;
    size_t count;
} reasons[STATE_COUNT] = {
    [STATE_STALE] = {stale_reason_names, STALE_REASON_COUNT},
    [STATE_PENDING] = {pending_reason_names, PENDING_REASON_COUNT},
    [STATE_UNBOUND] = {unbound_reason_names, UNBOUND_REASON_COUNT},
    [STATE_IGNORED] = {ignored_reason_names, IGNORED_REASON_COUNT},
};

const char *reason_name(enum template_state state, unsigned reason)
{
    assert(state < STATE_COUNT && (reasons[state].count == 0 || reason < reasons[state].count));
    return reasons[state].names ? reasons[state].names[reason] : NULL;
}

bool reason_exists(const char *name)
{
    for (size_t i = 0; i < STATE_COUNT; i++) {
        for (size_t k = 0; k < reasons[i].count; k++) {
            if (strcmp(reasons[i].names[k], name) == 0)
                return true;
        }
    }
    return false;
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

    return t ? t->dependency : b ? b->dependency : NULL;
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

/* The claim's policy is the only one that the decision about a binding reads. */
const struct entry *binding_claimed(const struct entry *binding)
{
    for (uint32_t i = 0; i < binding->read_count; i++) {
        if (entry_class(binding->reads[i].read) == CLASS_POLICY)
            return binding->reads[i].read;
    }
    return NULL;
}

bool template_claim_holds(const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    const struct binding *b = entry_binding(d->binding);
    const struct claim *claim = d->own_claim ? entry_template(template)->claim
                                : b          ? b->claim
                                             : NULL;

    return claim && claim_holds(claim, d->claimed);
}

unsigned dependency_conflicts(const struct dependency_decision *d)
{
    unsigned bits = 0;

    for (unsigned i = 0; d && i < DEPENDENCY_FIELD_COUNT; i++)
        bits |= (unsigned)d->fields[i].conflict << i;
    return bits;
}
