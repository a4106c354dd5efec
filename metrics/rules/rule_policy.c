/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/store.h"
#include "metrics/rules/admission/admission.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/object_index.h"
#include "metrics/rules/rule.h"
#include "metrics/rules/template_state.h"

/* ---- problems of a policy ---- */

static bool has_invalid_labels(const struct resource_selector *selector)
{
    return selector->labels && selector->labels->invalid;
}

unsigned policy_selector_problems(const struct entry *policy, uint32_t at)
{
    const struct policy *p = entry_policy(policy);
    const struct resource_selector *selector = &p->selectors[at];
    bool cluster_wide = entry_is_cluster_scoped(policy);
    unsigned problems = 0;

    /* Karmada ignores the labelSelector of a selector with a name. */
    if (!selector->name && has_invalid_labels(selector))
        problems |= 1U << POLICY_INVALID_SELECTOR;
    if (!cluster_wide && selector->ns && selector->ns != entry_ns(policy))
        problems |= 1U << POLICY_FOREIGN_NAMESPACE;
    if (!cluster_wide && selector->api_version && selector->kind &&
        scope_of_kind(selector->api_version, selector->kind) == SCOPE_CLUSTER)
        problems |= 1U << POLICY_CLUSTER_SCOPED_KIND;
    if (p->preempts && !selector->name)
        problems |= 1U << POLICY_PREEMPTION_WITHOUT_NAME;
    return problems;
}

unsigned policy_exclusion_problems(const struct entry *policy, uint32_t at)
{
    const struct resource_selector *rule = &entry_policy(policy)->exclusions[at];

    return (unsigned)exclusion_is_empty(rule) << POLICY_EMPTY_EXCLUSION |
           (unsigned)has_invalid_labels(rule) << POLICY_INVALID_EXCLUSION;
}

/*
 * Returns the problems of a policy that do not depend on other objects: bits by policy_problem. The
 * API server accepts such policies, and Karmada does not report the problems. `policy` must have an
 * object.
 */
static unsigned policy_problems(const struct entry *policy)
{
    const struct policy *p = entry_policy(policy);
    unsigned problems = 0;

    if (p->selector_count == 0 && !p->unread)
        problems |= 1U << POLICY_NO_SELECTOR;
    for (uint32_t i = 0; i < p->selector_count; i++)
        problems |= policy_selector_problems(policy, i);
    for (uint32_t i = 0; i < p->exclusion_count; i++)
        problems |= policy_exclusion_problems(policy, i);
    return problems;
}

/* ---- effects of a change ---- */

/*
 * Marks the templates of a partition that a selector selects. Skips a partition of which no entry
 * has been evaluated: each object waits for its first evaluation. Without this, loading would
 * compare every policy with every template that was read before it.
 */
static void mark_selected_in_partition(struct graph *g, const struct partition *partition,
                                       const struct resource_selector *selector)
{
    if (!partition->begun)
        return;
    for (size_t i = 0; i < partition->count; i++) {
        struct entry *entry = partition_entry(partition, i);

        if (entry_exists(entry) && selector_score(selector, entry) != SCORE_NONE)
            graph_mark(g, entry);
    }
}

/* Marks the templates that one selector of a policy selects. */
static void mark_selected_templates(struct rule_context *c, const struct entry *policy,
                                    const struct resource_selector *selector)
{
    const struct type *type =
        store_find_interned_type(c->store, selector->api_version, selector->kind);
    bool cluster_wide = entry_is_cluster_scoped(policy);
    const char *ns = cluster_wide ? selector->ns : entry_ns(policy);

    if (!type)
        return;
    if (ns && selector->name) {
        struct entry *entry =
            store_find(c->store, &(struct identity){selector->api_version, selector->kind, ns,
                                                    selector->name});
        if (entry)
            graph_mark(c->graph, entry);
        return;
    }
    if (ns) {
        const struct partition *partition = type_find_partition(c->store, type, ns);

        if (partition)
            mark_selected_in_partition(c->graph, partition, selector);
        return;
    }
    for (const struct partition *p = type->partitions; p; p = p->next_of_type)
        mark_selected_in_partition(c->graph, p, selector);
}

