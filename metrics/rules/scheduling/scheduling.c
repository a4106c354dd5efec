/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/scheduling/scheduling.h"

#include "metrics/rules/scheduling/spread_selection.h"

/* ---- filters ---- */

const char *const cluster_filter_names[FILTER_COUNT] = {
#define CLUSTER_FILTER_NAME(id, name) [FILTER_##id] = (name),
    CLUSTER_FILTERS(CLUSTER_FILTER_NAME)};

static bool is_target(const struct binding *b, const char *cluster)
{
    for (uint32_t i = 0; i < b->cluster_count; i++) {
        if (b->clusters[i].name == cluster)
            return true;
    }
    return false;
}

static bool is_evicting(const struct binding *b, const char *cluster)
{
    const struct status_problem *problem = b->status.problem;

    for (uint32_t i = 0; problem && i < problem->eviction_count; i++) {
        if (strcmp(problem->evictions[i].cluster, cluster) == 0)
            return true;
    }
    return false;
}

/* Returns true if the cluster lacks a property by which the placement spreads. */
static bool lacks_spread_property(const struct placement *placement, const struct cluster *cluster)
{
    for (uint32_t i = 0; i < placement->spread_count; i++) {
        enum spread_field field = placement->spread[i].field;

        if ((field == SPREAD_PROVIDER && !cluster->provider) ||
            (field == SPREAD_REGION && !cluster->region) ||
            (field == SPREAD_ZONE && cluster->zone_count == 0))
            return true;
    }
    return false;
}

/*
 * Returns true if the workload must not run beside its neighbours in the cluster, or not without
 * them (Karmada: obeyAffinityGroup, obeyAntiAffinityGroup); also if the neighbours are unknown.
 */
static bool excludes_workload(const struct scheduling *s, const char *cluster)
{
    const struct workload_neighbours *n = s->neighbours;

    for (size_t i = 0; n && i < n->apart_count; i++) {
        if (is_target(n->apart[i], cluster))
            return true;
    }
    for (size_t i = 0; n && i < n->together_count; i++) {
        if (n->together[i]->cluster_count > 0 && !is_target(n->together[i], cluster))
            return true;
    }
    return !n;
}

/* Returns true if the filter by workloadAffinity may exclude clusters. */
static bool has_workload_affinity(const struct scheduling *s, enum release release)
{
    return s->resolved->placement->has_workload_affinity &&
           release_has(release, BEHAVIOUR_WORKLOAD_AFFINITY) &&
           gate_is_on(s->gates, GATE_WORKLOAD_AFFINITY);
}

/* Inputs of filters that are the same for all clusters. */
struct filter_input {
    const struct scheduling *s;
    enum release release;
};

/* Karmada < 1.15 keeps a target without the API only while the list of APIs is incomplete. */
static bool lacks_api(const struct filter_input *in, const struct cluster *cluster, bool target)
{
    bool keeps = release_has(in->release, BEHAVIOUR_KEEPS_LOST_API) || !cluster->apis_complete;

    return !(target && keeps) && !cluster_serves(cluster, in->s->binding->scope->api_version,
                                                 in->s->binding->scope->kind);
}

/* Returns the first filter that excludes a cluster that the affinity group allows. */
static enum cluster_filter filter_member(const struct filter_input *in, const struct member *m)
{
    const struct scheduling *s = in->s;
    const struct cluster *cluster = entry_cluster(m->cluster);
    bool target = is_target(s->binding, m->name);

    if (cluster->deleting && release_has(in->release, BEHAVIOUR_LEAVES_DELETING_CLUSTER))
        return FILTER_CLUSTER_DELETING;
    if (!s->lacks_template && lacks_api(in, cluster, target))
        return FILTER_API_NOT_SERVED;
    if (!target && !m->untainted)
        return FILTER_TAINT;
    if (is_evicting(s->binding, m->name))
        return FILTER_EVICTING;
    if (lacks_spread_property(s->resolved->placement, cluster))
        return FILTER_SPREAD_PROPERTY;
    if (!target && !s->lacks_template && has_workload_affinity(s, in->release) &&
        excludes_workload(s, m->name))
        return FILTER_WORKLOAD_AFFINITY;
    return FILTER_COUNT;
}

/* overflowAffinities apply to workloads only. */
static bool uses_overflow(const struct scheduling *s, enum release release)
{
    return release_has(release, BEHAVIOUR_OVERFLOW_AFFINITIES) && binding_is_workload(s->binding);
}

