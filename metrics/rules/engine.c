/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/engine.h"

#include "metrics/rules/admission/admission.h"
#include "metrics/rules/problems/problem_tallies.h"

#include "metrics/rules/connector_conflicts.h"
#include "metrics/rules/problems/controller_progress.h"
#include "metrics/rules/problems/decision_flapping.h"
#include "metrics/rules/problems/replica_contest.h"
#include "metrics/rules/refusals.h"
#include "metrics/rules/rule.h"
#include "metrics/rules/rule_template.h"

const struct rules_options rules_options_default = {
    .takeover = TAKEOVER_PREEMPTION,
    .grace_ms = 60 * 1000,
    .versions = 10,
    .skipped_namespaces = "kube-.*",
    .skipped_apis = "",
};

enum { CLOCK_STEP_MS = 60 * 1000 }; /* Smaller steps of the clock are corrections. */

struct engine {
    struct rule_context context;
    struct engine_observer observer;
    uint64_t evaluations;
    uint64_t seed;
    int64_t clock_offset_ms; /* Clock minus steady clock; INT64_MAX before engine_note_clock(). */
};

/* Rule of classes that `rules` lacks: their entries are evaluated only for the observer. */
static const struct rule no_rule = {.rank = RULE_RANK_LAST};

/* Rules, indexed by class; NULL for classes without a rule. */
static const struct rule *const rules[CLASS_COUNT] = {
    [CLASS_TEMPLATE] = &rule_template, [CLASS_POLICY] = &rule_policy,
    [CLASS_BINDING] = &rule_binding,   [CLASS_OVERRIDE] = &rule_override,
    [CLASS_CLUSTER] = &rule_cluster,   [CLASS_LEASE] = &rule_lease,
    [CLASS_SETTING] = &rule_setting,   [CLASS_WORK] = &rule_work,
    [CLASS_EVENT] = &rule_event,       [CLASS_OTHER] = &rule_other,
};

static const struct rule *rule_of_class(enum object_class class)
{
    return rules[class] ? rules[class] : &no_rule;
}

static const struct rule *rule_of_entry(const struct entry *entry)
{
    return rule_of_class(entry_class(entry));
}

static unsigned rank_of(const struct entry *entry)
{
    return (unsigned)rule_of_entry(entry)->rank;
}

static void on_object_change(void *context, struct entry *entry, const void *old)
{
    struct engine *e = context;
    const struct rule *rule = rule_of_entry(entry);
    enum cause cause = cause_of_class(entry_class(entry));

    graph_set_cause(e->context.graph, cause);
    graph_mark(e->context.graph, entry);
    if (cause == CAUSE_TEMPLATE)
        graph_set_cause(e->context.graph, CAUSE_OTHER_TEMPLATE);
    observed_times_record(&e->context.seen, e->context.store, entry, old);
    if (entry_class(entry) == CLASS_BINDING && !e->context.policy_versions.paused)
        controller_progress_binding_changed(e->context.progress, entry, old);
    if (rule->changed)
        rule->changed(&e->context, entry, old);
}

static bool is_same_entry(const void *item, const void *key)
{
    return item == key;
}

struct engine *engine_new(struct store *store, const struct rules_options *options, uint64_t seed,
                          struct error *err)
{
    const char *feature_gates = options->feature_gates ? options->feature_gates : "";
    const char *version = options->karmada_version ? options->karmada_version : "";
    struct ignored *ignored;
    struct release_range release;
    bool known;
    gate_set gates;

    if (!release_parse(version, &release, &known, err) ||
        !gates_parse(feature_gates, gates_release(release), &gates, err))
        return NULL;
    ignored = ignored_new(options->skipped_namespaces, options->skipped_apis, err);
    if (!ignored)
        return NULL;
    const struct pool *memory = intern_memory(store_string_pool(store));
    struct engine *e = xcalloc(1, sizeof(*e));

