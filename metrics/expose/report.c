/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/report.h"
#include "metrics/rules/override/override_changes.h"

#include <math.h>

#include "metrics/expose/policy_names.h"
#include "metrics/expose/report_items.h"
#include "metrics/expose/report_parts.h"
#include "metrics/model/store.h"

/* The entries of the report, in the order of its lists. */
struct report {
    const struct engine *engine;
    const struct report_files *files;
    struct listing templates;
    struct listing policies;
    struct listing bindings;
    struct listing leases;
    struct listing dependencies; /* Sorted by kind, namespace and name of the dependency. */
};

/* Lists the templates with a decision; templates of a kind that is still being read have none. */
static struct listing list_decided_templates(const struct store *store)
{
    struct listing all = listing_make(store, CLASS_TEMPLATE);
    size_t count = 0;

    for (size_t i = 0; i < all.count; i++) {
        if (template_decision(all.entries[i]))
            all.entries[count++] = all.entries[i];
    }
    all.count = count;
    return all;
}

/* Appends the entries of `from` that are attached dependencies. */
static void add_dependencies(struct listing *out, const struct listing *from)
{
    for (size_t i = 0; i < from->count; i++) {
        const struct dependency_decision *d = dependency_decision(from->entries[i]);

        if (d && d->attached)
            out->entries[out->count++] = from->entries[i];
    }
}

int dependency_compare(const struct entry *left, const struct entry *right)
{
    struct identity l = resource_identity_of(left);
    struct identity r = resource_identity_of(right);
    int order = strcmp(l.kind, r.kind);

    if (order == 0)
        order = strcmp(l.ns, r.ns);
    if (order == 0)
        order = strcmp(l.name, r.name);
    if (order == 0)
        order = strcmp(l.api_version, r.api_version);
    return order ? order : entry_compare(left, right);
}

static int by_resource(const void *a, const void *b)
{
    return dependency_compare(*(const struct entry *const *)a, *(const struct entry *const *)b);
}

static struct listing list_dependencies(const struct listing *templates,
                                        const struct listing *bindings)
{
    struct listing out = {0};
    size_t count = templates->count + bindings->count;

    out.entries = xreallocarray(NULL, count + 1, sizeof(const struct entry *));
    add_dependencies(&out, templates);
    add_dependencies(&out, bindings);
    qsort(out.entries, out.count, sizeof(const struct entry *), by_resource);
    return out;
}

static void put_summary(struct json_writer *w, const struct report *r)
{
    int64_t states[STATE_COUNT] = {0};
    int64_t conflicts[DEPENDENCY_FIELD_COUNT] = {0};

    for (size_t i = 0; i < r->templates.count; i++)
        states[template_decision(r->templates.entries[i])->state]++;
    for (size_t i = 0; i < r->dependencies.count; i++) {
        const struct dependency_decision *d = dependency_decision(r->dependencies.entries[i]);

        for (unsigned k = 0; k < DEPENDENCY_FIELD_COUNT; k++)
            conflicts[k] += d->fields[k].conflict;
    }
    json_writer_open(w, "summary", '{');
    json_writer_open(w, "templates", '{');
    for (unsigned i = 0; i < STATE_COUNT; i++)
        json_writer_int(w, state_names[i], states[i]);
    json_writer_close(w, '}');
    json_writer_open(w, "conflicts", '{');
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++)
        json_writer_int(w, dependency_field_names[i], conflicts[i]);
    json_writer_close(w, '}');
    json_writer_close(w, '}');
}

typedef void put_fn(struct json_writer *w, const struct entry *entry);

static void put_each(struct json_writer *w, const struct listing *listing, put_fn *put)
{
    for (size_t i = 0; i < listing->count; i++)
        put(w, listing->entries[i]);
}

static void put_list(struct json_writer *w, const char *key, const struct listing *listing,
                     put_fn *put)
{
    json_writer_open(w, key, '[');
    put_each(w, listing, put);
    json_writer_close(w, ']');
}

static void put_documents(struct json_writer *w, enum report_file_list list,
                          const struct report_invalid *invalid, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (invalid[i].list != list)
            continue;
        json_writer_open(w, NULL, '{');
        json_writer_text(w, "kind", invalid[i].kind);
        json_writer_text(w, "path", invalid[i].path);
        json_writer_int(w, "line", (int64_t)invalid[i].line);
        json_writer_int(w, "column", (int64_t)invalid[i].column);
        json_writer_text(w, "text", invalid[i].text);
        json_writer_close(w, '}');
    }
}