static const struct member *find_member(const struct cluster_set *set, const struct entry *cluster)
{
    for (uint32_t i = 0; i < set->count; i++) {
        if (set->members[i].cluster == cluster)
            return &set->members[i];
    }
    return NULL;
}

static enum cluster_filter filter_cluster(const struct filter_input *in, uint32_t group,
                                          const struct entry *cluster)
{
    const struct scheduling *s = in->s;
    const struct member *m = find_member(resolved_group(s->resolved, group, in->release), cluster);
    bool deleting = entry_cluster(cluster)->deleting;

    if (!m && uses_overflow(s, in->release))
        m = find_member(resolved_overflow(s->resolved, group, in->release), cluster);
    if (m)
        return filter_member(in, m);
    return deleting && release_has(in->release, BEHAVIOUR_LEAVES_DELETING_CLUSTER)
               ? FILTER_CLUSTER_DELETING
               : FILTER_AFFINITY;
}

enum cluster_filter scheduling_filter(const struct scheduling *s, enum release release,
                                      uint32_t group, const struct entry *cluster)
{
    const struct filter_input in = {s, release};

    return filter_cluster(&in, group, cluster);
}

/* Karmada: getAffinityIndex. */
uint32_t scheduling_first_group(const struct scheduling *s, enum release release)
{
    const struct placement *placement = s->resolved->placement;
    const struct binding *b = s->binding;

    if (!binding_rare(b)->observed_affinity || !placement->has_groups ||
        (b->status.reschedule_requested &&
         release_has(release, BEHAVIOUR_REBALANCES_FROM_FIRST_GROUP)))
        return 0;
    for (uint32_t i = 0; i < placement->group_count; i++) {
        if (placement->groups[i].name == binding_rare(b)->observed_affinity)
            return i;
    }
    return 0;
}

size_t scheduling_count_filters(const struct scheduling *s, enum release release,
                                size_t counts[FILTER_COUNT + 1])
{
    const struct listing *clusters = placements_clusters(s->placements);
    const struct filter_input in = {s, release};
    uint32_t group = scheduling_first_group(s, release);

    memset(counts, 0, (FILTER_COUNT + 1) * sizeof(*counts));
    for (size_t i = 0; i < clusters->count && group < s->resolved->group_count; i++)
        counts[filter_cluster(&in, group, clusters->entries[i])]++;
    return clusters->count;
}

static bool passes_filters(const struct filter_input *in, const struct entry *cluster)
{
    const struct scheduling *s = in->s;

    for (uint32_t i = scheduling_first_group(s, in->release); i < s->resolved->group_count; i++) {
        enum cluster_filter filter = filter_cluster(in, i, cluster);

        if (filter == FILTER_COUNT || (filter == FILTER_WORKLOAD_AFFINITY && !s->neighbours))
            return true;
    }
    return false;
}

bool scheduling_passes(const struct scheduling *s, enum release release,
                       const struct entry *cluster)
{
    const struct filter_input in = {s, release};

    return passes_filters(&in, cluster);
}

bool scheduling_fits_any(const struct scheduling *s)
{
    const struct listing *clusters = placements_clusters(s->placements);
    struct release_range range = placements_release(s->placements);

    for (unsigned r = range.oldest; r <= range.newest; r++) {
        const struct filter_input in = {s, (enum release)r};

        for (size_t i = 0; i < clusters->count; i++) {
            if (passes_filters(&in, clusters->entries[i]))
                return true;
        }
    }
    return false;
}

/* ---- attempts ---- */

/* Result of a step for one affinity group. */
enum step_result {
    STEP_DONE,
    STEP_NO_CLUSTER,   /* No cluster passes the filters. */
    STEP_FAILED,       /* The scheduler reports an error and changes nothing. */
    STEP_UNDETERMINED, /* The reason is in struct attempt. */
};

/* One attempt to schedule a binding in one affinity group. */
struct attempt {
    struct filter_input in;
    struct cluster_set
        set;        /* Clusters that pass the filters, then the selected ones. Owned array. */
    bool overflows; /* Some of them are allowed by overflowAffinities only. */
    enum undetermined_reason reason;
};

static enum step_result give_up(struct attempt *a, enum undetermined_reason reason)
{
    a->reason = reason;
    return STEP_UNDETERMINED;
}