    e->seed = seed;
    e->clock_offset_ms = INT64_MAX;
    e->context = (struct rule_context){
        .store = store,
        .graph = graph_new(store, rank_of),
        .options = *options,
        .gates = gates,
        .release = release,
        .ignored = ignored,
        .index = selector_index_new(store, seed),
        .placements = placements_new(store, seed),
        .binding_names = name_collisions_new(memory, &collision_binding_name, seed),
        .cloud_resources = name_collisions_new(memory, &collision_cloud_resource, seed),
        .cloud_names = cloud_index_new(seed),
        .on_clusters = HANDLE_MAP_INIT(memory, is_same_entry),
    };
    placements_set_release(e->context.placements, release);
    policy_versions_init(&e->context.policy_versions, store_string_pool(store), options->versions);
    members_init(&e->context.members, store);
    e->context.tallies = xcalloc(1, sizeof(*e->context.tallies));
    problem_tallies_init(e->context.tallies, store);
    type_counts_init(&e->context.bound, seed);
    type_counts_init(&e->context.planned, seed);
    incomplete_init(&e->context.incomplete, store_string_pool(store));
    works_init(&e->context.works, seed);
    override_events_init(&e->context.override_events, store, &e->context.incomplete, seed);
    conflict_events_init(&e->context.conflict_events, seed);
    refusals_init(&e->context.refusals, store, seed);
    e->context.autoscalers = autoscalers_new(store, seed);
    e->context.other_bindings = xcalloc(1, sizeof(*e->context.other_bindings));
    other_bindings_init(e->context.other_bindings, seed);
    other_policies_init(&e->context.other_policies, seed);
    e->context.deliveries =
        (struct delivery_sources){&e->context.members, &e->context.works,
                                  &e->context.override_events, store, &e->context.incomplete};
    store_set_listener(store, (struct store_listener){on_object_change, e});
    store_set_review(store, admission_review_read);
    return e;
}

void engine_free(struct engine *e)
{
    struct rule_context *c;

    if (!e)
        return;
    c = &e->context;
    store_set_listener(c->store, (struct store_listener){0});
    controller_progress_free(c->progress);
    problems_free(c->problems);
    for (const struct type *type = store_first_type(c->store); type; type = type->next) {
        const struct rule *rule = rule_of_class(type->def->class);

        for (const struct partition *p = type->partitions; p; p = p->next_of_type) {
            for (size_t i = 0; i < p->count; i++) {
                if (rule->release)
                    rule->release(c, entry_decision(partition_entry(p, i)));
                entry_set_decision(partition_entry(p, i), NULL);
            }
        }
    }
    ignored_free(c->ignored);
    selector_index_free(c->index);
    placements_free(c->placements);
    name_collisions_free(c->binding_names);
    name_collisions_free(c->cloud_resources);
    cloud_index_free(c->cloud_names);
    problem_tallies_release(c->tallies);
    free(c->tallies);
    handle_map_release(&c->on_clusters);
    members_release(&c->members);
    observed_times_release(&c->seen);
    type_counts_release(&c->bound);
    type_counts_release(&c->planned);
    incomplete_release(&c->incomplete);
    works_release(&c->works);
    override_events_release(&c->override_events);
    conflict_events_release(&c->conflict_events);
    refusals_release(&c->refusals);
    autoscalers_free(c->autoscalers);
    other_policies_release(&c->other_policies);
    other_bindings_release(c->other_bindings);
    free(c->other_bindings);
    policy_versions_release(&c->policy_versions);
    flapping_past_free(e->context.flapping_past);
    transitions_free(e->context.transitions);
    entry_list_release(&c->first_run);
    graph_free(c->graph);
    free(e);
}

/*
 * Replaces the entry's decision by `fresh`, which is NULL for no decision. Marks the affected
 * entries; updates indexes, `reads` of the entry and its timer; frees the old decision.
 */
