/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/report_items.h"

#include "metrics/expose/parties.h"
#include "metrics/model/object.h"
#include "metrics/rules/capacity.h"

/* Kinds and names that Kubernetes accepts are far shorter; a longer name is cut. */
enum { BINDING_NAME_MAX_BYTES = 4096 };

static void put_policy(struct writer *w, const char *key, struct policy_name policy)
{
    if (!policy.kind) {
        writer_text(w, key, NULL);
        return;
    }
    writer_open(w, key, '{');
    writer_text(w, "kind", policy.kind);
    writer_text(w, "namespace", policy.ns);
    writer_text(w, "name", policy.name);
    writer_close(w, '}');
}

/* The kind, the namespace and the name of an entry, as members. */
static void put_object(struct writer *w, const struct entry *entry)
{
    writer_text(w, "kind", entry_kind(entry));
    writer_text(w, "namespace", entry_ns(entry));
    writer_text(w, "name", entry->name);
}

/* Of a binding, or of the one that a template would get. */
static void put_binding(struct writer *w, const char *key, const struct entry *entry)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(BINDING_NAME_MAX_BYTES);

    if (entry_class(entry) == CLASS_BINDING)
        strbuf_adds(&name, entry->name);
    else
        binding_name(entry_kind(entry), entry->name, &name);
    writer_open(w, key, '{');
    writer_text(w, "namespace", entry_ns(entry));
    writer_text(w, "name", name.data);
    writer_close(w, '}');
}

static void put_identity(struct writer *w, struct identity id)
{
    writer_text(w, "apiVersion", id.api_version);
    writer_text(w, "kind", id.kind);
    writer_text(w, "namespace", id.ns);
    writer_text(w, "name", id.name);
}

static void put_clusters(struct writer *w, const char *key, const struct target_cluster *clusters,
                         uint32_t count)
{
    writer_open(w, key, '[');
    for (uint32_t i = 0; i < count; i++) {
        writer_open(w, NULL, '{');
        writer_text(w, "cluster", clusters[i].name);
        writer_int(w, "replicas", clusters[i].replicas);
        writer_close(w, '}');
    }
    writer_close(w, ']');
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct target_cluster *)a)->name,
                  ((const struct target_cluster *)b)->name);
}

/* Where the replicas of a stale template are now; NULL without a binding. */
static void put_assigned(struct writer *w, const struct binding *b)
{
    uint32_t count = b ? b->cluster_count : 0;
    CLEANUP(free_cleanup)
    struct target_cluster *sorted = xreallocarray(NULL, count + 1, sizeof(*sorted));

    for (uint32_t i = 0; i < count; i++)
        sorted[i] = b->clusters[i];
    qsort(sorted, count, sizeof(*sorted), by_name);
    put_clusters(w, "assigned", sorted, count);
}

/* Where they would go, null where no policy or no binding says, or why it is undetermined. */
static void put_projected(struct writer *w, const struct capacity *c)
{
    if (!c || !c->governed)
        writer_text(w, "projected", NULL);
    else if (!c->projection.determined)
        writer_text(w, "undetermined", undetermined_reason_names[c->projection.reason]);
    else
        put_clusters(w, "projected", c->projection.clusters, c->projection.count);
}

void report_template(struct writer *w, const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    bool stale = d->state == STATE_STALE;

    writer_open(w, NULL, '{');
    put_identity(w, (struct identity){template->partition->type->api_version, entry_kind(template),
                                      entry_ns(template), template->name});
    writer_text(w, "state", state_names[d->state]);
    writer_text(w, "reason", reason_name(d->state, d->reason));
    writer_text(w, "phase", stale ? phase_names[d->phase] : NULL);
    writer_names(w, "fields", stale ? d->fields : 0, drift_field_names);
    put_policy(w, "policy", policy_name_of(d->state == STATE_IGNORED ? NULL : d->winner));
    put_policy(w, "claimed", policy_name_of(d->claimed));
    if (d->binding)
        put_binding(w, "binding", d->binding);
    else
        writer_text(w, "binding", NULL);
    if (stale) {
        put_assigned(w, entry_binding(d->binding));
        put_projected(w, d->capacity);
    }
    if (d->connector)
        report_connector(w, d->connector);
    writer_close(w, '}');
}

/* As the API has it: ConflictResolution is a text, PreserveResourcesOnDeletion a boolean. */
static void put_value(struct writer *w, const char *key, enum dependency_field field, bool value)
{
    if (field == DEPENDENCY_PRESERVE)
        writer_bool(w, key, value);
    else
        writer_text(w, key, dependency_value_name(field, value));
}

