/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/check_text.h"

#include "exporter/text/object_name.h"
#include "exporter/text/place_text.h"
#include "exporter/text/rendering_text.h"
#include "exporter/text/skipped_files.h"
#include "exporter/text/suppression_text.h"
#include "metrics/base/timestamp.h"
#include "metrics/expose/decision_text.h"
#include "metrics/expose/problem_text.h"
#include "metrics/rules/prediction.h"
#include "metrics/rules/replica_projection.h"

enum {
    PLACES_SHOWN = 10, /* Declarations of an object that do not count. */
    INDENT = 2,
    OBJECT_INDENT = 4,
    CAUSES_MAX = 5,       /* Causes of one group that are printed one by one. */
    OBJECTS_COLUMNS = 14, /* Width of "100000 objects". */
    AGE_COLUMNS = 10,     /* Width of "  for 9999d". */
    NAMES_SHOWN = 3,      /* Names in the last line; the others are counted. */
    NAME_COLUMNS = 48,    /* Maximum width of a name in a sentence, if the width is limited. */
    LINE_MAX_BYTES = 64 * 1024,
    SAFE_MAX_BYTES = 4 * LINE_MAX_BYTES, /* Escaping makes at most four bytes of one. */
};

/* ---- rows ---- */

/* One row: a problem, or a template with a condition that is no problem. */
struct check_row {
    const struct problem *problem; /* NULL: see `template`. */
    const struct entry *template;
    enum normal_condition condition;
};

/* Rows with equal problem and reason, in the order of the contract. */
struct check_group {
    struct check_row *rows;
    size_t count;
};

enum { GROUP_KEYS = PROBLEM_REASON_COUNT + NORMAL_CONDITION_COUNT };

/* All rows by group: problems, then the conditions that --fail-on names. */
struct check_groups {
    struct check_group items[GROUP_KEYS]; /* Each row array is owned. */
    unsigned order[GROUP_KEYS];           /* Indexes of `items`, in the order of the first rows. */
    size_t count;                         /* Number of indexes in `order`. */
};

static void append_row(struct check_group *group, const struct check_row *row)
{
    /* The capacity is a power of two and doubles when the array is full. */
    if ((group->count & (group->count - 1)) == 0)
        group->rows =
            xreallocarray(group->rows, group->count ? group->count * 2 : 1, sizeof(*group->rows));
    group->rows[group->count++] = *row;
}

static void add_row(struct check_groups *g, unsigned key, const struct check_row *row)
{
    if (g->items[key].count == 0)
        g->order[g->count++] = key;
    append_row(&g->items[key], row);
}

static struct check_groups *make_groups(const struct check_result *r, const struct fail_on *fail_on)
{
    struct check_groups *g = xcalloc(1, sizeof(*g));

    for (size_t i = 0; i < r->shown_count; i++)
        add_row(g, r->shown[i]->reason, &(struct check_row){.problem = r->shown[i]});
    for (unsigned k = 0; k < NORMAL_CONDITION_COUNT; k++) {
        for (size_t i = 0; i < r->normal[k].count && fail_on->conditions >> k & 1; i++)
            add_row(g, PROBLEM_REASON_COUNT + k,
                    &(struct check_row){.template = r->normal[k].items[i], .condition = k});
    }
    return g;
}

static void free_groups(struct check_groups *g)
{
    for (size_t i = 0; i < GROUP_KEYS; i++)
        free(g->items[i].rows);
    free(g);
}

static bool hides_problem(const struct check_result *r, const struct problem *cause)
{
    size_t at = check_result_find_hidden(r, cause);

    return at < r->hidden_count && r->hidden[at].problem->cause == cause;
}

/* ---- cells ---- */

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

static void add_subject(struct strbuf *out, const struct check_row *row)
{
    if (row->problem)
        problem_add_subject(row->problem, out);
    else
        object_name_add(out, row->template);
}

/* Appends the age, such as "for 7d"; "-" if no object proves it. */
static void add_since(const struct check_result *r, const struct check_row *row, int64_t now_ms,
                      struct strbuf *out)
{
    const struct problems *ps = engine_problems(r->evaluation->engine);
    int64_t since_ms = row->problem ? problem_since_ms(ps, row->problem) : 0;

