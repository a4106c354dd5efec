/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/exceptions.h"

#include <fnmatch.h>

#include "exporter/system/file.h"
#include "exporter/system/secret.h"
#include "exporter/text/object_name.h"
#include "exporter/yaml/yaml.h"
#include "metrics/base/map.h"
#include "metrics/base/shown.h"
#include "metrics/base/timestamp.h"

enum { DAY_MS = 24 * 3600 * 1000, KEY_MAX_BYTES = 8192 };

/* Exception with the objects that it fits. */
struct exception_row {
    struct exception exception;
    struct object_name pattern; /* All NULL for an annotation. */
    bool of_annotation;
};

/* Annotated object: `count` rows from `first` on. */
struct annotated {
    char *key; /* Owned; see add_place_key(). */
    size_t first;
    size_t count;
};

struct exceptions {
    char *ns;
    struct exception_row *rows;
    size_t count;
    size_t file_row_count; /* Rows of files, which come first. */
    struct map annotated;  /* Owned items: struct annotated. */
    struct error error;    /* First invalid annotation. */
    size_t error_count;
};

static bool annotated_has_key(const void *item, const void *key)
{
    const struct annotated *a = item;

    return strcmp(a->key, key) == 0;
}

struct exceptions *exceptions_new(const char *ns)
{
    struct exceptions *x = xcalloc(1, sizeof(*x));

    x->ns = xstrdup(ns);
    x->annotated = MAP_INIT(annotated_has_key);
    return x;
}

static void row_release(struct exception_row *row)
{
    free(row->exception.file);
    free(row->exception.problem);
    free(row->exception.object);
    free(row->exception.reason);
    object_name_release(&row->pattern);
}

void exceptions_free(struct exceptions *x)
{
    struct annotated *a;
    size_t at = 0;

    if (!x)
        return;
    for (size_t i = 0; i < x->count; i++)
        row_release(&x->rows[i]);
    while ((a = map_next(&x->annotated, &at)) != NULL) {
        free(a->key);
        free(a);
    }
    map_release(&x->annotated);
    free(x->rows);
    free(x->ns);
    free(x);
}

/* ---- parts of an exception ---- */

/* Parses "2027-01-31" to the first millisecond after that day in UTC. */
static bool parse_until(const char *text, struct exception *out, struct error *err)
{
    char time[32];

    snprintf(time, sizeof(time), "%.10sT00:00:00Z", text);
    if (strlen(text) != sizeof(out->until) - 1 || !parse_timestamp(time, &out->end_ms))
        return fail(err, "'%s' is no day: write YYYY-MM-DD", shown(text).text);
    snprintf(out->until, sizeof(out->until), "%.10s", text);
    out->end_ms += DAY_MS;
    return true;
}

static bool parse_problem(const char *text, struct exception *out, struct error *err)
{
    if (!fail_on_parse(text, &out->names, err))
        return false;
    /* A severity or a list would cover further problems. */
    if (strchr(text, ',') || out->names.severities || out->names.consequences ||
        fail_on_is_empty(&out->names))
        return fail(err, "'%s' is not one problem: write PROBLEM or PROBLEM/REASON",
                    shown(text).text);
    out->problem = xstrdup(text);
    return true;
}

static bool parse_reason(const char *text, struct exception *out, struct error *err)
{
    text += strspn(text, " \t");
    if (*text == '\0')
        return fail(err, "the reason is empty: write why the problem is accepted");
    if (strlen(text) > EXCEPTION_TEXT_MAX_BYTES)
        return fail(err, "the reason has more than %d bytes", EXCEPTION_TEXT_MAX_BYTES);
    out->reason = xstrdup(text);
    return true;
}

/* Parses KIND[.GROUP]/[NAMESPACE/]NAME, or the name in the output of `check`: "KIND NS/NAME". */
static bool parse_object(const char *text, struct exception_row *row, struct error *err)
{
    CLEANUP(free_cleanup) char *typed = xstrdup(text);
    char *blank = strchr(typed, ' ');

    if (strlen(text) > EXCEPTION_TEXT_MAX_BYTES)
        return fail(err, "the object has more than %d bytes", EXCEPTION_TEXT_MAX_BYTES);
    if (blank)
        *blank = '/';
    if (!object_name_parse(typed, &row->pattern, err))
        return false;
    if (row->pattern.version)
        return fail(err,
                    "'%s' has a version: an exception is for all versions, so write only the "
                    "kind and the group",
                    shown(text).text);
    if (row->pattern.ns && strchr(row->pattern.ns, '/'))
        return fail(err, "'%s' names no object: write KIND[.GROUP]/[NAMESPACE/]NAME",
                    shown(text).text);
    row->exception.object = xstrdup(text);
    return true;
}

/* Returns a new row at the end; NULL with the reason if there are too many. */
static struct exception_row *add_row(struct exceptions *x, const char *path,
                                     struct json_position where, struct error *err)
{
    if (x->count >= EXCEPTIONS_MAX) {
        fail(err, "more than %d exceptions", EXCEPTIONS_MAX);
        return NULL;
    }
    if ((x->count & (x->count - 1)) == 0)
        x->rows = xreallocarray(x->rows, x->count ? x->count * 2 : 1, sizeof(*x->rows));
    x->rows[x->count] = (struct exception_row){
        .exception = {.file = xstrdup(path), .line = where.line, .column = where.column}};
    return &x->rows[x->count++];
}

