/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/template_verdicts.h"

#include "metrics/rules/dependency.h"
#include "metrics/rules/prediction.h"
#include "metrics/rules/rule.h"

/* A ConfigMap can have thousands of referrers, and each costs a run of the scheduler. */
enum { REFERRERS_MAX = 200 };

void cluster_verdicts_release(struct cluster_verdicts *v)
{
    for (size_t i = 0; i < v->count; i++)
        cluster_verdict_release(&v->items[i]);
    free(v->items);
    free(v->group);
    *v = (struct cluster_verdicts){.items = NULL};
}

/* ---- inputs of the scheduler ---- */

/* Input of the scheduler for one template. */
struct placed_input {
    struct binding expected; /* Used without a placed binding; texts are borrowed. */
    struct scheduling s;
    struct workload_neighbours neighbours;          /* Owned arrays; used with a binding. */
    const struct resolved_placement *own, *applied; /* References, or NULL. */
    bool bound;
    enum verdict_limit limit;
};

static void placed_input_release(const struct rule_context *c, struct placed_input *in)
{
    placements_drop(c->placements, in->own);
    placements_drop(c->placements, in->applied);
    free(in->neighbours.together);
    free(in->neighbours.apart);
}

static void add_neighbour(const struct binding ***list, size_t *count, const struct binding *b)
{
    *list = xreallocarray(*list, *count + 1, sizeof(const struct binding *));
    (*list)[(*count)++] = b;
}

/* Finds the other bindings of the namespace in the workload affinity groups of a binding. */
static void use_neighbours(const struct entry *binding, struct placed_input *in)
{
    const struct partition *all = entry_partition(binding);
    const struct binding *b = entry_binding(binding);
    struct workload_neighbours *n = &in->neighbours;

    if (!in->own->placement->has_workload_affinity)
        return;
    for (size_t i = 0; i < all->count && !all->type->def->cluster_scoped; i++) {
        const struct binding *other = entry_binding(partition_entry(all, i));

        if (!other || other == b)
            continue;
        if (binding_rare(b)->affinity_group &&
            binding_rare(other)->affinity_group == binding_rare(b)->affinity_group)
            add_neighbour(&n->together, &n->together_count, other);
        if (binding_rare(b)->anti_affinity_group &&
            binding_rare(other)->anti_affinity_group == binding_rare(b)->anti_affinity_group)
            add_neighbour(&n->apart, &n->apart_count, other);
    }
    in->s.neighbours = n;
}

static bool is_for_other_scheduler(const char *name)
{
    return name && strcmp(name, DEFAULT_SCHEDULER) != 0;
}

static void use_binding(const struct rule_context *c, const struct entry *binding,
                        struct placed_input *in)
{
    const struct binding *b = entry_binding(binding);

    in->own = placements_ref(c->placements, b->propagation->placement);
    if (b->was_scheduled)
        in->applied = placements_ref(c->placements, b->applied_placement);
    in->bound = true;
    in->s.binding = b;
    in->s.resolved = in->own;
    in->s.applied = in->applied ? in->applied->placement : NULL;
    use_neighbours(binding, in);
    if (is_for_other_scheduler(b->propagation->scheduler_name))
        in->limit = VERDICT_LIMIT_OTHER_SCHEDULER;
    else if (b->scheduling_suspended)
        in->limit = VERDICT_LIMIT_SUSPENDED;
}

static void use_policy(const struct rule_context *c, const struct entry *template,
                       const struct entry *policy, struct placed_input *in)
{
    const struct resolved_placement *resolved = policy_decision(policy)->resolved;
    enum undetermined_reason unknown =
        expected_binding_make(template, resolved->placement->division, c->release, &in->expected);

    in->s.binding = &in->expected;
    in->s.resolved = resolved;
    if (is_for_other_scheduler(entry_policy(policy)->propagation->scheduler_name))
        in->limit = VERDICT_LIMIT_OTHER_SCHEDULER;
    else if (unknown != UNDETERMINED_REASON_COUNT)
        in->limit = VERDICT_LIMIT_REPLICAS;
}

/*
 * Sets the input for a template with a placed binding, or with a policy that would create one.
 * Returns false for other templates. Release `in` with placed_input_release().
 */
