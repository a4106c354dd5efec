/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/strbuf.h"
#include "metrics/base/utf8.h"
#include "metrics/expose/exposition.h"
#include "metrics/expose/series.h"

/*
 * For any label values, the page equals the page without them plus one line for each distinct
 * value, in order. Each value is UTF-8 without control characters and, before escaping, at most
 * LABEL_VALUE_MAX bytes long. The next page contains no value of the previous one.
 */

enum { PAGE_MAX = 1 << 20, NAMES_MAX = 8, FORMATS = 2 };

static const char line_start[] = "karmada_policy_exporter_objects{resource=\"";
static const char line_end[] = "\"} 1\n";

/* Created once: creating a registry takes ten times as long as checking a page. */
struct pages {
    struct registry *registry;
    struct strbuf page;
    struct strbuf empty[FORMATS]; /* Page without series of karmada_policy_exporter_objects. */
    size_t before[FORMATS];       /* Bytes of `empty` before the place of these series. */
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

static struct pages *get_pages(void)
{
    static const char type[] = "# TYPE karmada_policy_exporter_objects gauge\n";
    static struct pages pages;

    if (pages.registry)
        return &pages;
    pages.registry = registry_new(NULL, &registry_options_default, 1);
    pages.page = STRBUF_INIT(PAGE_MAX);
    registry_prepare(pages.registry); /* The first call adds series of its own. */
    for (unsigned i = 0; i < FORMATS; i++) {
        pages.empty[i] = STRBUF_INIT(PAGE_MAX);
        write_page(&pages, i, &pages.empty[i]);
        pages.before[i] =
            (size_t)(strstr(pages.empty[i].data, type) + strlen(type) - pages.empty[i].data);
    }
    return &pages;
}

/* Returns the closing quote of the label value at `value`, and its unescaped length in `len`. */
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

/* Checks the line of one name. Returns the start of the next line. */
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

/* Checks that the page is the empty page with `lines` more lines, in ascending order. */
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

/* Adds a series with the name. Returns true if no earlier name has the same label value. */
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

/* Up to NAMES_MAX names of the input count; each ends with a NUL. Their number sets the format. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(free_cleanup) char *names = xmemdup0((const char *)data, size);
    struct pages *p = get_pages();
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
