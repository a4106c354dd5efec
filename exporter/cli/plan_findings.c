/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/plan_findings.h"

#include "exporter/text/check_result.h"
#include "exporter/text/text_table.h"
#include "metrics/base/json_writer.h"
#include "metrics/expose/report_parts.h"
#include "metrics/model/binding.h"
#include "metrics/model/kind.h"
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

unsigned plan_findings(const struct plan_result *r)
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

void plan_fails_print(const struct plan_result *r, unsigned classes, struct output *o)
{
    static const char *const headings[] = {"CLASS", "OBJECT"};
    struct fails f = {.classes = classes,
                      .table = table_make(headings, ARRAY_LEN(headings), INDENT)};

    find_all(r, &(struct finding_lookup){add_row, &f});
    if (f.count > 0) {
        strbuf_addc(&o->text, '\n');
        section_print(o, "Fails", f.count);
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

void plan_fails_write(const struct plan_result *r, unsigned classes, struct strbuf *out)
{
    struct fails f = {.classes = classes, .writer = {.out = out}};

    json_writer_open(&f.writer, NULL, '[');
    find_all(r, &(struct finding_lookup){write_element, &f});
    json_writer_close(&f.writer, ']');
}