    strbuf_adds(out, since_ms > 0 ? "for " : "-");
    if (since_ms > 0)
        add_age(out, now_ms - since_ms);
}

static void add_cluster(void *context, const char *cluster)
{
    struct strbuf *out = context;

    strbuf_addf(out, "%s%s", out->len > 0 ? ", " : "", cluster);
}

/* Appends the member clusters of a problem with commas; nothing without one. */
static void add_clusters(const struct check_result *r, const struct check_row *row,
                         struct strbuf *out)
{
    if (row->problem)
        problem_each_cluster_of_reason(r->evaluation->engine, row->problem, add_cluster, out);
}

/* Appends the places of an object that files declare more than once: the one that counts first. */
static void add_declarations(const struct check_result *r, const struct problem *p,
                             struct strbuf *out)
{
    const struct location_source source = evaluation_locations(r->evaluation);
    const struct entry *subject = problem_subject_entry(r->evaluation->engine, p);
    struct location at;

    if (problem_id(p) != PROBLEM_DUPLICATE_OBJECT || !subject ||
        !source.find(source.context, subject, "", &at))
        return;
    place_add(out, &at);
    strbuf_adds(out, " counts");
    for (size_t i = 0; source.find_earlier(source.context, subject, i, &at); i++) {
        if (i == PLACES_SHOWN) {
            strbuf_adds(out, " and further ones");
            break;
        }
        strbuf_adds(out, i == 0 ? ", not " : ", ");
        place_add(out, &at);
    }
}

/* Names of other objects that take part in a problem. */
struct related_names {
    struct strbuf *out;
    size_t count;
};

static void add_related_name(void *context, const struct entry *related)
{
    struct related_names *names = context;

    if (names->count++ > 0)
        return;
    strbuf_adds(names->out, "with ");
    object_name_add(names->out, related);
}

/* Appends text such as "with PubSubTopic team-b/t and 2 more"; nothing without another object. */
static void add_related(const struct check_result *r, const struct check_row *row,
                        struct strbuf *out)
{
    struct related_names names = {.out = out};

    if (!row->problem)
        return;
    problem_each_related(r->evaluation->engine, row->problem, add_related_name, &names);
    if (names.count > 1)
        strbuf_addf(out, " and %zu more", names.count - 1);
    add_declarations(r, row->problem, out);
}

static void add_policy(const struct check_row *row, struct strbuf *out)
{
    const struct entry *policy = row->problem ? problem_policy(row->problem) : NULL;

    if (policy && policy != row->problem->subject)
        object_name_add(out, policy);
}

static const char *owner_of(const struct check_row *row)
{
    const char *owner = row->problem ? problem_owner(row->problem) : NULL;

    return owner ? owner : "";
}

/* ---- groups ---- */

static const enum output_style severity_styles[] = {[SEVERITY_CRITICAL] = STYLE_BAD,
                                                    [SEVERITY_WARNING] = STYLE_CAUTION,
                                                    [SEVERITY_INFO] = STYLE_PLAIN,
                                                    [SEVERITY_COUNT] = STYLE_FAINT};

static enum problem_severity severity_of(const struct check_result *r, const struct check_row *row)
{
    return row->problem
               ? problem_severity(engine_problems(r->evaluation->engine), problem_id(row->problem))
               : SEVERITY_COUNT;
}

static const char *severity_name(enum problem_severity severity)
{
    return severity < SEVERITY_COUNT ? severity_names[severity] : "none";
}

static void add_problem_name(struct strbuf *out, const struct check_row *row)
{
    if (row->problem)
        problem_reason_name_add(out, row->problem->reason);
    else
        strbuf_adds(out, normal_condition_names[row->condition]);
}

/* Prints a wrapped line. */
static void print_sentence(struct output *o, size_t indent, const char *text)
{
    CLEANUP(strbuf_release) struct strbuf safe = STRBUF_INIT(SAFE_MAX_BYTES);

    output_escape(&safe, text);
    strbuf_addf(&o->text, "%*s", (int)indent, "");
    output_wrap(&o->text, safe.data, indent, indent, o->width);
    strbuf_addc(&o->text, '\n');
}