static void put_invalid_and_duplicates(struct json_writer *w, const struct report *r)
{
    const struct report_invalid *invalid = r->files->invalid;
    size_t count = r->files->invalid_count;

    json_writer_open(w, "invalid", '[');
    put_documents(w, REPORT_INVALID, invalid, count);
    put_each(w, &r->policies, report_policy_problems);
    put_each(w, &r->templates, report_defects);
    put_each(w, &r->bindings, report_defects);
    json_writer_close(w, ']');
    json_writer_open(w, "duplicates", '[');
    put_documents(w, REPORT_DUPLICATES, invalid, count);
    json_writer_close(w, ']');
    json_writer_open(w, "repeatedKeys", '[');
    put_documents(w, REPORT_REPEATED_KEYS, invalid, count);
    json_writer_close(w, ']');
}

/* Writes the numbers of skipped documents by kind, and the places of the first ones. */
static void put_skipped(struct json_writer *w, const struct report_files *files)
{
    size_t total = 0;

    json_writer_open(w, "skipped", '{');
    json_writer_open(w, "kinds", '[');
    for (size_t i = 0; i < files->skipped_kind_count; i++) {
        const struct report_skipped_count *k = &files->skipped_kinds[i];

        total += k->count;
        if (k->count == 0)
            continue;
        json_writer_open(w, NULL, '{');
        json_writer_text(w, "kind", k->kind);
        json_writer_int(w, "count", (int64_t)k->count);
        json_writer_close(w, '}');
    }
    json_writer_close(w, ']');
    json_writer_int(w, "total", (int64_t)total);
    json_writer_int(w, "excludedFiles", (int64_t)files->excluded_files);
    json_writer_int(w, "excludedFolders", (int64_t)files->excluded_folders);
    json_writer_open(w, "documents", '[');
    for (size_t i = 0; i < files->skipped_count; i++) {
        json_writer_open(w, NULL, '{');
        json_writer_text(w, "kind", files->skipped[i].kind);
        json_writer_text(w, "path", files->skipped[i].path);
        json_writer_int(w, "line", (int64_t)files->skipped[i].line);
        json_writer_close(w, '}');
    }
    json_writer_close(w, ']');
    json_writer_close(w, '}');
}

static void put_lists(struct json_writer *w, const struct report *r)
{
    json_writer_open(w, "templates", '[');
    for (size_t i = 0; i < r->templates.count; i++)
        report_template(w, r->engine, r->templates.entries[i]);
    json_writer_close(w, ']');
    json_writer_open(w, "conflicts", '[');
    for (size_t i = 0; i < r->dependencies.count; i++)
        report_conflicts(w, r->engine, r->dependencies.entries[i], &r->files->locations);
    json_writer_close(w, ']');
    problems_write(w, "problems", r->engine, &r->files->locations, r->files->problems,
                   &r->files->suppressions);
    put_list(w, "dependencies", &r->dependencies, report_dependency);
    put_list(w, "leases", &r->leases, report_lease);
    put_list(w, "policies", &r->policies, report_policy);
}

static void put_renderings(struct json_writer *w, const struct report *r)
{
    const struct report_rendering *list = r->files->renderings;

    if (r->files->rendering_count == 0)
        return;
    json_writer_open(w, "renderings", '[');
    for (size_t i = 0; i < r->files->rendering_count; i++) {
        json_writer_open(w, NULL, '{');
        json_writer_text(w, "path", list[i].path);
        if (list[i].message) {
            json_writer_text(w, "message", list[i].message);
        } else {
            json_writer_text(w, "kind", list[i].kind);
            json_writer_text(w, "program", list[i].program);
            json_writer_text(w, "version", list[i].version);
            json_writer_int(w, "objects", (int64_t)list[i].objects);
        }
        json_writer_close(w, '}');
    }
    json_writer_close(w, ']');
}

/* Appends what the caller knows about the suppression of problems. */
static void put_suppressed(struct json_writer *w, const struct report_files *files)
{
    if (files->suppressed)
        json_writer_raw_json(w, "suppressed", files->suppressed);
    if (files->exceptions)
        json_writer_raw_json(w, "exceptions", files->exceptions);
}

