/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/problems/problem_tallies.h"

#include "metrics/model/binding.h"
#include "metrics/rules/problems/problem.h"
#include "metrics/rules/replica_projection.h"

/* Exact, so that each addition can be undone. */
typedef __int128 wide_int;

struct policy_tally {
    struct entry *policy; /* Pinned. */
    struct policy_sums counts;
};

struct resource_sum {
    const char *resource; /* Interned, with a reference. */
    wide_int arriving;    /* In thousandths of the base unit. */
    wide_int leaving;
    uint32_t uses; /* Number of movements in the sums. */
};

struct cluster_tally {
    struct entry *cluster; /* Existing or not; pinned. */
    const char *name;      /* Interned, with a reference. */
    struct resource_sum *sums;
    uint32_t sum_count;
    struct cluster_sums counts;
    uint16_t number;
    bool had_targets; /* Value when the Cluster was last queued. */
    bool refused;     /* Value of cluster_refuses() then. */
};

struct ready_changes {
    struct entry *cluster; /* Has an object. */
    uint64_t changes;
    int64_t times_ms[FLAPS]; /* The last changes: a ring by number of the change. */
};

enum { UNDATED_MS = -1 };

static bool is_tally_of_policy(const void *item, const void *key)
{
    return ((const struct policy_tally *)item)->policy == key;
}

static bool is_tally_of_cluster(const void *item, const void *key)
{
    return ((const struct cluster_tally *)item)->name == key;
}

static bool is_about_cluster(const void *item, const void *key)
{
    return ((const struct ready_changes *)item)->cluster == key;
}

void problem_tallies_init(struct problem_tallies *t, struct store *store)
{
    *t = (struct problem_tallies){
        .store = store,
        .policies = MAP_INIT(is_tally_of_policy),
        .clusters = MAP_INIT(is_tally_of_cluster),
        .readiness = MAP_INIT(is_about_cluster),
    };
}

/* ---- policies ---- */

struct policy_sums problem_tallies_policy(const struct problem_tallies *t,
                                          const struct entry *policy)
{
    const struct policy_tally *tally = map_get(&t->policies, map_hash_address(policy), policy);

    return tally ? tally->counts : (struct policy_sums){0};
}

static struct policy_tally *find_or_add_policy(struct problem_tallies *t, struct entry *policy)
{
    struct policy_tally *tally = map_get(&t->policies, map_hash_address(policy), policy);

    if (tally)
        return tally;
    tally = xmalloc(sizeof(*tally));
    *tally = (struct policy_tally){.policy = policy};
    store_pin(policy);
    map_add(&t->policies, map_hash_address(policy), tally);
    return tally;
}

static void add_to_count(struct problem_tallies *t, struct problems *problems, struct entry *policy,
                         size_t member, bool add)
{
    assert(policy);

    struct policy_tally *tally = find_or_add_policy(t, policy);
    uint32_t *count = (uint32_t *)(void *)((char *)&tally->counts + member);

    assert(add || *count > 0);
    *count += add ? 1U : UINT32_MAX;
    /* Conditions depend only on whether a count is 0. */
    if (*count == (add ? 1 : 0))
        problems_queue(problems, policy);
    if (tally->counts.selected + tally->counts.ties + tally->counts.outranked > 0)
        return;
    map_take(&t->policies, map_hash_address(policy), policy);
    free(tally);
    store_unpin(t->store, policy);
}

static void count_policies(struct problem_tallies *t, struct problems *problems,
                           const struct template_decision *d, bool add)
{
    if (!d || d->state == STATE_IGNORED)
        return;
    /* Candidates come last: the count of the winner keeps its entry, which the others read. */
    if (d->tied)
        add_to_count(t, problems, decision_winner(d), offsetof(struct policy_sums, ties), add);
    if (decision_is_outranked(d))
        add_to_count(t, problems, decision_governing(d), offsetof(struct policy_sums, outranked),
                     add);
    for (uint32_t i = 0; i < d->candidate_count; i++) {
        if (!d->candidates[i].excluded)
            add_to_count(t, problems, decision_candidate(d, i).policy,
                         offsetof(struct policy_sums, selected), add);
    }
}