/*
 * Appends object, owner and age of a row to its heading. Returns false if the heading with an age
 * of any length is wider than the output.
 */
static bool add_object_to_heading(const struct check_result *r, const struct check_row *row,
                                  size_t columns, int64_t now_ms, const struct output *o,
                                  struct strbuf *out)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(LINE_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf since = STRBUF_INIT(LINE_MAX_BYTES);

    add_subject(&text, row);
    if (*owner_of(row))
        strbuf_addf(&text, "  owner %s", owner_of(row));
    output_escape(out, text.data);
    columns += output_count_columns(out->data) + AGE_COLUMNS;
    add_since(r, row, now_ms, &since);
    if (strcmp(since.data, "-") != 0)
        strbuf_addf(out, "  %s", since.data);
    return o->width == 0 || columns <= o->width;
}

/*
 * Prints text such as "warning  not_propagated/no_match  7 objects". Returns true if the heading
 * names the object: the only one, which hides no problem, if the line is not too long.
 */
static bool print_group_heading(const struct check_result *r, const struct check_group *g,
                                int64_t now_ms, struct output *o)
{
    enum problem_severity severity = severity_of(r, g->rows);
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(LINE_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf object = STRBUF_INIT(SAFE_MAX_BYTES);
    bool one = g->count == 1 && !hides_problem(r, g->rows->problem);
    size_t columns;

    add_problem_name(&name, g->rows);
    columns = strlen(severity_name(severity)) + name.len + 4;
    one = add_object_to_heading(r, g->rows, columns, now_ms, o, &object) && one;
    output_add_styled(o, severity_styles[severity], severity_name(severity));
    strbuf_adds(&o->text, "  ");
    output_add_styled(o, STYLE_HEADING, name.data);
    if (one)
        strbuf_addf(&o->text, "  %s\n", object.data);
    else
        strbuf_addf(&o->text, "%s  %zu object%s\n",
                    o->width > 0 && columns + OBJECTS_COLUMNS > o->width ? "\n" : "", g->count,
                    g->count == 1 ? "" : "s");
    return one;
}

/* Prints the place of the object in the heading, if it comes from a file. */
static void print_place(const struct check_result *r, const struct check_row *row, struct output *o)
{
    CLEANUP(strbuf_release) struct strbuf place = STRBUF_INIT(LINE_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf safe = STRBUF_INIT(SAFE_MAX_BYTES);

    place_add_of_subject(&place, r->evaluation, row->problem, row->template);
    if (place.len == 0)
        return;
    output_escape(&safe, place.data);
    strbuf_addf(&o->text, "%*s", INDENT, "");
    output_shorten(&o->text, safe.data, o->width > 0 ? o->width - INDENT : 0);
    strbuf_addc(&o->text, '\n');
}

/* Rows of a group by their cause: at most CAUSES_MAX. */
struct causes {
    struct strbuf texts[CAUSES_MAX];
    struct check_group groups[CAUSES_MAX]; /* Owned, with owned rows. */
    size_t count;
};

static void causes_release(struct causes *c)
{
    for (size_t i = 0; i < c->count; i++) {
        strbuf_release(&c->texts[i]);
        free(c->groups[i].rows);
    }
    c->count = 0;
}

/* Sorts the rows by cause. Returns false if there are more than CAUSES_MAX causes. */
static bool split_by_cause(const struct check_result *r, const struct check_group *g,
                           struct causes *out)
{
    const struct engine *engine = r->evaluation->engine;

    *out = (struct causes){.count = 0};
    for (size_t i = 0; i < g->count; i++) {
        CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(LINE_MAX_BYTES);
        size_t at = 0;

        if (g->rows[i].problem)
            problem_add_common_cause(engine, g->rows[i].problem, true, &text);
        else
            strbuf_adds(&text, normal_condition_texts[g->rows[i].condition].cause);
        while (at < out->count && strcmp(out->texts[at].data, text.data) != 0)
            at++;
        if (at == CAUSES_MAX)
            return false;
        if (at == out->count) {
            out->texts[at] = STRBUF_INIT(LINE_MAX_BYTES);
            strbuf_adds(&out->texts[at], text.data);
            out->groups[at] = (struct check_group){.rows = NULL};
            out->count++;
        }
        append_row(&out->groups[at], &g->rows[i]);
    }
    return true;
}

/* Prints the cause of a group: with the name of the object, if there is only one. */
static void print_cause(const struct check_result *r, const struct check_group *g,
                        const char *common, struct output *o)
{
    CLEANUP(strbuf_release) struct strbuf cause = STRBUF_INIT(LINE_MAX_BYTES);

    if (g->count == 1 && g->rows->problem)
        problem_add_cause(r->evaluation->engine, g->rows->problem, &cause);
    else
        strbuf_adds(&cause, common);
    print_sentence(o, INDENT, cause.data);
    if (g->count != 1 || !g->rows->problem)
        return;
    strbuf_reset(&cause);
    add_declarations(r, g->rows->problem, &cause);
    if (cause.len > 0)
        strbuf_addc(&cause, '.');
    if (cause.len > 0)
        print_sentence(o, INDENT, cause.data);
}

static void print_action(const struct check_result *r, const struct check_row *row,
                         struct output *o)
{
    CLEANUP(strbuf_release) struct strbuf action = STRBUF_INIT(LINE_MAX_BYTES);

    if (row->problem) {
        strbuf_addf(&action, "Action (%s): ", actor_title(problem_actor(row->problem)));
        problem_add_action(r->evaluation->engine, row->problem, &action);
    } else {
        strbuf_addf(&action, "Action: %s", normal_condition_texts[row->condition].action);
    }
    print_sentence(o, INDENT, action.data);
}

/* Columns of a group after the object. */
struct row_columns {
    bool since;
    bool owner;
    bool policy;
    bool clusters;
    bool related;
    bool place;
};

static struct row_columns find_columns(const struct check_result *r, const struct check_group *g,
                                       bool named)
{
    const struct problems *ps = engine_problems(r->evaluation->engine);
    struct row_columns c = {.since = false};

    for (size_t i = 0; i < g->count; i++) {
        const struct check_row *row = &g->rows[i];
        CLEANUP(strbuf_release) struct strbuf policy = STRBUF_INIT(LINE_MAX_BYTES);
        CLEANUP(strbuf_release) struct strbuf clusters = STRBUF_INIT(LINE_MAX_BYTES);
        CLEANUP(strbuf_release) struct strbuf related = STRBUF_INIT(LINE_MAX_BYTES);
        CLEANUP(strbuf_release) struct strbuf place = STRBUF_INIT(LINE_MAX_BYTES);

        place_add_of_subject(&place, r->evaluation, row->problem, row->template);
        c.place |= place.len > 0;
        c.since |= row->problem && problem_since_ms(ps, row->problem) > 0;
        c.owner |= *owner_of(row) != '\0';
        c.related |= row->problem && problem_id(row->problem) == PROBLEM_DUPLICATE_OBJECT;
        if (named)
            continue;
        add_policy(row, &policy);
        add_clusters(r, row, &clusters);
        c.policy |= policy.len > 0;
        add_related(r, row, &related);
        c.clusters |= clusters.len > 0;
        c.related |= related.len > 0;
    }
    return c;
}

static void add_object_cells(struct table *t, const struct check_result *r,
                             const struct check_row *row, const struct row_columns *c,
                             int64_t now_ms)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(LINE_MAX_BYTES);

    add_subject(&text, row);
    table_add(t, STYLE_PLAIN, text.data);
    if (c->since) {
        strbuf_reset(&text);
        add_since(r, row, now_ms, &text);
        table_add(t, STYLE_PLAIN, text.data);
    }
    if (c->owner)
        table_addf(t, STYLE_PLAIN, "%s%s", *owner_of(row) ? "owner " : "", owner_of(row));
    if (c->policy) {
        strbuf_reset(&text);
        add_policy(row, &text);
        table_add(t, STYLE_PLAIN, text.data);
    }
    if (c->clusters) {
        strbuf_reset(&text);
        add_clusters(r, row, &text);
        table_add(t, STYLE_PLAIN, text.data);
    }
    if (c->related) {
        strbuf_reset(&text);
        add_related(r, row, &text);
        table_add(t, STYLE_PLAIN, text.data);
    }
    if (c->place) {
        strbuf_reset(&text);
        place_add_of_subject(&text, r->evaluation, row->problem, row->template);
        table_add(t, STYLE_PLAIN, text.data);
    }
}

/* Adds a row for each problem that `cause` hides. */
static void add_hidden_rows(struct table *t, const struct check_result *r,
                            const struct problem *cause)
{
    for (size_t i = check_result_find_hidden(r, cause);
         i < r->hidden_count && r->hidden[i].problem->cause == cause; i++) {
        CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);

        strbuf_adds(&line, "  hides ");
        problem_reason_name_add(&line, r->hidden[i].problem->reason);
        strbuf_adds(&line, " of ");
        problem_add_subject(r->hidden[i].problem, &line);
        table_add(t, STYLE_FAINT, line.data);
        for (size_t k = 1; k < t->column_count; k++)
            table_add(t, STYLE_PLAIN, "");
    }
}

