/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/findings_table.h"

#include "exporter/text/table.h"
#include "metrics/expose/decision_text.h"
#include "metrics/expose/policy_names.h"
#include "metrics/model/binding.h"

enum { INDENT = 2, WANTS_INDENT = 4, LINE_MAX_BYTES = 8192 };

/* For people; the word of the reason, beside it in the table, is for programs. */
static const char *const pending_texts[PENDING_REASON_COUNT] = {
    [PENDING_NO_MATCH] = "no policy selects it",
    [PENDING_EXCLUDED] = "a policy would select it, but its excludedResources keep it out",
    [PENDING_POLICY_GONE] = "its policy is gone and it was changed since",
    [PENDING_OVERRIDE_MISSING] = "an override in dependentOverrides of its policy does not exist",
    [PENDING_POLICY_DELETING] = "only policies that are being deleted select it",
    [PENDING_KIND_NOT_SELECTED] = "no policy selects its kind",
};

static const char *const stale_texts[STALE_REASON_COUNT] = {
    [STALE_POLICY_UPDATED] = "its policy has changed",
    [STALE_POLICY_REPLACED] = "another policy governs it now",
    [STALE_SELECTOR_MISMATCH] = "its policy does not select it any more",
    [STALE_POLICY_GONE] = "its policy is gone or was created again",
    [STALE_NEVER_BOUND] = "its Lazy policy waits for a change of the template",
    [STALE_TEMPLATE_UPDATED] = "its last change is not in its binding",
};

void section_print(struct output *o, const char *title, size_t count)
{
    CLEANUP(strbuf_release) struct strbuf heading = STRBUF_INIT(LINE_MAX_BYTES);

    strbuf_addf(&heading, "%s (%zu)", title, count);
    output_styled(o, STYLE_HEADING, heading.data);
    strbuf_addc(&o->text, '\n');
}

/* The namespace is left out where it is `known_ns`. */
static void add_neighbour(struct table *t, const char *kind, const char *ns, const char *name,
                          const char *known_ns)
{
    table_add_object(t, kind, strcmp(ns, known_ns) == 0 ? "" : ns, name);
}

/* What the referrers of a dependency want of one field: now, or once their policies apply. */
struct wants {
    struct table table;
    const char *ns; /* Of the dependency. */
    enum dependency_field field;
    bool current; /* Once they apply. */
    bool mixed;   /* Some have a binding, others not: the last column says which. */
};

static void add_want(void *context, const struct dependency_referrer *referrer)
{
    struct wants *w = context;
    const struct dependency_values *values = w->current ? &referrer->current : &referrer->observed;
    const struct entry *object = referrer->template ? referrer->template : referrer->binding;
    struct policy_name policy = referrer_policy(referrer, w->current);

    if (!object || !(w->current ? referrer->counts_current : referrer->counts_observed))
        return;
    table_add(&w->table, STYLE_PLAIN, dependency_value_name(w->field, values->wants[w->field]));
    if (policy.kind)
        add_neighbour(&w->table, policy.kind, policy.ns, policy.name, w->ns);
    else
        table_add(&w->table, STYLE_FAINT, "no policy");
    add_neighbour(&w->table, entry_kind(object), entry_ns(object), object->name, w->ns);
    if (w->mixed)
        table_add(&w->table, STYLE_FAINT, referrer->derived ? "no binding yet" : "");
}

/* The referrers of a dependency, by whether they have a binding of their own. */
struct referrers {
    size_t derived;
    size_t bound;
};

static void count_referrer(void *context, const struct dependency_referrer *referrer)
{
    struct referrers *r = context;

    r->derived += referrer->derived;
    r->bound += !referrer->derived;
}

static bool is_mixed(const struct engine *engine, const struct entry *dependency)
{
    struct referrers r = {0};

    engine_dependency_referrers(engine, dependency, count_referrer, &r);
    return r.derived > 0 && r.bound > 0;
}

static void print_wants(const struct engine *engine, const struct entry *dependency,
                        enum dependency_field field, bool predicted, struct output *o)
{
    static const char *const headings[] = {"WANTS", "POLICY", "REFERRER", ""};
    bool mixed = is_mixed(engine, dependency);
    struct wants w = {.table = table_make(headings, 3 + mixed, WANTS_INDENT),
                      .ns = resource_identity_of(dependency).ns,
                      .field = field,
                      .current = predicted,
                      .mixed = mixed};

