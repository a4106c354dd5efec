/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/page.h"

#include <setjmp.h>

#include <cmocka.h>

#define GOLDEN_FOLDER "tests/fixtures/golden/"

enum { PAGE_MAX_BYTES = 64 << 20, FILE_MAX_BYTES = 1 << 20 };

struct registry *page_registry(struct world *w, const struct registry_options *options)
{
    struct registry *r = registry_new(w->engine, options, 7);

    engine_observe(w->engine, (struct engine_observer){registry_decided, r});
    return r;
}

char *page_of(struct registry *r)
{
    struct strbuf out = STRBUF_INIT(PAGE_MAX_BYTES);

    REGISTRY_SET(r, OWN_UP, 1);
    registry_prepare(r);
    exposition_write(r, EXPOSITION_TEXT, true, &out);
    assert_true(strbuf_ok(&out));
    return strbuf_take(&out, NULL);
}

/* The line that begins with `start`, NULL if there is none. */
static const char *find_line(const char *page, const char *start)
{
    size_t len = strlen(start);

    for (const char *line = page; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, start, len) == 0)
            return line;
    }
    return NULL;
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

static char *golden_read(const char *name)
{
    char path[256];
    CLEANUP(free_cleanup) char *text = xcalloc(1, FILE_MAX_BYTES);

    snprintf(path, sizeof(path), GOLDEN_FOLDER "%s", name);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("cannot open '%s'", path);
    size_t len = fread(text, 1, FILE_MAX_BYTES - 1, file);
    fclose(file);
    return xmemdup0(text, len);
}

static void golden_write(const char *name, const char *text)
{
    char path[256];

    snprintf(path, sizeof(path), GOLDEN_FOLDER "%s", name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

void golden_check(const char *name, const char *text)
{
    if (getenv("GOLDEN_UPDATE")) {
        golden_write(name, text);
        return;
    }

    CLEANUP(free_cleanup) char *expect = golden_read(name);
    size_t line = 1;

    if (strcmp(text, expect) == 0)
        return;
    for (size_t i = 0; text[i] == expect[i]; i++)
        line += text[i] == '\n';
    fail_msg("differs from " GOLDEN_FOLDER "%s in line %zu:\n%s", name, line, text);
}

void golden_load(struct world *w, const char *name)
{
    CLEANUP(free_cleanup) char *text = golden_read(name);
    cJSON *objects = cJSON_Parse(text);

    assert_true(cJSON_IsArray(objects));
    world_put_all(w, objects);
    cJSON_Delete(objects);
}
