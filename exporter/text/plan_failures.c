/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/plan_failures.h"

#include "exporter/text/object_name.h"
#include "metrics/base/json_writer.h"
#include "metrics/expose/report_parts.h"
#include "metrics/model/kind.h"
#include "metrics/model/store.h"

enum {
    INDENT = 2,
    TEXT_MAX_BYTES = 1 << 20,
    NAMES_SHOWN = 3,   /* Names of a longer list, if not all are printed. */
    NAME_COLUMNS = 48, /* Maximum width of a name in a sentence, if the width is limited. */
};

struct failure_callback {
    plan_failing_fn *call;
    void *context;
    unsigned failures; /* Results to report: bits by enum plan_failure. */
};

static void report_object_if(const struct failure_callback *f, bool applies,
                             enum plan_failure failure, const struct plan_failing *object)
{
    struct plan_failing failing = *object;

    failing.failure = failure;
    if (applies && f->failures >> failure & 1)
        f->call(f->context, &failing);
}

/* Returns true if the template has the state after the change, but not before. */
static bool enters_state(const struct plan_template *t, enum template_state state)
{
    bool was = t->before.exists && t->before.state == state;

    return t->after.exists && t->after.state == state && !was;
}

/* Returns true if the template has the outcome after the change, but not before for its reason. */
static bool gets_outcome(const struct plan_template *t, enum prediction outcome)
{
    const struct predicted *before = &t->before.predicted, *after = &t->after.predicted;

    if (!t->after.exists || after->outcome != outcome)
        return false;
    return !t->before.exists || before->outcome != outcome ||
           strcmp(before->reason, after->reason) != 0;
}

/* Returns true if no copy of the template is left after the loss of clusters. */
static bool loses_all_copies(const struct plan_template *t)
{
    return t->loss.clusters > 0 &&
           (t->loss.fate == LOSS_NOWHERE || (t->loss.fate == LOSS_STAYS && t->loss.last_copy));
}

static void report_template(const struct failure_callback *f, const struct plan_template *t)
{
    bool stays = t->before.exists && t->after.exists;
    bool moves = !outcome_clusters_equal(&t->before, &t->after) ||
                 (t->at_next_scheduling && !outcome_clusters_equal(&t->before, &t->next));
    const struct plan_failing id = {
        .object = entry_identity(t->template), .entry = t->template, .template = t};

    report_object_if(f, enters_state(t, STATE_PENDING), PLAN_FAILURE_NOT_PROPAGATED, &id);
    report_object_if(f, enters_state(t, STATE_STALE), PLAN_FAILURE_POLICY_NOT_IN_FORCE, &id);
    report_object_if(f, enters_state(t, STATE_ORPHANED), PLAN_FAILURE_ORPHANED, &id);
    report_object_if(f, stays && moves, PLAN_FAILURE_MOVE, &id);
    report_object_if(f, (stays && t->before.policy && !t->after.policy) || loses_all_copies(t),
                     PLAN_FAILURE_LOST, &id);
    report_object_if(f, t->when == PLAN_AT_NEXT_CHANGE, PLAN_FAILURE_WAIT, &id);
    report_object_if(f,
                     t->after.undetermined != UNDETERMINED_REASON_COUNT ||
                         gets_outcome(t, PREDICTION_UNDETERMINED),
                     PLAN_FAILURE_UNDETERMINED, &id);
    report_object_if(f, gets_outcome(t, PREDICTION_NOWHERE), PLAN_FAILURE_NOWHERE, &id);
    report_object_if(f, gets_outcome(t, PREDICTION_REFUSED), PLAN_FAILURE_REFUSED, &id);
    report_object_if(f, gets_outcome(t, PREDICTION_IGNORED), PLAN_FAILURE_IGNORED, &id);
}