/* ---- files ---- */

static const char *const members[] = {"problem", "object", "reason", "until"};

static bool parse_member(const char *key, const char *text, struct exception_row *row,
                         struct error *err)
{
    if (strcmp(key, "problem") == 0)
        return parse_problem(text, &row->exception, err);
    if (strcmp(key, "object") == 0)
        return parse_object(text, row, err);
    if (strcmp(key, "reason") == 0)
        return parse_reason(text, &row->exception, err);
    return parse_until(text, &row->exception, err);
}

static bool is_member(const char *key)
{
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        if (strcmp(key, members[i]) == 0)
            return true;
    }
    return false;
}

/* Checks the members of an element of the list before any of them is parsed. */
static bool check_members(const char *path, const cJSON *item, struct error *err)
{
    const cJSON *member;

    if (!cJSON_IsObject(item))
        return fail(err, "an exception is a mapping of problem, object, reason and until") ||
               yaml_fail(path, item, err);
    cJSON_ArrayForEach (member, item) {
        if (!is_member(member->string))
            return fail(err, "unknown key '%s': an exception has problem, object, reason and until",
                        shown(member->string).text) ||
                   yaml_fail(path, member, err);
        if (cJSON_IsNull(member) || !member->valuestring)
            return fail(err, "'%s' has no text", member->string) || yaml_fail(path, member, err);
    }
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        if (!json_get(item, members[i]))
            return fail(err, "the exception has no '%s'", members[i]) || yaml_fail(path, item, err);
    }
    return true;
}

static bool read_item(struct exceptions *x, const char *path, const cJSON *item, struct error *err)
{
    struct json_position where = yaml_position(item);
    const cJSON *member;
    struct exception_row *row;

    if (!check_members(path, item, err))
        return false;
    row = add_row(x, path, where, err);
    if (!row)
        return yaml_fail(path, item, err);
    cJSON_ArrayForEach (member, item) {
        if (!parse_member(member->string, member->valuestring, row, err))
            return fail_in(err, "'%s'", member->string) || yaml_fail(path, member, err);
    }
    x->file_row_count = x->count;
    return true;
}

bool exceptions_read_text(struct exceptions *x, const char *path, const char *text, size_t len,
                          struct error *err)
{
    CLEANUP(secret_json_cleanup) cJSON *root = NULL;
    const cJSON *item;

    if (!yaml_read_config(path, text, len, &root, err))
        return false;
    if (root && !cJSON_IsArray(root))
        return fail(err, "expected a list of exceptions, each with problem, object, reason and "
                         "until") ||
               yaml_fail(path, root, err);
    cJSON_ArrayForEach (item, root) {
        if (!read_item(x, path, item, err))
            return false;
    }
    return true;
}

bool exceptions_read_file(struct exceptions *x, const char *path, struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(YAML_CONFIG_MAX);

    return file_read(path, &text, err) && exceptions_read_text(x, path, text.data, text.len, err);
}

/* ---- annotations ---- */

/* Parses "PROBLEM until YYYY-MM-DD: REASON". */
static bool parse_line(const char *line, struct exception_row *row, struct error *err)
{
    static const char until[] = " until ";
    const char *at = strstr(line, until);
    const char *colon = at ? strchr(at, ':') : NULL;

    if (!colon)
        return fail(err, "'%s' is no exception: write PROBLEM[/REASON] until YYYY-MM-DD: REASON",
                    shown(line).text);

    CLEANUP(free_cleanup) char *problem = xmemdup0(line, (size_t)(at - line));
    CLEANUP(free_cleanup)
    char *day = xmemdup0(at + strlen(until), (size_t)(colon - at) - strlen(until));

    return parse_problem(problem, &row->exception, err) && parse_until(day, &row->exception, err) &&
           parse_reason(colon + 1, &row->exception, err);
}

static bool add_line(struct exceptions *x, const char *line, const char *path,
                     struct json_position where, struct error *err)
{
    struct exception_row *row = add_row(x, path, where, err);

    if (!row)
        return false;
    row->of_annotation = true;
    if (parse_line(line, row, err))
        return true;
    row_release(row);
    x->count--;
    return false;
}

/* Adds all lines of an annotation. Returns false with the first error. */
static bool add_lines(struct exceptions *x, const char *value, const char *path,
                      struct json_position where, struct error *err)
{
    bool fine = true;
    struct error later;

    if (!value)
        return fail(err, "the value is no text");
    for (size_t len; *value; value += len + (value[len] == '\n')) {
        const char *start = value + strspn(value, " \t\r");
        const char *end;

        len = strcspn(value, "\n");
        for (end = value + len; end > start && strchr(" \t\r", end[-1]);)
            end--;
        if (end <= start)
            continue;

        CLEANUP(free_cleanup) char *line = xmemdup0(start, (size_t)(end - start));

        fine = add_line(x, line, path, where, fine ? err : &later) && fine;
    }
    return fine;
}

