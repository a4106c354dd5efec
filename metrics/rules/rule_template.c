/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/rule_template.h"

#include "metrics/model/store.h"
#include "metrics/rules/admission/admission.h"
#include "metrics/rules/connector_conflicts.h"
#include "metrics/rules/object_index.h"
#include "metrics/rules/placement_match.h"
#include "metrics/rules/policy_rank.h"
#include "metrics/rules/problems/replica_contest.h"
#include "metrics/rules/replica_projection.h"
#include "metrics/rules/template_state.h"
#include "metrics/rules/transitions.h"

/* ---- register of cloud resources ---- */

static const struct connector_identity *cloud_identity_of(const struct entry *entry)
{
    return &decision_connector(template_decision(entry))->identity;
}

static uint64_t hash_cloud_resource(const struct entry *entry, uint64_t seed)
{
    return connector_resource_hash(entry, cloud_identity_of(entry), seed);
}

static bool is_same_cloud_resource(const void *item, const void *key)
{
    const struct entry *a = item;

    return a == key ||
           connector_is_same_resource(a, cloud_identity_of(a), key, cloud_identity_of(key));
}

const struct collision_rule collision_cloud_resource = {hash_cloud_resource,
                                                        is_same_cloud_resource};

/* Returns true if a template with decision `d` (may be NULL) is registered as cloud resource. */
static bool has_registered_resource(const struct template_decision *d)
{
    return d && decision_connector(d) && !decision_connector(d)->identity.unclear;
}

/* Returns true if both decisions register the entry as the same cloud resource. */
static bool has_same_registered_resource(const struct entry *entry,
                                         const struct template_decision *a,
                                         const struct template_decision *b)
{
    return has_registered_resource(a) && has_registered_resource(b) &&
           connector_is_same_resource(entry, &decision_connector(a)->identity, entry,
                                      &decision_connector(b)->identity);
}

/* Removes a template from the register if `next` does not register it as the same resource. */
static void unregister_cloud_resource(struct rule_context *c, struct entry *entry,
                                      const struct template_decision *next)
{
    const struct template_decision *d = template_decision(entry);

    /* Without a change, removal and addition would mark the colliding templates without end. */
    if (!has_registered_resource(d) || has_same_registered_resource(entry, d, next))
        return;
    rule_collisions_remove(c->graph, c->cloud_resources, entry);
    cloud_index_remove_resource(c->cloud_names, entry, &decision_connector(d)->identity);
}

static void register_cloud_resource(struct rule_context *c, struct entry *entry,
                                    const struct template_decision *last)
{
    const struct template_decision *d = template_decision(entry);

    if (!has_registered_resource(d))
        return;
    if (!has_same_registered_resource(entry, last, d)) {
        rule_collisions_add(c->graph, c->cloud_resources, entry);
        cloud_index_add_resource(c->cloud_names, entry, &decision_connector(d)->identity);
    }
    if (name_collisions_has_collision(c->cloud_resources, entry))
        decision_connector(d)->conflicts |= 1u << CONNECTOR_DUPLICATE_IDENTITY;
}

/* ---- decision about Config Connector ---- */

/* Sets the facts about a resource of Config Connector; none for other templates. */
static void gather_connector_facts(const struct rule_context *c, const struct entry *entry,
                                   struct template_facts *facts)
{
    struct connector_facts f = {
        .entry = entry,
        .connector = template_connector(entry_template(entry)),
    };
    struct connector_identity identity;

    if (!f.connector)
        return;
    facts->namespaces_incomplete = incomplete_has(&c->incomplete, SETTING_API_VERSION, "Namespace");
    facts->connector_defaults = f.defaults = connector_defaults_of(c->store, entry);
    facts->lease.ids = connector_namespace_ids(c->store);
    facts->lease.clock = (struct lease_clock){c->now_ms / 1000, c->options.lease_skew_ms / 1000};
    connector_identify(&f, &identity);
    if (!identity.unclear)
        facts->lease.lease = entry_lease(cloud_index_find_lease(c->cloud_names, entry, &identity));
}

