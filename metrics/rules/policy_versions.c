/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/policy_versions.h"

#include "metrics/base/map.h"
#include "metrics/rules/template_state.h"

/* Returns a copy with its own references to the texts; an unset `preserve` becomes false. */
static struct propagation copy_values(const struct propagation *p)
{
    struct propagation copy = *p;

    copy.placement = p->placement ? intern_ref(p->placement) : NULL;
    copy.failover = p->failover ? intern_ref(p->failover) : NULL;
    copy.suspension = p->suspension ? intern_ref(p->suspension) : NULL;
    copy.scheduler_name = p->scheduler_name ? intern_ref(p->scheduler_name) : NULL;
    copy.schedule_priority = p->schedule_priority ? intern_ref(p->schedule_priority) : NULL;
    copy.preserve = p->preserve == OPTIONAL_TRUE ? OPTIONAL_TRUE : OPTIONAL_FALSE;
    return copy;
}

static uint64_t hash_values(const struct policy_version *v)
{
    const struct propagation *p = &v->values;
    const char *const texts[] = {p->placement, p->failover, p->suspension, p->scheduler_name,
                                 v->recovered && p->schedule_priority ? "" : p->schedule_priority};
    uint64_t hash = (uint64_t)p->conflict_resolution << 2 |
                    (uint64_t)(p->preserve == OPTIONAL_TRUE) << 1 | (uint64_t)p->propagate_deps;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        hash = map_hash(texts[i] ? texts[i] : "-", texts[i] ? strlen(texts[i]) : 1, hash);
    return hash;
}

/* Call it after a change of the values or of `recovered`. */
static void update_key(struct policy_version *v)
{
    v->key = (uint32_t)(hash_values(v) >> 24);
}

/* Returns a new version of `h` with these values; not in the list. See policy_version_free(). */
static MUST_USE struct policy_version *policy_version_new(struct policy_history *h,
                                                          const struct propagation *values)
{
    struct policy_version *v = pool_alloc_zeroed(pool_of(h), sizeof(*v));

    v->history = h;
    v->values = copy_values(values);
    update_key(v);
    return v;
}

/* Replaces the values by equal ones of a policy: these name a PriorityClass, a binding's do not. */
static void policy_version_set_values(struct policy_version *v, struct intern *strings,
                                      const struct propagation *values)
{
    struct propagation exact = copy_values(values);

    propagation_release(strings, &v->values);
    v->values = exact;
}

/* Frees a version. `strings` are the interned texts of the policy's store. */
static void policy_version_free(struct policy_version *v, struct intern *strings)
{
    propagation_release(strings, &v->values);
    intern_drop(strings, v->by);
    pool_free(v);
}

/*
 * Returns true if the version has the values `p` of a binding. Compares only the presence of a
 * priority, and only in a ResourceBinding: a policy names a PriorityClass, a binding has a number.
 */
static bool policy_version_equals_binding(const struct policy_version *v,
                                          const struct propagation *p, bool cluster_scoped)
{
    return drift_fields(&v->values, NULL, p, cluster_scoped) == 0 &&
           (cluster_scoped || !v->values.schedule_priority == !p->schedule_priority);
}

/* Returns true if the version has a policy's values `p`. Recovered ones name no PriorityClass. */
static bool policy_version_equals_policy(const struct policy_version *v,
                                         const struct propagation *p)
{
    return policy_version_equals_binding(v, p, false) &&
           (v->recovered || v->values.schedule_priority == p->schedule_priority);
}

void policy_version_hash(const struct policy_version *v, char out[POLICY_VERSION_HASH_SIZE])
{
    snprintf(out, POLICY_VERSION_HASH_SIZE, "%010" PRIx64, hash_values(v) >> 24);
}

/* ---- list of versions ---- */

/* Appends `v` to the list as the newest version and returns it. */
static struct policy_version *append_version(struct policy_history *h, struct policy_version *v)
{
    v->number = h->count > 0 ? h->versions[h->count - 1]->number + 1 : 1;
    h->versions = pool_resize(pool_of(h), h->versions,
                              (h->count + (size_t)1) * sizeof(struct policy_version *));
    h->versions[h->count++] = v;
    return v;
}

