/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/explain/explain_template.h"

#include "metrics/base/timestamp.h"
#include "metrics/explain/explain_overrides.h"
#include "metrics/explain/explain_policy.h"
#include "metrics/explain/explain_quota.h"
#include "metrics/explain/explain_sections.h"
#include "metrics/explain/explain_verdicts.h"
#include "metrics/expose/decision_text.h"
#include "metrics/expose/report_items.h"
#include "metrics/model/binding.h"
#include "metrics/model/cluster.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "metrics/rules/delivery.h"
#include "metrics/rules/object_index.h"
#include "metrics/rules/template_state.h"

/* ---- stage of a template ---- */

/* Returns Karmada's message about the binding if `at` has the delivery stage; else "". */
static const char *stage_message(const struct explain_context *x, const struct entry *template,
                                 struct stage_and_reason at)
{
    const struct template_decision *d = template_decision(template);

    return at.stage == d->stages.delivery.stage && decision_binding(d)
               ? engine_delivery_message(x->engine, template)
               : "";
}

/*
 * Adds what the state of a cluster, if known, means for the copy that is evicted from it. The
 * cluster may be ready again after the fault that caused the eviction.
 */
static void explain_evicted_cluster(struct explain_context *x, const char *cluster)
{
    const struct kind_def *def = kind_of_clusters();
    const struct identity id = {def->api_version, def->name, "", cluster};
    const struct cluster *c = entry_cluster(store_find(engine_store(x->engine), &id));

    if (c && c->ready)
        explain_paragraph(x,
                          "%s is ready, and still loses its copy: Karmada does not cancel an "
                          "eviction task.",
                          cluster);
    else if (c)
        explain_paragraph(x, "%s is not ready: the copy stays until the cluster is ready again.",
                          cluster);
    else if (!(engine_incomplete_classes(x->engine) & 1U << CLASS_CLUSTER) &&
             store_object_count(engine_store(x->engine), CLASS_CLUSTER) > 0)
        explain_paragraph(x,
                          "Cluster %s does not exist. Remove it from the placement of the policy; "
                          "join it again only if it was removed by mistake.",
                          cluster);
}

/* Adds for each evicted copy when it goes at the latest, or that a person must remove its task. */
static void explain_evictions(struct explain_context *x, const struct binding *b)
{
    const struct status_problem *t = b->status.problem;

    for (uint32_t i = 0; t && i < t->eviction_count; i++) {
        const struct eviction *e = &t->evictions[i];
        char end[32];

        if (!eviction_ends_by_itself(e))
            explain_paragraph(x, "The copy on %s stays until a user removes the eviction task.",
                              e->cluster);
        else if (e->created_ms > 0 && e->grace_s > 0) {
            format_timestamp(e->created_ms + (int64_t)e->grace_s * 1000, end);
            explain_paragraph(x, "The copy on %s (%s, %s) is deleted at %s at the latest.",
                              e->cluster, e->producer, e->reason, end);
        } else {
            explain_paragraph(x,
                              "The copy on %s (%s, %s) is deleted when its eviction task times "
                              "out, by default after ten minutes.",
                              e->cluster, e->producer, e->reason);
        }
        if (eviction_ends_by_itself(e))
            explain_evicted_cluster(x, e->cluster);
    }
}

/*
 * Adds the risks of a template. A risk that the lines of a stage or an eviction describe has no
 * further line.
 */
static void explain_risks(struct explain_context *x, unsigned risks)
{
    unsigned described = 1U << RISK_LAST_COPY | 1U << RISK_READY_EVICTED |
                         1U << RISK_OVERRIDE_FAILED | 1U << RISK_MAY_TRAVEL;

    json_writer_bit_names(&x->out->facts, "risks", risks, risk_names);
    for (unsigned i = 0; i < RISK_COUNT; i++) {
        if (risks & ~described & 1U << i)
            explain_paragraph(x, "Risk: %s.", risk_texts[i]);
    }
}

