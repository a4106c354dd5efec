/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/report_items.h"

#include "metrics/expose/decision_text.h"
#include "metrics/expose/policy_names.h"
#include "metrics/expose/problem_parties.h"
#include "metrics/expose/problem_rows.h"
#include "metrics/expose/report_parts.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "metrics/rules/connector_conflicts.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/delivery.h"
#include "metrics/rules/dependency.h"

/* ---- stages of a template ---- */

static void put_stage_and_reason(struct json_writer *w, const char *stage, const char *reason,
                                 struct stage_and_reason at)
{
    bool known = at.stage != STAGE_NONE;

    json_writer_text(w, stage, known ? stage_names[at.stage] : NULL);
    json_writer_text(w, reason, at.reason != WHY_NONE ? stage_reason_names[at.reason] : NULL);
}

struct target_cluster_stage *list_target_stages(const struct engine *engine,
                                                const struct entry *template)
{
    struct template_decision *d = entry_decision(template);
    struct target_cluster_stage *targets =
        xreallocarray(NULL, d->target_count + (size_t)1, sizeof(*targets));

    for (uint32_t i = 0; i < d->target_count; i++)
        targets[i] = (struct target_cluster_stage){
            entry_binding(decision_binding(d))->clusters[i].name, decision_targets(d)[i],
            engine_target_message(engine, template, i)};
    return targets;
}

static int by_cluster(const void *a, const void *b)
{
    return strcmp(((const struct target_cluster_stage *)a)->cluster,
                  ((const struct target_cluster_stage *)b)->cluster);
}

static void put_targets(struct json_writer *w, const struct engine *engine,
                        const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    CLEANUP(free_cleanup)
    struct target_cluster_stage *targets = list_target_stages(engine, template);

    qsort(targets, d->target_count, sizeof(*targets), by_cluster);
    json_writer_open(w, "targets", '[');
    for (uint32_t i = 0; i < d->target_count; i++) {
        json_writer_open(w, NULL, '{');
        json_writer_text(w, "cluster", targets[i].cluster);
        put_stage_and_reason(w, "stage", "reason", targets[i].at);
        if (*targets[i].message)
            json_writer_text(w, "message", targets[i].message);
        json_writer_close(w, '}');
    }
    json_writer_close(w, ']');
}

void report_put_stages(struct json_writer *w, const struct engine *engine,
                       const struct entry *template)
{
    const struct template_decision *d = template_decision(template);

    put_stage_and_reason(w, "stage", "stageReason", d->stages.at);
    report_put_time(w, "stageSince", (int64_t)d->stages.since_s * 1000);
    put_stage_and_reason(w, "delivery", "deliveryReason", d->stages.delivery);

    bool delivers = d->stages.delivery.stage != STAGE_NONE;
    const char *message = delivers ? engine_delivery_message(engine, template) : "";

    json_writer_text(w, "message", *message ? message : NULL);
    put_targets(w, engine, template);
}

/* ---- resources of Google Config Connector ---- */

static const char *const container_names[] = {
    [CONTAINER_NONE] = NULL,
    [CONTAINER_PROJECT] = "project",
    [CONTAINER_FOLDER] = "folder",
    [CONTAINER_ORGANIZATION] = "organization",
};

/*
 * Appends the number of other templates with the same cloud resource, and the first
 * REPORT_SHARERS_MAX of them.
 */
static void put_sharers(struct json_writer *w, const struct engine *engine,
                        const struct entry *template)
{
    const struct entry *sharers[REPORT_SHARERS_MAX];
    size_t count = engine_same_resource_templates(engine, template, sharers, REPORT_SHARERS_MAX);

    json_writer_int(w, "sharers", (int64_t)count);
    json_writer_open(w, "sharedWith", '[');
    for (size_t i = 0; i < count && i < REPORT_SHARERS_MAX; i++) {
        json_writer_open(w, NULL, '{');
        report_put_object(w, sharers[i]);
        json_writer_close(w, '}');
    }
    json_writer_close(w, ']');
}

static void put_lease_of_template(struct json_writer *w, const struct engine *engine,
                                  const struct entry *template)
{
    const struct entry *lease = engine_lease_of(engine, template);
    const struct lease_decision *d = lease ? lease_decision(lease) : NULL;

    if (!d) {
        json_writer_text(w, "lease", NULL);
        return;
    }
    json_writer_open(w, "lease", '{');
    json_writer_text(w, "asset", lease->name);
    json_writer_text(w, "state", lease_state_names[d->state]);
    json_writer_text(w, "holder", entry_lease(lease)->holder);
    json_writer_text(w, "namespace", d->holder_ns);
    report_put_time(w, "expiration", entry_lease(lease)->expires_s * 1000);
    json_writer_close(w, '}');
}