/* Returns true if the first affinity group allows several names and has no other condition. */
static bool names_several_clusters(const struct placement *placement)
{
    const struct cluster_affinity *a = placement_group_by_name(placement, 0);
    const char *first = NULL;

    for (uint32_t i = 0; a && i < a->name_count; i++) {
        if (!affinity_allows_name(a, a->names[i]))
            continue;
        if (first && strcmp(first, a->names[i]) != 0)
            return true;
        first = a->names[i];
    }
    return false;
}

/*
 * Returns true if the binding `b` has several elements in spec.clusters or, if `b` is NULL, will
 * have: for a resource without replicas the scheduler uses all clusters in the first affinity group
 * of the placement. Returns false if taints, spread constraints or an unreadable placement make
 * that uncertain. While no Cluster is known, the names in the placement count as existing clusters.
 */
static bool is_on_several_clusters(const struct binding *b,
                                   const struct resolved_placement *placement)
{
    if (b)
        return b->cluster_count > 1;
    if (!placement || placement->placement->has_spread_constraints ||
        placement->placement->unreadable)
        return false;
    if (!placement->has_clusters)
        return names_several_clusters(placement->placement);
    return placement->group_count > 0 && placement->groups[0].count > 1 &&
           placement->groups[0].tolerated;
}

/*
 * Returns the Config Connector part of a fresh decision, without CONNECTOR_DUPLICATE_IDENTITY,
 * which register_cloud_resource() adds later. Returns NULL if the template is not a resource of
 * Config Connector or is ignored, or if not all Namespaces have been read. `placement` is that of
 * the governing policy, or NULL. Lowers `due_ms` to the time at which the state of the lease
 * changes. Release the result with release_connector_decision().
 */
static struct connector_decision *decide_connector(struct pool *memory,
                                                   const struct template_facts *f,
                                                   const struct template_decision *d,
                                                   const struct resolved_placement *placement,
                                                   int64_t *due_ms)
{
    const struct entry *entry = f->template_state_input.template;
    const struct connector *connector = template_connector(entry_template(entry));
    const struct binding *b = entry_binding(decision_binding(d));
    struct connector_decision *fresh;

    if (!connector || d->state == STATE_IGNORED || f->namespaces_incomplete)
        return NULL;
    fresh = pool_alloc(memory, sizeof(*fresh));
    connector_decide(
        &(struct connector_facts){
            .entry = entry,
            .connector = connector,
            .defaults = f->connector_defaults,
            .binding = b,
            .lease = f->lease.lease,
            .ids = f->lease.ids,
            .clock = f->lease.clock,
            .several_clusters = is_on_several_clusters(b, placement),
        },
        fresh);
    int64_t ends_s =
        f->lease.lease ? lease_state_ends_s(f->lease.lease, f->lease.clock) : INT64_MAX;
    if (ends_s != INT64_MAX && ends_s * 1000 < *due_ms)
        *due_ms = ends_s * 1000;
    /* The decision needs its own references: the objects with these texts may be freed first. */
    struct connector_identity *id = &fresh->identity;
    id->container.id = intern_add(f->strings, id->container.id);
    id->location = id->location ? intern_add(f->strings, id->location) : NULL;
    id->parent = id->parent ? intern_add(f->strings, id->parent) : NULL;
    id->name = intern_add(f->strings, id->name);
    return fresh;
}

/* Frees the Config Connector part of a decision. Accepts NULL. */
static void release_connector_decision(struct intern *strings, struct connector_decision *d)
{
    if (!d)
        return;
    intern_drop(strings, d->identity.container.id);
    intern_drop(strings, d->identity.location);
    intern_drop(strings, d->identity.parent);
    intern_drop(strings, d->identity.name);
    pool_free(d);
}

/* ---- changes of Namespaces and of their ids ---- */

static bool has_same_defaults(const struct connector_defaults *a,
                              const struct connector_defaults *b)
{
    if (!a || !b)
        return a == b;
    return a->prevention == b->prevention && a->unclear == b->unclear &&
           a->container.kind == b->container.kind && a->container.id == b->container.id;
}