static bool placed_input_make(const struct rule_context *c, const struct entry *template,
                              struct placed_input *in)
{
    const struct template_decision *d = template_decision(template);
    const struct binding *b = d ? entry_binding(decision_binding(d)) : NULL;
    const struct policy_decision *policy =
        d && decision_governing(d) && entry_policy(decision_governing(d))
            ? policy_decision(decision_governing(d))
            : NULL;

    *in = (struct placed_input){.s = {.placements = c->placements, .gates = c->gates}};
    if (!d || d->state == STATE_IGNORED)
        return false;
    if (b && b->has_placement)
        use_binding(c, decision_binding(d), in);
    else if (!b && policy && policy->resolved)
        use_policy(c, template, decision_governing(d), in);
    return in->s.resolved != NULL;
}

/* Returns true if all Clusters are known, and the placement is readable. */
static bool is_judgeable(const struct resolved_placement *resolved)
{
    return resolved->has_clusters && !resolved->placement->unreadable;
}

/* ---- templates that others require ---- */

/* Returns true if the target is in spec.requiredBy of a binding. */
static bool is_required_in(const struct binding *b, const char *cluster)
{
    for (uint32_t i = 0; b && i < binding_target_count(b); i++) {
        if (strcmp(b->clusters[i].name, cluster) == 0)
            return !b->has_placement || i >= b->cluster_count;
    }
    return false;
}

static void set_required(struct cluster_verdict *out, const struct entry *referrer)
{
    const struct entry *cluster = out->cluster;

    cluster_verdict_release(out);
    *out = (struct cluster_verdict){.cluster = cluster,
                                    .kind = CLUSTER_VERDICT_REQUIRED,
                                    .reason.kind = CLUSTER_VERDICT_REQUIRED,
                                    .next = CLUSTER_VERDICT_COUNT,
                                    .referrer = referrer};
}

/* A referrer with a placement, and the result of its scheduling. */
struct judged_referrer {
    const struct entry *template;
    struct placed_input in;
    struct verdict_base base;
};

/* The referrers of a template; the first `judged_count` of `judged` are those with a placement. */
struct judged_referrers {
    struct dependency_referrers all;
    struct judged_referrer *judged; /* Owned. */
    size_t judged_count;
};

static void judged_referrers_release(const struct rule_context *c, struct judged_referrers *r)
{
    for (size_t i = 0; i < r->judged_count; i++) {
        verdict_base_release(&r->judged[i].base);
        placed_input_release(c, &r->judged[i].in);
    }
    free(r->judged);
    dependency_referrers_release(&r->all);
}

/* Schedules up to REFERRERS_MAX referrers of a template that have a placement. */
static void judge_referrers(const struct rule_context *c, const struct entry *template,
                            struct judged_referrers *out)
{
    const struct template_decision *d = template_decision(template);

    *out = (struct judged_referrers){.judged_count = 0};
    dependency_referrers_gather(c->store, &c->incomplete,
                                decision_binding(d) ? decision_binding(d) : template, &out->all);
    out->judged = xcalloc(out->all.count + 1, sizeof(*out->judged));
    for (size_t i = 0; i < out->all.count && out->judged_count < REFERRERS_MAX; i++) {
        struct judged_referrer *next = &out->judged[out->judged_count];

        next->template = out->all.items[i].template;
        if (next->template && placed_input_make(c, next->template, &next->in) &&
            is_judgeable(next->in.s.resolved)) {
            verdict_base_make(&next->in.s, next->in.bound, next->in.limit, &next->base);
            out->judged_count++;
        } else if (next->template) {
            placed_input_release(c, &next->in);
        }
    }
}

/* Returns the template or, if that is unknown, the binding of the first referrer; NULL without. */
static const struct entry *first_referrer(const struct judged_referrers *r)
{
    const struct dependency_referrer *first = r->all.count > 0 ? &r->all.items[0] : NULL;

    return !first ? NULL : first->template ? first->template : first->binding;
}

/*
 * Judges a cluster by the referrers of a template: required if one of them is placed there, else
 * the verdict of the first referrer. Returns false without a referrer that has a verdict.
 */