static struct policy_version *add_version(struct policy_history *h,
                                          const struct propagation *values)
{
    return append_version(h, policy_version_new(h, values));
}

/* Removes the version at index `at` from the list without freeing it. */
static void unlink_version(struct policy_history *h, size_t at)
{
    h->count--;
    memmove(&h->versions[at], &h->versions[at + 1],
            (h->count - at) * sizeof(struct policy_version *));
}

/* Compares two versions by age. If the age is unknown, the hash makes the order reproducible. */
static int compare_age(const void *a, const void *b)
{
    const struct policy_version *x = *(struct policy_version *const *)a;
    const struct policy_version *y = *(struct policy_version *const *)b;
    char x_hash[POLICY_VERSION_HASH_SIZE], y_hash[POLICY_VERSION_HASH_SIZE];

    if (x->turn != y->turn)
        return x->turn < y->turn ? -1 : 1;
    if (x->recovered != y->recovered)
        return x->recovered ? -1 : 1;
    if (x->evidence_ms != y->evidence_ms)
        return x->evidence_ms < y->evidence_ms ? -1 : 1;
    policy_version_hash(x, x_hash);
    policy_version_hash(y, y_hash);
    return strcmp(x_hash, y_hash);
}

/* Swaps two versions in the list, and also their numbers, so that the numbers stay sorted. */
static void swap_versions(struct policy_version **a, struct policy_version **b)
{
    struct policy_version *v = *a;
    uint32_t number = v->number;

    v->number = (*b)->number;
    (*b)->number = number;
    *a = *b;
    *b = v;
}

/* Moves the version at index `at` to its position by age. */
static void sort_version(struct policy_history *h, size_t at)
{
    struct policy_version **v = h->versions;

    for (; at > 0 && compare_age(&v[at - 1], &v[at]) > 0; at--)
        swap_versions(&v[at - 1], &v[at]);
    for (; at + 1 < h->count && compare_age(&v[at], &v[at + 1]) > 0; at++)
        swap_versions(&v[at], &v[at + 1]);
}

static size_t index_of_version(const struct policy_version *v)
{
    size_t at = 0;

    while (v->history->versions[at] != v)
        at++;
    return at;
}

/* Frees the oldest unused versions until at most `limit` are left beside the current version. */
static void policy_history_trim(struct policy_history *h, struct intern *strings, size_t limit)
{
    size_t unused = 0;

    for (size_t i = 0; i + 1 < h->count; i++)
        unused += h->versions[i]->templates == 0;
    for (size_t i = 0; unused > limit && i + 1 < h->count;) {
        struct policy_version *v = h->versions[i];

        if (v->templates > 0) {
            i++;
            continue;
        }
        unlink_version(h, i);
        policy_version_free(v, strings);
        unused--;
        /* The list now has a gap before the next observed version. */
        for (size_t next = i; next < h->count; next++) {
            if (!h->versions[next]->recovered) {
                h->versions[next]->missed = true;
                break;
            }
        }
    }
}

/* ---- changes of the policy ---- */

/*
 * Records that the present policy object `p` has the values of `v`. `since_ms` is the time at which
 * these values came into force; 0 if unknown.
 */
static void record_version_in_force(struct policy_history *h, struct policy_version *v,
                                    const struct policy *p, int64_t since_ms)
{
    v->turn = ++h->turns;
    v->generation = p->generation;
    v->by = p->write.manager ? intern_ref(p->write.manager) : NULL;
    v->recovered = v->since_seen = false;
    update_key(v);
    v->since_ms = since_ms;
}

/* Returns the history of a policy that is read for the first time, with one reference. */
static MUST_USE struct policy_history *policy_history_new(struct pool *memory, struct entry *policy)
{
    struct policy_history *h = pool_alloc_zeroed(memory, sizeof(*h));
    const struct policy *p = entry_policy(policy);

    h->policy = policy;
    h->holders = 1;
    record_version_in_force(h, add_version(h, p->propagation), p,
                            p->write.time_ms ? p->write.time_ms : p->changed_ms);
    h->versions[0]->missed = true;
    return h;
}