/* Marks the resources of Config Connector in a namespace. */
static void mark_resources_in_namespace(struct rule_context *c, const char *name)
{
    /* Partition names are interned; a name that is not interned has no partition. */
    const char *ns = intern_find(store_string_pool(c->store), name);

    if (!ns)
        return;
    for (const struct type *type = store_first_type(c->store); type; type = type->next) {
        const struct partition *partition = is_connector_api_version(type->api_version)
                                                ? type_find_partition(c->store, type, ns)
                                                : NULL;

        for (size_t i = 0; partition && i < partition->count; i++) {
            if (entry_exists(partition_entry(partition, i)))
                graph_mark(c->graph, partition_entry(partition, i));
        }
    }
}

void mark_connector_resources(struct rule_context *c)
{
    for (const struct type *type = store_first_type(c->store); type; type = type->next) {
        if (type->def->class == CLASS_TEMPLATE && is_connector_api_version(type->api_version))
            graph_mark_type(c->graph, type);
    }
}

/*
 * Marks the Config Connector resources and leases that a changed object affects. The annotations of
 * a Namespace are defaults of its resources. The ConfigMap namespace-id maps the holders of leases
 * to namespaces.
 */
static void connector_setting_on_change(struct rule_context *c, struct entry *entry,
                                        const void *old)
{
    const struct template *fresh = entry_template_or_setting(entry);

    if (!has_same_defaults(template_connector_defaults(old), template_connector_defaults(fresh)))
        mark_resources_in_namespace(c, entry->name);
    if (template_namespace_ids(old) || template_namespace_ids(fresh)) {
        graph_mark_class(c->graph, CLASS_LEASE);
        mark_connector_resources(c);
    }
}

/* ---- gathering ---- */

/* Returns true if `b` is NULL or left over (binding_is_left_over). */
static bool lacks_binding(const struct binding *b)
{
    return !b || binding_is_left_over(b);
}

/*
 * Collects the referrers of a template without a binding. Returns true if one of them is derived
 * (dependency.h). Collects nothing for a template with a binding: the rule of bindings does that.
 */
static bool gather_referrers(const struct rule_context *c, const struct entry *entry,
                             const struct binding *b, struct dependency_referrers *out)
{
    bool derived = false;

    if (!lacks_binding(b))
        return false;
    dependency_referrers_gather(c->store, &c->incomplete, entry, out);
    for (size_t i = 0; i < out->count && !derived; i++)
        derived = out->items[i].derived;
    return derived;
}

/*
 * Returns true if a policy would select the template, but names a version of the kind that Karmada
 * is known not to watch.
 */
static bool is_named_in_unwatched_version(const struct rule_context *c, const struct entry *entry)
{
    const struct type *type = entry_type(entry);
    struct entry *policy = selector_index_find_other_version(c->index, entry, c->release);

    return policy && api_version_judge(&c->api_versions, type->api_version, type->kind) ==
                         API_VERSION_WATCHED;
}

/* Lists the policies that select the template, best first. */
static void list_candidates(const struct rule_context *c, const struct entry *entry,
                            struct candidate_list *out)
{
    size_t count;
    const struct selection *selections = selector_index_find_policies(c->index, entry, &count);

    candidate_list_reserve(out, count);
    for (size_t i = 0; i < count; i++) {
        const struct policy *policy = entry_policy(selections[i].policy);
        bool refused = admission_keeps_out(policy->admission, c->release) == RELEASE_ANSWER_YES;

        out->items[out->count++] = (struct candidate){
            .policy = selections[i].policy,
            .score = selections[i].score,
            .excluded = !refused && policy_excludes_template(policy, entry, c->release),
            .deleting = policy->deleting,
            .refused = refused,
        };
    }
    candidates_sort(out->items, out->count);
}

