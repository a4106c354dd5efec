/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/check_result.h"

#include "exporter/text/text_table.h"
#include "metrics/base/number.h"
#include "metrics/expose/problem_text.h"

enum {
    WORD_MAX = 96,
    INDENT = 2,
    LINE_MAX_BYTES = 64 * 1024,
    SAFE_MAX_BYTES = 4 * LINE_MAX_BYTES, /* Escaping makes at most four bytes of one. */
};

/* ---- counts of problems ---- */

static const char none[] = "none"; /* Value of the header if all counts are 0. */
static const char hidden_prefix[] = "hidden:";
static const char normal_prefix[] = "normal:";

/* Appends PROBLEM/REASON, or PROBLEM if the reason has no name. */
static void add_reason_name(struct strbuf *out, enum problem_reason reason)
{
    const struct problem_reason_row *row = &problem_reasons[reason];

    strbuf_addf(out, "%s%s%s", problem_names[row->problem], *row->name ? "/" : "", row->name);
}

static void append_count(struct strbuf *out, size_t start, const char *prefix, const char *word,
                         size_t count)
{
    if (count > 0)
        strbuf_addf(out, "%s%s%s=%zu", out->len > start ? ", " : "", prefix, word, count);
}

static void append_counts_of_reasons(struct strbuf *out, size_t start, const char *prefix,
                                     const size_t counts[PROBLEM_REASON_COUNT])
{
    for (unsigned i = 0; i < PROBLEM_REASON_COUNT; i++) {
        CLEANUP(strbuf_release) struct strbuf word = STRBUF_INIT(WORD_MAX);

        add_reason_name(&word, i);
        append_count(out, start, prefix, word.data, counts[i]);
    }
}

void problem_counts_write(const struct problem_counts *c, struct strbuf *out)
{
    size_t start = out->len;

    for (unsigned i = 0; i < SEVERITY_COUNT; i++)
        append_count(out, start, "", severity_names[i], c->severities[i]);
    append_counts_of_reasons(out, start, "", c->open);
    append_counts_of_reasons(out, start, hidden_prefix, c->hidden);
    for (unsigned i = 0; i < NORMAL_CONDITION_COUNT; i++)
        append_count(out, start, normal_prefix, normal_condition_names[i], c->normal[i]);
    append_count(out, start, "", "unread", c->unread);
    append_count(out, start, "", "missing", c->missing);
    if (out->len == start)
        strbuf_adds(out, none);
}

/* Returns the count of a problem by its name with the reason; NULL if the name is unknown. */
static size_t *find_reason_count(size_t counts[PROBLEM_REASON_COUNT], const char *word)
{
    CLEANUP(free_cleanup) char *name = xmemdup0(word, strcspn(word, "/"));
    const char *reason = word[strlen(name)] == '/' ? word + strlen(name) + 1 : "";
    enum problem_id problem = problem_find(name);
    unsigned found =
        problem < PROBLEM_COUNT ? problem_find_reason(problem, reason) : PROBLEM_REASON_COUNT;

    return found < PROBLEM_REASON_COUNT ? &counts[found] : NULL;
}

/* Returns the count with this name in the header; NULL if the name is unknown. */
static size_t *find_count(struct problem_counts *c, const char *word)
{
    if (strncmp(word, hidden_prefix, strlen(hidden_prefix)) == 0)
        return find_reason_count(c->hidden, word + strlen(hidden_prefix));
    for (unsigned i = 0; i < NORMAL_CONDITION_COUNT; i++) {
        if (strncmp(word, normal_prefix, strlen(normal_prefix)) == 0 &&
            strcmp(word + strlen(normal_prefix), normal_condition_names[i]) == 0)
            return &c->normal[i];
    }
    for (unsigned i = 0; i < SEVERITY_COUNT; i++) {
        if (strcmp(word, severity_names[i]) == 0)
            return &c->severities[i];
    }
    if (strcmp(word, "unread") == 0)
        return &c->unread;
    return strcmp(word, "missing") == 0 ? &c->missing : find_reason_count(c->open, word);
}