void report_put(struct json_writer *w, const char *key, const struct engine *engine,
                const struct report_files *files)
{
    static const struct report_files no_files;
    const struct store *store = engine_store(engine);
    struct report r = {
        .engine = engine,
        .files = files ? files : &no_files,
        .templates = list_decided_templates(store),
        .policies = listing_make(store, CLASS_POLICY),
        .bindings = listing_make(store, CLASS_BINDING),
        .leases = listing_make(store, CLASS_LEASE),
    };

    r.dependencies = list_dependencies(&r.templates, &r.bindings);
    json_writer_open(w, key, '{');
    json_writer_text(w, "apiVersion", "karmada-policy-exporter/v1");
    report_put_release(w, engine_release(engine));
    put_summary(w, &r);
    put_lists(w, &r);
    put_invalid_and_duplicates(w, &r);
    put_renderings(w, &r);
    put_skipped(w, r.files);
    put_suppressed(w, r.files);
    json_writer_close(w, '}');

    listing_release(&r.templates);
    listing_release(&r.policies);
    listing_release(&r.bindings);
    listing_release(&r.leases);
    listing_release(&r.dependencies);
}

void report_write(const struct engine *engine, const struct report_files *files, struct strbuf *out)
{
    struct json_writer w = {.out = out, .lines = 2};

    report_put(&w, NULL, engine, files);
    strbuf_addc(out, '\n');
}

static struct listing list_all_dependencies(const struct store *store)
{
    /* list_dependencies() sorts those that are dependencies. */
    struct listing templates = listing_make_unordered(store, CLASS_TEMPLATE);
    struct listing bindings = listing_make_unordered(store, CLASS_BINDING);
    struct listing out = list_dependencies(&templates, &bindings);

    listing_release(&templates);
    listing_release(&bindings);
    return out;
}

void report_each_entry(const struct engine *engine, enum report_list list, report_entry_fn *each,
                       void *context)
{
    const struct store *store = engine_store(engine);
    struct listing all = list == REPORT_CONFLICTS ? list_all_dependencies(store)
                         : list == REPORT_LEASES  ? listing_make(store, CLASS_LEASE)
                                                  : listing_make(store, CLASS_POLICY);

    for (size_t i = 0; i < all.count; i++)
        each(context, all.entries[i]);
    listing_release(&all);
}

static void add_conflict_lines(const struct engine *engine, const struct entry *dependency,
                               struct strbuf *out)
{
    const struct dependency_decision *d = dependency_decision(dependency);

    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++) {
        struct json_writer w = {.out = out};

        if (!d->fields[i].conflict && !d->fields[i].predicted)
            continue;
        report_conflict(&w, engine, dependency, i, NULL, NULL);
        strbuf_addc(out, '\n');
    }
}

void report_add_lines(const struct engine *engine, enum report_list list, const struct entry *entry,
                      struct strbuf *out)
{
    struct json_writer w = {.out = out};

    if (list == REPORT_CONFLICTS) {
        add_conflict_lines(engine, entry, out);
        return;
    }
    if (list == REPORT_LEASES)
        report_lease(&w, entry);
    else
        report_policy(&w, entry);
    strbuf_addc(out, '\n');
}

/* ---- plan ---- */

enum { MILLI = 1000 };

static void put_clusters_or_reason(struct json_writer *w, const struct target_cluster *clusters,
                                   uint32_t count, enum undetermined_reason reason)
{
    if (reason != UNDETERMINED_REASON_COUNT)
        json_writer_text(w, "undetermined", undetermined_reason_names[reason]);
    else
        report_put_clusters(w, "clusters", clusters, count);
}

static void put_required_by(struct json_writer *w, const struct outcome *o)
{
    if (o->referrer_count == 0)
        return;
    json_writer_open(w, "requiredBy", '[');
    for (uint32_t i = 0; i < o->referrer_count; i++) {
        const struct outcome_referrer *r = &o->referrers[i];

        json_writer_open(w, NULL, '{');
        json_writer_open(w, "binding", '{');
        json_writer_text(w, "namespace", r->ns);
        json_writer_text(w, "name", r->name);
        json_writer_close(w, '}');
        put_clusters_or_reason(w, r->clusters, r->cluster_count, r->undetermined);
        json_writer_close(w, '}');
    }
    json_writer_close(w, ']');
}