static void gather_template_facts(const struct rule_context *c, struct entry *entry,
                                  struct gathered *out)
{
    const struct template *t = entry_template(entry);
    const struct type *type = entry_type(entry);
    struct template_facts *facts = &out->template;
    struct entry *binding = template_binding(c->store, entry);
    const struct binding *b = entry_binding(binding);
    /* With an incomplete claim, Karmada matches policies again and ignores the binding's claim. */
    bool binding_claim_counts = !lacks_binding(b) && !t->claim_incomplete;
    const struct claim *own = template_claim(t);
    const struct claim *claim = own || !binding_claim_counts ? own : b->claim;

    *facts = (struct template_facts){
        .template_state_input = {.options = &c->options,
                                 .release = c->release,
                                 .now_ms = c->now_ms,
                                 .template = entry,
                                 .claim = claim,
                                 .claimed =
                                     claim ? find_or_add_claim_policy(c->store, claim) : NULL,
                                 .own_claim = own,
                                 .binding = binding,
                                 .required = gather_referrers(c, entry, b, &out->referrers),
                                 .binding_name_blocked =
                                     !binding && is_binding_name_blocked(c->store, entry),
                                 .kind_selected = selector_index_count_selectors(
                                                      c->index, type->api_version, type->kind) > 0},
        .strings = store_string_pool(c->store),
        .placements = c->placements,
        .follows = *entry_ns(entry) && gate_is_on(c->gates, GATE_PROPAGATE_DEPS),
    };
    if (!lacks_binding(b))
        facts->delivery =
            delivery_gather(binding, entry, &c->deliveries, &out->targets, &out->reads);
    gather_connector_facts(c, entry, facts);
    facts->is_ignored = find_ignored_reason(c->ignored, entry, &facts->ignored_reason);
    list_candidates(c, entry, &out->candidates);
    facts->template_state_input.candidates = out->candidates.items;
    facts->template_state_input.candidate_count = out->candidates.count;
    facts->template_state_input.unwatched_version =
        out->candidates.count == 0 && is_named_in_unwatched_version(c, entry);
}

/* ---- decision ---- */

/* Returns true if only their names rank the first candidate before the second. */
static bool wins_by_name(const struct candidate *candidates)
{
    enum rank_step step = RANK_ELIGIBLE;

    candidate_compare(&candidates[0], &candidates[1], &step);
    return step == RANK_NAME;
}

/* Returns a decision that has the candidates, and room for the targets of the binding. */
static struct template_decision *new_template_decision(const struct gathered *g)
{
    const struct template_facts *f = &g->template;
    const struct binding *b = f->delivery.binding;
    const struct candidate *candidates = f->template_state_input.candidates;
    size_t count = f->template_state_input.candidate_count;
    struct template_decision *d =
        template_decision_new(g->memory, candidates, count, b ? binding_target_count(b) : 0);

    d->cluster_hash = d->target_count > 0 ? cluster_set_hash(b) & 0xffffff : 0;
    d->tied = count > 1 && candidate_eligible(&candidates[1]) && wins_by_name(candidates);
    return d;
}

/* Returns the placement of the governing policy; NULL without a decided policy. */
static const struct resolved_placement *governing_placement(const struct template_decision *d)
{
    const struct policy_decision *policy =
        decision_governing(d) ? policy_decision(decision_governing(d)) : NULL;

    return policy ? policy->resolved : NULL;
}

/*
 * Decides the stage of a template. Returns the time at which the stage changes although no object
 * changes. Reuses the resolved placement of the governing policy if the binding has the same text.
 */
static int64_t decide_stages(const struct template_facts *f, const struct template_state_input *s,
                             struct template_decision *d)
{
    const struct resolved_placement *governing = governing_placement(d);
    struct delivery_facts delivery = f->delivery;
    const struct binding *b = delivery.binding;

    if (!b)
        return template_stages_decide(s, NULL, d);
    if (b->has_placement && governing && governing->text == b->propagation->placement) {
        delivery_set_placement(&delivery, f->placements, governing);
    } else if (b->has_placement) {
        const struct resolved_placement *own =
            placements_ref(f->placements, b->propagation->placement);

        delivery_set_placement(&delivery, f->placements, own);
        placements_drop(f->placements, own);
    }
    return template_stages_decide(s, &delivery, d);
}