    engine_dependency_referrers(engine, dependency, add_want, &w);
    table_print(&w.table, o);
    table_release(&w.table);
}

/* "  ConfigMap default/my-config: ConflictResolution resolves to Overwrite". */
static void print_conflict(const struct entry *dependency, enum dependency_field field,
                           bool predicted, struct output *o)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf safe = STRBUF_INIT(LINE_MAX_BYTES);
    const struct dependency_decision *d = dependency_decision(dependency);
    const struct field_resolution *f = &d->fields[field];
    struct identity id = resource_identity_of(dependency);

    strbuf_addf(&line, "%s %s%s%s: %s %s to %s", id.kind, id.ns, *id.ns != '\0' ? "/" : "", id.name,
                dependency_field_names[field], predicted ? "will resolve" : "resolves",
                dependency_value_name(field, predicted ? f->predicted_resolved : f->resolved));
    if (f->unapplied && f->stored != f->resolved && !predicted)
        strbuf_addf(&line, ", but the binding still has %s",
                    dependency_value_name(field, f->stored));
    output_safe(&safe, line.data);
    strbuf_addf(&o->text, "%*s", INDENT, "");
    output_wrap(&o->text, safe.data, INDENT, WANTS_INDENT, o->width);
    strbuf_addc(&o->text, '\n');
}

static void print_conflicts(const struct engine *engine, const struct findings *f,
                            enum finding_class class, struct output *o)
{
    bool predicted = class == FINDING_PREDICTED;

    if (f->lists[class].count == 0)
        return;
    section_print(o, predicted ? "Predicted conflicts" : "Conflicts", findings_count(f, class));
    for (size_t i = 0; i < f->lists[class].count; i++) {
        const struct entry *dependency = f->lists[class].entries[i];
        const struct dependency_decision *d = dependency_decision(dependency);

        for (unsigned k = 0; k < DEPENDENCY_FIELD_COUNT; k++) {
            if (!(predicted ? d->fields[k].predicted : d->fields[k].conflict))
                continue;
            print_conflict(dependency, k, predicted, o);
            print_wants(engine, dependency, k, predicted, o);
            strbuf_addc(&o->text, '\n');
        }
    }
}

/* A section with a row for each object of a listing; `add` appends the cells after its name. */
static void print_templates(const char *title, const struct finding_list *list,
                            const char *const *headings, size_t columns,
                            void (*add)(struct table *, const struct template_decision *),
                            struct output *o)
{
    CLEANUP(table_release) struct table t = table_make(headings, columns, INDENT);

    if (list->count == 0)
        return;
    section_print(o, title, list->count);
    for (size_t i = 0; i < list->count; i++) {
        const struct entry *e = list->entries[i];

        table_add_object(&t, entry_kind(e), entry_ns(e), e->name);
        add(&t, template_decision(e));
    }
    table_print(&t, o);
    strbuf_addc(&o->text, '\n');
}

static void add_pending(struct table *t, const struct template_decision *d)
{
    table_add(t, STYLE_BAD, pending_reason_names[d->reason]);
    table_add(t, STYLE_PLAIN, pending_texts[d->reason]);
}

/* "its policy has changed: placement, failover". */
static void add_stale(struct table *t, const struct template_decision *d)
{
    CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT(LINE_MAX_BYTES);
    const char *between = ": ";

    strbuf_adds(&why, stale_texts[d->reason]);
    for (unsigned i = 0; i < DRIFT_FIELD_COUNT; i++) {
        if (!(d->fields & 1U << i))
            continue;
        strbuf_addf(&why, "%s%s", between, drift_field_names[i]);
        between = ", ";
    }
    table_add(t, d->phase == PHASE_OVERDUE ? STYLE_BAD : STYLE_CAUTION, phase_names[d->phase]);
    table_add(t, STYLE_PLAIN, stale_reason_names[d->reason]);
    table_add(t, STYLE_PLAIN, why.data);
}

static void add_orphaned(struct table *t, const struct template_decision *d)
{
    (void)d;
    table_add(t, STYLE_PLAIN, "runs on, but no policy governs it");
}

static void add_stage(struct table *t, const struct template_decision *d)
{
    struct stage_and_reason at = d->stages.at;

    table_add(t, STYLE_BAD, stage_reason_names[at.reason]);
    table_add(t, STYLE_PLAIN, stage_reason_texts[at.reason]);
}