/* Returns true if count_policies() does the same for both decisions. */
static bool has_same_policies(const struct template_decision *a, const struct template_decision *b)
{
    if (!a || !b)
        return a == b;
    if ((a->state == STATE_IGNORED) != (b->state == STATE_IGNORED) ||
        a->candidate_count != b->candidate_count || a->tied != b->tied ||
        decision_winner(a) != decision_winner(b) ||
        decision_governing(a) != decision_governing(b) ||
        decision_claimed(a) != decision_claimed(b))
        return false;
    for (uint32_t i = 0; i < a->candidate_count; i++) {
        if (a->candidates[i].policy != b->candidates[i].policy ||
            a->candidates[i].excluded != b->candidates[i].excluded)
            return false;
    }
    return true;
}

/* ---- member clusters ---- */

/* Returns the lowest free number, now of `tally`; TALLY_CLUSTER_MAX without a free one. */
static uint16_t take_number(struct problem_tallies *t, struct cluster_tally *tally)
{
    uint32_t number = 0;

    while (number < t->number_count && t->numbered[number])
        number++;
    if (number == TALLY_CLUSTER_MAX)
        return TALLY_CLUSTER_MAX;
    if (number == t->number_count)
        t->numbered = xreallocarray(t->numbered, ++t->number_count, sizeof(struct cluster_tally *));
    t->numbered[number] = tally;
    return (uint16_t)number;
}

/* Returns the tally of an interned name; adds one, which may lack a number. */
static struct cluster_tally *find_or_add_cluster(struct problem_tallies *t, const char *name)
{
    const struct kind_def *def = kind_of_clusters();
    struct cluster_tally *tally = map_get(&t->clusters, map_hash_address(name), name);

    if (tally)
        return tally;
    tally = xcalloc(1, sizeof(*tally));
    tally->cluster =
        store_find_or_add(t->store, &(struct identity){def->api_version, def->name, "", name});
    tally->name = intern_ref(name);
    tally->number = take_number(t, tally);
    store_pin(tally->cluster);
    map_add(&t->clusters, map_hash_address(name), tally);
    return tally;
}

static const struct cluster_tally *find_cluster(const struct problem_tallies *t,
                                                const struct entry *cluster)
{
    const char *name = intern_find(store_string_pool(t->store), cluster->name);

    return name && entry_class(cluster) == CLASS_CLUSTER
               ? map_get(&t->clusters, map_hash_address(name), name)
               : NULL;
}

struct cluster_sums problem_tallies_cluster(const struct problem_tallies *t,
                                            const struct entry *cluster)
{
    const struct cluster_tally *tally = find_cluster(t, cluster);

    return tally ? tally->counts : (struct cluster_sums){0};
}

/* Frees a tally without sums. */
static void drop_cluster_if_empty(struct problem_tallies *t, struct cluster_tally *tally)
{
    if (tally->counts.targets > 0 || tally->sum_count > 0)
        return;
    map_take(&t->clusters, map_hash_address(tally->name), tally->name);
    if (tally->number != TALLY_CLUSTER_MAX)
        t->numbered[tally->number] = NULL;
    intern_drop(store_string_pool(t->store), tally->name);
    store_unpin(t->store, tally->cluster);
    free(tally->sums);
    free(tally);
}

void problem_tallies_queue_clusters(const struct problem_tallies *t, struct problems *problems)
{
    struct cluster_tally *tally;

    for (size_t at = 0; (tally = map_next(&t->clusters, &at)) != NULL;)
        problems_queue(problems, tally->cluster);
}

/* ---- targets ---- */

static bool is_refused(struct stage_and_reason target)
{
    return target.stage == STAGE_UNAPPLIED && target.reason == WHY_REFUSED;
}

/* Sets the numbers of the targets' clusters; looks names up only where `old` does not help. */
static void number_targets(struct problem_tallies *t, struct template_decision *old,
                           struct template_decision *fresh)
{
    const struct binding *b = entry_binding(decision_binding(fresh));
    uint16_t *numbers = decision_target_clusters(fresh);
    uint32_t known = old ? old->target_count : 0;

    for (uint32_t i = 0; i < fresh->target_count; i++) {
        uint16_t last = i < known ? decision_target_clusters(old)[i] : TALLY_CLUSTER_MAX;
        struct cluster_tally *tally = last < t->number_count ? t->numbered[last] : NULL;

        if (!tally || tally->name != b->clusters[i].name)
            tally = find_or_add_cluster(t, b->clusters[i].name);
        numbers[i] = tally->number;
        if (tally->number == TALLY_CLUSTER_MAX)
            drop_cluster_if_empty(t, tally);
    }
}