/* Decides whether the template propagates dependencies, and which values it requests for them. */
static void decide_dependency_values(const struct template_facts *f, const struct binding *b,
                                     struct template_decision *d)
{
    const struct policy *policy = entry_policy(decision_governing(d));
    struct dependency_values values;

    if (!policy)
        return;
    values = dependency_values_of(policy->propagation);
    decision_set_values(d, &values);
    d->propagates = f->follows && policy->propagation->propagate_deps;
    if (policy->propagation->propagate_deps && !*entry_ns(f->template_state_input.template))
        d->flags |= 1U << FLAG_DEPENDENCIES_STAY;
    d->derived = d->propagates && !(b && b->has_placement);
    d->waits = d->derived && d->state != STATE_UNBOUND;
}

/* Decides about the parts of a decision. Returns the decision, which may have moved. */
static struct template_decision *add_parts(const struct gathered *g, struct template_decision *d,
                                           int64_t *due_ms)
{
    const struct template_facts *f = &g->template;
    const struct binding *b = entry_binding(decision_binding(d));
    const struct resolved_placement *placement = governing_placement(d);
    struct decision_parts parts = {.connector =
                                       decide_connector(g->memory, f, d, placement, due_ms)};

    if (d->state == STATE_STALE && b && b->has_placement)
        parts.capacity = capacity_new(f->placements, placement, b,
                                      d->change_applied == CHANGE_NOT_APPLIED, placement_drifts(d));
    if (lacks_binding(b) && !decision_governing(d) && d->state != STATE_IGNORED)
        parts.dependency = dependency_decide(g->memory, NULL, &g->referrers, g->release);
    return parts.connector || parts.capacity || parts.dependency
               ? template_decision_add_parts(d, parts)
               : d;
}

static void *decide_template(const struct gathered *g, int64_t *due_ms)
{
    const struct template_facts *f = &g->template;
    const struct binding *b = entry_binding(f->template_state_input.binding);
    struct template_decision *d = new_template_decision(g);
    struct template_state_input s = f->template_state_input;

    s.winner = decision_winner(d);
    d->claimed_handle = pool_handle_of(s.claimed);
    d->own_claim = s.own_claim;
    d->binding_handle = pool_handle_of(s.binding);
    if (f->is_ignored) {
        d->state = STATE_IGNORED;
        d->reason = f->ignored_reason;
    } else {
        *due_ms = template_state_decide(&s, d);
        if (s.own_claim && !claim_policy_exists(s.claim, s.claimed))
            d->defects |= 1u << DEFECT_DANGLING_CLAIM;
    }
    int64_t stages_due_ms = decide_stages(f, &s, d);
    if (stages_due_ms < *due_ms)
        *due_ms = stages_due_ms;
    decide_dependency_values(f, b, d);
    return add_parts(g, d, due_ms);
}

/*
 * Appends the policies that select the template, best first, and its claimed policy. If Karmada
 * propagates its dependencies, appends them, too: dependency_referrers_gather() searches their
 * readers for this template.
 */
static void add_reads(const struct rule_context *c, const struct entry *entry, const void *decision,
                      struct entry_list *reads)
{
    const struct template_decision *d = decision;

    for (uint32_t i = 0; i < d->candidate_count; i++)
        entry_list_add(reads, decision_candidate(d, i).policy);
    if (decision_claimed(d))
        entry_list_add(reads, decision_claimed(d));
    if (d->propagates)
        list_template_dependencies(c->store, entry, entry_binding(decision_binding(d)), reads);
}

static bool is_equal_for_readers(const void *old, const void *fresh)
{
    const struct template_decision *a = old, *b = fresh;

    return decision_governing(a) == decision_governing(b) && a->propagates == b->propagates &&
           a->derived == b->derived && a->waits == b->waits && a->wants == b->wants;
}

/* ---- dependents of a template ---- */