/*
 * Prints one line for each object, unless `in_heading`, and one for each place of the other
 * objects.
 */
static void print_objects(const struct check_result *r, const struct check_group *g, bool named,
                          bool in_heading, int64_t now_ms, struct output *o)
{
    struct row_columns c = find_columns(r, g, named);
    struct place_list places = {.count = 0};
    size_t columns = 1 + (size_t)c.since + c.owner + c.policy + c.clusters + c.related;

    if (in_heading) {
        c = (struct row_columns){.place = true};
        columns = 1;
    }
    for (size_t i = 0; i < g->count && c.place; i++) {
        if (g->rows[i].problem)
            place_list_add(&places, r->evaluation, g->rows[i].problem);
    }

    CLEANUP(table_release) struct table t = table_make(NULL, columns + c.place, OBJECT_INDENT);

    /* All columns but the age and the place. */
    t.shortened = ~((c.since ? 1U << 1 : 0U) | (c.place ? 1U << columns : 0U));
    t.whole_last = c.place;
    for (size_t i = 0; i < g->count && !in_heading; i++) {
        add_object_cells(&t, r, &g->rows[i], &c, now_ms);
        if (g->rows[i].problem)
            add_hidden_rows(&t, r, g->rows[i].problem);
    }
    place_list_add_rows(&places, &t);
    if (t.cell_count > 0)
        table_print(&t, o);
}