static bool has_same_targets(struct template_decision *a, struct template_decision *b)
{
    if (!a || !b || a->target_count != b->target_count)
        return false;
    for (uint32_t i = 0; i < a->target_count; i++) {
        if (decision_target_clusters(a)[i] != decision_target_clusters(b)[i] ||
            is_refused(decision_targets(a)[i]) != is_refused(decision_targets(b)[i]))
            return false;
    }
    return true;
}

/* Returns the tally of a target; NULL if it is not counted. */
static struct cluster_tally *tally_of_target(const struct problem_tallies *t,
                                             struct template_decision *d, uint32_t target)
{
    uint16_t number = decision_target_clusters(d)[target];

    return number < t->number_count ? t->numbered[number] : NULL;
}

static void count_targets(const struct problem_tallies *t, struct template_decision *d, bool add)
{
    for (uint32_t i = 0; d && i < d->target_count; i++) {
        struct cluster_tally *tally = tally_of_target(t, d, i);
        uint32_t refused = is_refused(decision_targets(d)[i]);

        if (!tally)
            continue;
        tally->counts.targets += add ? 1U : UINT32_MAX;
        tally->counts.refused += add ? refused : -refused;
    }
}

/* Queues the Clusters of changed targets, and frees those without targets. */
static void settle_targets(struct problem_tallies *t, struct problems *problems,
                           struct template_decision *d)
{
    for (uint32_t i = 0; d && i < d->target_count; i++) {
        struct cluster_tally *tally = tally_of_target(t, d, i);

        if (!tally)
            continue;
        bool has_targets = tally->counts.targets > 0, refuses = cluster_refuses(tally->counts);

        if (has_targets != tally->had_targets || refuses != tally->refused)
            problems_queue(problems, tally->cluster);
        tally->had_targets = has_targets;
        tally->refused = refuses;
        drop_cluster_if_empty(t, tally);
    }
}

static void update_targets(struct problem_tallies *t, struct problems *problems,
                           struct template_decision *old, struct template_decision *fresh)
{
    if (fresh)
        number_targets(t, old, fresh);
    if (has_same_targets(old, fresh))
        return;
    /* Additions come first, so that no count is 0 in between. */
    count_targets(t, fresh, true);
    count_targets(t, old, false);
    settle_targets(t, problems, fresh);
    settle_targets(t, problems, old);
}

/* ---- movements ---- */

static struct resource_sum *find_or_add_sum(struct cluster_tally *tally, const char *resource)
{
    for (uint32_t i = 0; i < tally->sum_count; i++) {
        if (tally->sums[i].resource == resource)
            return &tally->sums[i];
    }
    tally->sums = xreallocarray(tally->sums, tally->sum_count + (size_t)1, sizeof(*tally->sums));
    tally->sums[tally->sum_count] = (struct resource_sum){.resource = intern_ref(resource)};
    return &tally->sums[tally->sum_count++];
}

static wide_int in_thousandths(double amount, int32_t times)
{
    double scaled = amount * 1000;

    return (wide_int)(scaled < 0x1p62 ? (int64_t)(scaled + 0.5) : INT64_MAX) * times;
}

static void add_movement(struct problem_tallies *t, struct cluster_tally *tally,
                         const struct resource_request *request, const struct cluster_movement *m,
                         bool add)
{
    struct resource_sum *sum = find_or_add_sum(tally, request->resource);
    int sign = add ? 1 : -1;

    sum->arriving += sign * in_thousandths(request->amount, m->replicas[MOVEMENT_ARRIVING]);
    sum->leaving += sign * in_thousandths(request->amount, m->replicas[MOVEMENT_LEAVING]);
    sum->uses += add ? 1U : UINT32_MAX;
    if (sum->uses > 0)
        return;
    intern_drop(store_string_pool(t->store), sum->resource);
    *sum = tally->sums[--tally->sum_count];
}

static bool moves(const struct cluster_movement *m)
{
    return m->replicas[MOVEMENT_ARRIVING] != 0 || m->replicas[MOVEMENT_LEAVING] != 0;
}

