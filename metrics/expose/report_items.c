/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/report_items.h"

#include "metrics/base/timestamp.h"
#include "metrics/expose/decision_text.h"
#include "metrics/expose/policy_names.h"
#include "metrics/expose/report_parts.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "metrics/rules/connector_conflicts.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/delivery.h"
#include "metrics/rules/dependency.h"

static void put_standing(struct writer *w, const char *stage, const char *reason,
                         struct standing at)
{
    bool known = at.stage != STAGE_NONE;

    writer_text(w, stage, known ? stage_names[at.stage] : NULL);
    writer_text(w, reason, at.reason != WHY_NONE ? stage_reason_names[at.reason] : NULL);
}

struct target_place *target_places(const struct engine *engine, const struct entry *template)
{
    struct template_decision *d = template->decision;
    struct target_place *places = xreallocarray(NULL, d->target_count + (size_t)1, sizeof(*places));

    for (uint32_t i = 0; i < d->target_count; i++)
        places[i] = (struct target_place){entry_binding(d->binding)->clusters[i].name,
                                          decision_targets(d)[i],
                                          engine_target_message(engine, template, i)};
    return places;
}

static int by_cluster(const void *a, const void *b)
{
    return strcmp(((const struct target_place *)a)->cluster,
                  ((const struct target_place *)b)->cluster);
}

static void put_targets(struct writer *w, const struct engine *engine, const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    CLEANUP(free_cleanup) struct target_place *places = target_places(engine, template);

    qsort(places, d->target_count, sizeof(*places), by_cluster);
    writer_open(w, "targets", '[');
    for (uint32_t i = 0; i < d->target_count; i++) {
        writer_open(w, NULL, '{');
        writer_text(w, "cluster", places[i].cluster);
        put_standing(w, "stage", "reason", places[i].at);
        if (*places[i].message)
            writer_text(w, "message", places[i].message);
        writer_close(w, '}');
    }
    writer_close(w, ']');
}

void report_put_way(struct writer *w, const struct engine *engine, const struct entry *template)
{
    const struct template_decision *d = template_decision(template);

    put_standing(w, "stage", "stageReason", d->way.at);
    report_put_time(w, "stageSince", (int64_t)d->way.since_s * 1000);
    put_standing(w, "delivery", "deliveryReason", d->way.delivery);

    bool delivers = d->way.delivery.stage != STAGE_NONE;
    const char *message = delivers ? engine_delivery_message(engine, template) : "";

    writer_text(w, "message", *message ? message : NULL);
    put_targets(w, engine, template);
}

/*
 * Since when, by whom, whose and who must act, as lists have it. When it was first seen is left
 * out: two reports of the same objects are the same.
 */
static void put_parties(struct writer *w, const struct engine *engine, const struct entry *template)
{
    const struct template_decision *d = template_decision(template);

    report_put_time(w, "since", d->since_ms);
    writer_text(w, "changedBy", template_changer(template).by);
    writer_text(w, "owner", template_owner(entry_template(template)));
    writer_text(w, "actor", actor_names[explain_who(d, engine_takeover(engine))]);
}

void report_template(struct writer *w, const struct engine *engine, const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    bool stale = d->state == STATE_STALE;

    writer_open(w, NULL, '{');
    report_put_identity(w, (struct identity){template->partition->type->api_version,
                                             entry_kind(template), entry_ns(template),
                                             template->name});
    writer_text(w, "state", state_names[d->state]);
    writer_text(w, "reason", reason_name(d->state, d->reason));
    if (entry_template(template)->unread)
        writer_bool(w, "unread", true);
    writer_text(w, "phase", stale ? phase_names[d->phase] : NULL);
    writer_names(w, "fields", stale ? d->fields : 0, drift_field_names);
    writer_names(w, "flags", d->flags, template_flag_names);
    report_put_way(w, engine, template);
    writer_names(w, "risks", d->risks, risk_names);
    report_put_policy(w, "policy", policy_name_of(d->state == STATE_IGNORED ? NULL : d->winner));
    report_put_policy(w, "claimed", policy_name_of(d->claimed));
    report_put_version(w, d->version);
    put_parties(w, engine, template);
    if (d->binding)
        report_put_binding(w, "binding", d->binding);
    else
        writer_text(w, "binding", NULL);
    if (stale) {
        report_put_assigned(w, entry_binding(d->binding));
        report_put_projected(w, d->capacity);
    }
    if (d->connector)
        report_connector(w, engine, template);
    writer_close(w, '}');
}