void report_put_outcome(struct json_writer *w, const char *key, const struct outcome *o)
{
    if (!o->exists) {
        json_writer_text(w, key, NULL);
        return;
    }
    json_writer_open(w, key, '{');
    json_writer_text(w, "state", state_names[o->state]);
    json_writer_text(w, "reason", reason_name(o->state, o->reason));
    report_put_policy(w, "policy", policy_name_of(o->policy));
    put_clusters_or_reason(w, o->clusters, o->cluster_count, o->undetermined);
    json_writer_text(w, "outcome", prediction_names[o->predicted.outcome]);
    json_writer_text(w, "outcomeReason", o->predicted.reason);
    if (outcome_by_release(o))
        json_writer_text(w, "byRelease", outcome_by_release(o));
    if (o->binding && binding_rare(o->binding)->quota_excess)
        report_put_quota_excess(w, "quota", binding_rare(o->binding)->quota_excess);
    if (outcome_waits_for_scheduling(o))
        json_writer_bool(w, "schedulingSuspended", true);
    put_required_by(w, o);
    json_writer_close(w, '}');
}

static void put_lost_copies(struct json_writer *w, const struct lost_copies *copies)
{
    json_writer_open(w, "loss", '{');
    json_writer_text(w, "fate", loss_fate_names[copies->fate]);
    json_writer_text(w, "reason",
                     copies->fate == LOSS_STAYS ? loss_reason_names[copies->reason] : NULL);
    json_writer_int(w, "replicas", copies->replicas);
    json_writer_bool(w, "lastCopy", copies->last_copy);
    json_writer_close(w, '}');
}

/* Writes the sums over templates with copies in lost clusters; nothing if no cluster is lost. */
static void put_plan_loss(struct json_writer *w, const struct plan_result *r)
{
    if (r->lost->count == 0)
        return;
    json_writer_open(w, "loss", '{');
    json_writer_open(w, "clusters", '[');
    for (size_t i = 0; i < r->lost->count; i++)
        json_writer_text(w, NULL, r->lost->items[i]->name);
    json_writer_close(w, ']');
    for (unsigned i = 0; i < LOSS_FATE_COUNT; i++)
        json_writer_int(w, loss_fate_names[i], (int64_t)r->fates[i]);
    json_writer_int(w, "lastCopies", (int64_t)r->last_copies);
    json_writer_close(w, '}');
}

enum { BEHAVIOUR_NAME_MAX = 64 };

static void put_behaviour(struct json_writer *w, const char *key, enum behaviour behaviour)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(BEHAVIOUR_NAME_MAX);

    behaviour_append_name(behaviour, &name);
    json_writer_text(w, key, name.data);
}

/* Writes the behaviours by which an upgrade changes a template, and "restart". */
static void put_causes(struct json_writer *w, const struct plan_template *row)
{
    json_writer_open(w, "causes", '[');
    for (unsigned i = 0; i < BEHAVIOUR_COUNT; i++) {
        if (row->causes >> i & 1)
            put_behaviour(w, NULL, i);
    }
    if (row->by_restart)
        json_writer_text(w, NULL, "restart");
    json_writer_close(w, ']');
}

static void put_changed_behaviours(struct json_writer *w, const struct plan_upgrade *u)
{
    behaviour_set differing = behaviours_that_differ(u->from, u->to);

    json_writer_open(w, "behaviours", '[');
    for (unsigned i = 0; i < BEHAVIOUR_COUNT; i++) {
        if (!(differing >> i & 1))
            continue;
        json_writer_open(w, NULL, '{');
        put_behaviour(w, "behaviour", i);
        json_writer_text(w, "since", release_name(behaviour_since(i)));
        json_writer_text(w, "before", behaviour_text(i, false));
        json_writer_text(w, "after", behaviour_text(i, true));
        json_writer_int(w, "templates", (int64_t)u->templates[i]);
        json_writer_close(w, '}');
    }
    json_writer_close(w, ']');
}

/* Writes the upgrade; nothing without one. */
static void put_plan_upgrade(struct json_writer *w, const struct plan_upgrade *u)
{
    if (!u->planned)
        return;
    json_writer_open(w, "upgrade", '{');
    json_writer_text(w, "from", release_name(u->from));
    json_writer_text(w, "to", release_name(u->to));
    put_changed_behaviours(w, u);
    json_writer_int(w, "restarted", (int64_t)u->restarted);
    json_writer_int(w, "notCompared", (int64_t)u->not_compared);
    json_writer_open(w, "gates", '[');
    for (unsigned i = 0; i < GATE_COUNT; i++) {
        bool before = gate_is_on(u->gates_before, i), after = gate_is_on(u->gates_after, i);

        if (before == after)
            continue;
        json_writer_open(w, NULL, '{');
        json_writer_text(w, "gate", gate_name(i));
        json_writer_bool(w, "before", before);
        json_writer_bool(w, "after", after);
        json_writer_close(w, '}');
    }
    json_writer_close(w, ']');
    json_writer_close(w, '}');
}