static void mark_if_class(struct graph *g, struct entry *entry, enum object_class class)
{
    if (entry_class(entry) == class)
        graph_mark(g, entry);
}

/* Marks the bindings that read the template: its own, and those with its own in requiredBy. */
static void mark_reading_bindings(struct graph *g, const struct entry *entry)
{
    for (uint32_t i = 0; i < entry_reader_count(entry); i++)
        mark_if_class(g, entry_reader(entry, i), CLASS_BINDING);
}

/* Marks a template's dependencies and their bindings, which resolve the values of referrers. */
static void mark_dependencies(const struct rule_context *c, const struct entry *entry)
{
    for (uint32_t i = 0; i < entry_read_count(entry); i++) {
        struct entry *read = entry_read(entry, i);
        struct entry *binding;

        if (entry_class(read) != CLASS_TEMPLATE)
            continue;
        graph_mark(c->graph, read);
        binding = template_binding(c->store, read);
        if (binding)
            graph_mark(c->graph, binding);
    }
}

/* Marks the entries that depend on the content of a changed template or setting. */
static void content_on_change(struct rule_context *c, struct entry *entry, const void *old)
{
    connector_setting_on_change(c, entry, old);
    priority_mark_policies(c->store, c->graph, entry, old);
}

/* Handles a change of a template. Bindings that read it depend on its existence and its uid. */
static void template_on_change(struct rule_context *c, struct entry *entry, const void *old)
{
    const struct template *before = old, *now = entry_template(entry);

    if (!before || !now || before->uid_hash != now->uid_hash)
        mark_reading_bindings(c->graph, entry);
    content_on_change(c, entry, old);
    autoscalers_update(c->autoscalers, c->graph, entry, template_autoscaler(before));
    api_versions_mark_policies(c->index, c->graph, entry, old);
}

/* ---- registers ---- */

/* Returns true if Karmada will create a binding for the template, or keep the present binding. */
static bool gets_binding(const struct template_decision *d)
{
    return d && d->state != STATE_IGNORED && (d->state != STATE_PENDING || decision_binding(d));
}

/*
 * Finds the version of the claimed policy that the template's binding has, and counts the template
 * for it. Returns the version; NULL for an ignored template, without a valid claim, without a
 * binding that a policy made, or without a history of the policy.
 */
static struct policy_version *count_running_version(struct rule_context *c,
                                                    const struct entry *entry,
                                                    const struct template_decision *d)
{
    const struct binding *b = entry_binding(decision_binding(d));
    const struct policy_decision *policy =
        decision_claimed(d) ? policy_decision(decision_claimed(d)) : NULL;

    if (d->state == STATE_IGNORED || !policy || !b || !b->has_placement ||
        !template_claim_holds(entry))
        return NULL;
    return policy_versions_add_template(
        &c->policy_versions, policy->history,
        &(struct running){.binding = b,
                          .priority = &policy->priority,
                          .cluster_scoped = entry_is_cluster_scoped(decision_binding(d)),
                          .priority_moved =
                              d->priority_moved && decision_governing(d) == decision_claimed(d),
                          .has_policy_claim = claim_is_of_policy(b->claim, decision_claimed(d))});
}

/* Returns true if problems, capacity or verdicts of the template depend on all member clusters. */
static bool depends_on_clusters(const struct template_decision *d)
{
    /* Targets that the scheduler would not keep: the other clusters decide whether it finds one. */
    bool moves =
        d && (d->flags & 1U << FLAG_OFF_PLACEMENT || d->stages.delivery.stage == STAGE_EVICTING ||
              d->stages.delivery.stage == STAGE_UNSCHEDULED);

    return d &&
           (decision_capacity(d) || moves ||
            (decision_binding(d) && (d->state == STATE_ORPHANED || d->state == STATE_PENDING)));
}