static void replace_decision(struct rule_context *c, struct entry *entry, void *fresh,
                             const struct entry_list *reads, int64_t due_ms)
{
    const struct rule *rule = rule_of_entry(entry);
    void *old = entry_decision(entry);
    bool differs = old && fresh ? rule->equal && !rule->equal(old, fresh) : old != fresh;
    bool reads_differ = graph_reads_differ(entry, reads);

    if (old && rule->leave)
        rule->leave(c, entry, fresh);
    if (rule->mark_read && (differs || reads_differ))
        rule->mark_read(c, entry);
    if (reads_differ)
        graph_set_reads(c->graph, entry, reads);
    if (rule->mark_read && (differs || reads_differ))
        rule->mark_read(c, entry);
    entry_set_decision(entry, fresh);
    if (fresh && rule->enter)
        rule->enter(c, entry, old);
    if (entry_class(entry) == CLASS_TEMPLATE)
        problem_tallies_update(c->tallies, c->policy_versions.paused ? NULL : c->problems, old,
                               fresh);
    if (rule->mark_readers && differs)
        rule->mark_readers(c->graph, entry);
    if (!c->policy_versions.paused)
        controller_progress_note(c->progress, entry, old, fresh, c->now_ms);
    graph_set_timer(c->graph, entry, due_ms);
    if (rule->release)
        rule->release(c, old);
}

/* Decides about one entry and calls the observer; frees the entry if it is no longer used. */
static void evaluate_entry(struct engine *e, struct entry *entry, struct gathered *g)
{
    struct rule_context *c = &e->context;
    const struct rule *rule = rule_of_entry(entry);
    struct transitions *history = c->policy_versions.paused ? NULL : c->transitions;
    enum cause cause = (enum cause)graph_cause(c->graph);
    int64_t due_ms = INT64_MAX;
    struct moment before;
    void *fresh = NULL;

    e->evaluations++;
    if (entry_class(entry) == CLASS_TEMPLATE)
        graph_set_cause(c->graph, cause_for_dependents(cause));
    if (e->observer.deciding)
        e->observer.deciding(e->observer.context, entry);
    g->referrers.count = g->reads.count = 0;
    if (entry_exists(entry) && rule->decide &&
        !incomplete_has_type(&c->incomplete, entry_type(entry))) {
        rule->gather(c, entry, g);
        fresh = rule->decide(g, &due_ms);
        if (rule->add_reads)
            rule->add_reads(c, entry, fresh, &g->reads);
    }
    transitions_note_before(history, entry, &before);
    replace_decision(c, entry, fresh, &g->reads, due_ms);
    transitions_note_after(history, entry, &before, cause, c->now_ms);
    /* Also during a simulation: setting the timer has removed that of the problems. */
    problems_queue(c->problems, entry);
    if (e->observer.decided)
        e->observer.decided(e->observer.context, entry);
    if (!entry_exists(entry))
        store_free_if_unused(c->store, entry);
}

/* Judges the control plane, then all problems. Returns true if no step is left. */
static bool judge_problems(struct rule_context *c, size_t budget)
{
    if (!c->problems || c->policy_versions.paused)
        return true;
    c->progress_due_ms = INT64_MAX;
    if (c->progress)
        controller_progress_evaluate(c->progress, c->now_ms, &c->progress_due_ms);
    /* It visits all entries in steps. */
    if (c->progress_due_ms <= c->now_ms)
        return false;
    return problems_run(c->problems, c, budget);
}

bool engine_run(struct engine *e, int64_t now_ms, size_t budget)
{
    struct gathered gathered = {.release = e->context.release,
                                .memory = intern_memory(store_string_pool(e->context.store))};
    struct entry *entry;

    /* Time never decreases: if the clock is set back, overdue templates stay overdue. */
    if (now_ms > e->context.now_ms)
        e->context.now_ms = now_ms;
    observed_times_set_times(&e->context.seen, e->context.now_ms, e->context.options.grace_ms);
    problem_tallies_date_readiness(e->context.tallies, e->context.now_ms);
    graph_set_cause(e->context.graph, CAUSE_TIME);
    graph_mark_due_entries(e->context.graph, e->context.now_ms);
    graph_set_cause(e->context.graph, CAUSE_CLUSTER);
    for (; budget > 0 && members_is_searching(&e->context.members); budget--)
        members_search_step(&e->context.members, e->context.graph);
    for (; budget > 0 && (entry = graph_next(e->context.graph)) != NULL; budget--)
        evaluate_entry(e, entry, &gathered);
    bool done = graph_is_done(e->context.graph) &&
                policy_versions_report_queued(&e->context.policy_versions, budget,
                                              e->observer.decided, e->observer.context);
    dependency_referrers_release(&gathered.referrers);
    entry_list_release(&gathered.reads);
    target_list_release(&gathered.targets);
    candidate_list_release(&gathered.candidates);
    done = done && rule_template_end_first_run(&e->context, budget) &&
           !members_is_searching(&e->context.members);
    if (done)
        transitions_end_run(e->context.transitions);
    return done && judge_problems(&e->context, budget);
}