/*
 * Prints the causes with their objects, and the action once. With too many causes, prints a cause
 * without the other parties, which are in the lines of the objects.
 */
static void print_group_body(const struct check_result *r, const struct check_group *g,
                             bool object_is_named, int64_t now_ms, struct output *o)
{
    CLEANUP(strbuf_release) struct strbuf general = STRBUF_INIT(LINE_MAX_BYTES);
    struct causes causes;
    bool split = split_by_cause(r, g, &causes);

    if (!split)
        problem_add_common_cause(r->evaluation->engine, g->rows->problem, false, &general);
    if (!split || causes.count == 1) {
        print_cause(r, g, split ? causes.texts[0].data : general.data, o);
        print_action(r, g->rows, o);
        print_objects(r, g, split, object_is_named, now_ms, o);
    } else {
        print_action(r, g->rows, o);
        for (size_t i = 0; i < causes.count; i++) {
            print_cause(r, &causes.groups[i], causes.texts[i].data, o);
            print_objects(r, &causes.groups[i], true, false, now_ms, o);
        }
    }
    causes_release(&causes);
}

static void print_groups(const struct check_result *r, const struct fail_on *fail_on,
                         int64_t now_ms, struct output *o)
{
    struct check_groups *groups = make_groups(r, fail_on);

    for (size_t i = 0; i < groups->count; i++) {
        const struct check_group *g = &groups->items[groups->order[i]];
        bool object_is_named;

        strbuf_addc(&o->text, '\n');
        object_is_named = print_group_heading(r, g, now_ms, o);
        if (object_is_named)
            print_place(r, g->rows, o);
        print_group_body(r, g, object_is_named, now_ms, o);
    }
    free_groups(groups);
}

/* ---- table with all columns ---- */

