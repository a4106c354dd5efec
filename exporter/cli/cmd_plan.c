/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/cmd_plan.h"

#include "exporter/cli/command.h"
#include "exporter/cli/document.h"
#include "exporter/cli/load.h"
#include "exporter/text/object_name.h"
#include "exporter/text/text_table.h"
#include "metrics/base/json_writer.h"
#include "metrics/explain/explanation.h"
#include "metrics/expose/policy_names.h"
#include "metrics/expose/report.h"
#include "metrics/expose/report_parts.h"
#include "metrics/model/binding.h"
#include "metrics/model/kind.h"
#include "metrics/model/store.h"

enum {
    INDENT = 2,
    TEMPLATE_INDENT = 4,
    DETAIL_INDENT = 6,
    LINE_MAX_BYTES = 8192,
    BYTES_PER_MIB = 1 << 20,
    ELLIPSIS_COLUMNS = 3,
};

/* ---- results that --fail-on names ---- */

/* Callback for an object, borrowed, that has this result of the plan. */
typedef void failure_fn(void *context, enum plan_failure failure, const struct identity *object);

struct failure_callback {
    failure_fn *call;
    void *context;
    unsigned failures; /* Results to report: bits by enum plan_failure. */
};

static void report_object_if(const struct failure_callback *f, bool applies,
                             enum plan_failure failure, const struct identity *object)
{
    if (applies && f->failures >> failure & 1)
        f->call(f->context, failure, object);
}

/* Returns true if the template has the state after the change, but not before. */
static bool enters_state(const struct plan_template *t, enum template_state state)
{
    bool was = t->before.exists && t->before.state == state;

    return t->after.exists && t->after.state == state && !was;
}

static void report_template(const struct failure_callback *f, const struct plan_template *t)
{
    bool stays = t->before.exists && t->after.exists;
    bool moves = !outcome_clusters_equal(&t->before, &t->after);
    struct identity id = entry_identity(t->template);

    report_object_if(f, enters_state(t, STATE_PENDING), PLAN_FAILURE_NOT_PROPAGATED, &id);
    report_object_if(f, enters_state(t, STATE_STALE), PLAN_FAILURE_POLICY_NOT_IN_FORCE, &id);
    report_object_if(f, enters_state(t, STATE_ORPHANED), PLAN_FAILURE_ORPHANED, &id);
    report_object_if(f, stays && moves, PLAN_FAILURE_MOVE, &id);
    report_object_if(f, stays && t->before.policy && !t->after.policy, PLAN_FAILURE_LOST, &id);
    report_object_if(f, t->when == PLAN_AT_NEXT_CHANGE, PLAN_FAILURE_WAIT, &id);
    report_object_if(f, t->after.undetermined != UNDETERMINED_REASON_COUNT,
                     PLAN_FAILURE_UNDETERMINED, &id);
}

/* Calls `f` once for each object of the plan and each result in `f` that it has. */
static void report_failures(const struct plan_result *r, const struct failure_callback *f)
{
    const struct entry *last = NULL;

    /* In the array, conflicts that appear come first; those of a dependency are neighbours. */
    for (size_t i = 0; i < r->conflict_count && r->conflicts[i].appears; i++) {
        struct identity id = resource_identity_of(r->conflicts[i].dependency);

        report_object_if(f, r->conflicts[i].dependency != last, PLAN_FAILURE_DEPENDENCY_CONFLICT,
                         &id);
        last = r->conflicts[i].dependency;
    }
    for (size_t i = 0; i < r->template_count; i++)
        report_template(f, &r->templates[i]);
    for (size_t i = 0; i < r->clusters.count; i++) {
        struct identity id = {kind_of_clusters()->api_version, kind_of_clusters()->name, "",
                              r->clusters.items[i].name};

        report_object_if(f, r->clusters.items[i].overflows, PLAN_FAILURE_OVERFLOW, &id);
    }
    for (size_t i = 0; i < r->unsettled->count; i++) {
        struct identity id = entry_identity(r->unsettled->items[i]);

        report_object_if(f, true, PLAN_FAILURE_UNSETTLED, &id);
    }
}

static void add_failure_bit(void *context, enum plan_failure failure, const struct identity *object)
{
    unsigned *found = context;

    (void)object;
    *found |= 1U << failure;
}

unsigned plan_failures(const struct plan_result *r)
{
    unsigned found = r->settled ? 0 : 1U << PLAN_FAILURE_UNSETTLED;

    report_failures(r, &(struct failure_callback){add_failure_bit, &found, ~0U});
    return found;
}

