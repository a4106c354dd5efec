/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/plan.h"

#include <math.h>

#include "metrics/model/cluster.h"
#include "metrics/model/store.h"
#include "metrics/rules/object_index.h"
#include "metrics/simulate/cluster_change.h"
#include "metrics/simulate/dependencies_distributor.h"
#include "metrics/simulate/detector.h"
#include "metrics/simulate/overlay.h"
#include "metrics/simulate/quota_enforcement.h"
#include "metrics/simulate/scheduler.h"
#include "metrics/simulate/user_change.h"

/* ---- sums by cluster ---- */

/* Returns the sums of a cluster; appends sums of 0 if the list does not have the cluster. */
static struct plan_cluster *get_cluster_sums(struct plan_clusters *c, const char *name)
{
    for (size_t i = 0; i < c->count; i++) {
        if (strcmp(c->items[i].name, name) == 0)
            return &c->items[i];
    }
    c->items = xreallocarray(c->items, c->count + 1, sizeof(*c->items));
    c->items[c->count] = (struct plan_cluster){.name = name};
    return &c->items[c->count++];
}

static double requested_amount(const struct binding *b, const char *resource)
{
    for (uint32_t i = 0; i < b->request_count; i++) {
        if (strcmp(b->requests[i].resource, resource) == 0)
            return b->requests[i].amount;
    }
    return 0;
}

/* Adds replicas of a template with their requests to the sums before or after the change. */
static void add_replicas(struct plan_clusters *c, const char *name, int32_t replicas,
                         const struct binding *b, enum plan_side side)
{
    struct plan_cluster *cluster = get_cluster_sums(c, name);

    cluster->replicas[side] += replicas;
    cluster->cores[side] += replicas * requested_amount(b, "cpu");
    cluster->memory_bytes[side] += replicas * requested_amount(b, "memory");
}

/* Adds the copies before the change; a suspended target without a copy has none. */
static void add_copies_before(struct plan_clusters *c, const struct plan_template *t)
{
    for (uint32_t i = 0; i < t->before.cluster_count; i++) {
        const struct target_cluster *target = &t->before.clusters[i];

        add_replicas(c, target->name, target_has_copy(target) ? target->replicas : 0,
                     t->before.binding, PLAN_BEFORE);
    }
}

/* Adds the copies after the change: suspended targets keep the copy from before. */
static void add_copies_after(struct plan_clusters *c, const struct plan_template *t)
{
    for (uint32_t i = 0; i < t->after.cluster_count; i++) {
        const struct target_cluster *target = &t->after.clusters[i];
        const struct target_cluster *last = outcome_find_cluster(&t->before, target->name);

        if (!target->item.suspended)
            add_replicas(c, target->name, target->replicas, t->after.binding, PLAN_AFTER);
        else if (last && target_has_copy(last))
            add_replicas(c, target->name, last->replicas, t->before.binding, PLAN_AFTER);
    }
}

/* Adds the copies that stay in clusters that the template leaves. */
static void add_preserved_copies(struct plan_clusters *c, const struct plan_template *t)
{
    for (uint32_t i = 0; t->preserved && i < t->before.cluster_count; i++) {
        const struct target_cluster *target = &t->before.clusters[i];

        if (!outcome_find_cluster(&t->after, target->name) && target_has_copy(target))
            add_replicas(c, target->name, target->replicas, t->before.binding, PLAN_AFTER);
    }
}

const char *const plan_resource_names[PLAN_RESOURCE_COUNT] = {"cpu", "memory", "pods"};

/* Returns the free amount of a resource; NAN if unknown. */
static double find_free_amount(const struct cluster *c, const char *resource)
{
    for (uint32_t i = 0; c && i < c->resource_count; i++) {
        const struct cluster_resource *r = &c->resources[i];

        if (strcmp(r->resource, resource) == 0)
            return r->allocatable - r->allocated - r->allocating;
    }
    return NAN;
}

/* Returns by how much the requests of a resource increase. */
static double arriving_amount(const struct plan_cluster *row, enum plan_resource resource)
{
    switch (resource) {
    case PLAN_CPU:
        return row->cores[PLAN_AFTER] - row->cores[PLAN_BEFORE];
    case PLAN_MEMORY:
        return row->memory_bytes[PLAN_AFTER] - row->memory_bytes[PLAN_BEFORE];
    case PLAN_PODS:
        return (double)(row->replicas[PLAN_AFTER] - row->replicas[PLAN_BEFORE]);
    case PLAN_RESOURCE_COUNT:
        break;
    }
    abort();
}