/* Parses one count, such as "warning=2". Returns false if it is malformed, 0 or repeated. */
static bool read_count(const char *text, size_t len, struct problem_counts *out)
{
    char word[WORD_MAX + sizeof(hidden_prefix)];
    size_t word_len = strcspn(text, "=, ");
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

bool problem_counts_read(const char *text, struct problem_counts *out)
{
    struct problem_counts counts = {.unread = 0};
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

bool problem_counts_fail(const struct problem_counts *c, const struct fail_on *fail_on)
{
    for (unsigned i = 0; i < SEVERITY_COUNT; i++) {
        if ((fail_on->severities >> i & 1) && c->severities[i] > 0)
            return true;
    }
    for (unsigned i = 0; i < PROBLEM_REASON_COUNT; i++) {
        if (fail_on_names_reason(fail_on, i) && (c->open[i] > 0 || c->hidden[i] > 0))
            return true;
    }
    for (unsigned i = 0; i < NORMAL_CONDITION_COUNT; i++) {
        if ((fail_on->conditions >> i & 1) && c->normal[i] > 0)
            return true;
    }
    return false;
}

/* ---- rows of the table ---- */

/* Columns of the table, in the order of a terminal that is wide enough. */
enum column { COLUMN_SEVERITY, COLUMN_PROBLEM, COLUMN_OBJECT, COLUMN_SINCE, COLUMN_ACTOR, COLUMNS };

static const char *const headings[COLUMNS] = {
    [COLUMN_SEVERITY] = "SEVERITY", [COLUMN_PROBLEM] = "PROBLEM", [COLUMN_OBJECT] = "OBJECT",
    [COLUMN_SINCE] = "SINCE",       [COLUMN_ACTOR] = "ACTOR",
};

enum {
    GAP = 2,
    DETAIL_INDENT = 10, /* Width of the column SEVERITY with its gap. */
};

/* Texts of the conditions that are no problem. */
static const struct {
    const char *cause;
    const char *action;
} normal_texts[NORMAL_CONDITION_COUNT] = {
    [NORMAL_KIND_NOT_SELECTED] = {"No policy selects objects of this kind.",
                                  "Create a policy that selects the template, if Karmada is to "
                                  "propagate it."},
    [NORMAL_NO_MATCH] = {"No policy selects the template.",
                         "Create a policy that selects the template, if Karmada is to propagate "
                         "it."},
    [NORMAL_WAITING] = {"A policy selects the template, and no client has applied the template "
                        "yet.",
                        "Apply the template to Karmada's API server."},
};

/* One row: a problem, or a template with a condition that is no problem. */
struct check_row {
    const struct problem *problem; /* NULL: see `template`. */
    const struct entry *template;
    enum normal_condition condition;
};

struct cells {
    struct strbuf texts[COLUMNS]; /* Escaped. */
    enum output_style severity_style;
};

static void cells_release(struct cells *c)
{
    for (unsigned i = 0; i < COLUMNS; i++)
        strbuf_release(&c->texts[i]);
}

/* Appends an age in the largest unit that it fills, such as "12m" or "7d". */
static void add_age(struct strbuf *out, int64_t age_ms)
{
    int64_t seconds = age_ms > 0 ? age_ms / 1000 : 0;

    if (seconds < 60)
        strbuf_addf(out, "%" PRId64 "s", seconds);
    else if (seconds < 3600)
        strbuf_addf(out, "%" PRId64 "m", seconds / 60);
    else if (seconds < 86400)
        strbuf_addf(out, "%" PRId64 "h", seconds / 3600);
    else
        strbuf_addf(out, "%" PRId64 "d", seconds / 86400);
}

static void add_subject_of_row(struct strbuf *out, const struct check_row *row)
{
    CLEANUP(strbuf_release) struct strbuf subject = STRBUF_INIT(LINE_MAX_BYTES);

    if (row->problem)
        problem_add_subject(row->problem, &subject);
    else
        strbuf_addf(&subject, "%s %s%s%s", entry_kind(row->template), entry_ns(row->template),
                    *entry_ns(row->template) ? "/" : "", row->template->name);
    output_escape(out, subject.data);
}

static struct cells make_cells(const struct check_result *r, const struct check_row *row,
                               int64_t now_ms)
{
    static const enum output_style styles[] = {[SEVERITY_CRITICAL] = STYLE_BAD,
                                               [SEVERITY_WARNING] = STYLE_CAUTION,
                                               [SEVERITY_INFO] = STYLE_PLAIN};
    const struct problems *ps = engine_problems(r->evaluation->engine);
    const struct problem *p = row->problem;
    int64_t since_ms = p ? problem_since_ms(ps, p) : 0;
    struct cells c = {.severity_style = STYLE_FAINT};

    for (unsigned i = 0; i < COLUMNS; i++)
        c.texts[i] = STRBUF_INIT(SAFE_MAX_BYTES);
    add_subject_of_row(&c.texts[COLUMN_OBJECT], row);
    if (since_ms > 0)
        add_age(&c.texts[COLUMN_SINCE], now_ms - since_ms);
    else
        strbuf_adds(&c.texts[COLUMN_SINCE], "-");
    if (p) {
        enum problem_severity severity = problem_severity(ps, problem_id(p));

        strbuf_adds(&c.texts[COLUMN_SEVERITY], severity_names[severity]);
        add_reason_name(&c.texts[COLUMN_PROBLEM], p->reason);
        strbuf_adds(&c.texts[COLUMN_ACTOR], actor_names[problem_actor(p)]);
        c.severity_style = styles[severity];
        return c;
    }
    strbuf_adds(&c.texts[COLUMN_SEVERITY], "none");
    strbuf_adds(&c.texts[COLUMN_PROBLEM], normal_condition_names[row->condition]);
    strbuf_adds(&c.texts[COLUMN_ACTOR], "-");
    return c;
}

/* ---- layout ---- */

struct layout {
    size_t widths[COLUMNS];
    bool stacked; /* The object has a line of its own, because the terminal is too narrow. */
};

static void widen(struct layout *l, const struct cells *c)
{
    for (unsigned i = 0; i < COLUMNS; i++) {
        size_t width = output_count_columns(c->texts[i].data);

        if (width > l->widths[i])
            l->widths[i] = width;
    }
}

static void print_cell(struct output *o, const struct layout *l, enum column column,
                       enum output_style style, const char *text)
{
    size_t width = output_count_columns(text);

    output_add_styled(o, style, text);
    if (column != COLUMN_ACTOR)
        strbuf_addf(&o->text, "%*s", (int)(l->widths[column] - width + GAP), "");
}

/* Prints one line, or two if the object has a line of its own. */
static void print_cells(struct output *o, const struct layout *l, const char *const *texts,
                        const enum output_style styles[COLUMNS])
{
    for (unsigned i = 0; i < COLUMNS; i++) {
        if (i != COLUMN_OBJECT || !l->stacked)
            print_cell(o, l, i, styles[i], texts[i]);
    }
    strbuf_addc(&o->text, '\n');
    if (l->stacked) {
        strbuf_addf(&o->text, "%*s", DETAIL_INDENT, "");
        output_add_styled(o, styles[COLUMN_OBJECT], texts[COLUMN_OBJECT]);
        strbuf_addc(&o->text, '\n');
    }
}

/* Prints a wrapped line below a row. */
static void print_detail(struct output *o, const char *text)
{
    CLEANUP(strbuf_release) struct strbuf safe = STRBUF_INIT(SAFE_MAX_BYTES);

    output_escape(&safe, text);
    strbuf_addf(&o->text, "%*s", DETAIL_INDENT, "");
    output_wrap(&o->text, safe.data, DETAIL_INDENT, DETAIL_INDENT, o->width);
    strbuf_addc(&o->text, '\n');
}

/* Prints a line for each problem that `cause` hides. */
static void print_hidden(const struct check_result *r, const struct problem *cause,
                         struct output *o)
{
    size_t low = 0, high = r->hidden_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if ((uintptr_t)r->hidden[middle].problem->cause < (uintptr_t)cause)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < r->hidden_count && r->hidden[low].problem->cause == cause; low++) {
        CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);

        strbuf_adds(&line, "Hides ");
        add_reason_name(&line, r->hidden[low].problem->reason);
        strbuf_adds(&line, " of ");
        problem_add_subject(r->hidden[low].problem, &line);
        strbuf_addc(&line, '.');
        print_detail(o, line.data);
    }
}