void engine_keep_transitions(struct engine *e, size_t limit)
{
    transitions_free(e->context.transitions);
    e->context.transitions =
        limit > 0 ? transitions_new(e->context.store, limit, e->context.now_ms) : NULL;
}

const struct transitions *engine_transitions(const struct engine *e)
{
    return e->context.transitions;
}

void engine_judge_problems(struct engine *e, const struct problem_options *options)
{
    struct rule_context *c = &e->context;

    controller_progress_free(c->progress);
    problems_free(c->problems);
    flapping_past_free(c->flapping_past);
    c->flapping_past = NULL;
    c->problems = problems_new(c->store, options, e->seed);
    c->progress = NULL;
    if (options->snapshot)
        return;
    c->progress = controller_progress_new(c->store, c->problems,
                                          &(struct controller_progress_options){
                                              .rules = &c->options,
                                              .refusals = &c->refusals,
                                              .some_namespaces = options->some_namespaces,
                                          },
                                          c->now_ms);
}

void engine_inherit_problems(struct engine *e, const struct engine *last)
{
    if (e->context.problems && last->context.problems) {
        problems_inherit(e->context.problems, last->context.problems);
        flapping_past_free(e->context.flapping_past);
        e->context.flapping_past = flapping_past_new(e->context.store, &last->context);
    }
    if (e->context.progress && last->context.progress)
        controller_progress_inherit(e->context.progress, last->context.progress);
}

void engine_note_clock(struct engine *e, int64_t now_ms, int64_t steady_ms)
{
    int64_t offset_ms = now_ms - steady_ms;

    if (e->context.problems && offset_ms - CLOCK_STEP_MS > e->clock_offset_ms)
        problems_restart_observation(e->context.problems, now_ms);
    e->clock_offset_ms = offset_ms;
}

void engine_note_other_binding(struct engine *e, const cJSON *binding, int64_t now_ms)
{
    struct rule_context *c = &e->context;
    unsigned written = other_bindings_note(c->other_bindings, binding, now_ms);

    for (unsigned i = 0; c->progress && i < CONTROL_COUNT; i++) {
        if (written & 1U << i)
            controller_progress_other_shard(c->progress, (enum control_component)i);
    }
}

void engine_skip_other_bindings(struct engine *e, int64_t now_ms)
{
    other_bindings_skip_list(e->context.other_bindings, now_ms);
}

void engine_put_other_policy(struct engine *e, const cJSON *policy, struct origin origin)
{
    rule_put_other_policy(&e->context, policy, origin);
}

void engine_remove_other_policy(struct engine *e, const cJSON *policy)
{
    rule_remove_other_policy(&e->context, policy);
}

void engine_sweep_other_policies(struct engine *e, struct origin origin)
{
    rule_sweep_other_policies(&e->context, origin);
}

struct controller_progress *engine_progress(const struct engine *e)
{
    return e->context.progress;
}

struct problems *engine_problems(const struct engine *e)
{
    return e->context.problems;
}

struct engine_observer engine_observe(struct engine *e, struct engine_observer observer)
{
    struct engine_observer last = e->observer;

    e->observer = observer;
    return last;
}

struct rule_context *engine_context(struct engine *e)
{
    return &e->context;
}

const struct rule_context *engine_context_const(const struct engine *e)
{
    return &e->context;
}

const struct store *engine_store(const struct engine *e)
{
    return e->context.store;
}

int64_t engine_deadline(const struct engine *e)
{
    const struct rule_context *c = &e->context;
    int64_t due_ms = graph_deadline(c->graph);

    if (c->problems && problems_deadline(c->problems) < due_ms)
        due_ms = problems_deadline(c->problems);
    if (c->progress && c->progress_due_ms < due_ms)
        due_ms = c->progress_due_ms;
    return due_ms;
}

