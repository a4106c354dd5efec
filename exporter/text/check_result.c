/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/check_result.h"

#include "exporter/text/text_table.h"
#include "metrics/base/number.h"
#include "metrics/expose/decision_text.h"
#include "metrics/expose/policy_names.h"
#include "metrics/model/binding.h"

enum {
    WORD_MAX = 64,
    INDENT = 2,
    DETAIL_INDENT = 4,
    LINE_MAX_BYTES = 8192,
    SAFE_MAX_BYTES = 4 * LINE_MAX_BYTES, /* Escaping makes at most four bytes of one. */
};

/* ---- counts of findings ---- */

static const char none[] = "none"; /* Value of the header if all counts are 0. */

static void append_count(struct strbuf *out, size_t start, const char *word, size_t count)
{
    if (count > 0)
        strbuf_addf(out, "%s%s=%zu", out->len > start ? ", " : "", word, count);
}

void finding_counts_write(const struct finding_counts *c, struct strbuf *out)
{
    size_t start = out->len;

    for (unsigned i = 0; i < FINDING_CLASSES; i++)
        append_count(out, start, fail_on_names[i], c->classes[i]);
    append_count(out, start, "unread", c->unread);
    append_count(out, start, "missing", c->missing);
    if (out->len == start)
        strbuf_adds(out, none);
}

/* Returns the count for the word of a class, "unread" or "missing"; NULL for other words. */
static size_t *find_count(struct finding_counts *c, const char *word)
{
    for (unsigned i = 0; i < FINDING_CLASSES; i++) {
        if (strcmp(word, fail_on_names[i]) == 0)
            return &c->classes[i];
    }
    if (strcmp(word, "unread") == 0)
        return &c->unread;
    return strcmp(word, "missing") == 0 ? &c->missing : NULL;
}

/* Parses one count, such as "conflict=2". Returns false if it is malformed, 0 or repeated. */
static bool read_count(const char *text, size_t len, struct finding_counts *out)
{
    char word[WORD_MAX];
    size_t word_len = strspn(text, "abcdefghijklmnopqrstuvwxyz_");
    size_t *count;
    uint64_t number;

    if (len >= sizeof(word) || word_len == 0 || word_len >= len || text[word_len] != '=')
        return false;
    snprintf(word, sizeof(word), "%.*s", (int)len, text);
    word[word_len] = '\0';
    if (!parse_uint(word + word_len + 1, SIZE_MAX, &number) || number == 0)
        return false;
    count = find_count(out, word);
    if (count && *count > 0)
        return false;
    if (count)
        *count = number;
    return true;
}

bool finding_counts_read(const char *text, struct finding_counts *out)
{
    struct finding_counts counts = {.unread = 0};
    bool more = strcmp(text, none) != 0;

    while (more) {
        size_t len = strcspn(text, ",");

        more = text[len] == ',';
        if (!read_count(text, len, &counts))
            return false;
        text += len + more;
        text += strspn(text, " ");
    }
    *out = counts;
    return true;
}

bool finding_counts_any(const struct finding_counts *c, unsigned classes)
{
    for (unsigned i = 0; i < FINDING_CLASSES; i++) {
        if ((classes >> i & 1) && c->classes[i] > 0)
            return true;
    }
    return false;
}

/* ---- sections of the findings ---- */

/* Sentences for people. The column before them has the word for programs. */
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

/* Adds a cell with an object; without its namespace if that is `known_ns`. */
static void add_related_object(struct table *t, const char *kind, const char *ns, const char *name,
                               const char *known_ns)
{
    table_add_object(t, kind, strcmp(ns, known_ns) == 0 ? "" : ns, name);
}

/* Table of the values that the referrers of a dependency request for one field. */
struct requested_values {
    struct table table;
    const char *ns; /* Namespace of the dependency. */
    enum dependency_field field;
    bool current; /* Values after the policies are applied; false for the present values. */
    bool mixed;   /* Only some referrers have a binding: the last column marks the others. */
};

static void add_requested_value(void *context, const struct dependency_referrer *referrer)
{
    struct requested_values *w = context;
    const struct dependency_values *values = w->current ? &referrer->current : &referrer->observed;
    const struct entry *object = referrer->template ? referrer->template : referrer->binding;
    struct policy_name policy = referrer_policy(referrer, w->current);

    if (!object || !(w->current ? referrer->counts_current : referrer->counts_observed))
        return;
    table_add(&w->table, STYLE_PLAIN, dependency_value_name(w->field, values->wants[w->field]));
    if (policy.kind)
        add_related_object(&w->table, policy.kind, policy.ns, policy.name, w->ns);
    else
        table_add(&w->table, STYLE_FAINT, "no policy");
    add_related_object(&w->table, entry_kind(object), entry_ns(object), object->name, w->ns);
    if (w->mixed)
        table_add(&w->table, STYLE_FAINT, referrer->derived ? "no binding yet" : "");
}