/* Adds, for each of four stages, the number of target clusters that have passed the stage. */
static void explain_target_counts(struct explain_context *x, struct template_decision *d)
{
    static const struct {
        enum stage stage;
        const char *word;
    } stages[] = {
        {STAGE_UNDISPATCHED, "dispatched to"},
        {STAGE_UNAPPLIED, "applied in"},
        {STAGE_UNDELIVERED, "newest version in"},
        {STAGE_UNREACHABLE, "healthy in"},
    };
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);

    for (size_t i = 0; i < ARRAY_LEN(stages); i++) {
        uint32_t count = 0;

        for (uint32_t k = 0; k < d->target_count; k++)
            count += decision_targets(d)[k].stage > stages[i].stage;
        strbuf_addf(&text, "%s%s %" PRIu32, i > 0 ? ", " : "", stages[i].word, count);
    }
    explain_paragraph(x, "Member clusters: %" PRIu32 " (%s).", d->target_count, text.data);
}

static void explain_passed_stages(struct explain_context *x, struct template_decision *d)
{
    enum stage stage = d->stages.at.stage;
    enum stage delivery = d->stages.delivery.stage;
    bool scheduled = delivery != STAGE_NONE && delivery != STAGE_UNSCHEDULED &&
                     !(delivery == STAGE_EVICTING && d->stages.delivery.reason != WHY_REPLACING);

    explain_paragraph(x, "Matched: %s. Bound: %s. Binding up to date: %s. Scheduled: %s.",
                      stage > STAGE_UNMATCHED ? "yes" : "no", decision_binding(d) ? "yes" : "no",
                      stage > STAGE_OUTDATED ? "yes" : "no", scheduled ? "yes" : "no");
}

static int earliest_stage_first(const void *a, const void *b)
{
    const struct target_cluster_stage *x = a, *y = b;

    if (x->at.stage != y->at.stage)
        return x->at.stage < y->at.stage ? -1 : 1;
    if (x->at.reason != y->at.reason)
        return x->at.reason < y->at.reason ? -1 : 1;
    return strcmp(x->cluster, y->cluster);
}

/* Appends the replicas of a binding in a member cluster, such as ", 2 replicas"; nothing for 0. */
static void add_replicas(struct strbuf *out, const struct binding *b, const char *cluster)
{
    for (uint32_t i = 0; b && i < b->cluster_count; i++) {
        int32_t replicas = b->clusters[i].replicas;

        if (replicas > 0 && strcmp(b->clusters[i].name, cluster) == 0)
            strbuf_addf(out, ", %" PRId32 " replica%s", replicas, replicas == 1 ? "" : "s");
    }
}

/* Adds the section "memberClusters": one line for each target cluster, the earliest stage first. */
static void explain_member_clusters(struct explain_context *x, const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    const char *message = stage_message(x, template, d->stages.delivery);
    CLEANUP(free_cleanup)
    struct target_cluster_stage *targets = NULL;

    if (d->target_count == 0)
        return;
    targets = list_target_stages(x->engine, template);
    qsort(targets, d->target_count, sizeof(*targets), earliest_stage_first);
    explain_open_section(x, "memberClusters", "Member clusters");
    explain_target_counts(x, entry_decision(template));
    for (uint32_t i = 0; i < d->target_count; i++) {
        const struct target_cluster_stage *p = &targets[i];
        const char *reason = stage_reason_names[p->at.reason];
        bool differs = *p->message && strcmp(p->message, message) != 0;
        CLEANUP(strbuf_release) struct strbuf replicas = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);

        add_replicas(&replicas, entry_binding(decision_binding(d)), p->cluster);
        explain_detail(x, "%s: %s%s%s%s%s%s", p->cluster, stage_names[p->at.stage],
                       *reason ? ", " : "", reason, replicas.data, differs ? ": " : "",
                       differs ? p->message : "");
    }
    explanation_close(x->out, '}');
}

/*
 * Adds lines about a stage: reason, Karmada's message, start (unless `since_s` is 0), and the
 * action that ends the stage, unless a problem has an action.
 */
static void explain_stage_and_reason(struct explain_context *x, const struct entry *template,
                                     struct stage_and_reason at, uint32_t since_s)
{
    struct stage_action end = stage_action_of(at);
    struct predicted now = predict_from_decision(template_decision(template), template);
    const char *message = stage_message(x, template, at);
    char since[32];