static bool judge_by_referrers(const struct judged_referrers *r, const struct binding *b,
                               const struct entry *cluster, bool texts, struct cluster_verdict *out)
{
    bool required = is_required_in(b, cluster->name);

    *out = (struct cluster_verdict){.cluster = cluster,
                                    .kind = CLUSTER_VERDICT_COUNT,
                                    .reason.kind = CLUSTER_VERDICT_COUNT,
                                    .next = CLUSTER_VERDICT_COUNT};
    for (size_t i = 0; i < r->judged_count; i++) {
        struct cluster_verdict one;

        verdict_make(&r->judged[i].base, cluster, texts, &one);
        if (one.kind == CLUSTER_VERDICT_TARGET) {
            cluster_verdict_release(&one);
            set_required(out, r->judged[i].template);
            out->predicted = !required;
            return true;
        }
        one.referrer = r->judged[i].template;
        if (i > 0)
            cluster_verdict_release(&one);
        else
            *out = one;
    }
    if (required)
        set_required(out, first_referrer(r));
    return r->judged_count > 0 || required;
}

/* ---- verdicts ---- */

/* Returns true if the template has no placement of its own, and others may require it. */
static bool is_attached(const struct template_decision *d)
{
    const struct binding *b = entry_binding(decision_binding(d));

    return b ? !b->has_placement : d->state == STATE_ATTACHED;
}

/* Sets the verdict of a template with a placement: other templates may require it too. */
static void judge_placed(const struct rule_context *c, const struct verdict_base *base,
                         const struct entry *template, const struct entry *cluster, bool texts,
                         struct cluster_verdict *out)
{
    const struct binding *b =
        template ? entry_binding(decision_binding(template_decision(template))) : NULL;
    struct judged_referrers referrers;

    verdict_make(base, cluster, texts, out);
    if (!template || out->kind == CLUSTER_VERDICT_TARGET || !is_required_in(b, cluster->name))
        return;
    cluster_verdict_release(out);
    judge_referrers(c, template, &referrers);
    judge_by_referrers(&referrers, b, cluster, texts, out);
    judged_referrers_release(c, &referrers);
}

bool template_verdict_of_cluster(const struct engine *e, const struct entry *template,
                                 const struct entry *cluster, bool texts,
                                 struct cluster_verdict *out)
{
    const struct rule_context *c = engine_context_const(e);
    const struct template_decision *d = template_decision(template);
    struct placed_input in;
    bool judged = false;

    if (placed_input_make(c, template, &in) && is_judgeable(in.s.resolved)) {
        struct verdict_base base;

        verdict_base_make(&in.s, in.bound, in.limit, &base);
        judge_placed(c, &base, template, cluster, texts, out);
        verdict_base_release(&base);
        judged = true;
    } else if (d && d->state != STATE_IGNORED && is_attached(d)) {
        struct judged_referrers referrers;

        judge_referrers(c, template, &referrers);
        judged =
            judge_by_referrers(&referrers, entry_binding(decision_binding(d)), cluster, texts, out);
        judged_referrers_release(c, &referrers);
    }
    placed_input_release(c, &in);
    return judged;
}

/* Judges all clusters with one result of the scheduler. `template`: NULL for a policy. */
static void judge_clusters(const struct rule_context *c, const struct placed_input *in,
                           const struct entry *template, struct cluster_verdicts *out)
{
    const struct listing *clusters = placements_clusters(c->placements);
    const struct placement *placement = in->s.resolved->placement;
    struct verdict_base base;

    verdict_base_make(&in->s, in->bound, in->limit, &base);
    out->items = xcalloc(clusters->count + 1, sizeof(*out->items));
    for (size_t i = 0; i < clusters->count; i++)
        judge_placed(c, &base, template, clusters->entries[i], true, &out->items[out->count++]);
    if (placement->has_groups && base.group < placement->group_count &&
        placement->groups[base.group].name)
        out->group = xstrdup(placement->groups[base.group].name);
    verdict_base_release(&base);
}

static void judge_attached(const struct rule_context *c, const struct entry *template,
                           struct cluster_verdicts *out)
{
    const struct listing *clusters = placements_clusters(c->placements);
    const struct binding *b = entry_binding(decision_binding(template_decision(template)));
    struct judged_referrers referrers;