static enum step_result select_clusters(struct attempt *a)
{
    const struct scheduling *s = a->in.s;
    const struct spread_input input = {s->resolved->placement, s->binding, a->in.release, s->gates,
                                       a->overflows};

    switch (spread_select(&input, &a->set)) {
    case SPREAD_SELECTED:
        return STEP_DONE;
    case SPREAD_FAILED:
        return STEP_FAILED;
    case SPREAD_UNKNOWN:
        return give_up(a, UNDETERMINED_SPREAD_CONSTRAINTS);
    }
    abort();
}

void schedule_result_release(struct intern *strings, struct schedule_result *r)
{
    projection_release(strings, &r->targets);
    *r = (struct schedule_result){0};
}

/* Adds the members that pass the filters. Returns false if it is unknown whether one passes. */
static bool add_passing(struct attempt *a, const struct cluster_set *set)
{
    bool known = true;

    a->set.members =
        xreallocarray(a->set.members, a->set.count + set->count + 1, sizeof(*a->set.members));
    for (uint32_t i = 0; i < set->count; i++) {
        enum cluster_filter filter = filter_member(&a->in, &set->members[i]);

        known &= filter != FILTER_WORKLOAD_AFFINITY || a->in.s->neighbours;
        if (filter == FILTER_COUNT)
            a->set.members[a->set.count++] = set->members[i];
    }
    return known;
}

/* Sets the clusters of a group that pass the filters. */
static enum step_result filter_group(struct attempt *a, uint32_t group)
{
    const struct resolved_placement *resolved = a->in.s->resolved;
    bool known = add_passing(a, resolved_group(resolved, group, a->in.release));
    uint32_t count = a->set.count;

    if (uses_overflow(a->in.s, a->in.release))
        known &= add_passing(a, resolved_overflow(resolved, group, a->in.release));
    a->overflows = a->set.count > count;
    if (!known)
        return give_up(a, UNDETERMINED_UNSUPPORTED);
    if (a->set.count == 0)
        return STEP_NO_CLUSTER;
    cluster_set_sort(&a->set);
    return STEP_DONE;
}

/*
 * Returns true if Karmada fills the group before its overflow: then the free capacity decides, even
 * if the overflow has no clusters.
 */
static bool fills_by_tiers(const struct attempt *a, uint32_t group)
{
    const struct placement *placement = a->in.s->resolved->placement;

    return placement->has_groups && placement->groups[group].overflow_count > 0 &&
           release_has(a->in.release, BEHAVIOUR_OVERFLOW_AFFINITIES);
}

static int compare_targets(const void *a, const void *b)
{
    return strcmp(((const struct target_cluster *)a)->name,
                  ((const struct target_cluster *)b)->name);
}

/* Adds the selected clusters without replicas (--enable-empty-workload-propagation). */
static void add_empty_targets(const struct cluster_set *selected, struct projection *out)
{
    uint32_t count = out->count;

    out->clusters =
        xreallocarray(out->clusters, out->count + selected->count + 1, sizeof(*out->clusters));
    for (uint32_t i = 0; i < selected->count; i++) {
        const char *name = selected->members[i].name;
        uint32_t at = 0;

        while (at < count && out->clusters[at].name != name)
            at++;
        if (at == count)
            out->clusters[out->count++] = (struct target_cluster){.name = intern_ref(name)};
    }
    if (out->count > 1)
        qsort(out->clusters, out->count, sizeof(*out->clusters), compare_targets);
}

static enum step_result assign_in_group(struct attempt *a, uint32_t group, struct projection *out)
{
    const struct scheduling *s = a->in.s;
    bool assigns = assigns_replicas(s->binding, a->in.release);

    if (assigns && s->binding->replicas > 0 && fills_by_tiers(a, group))
        return give_up(a, UNDETERMINED_OVERFLOW);
    assign_replicas(s->resolved->placement, s->binding, &a->set, a->in.release, out);
    if (!out->determined)
        return give_up(a, out->reason);
    if (s->keeps_empty)
        add_empty_targets(&a->set, out);
    return STEP_DONE;
}

static enum step_result try_group(const struct scheduling *s, enum release release, uint32_t group,
                                  struct projection *out)
{
    struct attempt a = {.in = {s, release}};
    enum step_result result = filter_group(&a, group);