    format_timestamp((int64_t)since_s * 1000, since);
    if (at.stage <= STAGE_UNBOUND && now.outcome == PREDICTION_REFUSED)
        explain_paragraph(x, "%s %s", stage_texts[at.stage], predicted_text(now));
    else
        explain_paragraph(x, "%s%s%s", stage_texts[at.stage], at.reason == WHY_NONE ? "" : " ",
                          stage_reason_texts[at.reason]);
    if (*message)
        explain_paragraph(x, "Karmada's message: %s", message);
    if (since_s > 0)
        explain_paragraph(x, "Since %s, according to the objects.", since);
    if (x->judged || *end.text == '\0')
        return;
    if (at.stage == STAGE_UNMATCHED && now.outcome == PREDICTION_REFUSED)
        explain_paragraph(x, "Action (%s): Correct %s.", actor_title(ACTOR_POLICY_OWNER),
                          explain_name(x, decision_refused_policy(template_decision(template))));
    else
        explain_paragraph(x, "Action (%s): %s", actor_title(end.actor), end.text);
}

/* Adds the delivery stage of a template that itself is in an earlier stage. */
static void explain_delivery(struct explain_context *x, const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    struct stage_and_reason at = d->stages.delivery;
    const char *reason = stage_reason_names[at.reason];

    if (at.stage == STAGE_HEALTHY) {
        explain_paragraph(x, "The earlier binding is healthy in all its member clusters.");
        return;
    }
    explain_paragraph(x, "The earlier binding is in the stage %s%s%s.", stage_names[at.stage],
                      *reason ? ", " : "", reason);
    explain_stage_and_reason(x, template, at, d->stages.delivery_since_s);
}

/*
 * Adds the section "way": the stage of the template with reason and actor. Adds evictions, risks,
 * passed stages, and the stages in the member clusters.
 */
static void explain_stages(struct explain_context *x, const struct entry *template)
{
    struct template_decision *d = entry_decision(template);
    const struct template_stages *stages = &d->stages;
    const char *reason = stage_reason_names[stages->at.reason];
    CLEANUP(strbuf_release) struct strbuf heading = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);

    strbuf_addf(&heading, "Stage: %s%s%s", stage_names[stages->at.stage], *reason ? ", " : "",
                reason);
    explain_open_section(x, "way", heading.data);
    report_put_stages(&x->out->facts, x->engine, template);
    json_writer_text(&x->out->facts, "actor", actor_names[stage_action_of(stages->at).actor]);
    /* explain_state() adds the time of earlier stages. */
    explain_stage_and_reason(x, template, stages->at,
                             stages->at.stage >= STAGE_EVICTING ? stages->since_s : 0);
    if (stages->delivery.stage != STAGE_NONE && stages->at.stage < STAGE_EVICTING)
        explain_delivery(x, template);
    if (decision_binding(d) && entry_binding(decision_binding(d))->status.problem)
        explain_evictions(x, entry_binding(decision_binding(d)));
    explain_risks(x, d->risks);
    explain_passed_stages(x, d);
    explanation_close(x->out, '}');
}

/* ---- state, claim and binding ---- */

void explain_state(struct explain_context *x, const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    const char *reason = reason_name(d->state, d->reason);
    const char *phase = d->state == STATE_STALE ? phase_names[d->phase] : NULL;
    enum takeover takeover = engine_takeover(x->engine);
    enum actor actor = state_actor(d, takeover);
    struct json_writer *w = &x->out->facts;

    json_writer_text(w, "state", state_names[d->state]);
    json_writer_text(w, "reason", reason);
    json_writer_text(w, "phase", phase);
    json_writer_text(w, "actor", actor_names[template_actor(x->engine, template)]);
    explanation_add_line(x->out, EXPLAIN_HEADING, "State: %s%s%s%s%s", state_names[d->state],
                         reason ? ", " : "", reason ? reason : "", phase ? ", " : "",
                         phase ? phase : "");
    explain_paragraph(x, "%s", state_text(d));
    if (d->state == STATE_STALE)
        explain_paragraph(x, "%s", phase_text(d, takeover, template_claim_holds(template)));
    if (decision_binding(d) && policy_obstacle_text(d))
        explain_paragraph(x, "%s %s.", explain_name(x, decision_governing(d)),
                          policy_obstacle_text(d));
    else if (d->state == STATE_STALE && d->reason == STALE_TEMPLATE_UPDATED)
        explain_paragraph(x, "No obstacle is visible here: check that Karmada's controllers run.");
    json_writer_bool(w, "unread", entry_template(template)->unread);
    if (entry_template(template)->unread)
        explain_paragraph(x, "The template cannot be read: the data about it comes from its "
                             "binding.");
    json_writer_bit_names(w, "flags", d->flags, template_flag_names);
    for (unsigned i = 0; i < TEMPLATE_FLAG_COUNT; i++) {
        if (d->flags & 1U << i)
            explain_paragraph(x, "%s", template_flag_texts[i]);
    }
    explain_since(x, decision_since_ms(d));
    if (actor != ACTOR_NONE && !x->judged)
        explain_paragraph(x, "Actor: %s.", actor_title(actor));
}