struct wants {
    struct writer *writer;
    enum dependency_field field;
    bool current; /* What the policies say now, rather than what the bindings have. */
};

/* Where what a referrer wants comes from. */
static const char *want_origin(const struct ballot *ballot, bool current)
{
    if (ballot->derived)
        return "derived";
    if (current && (!ballot->counts_observed || !vote_equal(&ballot->current, &ballot->observed)))
        return "predicted";
    return "observed";
}

static void put_want(void *context, const struct ballot *ballot)
{
    const struct wants *wants = context;
    struct writer *w = wants->writer;
    const struct vote *vote = wants->current ? &ballot->current : &ballot->observed;
    const struct entry *referrer = ballot->binding ? ballot->binding : ballot->template;

    if (!referrer || !(wants->current ? ballot->counts_current : ballot->counts_observed))
        return;
    writer_open(w, NULL, '{');
    report_put_binding(w, "binding", referrer);
    report_put_policy(w, "policy", ballot_policy(ballot, wants->current));
    report_put_value(w, "value", wants->field, vote->wants[wants->field]);
    writer_text(w, "origin", want_origin(ballot, wants->current));
    writer_close(w, '}');
}

void report_conflict(struct writer *w, const struct engine *engine, const struct entry *dependency,
                     enum dependency_field field, const char *change)
{
    const struct dependency_decision *d = dependency_decision(dependency);
    const struct field_resolution *f = &d->fields[field];
    bool predicted = !f->conflict;
    struct wants wants = {w, field, predicted};
    CLEANUP(strbuf_release) struct strbuf message = STRBUF_INIT(128);

    conflict_event_hint(field, &message);
    writer_open(w, NULL, '{');
    report_put_binding(w, "binding", dependency);
    writer_open(w, "resource", '{');
    report_put_identity(w, dependency_resource(dependency));
    writer_close(w, '}');
    writer_text(w, "field", dependency_field_names[field]);
    report_put_value(w, "resolved", field, predicted ? f->predicted_resolved : f->resolved);
    report_put_stored(w, dependency, field);
    writer_text(w, "origin", predicted ? "predicted" : d->derived ? "derived" : "observed");
    writer_text(w, "message", message.data);
    writer_open(w, "wants", '[');
    engine_ballots(engine, dependency, put_want, &wants);
    writer_close(w, ']');
    if (change)
        writer_text(w, "change", change);
    writer_close(w, '}');
}

void report_conflicts(struct writer *w, const struct engine *engine, const struct entry *dependency)
{
    const struct dependency_decision *d = dependency_decision(dependency);

    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++) {
        if (d->fields[i].conflict || d->fields[i].predicted)
            report_conflict(w, engine, dependency, i, NULL);
    }
}

void report_dependency(struct writer *w, const struct entry *dependency)
{
    const struct dependency_decision *d = dependency_decision(dependency);

    writer_open(w, NULL, '{');
    report_put_binding(w, "binding", dependency);
    writer_int(w, "danglingReferences", d->dangling);
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++) {
        writer_open(w, dependency_field_names[i], '{');
        writer_bool(w, "conflict", d->fields[i].conflict);
        report_put_value(w, "resolved", i, d->fields[i].resolved);
        report_put_stored(w, dependency, i);
        if (d->fields[i].unsupported)
            writer_bool(w, "unsupported", true);
        writer_close(w, '}');
    }
    writer_close(w, '}');
}