    if (result == STEP_DONE)
        result = select_clusters(&a);
    if (result == STEP_DONE)
        result = assign_in_group(&a, group, out);
    if (result == STEP_UNDETERMINED)
        *out = (struct projection){.reason = a.reason};
    free(a.set.members);
    return result;
}

void scheduling_select(const struct scheduling *s, enum release release, uint32_t group,
                       struct group_selection *out)
{
    struct attempt a = {.in = {s, release}};
    enum step_result result = filter_group(&a, group);

    if (result == STEP_DONE)
        result = select_clusters(&a);
    if (result != STEP_DONE)
        a.set.count = 0;
    *out = (struct group_selection){.selected = a.set,
                                    .failed = result == STEP_FAILED,
                                    .known = result != STEP_UNDETERMINED,
                                    .reason = a.reason};
}

void group_selection_release(struct group_selection *selection)
{
    free(selection->selected.members);
    *selection = (struct group_selection){.selected = {.members = NULL}};
}

void scheduling_place(const struct scheduling *s, enum release release, struct schedule_result *out)
{
    enum step_result first = STEP_DONE;

    *out = (struct schedule_result){.runs = true};
    if (s->resolved->placement->unreadable) {
        out->targets.reason = UNDETERMINED_UNSUPPORTED;
        return;
    }
    for (uint32_t i = scheduling_first_group(s, release); i < s->resolved->group_count; i++) {
        enum step_result result = try_group(s, release, i, &out->targets);

        if (result == STEP_DONE) {
            out->scheduled = SCHEDULED_TRUE;
            out->group = i;
        }
        if (result == STEP_DONE || result == STEP_UNDETERMINED)
            return;
        first = first == STEP_DONE ? result : first;
    }
    /* The first failed attempt determines the condition, and whether the targets are removed. */
    out->targets.determined = true;
    out->scheduled = first == STEP_FAILED ? SCHEDULED_ERROR : SCHEDULED_NO_CLUSTER_FIT;
}

/* ---- triggers ---- */

static uint64_t group_hash(const struct affinity_group *group, enum release release)
{
    return release_has(release, BEHAVIOUR_OVERFLOW_AFFINITIES) ? group->hash_with_overflow
                                                               : group->hash;
}

/* Returns true if the parts are equal in which a difference always leads to a new scheduling. */
static bool has_equal_parts(const struct placement *a, const struct placement *b)
{
    for (unsigned i = 0; i < PLACEMENT_PART_COUNT; i++) {
        if (i != PLACEMENT_WORKLOAD_AFFINITY && a->hashes[i] != b->hashes[i])
            return false;
    }
    return true;
}

static bool has_equal_groups(const struct placement *a, const struct placement *b,
                             enum release release)
{
    if (a->has_groups != b->has_groups || (a->has_groups && a->group_count != b->group_count))
        return false;
    for (uint32_t i = 0; a->has_groups && i < a->group_count; i++) {
        if (group_hash(&a->groups[i], release) != group_hash(&b->groups[i], release))
            return false;
    }
    return true;
}

static const struct affinity_group *find_group(const struct placement *placement, const char *name)
{
    for (uint32_t i = 0; name && i < placement->group_count; i++) {
        if (placement->groups[i].name == name)
            return &placement->groups[i];
    }
    return NULL;
}

/*
 * Returns true if the placement differs from the applied one in a way that leads to a new
 * scheduling (Karmada: placementChanged): of the affinity groups, only the one in use counts.
 */
static bool has_placement_changed(const struct scheduling *s, enum release release)
{
    const struct placement *now = s->resolved->placement, *applied = s->applied;
    const struct affinity_group *group, *applied_group;
    bool same_workloads;

    if (!applied)
        return true;
    if (!has_equal_parts(now, applied))
        return true;
    same_workloads =
        !release_has(release, BEHAVIOUR_WORKLOAD_AFFINITY) ||
        now->hashes[PLACEMENT_WORKLOAD_AFFINITY] == applied->hashes[PLACEMENT_WORKLOAD_AFFINITY];
    if (same_workloads && has_equal_groups(now, applied, release))
        return false;
    group = find_group(now, binding_rare(s->binding)->observed_affinity);
    applied_group = find_group(applied, binding_rare(s->binding)->observed_affinity);
    return !group || !applied_group ||
           group_hash(group, release) != group_hash(applied_group, release);
}

