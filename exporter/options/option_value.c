/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/options/option_value.h"

#include "metrics/base/number.h"
#include "metrics/base/shown.h"
#include "metrics/base/suggest.h"

enum {
    DIGITS_MAX = 15, /* Longer numbers are rejected: 10^15 ms are more than 31,000 years. */
    CHOICES_TEXT_MAX = 400,
};

static const struct unit {
    const char *name;
    int64_t ms;
} units[] = {
    {"ms", 1},
    {"s", 1000},
    {"m", INT64_C(60) * 1000},
    {"h", INT64_C(3600) * 1000},
    {"d", INT64_C(24) * 3600 * 1000},
    {"w", INT64_C(7) * 24 * 3600 * 1000},
};

void text_list_add(struct text_list *list, const char *text)
{
    list->items = xreallocarray(list->items, list->count + 1, sizeof(*list->items));
    list->items[list->count++] = xstrdup(text);
}

char *text_list_take(struct text_list *list, size_t at)
{
    char *text = list->items[at];

    list->count--;
    memmove(&list->items[at], &list->items[at + 1], (list->count - at) * sizeof(char *));
    return text;
}

void text_list_release(struct text_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    *list = (struct text_list){0};
}

/* Parses one "<number><unit>" at *at and moves *at behind it. */
static bool parse_number_and_unit(const char **at, int64_t *out_ms)
{
    char digits[DIGITS_MAX + 1] = "";
    size_t digit_count = strspn(*at, "0123456789");
    size_t unit_len = strspn(*at + digit_count, "mshdw");
    uint64_t number;

    if (digit_count == 0 || digit_count > DIGITS_MAX)
        return false;
    memcpy(digits, *at, digit_count);
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if (strlen(units[i].name) != unit_len ||
            strncmp(*at + digit_count, units[i].name, unit_len) != 0)
            continue;
        if (!parse_uint(digits, (uint64_t)(INT64_MAX / units[i].ms), &number))
            return false;
        *at += digit_count + unit_len;
        *out_ms = (int64_t)number * units[i].ms;
        return true;
    }
    return false;
}

bool parse_duration(const char *text, int64_t *out_ms)
{
    int64_t total = 0;

    /* Go and Prometheus both accept a zero without a unit. */
    if (strcmp(text, "0") == 0) {
        *out_ms = 0;
        return true;
    }
    if (*text == '\0')
        return false;
    while (*text != '\0') {
        int64_t part;

        if (!parse_number_and_unit(&text, &part) || part > INT64_MAX - total)
            return false;
        total += part;
    }
    *out_ms = total;
    return true;
}