static void add_place_key(struct strbuf *out, const char *path, struct json_position where)
{
    strbuf_addf(out, "%zu:%zu:%s", where.line, where.column, path);
}

static struct annotated *find_annotated(const struct exceptions *x, const char *key)
{
    return map_get(&x->annotated, map_hash(key, strlen(key), 0), key);
}

void exceptions_add_annotation(struct exceptions *x, const char *value, const char *path,
                               struct json_position where)
{
    CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(KEY_MAX_BYTES);
    struct annotated *a;
    struct error err;

    add_place_key(&key, path, where);
    if (find_annotated(x, key.data))
        return;
    a = xmalloc(sizeof(*a));
    *a = (struct annotated){.key = xstrdup(key.data), .first = x->count};
    map_add(&x->annotated, map_hash(key.data, key.len, 0), a);
    if (!add_lines(x, value, path, where, &err) && x->error_count++ == 0)
        fail(&x->error, "%s:%zu: annotation " EXCEPTION_ANNOTATION ": %s", path, where.line,
             err.text);
    a->count = x->count - a->first;
}

static void add_observed(void *context, const char *value, const char *path,
                         struct json_position where)
{
    exceptions_add_annotation(context, value, path, where);
}

void exceptions_observe(struct exceptions *x, struct manifests *m)
{
    manifests_observe_annotation(m, EXCEPTION_ANNOTATION, add_observed, x);
}

size_t exceptions_error(const struct exceptions *x, struct error *err)
{
    *err = x->error;
    return x->error_count;
}

/* ---- search ---- */

bool exception_is_expired(const struct exception *e, int64_t now_ms)
{
    return now_ms >= e->end_ms;
}

static bool glob_fits(const char *pattern, const char *text)
{
    return fnmatch(pattern, text, 0) == 0;
}

/* Returns true if the pattern of a file fits the object. */
static bool pattern_fits(const struct exceptions *x, const struct object_name *pattern,
                         const struct identity *id)
{
    CLEANUP(free_cleanup) char *group = NULL;

    if (!glob_fits(pattern->name, id->name) ||
        !(strcmp(pattern->kind, "*") == 0 || object_name_kind_fits(id->kind, pattern->kind)))
        return false;
    /* A name without a namespace fits cluster-scoped objects, and those in --namespace. */
    if (pattern->ns ? !glob_fits(pattern->ns, id->ns)
                    : *id->ns != '\0' && strcmp(x->ns, id->ns) != 0)
        return false;
    group = xmemdup0(id->api_version, api_group_len(id->api_version));
    return !pattern->group || glob_fits(pattern->group, group);
}

static bool names_fit(const struct exception *e, const struct exception_query *query)
{
    return query->reason < PROBLEM_REASON_COUNT
               ? fail_on_names_reason(&e->names, query->reason)
               : (e->names.conditions >> query->condition & 1) != 0;
}

/* Rows that fit one problem: the first one in force, and the first one that has expired. */
struct exception_search {
    struct exception *active;
    struct exception *expired;
};

static void consider(struct exception_search *s, struct exception *e, int64_t now_ms)
{
    struct exception **slot = exception_is_expired(e, now_ms) ? &s->expired : &s->active;

    e->covered += slot == &s->active;
    if (!*slot)
        *slot = e;
}

static void search_annotation(struct exceptions *x, const struct exception_query *query,
                              struct exception_search *s)
{
    CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(KEY_MAX_BYTES);
    const struct annotated *a;

    if (!query->path || x->annotated.count == 0)
        return;
    add_place_key(&key, query->path, query->where);
    a = find_annotated(x, key.data);
    for (size_t i = 0; a && i < a->count; i++) {
        struct exception *e = &x->rows[a->first + i].exception;

        if (names_fit(e, query))
            consider(s, e, query->now_ms);
    }
}

const struct exception *exceptions_find(struct exceptions *x, const struct exception_query *query,
                                        bool *expired)
{
    struct exception_search s = {NULL, NULL};

    search_annotation(x, query, &s);
    for (size_t i = 0; i < x->file_row_count; i++) {
        struct exception_row *row = &x->rows[i];

        if (names_fit(&row->exception, query) && pattern_fits(x, &row->pattern, &query->subject))
            consider(&s, &row->exception, query->now_ms);
    }
    *expired = !s.active && s.expired;
    if (s.active && s.expired)
        s.expired->superseded = true;
    if (*expired)
        s.expired->covered++;
    return s.active ? s.active : s.expired;
}

void exceptions_note_object(struct exceptions *x, const struct identity *object)
{
    for (size_t i = 0; i < x->file_row_count; i++) {
        struct exception_row *row = &x->rows[i];

        if (row->exception.covered == 0 && !row->exception.object_exists)
            row->exception.object_exists = pattern_fits(x, &row->pattern, object);
    }
}

size_t exceptions_count(const struct exceptions *x)
{
    return x->count;
}

const struct exception *exceptions_at(const struct exceptions *x, size_t i)
{
    return &x->rows[i].exception;
}