static void sum_movements(struct problem_tallies *t, struct problems *problems,
                          const struct capacity *c, bool add)
{
    struct movement_walk walk = {0};
    struct cluster_movement m;
    struct resource_request pods = {.amount = 1};

    if (!c || !c->moves)
        return;
    pods.resource = intern_add(store_string_pool(t->store), "pods");
    while (capacity_next_movement(c, &walk, &m)) {
        struct cluster_tally *tally;

        if (!moves(&m))
            continue;
        tally = find_or_add_cluster(t, m.cluster);
        for (uint32_t i = 0; i < c->request_count; i++)
            add_movement(t, tally, &c->requests[i], &m, add);
        add_movement(t, tally, &pods, &m, add);
        problems_queue(problems, tally->cluster);
        if (!add)
            drop_cluster_if_empty(t, tally);
    }
    intern_drop(store_string_pool(t->store), pods.resource);
}

bool problem_tallies_next_movement(const struct problem_tallies *t, const struct entry *cluster,
                                   uint32_t *at, struct movement_total *out)
{
    const struct cluster_tally *tally = find_cluster(t, cluster);
    const struct resource_sum *sum;

    if (!tally || *at >= tally->sum_count)
        return false;
    sum = &tally->sums[(*at)++];
    *out = (struct movement_total){sum->resource, (double)sum->arriving / 1000,
                                   (double)sum->leaving / 1000};
    return true;
}

/* ---- update ---- */

void problem_tallies_update(struct problem_tallies *t, struct problems *problems,
                            struct template_decision *old, struct template_decision *fresh)
{
    if (!has_same_policies(old, fresh)) {
        count_policies(t, problems, fresh, true);
        count_policies(t, problems, old, false);
    }
    update_targets(t, problems, old, fresh);
    if (fresh)
        sum_movements(t, problems, decision_capacity(fresh), true);
    if (old)
        sum_movements(t, problems, decision_capacity(old), false);
    if (fresh && decision_binding(fresh) &&
        decision_reports_missing_claim(old) != decision_reports_missing_claim(fresh))
        problems_queue(problems, decision_binding(fresh));
}

/* ---- readiness ---- */

void problem_tallies_note_readiness(struct problem_tallies *t, struct entry *cluster)
{
    struct ready_changes *r = map_get(&t->readiness, map_hash_address(cluster), cluster);

    if (!r) {
        r = xcalloc(1, sizeof(*r));
        r->cluster = cluster;
        map_add(&t->readiness, map_hash_address(cluster), r);
    }
    r->times_ms[r->changes++ % FLAPS] = UNDATED_MS;
    t->undated = true;
}

void problem_tallies_forget_readiness(struct problem_tallies *t, const struct entry *cluster)
{
    free(map_take(&t->readiness, map_hash_address(cluster), cluster));
}

void problem_tallies_date_readiness(struct problem_tallies *t, int64_t now_ms)
{
    struct ready_changes *r;

    if (!t->undated)
        return;
    t->undated = false;
    for (size_t at = 0; (r = map_next(&t->readiness, &at)) != NULL;) {
        for (size_t i = 0; i < FLAPS; i++) {
            if (r->times_ms[i] == UNDATED_MS)
                r->times_ms[i] = now_ms;
        }
    }
}

int64_t problem_tallies_flaps_until_ms(const struct problem_tallies *t, const struct entry *cluster)
{
    const struct ready_changes *r = map_get(&t->readiness, map_hash_address(cluster), cluster);

    /* The slot of the next change has the oldest one. */
    return r && r->changes >= FLAPS ? r->times_ms[r->changes % FLAPS] + FLAP_WINDOW_MS : 0;
}

/* ---- end ---- */

static void release_cluster(struct intern *strings, struct cluster_tally *tally)
{
    for (uint32_t i = 0; i < tally->sum_count; i++)
        intern_drop(strings, tally->sums[i].resource);
    intern_drop(strings, tally->name);
    free(tally->sums);
    free(tally);
}

void problem_tallies_release(struct problem_tallies *t)
{
    struct policy_tally *policy;
    struct cluster_tally *cluster;
    struct ready_changes *r;

    for (size_t at = 0; (policy = map_next(&t->policies, &at)) != NULL;)
        free(policy);
    for (size_t at = 0; (cluster = map_next(&t->clusters, &at)) != NULL;)
        release_cluster(store_string_pool(t->store), cluster);
    for (size_t at = 0; (r = map_next(&t->readiness, &at)) != NULL;)
        free(r);
    map_release(&t->policies);
    map_release(&t->clusters);
    map_release(&t->readiness);
    free(t->numbered);
    *t = (struct problem_tallies){0};
}