static void print_details(const struct check_result *r, const struct check_row *row,
                          struct output *o)
{
    CLEANUP(strbuf_release) struct strbuf cause = STRBUF_INIT(LINE_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf action = STRBUF_INIT(LINE_MAX_BYTES);
    const struct engine *engine = r->evaluation->engine;

    strbuf_adds(&action, "Action: ");
    if (row->problem) {
        problem_add_cause(engine, row->problem, &cause);
        problem_add_action(engine, row->problem, &action);
    } else {
        strbuf_adds(&cause, normal_texts[row->condition].cause);
        strbuf_adds(&action, normal_texts[row->condition].action);
    }
    print_detail(o, cause.data);
    print_detail(o, action.data);
    if (row->problem)
        print_hidden(r, row->problem, o);
    strbuf_addc(&o->text, '\n');
}

/* ---- table ---- */

typedef void row_fn(void *context, const struct check_row *row);

/* Calls `each` for every row: problems, then the conditions that --fail-on names. */
static void each_row(const struct check_result *r, const struct fail_on *fail_on, row_fn *each,
                     void *context)
{
    for (size_t i = 0; i < r->shown_count; i++)
        each(context, &(struct check_row){.problem = r->shown[i]});
    for (unsigned k = 0; k < NORMAL_CONDITION_COUNT; k++) {
        for (size_t i = 0; i < r->normal[k].count && fail_on->conditions >> k & 1; i++)
            each(context, &(struct check_row){.template = r->normal[k].items[i], .condition = k});
    }
}

struct table_printer {
    const struct check_result *result;
    struct output *out;
    int64_t now_ms;
    size_t rows;
    struct layout layout;
};

static void measure_row(void *context, const struct check_row *row)
{
    struct table_printer *t = context;
    CLEANUP(cells_release) struct cells c = make_cells(t->result, row, t->now_ms);

    t->rows++;
    widen(&t->layout, &c);
}

static void print_row(void *context, const struct check_row *row)
{
    struct table_printer *t = context;
    CLEANUP(cells_release) struct cells c = make_cells(t->result, row, t->now_ms);
    const enum output_style styles[COLUMNS] = {
        [COLUMN_SEVERITY] = c.severity_style, [COLUMN_SINCE] = STYLE_PLAIN};
    const char *texts[COLUMNS];

    for (unsigned i = 0; i < COLUMNS; i++)
        texts[i] = c.texts[i].data;
    print_cells(t->out, &t->layout, texts, styles);
    print_details(t->result, row, t->out);
}

/* Prints the table, nothing without a row. Returns the number of rows. */
static size_t print_table(const struct check_result *r, const struct fail_on *fail_on,
                          int64_t now_ms, struct output *o)
{
    static const enum output_style faint[COLUMNS] = {STYLE_FAINT, STYLE_FAINT, STYLE_FAINT,
                                                     STYLE_FAINT, STYLE_FAINT};
    struct table_printer t = {.result = r, .out = o, .now_ms = now_ms};
    size_t width = GAP * (COLUMNS - 1);

    for (unsigned i = 0; i < COLUMNS; i++)
        t.layout.widths[i] = strlen(headings[i]);
    each_row(r, fail_on, measure_row, &t);
    if (t.rows == 0)
        return 0;
    for (unsigned i = 0; i < COLUMNS; i++)
        width += t.layout.widths[i];
    t.layout.stacked = o->width > 0 && width > o->width;
    print_cells(o, &t.layout, headings, faint);
    each_row(r, fail_on, print_row, &t);
    return t.rows;
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

        if (unread ? !problem_kind_blocks_evaluation(p.kind) : p.kind != PROBLEM_FOREIGN)
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

static void print_wrapped(struct output *o, const char *text)
{
    CLEANUP(strbuf_release) struct strbuf safe = STRBUF_INIT(SAFE_MAX_BYTES);

    output_escape(&safe, text);
    output_wrap(&o->text, safe.data, 0, 0, o->width);
    strbuf_addc(&o->text, '\n');
}

/* Prints text such as "Read 4 files with 3 templates (3 unbound), 2 policies and 0 bindings." */
static void print_sources(const struct check_result *r, const struct fail_on *fail_on,
                          struct output *o)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);
    size_t files = manifests_file_count(r->evaluation->manifests);
    const char *between = " (";

