/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/cmd_plan.h"

#include "exporter/cli/command.h"
#include "exporter/cli/document.h"
#include "exporter/cli/load.h"
#include "exporter/text/check_result.h"
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
#include "metrics/rules/findings.h"

enum { INDENT = 2 };

/* Called for each object of each class; the texts are the plan's. */
typedef void found_fn(void *context, unsigned class, const struct identity *object);

struct finding_lookup {
    found_fn *found;
    void *context;
};

static struct identity identity_of(const struct entry *entry)
{
    return (struct identity){entry->partition->type->api_version, entry_kind(entry),
                             entry_ns(entry), entry->name};
}

static void find(const struct finding_lookup *f, bool holds, unsigned class,
                 const struct identity *object)
{
    if (holds)
        f->found(f->context, class, object);
}

/* The template comes into a state that it was not in. */
static bool enters(const struct plan_template *t, enum template_state state)
{
    bool was = t->before.exists && t->before.state == state;

    return t->after.exists && t->after.state == state && !was;
}

static void find_of_template(const struct finding_lookup *f, const struct plan_template *t)
{
    bool stays = t->before.exists && t->after.exists;
    bool moves = !outcome_clusters_equal(&t->before, &t->after);
    struct identity id = identity_of(t->template);

    find(f, enters(t, STATE_PENDING), FINDING_PENDING, &id);
    find(f, enters(t, STATE_STALE), FINDING_STALE, &id);
    find(f, enters(t, STATE_ORPHANED), FINDING_ORPHANED, &id);
    find(f, stays && moves, CONSEQUENCE_MOVE, &id);
    find(f, stays && t->before.policy && !t->after.policy, CONSEQUENCE_LOST, &id);
    find(f, t->when == PLAN_AT_NEXT_CHANGE, CONSEQUENCE_WAIT, &id);
    find(f, t->after.undetermined != UNDETERMINED_REASON_COUNT, CONSEQUENCE_UNDETERMINED, &id);
}

static void find_all(const struct plan_result *r, const struct finding_lookup *f)
{
    const struct entry *last = NULL;

    /* The fields of a dependency follow each other, those that appear first. */
    for (size_t i = 0; i < r->conflict_count && r->conflicts[i].appears; i++) {
        struct identity id = resource_identity_of(r->conflicts[i].dependency);

        find(f, r->conflicts[i].dependency != last, FINDING_CONFLICT, &id);
        last = r->conflicts[i].dependency;
    }
    for (size_t i = 0; i < r->template_count; i++)
        find_of_template(f, &r->templates[i]);
    for (size_t i = 0; i < r->clusters.count; i++) {
        struct identity id = {kind_of_clusters()->api_version, kind_of_clusters()->name, "",
                              r->clusters.items[i].name};

        find(f, r->clusters.items[i].overflows, CONSEQUENCE_OVERFLOW, &id);
    }
    for (size_t i = 0; i < r->unsettled->count; i++) {
        struct identity id = identity_of(r->unsettled->items[i]);

        find(f, true, CONSEQUENCE_UNSETTLED, &id);
    }
}

static void add_bit(void *context, unsigned class, const struct identity *object)
{
    unsigned *found = context;

    (void)object;
    *found |= 1U << class;
}

unsigned plan_finding_classes(const struct plan_result *r)
{
    unsigned found = r->settled ? 0 : 1U << CONSEQUENCE_UNSETTLED;

    find_all(r, &(struct finding_lookup){add_bit, &found});
    return found;
}

/* Failing objects are printed as rows, or written as elements. */
struct fails {
    unsigned classes;
    struct table table;
    struct json_writer writer;
    size_t count;
};

static void add_row(void *context, unsigned class, const struct identity *object)
{
    struct fails *f = context;

    if (!(f->classes >> class & 1))
        return;
    f->count++;
    table_add(&f->table, STYLE_BAD, fail_on_names[class]);
    table_add_object(&f->table, object->kind, object->ns, object->name);
}

/* Prints a section with a row for each object of each of these classes; nothing without any. */
static void plan_fails_print(const struct plan_result *r, unsigned classes, struct output *o)
{
    static const char *const headings[] = {"CLASS", "OBJECT"};
    struct fails f = {.classes = classes,
                      .table = table_make(headings, ARRAY_LEN(headings), INDENT)};

    find_all(r, &(struct finding_lookup){add_row, &f});
    if (f.count > 0) {
        strbuf_addc(&o->text, '\n');
        output_add_section(o, "Fails", f.count);
        table_print(&f.table, o);
    }
    table_release(&f.table);
}