/* Results of an object of the change, by outcome; PLAN_FAILURE_COUNT: not a failure. */
static const enum plan_failure object_failures[PREDICTION_COUNT] = {
    [PREDICTION_PLACED] = PLAN_FAILURE_COUNT,
    [PREDICTION_NOWHERE] = PLAN_FAILURE_NOWHERE,
    [PREDICTION_REFUSED] = PLAN_FAILURE_REFUSED,
    [PREDICTION_IGNORED] = PLAN_FAILURE_IGNORED,
    [PREDICTION_UNDETERMINED] = PLAN_FAILURE_UNDETERMINED,
    [PREDICTION_NOT_SIMULATED] = PLAN_FAILURE_NOT_SIMULATED,
    [PREDICTION_STORED] = PLAN_FAILURE_COUNT,
};

/* Calls `f` once for each object of the plan and each result in `f` that it has. */
static void report_failures(const struct plan_result *r, const struct failure_callback *f)
{
    const struct entry *last = NULL;

    /* In the array, conflicts that appear come first; those of a dependency are neighbours. */
    for (size_t i = 0; i < r->conflict_count && r->conflicts[i].appears; i++) {
        const struct plan_failing id = {.object = resource_identity_of(r->conflicts[i].dependency),
                                        .entry = r->conflicts[i].dependency};

        report_object_if(f, r->conflicts[i].dependency != last, PLAN_FAILURE_DEPENDENCY_CONFLICT,
                         &id);
        last = r->conflicts[i].dependency;
    }
    for (size_t i = 0; i < r->template_count; i++)
        report_template(f, &r->templates[i]);
    last = NULL;
    for (size_t i = 0; i < r->override_count; i++) {
        const struct plan_override *o = &r->overrides[i];
        const struct plan_failing id = {
            .object = entry_identity(o->template), .entry = o->template, .text = o->failure_after};
        bool appears = o->failure_after && !o->failure_before;

        report_object_if(f, appears && o->template != last, PLAN_FAILURE_OVERRIDE_FAILED, &id);
        last = appears ? o->template : last;
    }
    for (size_t i = 0; i < r->clusters.count; i++) {
        const struct plan_failing id = {.object = {kind_of_clusters()->api_version,
                                                   kind_of_clusters()->name, "",
                                                   r->clusters.items[i].name}};

        report_object_if(f, r->clusters.items[i].exceeded != 0, PLAN_FAILURE_OVERFLOW, &id);
    }
    for (size_t i = 0; i < r->object_count; i++) {
        const struct plan_failing id = {.object = r->objects[i].id, .text = r->objects[i].text};

        report_object_if(f, object_failures[r->objects[i].outcome] != PLAN_FAILURE_COUNT,
                         object_failures[r->objects[i].outcome], &id);
    }
    for (size_t i = 0; i < r->unsettled->count; i++) {
        const struct plan_failing id = {.object = entry_identity(r->unsettled->items[i]),
                                        .entry = r->unsettled->items[i]};

        report_object_if(f, true, PLAN_FAILURE_UNSETTLED, &id);
    }
}

void plan_each_failing(const struct plan_result *r, unsigned failures, plan_failing_fn *each,
                       void *context)
{
    report_failures(r, &(struct failure_callback){each, context, failures});
}

static void add_failure_bit(void *context, const struct plan_failing *failing)
{
    unsigned *found = context;

    *found |= 1U << failing->failure;
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
    struct strbuf first; /* Names of the first NAMES_SHOWN objects. */
    size_t name_columns; /* Maximum width of each of them; 0 for no limit. */
    size_t count;        /* Rows in the table. */
};

/* Counts the object, and appends its name to `first` if it is one of the first. */
static void add_first_name(struct failing_objects *f, const struct identity *object)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(TEXT_MAX_BYTES);

    if (f->count++ >= NAMES_SHOWN)
        return;
    object_name_add_identity(&name, object);
    strbuf_adds(&f->first, f->count > 1 ? ", " : "");
    output_shorten(&f->first, name.data, f->name_columns);
}