    if (r->evaluation->session)
        strbuf_addf(&line, "Read %s", kube_session_server_url(r->evaluation->session));
    else
        strbuf_addf(&line, "Read %zu file%s", files, plural_suffix(files));
    strbuf_addf(&line, " with %zu template%s", r->templates, plural_suffix(r->templates));
    for (unsigned i = 0; i < STATE_COUNT; i++) {
        if (r->states[i] == 0)
            continue;
        strbuf_addf(&line, "%s%zu %s", between, r->states[i], state_names[i]);
        between = ", ";
    }
    strbuf_addf(&line, "%s, %zu polic%s and %zu binding%s.", r->templates > 0 ? ")" : "",
                r->policies, r->policies == 1 ? "y" : "ies", r->bindings,
                plural_suffix(r->bindings));
    if (r->not_selected > 0 && !(fail_on->conditions >> NORMAL_KIND_NOT_SELECTED & 1))
        strbuf_addf(&line, " Not listed: %zu pending template%s of kinds that no policy selects.",
                    r->not_selected, plural_suffix(r->not_selected));
    if (r->pending_count > 0)
        strbuf_addf(&line, " Not listed: %zu problem%s younger than the patience.",
                    r->pending_count, plural_suffix(r->pending_count));
    print_wrapped(o, line.data);
}