/* Adds the text as a cell, "-" for an empty text, and empties it. */
static void add_text_cell(struct table *t, struct strbuf *text)
{
    table_add(t, STYLE_PLAIN, text->len > 0 ? text->data : "-");
    strbuf_reset(text);
}

static void add_cause_cells(struct table *t, const struct check_result *r,
                            const struct check_row *row)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(LINE_MAX_BYTES);
    const struct engine *engine = r->evaluation->engine;

    if (!row->problem) {
        table_add(t, STYLE_PLAIN, normal_condition_texts[row->condition].cause);
        table_add(t, STYLE_PLAIN, normal_condition_texts[row->condition].action);
        return;
    }
    problem_add_cause(engine, row->problem, &text);
    add_text_cell(t, &text);
    problem_add_action(engine, row->problem, &text);
    add_text_cell(t, &text);
}

/* Adds the row of a problem or a condition, in the order of the headings of print_wide(). */
static void add_wide_row(struct table *t, const struct check_result *r, const struct check_row *row)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(LINE_MAX_BYTES);
    const struct problem *p = row->problem;
    enum problem_severity severity = severity_of(r, row);
    int64_t since_ms = p ? problem_since_ms(engine_problems(r->evaluation->engine), p) : 0;
    char since[32] = "-";

    table_add(t, severity_styles[severity], severity_name(severity));
    add_problem_name(&text, row);
    add_text_cell(t, &text);
    table_add(t, STYLE_PLAIN, p ? problem_status_names[p->status] : "-");
    add_subject(&text, row);
    add_text_cell(t, &text);
    if (since_ms > 0)
        format_timestamp(since_ms, since);
    table_add(t, STYLE_PLAIN, since);
    strbuf_adds(&text, owner_of(row));
    add_text_cell(t, &text);
    table_add(t, STYLE_PLAIN, p ? actor_names[problem_actor(p)] : "-");
    add_policy(row, &text);
    add_text_cell(t, &text);
    add_clusters(r, row, &text);
    add_text_cell(t, &text);
    place_add_of_subject(&text, r->evaluation, row->problem, row->template);
    add_text_cell(t, &text);
    add_cause_cells(t, r, row);
}

/* Prints one table of all rows; hidden problems are behind their cause. */
static void print_wide(const struct check_result *r, const struct fail_on *fail_on,
                       struct output *o)
{
    static const char *const headings[] = {"SEVERITY", "PROBLEM",  "STATUS", "OBJECT",
                                           "SINCE",    "OWNER",    "ACTOR",  "POLICY",
                                           "CLUSTERS", "LOCATION", "CAUSE",  "ACTION"};
    CLEANUP(table_release) struct table t = table_make(headings, ARRAY_LEN(headings), 0);

    for (size_t i = 0; i < r->shown_count; i++) {
        add_wide_row(&t, r, &(struct check_row){.problem = r->shown[i]});
        for (size_t k = check_result_find_hidden(r, r->shown[i]);
             k < r->hidden_count && r->hidden[k].problem->cause == r->shown[i]; k++)
            add_wide_row(&t, r, &(struct check_row){.problem = r->hidden[k].problem});
    }
    for (unsigned k = 0; k < NORMAL_CONDITION_COUNT; k++) {
        for (size_t i = 0; i < r->normal[k].count && fail_on->conditions >> k & 1; i++)
            add_wide_row(&t, r,
                         &(struct check_row){.template = r->normal[k].items[i], .condition = k});
    }
    if (t.cell_count == 0)
        return;
    strbuf_addc(&o->text, '\n');
    table_print(&t, o);
}

/* ---- manifests and summary ---- */

typedef bool selects_fn(const struct check_result *r, const struct manifest_problem *p);

static bool is_repeated_key(const struct check_result *r, const struct manifest_problem *p)
{
    (void)r;
    return p->kind == PROBLEM_REPEATED_KEY;
}

