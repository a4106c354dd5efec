/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/scheduler.h"

#include "metrics/model/cluster.h"
#include "metrics/model/store.h"
#include "metrics/rules/placement_match.h"
#include "metrics/rules/scheduling/scheduling.h"
#include "metrics/simulate/overlay.h"
#include "metrics/simulate/quota_enforcement.h"

/* Returns true if Karmada's default scheduler handles the binding once it is in its queue. */
static bool is_for_default_scheduler(const struct binding *b)
{
    return b->has_placement && !b->deleting && !b->scheduling_suspended &&
           (!b->propagation->scheduler_name ||
            strcmp(b->propagation->scheduler_name, DEFAULT_SCHEDULER) == 0);
}

/*
 * Returns the placement of the last scheduling; NULL if the binding was never scheduled. Bindings
 * in files may lack the annotation: if they have clusters, the placement that they had counts.
 */
static const char *applied_text(const struct binding *old, const struct binding *fresh,
                                bool *was_scheduled)
{
    const struct binding *from = fresh->was_scheduled || !old ? fresh : old;

    *was_scheduled = from->was_scheduled || from->cluster_count > 0;
    return from->was_scheduled ? from->applied_placement : from->propagation->placement;
}

static bool has_member(const struct cluster_set *set, const char *name)
{
    for (uint32_t i = 0; i < set->count; i++) {
        if (set->members[i].name == name)
            return true;
    }
    return false;
}

/*
 * Returns the clusters that an affinity group names and does not exclude, with their static weight,
 * for sources without Cluster objects. The caller frees `members`.
 */
static struct cluster_set make_named_set(const struct placement *placement,
                                         const struct affinity_group *group)
{
    const struct cluster_affinity *affinity = &group->affinity;
    struct cluster_set out = {.tolerated = true};

    out.members = xreallocarray(NULL, affinity->name_count + 1, sizeof(*out.members));
    for (uint32_t i = 0; i < affinity->name_count; i++) {
        struct member member = {.name = affinity->names[i], .tolerated = true};

        if (!affinity_allows_name(affinity, member.name) || has_member(&out, member.name))
            continue;
        for (uint32_t k = 0; k < placement->weight_count; k++) {
            const struct static_weight *rule = &placement->weights[k];

            if (rule->weight > member.weight && affinity_allows_name(&rule->target, member.name))
                member.weight = rule->weight;
        }
        out.members[out.count++] = member;
    }
    return out;
}

/* Returns true if the affinity group selects clusters by names alone. */
static bool selects_by_names(const struct placement *placement, uint32_t group)
{
    const struct cluster_affinity *a = placement_group_by_name(placement, group);

    return a && a->name_count > 0;
}

/* ---- results ---- */

/*
 * Returns true if `old` was scheduled with the placement and the replicas of `fresh`, and its
 * targets still pass the filters. The scheduler then keeps them, if it can.
 */
static bool keeps_targets(const struct scheduling *s, const struct binding *old)
{
    enum release release = placements_release(s->placements).newest;
    const struct binding *fresh = s->binding;

    if (!old || old->cluster_count == 0 || !old->claim || old->replicas != fresh->replicas ||
        fresh->status.reschedule_requested || !s->applied || s->applied != s->resolved->placement)
        return false;
    for (uint32_t i = 0; i < old->cluster_count; i++) {
        const struct entry *cluster = placements_find_cluster(s->placements, old->clusters[i].name);

        if (s->resolved->has_clusters && (!cluster || !scheduling_passes(s, release, cluster)))
            return false;
    }
    return true;
}

static void set_targets(struct overlay *overlay, const struct projection *p, struct binding *fresh)
{
    struct target_cluster *clusters = xcalloc(p->count + 1, sizeof(*clusters));

    for (uint32_t i = 0; i < p->count; i++)
        clusters[i] = (struct target_cluster){.name = overlay_intern(overlay, p->clusters[i].name),
                                              .replicas = p->clusters[i].replicas};
    if (p->count > 0)
        overlay_assume(overlay, ASSUMED_SCHEDULED_ONLY);
    fresh->clusters = overlay_own_memory(overlay, clusters);
    fresh->cluster_count = p->count;
    fresh->status.required_count = 0;
    fresh->applied_placement = fresh->propagation->placement;
    fresh->was_scheduled = true;
}