static void count_template(struct policy_counts *counts, const struct template_decision *d,
                           const struct entry *policy)
{
    counts->won += d->winner == policy;
    counts->claimed += d->claimed == policy;
    counts->stale += d->state == STATE_STALE && stale_policy(d) == policy;
    for (uint32_t i = 0; i < d->candidate_count; i++) {
        const struct candidate *c = &d->candidates[i];

        counts->selected += c->policy == policy && candidate_eligible(c);
    }
}

struct policy_counts policy_counts_of(const struct entry *policy)
{
    struct policy_counts counts = {0};

    for (uint32_t i = 0; i < policy->reader_count; i++) {
        const struct entry *reader = policy->readers[i];
        const struct template_decision *d = template_decision(reader);

        if (d && entry_exists(reader) && d->state != STATE_IGNORED)
            count_template(&counts, d, policy);
    }
    return counts;
}

void report_put_counts(struct writer *w, const struct policy_counts *counts)
{
    writer_int(w, "selected", counts->selected);
    writer_int(w, "won", counts->won);
    writer_int(w, "claimed", counts->claimed);
    writer_int(w, "stale", counts->stale);
}

void report_policy(struct writer *w, const struct entry *policy)
{
    const struct policy_decision *d = policy_decision(policy);
    struct policy_counts counts = policy_counts_of(policy);

    writer_open(w, NULL, '{');
    report_put_object(w, policy);
    report_put_counts(w, &counts);
    report_put_versions(w, policy);
    /* The member clusters that it may use; nothing where the source has no clusters. */
    if (d && d->resolved->has_clusters) {
        writer_open(w, "clusters", '[');
        for (uint32_t i = 0; i < d->resolved->cluster_count; i++)
            writer_text(w, NULL, d->resolved->clusters[i]);
        writer_close(w, ']');
    }
    writer_close(w, '}');
}

void report_problems(struct writer *w, const struct entry *policy)
{
    const struct policy_decision *d = policy_decision(policy);

    for (unsigned i = 0; d && i < POLICY_PROBLEM_COUNT; i++) {
        if (!(d->problems & 1u << i))
            continue;
        writer_open(w, NULL, '{');
        report_put_object(w, policy);
        writer_text(w, "reason", policy_problem_names[i]);
        writer_text(w, "text", policy_problem_texts[i]);
        writer_close(w, '}');
    }
}

/* The bindings in its requiredBy that do not exist. */
static void put_dangling(struct writer *w, const struct entry *binding)
{
    writer_open(w, "references", '[');
    for (uint32_t i = 0; i < binding->read_count; i++) {
        const struct entry *read = binding->reads[i].read;

        if (entry_class(read) == CLASS_BINDING && !entry_exists(read))
            report_put_binding(w, NULL, read);
    }
    writer_close(w, ']');
}

/* What the defect is about, for programs: see defect_subject(). */
static void put_defect(struct writer *w, const struct entry *entry, enum defect defect)
{
    const struct template_decision *t = template_decision(entry);

    switch (defect) {
    case DEFECT_NAME_COLLISION:
        report_put_binding(w, "binding", entry);
        return;
    case DEFECT_DANGLING_CLAIM:
        report_put_policy(w, "claimed", policy_name_of(t ? t->claimed : binding_claimed(entry)));
        return;
    case DEFECT_MISSING_TEMPLATE:
        writer_open(w, "resource", '{');
        report_put_identity(w, dependency_resource(entry));
        writer_close(w, '}');
        return;
    case DEFECT_DANGLING_REFERENCE:
        put_dangling(w, entry);
        return;
    case DEFECT_UNAPPLIED_RESOLUTION:
    case DEFECT_UNCLEARED_FIELDS:
    case DEFECT_OVERRIDDEN_VALUE:
        writer_names(w, "fields", defect_fields(entry, defect), dependency_field_names);
        return;
    case DEFECT_COUNT:
        break;
    }
    abort();
}

