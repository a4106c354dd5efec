/* SPDX-License-Identifier: Apache-2.0 */

#include "exporter/cli/command.h"
#include "exporter/cli/document.h"
#include "exporter/cli/load.h"
#include "exporter/cli/planned_objects.h"
#include "exporter/cli/remote.h"
#include "exporter/cli/report_files.h"
#include "exporter/text/findings_format.h"
#include "exporter/text/object_name.h"
#include "exporter/text/plan_clusters_text.h"
#include "exporter/text/plan_findings.h"
#include "exporter/text/plan_text.h"
#include "exporter/text/plan_upgrade_text.h"
#include "exporter/text/planned_change.h"
#include "exporter/text/rendering_text.h"
#include "exporter/text/skipped_files.h"
#include "metrics/base/json.h"
#include "metrics/expose/report.h"
#include "metrics/model/store.h"
#include "metrics/rules/admission/admission.h"

enum { CHANGE_MAX_BYTES = 64 * 1024 * 1024 };

/* ---- objects of -f ---- */

/* Prints an error and returns false if -f is given, and its manifests contain no object. */
static bool has_object(const struct manifests *source, const struct text_list *changes,
                       size_t count, const struct invocation *invocation)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(CHANGE_MAX_BYTES);

    if (changes->count == 0 || count > 0)
        return true;
    skipped_files_add_empty(source, "the manifests of -f contain no object", &text);
    strbuf_adds(&text, "correct CHANGE");
    invocation_print_error(invocation, text.data);
    return false;
}

/*
 * Reads the manifests `changes` of -f from `source` in order. Prints errors and returns false if
 * one is not read.
 */
static bool read_manifests(struct manifests *source, const struct text_list *changes,
                           const struct options *options, struct planned_objects *out,
                           const struct invocation *invocation)
{
    void *context = (void *)(uintptr_t)invocation;
    struct error err;
    bool fine;

    planned_objects_init(out, source);
    manifests_set_render_mode(source, (enum render_mode)options->render);
    fine = manifests_set_options(source, options, &err);
    if (!fine)
        invocation_print_error(invocation, err.text);
    fine = fine && planned_objects_read(out, invocation_print_message, context);
    planned_objects_drop_duplicates(out, invocation_print_message, context);
    if (out->count > 0)
        load_print_skipped(source, invocation);
    return fine && has_object(source, changes, out->count, invocation);
}

/* ---- plan of the sources ---- */

/* The change: objects to delete, then objects to apply. */
struct change {
    struct evaluation *evaluation;
    /* Objects of --delete, pinned in the store; NULL for a Namespace that is not in the store. */
    struct entry_list deletions;
    struct planned_objects applied;
};

static void change_release(struct change *c)
{
    for (size_t i = 0; i < c->deletions.count; i++)
        if (c->deletions.items[i])
            store_unpin(c->evaluation->store, c->deletions.items[i]);
    entry_list_release(&c->deletions);
    planned_objects_release(&c->applied);
}

/*
 * Finds the objects of --delete in the store, or reads them from the API server. Prints an error
 * and returns false unless exactly one fits.
 */
static bool find_deletions(struct change *c, const struct invocation *invocation)
{
    const struct text_list *typed = &c->evaluation->options.deletions;
    enum exit_status ignored;
    const char *name;
    struct error err;

    for (size_t i = 0; i < typed->count; i++) {
        const struct entry *entry =
            load_object(c->evaluation, PLAN_DELETABLE_CLASSES, typed->items[i], &ignored, &err);

        /* The API server may delete the object before the plan begins. */
        if (entry)
            store_pin((struct entry *)(uintptr_t)entry);
        entry_list_add(&c->deletions, (struct entry *)(uintptr_t)entry);
        if (entry || object_name_is_namespace(typed->items[i], &name))
            continue;
        plan_explain_missing(c->evaluation->store, typed->items[i], &err);
        invocation_print_error(invocation, err.text);
        return false;
    }
    return true;
}

