/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/decision.h"

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

const char *const defect_names[DEFECT_COUNT] = {
    [DEFECT_NAME_COLLISION] = "binding_name_collision",
    [DEFECT_DANGLING_CLAIM] = "dangling_claim",
    [DEFECT_MISSING_TEMPLATE] = "missing_template",
};

const char *const defect_texts[DEFECT_COUNT] = {
    [DEFECT_NAME_COLLISION] = "another template has or wants a binding of the same name",
    [DEFECT_DANGLING_CLAIM] =
        "the policy that it claims does not exist, or was deleted and created again",
    [DEFECT_MISSING_TEMPLATE] = "its template does not exist",
};

const char *const policy_problem_names[POLICY_PROBLEM_COUNT] = {
    [POLICY_INVALID_SELECTOR] = "invalid_selector",
    [POLICY_INVALID_EXCLUSION] = "invalid_exclusion",
    [POLICY_EMPTY_EXCLUSION] = "empty_exclusion",
    [POLICY_NO_SELECTOR] = "no_selector",
    [POLICY_FOREIGN_NAMESPACE] = "foreign_namespace",
    [POLICY_PREEMPTION_WITHOUT_NAME] = "preemption_without_name",
};

const char *const policy_problem_texts[POLICY_PROBLEM_COUNT] = {
    [POLICY_INVALID_SELECTOR] = "a labelSelector of resourceSelectors is invalid and never matches",
    [POLICY_INVALID_EXCLUSION] =
        "a labelSelector of excludedResources is invalid and excludes nothing",
    [POLICY_EMPTY_EXCLUSION] = "a rule of excludedResources sets no field and excludes nothing",
    [POLICY_NO_SELECTOR] = "resourceSelectors is empty and selects nothing",
    [POLICY_FOREIGN_NAMESPACE] =
        "a resourceSelector names another namespace than the policy's and never matches",
    [POLICY_PREEMPTION_WITHOUT_NAME] =
        "preemption is Always, but a resourceSelector without a name preempts nothing",
};

const char *reason_name(enum template_state state, unsigned reason)
{
    switch (state) {
    case STATE_STALE:
        return stale_reason_names[reason];
    case STATE_PENDING:
        return pending_reason_names[reason];
    case STATE_IGNORED:
        return ignored_reason_names[reason];
    case STATE_CURRENT:
    case STATE_ORPHANED:
    case STATE_UNBOUND:
    case STATE_ATTACHED:
    case STATE_COUNT:
        return NULL;
    }
    abort();
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

/* The claim's policy is the only one that the decision about a binding reads. */
const struct entry *binding_claimed(const struct entry *binding)
{
    for (uint32_t i = 0; i < binding->read_count; i++) {
        if (entry_class(binding->reads[i].read) == CLASS_POLICY)
            return binding->reads[i].read;
    }
    return NULL;
}