/* Objects that fail the plan, as rows of a table or as elements of a JSON array. */
struct failing_objects {
    struct table table;
    struct json_writer writer;
    size_t count; /* Rows in the table. */
};

static void add_failing_row(void *context, enum plan_failure failure, const struct identity *object)
{
    struct failing_objects *f = context;

    f->count++;
    table_add(&f->table, STYLE_BAD, plan_failure_names[failure]);
    table_add_object(&f->table, object->kind, object->ns, object->name);
}

/* Prints a section with a row for each object of each result; prints nothing without a row. */
static void print_failing_objects(const struct plan_result *r, unsigned failures, struct output *o)
{
    static const char *const headings[] = {"RESULT", "OBJECT"};
    struct failing_objects f = {.table = table_make(headings, ARRAY_LEN(headings), INDENT)};

    report_failures(r, &(struct failure_callback){add_failing_row, &f, failures});
    if (f.count > 0) {
        strbuf_addc(&o->text, '\n');
        output_add_section(o, "Fails", f.count);
        table_print(&f.table, o);
    }
    table_release(&f.table);
}

static void write_failing_element(void *context, enum plan_failure failure,
                                  const struct identity *object)
{
    struct failing_objects *f = context;

    json_writer_open(&f->writer, NULL, '{');
    json_writer_text(&f->writer, "class", plan_failure_names[failure]);
    report_put_identity(&f->writer, *object);
    json_writer_close(&f->writer, '}');
}

/* Appends the objects of print_failing_objects() as a JSON array. Call it before plan_undo(). */
static void write_failing_objects(const struct plan_result *r, unsigned failures,
                                  struct strbuf *out)
{
    struct failing_objects f = {.writer = {.out = out}};

    json_writer_open(&f.writer, NULL, '[');
    report_failures(r, &(struct failure_callback){write_failing_element, &f, failures});
    json_writer_close(&f.writer, ']');
}

/* ---- templates ---- */

static const char *const when_titles[PLAN_WHEN_COUNT] = {
    [PLAN_AT_ONCE] = "At once",
    [PLAN_AT_NEXT_CHANGE] = ("At the next change of the template, or when Karmada's controllers "
                             "restart"),
    [PLAN_NEVER] = "Never: touched, and as before",
};

static void add_state(struct strbuf *out, const struct outcome *o)
{
    const char *reason = o->exists ? reason_name(o->state, o->reason) : NULL;

    strbuf_addf(out, "%s%s%s", o->exists ? state_names[o->state] : "none", reason ? " " : "",
                reason ? reason : "");
}

static void add_policy(struct strbuf *out, const struct outcome *o)
{
    if (o->policy)
        strbuf_addf(out, "%s %s%s%s", entry_kind(o->policy), entry_ns(o->policy),
                    *entry_ns(o->policy) ? "/" : "", o->policy->name);
    else
        strbuf_adds(out, "none");
}

static const struct target_cluster *find_cluster(const struct outcome *o, const char *name)
{
    for (uint32_t i = 0; i < o->cluster_count; i++) {
        if (o->clusters[i].name == name)
            return &o->clusters[i];
    }
    return NULL;
}

/* Cuts a longer text to `width` bytes, with "..." at the end: wrapped values are hard to read. */
static void shorten_line(struct strbuf *line, size_t width)
{
    size_t room = width - ELLIPSIS_COLUMNS;

    if (line->len <= width)
        return;
    while (room > 0 && ((unsigned char)line->data[room] & 0xC0) == 0x80)
        room--;
    strbuf_cut(line, room);
    strbuf_adds(line, "...");
}

/* Prints a line of a difference, such as "+ cluster member1: 2"; "-" if `added` is false. */
static void print_difference_line(struct output *o, bool added, const char *text)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);

    strbuf_addf(&line, "%c ", added ? '+' : '-');
    output_escape(&line, text);
    if (o->width > DETAIL_INDENT + ELLIPSIS_COLUMNS)
        shorten_line(&line, o->width - DETAIL_INDENT);
    strbuf_addf(&o->text, "%*s", DETAIL_INDENT, "");
    output_add_styled(o, added ? STYLE_GOOD : STYLE_BAD, line.data);
    strbuf_addc(&o->text, '\n');
}

/* Prints the clusters of `a` that are missing in `b` or have another number of replicas there. */
static void print_differing_clusters(struct output *o, const struct outcome *a,
                                     const struct outcome *b, bool added)
{
    for (uint32_t i = 0; i < a->cluster_count; i++) {
        const struct target_cluster *at = &a->clusters[i];
        const struct target_cluster *other = find_cluster(b, at->name);
        CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);

        if (other && other->replicas == at->replicas)
            continue;
        strbuf_addf(&line, "cluster %s", at->name);
        if (at->replicas > 0)
            strbuf_addf(&line, ": %" PRId32, at->replicas);
        print_difference_line(o, added, line.data);
    }
}