struct wants {
    struct writer *writer;
    enum dependency_field field;
    bool current; /* What the policies say now, rather than what the bindings have. */
};

static void put_want(void *context, const struct ballot *ballot)
{
    const struct wants *wants = context;
    struct writer *w = wants->writer;
    const struct vote *vote = wants->current ? &ballot->current : &ballot->observed;
    const struct entry *referrer = ballot->binding ? ballot->binding : ballot->template;

    if (!referrer || !(wants->current ? ballot->counts_current : ballot->counts_observed))
        return;
    writer_open(w, NULL, '{');
    put_binding(w, "binding", referrer);
    put_policy(w, "policy", ballot_policy(ballot, wants->current));
    put_value(w, "value", wants->field, vote->wants[wants->field]);
    writer_close(w, '}');
}

static void put_conflict(struct writer *w, const struct engine *engine,
                         const struct entry *dependency, enum dependency_field field)
{
    const struct dependency_decision *d = dependency_decision(dependency);
    const struct field_resolution *f = &d->fields[field];
    bool predicted = !f->conflict;
    struct wants wants = {w, field, predicted};
    char message[128];

    /* The words of Karmada's own event. */
    snprintf(message, sizeof(message), "%s conflicted (%s vs %s)", dependency_field_names[field],
             dependency_value_name(field, true), dependency_value_name(field, false));
    writer_open(w, NULL, '{');
    put_binding(w, "binding", dependency);
    writer_open(w, "resource", '{');
    put_identity(w, dependency_resource(dependency));
    writer_close(w, '}');
    writer_text(w, "field", dependency_field_names[field]);
    put_value(w, "resolved", field, predicted ? f->predicted_resolved : f->resolved);
    put_value(w, "stored", field, f->stored);
    writer_text(w, "origin", predicted ? "predicted" : d->derived ? "derived" : "observed");
    writer_text(w, "message", message);
    writer_open(w, "wants", '[');
    engine_ballots(engine, dependency, put_want, &wants);
    writer_close(w, ']');
    writer_close(w, '}');
}

void report_conflicts(struct writer *w, const struct engine *engine, const struct entry *dependency)
{
    const struct dependency_decision *d = dependency_decision(dependency);

    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++) {
        if (d->fields[i].conflict || d->fields[i].predicted)
            put_conflict(w, engine, dependency, i);
    }
}

void report_dependency(struct writer *w, const struct entry *dependency)
{
    const struct dependency_decision *d = dependency_decision(dependency);

    writer_open(w, NULL, '{');
    put_binding(w, "binding", dependency);
    writer_int(w, "danglingReferences", d->dangling);
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++) {
        writer_open(w, dependency_field_names[i], '{');
        writer_bool(w, "conflict", d->fields[i].conflict);
        put_value(w, "resolved", i, d->fields[i].resolved);
        put_value(w, "stored", i, d->fields[i].stored);
        writer_close(w, '}');
    }
    writer_close(w, '}');
}

void report_policy(struct writer *w, const struct policy_counts *counts)
{
    const struct policy_decision *d = policy_decision(counts->policy);

    writer_open(w, NULL, '{');
    put_object(w, counts->policy);
    writer_int(w, "selected", counts->selected);
    writer_int(w, "won", counts->won);
    writer_int(w, "claimed", counts->claimed);
    writer_int(w, "stale", counts->stale);
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
        put_object(w, policy);
        writer_text(w, "reason", policy_problem_names[i]);
        writer_text(w, "text", policy_problem_texts[i]);
        writer_close(w, '}');
    }
}

/* What the defect is about: the binding in dispute, the policy, the template. */
static void put_defect(struct writer *w, const struct entry *entry, enum defect defect)
{
    const struct template_decision *t = template_decision(entry);

    switch (defect) {
    case DEFECT_NAME_COLLISION:
        put_binding(w, "binding", entry);
        return;
    case DEFECT_DANGLING_CLAIM:
        put_policy(w, "claimed", policy_name_of(t ? t->claimed : binding_claimed(entry)));
        return;
    case DEFECT_MISSING_TEMPLATE:
        writer_open(w, "resource", '{');
        put_identity(w, dependency_resource(entry));
        writer_close(w, '}');
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
        put_object(w, entry);
        writer_text(w, "reason", defect_names[i]);
        writer_text(w, "text", defect_texts[i]);
        put_defect(w, entry, i);
        writer_close(w, '}');
    }
}
