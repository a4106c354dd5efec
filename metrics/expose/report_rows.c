/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/report_rows.h"

#include "metrics/expose/parties.h"
#include "metrics/rules/capacity.h"

/* Kinds and names that Kubernetes takes are far shorter; a longer name is cut. */
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

static void put_name(struct writer *w, const char *key, const char *ns, const char *name)
{
    writer_open(w, key, '{');
    writer_text(w, "namespace", ns);
    writer_text(w, "name", name);
    writer_close(w, '}');
}

/* Of a binding, or of the one that a template would get. */
static void put_binding(struct writer *w, const char *key, const struct entry *entry)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(BINDING_NAME_MAX_BYTES);

    if (entry_class(entry) == CLASS_BINDING) {
        put_name(w, key, entry_ns(entry), entry->name);
        return;
    }
    binding_name(entry_kind(entry), entry->name, &name);
    put_name(w, key, entry_ns(entry), name.data);
}

static void put_identity(struct writer *w, struct identity id)
{
    writer_text(w, "apiVersion", id.api_version);
    writer_text(w, "kind", id.kind);
    writer_text(w, "namespace", id.ns);
    writer_text(w, "name", id.name);
}

static int by_cluster(const void *a, const void *b)
{
    return strcmp((*(const struct target_cluster *const *)a)->name,
                  (*(const struct target_cluster *const *)b)->name);
}

/* Where the replicas of a stale template are now. */
static void put_assigned(struct writer *w, const struct binding *b)
{
    uint32_t count = b ? b->cluster_count : 0;
    CLEANUP(free_cleanup)
    const struct target_cluster **sorted =
        count > 0 ? xreallocarray(NULL, count, sizeof(const struct target_cluster *)) : NULL;

    for (uint32_t i = 0; i < count; i++)
        sorted[i] = &b->clusters[i];
    if (count > 1)
        qsort(sorted, count, sizeof(const struct target_cluster *), by_cluster);
    writer_open(w, "assigned", '[');
    for (uint32_t i = 0; i < count; i++) {
        writer_open(w, NULL, '{');
        writer_text(w, "cluster", sorted[i]->name);
        writer_int(w, "replicas", sorted[i]->replicas);
        writer_close(w, '}');
    }
    writer_close(w, ']');
}

/* Where they would go, null where no policy or no binding says, or why nobody can tell. */
static void put_projected(struct writer *w, const struct capacity *c)
{
    if (!c || !c->governed) {
        writer_text(w, "projected", NULL);
        return;
    }
    if (!c->projection.determined) {
        writer_text(w, "undetermined", undetermined_reason_names[c->projection.reason]);
        return;
    }
    writer_open(w, "projected", '[');
    for (uint32_t i = 0; i < c->projection.count; i++) {
        writer_open(w, NULL, '{');
        writer_text(w, "cluster", c->projection.clusters[i].name);
        writer_int(w, "replicas", c->projection.clusters[i].replicas);
        writer_close(w, '}');
    }
    writer_close(w, ']');
}

/* The member clusters that a policy may use; nothing where the source has no clusters. */
static void put_clusters(struct writer *w, const struct resolved_placement *resolved)
{
    if (!resolved->has_clusters)
        return;
    writer_open(w, "clusters", '[');
    for (uint32_t i = 0; i < resolved->cluster_count; i++)
        writer_text(w, NULL, resolved->clusters[i]);
    writer_close(w, ']');
}

static void put_fields(struct writer *w, const struct template_decision *d)
{
    writer_open(w, "fields", '[');
    for (unsigned i = 0; i < DRIFT_FIELD_COUNT && d->state == STATE_STALE; i++) {
        if (d->fields & 1u << i)
            writer_text(w, NULL, drift_field_names[i]);
    }
    writer_close(w, ']');
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
    put_fields(w, d);
    put_policy(w, "policy", policy_name_of(d->state == STATE_IGNORED ? NULL : d->winner));
    put_policy(w, "claimed", policy_name_of(d->claimed));
    if (d->binding)
        put_binding(w, "binding", d->binding);
    else
        writer_text(w, "binding", NULL);
    if (stale) {
        put_assigned(w, d->binding ? d->binding->object : NULL);
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

/* The words of Karmada's own event. */
static void put_message(struct writer *w, enum dependency_field field)
{
    char message[128];

    snprintf(message, sizeof(message), "%s conflicted (%s vs %s)", dependency_field_names[field],
             dependency_value_name(field, true), dependency_value_name(field, false));
    writer_text(w, "message", message);
}

static void put_conflict(struct writer *w, const struct engine *engine,
                         const struct entry *dependency, enum dependency_field field)
{
    const struct dependency_decision *d = dependency_decision(dependency);
    const struct field_resolution *f = &d->fields[field];
    bool predicted = !f->conflict;
    struct wants wants = {w, field, predicted};

    writer_open(w, NULL, '{');
    put_binding(w, "binding", dependency);
    writer_open(w, "resource", '{');
    put_identity(w, dependency_resource(dependency));
    writer_close(w, '}');
    writer_text(w, "field", dependency_field_names[field]);
    put_value(w, "resolved", field, predicted ? f->predicted_resolved : f->resolved);
    put_value(w, "stored", field, f->stored);
    writer_text(w, "origin", predicted ? "predicted" : d->derived ? "derived" : "observed");
    put_message(w, field);
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
    const struct entry *policy = counts->policy;

    writer_open(w, NULL, '{');
    writer_text(w, "kind", entry_kind(policy));
    writer_text(w, "namespace", entry_ns(policy));
    writer_text(w, "name", policy->name);
    writer_int(w, "selected", counts->selected);
    writer_int(w, "won", counts->won);
    writer_int(w, "claimed", counts->claimed);
    writer_int(w, "stale", counts->stale);
    if (policy_decision(policy))
        put_clusters(w, policy_decision(policy)->resolved);
    writer_close(w, '}');
}

void report_problems(struct writer *w, const struct entry *policy)
{
    const struct policy_decision *d = policy_decision(policy);

    for (unsigned i = 0; d && i < POLICY_PROBLEM_COUNT; i++) {
        if (!(d->problems & 1u << i))
            continue;
        writer_open(w, NULL, '{');
        writer_text(w, "kind", entry_kind(policy));
        writer_text(w, "namespace", entry_ns(policy));
        writer_text(w, "name", policy->name);
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
        writer_text(w, "kind", entry_kind(entry));
        writer_text(w, "namespace", entry_ns(entry));
        writer_text(w, "name", entry->name);
        writer_text(w, "reason", defect_names[i]);
        writer_text(w, "text", defect_texts[i]);
        put_defect(w, entry, i);
        writer_close(w, '}');
    }
}