typedef void add_property_fn(struct strbuf *out, const struct outcome *o);

static void print_differing_property(struct output *o, const char *title, add_property_fn *add,
                                     const struct outcome *a, const struct outcome *b)
{
    CLEANUP(strbuf_release) struct strbuf from = STRBUF_INIT(LINE_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf to = STRBUF_INIT(LINE_MAX_BYTES);

    strbuf_addf(&from, "%s: ", title);
    strbuf_addf(&to, "%s: ", title);
    add(&from, a);
    add(&to, b);
    if (strcmp(from.data, to.data) == 0)
        return;
    print_difference_line(o, false, from.data);
    print_difference_line(o, true, to.data);
}

static void print_differing_fields(struct output *o, const struct outcome *a,
                                   const struct outcome *b)
{
    unsigned fields = outcome_differing_fields(a, b);

    for (unsigned i = 0; i < DRIFT_FIELD_COUNT; i++) {
        CLEANUP(strbuf_release) struct strbuf from = STRBUF_INIT(LINE_MAX_BYTES);
        CLEANUP(strbuf_release) struct strbuf to = STRBUF_INIT(LINE_MAX_BYTES);

        if (!(fields & 1U << i))
            continue;
        strbuf_addf(&from, "%s: %s", drift_field_names[i],
                    explain_field_value(&a->binding->propagation, i));
        strbuf_addf(&to, "%s: %s", drift_field_names[i],
                    explain_field_value(&b->binding->propagation, i));
        print_difference_line(o, false, from.data);
        print_difference_line(o, true, to.data);
    }
}

static void print_difference(struct output *o, const struct outcome *a, const struct outcome *b)
{
    print_differing_property(o, "state", add_state, a, b);
    print_differing_property(o, "policy", add_policy, a, b);
    print_differing_fields(o, a, b);
    if (b->undetermined != UNDETERMINED_REASON_COUNT && b->exists) {
        CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);

        strbuf_addf(&line, "only the scheduler knows its clusters then (%s)",
                    undetermined_reason_names[b->undetermined]);
        output_add_line(o, DETAIL_INDENT, line.data);
        return;
    }
    print_differing_clusters(o, a, b, false);
    print_differing_clusters(o, b, a, true);
}

static void print_template(struct output *o, const struct plan_template *row)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(LINE_MAX_BYTES);
    const char *ns = entry_ns(row->template);

    strbuf_addf(&name, "%s %s%s%s", entry_kind(row->template), ns, *ns ? "/" : "",
                row->template->name);
    strbuf_addf(&o->text, "%*s", TEMPLATE_INDENT, "");
    output_escape(&o->text, name.data);
    strbuf_addc(&o->text, '\n');
    print_difference(o, &row->before, &row->after);
    if (row->when == PLAN_AT_NEXT_CHANGE) {
        output_add_line(o, DETAIL_INDENT, "then, at its next change:");
        print_difference(o, &row->after, &row->next);
    }
}

static void print_templates(const struct plan_result *r, struct output *o)
{
    if (r->template_count > 0)
        output_add_section(o, "Templates", r->template_count);
    for (unsigned when = 0; when < PLAN_WHEN_COUNT; when++) {
        if (r->when[when] > 0)
            output_add_line(o, INDENT, when_titles[when]);
        for (size_t i = 0; i < r->template_count; i++) {
            if (r->templates[i].when == when)
                print_template(o, &r->templates[i]);
        }
    }
    if (r->template_count > 0)
        strbuf_addc(&o->text, '\n');
}

/* ---- conflicts, member clusters and summary ---- */

static void print_conflicts(const struct plan_result *r, struct output *o)
{
    static const char *const headings[] = {"CONFLICT", "CHANGE", "FIELD"};
    CLEANUP(table_release)
    struct table t = table_make(headings, ARRAY_LEN(headings), INDENT);

    if (r->conflict_count == 0)
        return;
    output_add_section(o, "Conflicts", r->conflict_count);
    for (size_t i = 0; i < r->conflict_count; i++) {
        const struct plan_conflict *row = &r->conflicts[i];
        struct identity id = resource_identity_of(row->dependency);

        table_add_object(&t, id.kind, id.ns, id.name);
        table_add(&t, row->appears ? STYLE_BAD : STYLE_GOOD, row->appears ? "appears" : "vanishes");
        table_add(&t, STYLE_PLAIN, dependency_field_names[row->field]);
    }
    table_print(&t, o);
    strbuf_addc(&o->text, '\n');
}

