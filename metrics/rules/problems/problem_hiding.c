/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/problems/problem_hiding.h"

#include "metrics/rules/problems/controller_progress.h"
#include "metrics/rules/rule.h"

/* How the subject of the hidden problem belongs to that of the cause. */
enum relation {
    RELATION_CONTROL_PLANE, /* The cause is about the control plane. */
    RELATION_CLUSTERS,      /* The causes are about all failing targets of the template. */
    RELATION_BINDING,       /* The cause is about a target of the binding. */
    RELATION_POLICY,        /* The cause, with the same reason, is about the governing policy. */
    RELATION_REFUSED,       /* The cause is about the policy that would select the template. */
    RELATION_SAME,          /* Both are about one subject. */
    RELATION_SAME_REASON,   /* Both are about one subject and have the same reason. */
    RELATION_CLOUD,         /* Both are about one cloud resource. */
};

/* Problems that an open problem hides; `reasons` is NULL for all, else a list in spaces. */
static const struct hiding {
    enum problem_id cause;
    enum problem_id hidden;
    const char *reasons;
    enum relation relation;
    enum problem_reason cause_reason; /* PROBLEM_REASON_COUNT: any. */
} hidings[] = {
#define ANY PROBLEM_REASON_COUNT
    {PROBLEM_CONTROLLERS_STUCK, PROBLEM_POLICY_NOT_IN_FORCE, NULL, RELATION_CONTROL_PLANE, ANY},
    {PROBLEM_CONTROLLERS_STUCK, PROBLEM_NOT_PROPAGATED, " not_claimed waiting stuck ",
     RELATION_CONTROL_PLANE, ANY},
    {PROBLEM_CONTROLLERS_STUCK, PROBLEM_DEPENDENCY_NOT_RESOLVED, NULL, RELATION_CONTROL_PLANE, ANY},
    {PROBLEM_CONTROLLERS_STUCK, PROBLEM_NOT_DELIVERED,
     " waiting work_missing work_deleting work_outdated ", RELATION_CONTROL_PLANE, ANY},
    {PROBLEM_SCHEDULER_STUCK, PROBLEM_NOT_SCHEDULED, " waiting ", RELATION_CONTROL_PLANE, ANY},
    {PROBLEM_SCHEDULER_STUCK, PROBLEM_EVICTION_STUCK, " rescheduling ", RELATION_CONTROL_PLANE,
     ANY},
    {PROBLEM_MEMBER_CLUSTER_UNAVAILABLE, PROBLEM_NOT_DELIVERED, NULL, RELATION_CLUSTERS, ANY},
    {PROBLEM_MEMBER_CLUSTER_UNAVAILABLE, PROBLEM_UNHEALTHY, NULL, RELATION_CLUSTERS, ANY},
    {PROBLEM_MEMBER_CLUSTER_UNAVAILABLE, PROBLEM_DELETION_STUCK, " binding ", RELATION_BINDING,
     ANY},
    {PROBLEM_POLICY_INVALID, PROBLEM_NOT_PROPAGATED, " priority_class_missing ", RELATION_POLICY,
     PROBLEM_REASON_POLICY_INVALID_PRIORITY_CLASS_MISSING},
    {PROBLEM_POLICY_INVALID, PROBLEM_NOT_PROPAGATED, " override_missing ", RELATION_POLICY,
     PROBLEM_REASON_POLICY_INVALID_OVERRIDE_MISSING},
    {PROBLEM_POLICY_INVALID, PROBLEM_POLICY_NOT_IN_FORCE, " priority_class_missing ",
     RELATION_POLICY, PROBLEM_REASON_POLICY_INVALID_PRIORITY_CLASS_MISSING},
    {PROBLEM_POLICY_INVALID, PROBLEM_POLICY_NOT_IN_FORCE, " override_missing ", RELATION_POLICY,
     PROBLEM_REASON_POLICY_INVALID_OVERRIDE_MISSING},
    {PROBLEM_POLICY_INVALID, PROBLEM_NOT_PROPAGATED, " no_match ", RELATION_REFUSED,
     PROBLEM_REASON_POLICY_INVALID_REFUSED},
    {PROBLEM_POLICY_INVALID, PROBLEM_POLICY_UNUSED, NULL, RELATION_SAME, ANY},
    {PROBLEM_NOT_PROPAGATED, PROBLEM_NOT_DELIVERED, " waiting work_outdated ", RELATION_SAME, ANY},
    {PROBLEM_TEMPLATE_FROZEN, PROBLEM_NOT_DELIVERED, " waiting work_outdated ", RELATION_SAME, ANY},
    {PROBLEM_POLICY_NOT_IN_FORCE, PROBLEM_NOT_DELIVERED, " waiting work_outdated ", RELATION_SAME,
     ANY},
    {PROBLEM_TEMPLATE_FROZEN, PROBLEM_REFERENCE_BROKEN, " claim_missing ", RELATION_SAME, ANY},
    {PROBLEM_TEMPLATE_FROZEN, PROBLEM_FORBIDDEN_PLACEMENT, " policy ", RELATION_SAME, ANY},
    {PROBLEM_DEPENDENCY_NOT_RESOLVED, PROBLEM_DEPENDENCY_CONFLICT, NULL, RELATION_SAME_REASON, ANY},
    {PROBLEM_CLOUD_RESOURCE_CONFLICT, PROBLEM_MANAGEMENT_CONFLICT, " reported refused ",
     RELATION_CLOUD, ANY},
    {PROBLEM_CLOUD_RESOURCE_CONFLICT, PROBLEM_LEASE_AT_RISK, NULL, RELATION_CLOUD, ANY},
    {PROBLEM_CLOUD_RESOURCE_CONFLICT, PROBLEM_DELETION_TRAP, NULL, RELATION_CLOUD, ANY},
#undef ANY
};