/* Sets the condition Scheduled, and removes the message of the last failure. */
static void set_condition(struct overlay *overlay, enum scheduled scheduled, struct binding *fresh)
{
    struct binding_status *status = &fresh->status;

    status->scheduled = (uint8_t)scheduled;
    if (scheduled == SCHEDULED_TRUE) {
        status->was_placed = true;
        status->reschedule_requested = false;
    }
    if (status->problem && status->problem->message) {
        struct status_problem *problem = xmalloc(sizeof(*problem));

        *problem = *status->problem;
        problem->message = NULL;
        status->problem = overlay_own_memory(overlay, problem);
    }
}

/* Returns true if a quota refuses the targets: the binding keeps the present ones. */
static bool note_refused_targets(struct overlay *overlay, const struct binding *old,
                                 struct binding *fresh, const struct projection *targets)
{
    if (!quota_refuses_targets(overlay, old, fresh, targets))
        return false;
    set_condition(overlay, SCHEDULED_QUOTA_EXCEEDED, fresh);
    fresh->status.observed = false;
    return true;
}

static void use_result(struct overlay *overlay, const struct scheduling *s,
                       const struct schedule_result *r, const struct binding *old,
                       struct binding *fresh)
{
    const struct placement *placement = s->resolved->placement;

    if (r->scheduled == SCHEDULED_TRUE && note_refused_targets(overlay, old, fresh, &r->targets))
        return;
    if (r->scheduled != SCHEDULED_ERROR)
        set_targets(overlay, &r->targets, fresh);
    set_condition(overlay, r->scheduled, fresh);
    if (r->scheduled != SCHEDULED_TRUE)
        return;
    fresh->observed_group = (uint8_t)(r->group < UINT8_MAX ? r->group : 0);
    if (placement->has_groups)
        overlay_rare(fresh)->observed_affinity =
            placement->groups[r->group].name
                ? overlay_intern(overlay, placement->groups[r->group].name)
                : NULL;
}

/*
 * Marks the targets as unpredictable, for the reason of the projection; without one, NO_CLUSTERS.
 * A quota may refuse them nevertheless, if their sum is known.
 */
static void set_undetermined(struct overlay *overlay, const struct binding *old,
                             struct binding *fresh, const struct projection *p)
{
    if (p->determined)
        quota_assume_unknown(overlay, fresh);
    else if (note_refused_targets(overlay, old, fresh, p))
        return;
    binding_set_undetermined(fresh, p->determined ? UNDETERMINED_NO_CLUSTERS : p->reason);
    overlay_rare(fresh)->by_release = p->by_release ? overlay_intern(overlay, p->by_release) : NULL;
}

/*
 * Schedules without Cluster objects: the clusters that the affinity group in use names count as
 * existing, if it selects by names. Considers no filter.
 */
static void schedule_by_names(struct overlay *overlay, const struct scheduling *s,
                              const struct binding *old, struct binding *fresh)
{
    const struct placement *placement = s->resolved->placement;
    uint32_t group = scheduling_first_group(s, placements_release(s->placements).newest);
    struct schedule_result r = {.runs = true, .scheduled = SCHEDULED_TRUE, .group = group};
    struct cluster_set set = {0};

    if (selects_by_names(placement, group))
        set = make_named_set(placement, &placement->groups[group]);
    scheduling_assign_in_range(s, &set, &r.targets);
    if (r.targets.determined && set.count > 0) {
        overlay_assume(overlay, ASSUMED_CLUSTERS_NAMED);
        use_result(overlay, s, &r, old, fresh);
    } else if (!keeps_targets(s, old)) {
        set_undetermined(overlay, old, fresh, &r.targets);
    }
    schedule_result_release(placements_strings(s->placements), &r);
    free(set.members);
}

