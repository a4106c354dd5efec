/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/cluster_loss.h"

#include "metrics/base/json.h"
#include "metrics/model/cluster.h"
#include "metrics/model/store.h"
#include "metrics/rules/placement_match.h"
#include "metrics/simulate/cluster_change.h"
#include "metrics/simulate/dependencies_distributor.h"
#include "metrics/simulate/scheduler.h"

enum { AFFINITY_TEXT_MAX = 1 << 20 };

#define LOSS_REASON_NAME(id, name, text) name,
#define LOSS_REASON_TEXT(id, name, text) text,
const char *const loss_reason_names[LOSS_REASON_COUNT] = {LOSS_REASONS(LOSS_REASON_NAME)};
const char *const loss_reason_texts[LOSS_REASON_COUNT] = {LOSS_REASONS(LOSS_REASON_TEXT)};

#define LOSS_FATE_NAME(id, name) name,
const char *const loss_fate_names[LOSS_FATE_COUNT] = {LOSS_FATES(LOSS_FATE_NAME)};

bool cluster_is_lost(const struct entry_list *lost, const char *name)
{
    for (size_t i = 0; i < lost->count; i++) {
        if (strcmp(lost->items[i]->name, name) == 0)
            return true;
    }
    return false;
}

static const char evicting[] = "NoExecute";

/* Key of the taints that Karmada's cluster controller adds to a lost cluster. */
static const char *taint_key(const struct cluster *c)
{
    return c->pulls ? "cluster.karmada.io/unreachable" : "cluster.karmada.io/not-ready";
}

/* ---- taints of a lost cluster ---- */

/* Adds a taint to an array with room, unless it has one of this key and effect. */
static void add_taint(struct overlay *overlay, struct cluster *c, const struct taint *taint)
{
    for (uint32_t i = 0; i < c->taint_count; i++) {
        if (strcmp(c->taints[i].key, taint->key) == 0 &&
            strcmp(c->taints[i].effect, taint->effect) == 0)
            return;
    }
    c->taints[c->taint_count++] =
        (struct taint){overlay_intern(overlay, taint->key), overlay_intern(overlay, taint->value),
                       overlay_intern(overlay, taint->effect)};
}

static void remove_taint(struct cluster *c, const struct taint *taint)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < c->taint_count; i++) {
        if (strcmp(c->taints[i].key, taint->key) != 0 ||
            strcmp(c->taints[i].effect, taint->effect) != 0)
            c->taints[count++] = c->taints[i];
    }
    c->taint_count = count;
}

/* Returns a copy of a Cluster with room for `more` taints. */
static struct cluster *copy_with_room(struct overlay *overlay, const struct cluster *c, size_t more)
{
    struct cluster *copy = cluster_change_copy(overlay, c);
    struct taint *taints = xcalloc(c->taint_count + more + 1, sizeof(*taints));

    if (c->taint_count > 0)
        memcpy(taints, c->taints, c->taint_count * sizeof(*taints));
    copy->taints = overlay_own_memory(overlay, taints);
    return copy;
}

/* ---- ClusterTaintPolicies ---- */

/*
 * Returns the status of a condition of a lost cluster; NULL if unknown. Of the conditions, the
 * exporter reads only these.
 */
static const char *condition_status(const struct cluster *c, const char *type)
{
    if (strcmp(type, "Ready") == 0)
        return c->pulls ? "Unknown" : "False";
    return strcmp(type, "CompleteAPIEnablements") == 0 && c->apis_complete ? "True" : NULL;
}

/* Returns true if all conditions hold; false without any (Karmada: conditionMatches). */
static bool conditions_hold(const cJSON *conditions, const struct cluster *c)
{
    const cJSON *item;
    bool any = false;

    cJSON_ArrayForEach (item, conditions) {
        const char *status = condition_status(c, json_str(item, "conditionType", ""));
        const char *operator= json_str(item, "operator", "");
        bool listed = status && json_array_has_text(json_array(item, "statusValues"), status);

        if (!status || (strcmp(operator, "In") != 0 && strcmp(operator, "NotIn") != 0) ||
            listed != (strcmp(operator, "In") == 0))
            return false;
        any = true;
    }
    return any;
}