static void print_clusters(const struct plan_result *r, struct output *o)
{
    static const char *const headings[] = {"MEMBER CLUSTER", "REPLICAS", "CPU", "MEMORY MiB"};
    CLEANUP(table_release)
    struct table t = table_make(headings, ARRAY_LEN(headings), INDENT);

    if (r->clusters.count == 0)
        return;
    output_add_section(o, "Member clusters, of these templates", r->clusters.count);
    for (size_t i = 0; i < r->clusters.count; i++) {
        const struct plan_cluster *row = &r->clusters.items[i];

        table_add(&t, row->overflows ? STYLE_BAD : STYLE_PLAIN, row->name);
        table_addf(&t, STYLE_PLAIN, "%" PRId64 " -> %" PRId64, row->replicas[PLAN_BEFORE],
                   row->replicas[PLAN_AFTER]);
        table_addf(&t, STYLE_PLAIN, "%g -> %g", row->cores[PLAN_BEFORE], row->cores[PLAN_AFTER]);
        table_addf(&t, STYLE_PLAIN, "%.0f -> %.0f%s",
                   row->memory_bytes[PLAN_BEFORE] / BYTES_PER_MIB,
                   row->memory_bytes[PLAN_AFTER] / BYTES_PER_MIB,
                   row->overflows ? ", more than is free" : "");
    }
    table_print(&t, o);
    strbuf_addc(&o->text, '\n');
}

/* Appends the number with the text `one` or `many` to a list, unless the number is 0. */
static void add_count(struct strbuf *out, size_t count, const char *one, const char *many)
{
    if (count > 0)
        strbuf_addf(out, "%s%zu %s", out->len > 0 ? ", " : "", count, count == 1 ? one : many);
}

/* Appends text such as "2 replicas leave member1" to a list. */
static void add_replica_change(struct strbuf *out, int64_t change, const char *cluster)
{
    bool one = change == 1 || change == -1;

    strbuf_addf(out, "%s%" PRId64 " replica%s %s%s %s", out->len > 0 ? ", " : "",
                change < 0 ? -change : change, one ? "" : "s", change < 0 ? "leave" : "reach",
                !one         ? ""
                : change < 0 ? "s"
                             : "es",
                cluster);
}

static void print_summary(const struct plan_result *r, struct output *o)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);

    add_count(&line, r->when[PLAN_AT_ONCE], "moves now", "move now");
    add_count(&line, r->when[PLAN_AT_NEXT_CHANGE], "waits", "wait");
    add_count(&line, r->when[PLAN_NEVER], "stays", "stay");
    for (size_t i = 0; i < r->clusters.count; i++) {
        const struct plan_cluster *row = &r->clusters.items[i];
        int64_t change = row->replicas[PLAN_AFTER] - row->replicas[PLAN_BEFORE];

        if (change != 0)
            add_replica_change(&line, change, row->name);
    }
    add_count(&line, r->conflicts_appear, "conflict appears", "conflicts appear");
    add_count(&line, r->conflicts_vanish, "conflict vanishes", "conflicts vanish");
    add_count(&line, r->undetermined, "is for the scheduler to place",
              "are for the scheduler to place");
    if (line.len > 0)
        strbuf_addc(&line, '.');
    output_add_line(o, 0, line.len > 0 ? line.data : "The change makes no difference.");
}

void plan_print(const struct plan_result *r, struct output *o)
{
    print_templates(r, o);
    print_conflicts(r, o);
    print_clusters(r, o);
    print_summary(r, o);
    if (!r->settled)
        output_add_line(o, 0, "Karmada does not come to rest: what is shown is in mid-air.");
    for (unsigned i = 0; i < ASSUMPTION_COUNT; i++) {
        CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);

        if (!(r->assumptions & 1U << i))
            continue;
        strbuf_addf(&line, "Assumed: %s", assumption_texts[i]);
        output_add_line(o, 0, line.data);
    }
}

/* ---- command ---- */

enum { DELETABLE_CLASSES = ~(1U << CLASS_OTHER) };

/* Deletes the objects of --delete. Prints an error and returns false unless exactly one fits. */
static bool delete_objects(struct plan *p, const struct evaluation *e,
                           const struct invocation *invocation)
{
    const struct text_list *deletions = &e->options.deletions;
    struct error err;

    for (size_t i = 0; i < deletions->count; i++) {
        const struct entry *entry =
            object_find(e->store, DELETABLE_CLASSES, deletions->items[i], &err);

        if (!entry) {
            invocation_print_error(invocation, err.text);
            return false;
        }
        plan_delete(p, (struct entry *)(uintptr_t)entry);
    }
    return true;
}