struct referrer_counts {
    size_t derived; /* Number of referrers without a binding of their own. */
    size_t bound;   /* Number of other referrers. */
};

static void count_referrer(void *context, const struct dependency_referrer *referrer)
{
    struct referrer_counts *r = context;

    r->derived += referrer->derived;
    r->bound += !referrer->derived;
}

static bool has_bound_and_derived(const struct engine *engine, const struct entry *dependency)
{
    struct referrer_counts r = {0};

    engine_dependency_referrers(engine, dependency, count_referrer, &r);
    return r.derived > 0 && r.bound > 0;
}

static void print_requested_values(const struct engine *engine, const struct entry *dependency,
                                   enum dependency_field field, bool predicted, struct output *o)
{
    static const char *const headings[] = {"WANTS", "POLICY", "REFERRER", ""};
    bool mixed = has_bound_and_derived(engine, dependency);
    struct requested_values w = {.table = table_make(headings, 3 + mixed, DETAIL_INDENT),
                                 .ns = resource_identity_of(dependency).ns,
                                 .field = field,
                                 .current = predicted,
                                 .mixed = mixed};

    engine_dependency_referrers(engine, dependency, add_requested_value, &w);
    table_print(&w.table, o);
    table_release(&w.table);
}

/* Prints "ConfigMap default/my-config: ConflictResolution resolves to Overwrite" and the like. */
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
    output_escape(&safe, line.data);
    strbuf_addf(&o->text, "%*s", INDENT, "");
    output_wrap(&o->text, safe.data, INDENT, DETAIL_INDENT, o->width);
    strbuf_addc(&o->text, '\n');
}

static void print_conflicts(const struct engine *engine, const struct findings *f,
                            enum finding_class class, struct output *o)
{
    bool predicted = class == FINDING_PREDICTED;

    if (f->lists[class].count == 0)
        return;
    output_add_section(o, predicted ? "Predicted conflicts" : "Conflicts",
                       findings_count(f, class));
    for (size_t i = 0; i < f->lists[class].count; i++) {
        const struct entry *dependency = f->lists[class].entries[i];
        const struct dependency_decision *d = dependency_decision(dependency);

        for (unsigned k = 0; k < DEPENDENCY_FIELD_COUNT; k++) {
            if (!(predicted ? d->fields[k].predicted : d->fields[k].conflict))
                continue;
            print_conflict(dependency, k, predicted, o);
            print_requested_values(engine, dependency, k, predicted, o);
            strbuf_addc(&o->text, '\n');
        }
    }
}

/* Prints a section with a row for each template; `add` adds the cells after the name. */
static void print_templates(const char *title, const struct finding_list *list,
                            const char *const *headings, size_t columns,
                            void (*add)(struct table *, const struct template_decision *),
                            struct output *o)
{
    CLEANUP(table_release) struct table t = table_make(headings, columns, INDENT);

    if (list->count == 0)
        return;
    output_add_section(o, title, list->count);
    for (size_t i = 0; i < list->count; i++) {
        const struct entry *e = list->entries[i];

        table_add_object(&t, entry_kind(e), entry_ns(e), e->name);
        add(&t, template_decision(e));
    }
    table_print(&t, o);
    strbuf_addc(&o->text, '\n');
}

static void add_pending_cells(struct table *t, const struct template_decision *d)
{
    table_add(t, STYLE_BAD, pending_reason_names[d->reason]);
    table_add(t, STYLE_PLAIN, pending_texts[d->reason]);
}

/* Adds the phase, the reason, and a sentence such as "its policy has changed: placement". */
static void add_stale_cells(struct table *t, const struct template_decision *d)
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

static void add_orphaned_cells(struct table *t, const struct template_decision *d)
{
    (void)d;
    table_add(t, STYLE_PLAIN, "runs on, but no policy governs it");
}

static void add_stage_cells(struct table *t, const struct template_decision *d)
{
    struct stage_and_reason at = d->stages.at;

    table_add(t, STYLE_BAD, stage_reason_names[at.reason]);
    table_add(t, STYLE_PLAIN, stage_reason_texts[at.reason]);
}

static void add_delivery_cells(struct table *t, const struct template_decision *d)
{
    struct stage_and_reason at = d->stages.delivery;
    bool waits = at.reason == WHY_WAITING || at.reason == WHY_ROLLING || at.reason == WHY_UNKNOWN;

    table_add(t, waits ? STYLE_CAUTION : STYLE_BAD, stage_names[at.stage]);
    table_add(t, STYLE_PLAIN, stage_reason_names[at.reason]);
    table_add(t, STYLE_PLAIN, stage_reason_texts[at.reason]);
}

