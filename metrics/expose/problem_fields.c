/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/problem_fields.h"

#include "metrics/model/connector_resource.h"
#include "metrics/rules/admission/admission.h"
#include "metrics/rules/override/template_overrides.h"
#include "metrics/rules/rule.h"

/* Annotations of Config Connector. */
#define CONNECTOR_ANNOTATION(name) "metadata.annotations.cnrm.cloud.google.com/" name

#define SELECTORS  "spec.resourceSelectors"
#define EXCLUSIONS "spec.excludedResources"

/* ---- table ---- */

/* Object of a problem for which a path is computed. */
struct field_context {
    const struct engine *engine;
    const struct problem *problem;
    const struct entry *entry;
};

/* Paths of a problem. A path in braces is computed by the function of this name in `computed`. */
struct field_row {
    const char *subject;
    const char *policy;  /* In the policy of the problem; NULL: the policy is no cause. */
    const char *related; /* In other objects; NULL: the whole object. */
};

static const struct field_row field_rows[PROBLEM_COUNT] = {
    [PROBLEM_LAST_COPY_AT_RISK] = {"metadata.name", "spec.placement", NULL},
    [PROBLEM_PLACEMENT_LOST] = {"metadata.name", "{affinity}", NULL},
    [PROBLEM_CONTROLLERS_STUCK] = {"", NULL, NULL},
    [PROBLEM_SCHEDULER_STUCK] = {"", NULL, NULL},
    [PROBLEM_CLOUD_RESOURCE_CONFLICT] = {"{cloud_name}", "spec.placement", "{cloud_name}"},
    [PROBLEM_PLACEMENT_AT_RISK] = {"metadata.name", "{filter}", NULL},
    [PROBLEM_DEPENDENCY_CONFLICT] = {"{dependency}", "{dependency}", "{dependency}"},
    [PROBLEM_DEPENDENCY_NOT_RESOLVED] = {"{dependency}", "{dependency}", "{dependency}"},
    [PROBLEM_POLICY_NOT_IN_FORCE] = {"metadata.name", "{input}", "metadata.name"},
    [PROBLEM_TEMPLATE_FROZEN] = {"{claim}", SELECTORS, NULL},
    [PROBLEM_NOT_PROPAGATED] = {"{unmatched}", "{input}", "metadata.deletionTimestamp"},
    [PROBLEM_NOT_SCHEDULED] = {"metadata.name", "{scheduling}", NULL},
    [PROBLEM_NOT_DELIVERED] = {"metadata.name", NULL, NULL},
    [PROBLEM_OVERRIDE_FAILED] = {"metadata.name", NULL, "{override_rule}"},
    [PROBLEM_EVICTION_STUCK] = {"metadata.name", "spec.placement", NULL},
    [PROBLEM_POLICY_INVALID] = {"{invalid}", NULL, NULL},
    [PROBLEM_BINDING_NAME_COLLISION] = {"metadata.name", NULL, "metadata.name"},
    [PROBLEM_REFERENCE_BROKEN] = {"{reference}", NULL, NULL},
    [PROBLEM_DELETION_STUCK] = {"metadata.deletionTimestamp", NULL, NULL},
    [PROBLEM_MEMBER_CLUSTER_UNAVAILABLE] = {"status.conditions", NULL, NULL},
    [PROBLEM_MANAGEMENT_CONFLICT] = {"{management}", NULL, NULL},
    [PROBLEM_LEASE_AT_RISK] = {"", NULL, NULL},
    [PROBLEM_DECISION_FLAPPING] = {"metadata.name", NULL, NULL},
    [PROBLEM_DATA_INCOMPLETE] = {"", NULL, NULL},
    [PROBLEM_UNHEALTHY] = {"metadata.name", NULL, NULL},
    [PROBLEM_ORPHANED] = {"metadata.name", NULL, NULL},
    [PROBLEM_EXCLUDED] = {"metadata.name", "{exclusion}", NULL},
    [PROBLEM_DEFERRED_TOO_LONG] = {"metadata.name", "{input}", "metadata.name"},
    [PROBLEM_ON_FALLBACK] = {"metadata.name", "spec.placement.clusterAffinities", NULL},
    [PROBLEM_TWO_COPIES_HELD] = {"metadata.name", NULL, NULL},
    [PROBLEM_CHANGE_SUSPENDED] = {"metadata.name", "spec.suspension", NULL},
    [PROBLEM_FORBIDDEN_PLACEMENT] = {"metadata.name", "spec.placement", NULL},
    [PROBLEM_DRIFT_EXCEEDS_CAPACITY] = {"status.resourceSummary", NULL, NULL},
    [PROBLEM_DELETION_TRAP] = {CONNECTOR_ANNOTATION("deletion-policy"), "spec.placement", NULL},
    [PROBLEM_LEASE_UNPROTECTED] = {"{lease_setting}", NULL, NULL},
    [PROBLEM_CONFLICT_PREDICTED] = {"{dependency}", "{dependency}", "{dependency}"},
    [PROBLEM_REPLICAS_CONTESTED] = {"spec.replicas", NULL, "spec.scaleTargetRef"},
    [PROBLEM_VALUE_OVERRIDDEN] = {"{overridden}", "{dependency}", "{dependency}"},
    [PROBLEM_POLICY_TIE] = {"{selector}", NULL, "{selector}"},
    [PROBLEM_POLICY_OUTRANKED] = {"{selector}", NULL, "{selector}"},
    [PROBLEM_POLICY_UNUSED] = {SELECTORS, NULL, NULL},
    /* Each declaration as a whole repeats the object. */
    [PROBLEM_DUPLICATE_OBJECT] = {"", NULL, NULL},
};

