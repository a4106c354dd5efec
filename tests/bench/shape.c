/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/shape.h"

#include "metrics/base/number.h"

enum { SHAPES_MAX = 8, SHAPE_MAX = 1 << 16 };

static const char folder[] = "tests/bench/shapes";
static const char text_suffix[] = "-text";

/* Removes the white space between tokens. */
static void compact(char *json)
{
    char *to = json;
    bool quoted = false;

    for (const char *from = json; *from; from++) {
        if (*from == '"')
            quoted = !quoted;
        if (quoted && *from == '\\')
            *to++ = *from++;
        else if (!quoted && strchr(" \n", *from))
            continue;
        *to++ = *from;
    }
    *to = '\0';
}

static char *read_shape(const char *name)
{
    char path[256];
    char *text = xcalloc(1, SHAPE_MAX);

    snprintf(path, sizeof(path), "%s/%s.json", folder, name);
    FILE *file = fopen(path, "re");
    if (!file || fread(text, 1, SHAPE_MAX - 1, file) == 0) {
        fprintf(stderr, "%s: run the benchmark in the root of the repository\n", path);
        abort();
    }
    fclose(file);
    compact(text);
    return text;
}

/* Returns the text of the shape. It is read once and kept until the process ends. */
static const char *find_shape(const char *name)
{
    static struct {
        char *name;
        char *text;
    } shapes[SHAPES_MAX];
    size_t at = 0;

    while (at < SHAPES_MAX && shapes[at].name && strcmp(shapes[at].name, name) != 0)
        at++;
    if (at == SHAPES_MAX)
        abort();
    if (!shapes[at].name) {
        shapes[at].text = read_shape(name);
        shapes[at].name = xstrdup(name);
    }
    return shapes[at].text;
}

/* Appends a number, padded with zeros to `width` digits. Returns false if no number has the name.
 */
static bool add_number(struct strbuf *out, const char *name, unsigned width,
                       const struct shape_values *v)
{
    const struct {
        const char *name;
        unsigned value;
    } numbers[] = {{"number", v->number},  {"namespace", v->namespace},
                   {"policy", v->policy},  {"group", v->group},
                   {"spread", v->spread},  {"generation", v->generation},
                   {"version", v->version}};

    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        if (strcmp(numbers[i].name, name) == 0) {
            strbuf_addf(out, "%0*u", (int)width, numbers[i].value);
            return true;
        }
    }
    return false;
}

/* Appends a text. Returns false if no text has the name. */
static bool add_text(struct strbuf *out, const char *name, const struct shape_values *v)
{
    const struct {
        const char *name;
        const char *value;
    } texts[] = {{"kind", v->kind},
                 {"lower-kind", v->lower_kind},
                 {"api-version", v->api_version},
                 {"cluster", v->cluster}};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if (strcmp(texts[i].name, name) == 0) {
            strbuf_adds(out, texts[i].value);
            return true;
        }
    }
    return false;
}

/* Appends another shape as the content of a JSON string. */
static void add_escaped(struct strbuf *out, const char *shape, const struct shape_values *values)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(SHAPE_MAX);

    shape_expand(&text, shape, values);
    for (size_t i = 0; i < text.len; i++) {
        if (strchr("\"\\", text.data[i]))
            strbuf_addc(out, '\\');
        strbuf_addc(out, text.data[i]);
    }
}

static bool holds(const char *condition, const struct shape_values *values)
{
    if (strcmp(condition, "bound") == 0)
        return values->bound;
    if (strcmp(condition, "applied") == 0)
        return values->applied;
    if (strcmp(condition, "evicted") == 0)
        return values->evicted;
    return false;
}

/* Appends the value of a placeholder without its braces, which is a name or "name:width". */
static void add_value(struct strbuf *out, char *name, const struct shape_values *values)
{
    char *colon = strchr(name, ':');
    uint64_t width = 0;
    size_t len;

    if (colon && !parse_uint(colon + 1, 20, &width))
        abort();
    if (colon)
        *colon = '\0';
    len = strlen(name);
    if (add_number(out, name, (unsigned)width, values) || add_text(out, name, values))
        return;
    if (len > strlen(text_suffix) && strcmp(name + len - strlen(text_suffix), text_suffix) == 0) {
        name[len - strlen(text_suffix)] = '\0';
        add_escaped(out, name, values);
        return;
    }
    shape_expand(out, name, values);
}

void shape_expand(struct strbuf *out, const char *shape, const struct shape_values *values)
{
    const char *text = find_shape(shape);
    const char *open;

    while ((open = strstr(text, "{{"))) {
        char name[64], end[72];
        const char *close = strstr(open, "}}");

        if (!close || (size_t)(close - open) >= sizeof(name))
            abort();
        snprintf(name, sizeof(name), "%.*s", (int)(close - open - 2), open + 2);
        strbuf_add(out, text, (size_t)(open - text));
        text = close + 2;
        if (*name == '#' && !holds(name + 1, values)) {
            snprintf(end, sizeof(end), "{{/%s}}", name + 1);
            text = strstr(text, end);
            if (!text)
                abort();
        } else if (*name != '#' && *name != '/') {
            add_value(out, name, values);
        }
    }
    strbuf_adds(out, text);
}