/* Returns true if a component workload that lost its clusters is scheduled again. */
static bool reschedules_components(const struct scheduling *s, enum release release)
{
    const struct binding *b = s->binding;
    bool one = release_has(release, BEHAVIOUR_RESCHEDULES_ONE_COMPONENT);

    return release_has(release, BEHAVIOUR_RESCHEDULES_COMPONENTS) &&
           gate_is_on(s->gates, GATE_MULTIPLE_POD_TEMPLATES) &&
           b->component_count > (one ? 0U : 1U) && b->cluster_count == 0;
}

/* Returns true if the targets do not have the replicas of the binding (IsBindingReplicasChanged).
 */
static bool have_replicas_changed(const struct scheduling *s, enum release release)
{
    const struct placement *placement = s->resolved->placement;
    const struct binding *b = s->binding;
    int64_t sum = 0;

    if (placement->hashes[PLACEMENT_SCHEDULING] == 0)
        return false;
    if (reschedules_components(s, release))
        return true;
    if (placement->division == DIVISION_DUPLICATED || placement->division == DIVISION_UNKNOWN)
        return false; /* Duplicated workloads are always scheduled. */
    for (uint32_t i = 0; i < b->cluster_count; i++)
        sum += b->clusters[i].replicas;
    return sum != b->replicas;
}

static bool has_deleting_target(const struct scheduling *s)
{
    for (uint32_t i = 0; i < s->binding->cluster_count; i++) {
        const struct entry *cluster =
            placements_find_cluster(s->placements, s->binding->clusters[i].name);

        if (cluster && entry_cluster(cluster)->deleting)
            return true;
    }
    return false;
}

/* Returns true if the binding counts as a workload, of which replicas can be divided. */
static bool is_divisible(const struct binding *b, enum release release)
{
    return release_has(release, BEHAVIOUR_ZERO_REPLICAS_NOWHERE) ? binding_is_workload(b)
                                                                 : b->replicas != 0;
}

/* Returns true if the scheduler processes the binding (Karmada: doScheduleBinding). */
static bool is_triggered(const struct scheduling *s, enum release release)
{
    const struct placement *placement = s->resolved->placement;
    const struct binding *b = s->binding;

    return placement->unreadable || has_placement_changed(s, release) ||
           have_replicas_changed(s, release) || b->status.reschedule_requested ||
           !is_divisible(b, release) || placement->division == DIVISION_DUPLICATED ||
           (release_has(release, BEHAVIOUR_LEAVES_DELETING_CLUSTER) && has_deleting_target(s));
}

void scheduling_run(const struct scheduling *s, enum release release, struct schedule_result *out)
{
    *out = (struct schedule_result){0};
    if (is_triggered(s, release))
        scheduling_place(s, release, out);
}

/* ---- ranges of releases ---- */

bool scheduling_is_triggered(const struct scheduling *s)
{
    struct release_range range = placements_release(s->placements);

    return is_triggered(s, range.newest) || is_triggered(s, range.oldest);
}

/* Sets `out` to the targets after a result: the present ones if it changes nothing. */
static void list_targets_after(const struct scheduling *s, const struct schedule_result *r,
                               struct projection *out)
{
    const struct binding *b = s->binding;
    bool stays = !r->runs || (r->targets.determined && r->scheduled == SCHEDULED_ERROR);
    const struct target_cluster *from = stays ? b->clusters : r->targets.clusters;
    uint32_t count = stays ? b->cluster_count : r->targets.count;

    *out = (struct projection){.determined = stays || r->targets.determined,
                               .reason = r->targets.reason};
    out->clusters = xcalloc(count + 1, sizeof(*out->clusters));
    for (uint32_t i = 0; i < count; i++)
        out->clusters[out->count++] =
            (struct target_cluster){.name = intern_ref(from[i].name), .replicas = from[i].replicas};
    if (count > 1)
        qsort(out->clusters, count, sizeof(*out->clusters), compare_targets);
}

static bool has_failed(const struct schedule_result *r)
{
    return r->runs && r->targets.determined && r->scheduled >= SCHEDULED_NO_CLUSTER_FIT;
}

bool schedule_results_equal(const struct scheduling *s, const struct schedule_result *a,
                            const struct schedule_result *b)
{
    struct intern *strings = placements_strings(s->placements);
    struct projection x, y;
    bool equal = has_failed(a) == has_failed(b);

    list_targets_after(s, a, &x);
    list_targets_after(s, b, &y);
    equal = equal && projection_equal(&x, &y);
    projection_release(strings, &x);
    projection_release(strings, &y);
    return equal;
}