/* Reads the manifests of -f. Prints errors and returns false if one is not read. */
static bool read_change(struct change *c, const struct invocation *invocation)
{
    const struct evaluation *e = c->evaluation;
    const struct text_list *changes = &e->options.changes;
    struct manifests *m = manifests_new(NULL, (const char *const *)changes->items, changes->count,
                                        e->options.namespace, &manifest_limits_default);

    manifests_import_definitions(m, e->manifests);
    manifests_set_server_versions(m, engine_api_version_source(e->engine));
    return read_manifests(m, changes, &e->options, &c->applied, invocation);
}

/* Reads the kinds of the API server that the change needs. */
static void prepare_objects(struct change *c)
{
    bool needs_kinds = false;

    for (size_t i = 0; i < c->applied.count; i++) {
        cJSON *json = c->applied.items[i].json;

        if (!json)
            continue;
        planned_object_set_scope(c->evaluation, json);
        if (planned_object_needs_kinds(c->evaluation, json)) {
            planned_object_select_kinds(c->evaluation, json);
            needs_kinds = true;
        }
    }
    /* Objects of a cluster-scoped kind have lost their namespace. */
    planned_objects_sort(&c->applied);
    if (needs_kinds)
        load_planned_kinds(c->evaluation);
}

/* Applies the change to the plan. Prints an error and returns false if an object is invalid. */
static bool apply_change(struct plan *p, const struct change *c,
                         const struct invocation *invocation)
{
    struct error err;

    for (size_t i = 0; i < c->deletions.count; i++) {
        if (c->deletions.items[i])
            plan_delete(p, c->deletions.items[i]);
        else if (!plan_delete_typed(p, c->evaluation->store,
                                    c->evaluation->options.deletions.items[i], &err)) {
            invocation_print_error(invocation, err.text);
            return false;
        }
    }
    for (size_t i = 0; i < c->applied.count; i++) {
        const cJSON *json = c->applied.items[i].json;

        if (json && !plan_apply(p, json, &err)) {
            invocation_print_error(invocation, err.text);
            return false;
        }
    }
    return true;
}

/* Upgrades to the release of --to-karmada, if set. Prints an error and returns false if invalid. */
static bool upgrade(struct plan *p, const struct evaluation *e, const struct invocation *invocation)
{
    struct error err;

    if (!e->options.on_command_line[OPTION_OF_to_karmada] ||
        plan_upgrade_typed(p, engine_release(e->engine), e->options.to_karmada, &err))
        return true;
    fail_in(&err, "--to-karmada");
    invocation_print_error(invocation, err.text);
    return false;
}

/* Records the clusters of --lose. Prints an error and returns false if one cannot be lost. */
static bool lose_clusters(struct plan *p, const struct evaluation *e,
                          const struct invocation *invocation)
{
    const struct text_list *typed = &e->options.lost_clusters;
    struct error err;

    for (size_t i = 0; i < typed->count; i++) {
        if (plan_lose_typed(p, e->store, typed->items[i], &err))
            continue;
        fail_in(&err, "--lose");
        invocation_print_error(invocation, err.text);
        return false;
    }
    return true;
}

/* Finds a field of an object in the manifests of -f, else in those of PATH. */
static bool find_field(const struct change *c, const struct identity *object,
                       const struct entry *entry, const char *field, struct location *out)
{
    const struct location_source places = evaluation_locations(c->evaluation);

    return planned_objects_find_field(&c->applied, object, field, out) ||
           (entry && places.find(places.context, entry, field, out));
}

/* Finds the field of an object of -f that the API server refuses; else the name of the object. */
static bool find_place(const void *context, const struct identity *object,
                       const struct entry *entry, struct location *out)
{
    const struct change *c = context;
    const struct planned_object *applied = planned_objects_find(&c->applied, object);
    CLEANUP(free_cleanup)
    struct admission *admission = applied ? admission_review(applied->json) : NULL;
    const char *refused =
        admission_first_field(admission, engine_release(c->evaluation->engine), false);

    return find_field(c, object, entry, *refused ? refused : "metadata.name", out);
}

static bool find_entry_field(const void *context, const struct entry *entry, const char *field,
                             struct location *out)
{
    struct identity id = entry_identity(entry);