/* Returns true if the ClusterTaintPolicy applies to the cluster, which all match without targets.
 */
static bool selects_cluster(struct overlay *overlay, const cJSON *spec, const struct entry *cluster)
{
    const cJSON *targets = json_get(spec, "targetClusters");
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(AFFINITY_TEXT_MAX);
    const struct placement *placement;
    char *affinity;

    if (!cJSON_IsObject(targets))
        return true;
    affinity = cJSON_PrintUnformatted(targets);
    if (!affinity)
        memory_exhausted(0);
    strbuf_addf(&text, "{\"clusterAffinity\":%s}", affinity);
    free(affinity);
    placement = overlay_resolve_placement(overlay, overlay_intern(overlay, text.data))->placement;
    return !placement->unreadable && placement->group_count > 0 &&
           affinity_matches_cluster(&placement->groups->affinity, cluster->name,
                                    entry_cluster(cluster),
                                    overlay_context(overlay)->release.newest);
}

static struct taint read_taint(const cJSON *json)
{
    return (struct taint){json_str(json, "key", ""), json_str(json, "value", ""),
                          json_str(json, "effect", "")};
}

/* Returns a copy of a lost Cluster with the taints that a ClusterTaintPolicy adds and removes. */
static struct cluster *apply_taint_policy(struct overlay *overlay, const cJSON *spec,
                                          const struct cluster *c)
{
    const cJSON *taints = json_array(spec, "taints");
    struct cluster *copy = copy_with_room(overlay, c, (size_t)cJSON_GetArraySize(taints));
    bool adds = conditions_hold(json_array(spec, "addOnConditions"), c);
    bool removes = conditions_hold(json_array(spec, "removeOnConditions"), c);
    const cJSON *item;

    cJSON_ArrayForEach (item, taints) {
        const struct taint taint = read_taint(item);

        if (adds)
            add_taint(overlay, copy, &taint);
        if (removes)
            remove_taint(copy, &taint);
    }
    return copy;
}

/* Returns the lost Cluster, or a copy, with the taints of the ClusterTaintPolicies. */
static struct cluster *apply_taint_policies(struct overlay *overlay, const struct entry *entry,
                                            struct cluster *c)
{
    CLEANUP(listing_release)
    struct listing all = listing_make(overlay_context(overlay)->store, CLASS_OTHER);
    bool any = false;

    for (size_t i = 0; i < all.count; i++) {
        const struct other *o = entry_object(all.entries[i]);
        struct error ignored;
        CLEANUP(json_cleanup) cJSON *spec = NULL;

        if (!o->taint_policy)
            continue;
        any = true;
        spec = json_parse(o->taint_policy, strlen(o->taint_policy), NULL, &ignored);
        if (spec && selects_cluster(overlay, spec, entry))
            c = apply_taint_policy(overlay, spec, c);
    }
    if (!any)
        overlay_assume(overlay, ASSUMED_NO_TAINT_POLICY);
    return c;
}

/* ---- does Karmada evict? ---- */

static bool has_evicting_taint(const struct cluster *c)
{
    for (uint32_t i = 0; i < c->taint_count; i++) {
        if (strcmp(c->taints[i].effect, evicting) == 0)
            return true;
    }
    return false;
}

/* Returns true if the taint manager of a release evicts templates from a cluster. */
static bool evicts_in(const struct overlay *overlay, enum release release, bool tainted)
{
    bool gate = overlay_gate_is_on(overlay, GATE_FAILOVER);

    if (!release_has(release, BEHAVIOUR_TAINTS_BY_POLICY) && gate)
        tainted = true;
    return tainted && (gate || !release_has(release, BEHAVIOUR_EVICTS_WITH_GATE));
}

/* Returns whether the releases that Karmada may have evict templates from a lost cluster. */
static enum release_answer evicts(const struct overlay *overlay, const struct cluster *c)
{
    struct release_range range = overlay_context(overlay)->release;
    bool tainted = has_evicting_taint(c);
    bool newest = evicts_in(overlay, range.newest, tainted);