static bool apply_object(void *context, const cJSON *object, struct error *err)
{
    return plan_apply(context, object, err);
}

/* Applies the manifests of -f in order. Prints errors and returns false if one is not applied. */
static bool apply_manifests(struct plan *p, const struct evaluation *e,
                            const struct invocation *invocation)
{
    const struct text_list *changes = &e->options.changes;
    struct manifests *m = manifests_new(NULL, (const char *const *)changes->items, changes->count,
                                        e->options.namespace, &manifest_limits_default);
    struct error err;
    bool fine;

    manifests_import_definitions(m, e->manifests);
    manifests_set_receiver(m, apply_object, p);
    fine = manifests_load(m, &err);
    if (!fine)
        invocation_print_error(invocation, err.text);
    for (size_t i = 0; i < manifests_problem_count(m); i++)
        fine &= !problem_kind_blocks_evaluation(manifests_problem(m, i).kind);
    load_print_problems(m, invocation);
    manifests_free(m);
    return fine;
}

/* Appends the JSON document. Unless `fail_on` is 0, its member "fails" lists failing objects. */
static void write_document(struct plan *p, const struct plan_result *result,
                           const struct evaluation *e, unsigned fail_on, struct strbuf *out)
{
    CLEANUP(strbuf_release) struct strbuf fails = STRBUF_INIT(out->max);

    if (fail_on)
        write_failing_objects(result, fail_on, &fails);
    report_plan(p, result, e->engine, fail_on ? fails.data : NULL, out);
}

/* Finishes the plan and prints its result. Returns STATUS_FOUND if it has a result of --fail-on. */
static enum exit_status print_plan_result(struct plan *p, const struct evaluation *e,
                                          const struct invocation *invocation)
{
    CLEANUP(output_release) struct output o;
    const struct plan_result *result = plan_finish(p);
    unsigned fail_on = e->options.on_command_line[OPTION_OF_fail_on]
                           ? fail_on_plan_failures(&e->options.fail_on)
                           : 0;
    unsigned found = plan_failures(result);

    output_init(&o, invocation->out);
    if (document_is_requested(e->options.output)) {
        write_document(p, result, e, fail_on, &o.text);
    } else {
        plan_print(result, &o);
        print_failing_objects(result, fail_on, &o);
    }
    document_convert(&o.text, e->options.output);
    return invocation_print_output(invocation, &o, found & fail_on ? STATUS_FOUND : STATUS_OK);
}

/* Simulates the change and prints the result. Returns STATUS_USAGE if the change is invalid. */
static enum exit_status simulate_change(struct evaluation *e, const struct invocation *invocation)
{
    struct plan *p = plan_new(e->engine);
    enum exit_status status = STATUS_USAGE;

    /* Only manifests may not have been applied yet. */
    if (!e->session)
        plan_admit_manifests(p);
    if (delete_objects(p, e, invocation) && apply_manifests(p, e, invocation))
        status = print_plan_result(p, e, invocation);
    plan_free(p);
    return status;
}

static enum exit_status run_plan(struct invocation *invocation)
{
    const struct options *o = &invocation->options;
    enum exit_status status, read;
    struct evaluation *e;

    if (o->changes.count + o->deletions.count == 0)
        return invocation_reject(invocation, "nothing to plan: name a change with -f or --delete");
    e = load_sources(invocation, &read);
    if (!e)
        return read;
    if (read != STATUS_OK)
        load_print_problems(e->manifests, invocation);
    status = simulate_change(e, invocation);
    evaluation_free(e);
    return read != STATUS_OK ? read : status;
}

static const char *const examples[] = {
    "plan -f new-policy.yaml ./manifests",
    "plan --delete pp/default/web --fail-on move,lost",
    NULL,
};

const struct command plan_command = {
    .name = "plan",
    .usage = "[FLAGS] [-f CHANGE] [PATH...]",
    .summary = "show what Karmada would make of a change of policies or templates",
    .details = "Reads the manifests at each PATH, or Karmada's API server where there is no "
               "PATH; deletes each OBJECT, then applies each CHANGE, and plays what Karmada makes "
               "of it until nothing moves. Prints what happens at once, what waits for the "
               "template's next change, and what never does; the policy, the clusters and the "
               "replicas of each template from and to; conflicts that appear or vanish; and the "
               "replicas, CPU and memory by member cluster. Writes nothing.",
    .examples = examples,
    .bit = COMMAND_PLAN,
    .takes_arguments = true,
    .run = run_plan,
};
