/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/strbuf.h"
#include "metrics/base/utf8.h"
#include "metrics/expose/exposition.h"
#include "metrics/expose/label_text.h"

/*
 * Whatever a name is, what a scraper reads is one line with one value that is
 * UTF-8 without control characters, and no longer than promised.
 */

enum { PAGE_MAX = 1 << 20 };

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

static void check_value(const char *text)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(PAGE_MAX);
    size_t len;

    label_text_add(&out, text);
    strbuf_addc(&out, '"');
    if (skip_value(out.data, &len) != out.data + out.len - 1 || len > LABEL_VALUE_MAX)
        abort();
}

/* A page with the value in it has exactly one more line than one without. */
static size_t count_lines(struct registry *r)
{
    CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT(PAGE_MAX);
    size_t lines = 0;

    registry_prepare(r);
    exposition_write(r, EXPOSITION_TEXT, true, &page);
    for (const char *at = page.data; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    return lines;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(free_cleanup) char *text = xmemdup0((const char *)data, size);
    struct registry *r = registry_new(NULL, &registry_options_default, 1);
    size_t before = count_lines(r);

    check_value(text);
    REGISTRY_SET(r, OWN_OBJECTS, 1, text);
    if (count_lines(r) != before + 1)
        abort();
    registry_free(r);
    return 0;
}