bool problem_has_fields(enum problem_id problem)
{
    return field_rows[problem].subject != NULL;
}

bool problem_blames_policy(const struct problem *p)
{
    return field_rows[problem_id(p)].policy != NULL && problem_policy(p) != NULL &&
           problem_policy(p) != p->subject;
}

/* Receiver of objects. */
struct other_objects {
    const struct entry *policy; /* Passed on already; or NULL. */
    problem_related_fn *each;
    void *context;
};

static void pass_other_object(void *context, const struct entry *related)
{
    const struct other_objects *o = context;

    if (related != o->policy)
        o->each(o->context, related);
}

void problem_each_object(const struct engine *e, const struct problem *p, problem_related_fn *each,
                         void *context)
{
    struct other_objects others = {problem_blames_policy(p) ? problem_policy(p) : NULL, each,
                                   context};

    if (others.policy)
        each(context, others.policy);
    problem_each_related(e, p, pass_other_object, &others);
}

/* ---- selectors ---- */

const struct resource_selector *problem_selectors(const struct entry *subject, uint32_t *count)
{
    const struct override *override = entry_override(subject);
    const struct policy *policy = entry_policy(subject);

    *count = override ? override->selector_count : policy ? policy->selector_count : 0;
    return override ? override->selectors : policy ? policy->selectors : NULL;
}

uint32_t problem_find_wrong_selector(const struct engine *e, const struct entry *subject,
                                     bool absent, uint32_t from)
{
    struct api_version_source source = engine_api_version_source(e);
    uint32_t count, i;
    const struct resource_selector *selectors = problem_selectors(subject, &count);

    for (i = from; i < count; i++) {
        const char *api_version = selectors[i].api_version, *kind = selectors[i].kind;

        if (api_version && kind &&
            (absent ? api_version_is_absent(&source, api_version, kind)
                    : api_version_is_unwatched(engine_store(e), &source, api_version, kind)))
            break;
    }
    return i;
}

/* Appends the selector with the best score for the template; else all selectors. */
static void add_best_selector(const struct entry *policy, const struct entry *template,
                              struct strbuf *out)
{
    const struct policy *p = entry_policy(policy);
    enum selector_score best = SCORE_NONE;
    uint32_t found = 0;

    for (uint32_t i = 0; p && entry_exists(template) && i < p->selector_count; i++) {
        enum selector_score score = selector_score(&p->selectors[i], template);

        if (score > best) {
            best = score;
            found = i;
        }
    }
    strbuf_adds(out, SELECTORS);
    if (best > SCORE_NONE)
        strbuf_addf(out, "[%" PRIu32 "]", found);
}

/* Returns true if the template is one for which the two policies compete in the problem. */
static bool is_contested(const struct entry *template, const struct problem *p,
                         const struct entry *other)
{
    const struct template_decision *d = template_decision(template);

    if (!d || !entry_exists(template) || d->state == STATE_IGNORED)
        return false;
    if (problem_id(p) == PROBLEM_POLICY_OUTRANKED)
        return decision_governing(d) == p->subject && decision_winner(d) &&
               decision_winner(d) != p->subject &&
               (other == p->subject || decision_winner(d) == other);
    if (!d->tied || decision_winner(d) != p->subject)
        return false;
    for (uint32_t i = 1; i < d->candidate_count; i++) {
        if (other == p->subject || decision_candidate(d, i).policy == other)
            return true;
    }
    return false;
}