    if (evicts_in(overlay, range.oldest, tainted) != newest)
        return RELEASE_ANSWER_DIFFERS;
    return newest ? RELEASE_ANSWER_YES : RELEASE_ANSWER_NO;
}

/* ---- evictions ---- */

/* Returns the status problem of `b` with a graceful eviction task more, owned by the overlay. */
static struct status_problem *add_task(struct overlay *overlay, const struct binding *b,
                                       const char *cluster)
{
    struct status_problem *problem = xcalloc(1, sizeof(*problem));
    struct eviction *tasks;

    if (b->status.problem)
        *problem = *b->status.problem;
    tasks = xcalloc(problem->eviction_count + (size_t)1, sizeof(*tasks));
    if (problem->eviction_count > 0)
        memcpy(tasks, problem->evictions, problem->eviction_count * sizeof(*tasks));
    tasks[problem->eviction_count++] =
        (struct eviction){.cluster = overlay_intern(overlay, cluster),
                          .reason = overlay_intern(overlay, "TaintUntolerated"),
                          .producer = overlay_intern(overlay, "TaintManager"),
                          .purge_mode = PURGE_GRACEFULLY};
    problem->evictions = overlay_own_memory(overlay, tasks);
    return overlay_own_memory(overlay, problem);
}

/* Removes a cluster from the targets of a binding (Karmada: GracefulEvictCluster). */
static void remove_target(struct overlay *overlay, const char *cluster, struct binding *b)
{
    struct target_cluster *targets = xcalloc(b->cluster_count + (size_t)1, sizeof(*targets));
    uint32_t count = 0;

    for (uint32_t i = 0; i < b->cluster_count; i++) {
        if (strcmp(b->clusters[i].name, cluster) != 0)
            targets[count++] = b->clusters[i];
    }
    b->clusters = overlay_own_memory(overlay, targets);
    b->cluster_count = count;
    b->status.required_count = 0; /* distributor_update_targets() adds them again. */
}

/* Writes a binding after the scheduler has processed it, and updates its dependencies. */
static void write_binding(struct overlay *overlay, struct entry *entry, struct binding *fresh)
{
    const struct binding *old = entry_binding(entry);

    scheduler_schedule_binding(overlay, old, fresh);
    distributor_update_targets(overlay, old, fresh);
    overlay_replace(overlay, entry, fresh);
    overlay_evaluate(overlay);
    distributor_sync(overlay, entry, false);
}

static void evict_binding(struct overlay *overlay, struct entry *entry, const char *cluster)
{
    struct binding *fresh = overlay_copy_binding(overlay, entry_binding(entry));

    remove_target(overlay, cluster, fresh);
    fresh->status.problem = add_task(overlay, fresh, cluster);
    write_binding(overlay, entry, fresh);
}

/* Marks the targets of a binding as dependent on the release. */
static void set_undetermined(struct overlay *overlay, struct entry *entry)
{
    struct binding *fresh = overlay_copy_binding(overlay, entry_binding(entry));

    binding_set_undetermined(fresh, UNDETERMINED_RELEASE);
    overlay_replace(overlay, entry, fresh);
    overlay_evaluate(overlay);
    distributor_sync(overlay, entry, false);
}

/* Returns a copy of the NoExecute taints of a Cluster in a struct that has nothing else. */
static struct cluster *list_evicting_taints(struct overlay *overlay, const struct cluster *c)
{
    const struct cluster none = {.taint_count = 0};
    struct cluster *out = copy_with_room(overlay, &none, c->taint_count + (size_t)1);

    for (uint32_t i = 0; i < c->taint_count; i++) {
        if (strcmp(c->taints[i].effect, evicting) == 0)
            out->taints[out->taint_count++] = c->taints[i];
    }
    if (out->taint_count == 0)
        add_taint(overlay, out, &(struct taint){taint_key(c), "", evicting});
    return out;
}

