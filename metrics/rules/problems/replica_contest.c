/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/problems/replica_contest.h"

#include "metrics/model/template.h"
#include "metrics/rules/placement_match.h"
#include "metrics/rules/rule.h"

/* ---- index of autoscalers ---- */

struct autoscalers {
    struct subject_index index;
    struct store *store;
};

struct autoscalers *autoscalers_new(struct store *store, uint64_t seed)
{
    struct autoscalers *a = xcalloc(1, sizeof(*a));

    a->store = store;
    subject_index_init(&a->index, seed);
    return a;
}

void autoscalers_free(struct autoscalers *a)
{
    if (!a)
        return;
    subject_index_release(&a->index);
    free(a);
}

const struct autoscaler *entry_autoscaler(const struct entry *entry)
{
    if (entry_class(entry) == CLASS_OTHER && entry_exists(entry))
        return ((const struct other *)entry_object(entry))->autoscaler;
    return template_autoscaler(entry_template(entry));
}

static struct subject subject_of_target(const struct entry *entry, const struct autoscaler *a)
{
    return (struct subject){a->kind, entry_ns(entry), a->name};
}

/* Marks the workload of an autoscaler in this namespace, in the versions that the store has. */
static void mark_workload(const struct store *store, struct graph *graph, const char *ns,
                          const struct autoscaler *a)
{
    for (const struct type *type = store_first_type(store); type; type = type->next) {
        struct entry *workload;

        if (type->def->class != CLASS_TEMPLATE || type->kind != a->kind ||
            !api_group_equals(type->api_version, a->api_version))
            continue;
        workload =
            store_find(store, &(struct identity){type->api_version, type->kind, ns, a->name});
        if (workload && entry_exists(workload))
            graph_mark(graph, workload);
    }
}

void autoscalers_mark_target(const struct autoscalers *a, struct graph *graph,
                             const struct entry *entry)
{
    const struct autoscaler *autoscaler = entry_autoscaler(entry);

    if (autoscaler)
        mark_workload(a->store, graph, entry_ns(entry), autoscaler);
}

void autoscalers_update(struct autoscalers *a, struct graph *graph, struct entry *entry,
                        const struct autoscaler *old)
{
    const struct autoscaler *fresh = entry_autoscaler(entry);

    /* The index holds the texts of the object: it must not keep those of the old one. */
    if (old) {
        struct subject subject = subject_of_target(entry, old);

        subject_index_remove(&a->index, &subject, entry);
    }
    if (fresh) {
        struct subject subject = subject_of_target(entry, fresh);

        subject_index_add(&a->index, &subject, entry);
    }
    if (autoscaler_equal(old, fresh))
        return;
    if (old)
        mark_workload(a->store, graph, entry_ns(entry), old);
    autoscalers_mark_target(a, graph, entry);
}

/* Returns the autoscalers that may scale the template; NULL without one. */
static const struct subject_group *find_autoscalers(const struct autoscalers *a,
                                                    const struct entry *template)
{
    const struct subject subject = {entry_kind(template), entry_ns(template), template->name};

    /* Many control planes have no autoscaler: the hash of each template would cost time. */
    return a->index.groups.count > 0 ? subject_index_find(&a->index, &subject) : NULL;
}

bool has_autoscaler(const struct autoscalers *a, const struct entry *template)
{
    return find_autoscalers(a, template) != NULL;
}

/* ---- member clusters of a template ---- */

/* Clusters of a template: targets of its binding or, if it has none yet, of its placement. */
struct reach {
    const struct binding *binding;
    const struct resolved_placement *placement;
};

static struct reach reach_of(const struct rule_context *c, const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    const struct binding *b =
        entry_binding(d ? decision_binding(d) : template_binding(c->store, template));
    const struct policy_decision *policy = d && d->state == STATE_UNBOUND && decision_governing(d)
                                               ? policy_decision(decision_governing(d))
                                               : NULL;

    if (b && binding_target_count(b) > 0)
        return (struct reach){.binding = b};
    return (struct reach){.placement = policy && !b ? policy->resolved : NULL};
}

static bool is_reach_empty(const struct reach *r)
{
    return !r->binding && !r->placement;
}

/* Returns the next cluster; NULL at the end. *at is 0 at first. */
static const char *next_cluster(const struct reach *r, uint32_t *at)
{
    const struct resolved_placement *p = r->placement;
    const struct cluster_affinity *named =
        p && !p->has_clusters ? placement_group_by_name(p->placement, 0) : NULL;

    if (r->binding)
        return *at < binding_target_count(r->binding) ? r->binding->clusters[(*at)++].name : NULL;
    while (p && p->has_clusters && p->group_count > 0 && *at < p->groups[0].count) {
        const struct member *m = &p->groups[0].members[(*at)++];

        if (m->tolerated)
            return m->name;
    }
    while (named && *at < named->name_count) {
        const char *name = named->names[(*at)++];

        if (affinity_allows_name(named, name))
            return name;
    }
    return NULL;
}