/* Inputs of the document of a plan. */
struct plan_document {
    struct plan *plan;
    const struct plan_result *result;
    const struct engine *engine;
    const struct location_source *locations; /* NULL: the document has no places. */
    const char *fails;                       /* NULL: the document has no member "fails". */
};

static void put_plan_template(struct json_writer *w, const struct plan_template *row,
                              const struct location_source *locations)
{
    const struct entry *template = row->template;

    json_writer_open(w, NULL, '{');
    report_put_identity(w, entry_identity(template));
    json_writer_text(w, "when", plan_when_names[row->when]);
    json_writer_bit_names(w, "fields", outcome_differing_fields(&row->before, &row->after),
                          drift_field_names);
    report_put_outcome(w, "before", &row->before);
    report_put_outcome(w, "after", &row->after);
    if (row->when == PLAN_AT_NEXT_CHANGE)
        report_put_outcome(w, "next", &row->next);
    if (row->preserved)
        json_writer_bool(w, "preserved", true);
    if (row->loss.clusters > 0)
        put_lost_copies(w, &row->loss);
    if (row->causes || row->by_restart)
        put_causes(w, row);
    (void)location_write(w, "location", locations, template, "metadata.name");
    json_writer_close(w, '}');
}

static void put_change_object(struct json_writer *w, const struct plan_document *d,
                              const struct change_object *object)
{
    const struct entry *entry = store_find(engine_store(d->engine), &object->id);

    json_writer_open(w, NULL, '{');
    report_put_identity(w, object->id);
    json_writer_text(w, "outcome", prediction_names[object->outcome]);
    json_writer_text(w, "outcomeReason", object->reason);
    json_writer_text(w, "text", object->text);
    if (entry)
        (void)location_write(w, "location", d->locations, entry, "metadata.name");
    json_writer_close(w, '}');
}

/* Writes the changes by override policies for a member cluster. */
static void put_plan_override(struct json_writer *w, const struct plan_override *o)
{
    json_writer_open(w, NULL, '{');
    report_put_identity(w, entry_identity(o->template));
    json_writer_text(w, "cluster", o->cluster);
    override_changes_write(w, &o->changes, override_values_are_hidden(o->template));
    json_writer_open(w, "error", '{');
    json_writer_text(w, "before", o->failure_before);
    json_writer_text(w, "after", o->failure_after);
    json_writer_close(w, '}');
    json_writer_close(w, '}');
}

static double rounded_to_milli(double value)
{
    int64_t thousandths = (int64_t)(value * MILLI + (value < 0 ? -0.5 : 0.5));

    return (double)thousandths / MILLI;
}

static void put_before_and_after(struct json_writer *w, const char *key, double before,
                                 double after)
{
    json_writer_open(w, key, '{');
    json_writer_number(w, "before", rounded_to_milli(before));
    json_writer_number(w, "after", rounded_to_milli(after));
    json_writer_close(w, '}');
}

static void put_free_amounts(struct json_writer *w, const struct plan_cluster *row)
{
    json_writer_open(w, "free", '{');
    for (unsigned i = 0; i < PLAN_RESOURCE_COUNT; i++) {
        if (isnan(row->free[i]))
            json_writer_text(w, plan_resource_names[i], NULL);
        else
            json_writer_number(w, plan_resource_names[i], rounded_to_milli(row->free[i]));
    }
    json_writer_close(w, '}');
}

static void put_plan_cluster(struct json_writer *w, const struct plan_cluster *row)
{
    double before = (double)row->replicas[PLAN_BEFORE], after = (double)row->replicas[PLAN_AFTER];

    json_writer_open(w, NULL, '{');
    json_writer_text(w, "cluster", row->name);
    put_before_and_after(w, "replicas", before, after);
    put_before_and_after(w, "cpu", row->cores[PLAN_BEFORE], row->cores[PLAN_AFTER]);
    put_before_and_after(w, "memory", row->memory_bytes[PLAN_BEFORE],
                         row->memory_bytes[PLAN_AFTER]);
    put_before_and_after(w, "pods", before, after);
    json_writer_bool(w, "overflow", row->exceeded != 0);
    json_writer_bit_names(w, "exceeded", row->exceeded, plan_resource_names);
    put_free_amounts(w, row);
    if (row->lost)
        json_writer_bool(w, "lost", true);
    json_writer_close(w, '}');
}