static void unregister_template(struct rule_context *c, struct entry *entry, const void *next)
{
    struct template_decision *d = entry_decision(entry);
    const struct template_decision *fresh = next;

    policy_versions_remove_template(&c->policy_versions, decision_version(d));
    d->version_handle = 0;
    if (gets_binding(d) && !gets_binding(fresh))
        rule_collisions_remove(c->graph, c->binding_names, entry);
    if (depends_on_clusters(d) && !depends_on_clusters(fresh))
        handle_map_take(&c->on_clusters, map_hash_address(entry), entry);
    unregister_cloud_resource(c, entry, fresh);
}

/*
 * Sets `before`, `seen_ms` and `first_run`; lists a new template in c->first_run. A simulation
 * keeps the values of `old`.
 */
static void note_state_change(struct rule_context *c, struct entry *entry,
                              const struct template_decision *old)
{
    struct template_decision *d = entry_decision(entry);
    bool simulated = c->policy_versions.paused;
    bool stays = old && (old->state == d->state || simulated);

    d->before = d->state;
    d->first_run = old ? old->first_run : !simulated;
    if (old && !old->first_run)
        d->before = stays ? old->before : old->state;
    if (stays || !simulated)
        decision_set_seen_ms(d, stays && decision_seen_ms(old) ? decision_seen_ms(old) : c->now_ms);
    if (!old && d->first_run) {
        store_pin(entry);
        entry_list_add(&c->first_run, entry);
    }
}

bool rule_template_end_first_run(struct rule_context *c, size_t budget)
{
    for (; budget > 0 && c->first_run.count > 0; budget--) {
        struct entry *entry = c->first_run.items[--c->first_run.count];

        if (template_decision(entry))
            ((struct template_decision *)entry_decision(entry))->first_run = false;
        store_unpin(c->store, entry);
    }
    if (c->first_run.count == 0)
        entry_list_release(&c->first_run);
    return c->first_run.count == 0;
}

static void register_template(struct rule_context *c, struct entry *entry, const void *last)
{
    struct template_decision *d = entry_decision(entry);
    const struct template_decision *old = last;

    d->version_handle = pool_handle_of(count_running_version(c, entry, d));
    note_state_change(c, entry, old);
    if (gets_binding(d)) {
        if (!gets_binding(old))
            rule_collisions_add(c->graph, c->binding_names, entry);
        if (name_collisions_has_collision(c->binding_names, entry))
            d->defects |= 1u << DEFECT_NAME_COLLISION;
    }
    if (depends_on_clusters(d) && !depends_on_clusters(old))
        handle_map_add(&c->on_clusters, map_hash_address(entry), entry);
    register_cloud_resource(c, entry, old);
    /* The clusters of a HorizontalPodAutoscaler are inputs of a problem of its workload. */
    autoscalers_mark_target(c->autoscalers, c->graph, entry);
}

static void release_template_decision(const struct rule_context *c, void *decision)
{
    struct intern *strings = store_string_pool(c->store);
    struct template_decision *d = decision;

    if (!d)
        return;
    if (decision_version(d))
        policy_history_drop(decision_version(d)->history, strings);
    capacity_free(strings, decision_capacity(d));
    release_connector_decision(strings, decision_connector(d));
    pool_free(decision_dependency(d));
    template_decision_free(d);
}

const struct rule rule_template = {
    .rank = RULE_RANK_TEMPLATE,
    .changed = template_on_change,
    .gather = gather_template_facts,
    .decide = decide_template,
    .add_reads = add_reads,
    .equal = is_equal_for_readers,
    .mark_readers = mark_reading_bindings,
    .mark_read = mark_dependencies,
    .leave = unregister_template,
    .enter = register_template,
    .release = release_template_decision,
};

/* Settings have no decision; their content affects other entries like that of templates. */
const struct rule rule_setting = {.rank = RULE_RANK_LAST, .changed = content_on_change};

static void other_on_change(struct rule_context *c, struct entry *entry, const void *old)
{
    const struct other *before = old;

    autoscalers_update(c->autoscalers, c->graph, entry, before ? before->autoscaler : NULL);
}

/* Objects of Karmada's groups have no decision; a FederatedHPA affects the template it scales. */
const struct rule rule_other = {.rank = RULE_RANK_LAST, .changed = other_on_change};
