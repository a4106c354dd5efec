/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/strbuf.h"
#include "metrics/base/utf8.h"
#include "metrics/expose/exposition.h"
#include "metrics/expose/series.h"

/*
 * Whatever names are, what a scraper reads is the page without them and one line with one value
 * for each, in order, that is UTF-8 without control characters and no longer than promised.
 * Nothing of them is left on the next page.
 */

enum { PAGE_MAX = 1 << 20, NAMES_MAX = 8, FORMATS = 2 };

static const char line_start[] = "karmada_policy_exporter_objects{resource=\"";
static const char line_end[] = "\"} 1\n";

/* The registry is made once: its making would take ten times as long as all that is checked. */
struct pages {
    struct registry *registry;
    struct strbuf page;
    struct strbuf empty[FORMATS]; /* What the page is without any name. */
    size_t before[FORMATS];       /* How much of that is before the lines of names. */
};

static void write_page(const struct pages *p, enum exposition_format format, struct strbuf *out)
{
    strbuf_reset(out);
    registry_prepare(p->registry);
    exposition_write(p->registry,
                     (struct exposition){.format = format, .synced = true, .created_ms = 1500},
                     out);
    if (!strbuf_ok(out))
        abort();
}

static struct pages *the_pages(void)
{
    static const char type[] = "# TYPE karmada_policy_exporter_objects gauge\n";
    static struct pages pages;

    if (pages.registry)
        return &pages;
    pages.registry = registry_new(NULL, &registry_options_default, 1);
    pages.page = STRBUF_INIT(PAGE_MAX);
    registry_prepare(pages.registry); /* The first one adds series of its own. */
    for (unsigned i = 0; i < FORMATS; i++) {
        pages.empty[i] = STRBUF_INIT(PAGE_MAX);
        write_page(&pages, i, &pages.empty[i]);
        pages.before[i] =
            (size_t)(strstr(pages.empty[i].data, type) + strlen(type) - pages.empty[i].data);
    }
    return &pages;
}

/* Past the value that begins at `value`: its closing quote. How long it is unescaped, in `len`. */
static const char *skip_value(const char *value, size_t *len)
{
    *len = 0;
    while (*value != '"') {
        unsigned bytes;

        if (*value == '\\' && *++value != '\\' && *value != '"')
            abort();
        bytes = utf8_char_len(value);
        if (bytes == 0 || (unsigned char)*value < 0x20 || *value == 0x7f)
            abort();
        value += bytes;
        *len += bytes;
    }
    return value;
}

/* Past the line of one name. */
static const char *skip_line(const char *line)
{
    size_t len;

    if (strncmp(line, line_start, strlen(line_start)) != 0)
        abort();
    line = skip_value(line + strlen(line_start), &len);
    if (len > LABEL_VALUE_MAX || strncmp(line, line_end, strlen(line_end)) != 0)
        abort();
    return line + strlen(line_end);
}

/* The page is the empty one with so many lines in it, each after the one before it in order. */
static void check_page(const struct pages *p, enum exposition_format format, size_t lines)
{
    const struct strbuf *empty = &p->empty[format];
    size_t before = p->before[format];
    size_t after = empty->len - before;
    const char *line = p->page.data + before;
    const char *last = NULL;

    if (p->page.len < empty->len || memcmp(p->page.data, empty->data, before) != 0)
        abort();
    for (size_t i = 0; i < lines; i++) {
        const char *next = skip_line(line);

        if (last && strncmp(last, line, (size_t)(next - line)) >= 0)
            abort();
        last = line;
        line = next;
    }
    if (line + after != p->page.data + p->page.len ||
        memcmp(line, empty->data + before, after) != 0)
        abort();
}

/* Set the name; true if none of those before reads the same. */
static bool set_name(const struct pages *p, struct strbuf *texts, size_t count, const char *name)
{
    bool is_new = true;

    texts[count] = STRBUF_INIT(PAGE_MAX);
    label_text_add(&texts[count], name);
    for (size_t i = 0; i < count; i++)
        is_new = is_new && strcmp(texts[i].data, texts[count].data) != 0;
    REGISTRY_SET(p->registry, OWN_OBJECTS, 1, name);
    return is_new;
}

/* Names end with a NUL. How many there are decides the format. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(free_cleanup) char *names = xmemdup0((const char *)data, size);
    struct pages *p = the_pages();
    struct strbuf texts[NAMES_MAX];
    size_t count = 0, lines = 0;

    for (size_t at = 0; at <= size && count < NAMES_MAX; at += strlen(names + at) + 1) {
        lines += set_name(p, texts, count, names + at);
        count++;
    }
    write_page(p, count % FORMATS, &p->page);
    check_page(p, count % FORMATS, lines);
    registry_clear_family(p->registry, OWN_OBJECTS);
    for (size_t i = 0; i < count; i++)
        strbuf_release(&texts[i]);
    return 0;
}