static void add_held(struct table *t, const struct template_decision *d)
{
    struct stage_and_reason at = d->stages.delivery;
    bool waits = at.reason == WHY_WAITING || at.reason == WHY_ROLLING || at.reason == WHY_UNKNOWN;

    table_add(t, waits ? STYLE_CAUTION : STYLE_BAD, stage_names[at.stage]);
    table_add(t, STYLE_PLAIN, stage_reason_names[at.reason]);
    table_add(t, STYLE_PLAIN, stage_reason_texts[at.reason]);
}

static void print_wrongs(const struct engine *engine, const struct problem_class *w,
                         const struct finding_list *list, struct output *o)
{
    const char *const headings[] = {w->heading, ""};
    CLEANUP(table_release) struct table t = table_make(headings, ARRAY_LEN(headings), INDENT);

    if (list->count == 0)
        return;
    section_print(o, w->title, list->count);
    for (size_t i = 0; i < list->count; i++) {
        const struct entry *e = list->entries[i];

        for (unsigned k = 0; w->of(e) >> k != 0; k++) {
            CLEANUP(strbuf_release) struct strbuf why = STRBUF_INIT(LINE_MAX_BYTES);

            if (!(w->of(e) & 1U << k))
                continue;
            table_add_object(&t, entry_kind(e), entry_ns(e), e->name);
            strbuf_adds(&why, w->texts[k]);
            if (w->class == FINDING_BROKEN) {
                strbuf_adds(&why, ": ");
                defect_add_subject(e, k, &why);
            } else if (w->class == FINDING_CONNECTOR) {
                connector_conflict_add_subject(engine, e, k, &why);
            }
            table_add(&t, STYLE_PLAIN, why.data);
        }
    }
    table_print(&t, o);
    strbuf_addc(&o->text, '\n');
}

/* Classes that no other section lists completely. */
static void print_named(const struct findings *f, unsigned fail_on, struct output *o)
{
    static const char *const headings[] = {"TEMPLATE", "REASON", ""};
    static const struct {
        enum finding_class class;
        const char *title;
    } sections[] = {{FINDING_UNBOUND, "Unbound"}, {FINDING_UNMATCHED, "Unmatched"}};

    for (size_t i = 0; i < ARRAY_LEN(sections); i++) {
        if (fail_on >> sections[i].class & 1)
            print_templates(sections[i].title, &f->lists[sections[i].class], headings,
                            ARRAY_LEN(headings), add_stage, o);
    }
}

void findings_print(const struct engine *engine, const struct findings *f, unsigned fail_on,
                    struct output *o)
{
    static const char *const pending[] = {"TEMPLATE", "REASON", ""};
    static const char *const stale[] = {"TEMPLATE", "PHASE", "REASON", ""};
    static const char *const orphaned[] = {"TEMPLATE", ""};
    static const char *const held[] = {"TEMPLATE", "STAGE", "REASON", ""};

    print_conflicts(engine, f, FINDING_CONFLICT, o);
    print_conflicts(engine, f, FINDING_PREDICTED, o);
    print_templates("Pending", &f->lists[FINDING_PENDING], pending, ARRAY_LEN(pending), add_pending,
                    o);
    print_templates("Stale", &f->lists[FINDING_STALE], stale, ARRAY_LEN(stale), add_stale, o);
    print_templates("Orphaned", &f->lists[FINDING_ORPHANED], orphaned, ARRAY_LEN(orphaned),
                    add_orphaned, o);
    print_named(f, fail_on, o);
    print_templates("Not healthy", &f->lists[FINDING_NOT_HEALTHY], held, ARRAY_LEN(held), add_held,
                    o);
    for (size_t i = 0; i < PROBLEM_CLASSES; i++)
        print_wrongs(engine, &problem_class[i], &f->lists[problem_class[i].class], o);
}

size_t findings_listed(const struct findings *f)
{
    static const unsigned lists[] = {FINDING_PENDING, FINDING_STALE, FINDING_ORPHANED,
                                     FINDING_NOT_HEALTHY};
    size_t count = findings_count(f, FINDING_CONFLICT) + findings_count(f, FINDING_PREDICTED);

    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        count += f->lists[lists[i]].count;
    for (size_t i = 0; i < PROBLEM_CLASSES; i++)
        count += f->lists[problem_class[i].class].count;
    return count;
}
