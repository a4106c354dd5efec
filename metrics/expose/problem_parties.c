/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/problem_parties.h"

#include "metrics/expose/policy_names.h"
#include "metrics/model/template.h"
#include "metrics/rules/override/template_overrides.h"
#include "metrics/rules/problems/replica_contest.h"
#include "metrics/rules/replica_projection.h"
#include "metrics/rules/rule.h"

enum {
    EVICTION_TIMEOUT_S = 10 * 60, /* Karmada: default of --graceful-eviction-timeout. */
    /* Each of many templates with one name has the others as parties: their number is limited. */
    COLLISIONS_MAX = 100,
};

/* Returns the decision about the subject if it is a template; NULL else. */
static const struct template_decision *decision_of(const struct problem *p)
{
    return p->subject ? template_decision(p->subject) : NULL;
}

/* Returns the binding of the subject; NULL without one. */
static const struct binding *binding_of(const struct problem *p)
{
    const struct template_decision *d = decision_of(p);

    return entry_binding(d ? decision_binding(d) : p->subject);
}

/* ---- clusters ---- */

/* Growing list of names. */
struct cluster_names {
    const char **items;
    size_t count;
    size_t capacity;
};

static void add_name(struct cluster_names *names, const char *name)
{
    if (names->count == names->capacity) {
        names->capacity = names->capacity ? names->capacity * 2 : 8;
        names->items = xreallocarray(names->items, names->capacity, sizeof(*names->items));
    }
    names->items[names->count++] = name;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Returns true if a target in this stage fails in the sense of the problem. */
static bool fails(enum problem_id problem, struct stage_and_reason at)
{
    switch ((unsigned)at.stage) {
    case STAGE_UNDISPATCHED:
    case STAGE_UNAPPLIED:
    case STAGE_UNDELIVERED:
        if (at.reason == WHY_OVERRIDE_FAILED)
            return problem == PROBLEM_OVERRIDE_FAILED;
        return problem == PROBLEM_NOT_DELIVERED && at.reason != WHY_SUSPENDED &&
               at.reason != WHY_CLUSTER_NOT_READY;
    case STAGE_UNHEALTHY:
        return problem == PROBLEM_UNHEALTHY;
    default:
        return false;
    }
}

/* Returns true if the word of the target's reason is that of the problem's reason. */
static bool has_reason(const struct problem *p, struct stage_and_reason at)
{
    return problem_id(p) == PROBLEM_OVERRIDE_FAILED ||
           strcmp(stage_reason_names[at.reason], problem_reasons[p->reason].name) == 0;
}

/* Returns true if target `i` fails, with `of_reason` for the reason of the instance. */
static bool is_failing_target(const struct problem *p, uint32_t i, bool of_reason)
{
    struct template_decision *d = entry_decision(p->subject);
    struct stage_and_reason at = decision_targets(d)[i];

    return fails(problem_id(p), at) && (!of_reason || has_reason(p, at));
}

static void add_failing_targets(const struct problem *p, bool of_reason, struct cluster_names *out)
{
    const struct binding *b = binding_of(p);

    for (uint32_t i = 0; b && i < decision_of(p)->target_count; i++) {
        if (is_failing_target(p, i, of_reason))
            add_name(out, b->clusters[i].name);
    }
}

/* Adds the clusters for which the override policies will fail. */
static void add_failing_overrides(const struct engine *e, const struct problem *p,
                                  struct cluster_names *out)
{
    const struct store *store = engine_store(e);
    struct template_overrides overrides =
        template_overrides_make(engine_context_const(e), p->subject, true);

    /* The names of predicted targets end with the prediction, those in the pool do not. */
    for (size_t i = 0; i < overrides.count; i++) {
        const struct target_override *t = &overrides.items[i];
        const char *name = intern_find(store_string_pool(store), t->cluster);

        if (target_override_fails(t) && name)
            add_name(out, name);
    }
    template_overrides_release(&overrides);
}

static void add_all_targets(const struct problem *p, struct cluster_names *out)
{
    const struct binding *b = binding_of(p);

    for (uint32_t i = 0; b && i < binding_target_count(b); i++)
        add_name(out, b->clusters[i].name);
}

/* Adds the clusters of eviction tasks that end by themselves, or of those that do not. */
static void add_evicted_clusters(const struct problem *p, bool suppresses,
                                 struct cluster_names *out)
{
    const struct binding *b = binding_of(p);
    const struct status_problem *status = b ? b->status.problem : NULL;

    for (uint32_t i = 0; status && i < status->eviction_count; i++) {
        if (status->evictions[i].suppresses == suppresses)
            add_name(out, status->evictions[i].cluster);
    }
}

/* Adds the targets that the placement of the binding does not allow. */
static void add_targets_off_placement(const struct engine *e, const struct problem *p,
                                      struct cluster_names *out)
{
    struct placements *placements = engine_context_const(e)->placements;
    const struct binding *b = binding_of(p);
    const struct resolved_placement *resolved;

    if (!b || !b->has_placement)
        return;
    resolved = placements_ref(placements, b->propagation->placement);
    for (uint32_t i = 0; i < b->cluster_count; i++) {
        if (!placements_allow_cluster(placements, resolved, b->clusters[i].name))
            add_name(out, b->clusters[i].name);
    }
    placements_drop(placements, resolved);
}

/* Adds the clusters that the governing policy does not allow. */
static void add_forbidden_clusters(const struct problem *p, struct cluster_names *out)
{
    const struct template_decision *d = decision_of(p);
    const struct capacity *c = d ? decision_capacity(d) : NULL;

    for (uint32_t i = 0; c && i < c->assigned_count; i++) {
        if (c->assigned[i].forbidden)
            add_name(out, c->assigned[i].name);
    }
}

static void add_member_conflicts(const struct problem *p, struct cluster_names *out)
{
    const struct binding *b = binding_of(p);
    const struct member_conflict *m = b ? binding_rare(b)->member_conflicts : NULL;

    for (; m && m->cluster; m++)
        add_name(out, m->cluster);
}

static void add_contested_cluster(void *context, const char *cluster)
{
    add_name(context, cluster);
}

static void add_clusters_of_template(const struct engine *e, const struct problem *p,
                                     bool of_reason, struct cluster_names *out)
{
    switch ((unsigned)problem_id(p)) {
    case PROBLEM_NOT_DELIVERED:
    case PROBLEM_OVERRIDE_FAILED:
    case PROBLEM_UNHEALTHY:
        if (p->reason == PROBLEM_REASON_OVERRIDE_FAILED_PREDICTED)
            add_failing_overrides(e, p, out);
        else
            add_failing_targets(p, of_reason, out);
        return;
    case PROBLEM_LAST_COPY_AT_RISK:
    case PROBLEM_EVICTION_STUCK:
        add_evicted_clusters(p, false, out);
        return;
    case PROBLEM_TWO_COPIES_HELD:
        add_evicted_clusters(p, true, out);
        return;
    case PROBLEM_PLACEMENT_AT_RISK:
    case PROBLEM_ON_FALLBACK:
    case PROBLEM_CLOUD_RESOURCE_CONFLICT:
    case PROBLEM_DELETION_TRAP:
        add_all_targets(p, out);
        return;
    case PROBLEM_REPLICAS_CONTESTED:
        replica_contest_each_cluster(engine_context_const(e), p->subject, p->reason,
                                     add_contested_cluster, out);
        return;
    case PROBLEM_FORBIDDEN_PLACEMENT:
        if (p->reason == PROBLEM_REASON_FORBIDDEN_PLACEMENT_BINDING)
            add_targets_off_placement(e, p, out);
        else
            add_forbidden_clusters(p, out);
        return;
    case PROBLEM_MANAGEMENT_CONFLICT:
        add_member_conflicts(p, out);
        return;
    default:
        return;
    }
}

static void each_cluster(const struct engine *e, const struct problem *p, bool of_reason,
                         problem_cluster_fn *each, void *context)
{
    struct cluster_names names = {0};

    if (p->subject && entry_class(p->subject) == CLASS_CLUSTER)
        add_name(&names, p->subject->name);
    else if (decision_of(p))
        add_clusters_of_template(e, p, of_reason, &names);
    if (names.count > 1)
        qsort(names.items, names.count, sizeof(*names.items), compare_names);
    for (size_t i = 0; i < names.count; i++) {
        if (i == 0 || strcmp(names.items[i - 1], names.items[i]) != 0)
            each(context, names.items[i]);
    }
    free(names.items);
}

void problem_each_cluster(const struct engine *e, const struct problem *p, problem_cluster_fn *each,
                          void *context)
{
    each_cluster(e, p, false, each, context);
}

void problem_each_cluster_of_reason(const struct engine *e, const struct problem *p,
                                    problem_cluster_fn *each, void *context)
{
    each_cluster(e, p, true, each, context);
}

/* ---- other parties ---- */

/* Growing list of entries. */
struct parties {
    const struct entry **items;
    size_t count;
    size_t capacity;
    const struct problem *problem;
};

static void add_party(struct parties *parties, const struct entry *entry)
{
    if (!entry || entry == parties->problem->subject)
        return;
    if (parties->count == parties->capacity) {
        parties->capacity = parties->capacity ? parties->capacity * 2 : 8;
        parties->items = xreallocarray(parties->items, parties->capacity, sizeof(struct entry *));
    }
    parties->items[parties->count++] = entry;
}

static int compare_parties(const void *a, const void *b)
{
    return entry_compare(*(const struct entry *const *)a, *(const struct entry *const *)b);
}

const char *const dependency_field_paths[DEPENDENCY_FIELD_COUNT] = {
    [DEPENDENCY_CONFLICT_RESOLUTION] = "spec.conflictResolution",
    [DEPENDENCY_PRESERVE] = "spec.preserveResourcesOnDeletion",
};

enum dependency_field problem_dependency_field(const struct problem *p)
{
    const char *reason = problem_reasons[p->reason].name;
    unsigned field = 0;

    while (field < DEPENDENCY_FIELD_COUNT && strcmp(dependency_field_names[field], reason) != 0)
        field++;
    return (enum dependency_field)field;
}

/* Adds a referrer, and the policy that decides which values it requests (referrer_policy()). */
static void add_referrer(void *context, const struct dependency_referrer *referrer)
{
    struct parties *parties = context;
    bool predicted = problem_id(parties->problem) == PROBLEM_CONFLICT_PREDICTED;

    if (!(predicted ? referrer->counts_current : referrer->counts_observed))
        return;
    add_party(parties, referrer->template ? referrer->template : referrer->binding);
    add_party(parties, referrer_policy_entry(referrer, predicted));
}

/* Adds the first COLLISIONS_MAX templates of other objects with the subject's binding name. */
static void add_templates_of_binding_name(const struct engine *e, struct parties *out)
{
    const struct entry *others[COLLISIONS_MAX];
    size_t count = name_collisions_list_others(engine_context_const(e)->binding_names,
                                               out->problem->subject, others, COLLISIONS_MAX);

    for (size_t i = 0; i < count && i < COLLISIONS_MAX; i++)
        add_party(out, others[i]);
}

/* Adds the first COLLISIONS_MAX other templates with the subject's cloud resource. */
static void add_templates_of_resource(const struct engine *e, struct parties *out)
{
    const struct entry *others[COLLISIONS_MAX];
    size_t count = engine_same_resource_templates(e, out->problem->subject, others, COLLISIONS_MAX);

    for (size_t i = 0; i < count && i < COLLISIONS_MAX; i++)
        add_party(out, others[i]);
}

static void add_tied_policies(struct parties *out)
{
    struct policy_overlaps overlaps = policy_overlaps_of(out->problem->subject);

    for (size_t i = 0; i < overlaps.count; i++) {
        if (policy_overlap_is_tie(&overlaps.items[i]) && overlaps.items[i].first)
            add_party(out, overlaps.items[i].policy);
    }
    policy_overlaps_release(&overlaps);
}

/* Adds the policies that would win a fresh match for templates that the subject governs. */
static void add_outranking_policies(struct parties *out)
{
    const struct entry *policy = out->problem->subject;

    for (uint32_t i = 0; i < entry_reader_count(policy); i++) {
        const struct template_decision *d = template_decision(entry_reader(policy, i));

        if (d && entry_exists(entry_reader(policy, i)) && d->state != STATE_IGNORED &&
            decision_governing(d) == policy && decision_winner(d) && decision_winner(d) != policy)
            add_party(out, decision_winner(d));
    }
}

static void add_missing_bindings(struct parties *out)
{
    const struct entry *binding = out->problem->subject;

    for (uint32_t i = 0; i < entry_read_count(binding); i++) {
        const struct entry *read = entry_read(binding, i);

        if (entry_class(read) == CLASS_BINDING && !entry_exists(read))
            add_party(out, read);
    }
}

/* Adds the other candidates of a template that are in deletion. */
static void add_deleting_policies(const struct template_decision *d, struct parties *out)
{
    for (uint32_t i = 0; i < d->candidate_count; i++) {
        if (d->candidates[i].deleting)
            add_party(out, decision_candidate(d, i).policy);
    }
}

static void add_autoscaler(void *context, const struct entry *autoscaler)
{
    add_party(context, autoscaler);
}

/* Adds the override policies that will fail. */
static void add_failing_policies(const struct engine *e, struct parties *out)
{
    struct template_overrides overrides =
        template_overrides_make(engine_context_const(e), out->problem->subject, true);

    for (size_t i = 0; i < overrides.count; i++) {
        if (target_override_fails(&overrides.items[i]))
            add_party(out, overrides.items[i].effect.failed_policy);
    }
    template_overrides_release(&overrides);
}

void problem_add_override_failure(const struct engine *e, const struct problem *p,
                                  struct strbuf *out)
{
    struct template_overrides overrides;
    const struct target_override *t;

    if (p->reason != PROBLEM_REASON_OVERRIDE_FAILED_PREDICTED || !decision_of(p))
        return;
    overrides = template_overrides_make(engine_context_const(e), p->subject, true);
    t = template_overrides_find_failure(&overrides);
    if (t)
        strbuf_adds(out, override_failure_text(&t->effect, override_values_are_hidden(p->subject)));
    template_overrides_release(&overrides);
}

static void add_parties_of_template(const struct engine *e, struct parties *out)
{
    const struct problem *p = out->problem;
    const struct template_decision *d = decision_of(p);

    switch ((unsigned)p->reason) {
    case PROBLEM_REASON_CLOUD_RESOURCE_CONFLICT_DUPLICATE_IDENTITY:
        add_templates_of_resource(e, out);
        return;
    case PROBLEM_REASON_CLOUD_RESOURCE_CONFLICT_SILENT:
    case PROBLEM_REASON_MANAGEMENT_CONFLICT_REPORTED:
    case PROBLEM_REASON_MANAGEMENT_CONFLICT_REFUSED:
        if (decision_connector(d))
            add_party(out, engine_lease_of(e, p->subject));
        return;
    case PROBLEM_REASON_BINDING_NAME_COLLISION_TAKEN:
        add_templates_of_binding_name(e, out);
        return;
    case PROBLEM_REASON_POLICY_NOT_IN_FORCE_POLICY_REPLACED:
    case PROBLEM_REASON_DEFERRED_TOO_LONG_POLICY_REPLACED:
        if (decision_binding(d) && binding_claimed_policy(decision_binding(d)) != problem_policy(p))
            add_party(out, binding_claimed_policy(decision_binding(d)));
        return;
    case PROBLEM_REASON_OVERRIDE_FAILED_PREDICTED:
        add_failing_policies(e, out);
        return;
    case PROBLEM_REASON_NOT_PROPAGATED_POLICY_DELETING:
        add_deleting_policies(d, out);
        return;
    case PROBLEM_REASON_REPLICAS_CONTESTED_HPA:
    case PROBLEM_REASON_REPLICAS_CONTESTED_FEDERATED_HPA:
        replica_contest_each_autoscaler(engine_context_const(e), p->subject, p->reason,
                                        add_autoscaler, out);
        return;
    default:
        return;
    }
}

static void add_parties(const struct engine *e, struct parties *out)
{
    const struct problem *p = out->problem;

    switch ((unsigned)problem_id(p)) {
    case PROBLEM_DEPENDENCY_CONFLICT:
    case PROBLEM_DEPENDENCY_NOT_RESOLVED:
    case PROBLEM_CONFLICT_PREDICTED:
    case PROBLEM_VALUE_OVERRIDDEN:
        if (dependency_decision(p->subject))
            engine_dependency_referrers(e, p->subject, add_referrer, out);
        return;
    case PROBLEM_POLICY_TIE:
        add_tied_policies(out);
        return;
    case PROBLEM_POLICY_OUTRANKED:
        add_outranking_policies(out);
        return;
    case PROBLEM_REFERENCE_BROKEN:
        if (p->reason == PROBLEM_REASON_REFERENCE_BROKEN_REQUIRED_BY_MISSING)
            add_missing_bindings(out);
        return;
    default:
        if (decision_of(p))
            add_parties_of_template(e, out);
    }
}

void problem_each_related(const struct engine *e, const struct problem *p, problem_related_fn *each,
                          void *context)
{
    struct parties parties = {.problem = p};

    if (p->subject && entry_decision(p->subject))
        add_parties(e, &parties);
    if (parties.count > 1)
        qsort(parties.items, parties.count, sizeof(struct entry *), compare_parties);
    for (size_t i = 0; i < parties.count; i++) {
        if (i == 0 || parties.items[i - 1] != parties.items[i])
            each(context, parties.items[i]);
    }
    free(parties.items);
}

/* ---- messages and time limits ---- */

/* Returns the message about the first failing target, by cluster, that has one; "" without one. */
static const char *failing_target_message(const struct engine *e, const struct problem *p)
{
    const struct binding *b = binding_of(p);
    const char *cluster = NULL, *message = "";

    for (uint32_t i = 0; b && i < decision_of(p)->target_count; i++) {
        const char *text =
            is_failing_target(p, i, true) ? engine_target_message(e, p->subject, i) : "";

        if (*text && (!cluster || strcmp(b->clusters[i].name, cluster) < 0)) {
            cluster = b->clusters[i].name;
            message = text;
        }
    }
    return message;
}

const char *problem_message(const struct engine *e, const struct problem *p)
{
    if (!decision_of(p) || !decision_binding(decision_of(p)))
        return "";
    switch ((unsigned)problem_id(p)) {
    case PROBLEM_NOT_DELIVERED:
    case PROBLEM_OVERRIDE_FAILED:
    case PROBLEM_UNHEALTHY:
        return failing_target_message(e, p);
    case PROBLEM_LAST_COPY_AT_RISK:
    case PROBLEM_PLACEMENT_LOST:
    case PROBLEM_NOT_SCHEDULED:
    case PROBLEM_EVICTION_STUCK:
        return engine_delivery_message(e, p->subject);
    default:
        return "";
    }
}

/* Returns the earliest end of the eviction tasks that end by themselves and have a time. */
static struct time_limit eviction_limit(const struct binding *b)
{
    const struct status_problem *status = b ? b->status.problem : NULL;
    struct time_limit first = {0};

    for (uint32_t i = 0; status && i < status->eviction_count; i++) {
        const struct eviction *task = &status->evictions[i];
        int64_t grace_s = task->grace_s > 0 ? task->grace_s : EVICTION_TIMEOUT_S;
        struct time_limit limit = {task->created_ms + grace_s * 1000, task->grace_s <= 0};

        if (eviction_ends_by_itself(task) && task->created_ms > 0 &&
            (first.time_ms == 0 || limit.time_ms < first.time_ms))
            first = limit;
    }
    return first;
}

struct time_limit problem_time_limit(const struct problem *p)
{
    const struct lease *lease = entry_lease(p->subject);

    if (problem_id(p) == PROBLEM_LAST_COPY_AT_RISK || problem_id(p) == PROBLEM_EVICTION_STUCK)
        return eviction_limit(binding_of(p));
    if (lease && problem_id(p) == PROBLEM_LEASE_AT_RISK)
        return (struct time_limit){lease->expires_s * 1000, false};
    return (struct time_limit){0};
}

/* ---- problems of an object ---- */

/* Returns the template of a template or binding, existing or not; NULL without one. */
static const struct entry *template_of_object(const struct entry *entry)
{
    if (entry_class(entry) == CLASS_BINDING)
        return entry_decision(entry) ? binding_decision_template(binding_decision(entry)) : NULL;
    return entry_class(entry) == CLASS_TEMPLATE ? entry : NULL;
}

const struct entry *problem_subject_entry(const struct engine *e, const struct problem *p)
{
    struct identity id = problem_identity(p);

    if (p->subject || *id.api_version == '\0')
        return p->subject;
    return store_find(engine_store(e), &id);
}

bool problem_is_about(const struct problem *p, const struct entry *entry)
{
    const struct entry *template = template_of_object(entry);

    if (p->subject)
        return p->subject == entry || (template && problem_template(p) == template);
    return strcmp(problem_name(p), entry->name) == 0 &&
           strcmp(problem_ns(p), entry_ns(entry)) == 0 &&
           strcmp(problem_subject_kind(p), entry_kind(entry)) == 0 &&
           strcmp(problem_api_version(p), entry_type(entry)->api_version) == 0;
}
