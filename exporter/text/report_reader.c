/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/report_reader.h"

#include "exporter/yaml/yaml.h"
#include "metrics/base/shown.h"

#define REPORT_API_VERSION "karmada-policy-exporter/v1"

static const char blanks[] = " \t\r\n";

/* Part of a JSON text that is known to be valid. */
struct piece {
    const char *text;
    size_t len;
};

/* ---- scanner of valid JSON ---- */

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, blanks);
}

/* Returns the end of the string that begins at `at`. */
static const char *skip_string(const char *at)
{
    for (at++; *at != '"'; at++)
        at += *at == '\\';
    return at + 1;
}

/* Returns the end of the value that begins at `at`. */
static const char *skip_value(const char *at)
{
    unsigned depth = 0;

    do {
        if (*at == '"') {
            at = skip_string(at);
            continue;
        }
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
        at++;
        if (depth == 0 && !strchr("}]", at[-1]))
            at += strcspn(at, ",}] \t\r\n");
    } while (depth > 0);
    return at;
}

static struct piece piece_at(const char *at)
{
    return (struct piece){at, (size_t)(skip_value(at) - at)};
}

/* Returns the next value of an object or array, which *at is in; false at its end. */
static bool next_value(const char **at, struct piece *key, struct piece *value)
{
    const char *p = skip_blanks(*at);

    if (*p == ',' || *p == '{' || *p == '[')
        p = skip_blanks(p + 1);
    if (*p == '}' || *p == ']')
        return false;
    if (key) {
        *key = piece_at(p);
        /* A colon follows the key. */
        p = skip_blanks(skip_blanks(p + key->len) + 1);
    }
    *value = piece_at(p);
    *at = p + value->len;
    return true;
}

static bool find_member(struct piece object, const char *name, struct piece *out)
{
    const char *at = object.text;
    struct piece key;

    while (*object.text == '{' && next_value(&at, &key, out)) {
        if (key.len == strlen(name) + 2 && strncmp(key.text + 1, name, key.len - 2) == 0)
            return true;
    }
    return false;
}

static cJSON *parse_piece(struct piece piece)
{
    CLEANUP(free_cleanup) char *text = xmemdup0(piece.text, piece.len);
    struct error ignored;

    return json_parse(text, piece.len, NULL, &ignored);
}

/* Returns the text of a member, owned by the caller; NULL if it is missing or no text. */
static char *member_text(struct piece object, const char *name)
{
    struct piece piece;
    CLEANUP(json_cleanup) cJSON *value = NULL;

    if (find_member(object, name, &piece))
        value = parse_piece(piece);

    const char *text = cJSON_GetStringValue(value);

    return text ? xstrdup(text) : NULL;
}

/* ---- parts ---- */

struct reading {
    report_part_fn *each;
    void *context;
};

static void read_list(const struct reading *r, struct piece report, const char *name,
                      const char *environment, enum report_part part)
{
    struct piece list, element;
    const char *at;

    if (!find_member(report, name, &list) || *list.text != '[')
        return;
    at = list.text;
    while (next_value(&at, NULL, &element)) {
        CLEANUP(json_cleanup) cJSON *tree = parse_piece(element);

        r->each(r->context, environment, part, tree);
    }
}

/* Reads the report of one environment. Returns false if it has another version. */
static bool read_one(const struct reading *r, struct piece report, const char *environment,
                     struct error *err)
{
    CLEANUP(free_cleanup) char *version = member_text(report, "apiVersion");
    struct piece list;

    if (!version || strcmp(version, REPORT_API_VERSION) != 0)
        return fail(err,
                    "no report of this version: apiVersion is '%s' and not '" REPORT_API_VERSION
                    "'; write it with: check -o json",
                    version ? shown(version).text : "");
    if (!find_member(report, "problems", &list) || *list.text != '[')
        return fail(err, "no report: the list 'problems' is missing; write it with: check -o json");
    r->each(r->context, environment, REPORT_PART_ENVIRONMENT, NULL);
    read_list(r, report, "problems", environment, REPORT_PART_PROBLEM);
    read_list(r, report, "templates", environment, REPORT_PART_TEMPLATE);
    read_list(r, report, "invalid", environment, REPORT_PART_INVALID);
    return true;
}

static bool read_environment(const struct reading *r, struct piece element, struct error *err)
{
    CLEANUP(free_cleanup) char *name = member_text(element, "name");
    struct piece report;

    if (!name || *name == '\0' || !find_member(element, "report", &report))
        return fail(err, "an element of 'environments' lacks 'name' or 'report'");
    return read_one(r, report, name, err) || fail_in(err, "environment '%s'", shown(name).text);
}

static bool read_json(const struct reading *r, const char *text, size_t len, struct error *err)
{
    struct json_fault fault = json_find_fault(text, len);
    struct piece root, list, element;
    const char *at;

    if (fault.reason) {
        struct json_position where = json_position_of(text, fault.offset);

        return fail(err, "line %zu, column %zu: %s", where.line, where.column, fault.reason);
    }
    root = piece_at(skip_blanks(text));
    if (!find_member(root, "environments", &list) || *list.text != '[')
        return read_one(r, root, "", err);
    at = list.text;
    while (next_value(&at, NULL, &element)) {
        if (!read_environment(r, element, err))
            return false;
    }
    return true;
}

/* ---- YAML ---- */

enum { YAML_NODES_MAX = 8 * 1000 * 1000 };

/* Reads the only document of a YAML text, as JSON. */
static bool read_yaml(const struct reading *r, const char *text, size_t len, struct error *err)
{
    struct yaml_limits limits = {.nodes_max = YAML_NODES_MAX, .bytes_max = REPORT_YAML_MAX_BYTES};
    struct yaml_text source = {text, len};
    CLEANUP(json_cleanup) cJSON *tree = NULL;
    CLEANUP(free_cleanup) char *json = NULL;
    CLEANUP(yaml_reader_cleanup)
    struct yaml_reader *reader = yaml_reader_new(yaml_read_text, &source, limits);
    struct json_position where;

    switch (yaml_reader_next(reader, &tree, &where, err)) {
    case YAML_READ_MALFORMED:
        return fail_in(err, "line %zu, column %zu", where.line, where.column);
    case YAML_READ_END:
        return fail(err, "the file is empty: write a report with: check -o json");
    case YAML_READ_DOCUMENT:
    case YAML_READ_ITEM:
        break;
    }
    json = cJSON_PrintUnformatted(tree);
    return json ? read_json(r, json, strlen(json), err)
                : fail(err, "the report is too large; write it with: check -o json");
}

bool report_read_text(const char *text, size_t len, report_part_fn *each, void *context,
                      struct error *err)
{
    const struct reading r = {each, context};

    if (*skip_blanks(text) == '{')
        return read_json(&r, text, len, err);
    if (len > REPORT_YAML_MAX_BYTES)
        return fail(err, "a report in YAML has at most %d MiB: write it with check -o json",
                    REPORT_YAML_MAX_BYTES >> 20);
    return read_yaml(&r, text, len, err);
}