/* Prints a section with a row for each problem of each object of the class. */
static void print_problem_class(const struct engine *engine, const struct problem_class *w,
                                const struct finding_list *list, struct output *o)
{
    const char *const headings[] = {w->heading, ""};
    CLEANUP(table_release) struct table t = table_make(headings, ARRAY_LEN(headings), INDENT);

    if (list->count == 0)
        return;
    output_add_section(o, w->title, list->count);
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

/* Prints each of the classes UNBOUND and UNMATCHED if `fail_on` contains it. */
static void print_optional_classes(const struct findings *f, unsigned fail_on, struct output *o)
{
    static const char *const headings[] = {"TEMPLATE", "REASON", ""};
    static const struct {
        enum finding_class class;
        const char *title;
    } sections[] = {{FINDING_UNBOUND, "Unbound"}, {FINDING_UNMATCHED, "Unmatched"}};

    for (size_t i = 0; i < ARRAY_LEN(sections); i++) {
        if (fail_on >> sections[i].class & 1)
            print_templates(sections[i].title, &f->lists[sections[i].class], headings,
                            ARRAY_LEN(headings), add_stage_cells, o);
    }
}

/* Prints the sections with findings; UNBOUND and UNMATCHED only if `fail_on` contains them. */
static void print_findings(const struct engine *engine, const struct findings *f, unsigned fail_on,
                           struct output *o)
{
    static const char *const pending[] = {"TEMPLATE", "REASON", ""};
    static const char *const stale[] = {"TEMPLATE", "PHASE", "REASON", ""};
    static const char *const orphaned[] = {"TEMPLATE", ""};
    static const char *const delivery[] = {"TEMPLATE", "STAGE", "REASON", ""};

    print_conflicts(engine, f, FINDING_CONFLICT, o);
    print_conflicts(engine, f, FINDING_PREDICTED, o);
    print_templates("Pending", &f->lists[FINDING_PENDING], pending, ARRAY_LEN(pending),
                    add_pending_cells, o);
    print_templates("Stale", &f->lists[FINDING_STALE], stale, ARRAY_LEN(stale), add_stale_cells, o);
    print_templates("Orphaned", &f->lists[FINDING_ORPHANED], orphaned, ARRAY_LEN(orphaned),
                    add_orphaned_cells, o);
    print_optional_classes(f, fail_on, o);
    print_templates("Not healthy", &f->lists[FINDING_NOT_HEALTHY], delivery, ARRAY_LEN(delivery),
                    add_delivery_cells, o);
    for (size_t i = 0; i < PROBLEM_CLASSES; i++)
        print_problem_class(engine, &problem_class[i], &f->lists[problem_class[i].class], o);
}

/* Returns the sum of the numbers in the headings that print_findings() prints with `fail_on` 0. */
static size_t count_printed_findings(const struct findings *f)
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

/* ---- manifests and summary ---- */

/* If `unread`, prints the documents and files that could not be read; else those without effect. */
static void print_manifest_problems(const struct check_result *r, const char *title, bool unread,
                                    size_t count, struct output *o)
{
    const struct manifests *m = r->evaluation->manifests;
    CLEANUP(table_release) struct table t = table_make(NULL, 2, INDENT);
    CLEANUP(strbuf_release) struct strbuf place = STRBUF_INIT(LINE_MAX_BYTES);

    if (count == 0)
        return;
    output_add_section(o, title, count);
    for (size_t i = 0; i < manifests_problem_count(m); i++) {
        struct manifest_problem p = manifests_problem(m, i);

        if (unread ? !problem_kind_blocks_evaluation(p.kind)
                   : p.kind != PROBLEM_DUPLICATE && p.kind != PROBLEM_FOREIGN)
            continue;
        strbuf_reset(&place);
        manifest_problem_append_place(&p, &place);
        table_add(&t, STYLE_PLAIN, place.data);
        table_add(&t, unread ? STYLE_BAD : STYLE_PLAIN, p.text);
    }
    table_print(&t, o);
    strbuf_addc(&o->text, '\n');
}

static const char *plural_suffix(size_t count)
{
    return count == 1 ? "" : "s";
}

/* Prints text such as "Read 4 files with 3 templates (3 unbound), 2 policies and 0 bindings." */
static void print_sources(const struct check_result *r, struct output *o)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf safe = STRBUF_INIT(SAFE_MAX_BYTES);
    const struct findings *f = &r->findings;
    size_t files = manifests_file_count(r->evaluation->manifests);
    const char *between = " (";

    if (r->evaluation->session)
        strbuf_addf(&line, "Read %s", kube_session_server_url(r->evaluation->session));
    else
        strbuf_addf(&line, "Read %zu file%s", files, plural_suffix(files));
    strbuf_addf(&line, " with %zu template%s", f->templates, plural_suffix(f->templates));
    for (unsigned i = 0; i < STATE_COUNT; i++) {
        if (f->states[i] == 0)
            continue;
        strbuf_addf(&line, "%s%zu %s", between, f->states[i], state_names[i]);
        between = ", ";
    }
    strbuf_addf(&line, "%s, %zu polic%s and %zu binding%s.", f->templates > 0 ? ")" : "",
                f->policies, f->policies == 1 ? "y" : "ies", f->bindings,
                plural_suffix(f->bindings));
    if (f->not_selected > 0)
        strbuf_addf(&line, " Not listed: %zu pending template%s of kinds that no policy selects.",
                    f->not_selected, plural_suffix(f->not_selected));
    output_escape(&safe, line.data);
    output_wrap(&o->text, safe.data, 0, 0, o->width);
    strbuf_addc(&o->text, '\n');
}