/* `runs`: the scheduler processes the binding in any case. */
static void schedule(struct overlay *overlay, const struct scheduling *s, const struct binding *old,
                     bool runs, struct binding *fresh)
{
    struct schedule_result r;

    if (!s->resolved->has_clusters) {
        if (scheduling_is_triggered(s))
            schedule_by_names(overlay, s, old, fresh);
        return;
    }
    scheduling_run_in_range(s, runs, &r);
    if (r.runs && r.targets.determined)
        use_result(overlay, s, &r, old, fresh);
    else if (r.runs && !keeps_targets(s, old))
        set_undetermined(overlay, old, fresh, &r.targets);
    schedule_result_release(placements_strings(s->placements), &r);
}

/* ---- bindings with unpredictable targets ---- */

/* Runs the scheduler for the binding as if it had these targets. */
static void run_with_targets(const struct scheduling *s, struct target_cluster *clusters,
                             uint32_t count, struct schedule_result *out)
{
    struct binding copy = *s->binding;
    struct scheduling run = *s;

    copy.clusters = clusters;
    copy.cluster_count = count;
    run.binding = &copy;
    scheduling_run_in_range(&run, false, out);
}

/*
 * Returns true if the scheduler processes the binding for any targets: also if they have
 * the wanted number of replicas.
 */
static bool runs_for_any_targets(const struct scheduling *s, const char *name)
{
    struct target_cluster settled = {.name = name, .replicas = s->binding->replicas};
    struct schedule_result r;
    bool runs;

    run_with_targets(s, &settled, 1, &r);
    runs = r.runs;
    schedule_result_release(placements_strings(s->placements), &r);
    return runs;
}

/* Returns all Clusters as targets, and sets *count. The caller frees the result. */
static struct target_cluster *list_all_clusters(struct overlay *overlay, uint32_t *count)
{
    const struct listing *all = placements_clusters(overlay_context(overlay)->placements);
    struct target_cluster *targets = xcalloc(all->count + 1, sizeof(*targets));

    for (size_t i = 0; i < all->count; i++)
        targets[(*count)++].name = overlay_intern(overlay, all->entries[i]->name);
    return targets;
}

/*
 * Schedules a binding with unpredictable targets. Targets pass filters that exclude other clusters,
 * and decide ties. So the candidates of any targets lie between those of a binding without targets
 * and those of a binding with all clusters as targets. If both get the same result, it is certain.
 */
static void schedule_from_any_targets(struct overlay *overlay, const struct scheduling *s,
                                      const struct binding *old, struct binding *fresh)
{
    struct intern *strings = placements_strings(s->placements);
    const struct placement *placement = s->resolved->placement;
    CLEANUP(free_cleanup) struct target_cluster *all = NULL;
    struct schedule_result least, most;
    uint32_t count = 0;

    fresh->undetermined = old->undetermined;
    if (!s->resolved->has_clusters || placement->has_groups || placement->has_spread_constraints ||
        !runs_for_any_targets(s, overlay_intern(overlay, "")))
        return;
    all = list_all_clusters(overlay, &count);
    run_with_targets(s, NULL, 0, &least);
    run_with_targets(s, all, count, &most);
    if (least.runs && most.runs && least.targets.determined && most.targets.determined &&
        least.scheduled == most.scheduled && least.scheduled != SCHEDULED_ERROR &&
        projection_equal(&least.targets, &most.targets)) {
        fresh->undetermined = 0;
        use_result(overlay, s, &least, old, fresh);
    }
    schedule_result_release(strings, &least);
    schedule_result_release(strings, &most);
}

/* Sets the placements of the scheduling. Drop `*applied` with placements_drop(). */
static void set_placements(struct overlay *overlay, const struct binding *old, struct scheduling *s,
                           const struct resolved_placement **applied)
{
    bool was_scheduled;
    const char *text = applied_text(old, s->binding, &was_scheduled);

    *applied = NULL;
    s->resolved = overlay_resolve_placement(overlay, s->binding->propagation->placement);
    if (was_scheduled && text == s->resolved->text)
        s->applied = s->resolved->placement;
    else if (was_scheduled)
        s->applied = (*applied = placements_ref(s->placements, text))->placement;
}

static void process_binding(struct overlay *overlay, const struct binding *old, bool runs,
                            struct binding *fresh)
{
    struct rule_context *c = overlay_context(overlay);
    struct scheduling s = {.placements = c->placements, .binding = fresh, .gates = c->gates};
    const struct resolved_placement *applied;