    judge_referrers(c, template, &referrers);
    out->has_placement = referrers.all.count > 0;
    out->items = xcalloc(clusters->count + 1, sizeof(*out->items));
    for (size_t i = 0; i < clusters->count; i++)
        out->count +=
            judge_by_referrers(&referrers, b, clusters->entries[i], true, &out->items[out->count]);
    judged_referrers_release(c, &referrers);
}

struct cluster_verdicts template_verdicts(const struct engine *e, const struct entry *template)
{
    const struct rule_context *c = engine_context_const(e);
    const struct template_decision *d = template_decision(template);
    struct cluster_verdicts out = {.clusters_unknown =
                                       placements_clusters(c->placements)->count == 0};
    struct placed_input in;

    if (placed_input_make(c, template, &in)) {
        out.has_placement = true;
        out.placement_invalid = in.s.resolved->placement->unreadable;
        if (is_judgeable(in.s.resolved))
            judge_clusters(c, &in, template, &out);
    } else if (d && d->state != STATE_IGNORED && is_attached(d)) {
        judge_attached(c, template, &out);
    }
    placed_input_release(c, &in);
    return out;
}

struct cluster_verdicts policy_verdicts(const struct engine *e, const struct entry *policy)
{
    const struct rule_context *c = engine_context_const(e);
    const struct policy_decision *d = policy_decision(policy);
    struct cluster_verdicts out = {.clusters_unknown =
                                       placements_clusters(c->placements)->count == 0};
    struct placed_input in = {.expected = {.has_requirements = true},
                              .limit = VERDICT_LIMIT_POLICY};

    if (!d || !d->resolved)
        return out;
    in.s = (struct scheduling){.placements = c->placements,
                               .binding = &in.expected,
                               .resolved = d->resolved,
                               .gates = c->gates,
                               .lacks_template = true};
    out.has_placement = true;
    out.placement_invalid = d->resolved->placement->unreadable;
    if (is_judgeable(d->resolved))
        judge_clusters(c, &in, NULL, &out);
    return out;
}

/* ---- templates of a cluster ---- */

void template_rejections_release(struct template_rejections *r)
{
    free(r->templates);
    free(r->kinds);
    *r = (struct template_rejections){.templates = NULL};
}

struct template_rejections template_rejections_of(const struct engine *e,
                                                  const struct entry *cluster)
{
    CLEANUP(listing_release)
    struct listing all = listing_make(engine_context_const(e)->store, CLASS_TEMPLATE);
    struct template_rejections out = {.templates = xcalloc(all.count + 1, sizeof(struct entry *)),
                                      .kinds = xcalloc(all.count + 1, sizeof(*out.kinds))};

    for (size_t i = 0; i < all.count; i++) {
        struct cluster_verdict v;
        bool placed;

        if (!template_decision(all.entries[i]) ||
            !template_verdict_of_cluster(e, all.entries[i], cluster, false, &v))
            continue;
        placed = v.kind == CLUSTER_VERDICT_TARGET || v.kind == CLUSTER_VERDICT_REQUIRED ||
                 v.kind == CLUSTER_VERDICT_COUNT;
        if (!placed) {
            out.templates[out.count] = all.entries[i];
            out.kinds[out.count++] = v.kind;
            out.counts[v.kind]++;
        }
        cluster_verdict_release(&v);
    }
    return out;
}

/* ---- unscheduled templates ---- */

bool template_is_unscheduled(const struct template_decision *d)
{
    return d->stages.delivery.stage == STAGE_UNSCHEDULED;
}

bool template_count_filters(const struct engine *e, const struct entry *template,
                            size_t counts[FILTER_COUNT + 1])
{
    const struct rule_context *c = engine_context_const(e);
    struct placed_input in;
    bool judged = placed_input_make(c, template, &in) && in.bound &&
                  in.limit != VERDICT_LIMIT_OTHER_SCHEDULER && is_judgeable(in.s.resolved);

    if (judged) {
        /* The engine does not count again after a change of other workloads. */
        in.s.neighbours = NULL;
        scheduling_count_filters(&in.s, c->release.newest, counts);
        counts[FILTER_WORKLOAD_AFFINITY] = 0;
    }
    placed_input_release(c, &in);
    return judged;
}