/* Sets the free amounts from the status of the Cluster, and the resources that exceed them. */
static void set_overflow(const struct store *store, struct plan_cluster *row)
{
    const struct kind_def *def = kind_of_clusters();
    const struct entry *entry =
        store_find(store, &(struct identity){def->api_version, def->name, "", row->name});
    const struct cluster *c = entry_cluster(entry);

    for (unsigned i = 0; i < PLAN_RESOURCE_COUNT; i++) {
        double arriving = arriving_amount(row, i);

        row->free[i] = find_free_amount(c, plan_resource_names[i]);
        /* False if the free amount is unknown. */
        if (arriving > 0 && arriving > row->free[i])
            row->exceeded |= 1U << i;
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct plan_cluster *)a)->name, ((const struct plan_cluster *)b)->name);
}

static void finish_clusters(struct plan_clusters *c, const struct store *store,
                            const struct entry_list *lost)
{
    if (c->count > 1)
        qsort(c->items, c->count, sizeof(*c->items), by_name);
    for (size_t i = 0; i < c->count; i++) {
        c->items[i].lost = cluster_is_lost(lost, c->items[i].name);
        set_overflow(store, &c->items[i]);
    }
}

/* ---- actions of Karmada ---- */

/* Retries the write of a binding that a quota has refused. Returns true if anything changed. */
static bool retry_refused_binding(struct overlay *overlay, struct entry *entry)
{
    const struct binding *b = entry_binding(entry);
    const struct binding_decision *d = binding_decision(entry);

    if (b->status.scheduled == SCHEDULED_QUOTA_EXCEEDED) {
        reschedule_binding(overlay, entry);
        return entry_binding(entry) != b;
    }
    if (!d || !binding_decision_template(d))
        return false;
    overlay_enqueue(overlay, (struct queue_item){binding_decision_template(d), false});
    return true;
}

/* Retries the writes that quotas have refused, if there is room now. */
static bool retry_refused_bindings(struct overlay *overlay)
{
    CLEANUP(entry_list_release) struct entry_list refused = {0};
    bool changed = false;

    quota_list_retries(overlay, &refused);
    for (size_t i = 0; i < refused.count; i++)
        changed |= retry_refused_binding(overlay, refused.items[i]);
    if (changed)
        overlay_evaluate(overlay);
    return changed;
}

bool simulation_process_queue(struct overlay *overlay)
{
    size_t limit = store_object_count(overlay_context(overlay)->store, CLASS_TEMPLATE) *
                       SIMULATION_ITEMS_PER_TEMPLATE +
                   SIMULATION_ITEMS_MIN;
    struct queue_item item;

    do {
        while (overlay_dequeue(overlay, &item)) {
            if (limit-- == 0 || overlay_limit_reached(overlay)) {
                do
                    overlay_note_unsettled(overlay, item.template);
                while (overlay_dequeue(overlay, &item));
                overlay_evaluate(overlay);
                return false;
            }
            detector_process_template(overlay, item);
        }
        overlay_evaluate(overlay);
    } while (limit-- > 0 && retry_refused_bindings(overlay));
    return true;
}

/* Implements plan_admit_manifests(). Returns the result of simulation_process_queue(). */
static MUST_USE bool admit_manifests(struct overlay *overlay)
{
    CLEANUP(listing_release)
    struct listing all = listing_make(overlay_context(overlay)->store, CLASS_TEMPLATE);
    uint32_t unknown = uid_hash("");

    for (size_t i = 0; i < all.count; i++) {
        const struct template *t = entry_template(all.entries[i]);
        const struct template_decision *d = template_decision(all.entries[i]);

        if (d && t->uid_hash == unknown && !template_claim(t) && !decision_binding(d))
            overlay_enqueue(overlay,
                            (struct queue_item){(struct entry *)(uintptr_t)all.entries[i], false});
    }
    return simulation_process_queue(overlay);
}

const char *const plan_when_names[PLAN_WHEN_COUNT] = {
    [PLAN_AT_ONCE] = "at_once",
    [PLAN_AT_NEXT_CHANGE] = "at_next_change",
    [PLAN_NEVER] = "never",
};

/* ---- records of the state before the change ---- */

/* Degree of the conflict in one field of a dependency, mildest first. */
enum conflict_degree { DEGREE_NONE, DEGREE_PREDICTED, DEGREE_CONFLICT };

/* State of a template or binding before the simulation touched it. */
struct plan_record {
    struct entry *entry;
    struct outcome before; /* Not used for bindings. */
    const struct entry *governing;
    const struct entry *winner;
    unsigned fields;
    uint8_t degrees[DEPENDENCY_FIELD_COUNT]; /* Values of enum conflict_degree. */
    struct release_comparison upgrade;
    bool upgraded; /* The restart in the new release has changed the outcome. */
    struct lost_copies loss;
    struct outcome at_loss; /* Outcome when the clusters are lost; only with loss.clusters > 0. */
};