/* Adds a reference and returns `h`. Accepts NULL. */
static struct policy_history *policy_history_ref(struct policy_history *h)
{
    if (h)
        h->holders++;
    return h;
}

void policy_history_drop(struct policy_history *h, struct intern *strings)
{
    if (!h || --h->holders > 0)
        return;
    for (size_t i = 0; i < h->count; i++)
        policy_version_free(h->versions[i], strings);
    if (h->unknown)
        policy_version_free(h->unknown, strings);
    pool_free(h->versions);
    pool_free(h);
}

/* Moves the version with these values to the end, or adds it there. The caller must set `by`. */
static struct policy_version *make_version_current(struct policy_history *h, struct intern *strings,
                                                   const struct propagation *values)
{
    for (size_t i = 0; i < h->count; i++) {
        struct policy_version *v = h->versions[i];

        if (!policy_version_equals_policy(v, values))
            continue;
        policy_version_set_values(v, strings, values);
        intern_drop(strings, v->by);
        unlink_version(h, i);
        return append_version(h, v);
    }
    return add_version(h, values);
}

/* Updates the history after the policy object `old` was replaced. */
static void policy_history_update(struct policy_history *h, struct intern *strings,
                                  const struct policy *old)
{
    const struct policy *p = entry_policy(h->policy);
    struct policy_version *current = h->versions[h->count - 1];
    bool missed = old->generation > 0 && p->generation > old->generation + 1;

    if (policy_version_equals_policy(current, p->propagation)) {
        current->missed |= missed;
        return;
    }
    int64_t since_ms = p->write.time_ms > old->write.time_ms ? p->write.time_ms
                       : p->undated                          ? 0
                                                             : p->changed_ms;

    current = make_version_current(h, strings, p->propagation);
    record_version_in_force(h, current, p, since_ms);
    current->undated = since_ms == 0;
    current->missed = missed;
}

void policy_history_date_versions(struct policy_history *h, int64_t now_ms)
{
    for (size_t i = 0; i < h->count; i++) {
        struct policy_version *v = h->versions[i];

        if (!v->undated)
            continue;
        v->since_ms = now_ms;
        v->since_seen = true;
        v->undated = false;
    }
}

/* ---- versions that templates run ---- */

/* Returns the last change of a binding's spec, else its last scheduling; 0 if unknown. */
static int64_t binding_values_time_ms(const struct binding *b)
{
    return b->changed_s ? binding_changed_ms(b) : (int64_t)b->status.scheduled_s * 1000;
}

/*
 * Returns the version that has the values of the binding; NULL without one. A binding that differs
 * only in the number of its PriorityClass (`priority_moved`) has the current version.
 */
static struct policy_version *find_running_version(const struct policy_history *h,
                                                   const struct running *r)
{
    const struct propagation *p = r->binding->propagation;
    size_t last = h->count - 1;
    unsigned differ = drift_fields(&h->versions[last]->values, r->priority, p, r->cluster_scoped);

    if (differ == 0 || r->priority_moved)
        return h->versions[last];
    for (size_t i = last; i-- > 0;) {
        if (policy_version_equals_binding(h->versions[i], p, r->cluster_scoped))
            return h->versions[i];
    }
    return NULL;
}

/*
 * Returns the turn for a recovered version with the values of the binding, which no version has:
 * the turn of the first `missed` version that is not older than the last write of the binding. If
 * the source observed a change (b->was_changed), the write must not precede the previous observed
 * version. If not, the values can be of any age, and the last `missed` version is the fallback.
 * Returns 0 if no version qualifies.
 */
static uint32_t missed_turn(const struct policy_history *h, const struct binding *b)
{
    /* Prefer the time of the copied fields: the scheduler changes other fields of the spec. */
    int64_t evidence_ms =
        b->propagated_s ? (int64_t)b->propagated_s * 1000 : binding_values_time_ms(b);
    int64_t before_ms = 0;
    uint32_t turn = 0;

    for (size_t i = 0; i < h->count; i++) {
        const struct policy_version *v = h->versions[i];

        if (v->recovered)
            continue;
        if (v->missed && evidence_ms && evidence_ms <= v->since_ms &&
            (!b->was_changed || before_ms <= evidence_ms))
            return v->turn;
        if (v->missed && !b->was_changed)
            turn = v->turn;
        before_ms = v->since_ms;
    }
    return turn;
}