/* Marks the templates of a kind in the namespaces that a selector of `policy` can select from. */
static void mark_templates_in_scope(struct rule_context *c, const struct entry *policy,
                                    const struct type *type,
                                    const struct resource_selector *selector)
{
    bool cluster_wide = entry_is_cluster_scoped(policy);
    const char *ns = cluster_wide ? selector->ns : entry_ns(policy);
    const struct partition *partition = ns ? type_find_partition(c->store, type, ns) : NULL;

    if (!ns)
        graph_mark_type(c->graph, type);
    for (size_t i = 0; partition && i < partition->count; i++) {
        if (entry_exists(partition_entry(partition, i)))
            graph_mark(c->graph, partition_entry(partition, i));
    }
}

/*
 * Marks the templates of the kinds that `policy` names and no indexed selector names; and those in
 * the scope of its selectors without a name, if the index has no broad selector of the scope.
 * `policy` is an object of the entry `of`, or NULL.
 */
static void mark_templates_of_unselected_kinds(struct rule_context *c, const struct entry *of,
                                               const struct policy *policy)
{
    for (uint32_t i = 0; policy && i < policy->selector_count; i++) {
        const struct resource_selector *selector = &policy->selectors[i];
        const struct type *type =
            store_find_interned_type(c->store, selector->api_version, selector->kind);

        if (!type)
            continue;
        if (selector_index_count_selectors(c->index, type->api_version, type->kind) == 0)
            graph_mark_type(c->graph, type);
        else if (!selector->name && !selector_index_has_broad(c->index, of, selector))
            mark_templates_in_scope(c, of, type, selector);
    }
}

static void policy_on_change(struct rule_context *c, struct entry *entry, const void *old)
{
    const struct policy *fresh = entry_policy(entry), *last = old;

    c->priority_policies += fresh && fresh->propagation.schedule_priority;
    c->priority_policies -= last && last->propagation.schedule_priority;
    policy_versions_update(&c->policy_versions, entry, last);
    mark_templates_of_unselected_kinds(c, entry, fresh);
    if (fresh)
        selector_index_add(c->index, entry, fresh);
    if (old)
        selector_index_remove(c->index, entry, old);
    mark_templates_of_unselected_kinds(c, entry, old);
    api_versions_mark_templates(c->store, c->graph, fresh);
    api_versions_mark_templates(c->store, c->graph, last);
    for (uint32_t i = 0; fresh && i < fresh->selector_count; i++)
        mark_selected_templates(c, entry, &fresh->selectors[i]);
    graph_mark_readers(c->graph, entry);
}

/* ---- decision ---- */

static void gather_policy_facts(const struct rule_context *c, struct entry *entry,
                                struct gathered *out)
{
    const struct policy *policy = entry_policy(entry);
    struct policy_facts *facts = &out->policy;

    *facts = (struct policy_facts){
        .policy = entry,
        .placement = placements_ref(c->placements, policy->propagation.placement),
        .refused = admission_refuses(policy->admission, c->release) == RELEASE_ANSWER_YES,
        .pruned = admission_prunes(policy->admission, c->release) == RELEASE_ANSWER_YES,
    };
    facts->keeps_targets = placements_keep_targets(c->placements, facts->placement);
    for (uint32_t i = 0; i < policy->override_count; i++) {
        struct identity id = dependent_override_identity(entry, i);
        struct entry *override = store_find_or_add(c->store, &id);

        entry_list_add(&out->reads, override);
        facts->override_missing |=
            !entry_exists(override) && !incomplete_has_type(&c->incomplete, entry_type(override));
    }
    for (uint32_t i = 0; i < policy->selector_count; i++) {
        const struct resource_selector *s = &policy->selectors[i];

        if (!s->api_version || !s->kind)
            continue;
        facts->unwatched |=
            api_version_is_unwatched(c->store, &c->api_versions, s->api_version, s->kind);
        facts->kind_absent |= api_version_is_absent(&c->api_versions, s->api_version, s->kind);
        facts->kinds_incomplete |= incomplete_has(&c->incomplete, s->api_version, s->kind);
    }
    facts->priority = priority_of(c->store, c->gates, &c->incomplete, policy, &out->reads);
}