static bool problem_fails(const struct check_result *r, const struct problem *p,
                          const struct fail_on *fail_on)
{
    const struct problems *ps = engine_problems(r->evaluation->engine);

    return fail_on_names_reason(fail_on, p->reason) ||
           (problem_counts(p) && fail_on->severities >> problem_severity(ps, problem_id(p)) & 1);
}

static size_t count_failing(const struct check_result *r, const struct fail_on *fail_on)
{
    size_t count = 0;

    for (size_t i = 0; i < r->shown_count; i++)
        count += problem_fails(r, r->shown[i], fail_on);
    for (size_t i = 0; i < r->hidden_count; i++)
        count += problem_fails(r, r->hidden[i].problem, fail_on);
    for (unsigned i = 0; i < NORMAL_CONDITION_COUNT; i++)
        count += fail_on->conditions >> i & 1 ? r->normal[i].count : 0;
    return count;
}

/* Appends a number with its noun to a list; nothing if the number is 0. */
static void add_number(struct strbuf *line, size_t count, const char *one, const char *many)
{
    if (count > 0)
        strbuf_addf(line, "%s%zu %s", line->len > 0 ? ", " : "Found ", count,
                    count == 1 ? one : many);
}

/* Prints the numbers of the listed problems, and how many fail: "Found 2 warnings; 2 fail …". */
static void print_summary(const struct check_result *r, const struct fail_on *fail_on,
                          struct output *o)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf wrapped = STRBUF_INIT(LINE_MAX_BYTES);
    size_t failing = count_failing(r, fail_on), normal = 0;
    bool found;

    for (unsigned i = 0; i < NORMAL_CONDITION_COUNT; i++)
        normal += fail_on->conditions >> i & 1 ? r->normal[i].count : 0;
    add_number(&line, r->counts.severities[SEVERITY_CRITICAL], "critical problem",
               "critical problems");
    add_number(&line, r->counts.severities[SEVERITY_WARNING], "warning", "warnings");
    add_number(&line, r->counts.severities[SEVERITY_INFO], "info", "infos");
    add_number(&line, r->hidden_count, "hidden problem", "hidden problems");
    add_number(&line, normal, "condition that is no problem", "conditions that are no problem");
    found = line.len > 0;
    if (failing > 0)
        strbuf_addf(&line, "; %zu fail%s this check", failing, failing == 1 ? "s" : "");
    else if (found)
        strbuf_addf(&line, "; none fails this check%s",
                    fail_on_is_empty(fail_on) ? ", because --fail-on is empty" : "");
    else
        strbuf_adds(&line,
                    r->complete ? "Found no problems" : "Found no problems in what was read");
    strbuf_adds(&line, r->counts.unread > 0 ? ". Not everything could be read." : ".");
    output_wrap(&wrapped, line.data, 0, 0, o->width);
    output_add_styled(o,
                      failing > 0 || (!found && !r->complete) ? STYLE_BAD
                      : found                                 ? STYLE_CAUTION
                                                              : STYLE_GOOD,
                      wrapped.data);
    strbuf_addc(&o->text, '\n');
}