static void add_failing_row(void *context, const struct plan_failing *failing)
{
    struct failing_objects *f = context;
    const struct identity *object = &failing->object;

    add_first_name(f, object);
    table_add(&f->table, STYLE_BAD, plan_failure_names[failing->failure]);
    table_add_object(&f->table, object->kind, object->ns, object->name);
}

void plan_results_write(unsigned failures, struct strbuf *out)
{
    size_t start = out->len;

    for (unsigned i = 0; i < PLAN_FAILURE_COUNT; i++) {
        if (failures >> i & 1)
            strbuf_addf(out, "%s%s", out->len > start ? "," : "", plan_failure_names[i]);
    }
    if (out->len == start)
        strbuf_adds(out, "none");
}

bool plan_results_read(const char *text, unsigned *failures)
{
    *failures = 0;
    if (!text || *text == '\0')
        return false;
    while (*text != '\0') {
        size_t len = strcspn(text, ",");

        for (unsigned i = 0; i < PLAN_FAILURE_COUNT; i++) {
            if (strlen(plan_failure_names[i]) == len &&
                strncmp(text, plan_failure_names[i], len) == 0)
                *failures |= 1U << i;
        }
        text += len + (text[len] == ',');
    }
    return true;
}

void plan_print_failing_objects(const struct plan_result *r, unsigned failures, struct output *o)
{
    static const char *const headings[] = {"RESULT", "OBJECT"};
    CLEANUP(strbuf_release) struct strbuf reason = STRBUF_INIT(TEXT_MAX_BYTES);
    struct failing_objects f = {.table = table_make(headings, ARRAY_LEN(headings), INDENT),
                                .first = STRBUF_INIT(TEXT_MAX_BYTES),
                                .name_columns = o->width > 0 ? NAME_COLUMNS : 0};

    f.table.shortened = 1U << 1;
    report_failures(r, &(struct failure_callback){add_failing_row, &f, failures});
    if (f.count > 0) {
        strbuf_addc(&o->text, '\n');
        output_add_section(o, "Fails", f.count);
        table_print(&f.table, o);
        strbuf_adds(&reason, "Fails by --fail-on ");
        plan_results_write(failures & plan_failures(r), &reason);
        strbuf_addf(&reason, ": %zu object%s: %s", f.count, f.count == 1 ? "" : "s", f.first.data);
        if (f.count > NAMES_SHOWN)
            strbuf_addf(&reason, " and %zu more, listed above", f.count - NAMES_SHOWN);
        strbuf_addc(&reason, '.');
        strbuf_addc(&o->text, '\n');
        output_add_line(o, 0, reason.data);
    }
    strbuf_release(&f.first);
    table_release(&f.table);
}

static void add_failing_name(void *context, const struct plan_failing *failing)
{
    add_first_name(context, &failing->object);
}

void plan_add_failing_names(const struct plan_result *r, unsigned failures, unsigned width,
                            struct strbuf *out)
{
    struct failing_objects f = {.first = STRBUF_INIT(TEXT_MAX_BYTES),
                                .name_columns = width > 0 ? NAME_COLUMNS : 0};

    report_failures(r, &(struct failure_callback){add_failing_name, &f, failures});
    strbuf_adds(out, f.first.data);
    if (f.count > NAMES_SHOWN)
        strbuf_addf(out, " and %zu more", f.count - NAMES_SHOWN);
    strbuf_release(&f.first);
}

static void write_failing_element(void *context, const struct plan_failing *failing)
{
    struct failing_objects *f = context;

    json_writer_open(&f->writer, NULL, '{');
    json_writer_text(&f->writer, "class", plan_failure_names[failing->failure]);
    report_put_identity(&f->writer, failing->object);
    json_writer_close(&f->writer, '}');
}

void plan_write_failing_objects(const struct plan_result *r, unsigned failures, struct strbuf *out)
{
    struct failing_objects f = {.writer = {.out = out}};

    json_writer_open(&f.writer, NULL, '[');
    report_failures(r, &(struct failure_callback){write_failing_element, &f, failures});
    json_writer_close(&f.writer, ']');
}