/* Adds the section "governance": the claimed policy, its version, and the governing policy. */
static void explain_governance(struct explain_context *x, const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    struct json_writer *w = &x->out->facts;

    explain_open_section(x, "governance", "Policy");
    report_put_policy(w, "claimed", policy_name_of(decision_claimed(d)));
    if (decision_claimed(d)) {
        const char *place = d->own_claim ? "template" : "binding";
        bool exists = entry_exists(decision_claimed(d));
        bool holds = template_claim_holds(template);

        json_writer_bool(w, "claimedExists", exists);
        json_writer_bool(w, "claimHolds", holds);
        json_writer_text(w, "claimedOn", place);
        explain_paragraph(x, "%s%s has claimed the %s.", explain_name(x, decision_claimed(d)),
                          !exists ? ", which does not exist,"
                          : holds ? ""
                                  : ", with another id than the existing policy of that name,",
                          place);
    } else {
        explain_paragraph(x, "No policy has claimed the template.");
    }
    if (entry_template(template)->claim_incomplete)
        explain_paragraph(x, "The claim is incomplete: Karmada ignores it, and matches the "
                             "template anew at each change.");
    explain_template_version(x, template);
    report_put_policy(w, "governing", policy_name_of(decision_governing(d)));
    if (decision_governing(d))
        explain_paragraph(x, "%s governs the template: %s", explain_name(x, decision_governing(d)),
                          governing_text(d, engine_takeover(x->engine)));
    else
        explain_paragraph(x, "No policy governs the template.");
    explanation_close(x->out, '}');
}

static void explain_projected_clusters(struct explain_context *x, const struct capacity *c)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);

    report_put_projected(&x->out->facts, c);
    if (!c || !c->governed)
        return;
    for (uint32_t i = 0; i < c->projection.count; i++)
        strbuf_addf(&text, "%s%s: %" PRId32, i ? ", " : "", c->projection.clusters[i].name,
                    c->projection.clusters[i].replicas);
    if (!c->projection.determined)
        explain_paragraph(x, "Replicas under the governing policy: undetermined (%s), because %s.",
                          undetermined_reason_names[c->projection.reason],
                          undetermined_text(c->projection.reason));
    else
        explain_paragraph(x, "Replicas under the governing policy: %s.",
                          text.len ? text.data : "none");
}

/*
 * Returns the fields in which the binding of a stale template differs from the governing policy; 0
 * if the state is another, the policy is absent or undecided, or the binding has no placement.
 */
static unsigned fields_to_change(const struct template_decision *d, const struct binding *b)
{
    const struct policy *policy = entry_policy(decision_governing(d));

    if (d->state != STATE_STALE || !policy || !policy_decision(decision_governing(d)) ||
        !b->has_placement)
        return 0;
    return drift_fields(policy->propagation, &policy_decision(decision_governing(d))->priority,
                        b->propagation, entry_is_cluster_scoped(decision_binding(d)));
}

static void explain_template_binding(struct explain_context *x, const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    const struct binding *b = entry_binding(decision_binding(d));

    if (!b)
        return;
    explain_open_section(x, "binding", "Binding");
    report_put_object(&x->out->facts, decision_binding(d));
    json_writer_bool(&x->out->facts, "placed", b->has_placement);
    explain_paragraph(x, "%s %s.", explain_name(x, decision_binding(d)),
                      b->has_placement ? "was made by a policy"
                                       : "has no placement: other templates require it");
    explain_field_differences(x, d->fields | fields_to_change(d, b), decision_governing(d),
                              decision_binding(d));
    explain_assigned_replicas(x, b);
    if (d->state == STATE_STALE)
        explain_projected_clusters(x, decision_capacity(d));
    explanation_close(x->out, '}');
}

/* ---- dependencies ---- */