/*
 * Appends the selector of a policy that selects the template of the problem; of a problem about
 * competing policies, that for the first template for which they compete.
 */
static void add_selector(const struct field_context *c, struct strbuf *out)
{
    const struct entry *subject = c->problem->subject;
    const struct entry *first = problem_template(c->problem);

    for (uint32_t i = 0; entry_class(subject) == CLASS_POLICY && i < entry_reader_count(subject);
         i++) {
        const struct entry *template = entry_reader(subject, i);

        if (is_contested(template, c->problem, c->entry) &&
            (!first || entry_compare(template, first) < 0))
            first = template;
    }
    if (first)
        add_best_selector(c->entry, first, out);
    else
        strbuf_adds(out, SELECTORS);
}

static void add_exclusion(const struct field_context *c, struct strbuf *out)
{
    const struct policy *p = entry_policy(c->entry);
    const struct entry *template = problem_template(c->problem);
    uint32_t at = p && template && entry_exists(template) ? policy_find_exclusion(p, template) : 0;

    strbuf_adds(out, EXCLUSIONS);
    if (p && at < p->exclusion_count)
        strbuf_addf(out, "[%" PRIu32 "]", at);
}

/* ---- policies ---- */

/* Appends the first element of dependentOverrides that names no existing override policy. */
static void add_missing_override(const struct field_context *c, struct strbuf *out)
{
    const struct policy *p = entry_policy(c->entry);

    strbuf_adds(out, "spec.dependentOverrides");
    for (uint32_t i = 0; p && i < p->override_count; i++) {
        struct identity id = dependent_override_identity(c->entry, i);
        const struct entry *found = store_find(engine_store(c->engine), &id);

        if (found && entry_exists(found))
            continue;
        strbuf_addf(out, "[%" PRIu32 "]", i);
        return;
    }
}

/* Appends the field of schedulePriority that Karmada cannot resolve. */
static void add_priority(const struct field_context *c, struct strbuf *out)
{
    const struct policy *p = entry_policy(c->entry);

    strbuf_addf(out, "spec.schedulePriority.%s",
                p && p->priority_refused ? "priorityClassSource" : "priorityClassName");
}

/* Appends the first element of a list with the problem, and the member that has it. */
static void add_invalid_element(const struct field_context *c, enum policy_problem problem,
                                const char *member, struct strbuf *out)
{
    bool exclusion = problem == POLICY_INVALID_EXCLUSION || problem == POLICY_EMPTY_EXCLUSION;
    const struct policy *p = entry_policy(c->entry);
    uint32_t count = exclusion ? p->exclusion_count : p->selector_count;

    strbuf_adds(out, exclusion ? EXCLUSIONS : SELECTORS);
    for (uint32_t i = 0; i < count; i++) {
        unsigned problems = exclusion ? policy_exclusion_problems(c->entry, i)
                                      : policy_selector_problems(c->entry, i);

        if (!(problems & 1U << problem))
            continue;
        strbuf_addf(out, "[%" PRIu32 "]%s", i, member);
        return;
    }
}

static void add_wrong_selector(const struct field_context *c, bool absent, struct strbuf *out)
{
    uint32_t count, at = problem_find_wrong_selector(c->engine, c->entry, absent, 0);

    problem_selectors(c->entry, &count);
    strbuf_adds(out, SELECTORS);
    if (at < count)
        strbuf_addf(out, "[%" PRIu32 "].%s", at, absent ? "kind" : "apiVersion");
}

