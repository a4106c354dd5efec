/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/scheduling/verdicts.h"

#include "metrics/rules/selector.h"

_Static_assert((int)CLUSTER_VERDICT_SPREAD_CONSTRAINT == (int)FILTER_COUNT,
               "the first verdicts are those of the filters");

const char *const cluster_verdict_names[CLUSTER_VERDICT_COUNT] = {
#define CLUSTER_VERDICT_NAME(id, name) [CLUSTER_VERDICT_##id] = (name),
    CLUSTER_FILTERS(CLUSTER_VERDICT_NAME) SELECTION_VERDICTS(CLUSTER_VERDICT_NAME)};

enum { TEXT_MAX_BYTES = 16 * 1024, NAMES_SHOWN = 5 };

static char *format(const char *fmt, ...) PRINTF_LIKE(1, 2);

static char *format(const char *fmt, ...)
{
    struct strbuf text = STRBUF_INIT(TEXT_MAX_BYTES);
    va_list args;

    va_start(args, fmt);
    strbuf_vaddf(&text, fmt, args);
    va_end(args);
    return strbuf_take(&text, NULL);
}

static void reason_release(struct verdict_reason *r)
{
    free(r->field);
    free(r->value);
    free(r->actual);
    *r = (struct verdict_reason){.kind = CLUSTER_VERDICT_COUNT};
}

void cluster_verdict_release(struct cluster_verdict *v)
{
    reason_release(&v->reason);
    for (uint32_t i = 0; i < v->other_count; i++)
        free(v->others[i].group);
    free(v->others);
    *v = (struct cluster_verdict){.next = CLUSTER_VERDICT_COUNT};
}

/* ---- base ---- */

/* Returns the affinity group in use; that of the result if the template is about to be placed. */
static uint32_t group_in_use(const struct verdict_base *base, bool bound)
{
    const struct schedule_result *r = &base->result;
    bool placed = r->runs && r->targets.determined && r->scheduled == SCHEDULED_TRUE;

    if (placed && (!bound || base->s.binding->cluster_count == 0))
        return r->group;
    return scheduling_first_group(&base->s, base->range.newest);
}

void verdict_base_make(const struct scheduling *s, bool bound, enum verdict_limit limit,
                       struct verdict_base *out)
{
    *out =
        (struct verdict_base){.s = *s, .range = placements_release(s->placements), .limit = limit};
    out->settled = bound && !scheduling_is_triggered(s);
    if (limit == VERDICT_LIMIT_NONE || limit == VERDICT_LIMIT_SUSPENDED)
        scheduling_run_in_range(s, true, &out->result);
    out->group = group_in_use(out, bound);
    if (limit != VERDICT_LIMIT_POLICY && out->group < s->resolved->group_count)
        scheduling_select(s, out->range.newest, out->group, &out->selected);
}

void verdict_base_release(struct verdict_base *base)
{
    schedule_result_release(placements_strings(base->s.placements), &base->result);
    group_selection_release(&base->selected);
}

/* ---- texts of the filters ---- */

/* Appends up to NAMES_SHOWN names, such as "m1, m2 and 3 more". */
static void add_names(const char *const *names, uint32_t count, struct strbuf *out)
{
    for (uint32_t i = 0; i < count && i < NAMES_SHOWN; i++)
        strbuf_addf(out, "%s%s", i > 0 ? ", " : "", names[i]);
    if (count > NAMES_SHOWN)
        strbuf_addf(out, " and %" PRIu32 " more", count - NAMES_SHOWN);
}

/* Returns the path of a field of an affinity group. */
static char *affinity_field(const struct placement *placement, uint32_t group, const char *field)
{
    return placement->has_groups ? format("clusterAffinities[%" PRIu32 "].%s", group, field)
                                 : format("clusterAffinity.%s", field);
}

/* Appends the cluster's value of the key of a requirement. */
static void add_actual_label(const struct cluster *cluster, const char *key, struct strbuf *out)
{
    const char *value = NULL;

    for (size_t i = 0; i < cluster->labels.count; i++) {
        if (strcmp(cluster->labels.items[i].key, key) == 0)
            value = cluster->labels.items[i].value;
    }
    if (value)
        strbuf_addf(out, "%s=%s", key, value);
    else
        strbuf_addf(out, "no label %s", key);
}