void report_put_connector(struct json_writer *w, const struct engine *engine,
                          const struct entry *template)
{
    const struct connector_decision *c = decision_connector(template_decision(template));

    json_writer_text(w, "container", container_names[c->identity.container.kind]);
    json_writer_text(w, "containerId", c->identity.container.id);
    json_writer_text(w, "location", c->identity.location);
    json_writer_text(w, "name", c->identity.unclear ? NULL : c->identity.name);
    json_writer_text(w, "protection", protection_names[c->protection]);
    json_writer_bit_names(w, "conflicts", c->conflicts, connector_conflict_names);
    put_sharers(w, engine, template);
    put_lease_of_template(w, engine, template);
}

static void put_config_connector(struct json_writer *w, const struct engine *engine,
                                 const struct entry *template)
{
    json_writer_open(w, "configConnector", '{');
    report_put_connector(w, engine, template);
    json_writer_close(w, '}');
}

void report_lease(struct json_writer *w, const struct entry *entry)
{
    const struct lease_decision *d = lease_decision(entry);
    const struct lease *lease = entry_lease(entry);

    json_writer_open(w, NULL, '{');
    json_writer_text(w, "asset", entry->name);
    json_writer_text(w, "assetType", lease->asset_type);
    json_writer_text(w, "state", lease_state_names[d->state]);
    json_writer_text(w, "holder", lease->holder);
    json_writer_text(w, "namespace", d->holder_ns);
    report_put_time(w, "expiration", lease->expires_s * 1000);
    json_writer_bit_names(w, "conflicts", d->conflicts, connector_conflict_names);
    json_writer_close(w, '}');
}

/* ---- templates ---- */

/*
 * Appends the start and the writer of the state, the owner, and the role that must act. Unlike list
 * rows, the report omits times of observation, so that reports of the same objects are equal.
 */
static void put_responsibility(struct json_writer *w, const struct engine *engine,
                               const struct entry *template)
{
    const struct template_decision *d = template_decision(template);

    report_put_time(w, "since", decision_since_ms(d));
    json_writer_text(w, "changedBy", state_writer_of_template(template).by);
    json_writer_text(w, "owner", template_owner(entry_template(template)));
    json_writer_text(w, "actor", actor_names[template_actor(engine, template)]);
}

/* Appends the prediction about a template that has no binding. */
static void put_prediction(struct json_writer *w, const struct engine *engine,
                           const struct entry *template)
{
    struct intern *strings = store_string_pool(engine_context_const(engine)->store);
    bool stale = template_decision(template)->state == STATE_STALE;
    struct projection projection;
    struct predicted predicted = predict_template(engine, template, &projection);

    if (!stale && projection.determined)
        report_put_clusters(w, "projected", projection.clusters, projection.count);
    else if (!stale && predicted.outcome == PREDICTION_UNDETERMINED)
        json_writer_text(w, "undetermined", predicted.reason);
    json_writer_text(w, "outcome", prediction_names[predicted.outcome]);
    json_writer_text(w, "outcomeReason", predicted.reason);
    if (projection.by_release)
        json_writer_text(w, "byRelease", projection.by_release);
    projection_release(strings, &projection);
}

void report_template(struct json_writer *w, const struct engine *engine,
                     const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    bool stale = d->state == STATE_STALE;

    json_writer_open(w, NULL, '{');
    report_put_identity(w, entry_identity(template));
    json_writer_text(w, "state", state_names[d->state]);
    json_writer_text(w, "reason", reason_name(d->state, d->reason));
    if (entry_template(template)->unread)
        json_writer_bool(w, "unread", true);
    json_writer_text(w, "phase", stale ? phase_names[d->phase] : NULL);
    json_writer_bit_names(w, "fields", stale ? d->fields : 0, drift_field_names);
    json_writer_bit_names(w, "flags", d->flags, template_flag_names);
    report_put_stages(w, engine, template);
    json_writer_bit_names(w, "risks", d->risks, risk_names);
    report_put_policy(w, "policy",
                      policy_name_of(d->state == STATE_IGNORED ? NULL : decision_winner(d)));
    report_put_policy(w, "claimed", policy_name_of(decision_claimed(d)));
    report_put_version(w, decision_version(d));
    put_responsibility(w, engine, template);
    if (decision_binding(d))
        report_put_binding(w, "binding", decision_binding(d));
    else
        json_writer_text(w, "binding", NULL);
    if (stale) {
        report_put_assigned(w, entry_binding(decision_binding(d)));
        report_put_projected(w, decision_capacity(d));
    }
    if (!entry_binding(decision_binding(d)))
        put_prediction(w, engine, template);
    if (decision_connector(d))
        put_config_connector(w, engine, template);
    json_writer_close(w, '}');
}