struct plan {
    struct overlay *overlay;
    struct user_change user;
    struct map records;                   /* struct plan_record by entry. */
    size_t base;                          /* overlay_mark() of the state before the change. */
    struct applied_object *new_templates; /* Applied in plan_finish(). Entries pinned. */
    size_t new_template_count;
    struct entry_list policies;   /* Policies that the change applies. */
    struct release_range release; /* Before an upgrade. */
    struct entry_list lost;       /* Clusters of plan_lose(), sorted. Entries pinned. */
    struct plan_result result;
};

static struct store *plan_store(const struct plan *p)
{
    return overlay_context(p->overlay)->store;
}

static bool is_record_of_entry(const void *item, const void *key)
{
    return ((const struct plan_record *)item)->entry == key;
}

static void read_conflict_degrees(const struct entry *entry,
                                  uint8_t degrees[DEPENDENCY_FIELD_COUNT])
{
    const struct dependency_decision *d = dependency_decision(entry);

    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++)
        degrees[i] = !d                       ? DEGREE_NONE
                     : d->fields[i].conflict  ? DEGREE_CONFLICT
                     : d->fields[i].predicted ? DEGREE_PREDICTED
                                              : DEGREE_NONE;
}

/* Records the present state of an entry, unless the plan already has a record of the entry. */
static void record_state(struct plan *p, struct entry *entry)
{
    uint64_t hash = map_hash_address(entry);
    const struct template_decision *d = template_decision(entry);
    struct plan_record *r;

    if (map_get(&p->records, hash, entry))
        return;
    r = xcalloc(1, sizeof(*r));
    store_pin(entry);
    r->entry = entry;
    outcome_read(plan_store(p), entry, &r->before);
    if (d) {
        r->governing = decision_governing(d);
        r->winner = decision_winner(d);
        r->fields = d->fields;
    }
    read_conflict_degrees(entry, r->degrees);
    map_add(&p->records, hash, r);
}

/* Records the template of a binding, because its outcome depends on the binding. */
static void record_template_of(struct plan *p, const struct entry *binding)
{
    const struct binding_decision *b = binding_decision(binding);

    if (b && binding_decision_template(b))
        record_state(p, binding_decision_template(b));
}

/*
 * Records a template or binding, unless recorded before. Also records the template of a binding,
 * and the templates that the binding requires: their outcomes have the clusters of the binding.
 */
static void record_touched_entry(void *context, struct entry *entry)
{
    struct plan *p = context;
    bool is_binding = entry_class(entry) == CLASS_BINDING;

    if (is_binding)
        record_template_of(p, entry);
    for (uint32_t i = 0; is_binding && i < entry_reader_count(entry); i++) {
        if (entry_class(entry_reader(entry, i)) == CLASS_BINDING)
            record_template_of(p, entry_reader(entry, i));
    }
    if (entry_class(entry) == CLASS_TEMPLATE || entry_class(entry) == CLASS_BINDING)
        record_state(p, entry);
}

struct plan *plan_new(struct engine *e)
{
    struct plan *p = xcalloc(1, sizeof(*p));

    p->records = MAP_INIT(is_record_of_entry);
    p->overlay = overlay_new(e);
    user_change_init(&p->user, p->overlay);
    p->result.settled = true;
    p->release = overlay_context(p->overlay)->release;
    overlay_observe(p->overlay, (struct overlay_observer){record_touched_entry, p});
    return p;
}

void plan_free(struct plan *p)
{
    struct plan_record *r;

    if (!p)
        return;
    for (size_t i = 0; i < p->result.template_count; i++) {
        outcome_release(&p->result.templates[i].before, plan_store(p));
        outcome_release(&p->result.templates[i].after, plan_store(p));
        outcome_release(&p->result.templates[i].next, plan_store(p));
    }
    free(p->result.templates);
    free(p->result.conflicts);
    free(p->result.clusters.items);
    for (size_t at = 0; (r = map_next(&p->records, &at)) != NULL;) {
        outcome_release(&r->before, plan_store(p));
        outcome_release(&r->at_loss, plan_store(p));
        store_unpin(plan_store(p), r->entry);
        free(r);
    }
    map_release(&p->records);
    for (size_t i = 0; i < p->new_template_count; i++)
        store_unpin(plan_store(p), p->new_templates[i].entry);
    free(p->new_templates);
    entry_list_release(&p->policies);
    for (size_t i = 0; i < p->lost.count; i++)
        store_unpin(plan_store(p), p->lost.items[i]);
    entry_list_release(&p->lost);
    user_change_release(&p->user);
    overlay_free(p->overlay);
    free(p);
}

void plan_set_limit(struct plan *p, struct overlay_limit limit)
{
    overlay_set_limit(p->overlay, limit);
}