/* Raises the evidence time of a recovered version to that of `b`, and moves the version by age. */
static void update_evidence_time(struct policy_version *v, const struct binding *b)
{
    int64_t evidence_ms = binding_values_time_ms(b);

    if (!v->recovered || evidence_ms <= v->evidence_ms)
        return;
    v->evidence_ms = evidence_ms;
    sort_version(v->history, index_of_version(v));
}

/* Returns h->unknown; adds it if it is missing. */
static struct policy_version *find_or_add_unknown(struct policy_history *h)
{
    if (!h->unknown) {
        h->unknown = pool_alloc_zeroed(pool_of(h), sizeof(*h->unknown));
        h->unknown->history = h;
    }
    return h->unknown;
}

/*
 * Returns the version that has the values of the binding, as find_running_version() does. Without
 * one, adds a recovered version: the values may have been in force before the history began or
 * while the exporter did not watch. Returns the unknown version if missed_turn() finds no turn, the
 * binding has no claim of the policy, or the history has too many recovered versions.
 */
static struct policy_version *find_or_recover_running_version(struct policy_history *h,
                                                              const struct running *r)
{
    struct policy_version *v = find_running_version(h, r);
    size_t recovered = 0;
    uint32_t turn;

    if (v) {
        if (r->has_policy_claim)
            update_evidence_time(v, r->binding);
        return v;
    }
    for (size_t i = 0; i < h->count; i++)
        recovered += h->versions[i]->recovered;
    turn = r->has_policy_claim ? missed_turn(h, r->binding) : 0;
    if (turn == 0 || recovered >= POLICY_VERSIONS_RECOVERED_MAX)
        return find_or_add_unknown(h);
    v = add_version(h, r->binding->propagation);
    v->recovered = true;
    update_key(v);
    v->turn = turn;
    v->evidence_ms = binding_values_time_ms(r->binding);
    sort_version(h, h->count - 1);
    return v;
}

/* ---- queries ---- */

/*
 * Returns true if a recovered version has the turn of another recovered version, and their evidence
 * times do not order them.
 */
static bool has_unknown_order(const struct policy_version *v)
{
    const struct policy_history *h = v->history;

    for (size_t i = 0; v->recovered && i < h->count; i++) {
        const struct policy_version *other = h->versions[i];

        if (other != v && other->recovered && other->turn == v->turn &&
            (!other->evidence_ms || !v->evidence_ms || other->evidence_ms == v->evidence_ms))
            return true;
    }
    return false;
}

int policy_version_count_later(const struct policy_version *v)
{
    if (policy_version_is_unknown(v) || has_unknown_order(v))
        return -1;
    return (int)(v->history->count - 1 - index_of_version(v));
}

int64_t policy_version_superseded_ms(const struct policy_version *v)
{
    const struct policy_history *h = v->history;

    if (policy_version_is_unknown(v))
        return 0;
    for (size_t i = index_of_version(v) + 1; i < h->count; i++) {
        if (h->versions[i]->since_ms)
            return h->versions[i]->since_ms;
    }
    return 0;
}

size_t policy_history_count_used_versions(const struct policy_history *h)
{
    size_t count = h->unknown && h->unknown->templates > 0;

    for (size_t i = 0; i < h->count; i++)
        count += h->versions[i]->templates > 0;
    return count;
}

uint32_t policy_history_count_outdated_templates(const struct policy_history *h)
{
    uint32_t count = h->unknown ? h->unknown->templates : 0;

    for (size_t i = 0; i + 1 < h->count; i++)
        count += h->versions[i]->templates;
    return count;
}

const struct policy_version *policy_history_find_version(const struct policy_history *h,
                                                         const char *name)
{
    char number[16], hash[POLICY_VERSION_HASH_SIZE];

    for (size_t i = 0; i < h->count; i++) {
        snprintf(number, sizeof(number), "%" PRIu32, h->versions[i]->number);
        policy_version_hash(h->versions[i], hash);
        if (strcmp(name, number) == 0 || strcmp(name, hash) == 0)
            return h->versions[i];
    }
    return NULL;
}