static bool reaches(const struct reach *r, const char *cluster)
{
    const char *name;

    for (uint32_t at = 0; (name = next_cluster(r, &at)) != NULL;) {
        if (strcmp(name, cluster) == 0)
            return true;
    }
    return false;
}

/* Returns the next cluster of `a` that `b` reaches, too; NULL at the end. *at is 0 at first. */
static const char *next_shared_cluster(const struct reach *a, const struct reach *b, uint32_t *at)
{
    const char *name;

    while ((name = next_cluster(a, at)) != NULL && !reaches(b, name))
        continue;
    return name;
}

/* Equal placements share their clusters, even if no Cluster is known. */
static bool share_cluster(const struct reach *a, const struct reach *b)
{
    return next_shared_cluster(a, b, &(uint32_t){0}) ||
           (a->placement && a->placement == b->placement && !a->placement->has_clusters);
}

/* ---- the contest ---- */

static bool retains_replicas(const struct rule_context *c, const struct template *t)
{
    const char *key = intern_find(store_string_pool(c->store), RETAIN_REPLICAS_LABEL);
    const char *value = key ? template_label(t, key) : NULL;

    return value && strcmp(value, "true") == 0;
}

/*
 * Returns the reason for which an autoscaler contests the replicas of the template, which reaches
 * the clusters in `workload`; PROBLEM_REASON_COUNT if it does not.
 */
static enum problem_reason contest_of(const struct rule_context *c, const struct entry *entry,
                                      const struct entry *template, const struct reach *workload)
{
    const struct autoscaler *a = entry_autoscaler(entry);
    struct reach own;

    if (!a || a->deleting || !api_group_equals(a->api_version, entry_type(template)->api_version))
        return PROBLEM_REASON_COUNT;
    if (entry_class(entry) == CLASS_OTHER)
        return entry_template(template)->replicas_unset
                   ? PROBLEM_REASON_COUNT
                   : PROBLEM_REASON_REPLICAS_CONTESTED_FEDERATED_HPA;
    own = reach_of(c, entry);
    return share_cluster(&own, workload) ? PROBLEM_REASON_REPLICAS_CONTESTED_HPA
                                         : PROBLEM_REASON_COUNT;
}

enum problem_reason replica_contest_reason(const struct rule_context *c,
                                           const struct entry *template, int64_t *since_ms)
{
    const struct subject_group *group = find_autoscalers(c->autoscalers, template);
    const struct template *t = entry_template(template);
    enum problem_reason first = PROBLEM_REASON_COUNT;
    struct reach workload;

    *since_ms = 0;
    if (!group || t->deleting || retains_replicas(c, t))
        return first;
    workload = reach_of(c, template);
    for (uint32_t i = 0; i < group->count && !is_reach_empty(&workload); i++) {
        enum problem_reason reason = contest_of(c, group->entries[i], template, &workload);
        int64_t changed_ms = entry_autoscaler(group->entries[i])->changed_ms;

        if (reason >= first)
            continue;
        first = reason;
        *since_ms =
            changed_ms && template_changed_ms(t) ? later_of(changed_ms, template_changed_ms(t)) : 0;
    }
    return first;
}

void replica_contest_each_autoscaler(const struct rule_context *c, const struct entry *template,
                                     enum problem_reason reason,
                                     void (*each)(void *context, const struct entry *autoscaler),
                                     void *context)
{
    const struct subject_group *group = find_autoscalers(c->autoscalers, template);
    struct reach workload = reach_of(c, template);

    for (uint32_t i = 0; group && i < group->count; i++) {
        if (contest_of(c, group->entries[i], template, &workload) == reason)
            each(context, group->entries[i]);
    }
}

void replica_contest_each_cluster(const struct rule_context *c, const struct entry *template,
                                  enum problem_reason reason,
                                  void (*each)(void *context, const char *cluster), void *context)
{
    const struct subject_group *group = find_autoscalers(c->autoscalers, template);
    struct reach workload = reach_of(c, template);

    for (uint32_t i = 0; group && i < group->count; i++) {
        struct reach own = entry_class(group->entries[i]) == CLASS_OTHER
                               ? workload
                               : reach_of(c, group->entries[i]);
        const char *name;

        if (contest_of(c, group->entries[i], template, &workload) != reason)
            continue;
        for (uint32_t at = 0; (name = next_shared_cluster(&own, &workload, &at)) != NULL;)
            each(context, name);
    }
}