bool problem_can_hide(enum problem_id problem)
{
    for (size_t i = 0; i < ARRAY_LEN(hidings); i++) {
        if (hidings[i].cause == problem)
            return true;
    }
    return false;
}

/* Returns true if the row lists the reason, which is one of the hidden problem. */
static bool lists_reason(const struct hiding *row, enum problem_reason reason)
{
    const char *name = problem_reasons[reason].name;
    const char *at = row->reasons;
    size_t len = strlen(name);

    if (!row->reasons)
        return true;
    while ((at = strstr(at, name)) != NULL) {
        if (at[-1] == ' ' && at[len] == ' ')
            return true;
        at += len;
    }
    return false;
}

bool problem_can_hide_reason(enum problem_id cause, enum problem_reason hidden)
{
    for (size_t i = 0; i < ARRAY_LEN(hidings); i++) {
        if (hidings[i].cause == cause && hidings[i].hidden == problem_reasons[hidden].problem &&
            lists_reason(&hidings[i], hidden))
            return true;
    }
    return false;
}

/* Returns the first open problem of the kind about an entry, with any reason. */
static const struct problem *find_open(const struct problems *ps, const struct entry *subject,
                                       enum problem_id problem)
{
    const struct problem *p = subject ? problems_of(ps, subject) : NULL;

    while (p && !(problem_id(p) == problem && problem_counts(p)))
        p = problems_next_of(p);
    return p;
}

static const struct problem *find_unavailable_cluster(const struct problems *ps,
                                                      const struct rule_context *c,
                                                      const char *cluster)
{
    const struct entry *entry =
        store_find(c->store, &(struct identity){CLUSTER_API_VERSION, CLUSTER_KIND, "", cluster});

    return find_open(ps, entry, PROBLEM_MEMBER_CLUSTER_UNAVAILABLE);
}

/* Returns true if the target makes the delivery of its template incomplete. */
static bool is_failing(struct stage_and_reason target, struct stage_and_reason delivery)
{
    return target.stage == delivery.stage || target.stage < STAGE_UNHEALTHY;
}

/*
 * Returns the problem of the cluster of the first failing target, if every failing target is on a
 * cluster that is unavailable.
 */