static void *decide_policy(const struct gathered *g, int64_t *due_ms)
{
    struct policy_decision *d = pool_alloc(g->memory, sizeof(*d));

    (void)due_ms;
    *d = (struct policy_decision){
        .problems = policy_problems(g->policy.policy) |
                    (unsigned)g->policy.unwatched << POLICY_UNWATCHED_VERSION |
                    (unsigned)g->policy.pruned << POLICY_FIELD_PRUNED |
                    (unsigned)g->policy.refused << POLICY_REFUSED,
        .override_missing = g->policy.override_missing,
        .kinds_incomplete = g->policy.kinds_incomplete,
        .kind_absent = g->policy.kind_absent,
        .priority = g->policy.priority,
        .resolved = g->policy.placement,
        .open_groups = g->policy.placement->open_groups,
        .members_hash = g->policy.placement->members_hash,
        .keeps_targets = g->policy.keeps_targets,
    };
    return d;
}

/* Compares only members that templates read; policy_on_change() handles changes of the object. */
static bool is_equal_for_readers(const void *old, const void *fresh)
{
    const struct policy_decision *a = old, *b = fresh;

    return a->override_missing == b->override_missing && a->open_groups == b->open_groups &&
           a->members_hash == b->members_hash && a->keeps_targets == b->keeps_targets &&
           a->kinds_incomplete == b->kinds_incomplete && a->priority.state == b->priority.state &&
           a->priority.value == b->priority.value && a->priority.since_ms == b->priority.since_ms;
}

static void attach_history(struct rule_context *c, struct entry *entry, const void *last)
{
    struct policy_decision *d = entry_decision(entry);

    (void)last;
    d->history = policy_versions_ref_history(&c->policy_versions, entry);
    if (d->history)
        policy_history_date_versions(d->history, c->now_ms);
}

static void release_policy_decision(const struct rule_context *c, void *decision)
{
    struct policy_decision *d = decision;

    if (!d)
        return;
    placements_drop(c->placements, d->resolved);
    policy_history_drop(d->history, store_string_pool(c->store));
    pool_free(d);
}

/* ---- policies of other shards ---- */

struct other_policy {
    uint64_t hash;
    struct origin origin;
    size_t count;
    struct {
        const char *api_version; /* Interned, as is the kind. */
        const char *kind;
    } selectors[];
};

static bool has_policy_hash(const void *item, const void *key)
{
    return ((const struct other_policy *)item)->hash == *(const uint64_t *)key;
}

void other_policies_init(struct other_policies *o, uint64_t seed)
{
    *o = (struct other_policies){.policies = MAP_INIT(has_policy_hash), .seed = seed};
}

void other_policies_release(struct other_policies *o)
{
    struct other_policy *p;

    for (size_t at = 0; (p = map_next(&o->policies, &at)) != NULL;)
        free(p);
    map_release(&o->policies);
}

static uint64_t hash_of_policy(const struct other_policies *o, const cJSON *policy)
{
    const cJSON *metadata = json_get(policy, "metadata");
    const char *ns = json_str(metadata, "namespace", "");
    const char *name = json_str(metadata, "name", "");

    return map_hash(name, strlen(name), map_hash(ns, strlen(ns), o->seed));
}

/* Marks the templates of a kind that has its first selector, or no selector any more. */
static void mark_templates_of_kind(const struct rule_context *c, const char *api_version,
                                   const char *kind, size_t selectors)
{
    const struct type *type = store_find_interned_type(c->store, api_version, kind);

    if (type && selector_index_count_selectors(c->index, api_version, kind) == selectors)
        graph_mark_type(c->graph, type);
}