/* Appends the targets of a projection, such as "m1: 1 and m2: 1". */
static void add_targets(const struct projection *p, struct strbuf *out)
{
    enum { TARGETS_SHOWN = 5 };

    if (!p->determined)
        strbuf_addf(out, "undetermined (%s)", undetermined_reason_names[p->reason]);
    else if (p->count == 0)
        strbuf_adds(out, "no cluster");
    for (uint32_t i = 0; i < p->count && i < TARGETS_SHOWN; i++)
        strbuf_addf(out, "%s%s: %" PRId32, i ? " and " : "", p->clusters[i].name,
                    p->clusters[i].replicas);
    if (p->count > TARGETS_SHOWN)
        strbuf_addf(out, " and %" PRIu32 " more", p->count - TARGETS_SHOWN);
}

/*
 * Returns the undetermined projection of two releases with different targets; `first` is the oldest
 * release with the targets `newer`.
 */
static struct projection differing_releases(struct intern *strings, enum release first,
                                            const struct projection *older,
                                            const struct projection *newer)
{
    enum { TEXT_MAX_BYTES = 4096 };
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX_BYTES);

    strbuf_addf(&text, "until %s ", release_name((enum release)(first - 1)));
    add_targets(older, &text);
    strbuf_addf(&text, ", from %s ", release_name(first));
    add_targets(newer, &text);
    return (struct projection){.reason = UNDETERMINED_RELEASE,
                               .by_release = intern_add(strings, text.data)};
}

/* The same for two results of the scheduler. */
static struct projection differing_results(struct intern *strings, const struct scheduling *s,
                                           enum release first, const struct schedule_result *older,
                                           const struct schedule_result *newer)
{
    struct projection x, y, differing;

    list_targets_after(s, older, &x);
    list_targets_after(s, newer, &y);
    differing = differing_releases(strings, first, &x, &y);
    projection_release(strings, &x);
    projection_release(strings, &y);
    return differing;
}

static void run_in_release(const struct scheduling *s, bool runs, enum release release,
                           struct schedule_result *out)
{
    if (runs)
        scheduling_place(s, release, out);
    else
        scheduling_run(s, release, out);
}

void scheduling_run_in_range(const struct scheduling *s, bool runs, struct schedule_result *out)
{
    struct release_range range = placements_release(s->placements);
    struct intern *strings = placements_strings(s->placements);
    struct projection differing = {.determined = true};

    run_in_release(s, runs, range.newest, out);
    for (unsigned r = range.newest; r > range.oldest && differing.determined; r--) {
        struct schedule_result older;

        run_in_release(s, runs, (enum release)(r - 1), &older);
        if (!schedule_results_equal(s, out, &older))
            differing = differing_results(strings, s, (enum release)r, &older, out);
        schedule_result_release(strings, &older);
    }
    if (differing.determined)
        return;
    schedule_result_release(strings, out);
    *out = (struct schedule_result){.runs = true, .targets = differing};
}

void scheduling_assign_in_range(const struct scheduling *s, const struct cluster_set *selected,
                                struct projection *out)
{
    struct release_range range = placements_release(s->placements);
    struct intern *strings = placements_strings(s->placements);
    const struct placement *placement = s->resolved->placement;
    struct projection differing = {.determined = true};

    *out = (struct projection){.determined = true};
    if (placement->unreadable || has_workload_affinity(s, range.newest)) {
        *out = (struct projection){.reason = UNDETERMINED_UNSUPPORTED};
    } else if (placement->spread_count > 0 && placement->division != DIVISION_STATIC_WEIGHT) {
        *out = (struct projection){.reason = UNDETERMINED_SPREAD_CONSTRAINTS};
    } else if (selected->count > 0) {
        assign_replicas(placement, s->binding, selected, range.newest, out);
        for (unsigned r = range.newest; r > range.oldest && differing.determined; r--) {
            struct projection older = {0};

            assign_replicas(placement, s->binding, selected, (enum release)(r - 1), &older);
            if (!projection_equal(out, &older))
                differing = differing_releases(strings, (enum release)r, &older, out);
            projection_release(strings, &older);
        }
    }
    if (differing.determined)
        return;
    projection_release(strings, out);
    *out = differing;
}