    return find_field(context, &id, entry, field, out);
}

/* Appends the JSON document. Unless `fail_on` is 0, its member "fails" lists failing objects. */
static void write_document(struct plan *p, const struct plan_result *result, const struct change *c,
                           unsigned fail_on, struct strbuf *out)
{
    const struct location_source locations = {.find = find_entry_field, .context = c};
    CLEANUP(strbuf_release) struct strbuf fails = STRBUF_INIT(out->max);

    if (fail_on)
        plan_write_failing_objects(result, fail_on, &fails);
    report_plan(p, result, c->evaluation->engine, &locations, fail_on ? fails.data : NULL, out);
}

/*
 * Writes the findings to the files of --report, and to `out` if --output is one of their formats.
 * Returns `status`, or STATUS_USAGE if a file cannot be written.
 */
static enum exit_status write_findings(const struct plan_result *result, const struct change *c,
                                       unsigned fail_on, enum exit_status status,
                                       const struct invocation *invocation, struct strbuf *out)
{
    const struct findings_end end = {status, status == STATUS_OK || status == STATUS_FOUND};
    const struct evaluation *e = c->evaluation;
    struct findings findings;
    struct error err;

    findings_init(&findings, "plan");
    findings_add_plan(&findings, result, fail_on, &(struct plan_places){find_place, c});
    findings_finish(&findings);
    if (findings_format_is(e->options.output))
        findings_write(&findings, e->options.output, &end, out);
    if (!report_files_write(&e->options.reports, &findings, &end, &err)) {
        invocation_print_error(invocation, err.text);
        status = STATUS_USAGE;
    }
    findings_release(&findings);
    return status;
}

/*
 * Finishes the plan and prints its result. Returns `read`, the status after reading the sources, or
 * STATUS_FOUND if that is STATUS_OK and the plan has a result of --fail-on.
 */
static enum exit_status print_plan_result(struct plan *p, const struct change *c,
                                          enum exit_status read,
                                          const struct invocation *invocation)
{
    const struct evaluation *e = c->evaluation;
    CLEANUP(output_release) struct output o;
    const struct plan_result *result = plan_finish(p);
    unsigned fail_on = e->options.on_command_line[OPTION_OF_fail_on]
                           ? fail_on_plan_failures(&e->options.fail_on)
                           : 0;
    enum exit_status status =
        read == STATUS_OK && plan_failures(result) & fail_on ? STATUS_FOUND : read;

    invocation_begin_output(invocation, e->options.output, &o);
    if (findings_format_is(e->options.output) || e->options.reports.count > 0)
        status = write_findings(result, c, fail_on, status, invocation, &o.text);
    if (document_is_requested(e->options.output)) {
        write_document(p, result, c, fail_on, &o.text);
    } else if (!findings_format_is(e->options.output)) {
        plan_print(result, plan_layout_of(&e->options), fail_on, &o);
        rendering_text_print_programs(e->manifests, &o);
        skipped_files_print(e->manifests, &o);
    }
    document_convert(&o.text, e->options.output);
    return invocation_print_output(invocation, &o, status);
}

/*
 * Simulates the change and prints the result. Returns as print_plan_result(), or STATUS_USAGE if
 * the change is invalid.
 */
static enum exit_status simulate_change(struct evaluation *e, enum exit_status read,
                                        const struct invocation *invocation)
{
    CLEANUP(change_release) struct change c = {.evaluation = e};
    enum exit_status status = STATUS_USAGE;
    struct plan *p;

    if (!read_change(&c, invocation))
        return STATUS_USAGE;
    prepare_objects(&c);
    if (!find_deletions(&c, invocation))
        return STATUS_USAGE;
    evaluation_locate_fields(e);
    p = plan_new(e->engine);
    /* Only manifests may not have been applied yet. */
    if (!e->session)
        plan_admit_manifests(p);
    evaluation_note_unread_sources(e, p);
    if (upgrade(p, e, invocation) && lose_clusters(p, e, invocation) &&
        apply_change(p, &c, invocation))
        status = print_plan_result(p, &c, read, invocation);
    plan_free(p);
    return status;
}