bool plan_limit_reached(const struct plan *p)
{
    return overlay_limit_reached(p->overlay);
}

void plan_admit_manifests(struct plan *p)
{
    overlay_observe(p->overlay, (struct overlay_observer){0});
    p->result.settled = admit_manifests(p->overlay);
    p->base = overlay_mark(p->overlay);
    (void)overlay_take_assumptions(p->overlay);
    overlay_observe(p->overlay, (struct overlay_observer){record_touched_entry, p});
}

/* ---- applying the changed objects ---- */

/* Processes the queue; marks the result as not settled if the simulation is given up. */
static void simulate_until_settled(struct plan *p)
{
    if (!simulation_process_queue(p->overlay))
        p->result.settled = false;
}

void plan_note_unread_source(struct plan *p, const char *name, const char *why)
{
    user_change_note_unread(&p->user, name, why);
}

void plan_assume_unread_kinds(struct plan *p)
{
    overlay_assume(p->overlay, ASSUMED_KIND_UNREAD);
}

bool plan_apply(struct plan *p, const cJSON *json, struct error *err)
{
    struct applied_object applied;

    if (!user_change_decode(&p->user, json, &applied, err))
        return false;
    if (!applied.entry || overlay_limit_reached(p->overlay))
        return true;
    if (entry_class(applied.entry) == CLASS_TEMPLATE && !entry_exists(applied.entry)) {
        store_pin(applied.entry);
        p->new_templates =
            xreallocarray(p->new_templates, p->new_template_count + 1, sizeof(*p->new_templates));
        p->new_templates[p->new_template_count++] = applied;
        return true;
    }
    user_change_apply(&p->user, applied, json);
    simulate_until_settled(p);
    if (entry_class(applied.entry) == CLASS_POLICY)
        entry_list_add(&p->policies, applied.entry);
    return true;
}

/* Matches waiting templates against the applied policies, then applies the new templates. */
static void process_postponed_objects(struct plan *p)
{
    for (size_t i = 0; i < p->policies.count && !overlay_limit_reached(p->overlay); i++)
        detector_match_waiting(p->overlay, p->policies.items[i]);
    simulate_until_settled(p);
    for (size_t i = 0; i < p->new_template_count && !overlay_limit_reached(p->overlay); i++)
        user_change_apply(&p->user, p->new_templates[i], NULL);
    simulate_until_settled(p);
}

void plan_delete(struct plan *p, struct entry *entry)
{
    user_change_delete(&p->user, entry);
    simulate_until_settled(p);
}

bool plan_delete_namespace(struct plan *p, const char *name)
{
    bool has_objects = user_change_delete_namespace(&p->user, name);

    simulate_until_settled(p);
    return has_objects;
}

void plan_touch_template(struct plan *p, struct entry *template)
{
    simulation_touch_template(p->overlay, template);
    simulate_until_settled(p);
}

/* ---- loss of clusters ---- */

bool plan_lose(struct plan *p, struct entry *cluster)
{
    size_t place = entry_sort_index(p->lost.items, p->lost.count, cluster);

    if (entry_list_has(&p->lost, cluster))
        return false;
    store_pin(cluster);
    entry_list_add(&p->lost, cluster);
    memmove(&p->lost.items[place + 1], &p->lost.items[place],
            (p->lost.count - 1 - place) * sizeof(struct entry *));
    p->lost.items[place] = cluster;
    p->user.lost = &p->lost;
    return true;
}

/* Records the templates with copies in lost clusters, as they are before the loss. */
static void record_lost_copies(struct plan *p)
{
    CLEANUP(listing_release) struct listing all = listing_make(plan_store(p), CLASS_TEMPLATE);

    for (size_t i = 0; i < all.count; i++) {
        struct entry *entry = (struct entry *)(uintptr_t)all.entries[i];
        struct lost_copies copies;
        struct plan_record *r;
        struct outcome o;

        outcome_read(plan_store(p), entry, &o);
        copies = cluster_loss_count(p->overlay, &p->lost, &o);
        if (copies.clusters == 0) {
            outcome_release(&o, plan_store(p));
            continue;
        }
        record_state(p, entry);
        r = map_get(&p->records, map_hash_address(entry), entry);
        r->loss = copies;
        r->at_loss = o;
    }
}

/* Drops the clusters that the change has deleted: they cannot be lost any more. */
static void drop_deleted_clusters(struct plan *p)
{
    size_t count = 0;

    for (size_t i = 0; i < p->lost.count; i++) {
        if (entry_exists(p->lost.items[i]))
            p->lost.items[count++] = p->lost.items[i];
        else
            store_unpin(plan_store(p), p->lost.items[i]);
    }
    p->lost.count = count;
}