static void add_invalid(const struct field_context *c, struct strbuf *out)
{
    struct release_range release = engine_context_const(c->engine)->release;

    switch ((unsigned)c->problem->reason) {
    case PROBLEM_REASON_POLICY_INVALID_INVALID_SELECTOR:
        add_invalid_element(c, POLICY_INVALID_SELECTOR, ".labelSelector", out);
        return;
    case PROBLEM_REASON_POLICY_INVALID_INVALID_EXCLUSION:
        add_invalid_element(c, POLICY_INVALID_EXCLUSION, ".labelSelector", out);
        return;
    case PROBLEM_REASON_POLICY_INVALID_EMPTY_EXCLUSION:
        add_invalid_element(c, POLICY_EMPTY_EXCLUSION, "", out);
        return;
    case PROBLEM_REASON_POLICY_INVALID_NO_SELECTOR:
        strbuf_adds(out, SELECTORS);
        return;
    case PROBLEM_REASON_POLICY_INVALID_FOREIGN_NAMESPACE:
        add_invalid_element(c, POLICY_FOREIGN_NAMESPACE, ".namespace", out);
        return;
    case PROBLEM_REASON_POLICY_INVALID_PREEMPTION_WITHOUT_NAME:
        add_invalid_element(c, POLICY_PREEMPTION_WITHOUT_NAME, "", out);
        return;
    case PROBLEM_REASON_POLICY_INVALID_CLUSTER_SCOPED_KIND:
        add_invalid_element(c, POLICY_CLUSTER_SCOPED_KIND, ".kind", out);
        return;
    case PROBLEM_REASON_POLICY_INVALID_UNWATCHED_VERSION:
    case PROBLEM_REASON_POLICY_INVALID_KIND_NOT_SERVED:
        add_wrong_selector(c, c->problem->reason == PROBLEM_REASON_POLICY_INVALID_KIND_NOT_SERVED,
                           out);
        return;
    case PROBLEM_REASON_POLICY_INVALID_PRIORITY_CLASS_MISSING:
        add_priority(c, out);
        return;
    case PROBLEM_REASON_POLICY_INVALID_OVERRIDE_MISSING:
        add_missing_override(c, out);
        return;
    default:
        strbuf_adds(out, admission_first_field(admission_of_entry(c->entry), release,
                                               c->problem->reason ==
                                                   PROBLEM_REASON_POLICY_INVALID_FIELD_PRUNED));
    }
}

/* Appends the first field of the policy that the binding of the template does not have. */
static void add_drifted_field(const struct field_context *c, struct strbuf *out)
{
    static const char *const paths[DRIFT_FIELD_COUNT] = {
        [FIELD_PLACEMENT] = "spec.placement",
        [FIELD_CONFLICT_RESOLUTION] = "spec.conflictResolution",
        [FIELD_PRESERVE] = "spec.preserveResourcesOnDeletion",
        [FIELD_PROPAGATE_DEPS] = "spec.propagateDeps",
        [FIELD_FAILOVER] = "spec.failover",
        [FIELD_SUSPENSION] = "spec.suspension",
        [FIELD_SCHEDULER_NAME] = "spec.schedulerName",
        [FIELD_SCHEDULE_PRIORITY] = "spec.schedulePriority",
    };
    const struct template_decision *d = template_decision(c->problem->subject);

    for (unsigned i = 0; d && i < DRIFT_FIELD_COUNT; i++) {
        if (d->fields & 1U << i) {
            strbuf_adds(out, paths[i]);
            return;
        }
    }
}

/* Appends the field of the policy that keeps it from being in force for the template. */
static void add_input(const struct field_context *c, struct strbuf *out)
{
    switch ((unsigned)c->problem->reason) {
    case PROBLEM_REASON_POLICY_NOT_IN_FORCE_PRIORITY_CLASS_MISSING:
    case PROBLEM_REASON_NOT_PROPAGATED_PRIORITY_CLASS_MISSING:
        add_priority(c, out);
        return;
    case PROBLEM_REASON_POLICY_NOT_IN_FORCE_OVERRIDE_MISSING:
    case PROBLEM_REASON_NOT_PROPAGATED_OVERRIDE_MISSING:
        add_missing_override(c, out);
        return;
    case PROBLEM_REASON_POLICY_NOT_IN_FORCE_POLICY_UPDATED:
    case PROBLEM_REASON_DEFERRED_TOO_LONG_POLICY_UPDATED:
        add_drifted_field(c, out);
        return;
    case PROBLEM_REASON_DEFERRED_TOO_LONG_NEVER_BOUND:
        strbuf_adds(out, "spec.activationPreference");
        return;
    case PROBLEM_REASON_NOT_PROPAGATED_POLICY_DELETING:
        strbuf_adds(out, "metadata.deletionTimestamp");
        return;
    default:
        add_selector(c, out);
    }
}

