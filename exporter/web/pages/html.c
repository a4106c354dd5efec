/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/pages/html.h"

#include "metrics/base/utf8.h"

enum { TEXT_MAX = 64 * 1024 };

#define REPLACEMENT "\xEF\xBF\xBD"

static const char *entity_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void html_text(struct strbuf *out, const char *text)
{
    for (unsigned len; *text != '\0'; text += len) {
        const unsigned char *s = (const unsigned char *)text;
        const char *entity = entity_of(*text);

        len = utf8_char_len(text);
        bool control =
            len == 1 ? s[0] < 0x20 || s[0] == 0x7F : len == 2 && s[0] == 0xC2 && s[1] < 0xA0;

        if (entity) {
            strbuf_adds(out, entity);
        } else if (len == 0 || control) {
            strbuf_adds(out, REPLACEMENT);
            len = len == 0 ? 1 : len;
        } else {
            strbuf_add(out, text, len);
        }
    }
}

void html_textf(struct strbuf *out, const char *fmt, ...)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    va_list args;

    va_start(args, fmt);
    strbuf_vaddf(&text, fmt, args);
    va_end(args);
    html_text(out, text.data);
}

void html_more(struct strbuf *out, size_t count)
{
    if (count > HTML_SHOWN_MAX)
        strbuf_addf(out, "<p class=\"faint\">And %zu more.</p>\n", count - HTML_SHOWN_MAX);
}