/* ---- plan of a running exporter ---- */

/* Namespace of objects that set none, in the manifests that are read here: no valid name. */
static const char no_namespace[] = "_none";

/* Appends an object without the namespace that only the running exporter can give it. */
static void append_object(struct strbuf *out, size_t index, cJSON *object)
{
    cJSON *metadata = cJSON_GetObjectItemCaseSensitive(object, "metadata");
    char *text;

    if (strcmp(json_str(metadata, "namespace", ""), no_namespace) == 0)
        cJSON_DeleteItemFromObjectCaseSensitive(metadata, "namespace");
    text = cJSON_PrintUnformatted(object);
    if (!text)
        memory_exhausted(0);
    strbuf_addf(out, "%s%s", index > 0 ? "," : "", text);
    free(text);
}

/* Reads the manifests of -f, and lets the exporter of --server plan them. */
static enum exit_status post_change(const struct invocation *invocation)
{
    const struct text_list *changes = &invocation->options.changes;
    CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(CHANGE_MAX_BYTES);
    struct manifests *m = manifests_new(NULL, (const char *const *)changes->items, changes->count,
                                        no_namespace, &manifest_limits_default);
    enum exit_status status = STATUS_USAGE;
    CLEANUP(planned_objects_release) struct planned_objects objects;
    size_t count = 0;
    bool fine;

    fine = read_manifests(m, changes, &invocation->options, &objects, invocation);
    strbuf_adds(&json, "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[");
    for (size_t i = 0; i < objects.count; i++) {
        if (objects.items[i].json)
            append_object(&json, count++, objects.items[i].json);
    }
    strbuf_adds(&json, "]}");
    if (fine && !strbuf_ok(&json))
        invocation_print_error(invocation, "the manifests of -f are larger than 64 MiB");
    else if (fine && !remote_run_plan(invocation, &json, &status))
        abort();
    return status;
}

/* ---- command ---- */

static enum exit_status run_plan(struct invocation *invocation)
{
    const struct options *o = &invocation->options;
    enum exit_status status, read;
    struct evaluation *e;
    struct error err;

    if (!report_files_check(o, &err))
        return invocation_reject(invocation, err.text);
    if (o->changes.count + o->deletions.count + o->lost_clusters.count == 0 &&
        !o->on_command_line[OPTION_OF_to_karmada])
        return invocation_reject(invocation, "nothing to plan: name a change with -f, --delete, "
                                             "--lose or --to-karmada");
    if (o->on_command_line[OPTION_OF_server])
        return post_change(invocation);
    if (remote_run_plan(invocation, NULL, &status))
        return status;
    e = load_sources(invocation, &read);
    if (!e)
        return read;
    load_print_problems(e->manifests, invocation);
    status = simulate_change(e, read, invocation);
    evaluation_free(e);
    return read != STATUS_OK ? read : status;
}

static const char *const examples[] = {
    "plan -f new-policy.yaml ./manifests",
    "plan --delete pp/default/web --fail-on move,lost",
    "plan --lose member1 --fail-on lost,overflow",
    "plan --to-karmada 1.19 --fail-on move,nowhere,refused",
    "plan -f new.yaml --server http://localhost:19180",
    NULL,
};

const struct command plan_command = {
    .name = "plan",
    .usage = "[FLAGS] [-f CHANGE] [PATH...]",
    .summary = "simulate a change of policies or templates, and print its effects",
    .details =
        "Reads the manifests at each PATH, or Karmada's API server without a PATH. Deletes "
        "each OBJECT, applies each CHANGE, loses each CLUSTER, and simulates Karmada until "
        "nothing changes. Writes nothing. Prints a summary first: how many templates change at "
        "once, how many wait for their next change, and the replicas that each member "
        "cluster loses or gets. Then one line for all templates with equal changes, the "
        "conflicts that appear or vanish, and replicas, CPU and memory by member cluster. "
        "--details prints each template with its differences, --output wide one row for "
        "each template.",
    .examples = examples,
    .bit = COMMAND_PLAN,
    .takes_arguments = true,
    .run = run_plan,
};