void check_result_print(const struct check_result *r, const struct fail_on *fail_on, int64_t now_ms,
                        struct output *o)
{
    print_table(r, fail_on, now_ms, o);
    print_manifest_problems(r, "Notes", false, r->notes, o);
    print_manifest_problems(r, "Not read", true, r->unread, o);
    print_sources(r, fail_on, o);
    print_summary(r, fail_on, o);
}

/* ---- collection ---- */

static size_t count_missing_kinds(const struct kube_session *session)
{
    const struct kube_source *source = session ? kube_session_source(session) : NULL;
    size_t count = 0;

    for (size_t i = 0; source && i < kube_source_missing_kind_count(source); i++)
        count += missing_kind_is_failure(kube_source_missing_kind(source, i));
    return count;
}

static int compare_causes(const void *a, const void *b)
{
    const struct hidden_problem *x = a, *y = b;
    uintptr_t cause = (uintptr_t)x->problem->cause, other = (uintptr_t)y->problem->cause;

    if (cause != other)
        return cause < other ? -1 : 1;
    return (x->position > y->position) - (x->position < y->position);
}

static void collect_hidden(struct check_result *r, const struct problems *ps)
{
    const struct problem **list = problems_list(ps, 1U << PROBLEM_HIDDEN, &r->hidden_count);

    r->hidden = xcalloc(r->hidden_count + 1, sizeof(*r->hidden));
    for (size_t i = 0; i < r->hidden_count; i++)
        r->hidden[i] = (struct hidden_problem){list[i], i};
    if (r->hidden_count > 1)
        qsort(r->hidden, r->hidden_count, sizeof(*r->hidden), compare_causes);
    free(list);
}

static void collect_problems(struct check_result *r)
{
    const struct problems *ps = engine_problems(r->evaluation->engine);
    struct problem_walk walk = {0};
    const struct problem *p;

    if (!ps)
        return;
    while ((p = problems_next(ps, &walk))) {
        r->pending_count += p->status == PROBLEM_PENDING;
        if (p->status == PROBLEM_HIDDEN)
            r->counts.hidden[p->reason]++;
        if (!problem_counts(p))
            continue;
        r->counts.open[p->reason]++;
        r->counts.severities[problem_severity(ps, problem_id(p))]++;
    }
    r->shown = problems_list(ps, 1U << PROBLEM_OPEN | 1U << PROBLEM_RESOLVING, &r->shown_count);
    collect_hidden(r, ps);
}