static void simulate_loss(struct plan *p)
{
    drop_deleted_clusters(p);
    if (p->lost.count == 0 || overlay_limit_reached(p->overlay))
        return;
    record_lost_copies(p);
    cluster_loss_apply(p->overlay, &p->lost);
    simulate_until_settled(p);
    if (overlay_unsettled_templates(p->overlay)->count > 0)
        p->result.settled = false;
}

/* ---- upgrade of Karmada ---- */

static const struct plan_record *find_record(const struct plan *p, const struct entry *entry)
{
    return map_get(&p->records, map_hash_address(entry), entry);
}

/* Records each template, and compares the schedulers of both releases for its binding. */
static void compare_releases(struct plan *p)
{
    struct plan_upgrade *u = &p->result.upgrade;
    struct rule_context *c = overlay_context(p->overlay);
    CLEANUP(listing_release) struct listing all = listing_make(plan_store(p), CLASS_TEMPLATE);

    placements_set_release(c->placements, (struct release_range){u->from, u->to, RELEASE_GIVEN,
                                                                 c->release.lacks_exclusions});
    for (size_t i = 0; i < all.count && !overlay_limit_reached(p->overlay); i++) {
        struct entry *entry = (struct entry *)(uintptr_t)all.entries[i];
        const struct template_decision *d = template_decision(entry);
        const struct binding *b = d ? entry_binding(decision_binding(d)) : NULL;
        struct plan_record *r;

        record_state(p, entry);
        r = map_get(&p->records, map_hash_address(entry), entry);
        if (b && b->has_placement)
            r->upgrade = scheduler_compare_releases(p->overlay, b, u->from, u->to);
        u->not_compared += r->upgrade.not_compared;
    }
    placements_set_release(c->placements, c->release);
}

/*
 * Returns true if the restart gives Karmada something to do for a template: a change that waits, or
 * replicas that only the new release reads.
 */
static bool is_due_at_restart(const struct plan *p, const struct entry *template)
{
    const struct plan_upgrade *u = &p->result.upgrade;
    const struct type *type = entry_type(template);
    const struct release_range both = {u->from, u->to, RELEASE_GIVEN, false};
    const struct template_decision *d = template_decision(template);

    return d &&
           (d->state == STATE_STALE || d->state == STATE_UNBOUND ||
            (d->state == STATE_CURRENT &&
             interprets_replicas(type->api_version, type->kind, both) == RELEASE_ANSWER_DIFFERS));
}

static void restart_detector(struct plan *p)
{
    CLEANUP(listing_release) struct listing all = listing_make(plan_store(p), CLASS_TEMPLATE);

    for (size_t i = 0; i < all.count && !overlay_limit_reached(p->overlay); i++) {
        if (is_due_at_restart(p, all.entries[i]))
            simulation_touch_template(p->overlay, (struct entry *)(uintptr_t)all.entries[i]);
    }
    simulate_until_settled(p);
}

/* Lets the scheduler and the dependencies distributor process all bindings. */
static void restart_scheduler(struct plan *p)
{
    CLEANUP(listing_release) struct listing all = listing_make(plan_store(p), CLASS_BINDING);

    for (size_t i = 0; i < all.count && !overlay_limit_reached(p->overlay); i++) {
        struct entry *entry = (struct entry *)(uintptr_t)all.entries[i];
        const struct binding *old = entry_binding(entry);
        struct binding *fresh;

        if (!old)
            continue;
        fresh = overlay_copy_binding(p->overlay, old);
        scheduler_schedule_binding(p->overlay, old, fresh);
        distributor_update_targets(p->overlay, old, fresh);
        if (!cluster_change_keeps_targets(old, fresh)) {
            overlay_replace(p->overlay, entry, fresh);
            overlay_evaluate(p->overlay);
        }
        distributor_sync(p->overlay, entry, false);
    }
    simulate_until_settled(p);
}

/* Marks the templates with another outcome than before the upgrade. */
static void mark_upgraded(struct plan *p)
{
    struct plan_record *r;

    for (size_t at = 0; (r = map_next(&p->records, &at)) != NULL;) {
        struct outcome now;

        if (entry_class(r->entry) != CLASS_TEMPLATE)
            continue;
        outcome_read(plan_store(p), r->entry, &now);
        r->upgraded = !outcome_equal(&r->before, &now);
        outcome_release(&now, plan_store(p));
    }
}

void plan_upgrade(struct plan *p, enum release release)
{
    struct rule_context *c = overlay_context(p->overlay);
    struct plan_upgrade *u = &p->result.upgrade;
    struct release_range range = c->release;

    u->planned = true;
    u->from = range.oldest;
    u->to = range.oldest = range.newest = release;
    u->gates_before = c->gates;
    compare_releases(p);
    user_change_note_upgrade(&p->user, u->from, u->to);
    overlay_set_release(p->overlay, range);
    overlay_evaluate(p->overlay);
    u->gates_after = c->gates;
    restart_detector(p);
    restart_scheduler(p);
    mark_upgraded(p);
}