/* Appends the affinity of a placement: the single one, or the list of groups. */
static void add_affinity(const struct field_context *c, struct strbuf *out)
{
    const struct policy_decision *d = policy_decision(c->entry);
    const struct placement *placement = d && d->resolved ? d->resolved->placement : NULL;

    if (placement && placement->group_count == 0)
        strbuf_adds(out, "spec.placement");
    else
        strbuf_addf(out, "spec.placement.%s",
                    placement && placement->has_groups ? "clusterAffinities" : "clusterAffinity");
}

/* Appends the part of the placement that excludes most member clusters. */
static void add_filter(const struct field_context *c, struct strbuf *out)
{
    switch ((unsigned)c->problem->reason) {
    case PROBLEM_REASON_PLACEMENT_AT_RISK_AFFINITY:
        add_affinity(c, out);
        return;
    case PROBLEM_REASON_PLACEMENT_AT_RISK_TAINT:
        strbuf_adds(out, "spec.placement.clusterTolerations");
        return;
    case PROBLEM_REASON_PLACEMENT_AT_RISK_SPREAD_PROPERTY:
        strbuf_adds(out, "spec.placement.spreadConstraints");
        return;
    case PROBLEM_REASON_PLACEMENT_AT_RISK_WORKLOAD_AFFINITY:
        strbuf_adds(out, "spec.placement.workloadAffinity");
        return;
    default:
        strbuf_adds(out, "spec.placement");
    }
}

static void add_scheduling(const struct field_context *c, struct strbuf *out)
{
    bool other = c->problem->reason == PROBLEM_REASON_NOT_SCHEDULED_OTHER_SCHEDULER;

    strbuf_adds(out, other ? "spec.schedulerName" : "spec.placement");
}

/* ---- templates and bindings ---- */

/*
 * Appends the labels, if a policy selects the kind of a template that no policy selects by labels;
 * else the name.
 */
static void add_unmatched(const struct field_context *c, struct strbuf *out)
{
    const struct template *t = entry_template(c->entry);
    int64_t ignored_ms;
    bool labels =
        c->problem->reason == PROBLEM_REASON_NOT_PROPAGATED_NO_MATCH && t && t->label_keys != 0 &&
        selector_index_find_broad(engine_context_const(c->engine)->index, c->entry, &ignored_ms);

    strbuf_adds(out, labels ? "metadata.labels" : "metadata.name");
}

/* Appends the label of the claim, of a template or of a binding. */
static void add_claim(const struct field_context *c, struct strbuf *out)
{
    const struct template *t = entry_template(c->entry);
    const struct binding *b = entry_binding(c->entry);
    const struct claim *claim = t ? template_claim(t) : b ? b->claim : NULL;

    if (claim)
        strbuf_addf(out, "metadata.labels.%s", permanent_id_key(claim->cluster_scoped));
    else
        strbuf_adds(out, "metadata.name");
}

static bool binding_exists(const struct field_context *c, const struct referrer *r)
{
    const struct entry *binding = c->entry;

    for (uint32_t i = 0; i < entry_read_count(binding); i++) {
        const struct entry *read = entry_read(binding, i);

        if (entry_class(read) == CLASS_BINDING && strcmp(read->name, r->name) == 0 &&
            strcmp(entry_ns(read), r->ns) == 0)
            return entry_exists(read);
    }
    return false;
}

/* Appends the reference of a binding or template that names a missing object. */
static void add_reference(const struct field_context *c, struct strbuf *out)
{
    const struct binding *b = entry_binding(c->entry);

    if (c->problem->reason == PROBLEM_REASON_REFERENCE_BROKEN_CLAIM_MISSING) {
        add_claim(c, out);
    } else if (c->problem->reason == PROBLEM_REASON_REFERENCE_BROKEN_TEMPLATE_MISSING) {
        strbuf_adds(out, "spec.resource");
    } else {
        uint32_t at = 0;

        while (b && at < binding_rare(b)->referrer_count &&
               binding_exists(c, &binding_rare(b)->referrers[at]))
            at++;
        strbuf_adds(out, "spec.requiredBy");
        if (b && at < binding_rare(b)->referrer_count)
            strbuf_addf(out, "[%" PRIu32 "]", at);
    }
}

/*
 * Appends the field with a value that a dependency or its referrers disagree on: of a policy, and
 * of a binding. A template has no such field.
 */