void report_defects(struct writer *w, const struct entry *entry)
{
    unsigned defects = entry_defects(entry);

    for (unsigned i = 0; i < DEFECT_COUNT; i++) {
        if (!(defects & 1u << i))
            continue;
        writer_open(w, NULL, '{');
        report_put_object(w, entry);
        writer_text(w, "reason", defect_names[i]);
        writer_text(w, "text", defect_texts[i]);
        put_defect(w, entry, i);
        writer_close(w, '}');
    }
}

static const char *const container_names[] = {
    [CONTAINER_NONE] = NULL,
    [CONTAINER_PROJECT] = "project",
    [CONTAINER_FOLDER] = "folder",
    [CONTAINER_ORGANIZATION] = "organization",
};

/* Templates that stand for the same cloud resource: the first of them, and how many there are. */
static void put_sharers(struct writer *w, const struct engine *engine, const struct entry *template)
{
    const struct entry *sharers[REPORT_SHARERS_MAX];
    size_t count = engine_sharers(engine, template, sharers, REPORT_SHARERS_MAX);

    writer_int(w, "sharers", (int64_t)count);
    writer_open(w, "sharedWith", '[');
    for (size_t i = 0; i < count && i < REPORT_SHARERS_MAX; i++) {
        writer_open(w, NULL, '{');
        report_put_object(w, sharers[i]);
        writer_close(w, '}');
    }
    writer_close(w, ']');
}

static void put_lease(struct writer *w, const struct engine *engine, const struct entry *template)
{
    const struct entry *lease = engine_lease_of(engine, template);
    const struct lease_decision *d = lease ? lease_decision(lease) : NULL;
    char expiration[32];

    if (!d) {
        writer_text(w, "lease", NULL);
        return;
    }
    writer_open(w, "lease", '{');
    writer_text(w, "asset", lease->name);
    writer_text(w, "state", lease_state_names[d->state]);
    writer_text(w, "holder", entry_lease(lease)->holder);
    writer_text(w, "namespace", d->holder_ns);
    format_timestamp(entry_lease(lease)->expires_s * 1000, expiration);
    writer_text(w, "expiration", entry_lease(lease)->expires_s > 0 ? expiration : NULL);
    writer_close(w, '}');
}

void report_put_connector(struct writer *w, const struct engine *engine,
                          const struct entry *template)
{
    const struct connector_decision *c = template_decision(template)->connector;

    writer_text(w, "container", container_names[c->identity.container.kind]);
    writer_text(w, "containerId", c->identity.container.id);
    writer_text(w, "location", c->identity.location);
    writer_text(w, "name", c->identity.unclear ? NULL : c->identity.name);
    writer_text(w, "protection", protection_names[c->protection]);
    writer_names(w, "conflicts", c->conflicts, connector_conflict_names);
    put_sharers(w, engine, template);
    put_lease(w, engine, template);
}

void report_connector(struct writer *w, const struct engine *engine, const struct entry *template)
{
    writer_open(w, "configConnector", '{');
    report_put_connector(w, engine, template);
    writer_close(w, '}');
}

void report_lease(struct writer *w, const struct entry *entry)
{
    const struct lease_decision *d = lease_decision(entry);
    const struct lease *lease = entry_lease(entry);
    char expiration[32];

    format_timestamp(lease->expires_s * 1000, expiration);
    writer_open(w, NULL, '{');
    writer_text(w, "asset", entry->name);
    writer_text(w, "assetType", lease->asset_type);
    writer_text(w, "state", lease_state_names[d->state]);
    writer_text(w, "holder", lease->holder);
    writer_text(w, "namespace", d->holder_ns);
    writer_text(w, "expiration", lease->expires_s > 0 ? expiration : NULL);
    writer_names(w, "conflicts", d->conflicts, connector_conflict_names);
    writer_close(w, '}');
}