/* Frees the policy, after removing its selectors. Ignores NULL. */
static void drop_other_policy(const struct rule_context *c, struct other_policy *p)
{
    struct intern *strings = store_string_pool(c->store);

    for (size_t i = 0; p && i < p->count; i++) {
        selector_index_remove_kind(c->index, p->selectors[i].api_version, p->selectors[i].kind);
        mark_templates_of_kind(c, p->selectors[i].api_version, p->selectors[i].kind, 0);
        intern_drop(strings, p->selectors[i].api_version);
        intern_drop(strings, p->selectors[i].kind);
    }
    free(p);
}

static void add_other_selector(const struct rule_context *c, const cJSON *selector,
                               struct other_policy *p)
{
    struct intern *strings = store_string_pool(c->store);
    const char *api_version = json_str(selector, "apiVersion", "");
    const char *kind = json_str(selector, "kind", "");

    if (!*api_version || !*kind)
        return;
    p->selectors[p->count].api_version = intern_add(strings, api_version);
    p->selectors[p->count].kind = intern_add(strings, kind);
    selector_index_add_kind(c->index, p->selectors[p->count].api_version,
                            p->selectors[p->count].kind);
    mark_templates_of_kind(c, p->selectors[p->count].api_version, p->selectors[p->count].kind, 1);
    p->count++;
}

void rule_put_other_policy(struct rule_context *c, const cJSON *policy, struct origin origin)
{
    struct other_policies *o = &c->other_policies;
    const cJSON *selectors = json_get(json_get(policy, "spec"), "resourceSelectors"), *selector;
    size_t max = selectors ? (size_t)cJSON_GetArraySize(selectors) : 0;
    struct other_policy *fresh = xcalloc(1, sizeof(*fresh) + max * sizeof(fresh->selectors[0]));

    fresh->hash = hash_of_policy(o, policy);
    fresh->origin = origin;
    graph_set_cause(c->graph, CAUSE_POLICY);
    cJSON_ArrayForEach (selector, selectors)
        add_other_selector(c, selector, fresh);
    drop_other_policy(c, map_take(&o->policies, fresh->hash, &fresh->hash));
    map_add(&o->policies, fresh->hash, fresh);
}

void rule_remove_other_policy(struct rule_context *c, const cJSON *policy)
{
    uint64_t hash = hash_of_policy(&c->other_policies, policy);

    graph_set_cause(c->graph, CAUSE_POLICY);
    drop_other_policy(c, map_take(&c->other_policies.policies, hash, &hash));
}

void rule_sweep_other_policies(struct rule_context *c, struct origin origin)
{
    struct map kept = MAP_INIT(has_policy_hash);
    struct other_policy *p;

    graph_set_cause(c->graph, CAUSE_POLICY);
    for (size_t at = 0; (p = map_next(&c->other_policies.policies, &at)) != NULL;) {
        if (p->origin.source == origin.source && p->origin.sweep != origin.sweep)
            drop_other_policy(c, p);
        else
            map_add(&kept, p->hash, p);
    }
    map_release(&c->other_policies.policies);
    c->other_policies.policies = kept;
}

const struct rule rule_policy = {
    .rank = RULE_RANK_POLICY,
    .changed = policy_on_change,
    .gather = gather_policy_facts,
    .decide = decide_policy,
    .equal = is_equal_for_readers,
    .mark_readers = graph_mark_readers,
    .enter = attach_history,
    .release = release_policy_decision,
};

/* Marks policies that name the override policy, and templates whose Works or Events name it. */
static void override_on_change(struct rule_context *c, struct entry *entry, const void *old)
{
    (void)old;
    graph_mark_readers(c->graph, entry);
    rule_mark_overridden_templates(c);
}

const struct rule rule_override = {.rank = RULE_RANK_LAST, .changed = override_on_change};