/* Evicts templates from a lost cluster; adds the bindings to `evicted`. */
static void evict_from(struct overlay *overlay, const struct entry *cluster,
                       struct entry_list *evicted)
{
    const struct cluster *c = entry_cluster(cluster);
    enum release_answer answer = evicts(overlay, c);
    const struct cluster *taints = list_evicting_taints(overlay, c);

    if (answer == RELEASE_ANSWER_NO)
        return;
    CLEANUP(listing_release)
    struct listing all = listing_make(overlay_context(overlay)->store, CLASS_BINDING);

    for (size_t i = 0; i < all.count && !overlay_limit_reached(overlay); i++) {
        struct entry *entry = (struct entry *)(uintptr_t)all.entries[i];

        if (!entry_binding(entry) ||
            !cluster_change_evicts(overlay, entry_binding(entry), cluster->name, taints))
            continue;
        if (answer == RELEASE_ANSWER_DIFFERS) {
            set_undetermined(overlay, entry);
            continue;
        }
        overlay_assume(overlay, ASSUMED_EVICTION_ON);
        evict_binding(overlay, entry, cluster->name);
        entry_list_add(evicted, entry);
    }
}

/* ---- end of the eviction tasks ---- */

/*
 * Removes the tasks of lost clusters, which end by their timeout at the latest, unless a person
 * must end them. The scheduler then processes the binding again.
 */
static void end_tasks(struct overlay *overlay, struct entry *entry, const struct entry_list *lost)
{
    struct binding *fresh = overlay_copy_binding(overlay, entry_binding(entry));
    struct status_problem *problem = xmalloc(sizeof(*problem));
    struct eviction *tasks;
    uint32_t count = 0;

    *problem = *fresh->status.problem;
    tasks = xcalloc(problem->eviction_count + (size_t)1, sizeof(*tasks));
    for (uint32_t i = 0; i < problem->eviction_count; i++) {
        const struct eviction *task = &problem->evictions[i];

        if (task->suppresses || !cluster_is_lost(lost, task->cluster))
            tasks[count++] = *task;
    }
    problem->evictions = overlay_own_memory(overlay, tasks);
    problem->eviction_count = count;
    fresh->status.problem = overlay_own_memory(overlay, problem);
    write_binding(overlay, entry, fresh);
}

static bool names_lost_cluster(const struct binding *b, const struct entry_list *lost)
{
    for (uint32_t i = 0; i < b->cluster_count; i++) {
        if (cluster_is_lost(lost, b->clusters[i].name))
            return true;
    }
    return false;
}

/* ---- simulation ---- */

/* Makes the clusters not Ready, with the taint for the scheduler, all at the same time. */
static void taint_for_scheduler(struct overlay *overlay, const struct entry_list *lost)
{
    for (size_t i = 0; i < lost->count; i++) {
        struct cluster *fresh = copy_with_room(overlay, entry_cluster(lost->items[i]), 1);

        fresh->ready = false;
        add_taint(overlay, fresh, &(struct taint){taint_key(fresh), "", "NoSchedule"});
        overlay_replace(overlay, lost->items[i], fresh);
    }
    overlay_evaluate(overlay);
}

/* Adds the taints that follow later, and simulates the scheduler. */
static void taint_for_eviction(struct overlay *overlay, struct entry *entry)
{
    struct release_range range = overlay_context(overlay)->release;
    bool gate = overlay_gate_is_on(overlay, GATE_FAILOVER);
    struct cluster *fresh = copy_with_room(overlay, entry_cluster(entry), 1);

    if (gate && !release_has(range.newest, BEHAVIOUR_TAINTS_BY_POLICY))
        add_taint(overlay, fresh, &(struct taint){taint_key(fresh), "", evicting});
    else if (gate)
        fresh = apply_taint_policies(overlay, entry, fresh);
    cluster_change_replace(overlay, entry, fresh);
}