/* Prints the `count` documents and files that `selects` selects. */
static void print_manifest_problems(const struct check_result *r, const char *title,
                                    selects_fn *selects, size_t count, struct output *o)
{
    const struct manifests *m = r->evaluation->manifests;
    CLEANUP(table_release) struct table t = table_make(NULL, 2, INDENT);
    CLEANUP(strbuf_release) struct strbuf place = STRBUF_INIT(LINE_MAX_BYTES);

    if (count == 0)
        return;
    strbuf_addc(&o->text, '\n');
    output_add_section(o, title, count);
    for (size_t i = 0; i < manifests_problem_count(m); i++) {
        struct manifest_problem p = manifests_problem(m, i);

        if (!selects(r, &p))
            continue;
        strbuf_reset(&place);
        manifest_problem_append_place(&p, &place);
        table_add(&t, STYLE_PLAIN, place.data);
        table_add(&t,
                  selects == is_repeated_key          ? STYLE_CAUTION
                  : selects == check_result_is_unread ? STYLE_BAD
                                                      : STYLE_PLAIN,
                  p.text);
    }
    table_print(&t, o);
}

/* Prints the templates that Karmada will not place, with the outcome and its reason. */
static void print_not_placed(const struct check_result *r, struct output *o)
{
    enum { ROWS_SHOWN = 20 };
    CLEANUP(table_release) struct table t = table_make(NULL, 2, INDENT);

    if (r->not_placed.count == 0)
        return;
    strbuf_addc(&o->text, '\n');
    output_add_section(o, "Templates that Karmada will not place", r->not_placed.count);
    for (size_t i = 0; i < r->not_placed.count && i < ROWS_SHOWN; i++) {
        CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(LINE_MAX_BYTES);
        struct projection projection;
        struct predicted predicted =
            predict_template(r->evaluation->engine, r->not_placed.items[i], &projection);

        projection_release(store_string_pool(r->evaluation->store), &projection);
        object_name_add(&name, r->not_placed.items[i]);
        table_add(&t, STYLE_PLAIN, name.data);
        table_addf(&t, STYLE_CAUTION, "%s (%s)", prediction_names[predicted.outcome],
                   predicted.reason);
    }
    table_print(&t, o);
    if (r->not_placed.count > ROWS_SHOWN)
        output_add_line(o, INDENT, "More are in --output json, member outcome.");
}

static const char *plural_suffix(size_t count)
{
    return count == 1 ? "" : "s";
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
        strbuf_addf(&line, " Not listed: %zu problem%s with a duration below --problems.patience.",
                    r->pending_count, plural_suffix(r->pending_count));
    print_sentence(o, 0, line.data);
}

static size_t count_failing(const struct check_result *r, const struct fail_on *fail_on)
{
    size_t count = 0;

    for (size_t i = 0; i < r->shown_count; i++)
        count += check_result_fails(r, r->shown[i], fail_on);
    for (size_t i = 0; i < r->hidden_count; i++)
        count += check_result_fails(r, r->hidden[i].problem, fail_on);
    for (unsigned i = 0; i < NORMAL_CONDITION_COUNT; i++)
        count += fail_on->conditions >> i & 1 ? r->normal[i].count : 0;
    return count;
}

/* Appends a number with its noun to a list, unless the number is 0. */
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
        strbuf_addf(&line, "Found no %sproblems%s", r->numbers.known > 0 ? "new " : "",
                    r->complete ? "" : " in the data that was read");
    suppression_add_counts(r, &line);
    if (!found && r->not_placed.count > 0)
        strbuf_addf(&line, "; Karmada will not place %zu template%s", r->not_placed.count,
                    r->not_placed.count == 1 ? "" : "s");
    strbuf_adds(&line, r->counts.unread > 0 ? ". Not everything could be read." : ".");
    output_wrap(&wrapped, line.data, 0, 0, o->width);
    output_add_styled(o,
                      failing > 0 || (!found && !r->complete) ? STYLE_BAD
                      : found || r->not_placed.count > 0      ? STYLE_CAUTION
                                                              : STYLE_GOOD,
                      wrapped.data);
    strbuf_addc(&o->text, '\n');
}

/* Prints what --problem and --namespace leave out. */
static void print_release(const struct check_result *r, struct output *o)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);

    release_range_describe(engine_release(r->evaluation->engine), &line);
    strbuf_addc(&line, '.');
    print_sentence(o, 0, line.data);
}