static const struct problem *find_cause_in_clusters(const struct problems *ps,
                                                    const struct rule_context *c,
                                                    const struct entry *template)
{
    struct template_decision *d = entry_decision(template);
    const struct binding *b = d ? entry_binding(decision_binding(d)) : NULL;
    const struct problem *first = NULL;

    for (uint32_t i = 0; b && i < d->target_count; i++) {
        const struct problem *cause;

        if (!is_failing(decision_targets(d)[i], d->stages.delivery))
            continue;
        cause = find_unavailable_cluster(ps, c, b->clusters[i].name);
        if (!cause)
            return NULL;
        first = first ? first : cause;
    }
    return first;
}

static const struct problem *find_cause_in_binding(const struct problems *ps,
                                                   const struct rule_context *c,
                                                   const struct entry *binding)
{
    const struct binding *b = entry_binding(binding);

    for (uint32_t i = 0; b && i < binding_target_count(b); i++) {
        const struct problem *cause = find_unavailable_cluster(ps, c, b->clusters[i].name);

        if (cause)
            return cause;
    }
    return NULL;
}

/* Returns the open conflict about the cloud resource of a template or lease; NULL without one. */
static const struct problem *find_cloud_conflict(const struct problems *ps,
                                                 const struct rule_context *c,
                                                 const struct entry *subject)
{
    CLEANUP(entry_list_release) struct entry_list resources = {0};
    const struct problem *cause = find_open(ps, subject, PROBLEM_CLOUD_RESOURCE_CONFLICT);
    const struct entry *other;

    if (cause)
        return cause;
    if (entry_class(subject) == CLASS_LEASE)
        cloud_index_list_resources(c->cloud_names, subject, &resources);
    for (size_t i = 0; !cause && i < resources.count; i++)
        cause = find_open(ps, resources.items[i], PROBLEM_CLOUD_RESOURCE_CONFLICT);
    if (!cause && connector_conflicts(subject) & 1u << CONNECTOR_DUPLICATE_IDENTITY &&
        name_collisions_list_others(c->cloud_resources, subject, &other, 1) > 0)
        cause = find_open(ps, other, PROBLEM_CLOUD_RESOURCE_CONFLICT);
    return cause;
}

static const struct problem *find_by_relation(const struct problems *ps,
                                              const struct rule_context *c,
                                              const struct hiding *row, const struct problem *p)
{
    const struct template_decision *d = p->subject ? template_decision(p->subject) : NULL;

    switch (row->relation) {
    case RELATION_CONTROL_PLANE:
        return problems_find_open(ps, NULL,
                                  row->cause == PROBLEM_SCHEDULER_STUCK ? SCHEDULER_COMPONENT
                                                                        : CONTROLLER_COMPONENT,
                                  problem_first_reason(row->cause));
    case RELATION_CLUSTERS:
        return p->subject ? find_cause_in_clusters(ps, c, p->subject) : NULL;
    case RELATION_BINDING:
        return p->subject ? find_cause_in_binding(ps, c, p->subject) : NULL;
    case RELATION_POLICY:
        return d && decision_governing(d)
                   ? problems_find_open(ps, decision_governing(d), NULL, row->cause_reason)
                   : NULL;
    case RELATION_REFUSED:
        return d && decision_refused_policy(d)
                   ? problems_find_open(ps, decision_refused_policy(d), NULL, row->cause_reason)
                   : NULL;
    case RELATION_SAME:
        return find_open(ps, p->subject, row->cause);
    case RELATION_SAME_REASON:
        if (!p->subject)
            return NULL;
        return problems_find_open(ps, p->subject, NULL,
                                  problem_find_reason(row->cause, problem_reasons[p->reason].name));
    case RELATION_CLOUD:
        return p->subject ? find_cloud_conflict(ps, c, p->subject) : NULL;
    }
    abort();
}

const struct problem *problem_find_cause(const struct problems *ps, const struct rule_context *c,
                                         const struct problem *p)
{
    for (size_t i = 0; i < ARRAY_LEN(hidings); i++) {
        const struct problem *cause;

        if (hidings[i].hidden != problem_id(p) || !lists_reason(&hidings[i], p->reason))
            continue;
        if (hidings[i].cause == PROBLEM_CONTROLLERS_STUCK && p->subject && c->progress &&
            controller_progress_is_refused(c->progress, p->subject))
            continue;
        cause = find_by_relation(ps, c, &hidings[i], p);
        if (cause)
            return cause;
    }
    return NULL;
}