/* ---- histories of all policies ---- */

static bool is_history_of(const void *item, const void *key)
{
    return ((const struct policy_history *)item)->policy == key;
}

void policy_versions_init(struct policy_versions *all, struct intern *strings, size_t limit)
{
    *all = (struct policy_versions){
        .by_policy = MAP_INIT(is_history_of), .strings = strings, .limit = limit};
}

void policy_versions_release(struct policy_versions *all)
{
    struct policy_history *h;

    for (size_t i = 0; i < all->queued_count; i++)
        policy_history_drop(all->queued[i], all->strings);
    for (size_t at = 0; (h = map_next(&all->by_policy, &at)) != NULL;)
        policy_history_drop(h, all->strings);
    map_release(&all->by_policy);
    free(all->queued);
}

static struct policy_history *find_history(const struct policy_versions *all,
                                           const struct entry *policy)
{
    return map_get(&all->by_policy, map_hash_address(policy), policy);
}

/* Returns true if a policy was deleted and created again between its objects `old` and `fresh`. */
static bool is_recreated(const struct policy *old, const struct policy *fresh)
{
    return (old->id && fresh->id && old->id != fresh->id) ||
           (old->created_ms && fresh->created_ms && old->created_ms != fresh->created_ms);
}

void policy_versions_update(struct policy_versions *all, struct entry *policy,
                            const struct policy *old)
{
    const struct policy *fresh = entry_policy(policy);
    struct policy_history *h = find_history(all, policy);

    if (all->paused)
        return;
    if (h && (!fresh || is_recreated(old, fresh))) {
        map_take(&all->by_policy, map_hash_address(policy), policy);
        h->gone = true;
        policy_history_drop(h, all->strings);
        h = NULL;
    }
    if (!fresh)
        return;
    if (h) {
        policy_history_update(h, all->strings, old);
        policy_history_trim(h, all->strings, all->limit);
        return;
    }
    map_add(&all->by_policy, map_hash_address(policy),
            policy_history_new(intern_memory(all->strings), policy));
}

struct policy_history *policy_versions_ref_history(const struct policy_versions *all,
                                                   const struct entry *policy)
{
    return policy_history_ref(find_history(all, policy));
}

/* Queues a history for policy_versions_report_queued(), if it is not queued yet. */
static void queue_for_report(struct policy_versions *all, struct policy_history *h)
{
    if (h->queued)
        return;
    h->queued = true;
    if (all->queued_count == all->queued_capacity) {
        all->queued_capacity = all->queued_capacity ? 2 * all->queued_capacity : 16;
        all->queued =
            xreallocarray(all->queued, all->queued_capacity, sizeof(struct policy_history *));
    }
    all->queued[all->queued_count++] = policy_history_ref(h);
}

struct policy_version *policy_versions_add_template(struct policy_versions *all,
                                                    struct policy_history *h,
                                                    const struct running *r)
{
    struct policy_version *v;

    if (!h)
        return NULL;
    v = all->paused ? find_running_version(h, r) : find_or_recover_running_version(h, r);
    if (!v)
        v = find_or_add_unknown(h);
    v->templates++;
    policy_history_ref(h);
    queue_for_report(all, h);
    return v;
}

void policy_versions_remove_template(struct policy_versions *all, struct policy_version *v)
{
    struct policy_history *h;

    if (!v)
        return;
    h = v->history;
    v->templates--;
    queue_for_report(all, h);
    policy_history_drop(h, all->strings);
}

bool policy_versions_report_queued(struct policy_versions *all, size_t budget,
                                   void (*decided)(void *context, struct entry *policy),
                                   void *context)
{
    for (; budget > 0 && all->queued_count > 0; budget--) {
        struct policy_history *h = all->queued[--all->queued_count];

        h->queued = false;
        if (!all->paused)
            policy_history_trim(h, all->strings, all->limit);
        if (decided && !h->gone)
            decided(context, h->policy);
        policy_history_drop(h, all->strings);
    }
    return all->queued_count == 0;
}