/* Returns true if the template has an instance of not_propagated, in any status. */
static bool has_propagation_problem(const struct problems *ps, const struct entry *template)
{
    const struct problem *p = ps ? problems_of(ps, template) : NULL;

    while (p && problem_id(p) != PROBLEM_NOT_PROPAGATED)
        p = problems_next_of(p);
    return p != NULL;
}

/* Returns the condition of a template that is no problem; NORMAL_CONDITION_COUNT without one. */
static enum normal_condition find_normal_condition(const struct check_result *r,
                                                   const struct entry *template)
{
    const struct template_decision *d = template_decision(template);

    if (has_propagation_problem(engine_problems(r->evaluation->engine), template))
        return NORMAL_CONDITION_COUNT;
    if (d->state == STATE_PENDING && d->reason == PENDING_KIND_NOT_SELECTED)
        return NORMAL_KIND_NOT_SELECTED;
    if (d->state == STATE_PENDING && d->reason == PENDING_NO_MATCH)
        return NORMAL_NO_MATCH;
    if (d->state == STATE_UNBOUND && d->stages.at.reason == WHY_WAITING)
        return NORMAL_WAITING;
    return NORMAL_CONDITION_COUNT;
}

static void collect_object(struct check_result *r, struct entry *entry)
{
    const struct template_decision *d = template_decision(entry);
    enum normal_condition condition;

    r->objects++;
    r->bindings += entry_class(entry) == CLASS_BINDING;
    r->policies += entry_class(entry) == CLASS_POLICY;
    if (!d)
        return;
    r->templates++;
    r->states[d->state]++;
    r->not_selected += d->state == STATE_PENDING && d->reason == PENDING_KIND_NOT_SELECTED;
    condition = find_normal_condition(r, entry);
    if (condition == NORMAL_CONDITION_COUNT)
        return;
    r->counts.normal[condition]++;
    entry_list_add(&r->normal[condition], entry);
}

static int compare_entries(const void *a, const void *b)
{
    return entry_compare(*(const struct entry *const *)a, *(const struct entry *const *)b);
}

static void collect_objects(struct check_result *r)
{
    struct store_walk walk = store_walk_begin(r->evaluation->store, (1U << CLASS_COUNT) - 1);
    struct entry *entry;

    while ((entry = store_walk_next(&walk))) {
        if (entry_exists(entry))
            collect_object(r, entry);
    }
    store_walk_stop(&walk);
    for (unsigned i = 0; i < NORMAL_CONDITION_COUNT; i++) {
        if (r->normal[i].count > 1)
            qsort(r->normal[i].items, r->normal[i].count, sizeof(struct entry *), compare_entries);
    }
}

void check_result_make(struct check_result *r, const struct evaluation *e)
{
    *r = (struct check_result){.evaluation = e};
    for (size_t i = 0; i < manifests_problem_count(e->manifests); i++) {
        enum problem_kind kind = manifests_problem(e->manifests, i).kind;

        r->unread += problem_kind_blocks_evaluation(kind);
        r->notes += kind == PROBLEM_FOREIGN;
    }
    r->counts.unread = r->unread + (*asset_source_problem(e->assets) != '\0');
    r->counts.missing = count_missing_kinds(e->session);
    r->complete = r->counts.unread == 0 && r->counts.missing == 0;
    collect_problems(r);
    collect_objects(r);
}

void check_result_release(struct check_result *r)
{
    free(r->shown);
    free(r->hidden);
    for (unsigned i = 0; i < NORMAL_CONDITION_COUNT; i++)
        entry_list_release(&r->normal[i]);
    *r = (struct check_result){.evaluation = NULL};
}
