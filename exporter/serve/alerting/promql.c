/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/alerting/promql.h"

#include <ctype.h>

#include "exporter/options/option_value.h"

enum {
    SHOWN_CHARS = 40, /* Of what is not understood. */
    DEPTH_MAX = 64,
};

/* Operators by how tightly they bind. */
static const struct operator_def {
    const char *text; /* Longer ones before those that they begin with. */
    enum promql_op op;
    unsigned level;
} operators[] = {
    {"or", PROMQL_OR, 1},      {"and", PROMQL_AND, 2},      {"unless", PROMQL_UNLESS, 2},
    {"==", PROMQL_EQUAL, 3},   {"!=", PROMQL_NOT_EQUAL, 3}, {">=", PROMQL_AT_LEAST, 3},
    {"<=", PROMQL_AT_MOST, 3}, {">", PROMQL_ABOVE, 3},      {"<", PROMQL_BELOW, 3},
    {"+", PROMQL_PLUS, 4},     {"-", PROMQL_MINUS, 4},      {"*", PROMQL_TIMES, 5},
    {"/", PROMQL_DIVIDED, 5},
};

/* With how many arguments. */
static const struct call_def {
    const char *name;
    enum promql_op op;
    size_t count;
    bool aggregates; /* May have a by (...). */
    bool ranges;     /* Its last argument is a range. */
} calls[] = {
    {"sum", PROMQL_SUM, 1, true, false},
    {"max", PROMQL_MAX, 1, true, false},
    {"min", PROMQL_MIN, 1, true, false},
    {"count", PROMQL_COUNT, 1, true, false},
    {"topk", PROMQL_TOPK, 2, false, false},
    {"last_over_time", PROMQL_LAST, 1, false, true},
    {"min_over_time", PROMQL_LOWEST, 1, false, true},
    {"max_over_time", PROMQL_HIGHEST, 1, false, true},
    {"increase", PROMQL_INCREASE, 1, false, true},
    {"rate", PROMQL_RATE, 1, false, true},
    {"changes", PROMQL_CHANGES, 1, false, true},
    {"absent_over_time", PROMQL_ABSENT, 1, false, true},
    {"time", PROMQL_TIME, 0, false, false},
    {"clamp_min", PROMQL_CLAMP_MIN, 2, false, false},
    {"label_replace", PROMQL_LABEL_REPLACE, 5, false, false},
    {"histogram_quantile", PROMQL_QUANTILE, 2, false, false},
};

struct parser {
    const char *at;
    const char *wanted; /* What there should be where it failed; NULL while it did not. */
    unsigned depth;
};

static void skip_blanks(struct parser *p)
{
    p->at += strspn(p->at, " \t\n");
}

/* How long the word or name is that comes next. */
static size_t word_len(struct parser *p)
{
    size_t len = 0;

    skip_blanks(p);
    while (isalnum((unsigned char)p->at[len]) || p->at[len] == '_' || p->at[len] == ':')
        len++;
    return isdigit((unsigned char)*p->at) ? 0 : len;
}

/* True, and past it, if the text comes next; a word as a whole. */
static bool accept(struct parser *p, const char *text)
{
    size_t len = word_len(p);

    if (p->wanted || (len > 0 ? len != strlen(text) || strncmp(p->at, text, len) != 0
                              : strncmp(p->at, text, strlen(text)) != 0))
        return false;
    p->at += strlen(text);
    return true;
}

static void expect(struct parser *p, const char *text)
{
    if (!accept(p, text) && !p->wanted)
        p->wanted = text;
}

/* The name that comes next; "" if none does. The caller frees it. */
static char *read_name(struct parser *p)
{
    size_t len = word_len(p);
    char *name = xmemdup0(p->at, len);

    if (len == 0 && !p->wanted)
        p->wanted = "a name";
    p->at += len;
    return name;
}

static char *read_text(struct parser *p)
{
    char *text, *to;

    skip_blanks(p);
    text = to = xcalloc(strlen(p->at) + 1, 1);
    expect(p, "\"");
    while (!p->wanted && *p->at != '"') {
        p->at += *p->at == '\\';
        if (*p->at == '\0') {
            p->wanted = "\"";
            break;
        }
        *to++ = *p->at++;
    }
    *to = '\0';
    expect(p, "\"");
    return text;
}

static int64_t read_duration(struct parser *p)
{
    size_t len = 0;
    int64_t ms = 0;

    skip_blanks(p);
    while (isalnum((unsigned char)p->at[len]))
        len++;
    CLEANUP(free_cleanup) char *text = xmemdup0(p->at, len);

    if (!parse_duration(text, &ms) && !p->wanted)
        p->wanted = "a duration";
    p->at += len;
    return ms;
}

static void read_names(struct parser *p, struct name_list *out)
{
    expect(p, "(");
    while (!p->wanted && !accept(p, ")")) {
        if (out->count > 0)
            expect(p, ",");
        out->items = xreallocarray(out->items, out->count + 1, sizeof(char *));
        out->items[out->count++] = read_name(p);
    }
}

static void read_matcher(struct parser *p, struct promql_matcher *out)
{
    char *anchored = NULL;

    out->label = read_name(p);
    out->regex = accept(p, "=~");
    out->negative = !out->regex && (accept(p, "!~") ? (out->regex = true) : accept(p, "!="));
    if (!out->regex && !out->negative)
        expect(p, "=");
    out->value = read_text(p);
    if (!out->regex)
        return;
    if (asprintf(&anchored, "^(%s)$", out->value) < 0)
        memory_exhausted(0);
    if (regcomp(&out->compiled, anchored, REG_EXTENDED | REG_NOSUB) != 0) {
        out->regex = false; /* Nothing was compiled, so nothing is to be freed. */
        p->wanted = p->wanted ? p->wanted : "a regular expression";
    }
    free(anchored);
}