static void add_dependency(const struct field_context *c, struct strbuf *out)
{
    enum dependency_field field = problem_dependency_field(c->problem);
    bool has_value =
        entry_class(c->entry) == CLASS_POLICY || entry_class(c->entry) == CLASS_BINDING;

    if (has_value && field < DEPENDENCY_FIELD_COUNT)
        strbuf_adds(out, dependency_field_paths[field]);
    else
        strbuf_adds(out, "metadata.name");
}

/* Appends the annotation that overrides a value of the policy; else like add_dependency(). */
static void add_overridden(const struct field_context *c, struct strbuf *out)
{
    bool ignored;

    if (entry_class(c->entry) == CLASS_TEMPLATE &&
        problem_dependency_field(c->problem) == DEPENDENCY_CONFLICT_RESOLUTION &&
        template_overrides_conflict_resolution(c->entry, &ignored))
        strbuf_adds(out, "metadata.annotations." CONFLICT_RESOLUTION_ANNOTATION);
    else
        add_dependency(c, out);
}

/* Appends the first rule of an override policy that will fail for the template. */
static void add_override_rule(const struct field_context *c, struct strbuf *out)
{
    struct template_overrides overrides;
    const struct override *o = entry_override(c->entry);

    if (!o)
        return;
    overrides = template_overrides_make(engine_context_const(c->engine), c->problem->subject, true);
    for (size_t i = 0; i < overrides.count; i++) {
        const struct override_effect *effect = &overrides.items[i].effect;

        if (!target_override_fails(&overrides.items[i]) || effect->failed_policy != c->entry)
            continue;
        if (o->deprecated)
            strbuf_adds(out, "spec.overriders");
        else
            strbuf_addf(out, "spec.overrideRules[%" PRIu32 "]",
                        override_rule_index(c->entry, effect->failed_rule));
        break;
    }
    template_overrides_release(&overrides);
}

/* ---- Config Connector ---- */

/* Appends the field from which the name of the cloud resource comes. */
static void add_cloud_name(const struct field_context *c, struct strbuf *out)
{
    const struct connector *connector = template_connector(entry_template(c->entry));

    if (connector)
        strbuf_adds(out, connector->resource_id ? "spec.resourceID" : "metadata.name");
}

static void add_management(const struct field_context *c, struct strbuf *out)
{
    if (c->problem->reason == PROBLEM_REASON_MANAGEMENT_CONFLICT_INVALID_PREVENTION)
        strbuf_adds(out, CONNECTOR_ANNOTATION("management-conflict-prevention-policy"));
    else
        add_cloud_name(c, out);
}

static void add_lease_setting(const struct field_context *c, struct strbuf *out)
{
    strbuf_adds(out, c->problem->reason == PROBLEM_REASON_LEASE_UNPROTECTED_LAPSE_HAZARD
                         ? CONNECTOR_ANNOTATION("reconcile-interval-in-seconds")
                         : CONNECTOR_ANNOTATION("management-conflict-prevention-policy"));
}

/* ---- paths ---- */

static const struct {
    const char *name;
    void (*add)(const struct field_context *c, struct strbuf *out);
} computed[] = {
    {"{affinity}", add_affinity},
    {"{claim}", add_claim},
    {"{cloud_name}", add_cloud_name},
    {"{dependency}", add_dependency},
    {"{exclusion}", add_exclusion},
    {"{filter}", add_filter},
    {"{input}", add_input},
    {"{invalid}", add_invalid},
    {"{lease_setting}", add_lease_setting},
    {"{management}", add_management},
    {"{overridden}", add_overridden},
    {"{override_rule}", add_override_rule},
    {"{reference}", add_reference},
    {"{scheduling}", add_scheduling},
    {"{selector}", add_selector},
    {"{unmatched}", add_unmatched},
};

void problem_add_field(const struct engine *e, const struct problem *p, const struct entry *entry,
                       struct strbuf *out)
{
    const struct field_context c = {e, p, entry};
    const struct field_row *row = &field_rows[problem_id(p)];
    const char *path = entry == problem_subject_entry(e, p) ? row->subject
                       : entry == problem_policy(p)         ? row->policy
                                                            : row->related;

    if (!path || *path != '{') {
        strbuf_adds(out, path ? path : "");
        return;
    }
    /* External subjects have no decision to compute a path from. */
    if (!p->subject)
        return;
    for (size_t i = 0; i < ARRAY_LEN(computed); i++) {
        if (strcmp(computed[i].name, path) == 0) {
            computed[i].add(&c, out);
            return;
        }
    }
    abort();
}