static const char *dependency_text(const struct entry *dependency)
{
    const struct template_decision *d = dependency ? template_decision(dependency) : NULL;

    if (!d || !entry_exists(dependency))
        return "is unknown: it does not exist, or its kind is not watched";
    switch (d->state) {
    case STATE_ATTACHED:
        return "is propagated with the templates that require it";
    case STATE_CURRENT:
    case STATE_STALE:
    case STATE_UNBOUND:
        return "is propagated by a policy of its own";
    case STATE_ORPHANED:
        return "is orphaned: its policy no longer governs it, and it keeps running";
    case STATE_PENDING:
        return "is not propagated by any policy";
    case STATE_IGNORED:
        return "is ignored by Karmada, and never propagated";
    case STATE_COUNT:
        break;
    }
    abort();
}

static void explain_dependency(struct explain_context *x, const struct identity *id)
{
    const struct entry *dependency = store_find(engine_store(x->engine), id);
    const struct template_decision *d = dependency ? template_decision(dependency) : NULL;

    explanation_open(x->out, NULL, '{');
    report_put_identity(&x->out->facts, *id);
    json_writer_text(&x->out->facts, "state",
                     d && entry_exists(dependency) ? state_names[d->state] : NULL);
    explain_paragraph(x, "%s %s%s%s (%s) %s", id->kind, id->ns, *id->ns ? "/" : "", id->name,
                      id->api_version, dependency_text(dependency));
    explanation_close(x->out, '}');
}

/*
 * Adds the objects that the spec of the template refers to by name; if unknown, the objects that
 * Karmada lists in the binding. Returns false if both are unknown.
 */
static bool explain_references(struct explain_context *x, const struct entry *template)
{
    const struct template *t = entry_template(template);
    const struct binding *b = entry_binding(decision_binding(template_decision(template)));
    const struct recorded_dependencies *recorded =
        b && !t->references_known ? binding_rare(b)->recorded : NULL;
    const struct references references = template_references(t);
    uint32_t count = 0;

    explanation_open(x->out, "items", '[');
    for (uint32_t i = 0; i < references.count; i++) {
        const struct reference *r = &references.items[i];

        /* References by label have no name. */
        if (r->to->label_key)
            continue;
        explain_dependency(
            x, &(struct identity){r->to->api_version, r->to->kind, entry_ns(template), r->name});
        count++;
    }
    for (uint32_t i = 0; recorded && i < recorded->count; i++, count++)
        explain_dependency(x, &recorded->items[i]);
    explanation_close(x->out, ']');
    if (count == 0 && (t->references_known || recorded))
        explain_paragraph(x, "No known dependency.");
    return t->references_known || recorded;
}

static const char *propagated_dependencies_text(const struct template_decision *d)
{
    if (!decision_governing(d))
        return "No policy governs the template, so its dependencies are not "
               "propagated with it.";
    if (d->flags & 1U << FLAG_DEPENDENCIES_STAY)
        return template_flag_texts[FLAG_DEPENDENCIES_STAY];
    if (!d->propagates)
        return "The policy does not propagate dependencies: propagateDeps is not "
               "set.";
    return "The policy propagates the dependencies with the template "
           "(propagateDeps).";
}

static void explain_dependencies(struct explain_context *x, const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    const struct template *t = entry_template(template);

    if (!t->references && !d->propagates)
        return;
    explain_open_section(x, "dependencies", "Dependencies");
    if (!explain_references(x, template))
        explain_paragraph(x, "The dependencies are unknown: the spec has not been read, and the "
                             "binding does not list them.");
    json_writer_bool(&x->out->facts, "propagated", d->propagates);
    explain_paragraph(x, "%s", propagated_dependencies_text(d));
    explanation_close(x->out, '}');
}

/*
 * Returns the first template of another kind in the template's namespace that has dependencies and
 * propagates them; NULL without such a template.
 */
static const struct entry *find_propagating_neighbour(const struct store *store,
                                                      const struct entry *template)
{
    const struct entry *first = NULL;

    for (const struct type *type = store_first_type(store); type; type = type->next) {
        const struct partition *p = kind_has_references(type->api_version, type->kind)
                                        ? type_find_partition(store, type, entry_ns(template))
                                        : NULL;

        for (size_t i = 0; p && i < p->count; i++) {
            const struct entry *entry = partition_entry(p, i);
            const struct template_decision *d = template_decision(entry);

            if (d && entry_exists(entry) && d->propagates && type->kind != entry_kind(template) &&
                (!first || entry_compare(entry, first) < 0))
                first = entry;
        }
    }
    return first;
}