static void write_element(void *context, unsigned class, const struct identity *object)
{
    struct fails *f = context;

    if (!(f->classes >> class & 1))
        return;
    json_writer_open(&f->writer, NULL, '{');
    json_writer_text(&f->writer, "class", fail_on_names[class]);
    report_put_identity(&f->writer, *object);
    json_writer_close(&f->writer, '}');
}

/* Appends the same rows as a JSON array. Call it before plan_undo(). */
static void plan_fails_write(const struct plan_result *r, unsigned classes, struct strbuf *out)
{
    struct fails f = {.classes = classes, .writer = {.out = out}};

    json_writer_open(&f.writer, NULL, '[');
    find_all(r, &(struct finding_lookup){write_element, &f});
    json_writer_close(&f.writer, ']');
}

enum {
    PLAN_PRINT_INDENT = 2,
    DETAIL_INDENT = 6,
    LINE_MAX_BYTES = 8192,
    BYTES_PER_MIB = 1 << 20,
    ELLIPSIS = 3
};

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

/* A placement has no place for a line break: what does not fit is for --output json. */
static void cut(struct strbuf *line, size_t width)
{
    size_t room = width - ELLIPSIS;

    if (line->len <= width)
        return;
    while (room > 0 && ((unsigned char)line->data[room] & 0xC0) == 0x80)
        room--;
    line->len = room;
    line->data[room] = '\0';
    strbuf_adds(line, "...");
}

/* "+ member1: 2" or "- member1: 2", in the style of a difference. */
static void print_sign(struct output *o, bool comes, const char *what)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);

    strbuf_addf(&line, "%c ", comes ? '+' : '-');
    output_escape(&line, what);
    if (o->width > DETAIL_INDENT + ELLIPSIS)
        cut(&line, o->width - DETAIL_INDENT);
    strbuf_addf(&o->text, "%*s", DETAIL_INDENT, "");
    output_add_styled(o, comes ? STYLE_GOOD : STYLE_BAD, line.data);
    strbuf_addc(&o->text, '\n');
}

/* The clusters of `a` that `b` lacks or gives another number of replicas. */
static void print_clusters_of(struct output *o, const struct outcome *a, const struct outcome *b,
                              bool comes)
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
        print_sign(o, comes, line.data);
    }
}

typedef void add_fn(struct strbuf *out, const struct outcome *o);

static void print_field(struct output *o, const char *title, add_fn *add, const struct outcome *a,
                        const struct outcome *b)
{
    CLEANUP(strbuf_release) struct strbuf from = STRBUF_INIT(LINE_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf to = STRBUF_INIT(LINE_MAX_BYTES);

    strbuf_addf(&from, "%s: ", title);
    strbuf_addf(&to, "%s: ", title);
    add(&from, a);
    add(&to, b);
    if (strcmp(from.data, to.data) == 0)
        return;
    print_sign(o, false, from.data);
    print_sign(o, true, to.data);
}

static void print_fields(struct output *o, const struct outcome *a, const struct outcome *b)
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
        print_sign(o, false, from.data);
        print_sign(o, true, to.data);
    }
}

static void print_difference(struct output *o, const struct outcome *a, const struct outcome *b)
{
    print_field(o, "state", add_state, a, b);
    print_field(o, "policy", add_policy, a, b);
    print_fields(o, a, b);
    if (b->undetermined != UNDETERMINED_REASON_COUNT && b->exists) {
        CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);

        strbuf_addf(&line, "only the scheduler knows its clusters then (%s)",
                    undetermined_reason_names[b->undetermined]);
        output_add_line(o, DETAIL_INDENT, line.data);
        return;
    }
    print_clusters_of(o, a, b, false);
    print_clusters_of(o, b, a, true);
}

static void print_template(struct output *o, const struct plan_template *row)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(LINE_MAX_BYTES);
    const char *ns = entry_ns(row->template);

    strbuf_addf(&name, "%s %s%s%s", entry_kind(row->template), ns, *ns ? "/" : "",
                row->template->name);
    strbuf_addf(&o->text, "%*s", 2 * PLAN_PRINT_INDENT, "");
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
            output_add_line(o, PLAN_PRINT_INDENT, when_titles[when]);
        for (size_t i = 0; i < r->template_count; i++) {
            if (r->templates[i].when == when)
                print_template(o, &r->templates[i]);
        }
    }
    if (r->template_count > 0)
        strbuf_addc(&o->text, '\n');
}