int64_t engine_now_ms(const struct engine *e)
{
    return e->context.now_ms;
}

uint64_t engine_evaluations(const struct engine *e)
{
    return e->evaluations;
}

static void change_release(struct engine *e, struct release_range release)
{
    struct rule_context *c = &e->context;
    const char *feature_gates = c->options.feature_gates ? c->options.feature_gates : "";
    bool same = release.oldest == c->release.oldest && release.newest == c->release.newest &&
                release.lacks_exclusions == c->release.lacks_exclusions;
    struct error ignored;

    c->release = release;
    placements_set_release(c->placements, release);
    /* engine_new() has parsed the same text, and the release cannot make it malformed. */
    if (same || !gates_parse(feature_gates, gates_release(release), &c->gates, &ignored))
        return;
    graph_set_cause(c->graph, CAUSE_DISCOVERY);
    rule_mark_cluster_dependents(c);
    for (unsigned class = 0; class < CLASS_COUNT; class ++)
        graph_mark_class(c->graph, (enum object_class) class);
}

void engine_set_release(struct engine *e, struct release_range release)
{
    if (e->context.release.origin != RELEASE_GIVEN)
        change_release(e, release);
}

struct release_range engine_simulate_release(struct engine *e, struct release_range release)
{
    struct release_range last = e->context.release;

    change_release(e, release);
    return last;
}

struct release_range engine_release(const struct engine *e)
{
    return e->context.release;
}

bool engine_resolves_dependencies(const struct engine *e)
{
    return release_range_has(e->context.release, BEHAVIOUR_RESOLVES_DEPENDENCIES) ==
           RELEASE_ANSWER_YES;
}

struct predicted predict_template(const struct engine *e, const struct entry *template,
                                  struct projection *out)
{
    return predict_in_context(&e->context, template, out);
}

enum takeover engine_takeover(const struct engine *e)
{
    return e->context.options.takeover;
}

bool engine_next_selected_type(const struct engine *e, size_t *at, const char **api_version,
                               const char **kind)
{
    static const size_t planned_from = SIZE_MAX / 2;
    size_t rest;
    bool found;

    if (*at < planned_from) {
        if (selector_index_next_type(e->context.index, at, api_version, kind))
            return true;
        *at = planned_from;
    }
    rest = *at - planned_from;
    found = type_counts_next(&e->context.planned, &rest, api_version, kind);
    *at = planned_from + rest;
    return found;
}

void engine_select_type(struct engine *e, const char *api_version, const char *kind)
{
    struct intern *strings = store_string_pool(e->context.store);
    const char *shared_version = intern_add(strings, api_version);
    const char *shared_kind = intern_add(strings, kind);

    if (type_counts_get(&e->context.planned, shared_version, shared_kind) == 0) {
        /* The counts hold the texts as long as the pool exists. */
        type_counts_add(&e->context.planned, shared_version, shared_kind);
        return;
    }
    intern_drop(strings, shared_version);
    intern_drop(strings, shared_kind);
}

void engine_select_priority_classes(struct engine *e)
{
    e->context.plans_priority_classes = true;
}

void engine_set_api_version_source(struct engine *e, struct api_version_source source)
{
    struct rule_context *c = &e->context;

    c->api_versions = source;
    ignored_set_api_versions(c->ignored, source);
    graph_set_cause(c->graph, CAUSE_DISCOVERY);
    graph_mark_class(c->graph, CLASS_POLICY);
    graph_mark_class(c->graph, CLASS_OVERRIDE);
    /* At an API server, all templates have the preferred version. */
    if (source.objects_decide)
        graph_mark_class(c->graph, CLASS_TEMPLATE);
    else
        api_versions_mark_all_templates(c->store, c->graph, c->index);
}

struct api_version_source engine_api_version_source(const struct engine *e)
{
    return e->context.api_versions;
}

bool engine_uses_priority_classes(const struct engine *e)
{
    return (e->context.priority_policies > 0 || e->context.plans_priority_classes) &&
           gate_is_on(e->context.gates, GATE_PRIORITY_BASED_SCHEDULING);
}

bool engine_has_overrides(const struct engine *e)
{
    return store_object_count(e->context.store, CLASS_OVERRIDE) > 0;
}