void cluster_loss_apply(struct overlay *overlay, const struct entry_list *lost)
{
    CLEANUP(entry_list_release) struct entry_list evicted = {0};

    taint_for_scheduler(overlay, lost);
    for (size_t i = 0; i < lost->count; i++)
        taint_for_eviction(overlay, lost->items[i]);
    for (size_t i = 0; i < lost->count; i++)
        evict_from(overlay, lost->items[i], &evicted);
    for (size_t i = 0; i < evicted.count && !overlay_limit_reached(overlay); i++) {
        end_tasks(overlay, evicted.items[i], lost);
        if (names_lost_cluster(entry_binding(evicted.items[i]), lost) &&
            binding_decision(evicted.items[i]) &&
            binding_decision_template(binding_decision(evicted.items[i])))
            overlay_note_unsettled(overlay,
                                   binding_decision_template(binding_decision(evicted.items[i])));
    }
    overlay_evaluate(overlay);
}

/* Returns the reason why a binding has the lost cluster as a target after the loss. */
static enum loss_reason find_reason(struct overlay *overlay, const struct entry *cluster,
                                    const struct binding *b)
{
    const struct cluster *c = entry_cluster(cluster);
    bool own = targets_find(b->clusters, b->cluster_count, cluster->name) != NULL;

    if (!own)
        return LOSS_REASON_REQUIRED;
    if (evicts(overlay, c) == RELEASE_ANSWER_NO)
        return overlay_gate_is_on(overlay, GATE_FAILOVER) ? LOSS_REASON_NO_TAINT
                                                          : LOSS_REASON_FAILOVER_OFF;
    return cluster_change_evicts(overlay, b, cluster->name, list_evicting_taints(overlay, c))
               ? LOSS_REASON_SCHEDULED_AGAIN
               : LOSS_REASON_TOLERATED;
}

/* ---- copies in lost clusters ---- */

/* Returns true if a copy in the cluster survives: the cluster is not lost, and Ready if known. */
static bool cluster_survives(struct overlay *overlay, const struct entry_list *lost,
                             const char *name)
{
    const struct entry *cluster =
        placements_find_cluster(overlay_context(overlay)->placements, name);

    return !cluster_is_lost(lost, name) && (!cluster || entry_cluster(cluster)->ready);
}

struct lost_copies cluster_loss_count(struct overlay *overlay, const struct entry_list *lost,
                                      const struct outcome *o)
{
    struct lost_copies copies = {.last_copy = true};

    for (uint32_t i = 0; i < o->cluster_count; i++) {
        const struct target_cluster *target = &o->clusters[i];

        if (!target_has_copy(target))
            continue;
        if (cluster_survives(overlay, lost, target->name))
            copies.last_copy = false;
        if (!cluster_is_lost(lost, target->name))
            continue;
        copies.clusters++;
        copies.replicas += target->replicas;
    }
    return copies;
}

/* Returns true if a cluster has more replicas, or a copy, that it did not have before. */
static bool gains_copies(const struct outcome *before, const struct outcome *after)
{
    for (uint32_t i = 0; i < after->cluster_count; i++) {
        const struct target_cluster *old = outcome_find_cluster(before, after->clusters[i].name);

        if (!old || old->replicas < after->clusters[i].replicas)
            return true;
    }
    return false;
}

/* Returns the first lost cluster that is a target of the outcome; NULL without one. */
static const struct entry *find_lost_target(const struct entry_list *lost, const struct outcome *o)
{
    for (size_t i = 0; i < lost->count; i++) {
        if (outcome_find_cluster(o, lost->items[i]->name))
            return lost->items[i];
    }
    return NULL;
}

void cluster_loss_judge(struct overlay *overlay, const struct entry_list *lost,
                        const struct outcome *before, const struct outcome *after,
                        struct lost_copies *copies)
{
    const struct entry *kept = find_lost_target(lost, after);

    if (after->undetermined != UNDETERMINED_REASON_COUNT)
        copies->fate = LOSS_UNDETERMINED;
    else if (kept)
        copies->fate = LOSS_STAYS;
    else if (after->cluster_count == 0)
        copies->fate = LOSS_NOWHERE;
    else
        copies->fate = gains_copies(before, after) ? LOSS_MOVES : LOSS_LEAVES;
    if (kept && copies->fate == LOSS_STAYS)
        copies->reason = find_reason(overlay, kept, after->binding);
}