static void print_filter(const struct check_result *r, struct output *o)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);
    const struct problem_filter *f = &r->filter;

    if (f->problem != PROBLEM_COUNT)
        strbuf_addf(&line, "the problem %s%s%s", problem_names[f->problem], f->reason ? "/" : "",
                    f->reason ? f->reason : "");
    if (f->ns)
        strbuf_addf(&line, "%sthe namespace %s", line.len > 0 ? " and " : "", f->ns);
    if (line.len == 0)
        return;
    strbuf_addc(&line, '.');

    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(LINE_MAX_BYTES);

    strbuf_addf(&text, "Problems are limited to %s", line.data);
    print_sentence(o, 0, text.data);
}

/* The last line: the number of rows that fail, and the names of the first. */
struct exit_reason {
    struct strbuf names;
    size_t count;
    size_t name_columns; /* Maximum width of a name; 0 for no limit. */
};

static void add_failing_row(struct exit_reason *e, const struct check_row *row)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(LINE_MAX_BYTES);

    if (e->count++ >= NAMES_SHOWN)
        return;
    add_subject(&name, row);
    strbuf_adds(&e->names, e->count > 1 ? ", " : "");
    add_problem_name(&e->names, row);
    strbuf_adds(&e->names, " of ");
    output_shorten(&e->names, name.data, e->name_columns);
}

static void add_failing_rows(const struct check_result *r, const struct fail_on *fail_on,
                             struct exit_reason *e)
{
    for (size_t i = 0; i < r->shown_count; i++) {
        if (check_result_is_named(r, r->shown[i], fail_on))
            add_failing_row(e, &(struct check_row){.problem = r->shown[i]});
        for (size_t k = check_result_find_hidden(r, r->shown[i]);
             k < r->hidden_count && r->hidden[k].problem->cause == r->shown[i]; k++) {
            if (check_result_is_named(r, r->hidden[k].problem, fail_on))
                add_failing_row(e, &(struct check_row){.problem = r->hidden[k].problem});
        }
    }
    for (unsigned k = 0; k < NORMAL_CONDITION_COUNT; k++) {
        for (size_t i = 0; i < r->normal[k].count && fail_on->conditions >> k & 1; i++)
            add_failing_row(e,
                            &(struct check_row){.template = r->normal[k].items[i], .condition = k});
    }
}

/* Prints the reason of exit status 1, with names of objects; nothing if no problem fails. */
static void print_exit_reason(const struct check_result *r, const struct fail_on *fail_on,
                              struct output *o)
{
    struct exit_reason e = {.names = STRBUF_INIT(LINE_MAX_BYTES),
                            .name_columns = o->width > 0 ? NAME_COLUMNS : 0};
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);

    add_failing_rows(r, fail_on, &e);
    if (e.count > 0) {
        strbuf_adds(&line, "Fails by --fail-on ");
        fail_on_write(fail_on, &line);
        strbuf_addf(&line, ": %s", e.names.data);
        if (e.count > NAMES_SHOWN)
            strbuf_addf(&line, " and %zu more, listed above", e.count - NAMES_SHOWN);
        strbuf_addc(&line, '.');
        strbuf_addc(&o->text, '\n');
        print_sentence(o, 0, line.data);
    }
    strbuf_release(&e.names);
}

void check_result_print(const struct check_result *r, const struct fail_on *fail_on, bool wide,
                        int64_t now_ms, struct output *o)
{
    print_summary(r, fail_on, o);
    print_sources(r, fail_on, o);
    print_release(r, o);
    print_filter(r, o);
    rendering_text_print_programs(r->evaluation->manifests, o);
    skipped_files_print(r->evaluation->manifests, o);
    suppression_print_numbers(r, o);
    rendering_text_print_reasons(r->evaluation->manifests, o);
    print_manifest_problems(r, "Not read", check_result_is_unread, r->unread, o);
    print_manifest_problems(r, "Not read, as in the baseline", check_result_is_known_unread,
                            r->numbers.unread, o);
    print_manifest_problems(r, "Repeated keys", is_repeated_key,
                            manifests_repeated_key_count(r->evaluation->manifests), o);
    if (wide)
        print_wide(r, fail_on, o);
    else
        print_groups(r, fail_on, now_ms, o);
    print_not_placed(r, o);
    suppression_print_expired(r, o);
    print_exit_reason(r, fail_on, o);
}