static void put_plan_summary(struct json_writer *w, const struct plan_result *r)
{
    json_writer_open(w, "summary", '{');
    json_writer_int(w, "atOnce", (int64_t)r->when[PLAN_AT_ONCE]);
    json_writer_int(w, "atNextChange", (int64_t)r->when[PLAN_AT_NEXT_CHANGE]);
    json_writer_int(w, "never", (int64_t)r->when[PLAN_NEVER]);
    json_writer_int(w, "conflictsAppear", (int64_t)r->conflicts_appear);
    json_writer_int(w, "conflictsVanish", (int64_t)r->conflicts_vanish);
    json_writer_int(w, "undetermined", (int64_t)r->undetermined);
    json_writer_open(w, "replicas", '{');
    for (size_t i = 0; i < r->clusters.count; i++) {
        const struct plan_cluster *row = &r->clusters.items[i];
        int64_t difference = row->replicas[PLAN_AFTER] - row->replicas[PLAN_BEFORE];

        if (difference != 0)
            json_writer_int(w, row->name, difference);
    }
    json_writer_close(w, '}');
    json_writer_close(w, '}');
}

/*
 * Writes conflicts. Before plan_undo(), the engine has the details of conflicts that appear; after
 * plan_undo(), of those that vanish.
 */
static void put_plan_conflicts(struct json_writer *w, const struct plan_document *d)
{
    const struct plan_result *r = d->result;

    json_writer_open(w, "conflicts", '[');
    for (size_t i = 0; i < r->conflict_count; i++) {
        const struct plan_conflict *c = &r->conflicts[i];

        if (!c->appears && (i == 0 || r->conflicts[i - 1].appears))
            plan_undo(d->plan);
        report_conflict(w, d->engine, c->dependency, c->field, c->appears ? "appears" : "vanishes",
                        d->locations);
    }
    json_writer_close(w, ']');
}

static void put_plan(struct json_writer *w, const char *key, const struct plan_document *d)
{
    const struct plan_result *r = d->result;

    json_writer_open(w, key, '{');
    json_writer_text(w, "apiVersion", "karmada-policy-exporter/v1");
    json_writer_text(w, "kind", "Plan");
    report_put_release(w, r->release);
    json_writer_bool(w, "settled", r->settled);
    put_plan_summary(w, r);
    put_plan_upgrade(w, &r->upgrade);
    put_plan_loss(w, r);
    json_writer_open(w, "templates", '[');
    for (size_t i = 0; i < r->template_count; i++)
        put_plan_template(w, &r->templates[i], d->locations);
    json_writer_close(w, ']');
    json_writer_open(w, "clusters", '[');
    for (size_t i = 0; i < r->clusters.count; i++)
        put_plan_cluster(w, &r->clusters.items[i]);
    json_writer_close(w, ']');
    json_writer_open(w, "objects", '[');
    for (size_t i = 0; i < r->object_count; i++)
        put_change_object(w, d, &r->objects[i]);
    json_writer_close(w, ']');
    json_writer_open(w, "overrides", '[');
    for (size_t i = 0; i < r->override_count; i++)
        put_plan_override(w, &r->overrides[i]);
    json_writer_close(w, ']');
    json_writer_bit_names(w, "assumptions", r->assumptions, assumption_texts);
    put_plan_conflicts(w, d);
    if (d->fails)
        json_writer_raw_json(w, "fails", d->fails);
    json_writer_close(w, '}');
}

void report_put_plan(struct json_writer *w, const char *key, struct plan *p,
                     const struct plan_result *r, const struct engine *engine)
{
    put_plan(w, key, &(struct plan_document){p, r, engine, NULL, NULL});
}

void report_plan(struct plan *p, const struct plan_result *r, const struct engine *engine,
                 const struct location_source *locations, const char *fails, struct strbuf *out)
{
    struct json_writer w = {.out = out, .lines = 2};

    put_plan(&w, NULL, &(struct plan_document){p, r, engine, locations, fails});
    strbuf_addc(out, '\n');
}