/* ---- dependencies ---- */

/* Context of put_referrer_value(). */
struct referrer_value_writer {
    struct json_writer *writer;
    enum dependency_field field;
    bool current; /* Values that the policies set now; false: values in the bindings. */
    const struct location_source *locations; /* NULL: no places. */
};

/* Returns the source of a requested value: "derived", "predicted" or "observed". */
static const char *value_origin(const struct dependency_referrer *referrer, bool current)
{
    if (referrer->derived)
        return "derived";
    if (current && (!referrer->counts_observed ||
                    !dependency_values_equal(&referrer->current, &referrer->observed)))
        return "predicted";
    return "observed";
}

static void put_referrer_value(void *context, const struct dependency_referrer *referrer)
{
    const struct referrer_value_writer *c = context;
    struct json_writer *w = c->writer;
    const struct dependency_values *values = c->current ? &referrer->current : &referrer->observed;
    const struct entry *object = referrer->binding ? referrer->binding : referrer->template;

    if (!object || !(c->current ? referrer->counts_current : referrer->counts_observed))
        return;
    json_writer_open(w, NULL, '{');
    report_put_binding(w, "binding", object);
    policy_write(w, "policy", referrer_policy(referrer, c->current), c->locations,
                 referrer_policy_entry(referrer, c->current), dependency_field_paths[c->field]);
    report_put_value(w, "value", c->field, values->wants[c->field]);
    json_writer_text(w, "origin", value_origin(referrer, c->current));
    json_writer_close(w, '}');
}

void report_put_conflict_members(struct json_writer *w, const struct engine *engine,
                                 const struct entry *dependency, enum dependency_field field,
                                 const struct location_source *locations)
{
    const struct dependency_decision *d = dependency_decision(dependency);
    const struct field_resolution *f = &d->fields[field];
    bool predicted = !f->conflict;
    struct referrer_value_writer values = {w, field, predicted, locations};
    CLEANUP(strbuf_release) struct strbuf message = STRBUF_INIT(128);

    conflict_event_hint(field, &message);
    report_put_binding(w, "binding", dependency);
    json_writer_open(w, "resource", '{');
    report_put_identity(w, resource_identity_of(dependency));
    json_writer_close(w, '}');
    json_writer_text(w, "field", dependency_field_names[field]);
    report_put_resolved(w, field, predicted ? f->predicted_outcome : f->outcome,
                        predicted ? f->predicted_resolved : f->resolved);
    report_put_stored(w, dependency, field);
    json_writer_text(w, "origin", predicted ? "predicted" : d->derived ? "derived" : "observed");
    json_writer_text(w, "message", message.data);
    json_writer_open(w, "wants", '[');
    engine_dependency_referrers(engine, dependency, put_referrer_value, &values);
    json_writer_close(w, ']');
}

void report_conflict(struct json_writer *w, const struct engine *engine,
                     const struct entry *dependency, enum dependency_field field,
                     const char *change, const struct location_source *locations)
{
    json_writer_open(w, NULL, '{');
    report_put_conflict_members(w, engine, dependency, field, locations);
    if (change)
        json_writer_text(w, "change", change);
    if (!location_write(w, "location", locations, dependency, "metadata.name")) {
        const struct identity id = resource_identity_of(dependency);
        const struct entry *template = store_find(engine_store(engine), &id);

        /* Karmada makes most bindings, so that only their templates come from files. */
        if (template)
            (void)location_write(w, "location", locations, template, "metadata.name");
    }
    json_writer_close(w, '}');
}

void report_conflicts(struct json_writer *w, const struct engine *engine,
                      const struct entry *dependency, const struct location_source *locations)
{
    const struct dependency_decision *d = dependency_decision(dependency);

    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++) {
        if (d->fields[i].conflict || d->fields[i].predicted)
            report_conflict(w, engine, dependency, i, NULL, locations);
    }
}

void report_dependency(struct json_writer *w, const struct entry *dependency)
{
    const struct dependency_decision *d = dependency_decision(dependency);

    json_writer_open(w, NULL, '{');
    report_put_binding(w, "binding", dependency);
    json_writer_int(w, "danglingReferences", d->dangling);
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++) {
        json_writer_open(w, dependency_field_names[i], '{');
        json_writer_bool(w, "conflict", d->fields[i].conflict);
        report_put_resolved(w, i, d->fields[i].outcome, d->fields[i].resolved);
        report_put_stored(w, dependency, i);
        if (d->fields[i].unsupported)
            json_writer_bool(w, "unsupported", true);
        json_writer_close(w, '}');
    }
    json_writer_close(w, '}');
}

/* ---- policies ---- */