/* ---- the rest ---- */

static void print_conflicts(const struct plan_result *r, struct output *o)
{
    static const char *const headings[] = {"CONFLICT", "CHANGE", "FIELD"};
    CLEANUP(table_release)
    struct table t = table_make(headings, ARRAY_LEN(headings), PLAN_PRINT_INDENT);

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
    struct table t = table_make(headings, ARRAY_LEN(headings), PLAN_PRINT_INDENT);

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

static void add_count(struct strbuf *out, size_t count, const char *one, const char *many)
{
    if (count > 0)
        strbuf_addf(out, "%s%zu %s", out->len > 0 ? ", " : "", count, count == 1 ? one : many);
}

static void add_moves(struct strbuf *out, int64_t change, const char *cluster)
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
            add_moves(&line, change, row->name);
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

enum { DELETABLE = ~(1U << CLASS_OTHER) };

/* Delete each --delete. False, naming it, if there is no such object. */
static bool delete_all(struct plan *p, const struct evaluation *e,
                       const struct invocation *invocation)
{
    const struct text_list *deletions = &e->options.deletions;
    struct error err;

    for (size_t i = 0; i < deletions->count; i++) {
        const struct entry *entry = object_find(e->store, DELETABLE, deletions->items[i], &err);

        if (!entry) {
            invocation_print_error(invocation, err.text);
            return false;
        }
        plan_delete(p, (struct entry *)(uintptr_t)entry);
    }
    return true;
}

static bool apply_one(void *context, const cJSON *object, struct error *err)
{
    return plan_apply(context, object, err);
}

/* Apply the objects of each -f, in the order in which they stand. False, having complained. */
static bool apply_all(struct plan *p, const struct evaluation *e,
                      const struct invocation *invocation)
{
    const struct text_list *changes = &e->options.changes;
    struct manifests *m = manifests_new(NULL, (const char *const *)changes->items, changes->count,
                                        e->options.namespace, &manifest_limits_default);
    struct error err;
    bool fine;

    manifests_know(m, e->manifests);
    manifests_hand_out(m, apply_one, p);
    fine = manifests_load(m, &err);
    if (!fine)
        invocation_print_error(invocation, err.text);
    for (size_t i = 0; i < manifests_problem_count(m); i++)
        fine &= !problem_kind_is_unread(manifests_problem(m, i).kind);
    load_print_problems(m, invocation);
    manifests_free(m);
    return fine;
}

/* With --fail-on, the member `fails` lists the objects that fail the plan. */
static void write_document(struct plan *p, const struct plan_result *result,
                           const struct evaluation *e, unsigned wanted, struct strbuf *out)
{
    CLEANUP(strbuf_release) struct strbuf fails = STRBUF_INIT(out->max);

    if (wanted)
        plan_fails_write(result, wanted, &fails);
    report_plan(p, result, e->engine, wanted ? fails.data : NULL, out);
}

static enum exit_status print(struct plan *p, const struct evaluation *e,
                              const struct invocation *invocation)
{
    CLEANUP(output_release) struct output o;
    const struct plan_result *result = plan_finish(p);
    unsigned wanted = e->options.on_command_line[OPTION_OF_fail_on] ? e->options.fail_on : 0;
    unsigned found = plan_finding_classes(result);

    output_init(&o, invocation->out);
    if (document_is_requested(e->options.output)) {
        write_document(p, result, e, wanted, &o.text);
    } else {
        plan_print(result, &o);
        plan_fails_print(result, wanted, &o);
    }
    document_convert(&o.text, e->options.output);
    return invocation_print_output(invocation, &o, found & wanted ? STATUS_FOUND : STATUS_OK);
}

/* Play the change on what was read: STATUS_USAGE if it cannot be read. */
static enum exit_status overlay(struct evaluation *e, const struct invocation *invocation)
{
    struct plan *p = plan_new(e->engine);
    enum exit_status status = STATUS_USAGE;

    /* At an API server everything has been applied. */
    if (!e->session)
        plan_admit_manifests(p);
    if (delete_all(p, e, invocation) && apply_all(p, e, invocation))
        status = print(p, e, invocation);
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
    status = overlay(e, invocation);
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