/*
 * Prints the counts of the classes in `fail_on`, such as "Found 2 conflicts, 1 pending template."
 * If all are 0, prints a sentence about other findings. Adds a sentence if files or documents were
 * not read. `listed`: findings or notes are printed above; the sentence about other findings has
 * their number if `fail_on` is 0.
 */
static void print_summary(const struct check_result *r, unsigned fail_on, bool listed,
                          struct output *o)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);
    const size_t *counts = r->counts.classes;
    const char *between = "Found ";

    for (unsigned i = 0; i < FINDING_CLASSES; i++) {
        if (!(fail_on >> i & 1) || counts[i] == 0)
            continue;
        strbuf_addf(&line, "%s%zu %s", between, counts[i], finding_noun(i, counts[i]));
        between = ", ";
    }
    if (line.len > 0) {
        output_add_styled(o, STYLE_BAD, line.data);
    } else if (listed && fail_on == 0) {
        size_t count = count_printed_findings(&r->findings) + r->notes;

        strbuf_addf(&line, "Found %zu finding%s, which do not count: --fail-on is empty", count,
                    plural_suffix(count));
        output_add_styled(o, STYLE_CAUTION, line.data);
    } else if (listed)
        output_add_styled(o, STYLE_CAUTION, "Found nothing that --fail-on names");
    else if (r->complete)
        output_add_styled(o, STYLE_GOOD, "Nothing found");
    else
        output_add_styled(o, STYLE_BAD, "Nothing found in what there is");
    strbuf_adds(&o->text, r->counts.unread > 0 ? ". Not everything could be read.\n" : ".\n");
}

void check_result_print(const struct check_result *r, unsigned fail_on, struct output *o)
{
    size_t start = o->text.len;

    print_findings(r->evaluation->engine, &r->findings, fail_on, o);
    print_manifest_problems(r, "Notes", false, r->notes, o);
    bool listed = o->text.len > start;

    print_manifest_problems(r, "Not read", true, r->unread, o);
    print_sources(r, o);
    print_summary(r, fail_on, listed, o);
}

static size_t count_missing_kinds(const struct kube_session *session)
{
    const struct kube_source *source = session ? kube_session_source(session) : NULL;
    size_t count = 0;

    for (size_t i = 0; source && i < kube_source_missing_kind_count(source); i++)
        count += missing_kind_is_failure(kube_source_missing_kind(source, i));
    return count;
}

void check_result_make(struct check_result *r, const struct evaluation *e)
{
    *r = (struct check_result){.evaluation = e};
    for (size_t i = 0; i < manifests_problem_count(e->manifests); i++) {
        enum problem_kind kind = manifests_problem(e->manifests, i).kind;

        r->unread += problem_kind_blocks_evaluation(kind);
        r->notes += kind == PROBLEM_DUPLICATE || kind == PROBLEM_FOREIGN;
    }
    r->counts.unread = r->unread + (*asset_source_problem(e->assets) != '\0');
    r->counts.missing = count_missing_kinds(e->session);
    r->complete = r->counts.unread == 0 && r->counts.missing == 0;
    findings_gather(e->store, &r->findings);
    for (unsigned i = 0; i < FINDING_CLASSES; i++)
        r->counts.classes[i] = findings_count(&r->findings, i);
    r->counts.classes[FINDING_DUPLICATE] = manifests_duplicate_count(e->manifests);
}

void check_result_release(struct check_result *r)
{
    findings_release(&r->findings);
}
