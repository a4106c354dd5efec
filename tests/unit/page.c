/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/page.h"

#include "metrics/base/json.h"
#include "metrics/expose/family.h"

#include <setjmp.h>

#include <cmocka.h>

enum { PAGE_MAX_BYTES = 64 << 20 };

struct registry *page_registry(struct world *w, const struct registry_options *options)
{
    struct registry *r = registry_new(w->engine, options, 7);

    engine_observe(w->engine,
                   (struct engine_observer){.decided = registry_update_entry, .context = r});
    return r;
}

char *page_of(struct registry *r)
{
    struct strbuf out = STRBUF_INIT(PAGE_MAX_BYTES);

    REGISTRY_SET(r, OWN_UP, 1);
    registry_prepare(r);
    exposition_write(r, (struct exposition){.synced = true}, &out);
    assert_true(strbuf_ok(&out));
    return strbuf_take(&out, NULL);
}

/*
 * Returns the first line that begins with `start`, NULL if no line does. Compares by length: with
 * sanitizers, strncmp() scans to the end of the page, for each line.
 */
static const char *find_line(const char *page, const char *start)
{
    const char *end = page + strlen(page);
    size_t len = strlen(start);
    const char *next;

    for (const char *line = page; line && (size_t)(end - line) >= len; line = next) {
        if (memcmp(line, start, len) == 0)
            return line;
        next = memchr(line, '\n', (size_t)(end - line));
        next = next ? next + 1 : NULL;
    }
    return NULL;
}

int64_t page_sum(const char *page, const char *family, const char *part)
{
    const char *end = page + strlen(page), *next;
    size_t len = strlen(family), part_len = strlen(part);
    int64_t total = 0;

    /* Compares by length, as find_line() does. */
    for (const char *line = page; line < end; line = next + 1) {
        next = memchr(line, '\n', (size_t)(end - line));
        next = next ? next : end;
        size_t line_len = (size_t)(next - line);

        if (line_len <= len || memcmp(line, family, len) != 0 || !memchr("{ ", line[len], 2) ||
            !memmem(line, line_len, part, part_len))
            continue;
        /* Label values may contain spaces: the number follows the last space. */
        total += (int64_t)strtod((const char *)memrchr(line, ' ', line_len), NULL);
    }
    return total;
}

void page_has(const char *page, const char *series, const char *value)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(1 << 16);

    strbuf_addf(&line, "%s %s\n", series, value);
    if (!find_line(page, line.data))
        fail_msg("the page lacks '%s %s':\n%s", series, value, page);
}

void page_lacks(const char *page, const char *start)
{
    if (find_line(page, start))
        fail_msg("the page has '%s':\n%s", start, page);
}

/*
 * Returns true if a line is of a family with history, or counts dropped series of such a family.
 * Compares by length, as find_line() does.
 */
static bool is_history(const char *line, size_t len)
{
    static const char dropped[] = "karmada_policy_exporter_detail_series_dropped{family=\"";

    if (len > strlen(dropped) && memcmp(line, dropped, strlen(dropped)) == 0) {
        line += strlen(dropped);
        len -= strlen(dropped);
    }
    for (size_t i = 0; i < family_count(); i++) {
        const struct family_def *f = family_at(i);

        if (!family_remembers(f))
            continue;
        size_t name_len = strlen(f->name);

        if (len > name_len && memcmp(line, f->name, name_len) == 0 &&
            memchr("{ _\"", line[name_len], 4))
            return true;
    }
    return false;
}

void page_drop_history(char *page)
{
    char *end = page + strlen(page), *kept = page;

    for (char *line = page; line < end;) {
        char *next = memchr(line, '\n', (size_t)(end - line));
        size_t len = (size_t)((next ? next + 1 : end) - line);

        if (!is_history(line, len)) {
            memmove(kept, line, len);
            kept += len;
        }
        line += len;
    }
    *kept = '\0';
}

/* Deletes the members with these names from each element of a list. `names` ends with NULL. */
static void delete_members(const cJSON *list, const char *const *names)
{
    cJSON *item;

    cJSON_ArrayForEach (item, list) {
        for (size_t i = 0; names[i]; i++)
            cJSON_DeleteItemFromObjectCaseSensitive(item, names[i]);
    }
}

void report_drop_history(struct strbuf *report)
{
    static const char *const of_templates[] = {"version",         "versionUnknown", "behind",
                                               "supersededSince", "changedBy",      NULL};
    static const char *const of_policies[] = {"versions", NULL};
    struct error err;
    cJSON *tree = json_parse(report->data, report->len, NULL, &err);

    assert_non_null(tree);
    delete_members(json_array(tree, "templates"), of_templates);
    delete_members(json_array(tree, "policies"), of_policies);

    CLEANUP(free_cleanup) char *text = cJSON_Print(tree);

    cJSON_Delete(tree);
    strbuf_reset(report);
    strbuf_adds(report, text);
}