/* Returns the behaviours by which the distributor writes other fields to an attached binding. */
static behaviour_set find_dependency_causes(const struct plan *p, const struct plan_template *t)
{
    static const behaviour_set resolving = UINT64_C(1) << BEHAVIOUR_RESOLVES_DEPENDENCIES |
                                           UINT64_C(1) << BEHAVIOUR_REQUIRES_ALL_REFERRERS,
                               keeping = UINT64_C(1) << BEHAVIOUR_KEEPS_OWN_PRESERVE;
    const struct plan_upgrade *u = &p->result.upgrade;
    unsigned fields = outcome_differing_fields(&t->before, &t->after);

    if (t->after.referrer_count == 0 ||
        !(fields & (1U << FIELD_CONFLICT_RESOLUTION | 1U << FIELD_PRESERVE)))
        return 0;
    return behaviours_that_differ(u->from, u->to) &
           (t->after.binding->has_placement ? keeping : resolving);
}

/* Returns the causes for which the referrers of an attached template move. */
static behaviour_set find_causes_of_referrers(const struct plan *p, const struct outcome *o)
{
    behaviour_set causes = 0;

    for (uint32_t i = 0; i < o->referrer_count; i++) {
        const struct kind_def *def = kind_of_bindings(*o->referrers[i].ns == '\0');
        const struct entry *binding =
            store_find(plan_store(p), &(struct identity){def->api_version, def->name,
                                                         o->referrers[i].ns, o->referrers[i].name});
        const struct binding_decision *d = binding_decision(binding);
        const struct plan_record *r =
            d && binding_decision_template(d) ? find_record(p, binding_decision_template(d)) : NULL;

        causes |= r ? r->upgrade.at_once : 0;
    }
    return causes;
}

static bool reads_other_replicas(const struct plan *p, const struct plan_template *t)
{
    const struct type *type = entry_type(t->template);
    const struct release_range both = {p->result.upgrade.from, p->result.upgrade.to, RELEASE_GIVEN,
                                       false};

    return interprets_replicas(type->api_version, type->kind, both) == RELEASE_ANSWER_DIFFERS;
}

/* Sets the causes of a template that the upgrade changes at once. */
static void set_causes_at_once(const struct plan *p, const struct plan_record *r,
                               struct plan_template *t)
{
    if (!outcome_clusters_equal(&t->before, &t->after))
        t->causes |= r->upgrade.at_once;
    t->causes |= find_dependency_causes(p, t);
    if (outcome_referrers_move(&t->before, &t->after))
        t->causes |= find_causes_of_referrers(p, &t->after);
    if (reads_other_replicas(p, t))
        t->causes |= UINT64_C(1) << BEHAVIOUR_INTERPRETS_REPLICA_SETS;
    t->by_restart = t->causes == 0;
}

/* Sets t->next to the outcome of the next scheduling of the template's binding. */
static void predict_outcome_of_scheduling(struct plan *p, struct plan_template *t)
{
    struct entry *entry = template_binding(plan_store(p), t->template);
    const struct binding *old = entry_binding(entry);
    size_t mark = overlay_mark(p->overlay);
    struct binding *fresh = overlay_copy_binding(p->overlay, old);

    scheduler_place_binding(p->overlay, old, fresh);
    distributor_update_targets(p->overlay, old, fresh);
    overlay_replace(p->overlay, entry, fresh);
    overlay_evaluate(p->overlay);
    outcome_read(plan_store(p), t->template, &t->next);
    overlay_rollback(p->overlay, mark);
    overlay_evaluate(p->overlay);
}

/* Sets the time and the causes of an upgrade's effect on a template that it does not change yet. */
static void set_effect_at_next_scheduling(struct plan *p, const struct plan_record *r,
                                          struct plan_template *t)
{
    t->causes = r->upgrade.next;
    t->at_next_scheduling = true;
    t->when = PLAN_AT_NEXT_CHANGE;
    predict_outcome_of_scheduling(p, t);
}

static void count_causes(struct plan_upgrade *u, const struct plan_template *t)
{
    for (unsigned i = 0; i < BEHAVIOUR_COUNT; i++)
        u->templates[i] += t->causes >> i & 1;
    u->restarted += t->by_restart;
}

/* ---- result of a plan ---- */