static void add_actual_field(const struct cluster *cluster, const char *key, struct strbuf *out)
{
    const char *value = strcmp(key, "provider") == 0 ? cluster->provider
                        : strcmp(key, "region") == 0 ? cluster->region
                                                     : NULL;

    if (strcmp(key, "zone") == 0 && cluster->zone_count > 0) {
        strbuf_adds(out, "zone=");
        add_names(cluster->zones, cluster->zone_count, out);
    } else if (value) {
        strbuf_addf(out, "%s=%s", key, value);
    } else {
        strbuf_addf(out, "no %s", key);
    }
}

static void set_requirement(const struct affinity_mismatch *m, const struct cluster *cluster,
                            struct verdict_reason *out)
{
    struct strbuf value = STRBUF_INIT(TEXT_MAX_BYTES), actual = STRBUF_INIT(TEXT_MAX_BYTES);

    if (!m->requirement) {
        strbuf_adds(&value, "invalid");
    } else {
        label_requirement_add_text(m->requirement, &value);
        if (m->condition == AFFINITY_LABELS)
            add_actual_label(cluster, m->requirement->key, &actual);
        else
            add_actual_field(cluster, m->requirement->key, &actual);
    }
    out->value = strbuf_take(&value, NULL);
    out->actual = strbuf_take(&actual, NULL);
}

/* Sets the condition of an affinity group that the cluster does not meet. */
static void set_affinity(const struct verdict_base *base, uint32_t group,
                         const struct entry *cluster, struct verdict_reason *out)
{
    static const char *const fields[AFFINITY_CONDITION_COUNT] = {
        [AFFINITY_EXCLUDE] = "exclude",
        [AFFINITY_LABELS] = "labelSelector",
        [AFFINITY_FIELDS] = "fieldSelector",
        [AFFINITY_NAMES] = "clusterNames",
    };
    const struct placement *placement = base->s.resolved->placement;
    const struct cluster_affinity *affinity;
    struct affinity_mismatch m;

    if (group >= placement->group_count)
        return;
    affinity = &placement->groups[group].affinity;
    if (!affinity_find_mismatch(affinity, cluster->name, entry_cluster(cluster), base->range.newest,
                                &m))
        return;
    out->field = affinity_field(placement, group, fields[m.condition]);
    if (m.condition == AFFINITY_EXCLUDE) {
        out->value = format("%s", cluster->name);
    } else if (m.condition == AFFINITY_NAMES) {
        struct strbuf names = STRBUF_INIT(TEXT_MAX_BYTES);

        add_names(affinity->names, affinity->name_count, &names);
        out->value = strbuf_take(&names, NULL);
    } else {
        set_requirement(&m, entry_cluster(cluster), out);
    }
}

static void set_eviction(const struct verdict_base *base, const struct entry *cluster,
                         struct verdict_reason *out)
{
    const struct status_problem *problem = base->s.binding->status.problem;

    out->field = format("gracefulEvictionTasks");
    for (uint32_t i = 0; problem && i < problem->eviction_count; i++) {
        const struct eviction *e = &problem->evictions[i];

        if (strcmp(e->cluster, cluster->name) != 0)
            continue;
        out->value =
            format("%s%s%s", e->producer, *e->producer && *e->reason ? " " : "", e->reason);
        return;
    }
}

static void set_spread_property(const struct verdict_base *base, const struct cluster *cluster,
                                struct verdict_reason *out)
{
    const struct placement *placement = base->s.resolved->placement;

    for (uint32_t i = 0; i < placement->spread_count; i++) {
        enum spread_field field = placement->spread[i].field;
        const char *name = field == SPREAD_PROVIDER && !cluster->provider     ? "provider"
                           : field == SPREAD_REGION && !cluster->region       ? "region"
                           : field == SPREAD_ZONE && cluster->zone_count == 0 ? "zone"
                                                                              : NULL;

        if (!name)
            continue;
        out->field = format("spreadConstraints[%" PRIu32 "].spreadByField", i);
        out->value = format("%s", name);
        out->actual = format("no %s", name);
        return;
    }
}