static void add_template_to_counts(struct policy_counts *counts, const struct template_decision *d,
                                   const struct entry *policy)
{
    counts->won += decision_winner(d) == policy;
    counts->claimed += decision_claimed(d) == policy;
    counts->stale += d->state == STATE_STALE && policy_of_stale_template(d) == policy;
    for (uint32_t i = 0; i < d->candidate_count; i++) {
        const struct candidate c = decision_candidate(d, i);

        counts->selected += c.policy == policy && candidate_eligible(&c);
    }
}

struct policy_counts policy_counts_of(const struct entry *policy)
{
    struct policy_counts counts = {0};

    for (uint32_t i = 0; i < entry_reader_count(policy); i++) {
        const struct entry *reader = entry_reader(policy, i);
        const struct template_decision *d = template_decision(reader);

        if (d && entry_exists(reader) && d->state != STATE_IGNORED)
            add_template_to_counts(&counts, d, policy);
    }
    return counts;
}

void report_put_counts(struct json_writer *w, const struct policy_counts *counts)
{
    json_writer_int(w, "selected", counts->selected);
    json_writer_int(w, "won", counts->won);
    json_writer_int(w, "claimed", counts->claimed);
    json_writer_int(w, "stale", counts->stale);
}

void report_put_policy_members(struct json_writer *w, const struct entry *policy)
{
    const struct policy_decision *d = policy_decision(policy);
    struct policy_counts counts = policy_counts_of(policy);

    report_put_object(w, policy);
    report_put_counts(w, &counts);
    report_put_versions(w, policy);
    /* Unknown without Cluster objects, and until all of them have been read. */
    if (d && d->resolved->has_clusters) {
        json_writer_open(w, "clusters", '[');
        for (uint32_t i = 0; i < d->resolved->cluster_count; i++)
            json_writer_text(w, NULL, d->resolved->clusters[i]);
        json_writer_close(w, ']');
    }
}

void report_policy(struct json_writer *w, const struct entry *policy)
{
    json_writer_open(w, NULL, '{');
    report_put_policy_members(w, policy);
    json_writer_close(w, '}');
}

void report_policy_problems(struct json_writer *w, const struct entry *policy)
{
    const struct policy_decision *d = policy_decision(policy);

    for (unsigned i = 0; d && i < POLICY_PROBLEM_COUNT; i++) {
        if (!(d->problems & 1u << i))
            continue;
        json_writer_open(w, NULL, '{');
        report_put_object(w, policy);
        json_writer_text(w, "reason", policy_problem_names[i]);
        json_writer_text(w, "text", policy_problem_texts[i]);
        json_writer_close(w, '}');
    }
}

/* ---- defects ---- */

/* Appends the bindings in requiredBy that do not exist. */
static void put_dangling_references(struct json_writer *w, const struct entry *binding)
{
    json_writer_open(w, "references", '[');
    for (uint32_t i = 0; i < entry_read_count(binding); i++) {
        const struct entry *read = entry_read(binding, i);

        if (entry_class(read) == CLASS_BINDING && !entry_exists(read))
            report_put_binding(w, NULL, read);
    }
    json_writer_close(w, ']');
}

/* Appends the subject of a defect for programs; defect_add_subject() is the text for people. */
static void put_defect_subject(struct json_writer *w, const struct entry *entry, enum defect defect)
{
    const struct template_decision *t = template_decision(entry);

    switch (defect) {
    case DEFECT_NAME_COLLISION:
        report_put_binding(w, "binding", entry);
        return;
    case DEFECT_DANGLING_CLAIM:
        report_put_policy(w, "claimed",
                          policy_name_of(t ? decision_claimed(t) : binding_claimed_policy(entry)));
        return;
    case DEFECT_MISSING_TEMPLATE:
        json_writer_open(w, "resource", '{');
        report_put_identity(w, resource_identity_of(entry));
        json_writer_close(w, '}');
        return;
    case DEFECT_DANGLING_REFERENCE:
        put_dangling_references(w, entry);
        return;
    case DEFECT_UNAPPLIED_RESOLUTION:
    case DEFECT_UNCLEARED_FIELDS:
    case DEFECT_OVERRIDDEN_VALUE:
        json_writer_bit_names(w, "fields", defect_fields(entry, defect), dependency_field_names);
        return;
    case DEFECT_COUNT:
        break;
    }
    abort();
}

void report_defects(struct json_writer *w, const struct entry *entry)
{
    unsigned defects = entry_defects(entry);

    for (unsigned i = 0; i < DEFECT_COUNT; i++) {
        if (!(defects & 1u << i))
            continue;
        json_writer_open(w, NULL, '{');
        report_put_object(w, entry);
        json_writer_text(w, "reason", defect_names[i]);
        json_writer_text(w, "text", defect_texts[i]);
        put_defect_subject(w, entry, i);
        json_writer_close(w, '}');
    }
}