/* Returns true if outcome, governing policy, winner or drift fields differ from the record. */
static bool is_affected(const struct plan_record *r, const struct outcome *after)
{
    const struct template_decision *d = template_decision(r->entry);

    return !outcome_equal(&r->before, after) ||
           (d && (decision_governing(d) != r->governing || decision_winner(d) != r->winner ||
                  d->fields != r->fields));
}

/* Returns true if the user's next change of the template may make it current. */
static bool may_become_current(const struct outcome *after)
{
    return after->state == STATE_STALE || after->state == STATE_UNBOUND;
}

void plan_predict_next_change(struct plan *p, struct entry *template, struct outcome *out)
{
    size_t mark = overlay_mark(p->overlay);

    simulation_touch_template(p->overlay, template);
    simulate_until_settled(p);
    outcome_read(plan_store(p), template, out);
    overlay_rollback(p->overlay, mark);
    overlay_evaluate(p->overlay);
}

static void set_time_of_effect(struct plan *p, struct plan_template *row)
{
    if (row->after.exists && may_become_current(&row->after)) {
        plan_predict_next_change(p, (struct entry *)(uintptr_t)row->template, &row->next);
        if (row->next.state == STATE_CURRENT) {
            row->when = PLAN_AT_NEXT_CHANGE;
            return;
        }
        outcome_release(&row->next, plan_store(p));
    }
    row->when = outcome_equal(&row->before, &row->after) ? PLAN_NEVER : PLAN_AT_ONCE;
}

/* Returns true if the change deletes the template, and its copies stay in the member clusters. */
static bool is_deleted_without_copies(const struct user_change *u, const struct entry *template)
{
    for (size_t i = 0; i < u->preserved.count && !entry_exists(template); i++) {
        if (u->preserved.items[i] == template)
            return true;
    }
    return false;
}

static bool leaves_cluster(const struct plan_template *t)
{
    for (uint32_t i = 0; i < t->before.cluster_count; i++) {
        if (!outcome_find_cluster(&t->after, t->before.clusters[i].name))
            return true;
    }
    return false;
}

/*
 * Returns true if the copies in the clusters that the template leaves stay there (Karmada:
 * handleWorkDelete, which reads the value from the Work). The Work of a binding with a placement
 * may have got the new value already. Records ASSUMED_LEAVING if the order of the controllers
 * decides.
 */
static bool is_preserved(struct plan *p, const struct plan_template *t)
{
    const struct binding *old = t->before.binding, *fresh = t->after.binding;
    bool preserves = old && old->propagation->preserve == OPTIONAL_TRUE;
    bool differs = fresh && fresh->has_placement &&
                   (fresh->propagation->preserve == OPTIONAL_TRUE) != preserves;

    if (!t->after.exists)
        return is_deleted_without_copies(&p->user, t->template);
    if (!old || t->after.undetermined != UNDETERMINED_REASON_COUNT || !leaves_cluster(t))
        return false;
    if (differs)
        overlay_assume(p->overlay, ASSUMED_LEAVING);
    return preserves && !differs;
}

static void add_template_if_affected(struct plan *p, struct plan_record *r)
{
    struct plan_result *result = &p->result;
    struct plan_template row = {.template = r->entry};

    outcome_read(plan_store(p), r->entry, &row.after);
    bool affected = is_affected(r, &row.after);

    bool later = !affected && r->upgrade.next && row.after.binding &&
                 outcome_clusters_equal(&r->before, &row.after);

    if (!affected && !later && r->loss.clusters == 0) {
        outcome_release(&row.after, plan_store(p));
        return;
    }
    row.before = r->before;
    r->before = (struct outcome){0};
    row.preserved = is_preserved(p, &row);
    row.loss = r->loss;
    if (row.loss.clusters > 0) {
        cluster_loss_judge(p->overlay, &p->lost, &r->at_loss, &row.after, &row.loss);
        result->fates[row.loss.fate]++;
        result->last_copies += row.loss.last_copy;
    }
    /* A template with the same outcome is listed because of its copies in lost clusters only. */
    row.when = PLAN_NEVER;
    if (affected)
        set_time_of_effect(p, &row);
    else if (later)
        set_effect_at_next_scheduling(p, r, &row);
    if (affected && r->upgraded)
        set_causes_at_once(p, r, &row);
    count_causes(&result->upgrade, &row);
    result->when[row.when]++;
    result->undetermined += row.after.undetermined != UNDETERMINED_REASON_COUNT;
    result->templates =
        xreallocarray(result->templates, result->template_count + 1, sizeof(*result->templates));
    result->templates[result->template_count++] = row;
}