/* Sets the field and the value for which a filter excludes a cluster from a group. */
static void set_filter_texts(const struct verdict_base *base, uint32_t group,
                             const struct entry *cluster, struct verdict_reason *out)
{
    const struct binding *b = base->s.binding;
    const struct taint *taint;

    switch ((enum cluster_filter)out->kind) {
    case FILTER_CLUSTER_DELETING:
        out->field = format("metadata.deletionTimestamp");
        break;
    case FILTER_AFFINITY:
        set_affinity(base, group, cluster, out);
        break;
    case FILTER_API_NOT_SERVED:
        out->field = format("status.apiEnablements");
        out->value = format("%s %s", b->scope->api_version, b->scope->kind);
        break;
    case FILTER_TAINT:
        taint = placement_find_taint(base->s.resolved->placement, entry_cluster(cluster));
        out->field = format("spec.taints");
        if (taint)
            out->value = format("%s%s%s:%s", taint->key, *taint->value ? "=" : "", taint->value,
                                taint->effect);
        break;
    case FILTER_EVICTING:
        set_eviction(base, cluster, out);
        break;
    case FILTER_SPREAD_PROPERTY:
        set_spread_property(base, entry_cluster(cluster), out);
        break;
    case FILTER_WORKLOAD_AFFINITY:
        out->field = format("workloadAffinityGroups");
        out->value = format(
            "%s%s%s", binding_rare(b)->affinity_group ? binding_rare(b)->affinity_group : "",
            binding_rare(b)->affinity_group && binding_rare(b)->anti_affinity_group ? ", " : "",
            binding_rare(b)->anti_affinity_group ? binding_rare(b)->anti_affinity_group : "");
        break;
    case FILTER_COUNT:
        break;
    }
}

/* ---- filters ---- */

/*
 * Returns the verdict of the filters of a group; CLUSTER_VERDICT_COUNT if the cluster passes,
 * CLUSTER_VERDICT_UNDETERMINED if the releases that Karmada may have differ.
 */
static enum cluster_verdict_kind filter_in_range(const struct verdict_base *base, uint32_t group,
                                                 const struct entry *cluster)
{
    enum cluster_filter filter = scheduling_filter(&base->s, base->range.newest, group, cluster);

    for (unsigned r = base->range.oldest; r < base->range.newest; r++) {
        if (scheduling_filter(&base->s, (enum release)r, group, cluster) != filter)
            return CLUSTER_VERDICT_UNDETERMINED;
    }
    return filter == FILTER_COUNT ? CLUSTER_VERDICT_COUNT : (enum cluster_verdict_kind)filter;
}

/* Sets the verdict of the filters of a group, with its texts. */
static void set_group_reason(const struct verdict_base *base, uint32_t group,
                             const struct entry *cluster, bool texts, struct verdict_reason *out)
{
    out->kind = filter_in_range(base, group, cluster);
    if (out->kind == CLUSTER_VERDICT_WORKLOAD_AFFINITY && !base->s.neighbours) {
        /* The groups of a binding that does not exist yet are unknown. */
        out->kind = CLUSTER_VERDICT_UNDETERMINED;
        out->value = texts ? format("workload_affinity") : NULL;
    } else if (texts && out->kind == CLUSTER_VERDICT_UNDETERMINED) {
        out->value = format("%s", undetermined_reason_names[UNDETERMINED_RELEASE]);
    } else if (texts)
        set_filter_texts(base, group, cluster, out);
}

/* ---- selection ---- */

static const struct target_cluster *find_target(const struct target_cluster *targets,
                                                uint32_t count, const char *cluster)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(targets[i].name, cluster) == 0)
            return &targets[i];
    }
    return NULL;
}

static const struct member *find_selected(const struct verdict_base *base,
                                          const struct entry *cluster)
{
    const struct cluster_set *set = &base->selected.selected;

    for (uint32_t i = 0; i < set->count; i++) {
        if (set->members[i].cluster == cluster)
            return &set->members[i];
    }
    return NULL;
}

/* Returns true if static weights divide the replicas, and the cluster has the weight 0. */
static bool has_no_weight(const struct verdict_base *base, const struct member *m)
{
    const struct cluster_set *set = &base->selected.selected;
    bool weighted = false;

    if (base->s.resolved->placement->division != DIVISION_STATIC_WEIGHT || m->weight > 0 ||
        !assigns_replicas(base->s.binding, base->range.newest))
        return false;
    for (uint32_t i = 0; i < set->count; i++)
        weighted |= set->members[i].weight > 0;
    return weighted;
}