/*
 * Adds that propagateDeps of a neighbour does not include the template, if no policy selects the
 * template and Karmada never takes its kind for a dependency.
 */
static void explain_no_dependency(struct explain_context *x, const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    const struct type *type = entry_type(template);
    const struct entry *neighbour;

    if (d->state != STATE_PENDING ||
        (d->reason != PENDING_KIND_NOT_SELECTED && d->reason != PENDING_NO_MATCH) ||
        kind_is_dependency(type->api_version, type->kind, template->name))
        return;
    neighbour = find_propagating_neighbour(engine_store(x->engine), template);
    if (!neighbour)
        return;
    explain_open_section(x, "noDependency", "Dependencies of other templates");
    report_put_object(&x->out->facts, neighbour);
    explain_paragraph(x,
                      "%s propagates its dependencies (propagateDeps), but a %s is no dependency: "
                      "Karmada finds the ConfigMaps, Secrets, ServiceAccounts and "
                      "PersistentVolumeClaims that a template names. Services and EndpointSlices "
                      "are dependencies of a ServiceImport only.",
                      explain_name(x, neighbour), type->kind);
    explain_paragraph(x,
                      "Action (%s): Add the %s to resourceSelectors of %s, or create a policy that "
                      "selects it. A ResourceInterpreterCustomization can also declare it as a "
                      "dependency.",
                      actor_title(ACTOR_POLICY_OWNER), type->kind,
                      explain_name(x, decision_governing(template_decision(neighbour))));
    explanation_close(x->out, '}');
}

enum { IGNORED_POLICIES_MAX = 10 };

/* Adds the action for an object in a version that the API server does not serve. */
static void explain_unserved_version(struct explain_context *x, const struct entry *template)
{
    CLEANUP(strbuf_release) struct strbuf preferred = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
    struct api_version_source source = engine_api_version_source(x->engine);
    const struct type *type = entry_type(template);
    const struct builtin_kind *nearest = builtin_kind_suggest(type->api_version, type->kind);

    explain_paragraph(x, "The API server does not serve %s in %s, and refuses the object.",
                      type->kind, type->api_version);
    if (api_version_add_preferred(&source, type->api_version, type->kind, &preferred))
        explain_paragraph(x, "Action (%s): Write the object in %s.", actor_title(ACTOR_USER),
                          preferred.data);
    if (preferred.len > 0 || !nearest)
        return;
    builtin_kind_add_name(nearest, &preferred);
    explain_paragraph(x, "Action (%s): Correct apiVersion and kind. The nearest kind is %s.",
                      actor_title(ACTOR_USER), preferred.data);
}

/* Adds the consequence for a template that Karmada ignores, and the policies without effect. */
static void explain_ignored(struct explain_context *x, const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    struct api_version_source source = engine_api_version_source(x->engine);
    const struct type *type = entry_type(template);

    explain_state(x, template);
    explain_paragraph(x, "Karmada does not propagate the template.");
    if (d->reason == IGNORED_UNWATCHED_VERSION &&
        api_version_judge(&source, type->api_version, type->kind) == API_VERSION_WATCHED) {
        explain_selection(x, template);
        return;
    }
    if (d->reason == IGNORED_UNWATCHED_VERSION)
        explain_unserved_version(x, template);
    for (uint32_t i = 0; i < d->candidate_count && i < IGNORED_POLICIES_MAX; i++)
        explain_paragraph(x, "%s selects the template without effect.",
                          explain_name(x, decision_candidate(d, i).policy));
}

void explain_template(struct explain_context *x, const struct entry *template)
{
    const struct template_decision *d = template_decision(template);

    if (d->state == STATE_IGNORED) {
        explain_ignored(x, template);
        return;
    }
    explain_template_verdicts(x, template);
    explain_governance(x, template);
    explain_template_binding(x, template);
    explain_member_clusters(x, template);
    explain_state(x, template);
    explain_stages(x, template);
    explain_selection(x, template);
    explain_template_quotas(x, template);
    explain_template_overrides(x, template);
    explain_referrers(x, decision_dependency(d) ? template : decision_binding(d));
    explain_dependencies(x, template);
    explain_no_dependency(x, template);
    explain_defects(x, template);
    explain_connector(x, template);
    explain_predicted_state(x, template);
}