static void add_changed_conflicts(struct plan_result *result, const struct plan_record *r)
{
    uint8_t after[DEPENDENCY_FIELD_COUNT];

    read_conflict_degrees(r->entry, after);
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++) {
        bool appears = after[i] > r->degrees[i];

        if (after[i] == r->degrees[i])
            continue;
        result->conflicts = xreallocarray(result->conflicts, result->conflict_count + 1,
                                          sizeof(*result->conflicts));
        result->conflicts[result->conflict_count++] = (struct plan_conflict){r->entry, i, appears};
        result->conflicts_appear += appears;
        result->conflicts_vanish += !appears;
    }
}

/* Makes the outcome after the change undetermined: its clusters are then those before the change.
 */
static void set_undetermined_by_order(struct plan_template *t)
{
    struct outcome *o = &t->after;

    free(o->clusters);
    o->cluster_count = t->before.cluster_count;
    o->clusters = xcalloc(o->cluster_count + (size_t)1, sizeof(*o->clusters));
    if (o->cluster_count > 0)
        memcpy(o->clusters, t->before.clusters, o->cluster_count * sizeof(*o->clusters));
    o->undetermined = UNDETERMINED_QUOTA_ORDER;
    o->predicted = (struct predicted){PREDICTION_UNDETERMINED,
                                      undetermined_reason_names[UNDETERMINED_QUOTA_ORDER]};
}

/* Makes templates undetermined that compete for a quota. */
static void mark_contested_templates(struct plan *p)
{
    struct plan_result *r = &p->result;
    CLEANUP(free_cleanup)
    struct quota_competitor *all = xcalloc(r->template_count + 1, sizeof(*all));

    for (size_t i = 0; i < r->template_count; i++)
        all[i] = (struct quota_competitor){.ns = entry_ns(r->templates[i].template),
                                           .before = r->templates[i].before.binding,
                                           .after = r->templates[i].after.binding};
    quota_find_contested(p->overlay, all, r->template_count);
    for (size_t i = 0; i < r->template_count; i++) {
        struct plan_template *t = &r->templates[i];

        if (!all[i].contested)
            continue;
        r->undetermined += t->after.undetermined == UNDETERMINED_REASON_COUNT;
        set_undetermined_by_order(t);
    }
}

static int by_template(const void *a, const void *b)
{
    return entry_compare(((const struct plan_template *)a)->template,
                         ((const struct plan_template *)b)->template);
}

static int appearing_first(const void *a, const void *b)
{
    const struct plan_conflict *x = a, *y = b;
    int order = (int)y->appears - (int)x->appears;

    order = order ? order : entry_compare(x->dependency, y->dependency);
    return order ? order : (int)x->field - (int)y->field;
}

static void sort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *))
{
    if (count > 1)
        qsort(items, count, size, compare);
}

const struct plan_result *plan_finish(struct plan *p)
{
    struct plan_result *result = &p->result;
    struct plan_record *r;

    process_postponed_objects(p);
    simulate_loss(p);
    overlay_observe(p->overlay, (struct overlay_observer){0});
    for (size_t at = 0;
         !overlay_limit_reached(p->overlay) && (r = map_next(&p->records, &at)) != NULL;) {
        add_changed_conflicts(result, r);
        if (entry_class(r->entry) == CLASS_TEMPLATE)
            add_template_if_affected(p, r);
    }
    mark_contested_templates(p);
    sort(result->templates, result->template_count, sizeof(*result->templates), by_template);
    sort(result->conflicts, result->conflict_count, sizeof(*result->conflicts), appearing_first);
    for (size_t i = 0; i < result->template_count; i++) {
        const struct plan_template *t = &result->templates[i];

        add_copies_before(&result->clusters, t);
        add_copies_after(&result->clusters, t);
        add_preserved_copies(&result->clusters, t);
    }
    finish_clusters(&result->clusters, plan_store(p), &p->lost);
    override_plan_finish(&p->user.overrides, overlay_context(p->overlay));
    result->overrides = p->user.overrides.items;
    result->override_count = p->user.overrides.count;
    result->unsettled = overlay_unsettled_templates(p->overlay);
    result->objects = p->user.objects;
    result->object_count = p->user.object_count;
    result->assumptions = overlay_take_assumptions(p->overlay);
    result->release = p->release;
    result->lost = &p->lost;
    /* If the plan changes nothing, keep only assumptions that may have prevented a change. */
    if (result->template_count + result->conflict_count == 0)
        result->assumptions &= 1U << ASSUMED_PREEMPTION_OFF | 1U << ASSUMED_REFERENCES_UNKNOWN |
                               1U << ASSUMED_EVICTION_OFF | 1U << ASSUMED_DEPENDENCIES_OFF |
                               1U << ASSUMED_QUOTA | 1U << ASSUMED_KIND_UNREAD;
    return result;
}

void plan_undo(struct plan *p)
{
    overlay_restore_release(p->overlay);
    overlay_rollback(p->overlay, p->base);
    overlay_evaluate(p->overlay);
}