static void set_undetermined(const struct verdict_base *base, enum undetermined_reason reason,
                             bool texts, struct verdict_reason *out)
{
    const char *limit = base->limit == VERDICT_LIMIT_OTHER_SCHEDULER ? "other_scheduler"
                        : base->limit == VERDICT_LIMIT_SUSPENDED     ? "suspended"
                        : base->limit == VERDICT_LIMIT_REPLICAS      ? "replicas"
                                                                     : NULL;

    out->kind = CLUSTER_VERDICT_UNDETERMINED;
    if (texts)
        out->value = format("%s", limit ? limit : undetermined_reason_names[reason]);
}

/* Sets the spread constraint that decides: the first one by a property, else the first one. */
static void set_spread_constraint(const struct verdict_base *base, bool texts,
                                  struct verdict_reason *out)
{
    static const char *const names[SPREAD_FIELD_COUNT] = {
        [SPREAD_CLUSTER] = "cluster",   [SPREAD_REGION] = "region", [SPREAD_ZONE] = "zone",
        [SPREAD_PROVIDER] = "provider", [SPREAD_OTHER] = "label",
    };
    const struct placement *placement = base->s.resolved->placement;
    const struct spread_constraint *constraint;
    uint32_t at = 0;

    out->kind = CLUSTER_VERDICT_SPREAD_CONSTRAINT;
    if (!texts || placement->spread_count == 0)
        return;
    if (base->selected.failed)
        out->actual = format("too few clusters");
    while (at + 1 < placement->spread_count && placement->spread[at].field == SPREAD_CLUSTER)
        at++;
    constraint = &placement->spread[at];
    out->field = format("spreadConstraints[%" PRIu32 "]", at);
    if (constraint->most > 0)
        out->value = format("%s, %" PRId64 " to %" PRId64, names[constraint->field],
                            constraint->least, constraint->most);
    else
        out->value = format("%s, at least %" PRId64, names[constraint->field], constraint->least);
}

static void set_exhausted(const struct verdict_base *base, bool texts, struct verdict_reason *out)
{
    out->kind = CLUSTER_VERDICT_REPLICAS_EXHAUSTED;
    if (!texts)
        return;
    out->field = format("replicas");
    out->value = format("%" PRId32, base->s.binding->replicas);
}

/*
 * Sets the verdict of the selection about a cluster that passes the filters and is no target.
 * CLUSTER_VERDICT_TARGET if the scheduler would place the workload there.
 */
static void set_selection(const struct verdict_base *base, const struct entry *cluster, bool texts,
                          struct verdict_reason *out)
{
    const struct schedule_result *r = &base->result;
    const struct member *m = find_selected(base, cluster);

    if (base->limit == VERDICT_LIMIT_POLICY) {
        out->kind = CLUSTER_VERDICT_COUNT;
        return;
    }
    if (base->selected.failed || (base->selected.known && !m && !base->limit)) {
        set_spread_constraint(base, texts, out);
    } else if (m && has_no_weight(base, m)) {
        out->kind = CLUSTER_VERDICT_WEIGHT_ZERO;
        if (texts)
            out->field = format("weightPreference.staticWeightList");
    } else if (base->limit) {
        set_undetermined(base, UNDETERMINED_UNSUPPORTED, texts, out);
    } else if (!r->targets.determined) {
        set_undetermined(base, r->targets.reason, texts, out);
    } else if (find_target(r->targets.clusters, r->targets.count, cluster->name)) {
        out->kind = CLUSTER_VERDICT_TARGET;
    } else {
        set_exhausted(base, texts, out);
    }
}

/* ---- verdicts ---- */

/* Returns another group than that in use which allows the cluster; the group in use without one. */
static uint32_t find_allowing_group(const struct verdict_base *base, const struct entry *cluster)
{
    const struct placement *placement = base->s.resolved->placement;

    for (uint32_t i = 0; i < placement->group_count; i++) {
        if (i != base->group &&
            affinity_matches_cluster(&placement->groups[i].affinity, cluster->name,
                                     entry_cluster(cluster), base->range.newest))
            return i;
    }
    return base->group;
}

/* Returns true if the workload has, or is about to have, targets in the group in use. */
static bool is_placed(const struct verdict_base *base)
{
    return base->s.binding->cluster_count > 0 || base->result.targets.count > 0;
}

/* If another group allows the cluster, that group is the reason: the scheduler does not use it. */
static void name_other_group(const struct verdict_base *base, const struct entry *cluster,
                             struct verdict_reason *out)
{
    const struct placement *placement = base->s.resolved->placement;
    uint32_t group = find_allowing_group(base, cluster);