    overlay_rare(fresh)->quota_excess = NULL;
    if (!is_for_default_scheduler(fresh)) {
        /* The write of the binding waits for a scheduler. */
        fresh->status.observed = false;
        return;
    }
    set_placements(overlay, old, &s, &applied);
    if (old && old->undetermined)
        schedule_from_any_targets(overlay, &s, old, fresh);
    else
        schedule(overlay, &s, old, runs, fresh);
    placements_drop(c->placements, applied);
}

void scheduler_schedule_enqueued(struct overlay *overlay, const struct binding *old,
                                 struct binding *fresh)
{
    process_binding(overlay, old, false, fresh);
}

void scheduler_place_binding(struct overlay *overlay, const struct binding *old,
                             struct binding *fresh)
{
    process_binding(overlay, old, true, fresh);
}

/* Without one of these labels, Karmada does not enqueue the binding (resourceBindingEventFilter).
 */
void scheduler_schedule_binding(struct overlay *overlay, const struct binding *old,
                                struct binding *fresh)
{
    if (fresh->claim || binding_rare(fresh)->managed_by)
        scheduler_schedule_enqueued(overlay, old, fresh);
}

/* ---- comparison of releases ---- */

typedef void schedule_fn(const struct scheduling *s, enum release release,
                         struct schedule_result *out);

/* Returns true if the results of `run` for two releases lead to different targets. */
static bool results_differ(const struct scheduling *s, schedule_fn *run, enum release a,
                           enum release b)
{
    struct intern *strings = placements_strings(s->placements);
    struct schedule_result x, y;
    bool differ;

    run(s, a, &x);
    run(s, b, &y);
    differ = !schedule_results_equal(s, &x, &y);
    schedule_result_release(strings, &x);
    schedule_result_release(strings, &y);
    return differ;
}

/* Returns the behaviours that change a result by themselves, added to or taken from a release. */
static behaviour_set find_causes(const struct scheduling *s, schedule_fn *run, enum release older,
                                 enum release newer)
{
    behaviour_set differing = behaviours_that_differ(older, newer), causes = 0;

    for (unsigned i = 0; i < BEHAVIOUR_COUNT; i++) {
        if (differing >> i & 1 && (results_differ(s, run, older, release_inverting(older, i)) ||
                                   results_differ(s, run, newer, release_inverting(newer, i))))
            causes |= UINT64_C(1) << i;
    }
    return causes ? causes : differing;
}

/*
 * Compares the next scheduling: the newer release may change targets that the older one would not
 * have changed, or would have changed in another way.
 */
static void compare_next_scheduling(const struct scheduling *s, enum release older,
                                    enum release newer, struct release_comparison *out)
{
    struct intern *strings = placements_strings(s->placements);
    const struct schedule_result stays = {.runs = false};
    struct schedule_result x, y;
    bool differs;

    scheduling_place(s, older, &x);
    scheduling_place(s, newer, &y);
    out->not_compared = !x.targets.determined && !y.targets.determined;
    differs = x.targets.determined ? !schedule_results_equal(s, &x, &y)
                                   : y.targets.determined && !schedule_results_equal(s, &stays, &y);
    schedule_result_release(strings, &x);
    schedule_result_release(strings, &y);
    if (differs)
        out->next = find_causes(s, scheduling_place, older, newer);
}

struct release_comparison scheduler_compare_releases(struct overlay *overlay,
                                                     const struct binding *b, enum release older,
                                                     enum release newer)
{
    struct rule_context *c = overlay_context(overlay);
    struct scheduling s = {.placements = c->placements, .binding = b, .gates = c->gates};
    const struct resolved_placement *applied;
    struct release_comparison out = {0, 0, false};

    if (!is_for_default_scheduler(b) || b->undetermined ||
        !(b->claim || binding_rare(b)->managed_by))
        return out;
    set_placements(overlay, b, &s, &applied);
    if (s.resolved->has_clusters && !s.resolved->placement->unreadable) {
        if (results_differ(&s, scheduling_run, older, newer))
            out.at_once = find_causes(&s, scheduling_run, older, newer);
        compare_next_scheduling(&s, older, newer, &out);
    }
    placements_drop(c->placements, applied);
    return out;
}