static bool find_choice(const char *const *choices, const char *text, size_t len, unsigned *out)
{
    for (unsigned i = 0; choices[i]; i++) {
        if (strlen(choices[i]) == len && strncmp(choices[i], text, len) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

void option_add_choices(struct strbuf *out, const char *const *choices)
{
    for (size_t i = 0; choices[i]; i++)
        strbuf_addf(out, "%s%s", i == 0 ? "" : choices[i + 1] ? ", " : " or ", choices[i]);
}

static bool fail_choice(const char *const *choices, const char *text, size_t len, struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf all = STRBUF_INIT(CHOICES_TEXT_MAX);

    option_add_choices(&all, choices);
    return fail(err, "'%s' is not one of %s", shown_part(text, len).text, all.data);
}

static bool parse_set(unsigned *field, const char *const *choices, const char *text,
                      struct error *err)
{
    unsigned bits = 0;

    while (*text != '\0') {
        size_t len = strcspn(text, ",");
        unsigned choice;

        if (!find_choice(choices, text, len, &choice))
            return fail_choice(choices, text, len, err);
        bits |= 1U << choice;
        text += len;
        if (*text == ',' && *++text == '\0')
            return fail(err, "nothing follows the last comma");
    }
    *field = bits;
    return true;
}

static bool add_names(struct text_list *list, const char *text, struct error *err)
{
    for (;;) {
        size_t len = strcspn(text, ",");
        CLEANUP(free_cleanup) char *name = xmemdup0(text, len);

        if (len == 0)
            return fail(err, "a name is empty");
        text_list_add(list, name);
        if (text[len] == '\0')
            return true;
        text += len + 1;
    }
}

/* ---- settings of problems ---- */

/* The names of severity_names, then the word that disables a problem. */
static const char *const severity_words[] = {
    [SEVERITY_CRITICAL] = "critical",
    [SEVERITY_WARNING] = "warning",
    [SEVERITY_INFO] = "info",
    [SEVERITY_OFF] = "off",
    NULL,
};

struct word_cursor {
    const char *const *words;
    size_t count;
    size_t at;
};

/* Callback of suggest_name(): returns the next word, or NULL at the end. */
static const char *next_word(void *context)
{
    struct word_cursor *c = context;

    return c->at < c->count ? c->words[c->at++] : NULL;
}

/* Returns the word that `text` may be a typing error of; NULL without one. */
static const char *find_nearest_word(const char *text, const char *const *words, size_t count)
{
    struct word_cursor cursor = {words, count, 0};

    return suggest_name(text, next_word, &cursor);
}

static bool parse_severity(const char *text, int64_t *out, struct error *err)
{
    const char *nearest = find_nearest_word(text, severity_words, ARRAY_LEN(severity_words) - 1);
    unsigned severity;

    if (!find_choice(severity_words, text, strlen(text), &severity)) {
        if (nearest)
            return fail(err, "unknown severity '%s'; did you mean '%s'?", shown(text).text,
                        nearest);
        return fail_choice(severity_words, text, strlen(text), err);
    }
    *out = severity;
    return true;
}

static bool parse_patience(const char *text, int64_t *out, struct error *err)
{
    if (!parse_duration(text, out))
        return fail(err, "'%s' is not a duration such as 60s, 5m or 1h30m", shown(text).text);
    return *out <= PROBLEM_DURATION_MAX_MS ||
           fail(err, "'%s' is longer than 3650d, ten years", shown(text).text);
}

/* A parsed "PROBLEM=VALUE". */
struct problem_item {
    enum problem_id problem;
    int64_t value; /* Severity, or patience in milliseconds. */
};

static bool parse_problem(const char *name, enum problem_id *out, struct error *err)
{
    const char *nearest = find_nearest_word(name, problem_names, PROBLEM_COUNT);

    *out = problem_find(name);
    if (*out < PROBLEM_COUNT)
        return true;
    if (nearest)
        return fail(err, "unknown problem '%s'; did you mean '%s'?", shown(name).text, nearest);
    return fail(err, "unknown problem '%s'", shown(name).text);
}

static bool parse_problem_item(const char *text, enum option_type type, struct problem_item *out,
                               struct error *err)
{
    bool severity = type == OPTION_SEVERITIES;
    size_t len = strcspn(text, "=");
    CLEANUP(free_cleanup) char *name = xmemdup0(text, len);

    if (text[len] == '\0')
        return fail(err, "'%s' is not PROBLEM=%s", shown(text).text,
                    severity ? "SEVERITY" : "DURATION");
    if (!parse_problem(name, &out->problem, err))
        return false;
    return (severity ? parse_severity : parse_patience)(text + len + 1, &out->value, err) ||
           fail_in(err, "%s", name);
}

static bool has_problem(const struct text_list *list, const char *name)
{
    size_t len = strlen(name);
    bool found = false;

    for (size_t i = 0; i < list->count && !found; i++)
        found = strncmp(list->items[i], name, len) == 0 && list->items[i][len] == '=';
    return found;
}

static bool add_problem_items(struct text_list *list, enum option_type type, const char *text,
                              struct error *err)
{
    for (;;) {
        size_t len = strcspn(text, ",");
        CLEANUP(free_cleanup) char *item = xmemdup0(text, len);
        struct problem_item parsed;

        if (!parse_problem_item(item, type, &parsed, err))
            return false;
        if (has_problem(list, problem_names[parsed.problem]))
            return fail(err, "'%s' is given twice", problem_names[parsed.problem]);
        text_list_add(list, item);
        if (text[len] == '\0')
            return true;
        text += len + 1;
    }
}

void option_apply_problem_items(const struct text_list *items, enum option_type type,
                                struct problem_settings *settings)
{
    for (size_t i = 0; i < items->count; i++) {
        struct problem_item item;
        struct error err;

        if (!parse_problem_item(items->items[i], type, &item, &err))
            abort(); /* option_value_set() has accepted it. */
        if (type == OPTION_SEVERITIES)
            settings->severity[item.problem] = (uint8_t)item.value;
        else
            settings->patience_ms[item.problem] = item.value;
    }
}

/* ---- all types ---- */

bool option_value_set(void *field, enum option_type type, const char *const *choices,
                      const char *text, struct error *err)
{
    switch (type) {
    case OPTION_TEXT:
        free(*(char **)field);
        *(char **)field = xstrdup(text);
        return true;
    case OPTION_TEXTS:
        text_list_add(field, text);
        return true;
    case OPTION_NAMES:
        return add_names(field, text, err);
    case OPTION_UINT:
        return parse_uint(text, UINT64_MAX, field) ||
               fail(err, "'%s' is not a whole number", shown(text).text);
    case OPTION_DURATION:
        return parse_duration(text, field) ||
               fail(err, "'%s' is not a duration such as 60s, 5m or 1h30m", shown(text).text);
    case OPTION_CHOICE:
        return find_choice(choices, text, strlen(text), field) ||
               fail_choice(choices, text, strlen(text), err);
    case OPTION_SET:
        return parse_set(field, choices, text, err);
    case OPTION_FAIL_ON:
        return fail_on_parse(text, field, err);
    case OPTION_FLAG:
        if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
            return fail(err, "'%s' is neither true nor false", shown(text).text);
        *(bool *)field = strcmp(text, "true") == 0;
        return true;
    case OPTION_SEVERITIES:
    case OPTION_PATIENCES:
        return add_problem_items(field, type, text, err);
    }
    abort();
}

bool option_type_is_list(enum option_type type)
{
    return type == OPTION_TEXTS || type == OPTION_NAMES || type == OPTION_SEVERITIES ||
           type == OPTION_PATIENCES;
}

void option_value_release(void *field, enum option_type type)
{
    if (option_type_is_list(type)) {
        text_list_release(field);
    } else if (type == OPTION_TEXT) {
        char **text = field;

        free(*text);
        *text = NULL;
    }
}

bool option_value_equal(const void *a, const void *b, enum option_type type)
{
    const struct text_list *list = a;
    const struct text_list *other = b;

    switch (type) {
    case OPTION_TEXT:
        return strcmp(*(char *const *)a, *(char *const *)b) == 0;
    case OPTION_TEXTS:
    case OPTION_NAMES:
    case OPTION_SEVERITIES:
    case OPTION_PATIENCES:
        if (list->count != other->count)
            return false;
        for (size_t i = 0; i < list->count; i++) {
            if (strcmp(list->items[i], other->items[i]) != 0)
                return false;
        }
        return true;
    case OPTION_UINT:
        return *(const uint64_t *)a == *(const uint64_t *)b;
    case OPTION_DURATION:
        return *(const int64_t *)a == *(const int64_t *)b;
    case OPTION_CHOICE:
    case OPTION_SET:
        return *(const unsigned *)a == *(const unsigned *)b;
    case OPTION_FAIL_ON:
        return fail_on_equal(a, b);
    case OPTION_FLAG:
        return *(const bool *)a == *(const bool *)b;
    }
    abort();
}