    if (group == base->group || !is_placed(base))
        return;
    reason_release(out);
    out->kind = CLUSTER_VERDICT_AFFINITY;
    out->field = format("clusterAffinities[%" PRIu32 "]", group);
    out->value = format("%s", placement->groups[group].name ? placement->groups[group].name : "");
}

static void set_other_groups(const struct verdict_base *base, const struct entry *cluster,
                             struct cluster_verdict *out)
{
    const struct placement *placement = base->s.resolved->placement;

    if (!placement->has_groups || placement->group_count < 2)
        return;
    out->others = xcalloc(placement->group_count, sizeof(*out->others));
    for (uint32_t i = 0; i < placement->group_count; i++) {
        struct group_verdict *other = &out->others[out->other_count];

        if (i == base->group)
            continue;
        other->group = format("%s", placement->groups[i].name ? placement->groups[i].name : "");
        other->kind = filter_in_range(base, i, cluster);
        out->other_count++;
    }
}

/*
 * Sets whether the next scheduling would remove the target. Without a known result, the filters
 * decide; after an error, the scheduler keeps the targets.
 */
static void judge_target(const struct verdict_base *base, const struct entry *cluster, bool texts,
                         struct cluster_verdict *out)
{
    const struct schedule_result *r = &base->result;
    bool known = r->runs && r->targets.determined;

    if (base->limit == VERDICT_LIMIT_OTHER_SCHEDULER || (known && r->scheduled == SCHEDULED_ERROR))
        return;
    if (known && find_target(r->targets.clusters, r->targets.count, cluster->name))
        return;
    set_group_reason(base, base->group, cluster, texts, &out->reason);
    if (known && out->reason.kind == CLUSTER_VERDICT_COUNT && r->group == base->group)
        set_selection(base, cluster, texts, &out->reason);
    out->next = out->reason.kind;
}

/*
 * Returns true if the scheduler has assigned all replicas to other selected clusters, and does not
 * process the binding now.
 */
static bool is_left_out(const struct verdict_base *base, const struct entry *cluster,
                        enum cluster_verdict_kind kind)
{
    return base->settled && !base->limit &&
           (kind == CLUSTER_VERDICT_TARGET ||
            (kind == CLUSTER_VERDICT_UNDETERMINED && find_selected(base, cluster)));
}

static void judge_passing(const struct verdict_base *base, const struct entry *cluster, bool texts,
                          struct cluster_verdict *out)
{
    set_selection(base, cluster, texts, &out->reason);
    if (is_left_out(base, cluster, out->reason.kind)) {
        bool joins = out->reason.kind == CLUSTER_VERDICT_TARGET;

        reason_release(&out->reason);
        set_exhausted(base, texts, &out->reason);
        if (joins)
            out->next = CLUSTER_VERDICT_TARGET;
    }
    if (out->reason.kind == CLUSTER_VERDICT_TARGET) {
        const struct target_cluster *target =
            find_target(base->result.targets.clusters, base->result.targets.count, cluster->name);

        out->predicted = true;
        out->replicas = target ? target->replicas : 0;
    }
}

void verdict_make(const struct verdict_base *base, const struct entry *cluster, bool texts,
                  struct cluster_verdict *out)
{
    const struct binding *b = base->s.binding;
    const struct target_cluster *target = find_target(b->clusters, b->cluster_count, cluster->name);

    *out = (struct cluster_verdict){
        .cluster = cluster, .next = CLUSTER_VERDICT_COUNT, .reason.kind = CLUSTER_VERDICT_COUNT};
    if (target) {
        judge_target(base, cluster, texts, out);
        out->kind = CLUSTER_VERDICT_TARGET;
        out->replicas = target->replicas;
    } else if (base->limit == VERDICT_LIMIT_OTHER_SCHEDULER) {
        set_undetermined(base, UNDETERMINED_UNSUPPORTED, texts, &out->reason);
        out->kind = out->reason.kind;
    } else {
        set_group_reason(base, base->group, cluster, texts, &out->reason);
        if (out->reason.kind == CLUSTER_VERDICT_AFFINITY && texts)
            name_other_group(base, cluster, &out->reason);
        if (out->reason.kind == CLUSTER_VERDICT_COUNT)
            judge_passing(base, cluster, texts, out);
        out->kind = out->reason.kind;
    }
    if (texts)
        set_other_groups(base, cluster, out);
}