static struct promql *node_new(enum promql_kind kind)
{
    struct promql *node = xcalloc(1, sizeof(*node));

    node->kind = kind;
    return node;
}

static struct promql *read_selector(struct parser *p)
{
    struct promql *node = node_new(PROMQL_SELECTOR);

    node->text = read_name(p);
    if (accept(p, "{")) {
        while (!p->wanted && !accept(p, "}")) {
            if (node->matcher_count > 0)
                expect(p, ",");
            node->matchers = xreallocarray(node->matchers, node->matcher_count + 1,
                                           sizeof(struct promql_matcher));
            node->matchers[node->matcher_count] = (struct promql_matcher){.label = NULL};
            read_matcher(p, &node->matchers[node->matcher_count++]);
        }
    }
    if (accept(p, "[")) {
        node->range_ms = read_duration(p);
        expect(p, "]");
    }
    if (accept(p, "offset"))
        node->offset_ms = read_duration(p);
    return node;
}

static struct promql *read_expression(struct parser *p, unsigned level);

static struct promql *read_call(struct parser *p, const struct call_def *call)
{
    struct promql *node = node_new(PROMQL_CALL);

    node->op = call->op;
    if (call->aggregates && accept(p, "by")) {
        node->named = true;
        read_names(p, &node->names);
    }
    expect(p, "(");
    for (size_t i = 0; i < call->count; i++) {
        if (i > 0)
            expect(p, ",");
        node->parts[node->part_count++] = read_expression(p, 1);
    }
    expect(p, ")");
    if (p->wanted)
        return node;
    for (size_t i = 0; i < node->part_count; i++) {
        bool ranges = node->parts[i]->kind == PROMQL_SELECTOR && node->parts[i]->range_ms > 0;
        bool text = call->op == PROMQL_LABEL_REPLACE && i > 0;

        if (ranges != call->ranges)
            p->wanted = "a range where one is, and nowhere else";
        else if (text != (node->parts[i]->kind == PROMQL_TEXT) ||
                 (text && i >= 3 && *node->parts[i]->text != '\0'))
            p->wanted = "a label that is set whatever another one is";
    }
    return node;
}

static struct promql *read_primary(struct parser *p)
{
    struct promql *node;
    size_t len = word_len(p);

    if (accept(p, "(")) {
        node = read_expression(p, 1);
        expect(p, ")");
        return node;
    }
    for (size_t i = 0; len > 0 && i < ARRAY_LEN(calls); i++) {
        if (accept(p, calls[i].name))
            return read_call(p, &calls[i]);
    }
    if (len > 0)
        return read_selector(p);
    if (*p->at == '"') {
        node = node_new(PROMQL_TEXT);
        node->text = read_text(p);
        return node;
    }
    char *end;

    node = node_new(PROMQL_NUMBER);
    node->number = strtod(p->at, &end);
    if (end == p->at && !p->wanted)
        p->wanted = "a number, a family or a function";
    p->at = end;
    return node;
}

/* All operators that bind at least as tightly as the level; each binds to its left. */
static struct promql *read_expression(struct parser *p, unsigned level)
{
    struct promql *left;

    if (p->depth++ > DEPTH_MAX)
        p->wanted = "less deep an expression";
    left = read_primary(p);
    for (size_t i = 0; !p->wanted && i < ARRAY_LEN(operators); i++) {
        if (operators[i].level < level || !accept(p, operators[i].text))
            continue;
        struct promql *node = node_new(PROMQL_BINARY);

        node->op = operators[i].op;
        node->parts[0] = left;
        node->part_count = 1;
        if (accept(p, "on")) {
            node->named = true;
            read_names(p, &node->names);
        }
        if (accept(p, "group_left")) {
            node->many = true;
            expect(p, "(");
            expect(p, ")");
        }
        node->parts[node->part_count++] = read_expression(p, operators[i].level + 1);
        left = node;
        i = (size_t)-1;
    }
    p->depth--;
    return left;
}

struct promql *promql_parse(const char *text, struct error *err)
{
    struct parser p = {.at = text};
    struct promql *node = read_expression(&p, 1);

    skip_blanks(&p);
    if (!p.wanted && *p.at != '\0')
        p.wanted = "an operator";
    if (!p.wanted)
        return node;
    fail(err, "there should be %s before '%.*s'", p.wanted, SHOWN_CHARS, p.at);
    promql_free(node);
    return NULL;
}

void promql_free(struct promql *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->part_count; i++)
        promql_free(p->parts[i]);
    for (size_t i = 0; i < p->matcher_count; i++) {
        free(p->matchers[i].label);
        free(p->matchers[i].value);
        if (p->matchers[i].regex)
            regfree(&p->matchers[i].compiled);
    }
    for (size_t i = 0; i < p->names.count; i++)
        free(p->names.items[i]);
    free(p->names.items);
    free(p->matchers);
    free(p->text);
    free(p);
}

bool promql_matches(const struct promql_matcher *m, const struct label_list *labels)
{
    const char *value = label_list_get(labels, m->label);
    bool same =
        m->regex ? regexec(&m->compiled, value, 0, NULL, 0) == 0 : strcmp(value, m->value) == 0;

    return same != m->negative;
}

void promql_each_selector(const struct promql *p,
                          void (*each)(void *context, const struct promql *selector), void *context)
{
    if (p->kind == PROMQL_SELECTOR)
        each(context, p);
    for (size_t i = 0; i < p->part_count; i++)
        promql_each_selector(p->parts[i], each, context);
}