uint64_t engine_needed_kinds_version(const struct engine *e)
{
    return 4 * (selector_index_types_version(e->context.index) + e->context.planned.version) +
           2 * engine_uses_priority_classes(e) + engine_has_overrides(e);
}

bool engine_next_bound_type(const struct engine *e, size_t *at, const char **api_version,
                            const char **kind)
{
    return type_counts_next(&e->context.bound, at, api_version, kind);
}

uint64_t engine_bound_types_version(const struct engine *e)
{
    return e->context.bound.version;
}

void engine_observe_bound_templates(struct engine *e, struct bound_observer observer)
{
    e->context.bound_observer = observer;
}

void engine_set_incomplete(struct engine *e, const char *api_version, const char *kind,
                           bool incomplete)
{
    struct rule_context *c = &e->context;
    const struct type *type;

    if (!incomplete_set(&c->incomplete, api_version, kind, incomplete))
        return;
    graph_set_cause(c->graph, CAUSE_DISCOVERY);
    type = store_find_type(c->store, api_version, kind);
    if (type)
        graph_mark_type(c->graph, type);
    graph_mark_class(c->graph, CLASS_POLICY);
    if (kind_of(api_version, kind)->class == CLASS_TEMPLATE)
        return;
    /*
     * The call is rare, so dependents of Clusters and Works are marked for all kinds but templates.
     */
    bool hidden = incomplete_classes(&c->incomplete) & 1u << CLASS_CLUSTER;

    placements_set_clusters_hidden(c->placements, hidden);
    members_set_incomplete(&c->members, hidden);
    problem_tallies_queue_clusters(c->tallies, c->problems);
    rule_mark_cluster_dependents(c);
    rule_update_works_known(c);
}

void engine_follow_works(struct engine *e, bool followed)
{
    e->context.works.followed = followed;
    graph_set_cause(e->context.graph, CAUSE_DISCOVERY);
    rule_update_works_known(&e->context);
}

unsigned engine_incomplete_classes(const struct engine *e)
{
    return incomplete_classes(&e->context.incomplete);
}

const char *engine_target_message(const struct engine *e, const struct entry *template,
                                  uint32_t target)
{
    return delivery_target_message(&engine_context_const(e)->deliveries, template, target);
}

const char *engine_delivery_message(const struct engine *e, const struct entry *template)
{
    return delivery_message(&engine_context_const(e)->deliveries, template);
}

const char *engine_namespace_of_id(const struct engine *e, const char *id)
{
    return namespace_of_id(connector_namespace_ids(engine_context_const(e)->store), id);
}

size_t engine_same_resource_templates(const struct engine *e, const struct entry *template,
                                      const struct entry **out, size_t max)
{
    bool shares = connector_conflicts(template) & 1u << CONNECTOR_DUPLICATE_IDENTITY;

    return shares ? name_collisions_list_others(engine_context_const(e)->cloud_resources, template,
                                                out, max)
                  : 0;
}

const struct entry *engine_lease_of(const struct engine *e, const struct entry *template)
{
    const struct connector_decision *d = decision_connector(template_decision(template));

    return d->identity.unclear ? NULL
                               : cloud_index_find_lease(engine_context_const(e)->cloud_names,
                                                        template, &d->identity);
}

enum lease_verdict engine_lease_verdict(const struct engine *e, const struct entry *template,
                                        const struct entry *lease)
{
    const struct rule_context *c = engine_context_const(e);
    struct lease_clock clock = {c->now_ms / 1000, c->options.lease_skew_ms / 1000};

    return connector_lease_verdict(c->store, template, lease, clock);
}

void engine_dependency_referrers(const struct engine *e, const struct entry *dependency,
                                 void (*each)(void *context,
                                              const struct dependency_referrer *referrer),
                                 void *context)
{
    CLEANUP(dependency_referrers_release) struct dependency_referrers referrers = {0};

    dependency_referrers_gather(engine_context_const(e)->store,
                                &engine_context_const(e)->incomplete, dependency, &referrers);
    for (size_t i = 0; i < referrers.count; i++)
        each(context, &referrers.items[i]);
}
