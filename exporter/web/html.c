/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/html.h"

#include "metrics/base/timestamp.h"
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
    while (*text != '\0') {
        const char *begin = text, *entity = entity_of(*text);
        uint32_t point = utf8_next(&text);

        if (entity)
            strbuf_adds(out, entity);
        else if (point == UTF8_BROKEN || utf8_is_unsafe(point))
            strbuf_adds(out, REPLACEMENT);
        else
            strbuf_add(out, begin, (size_t)(text - begin));
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

void html_time(struct strbuf *out, int64_t time_ms, int64_t now_ms)
{
    static const struct {
        int64_t seconds;
        const char *name;
    } units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
    int64_t age_s = (now_ms - time_ms) / 1000;
    char time[32];
    size_t i = 0;

    format_timestamp(time_ms, time);
    strbuf_addf(out, "<time datetime=\"%s\">%s</time>", time, time);
    if (now_ms == 0 || age_s < 0)
        return;
    while (i + 1 < ARRAY_LEN(units) && age_s < units[i].seconds)
        i++;
    strbuf_addf(out, " (%" PRId64 " %s ago)", age_s / units[i].seconds, units[i].name);
}

void html_since(struct strbuf *out, int64_t time_ms, bool seen, int64_t now_ms)
{
    if (time_ms <= 0)
        return;
    strbuf_adds(out, seen ? ", first seen so " : ", since ");
    html_time(out, time_ms, now_ms);
}

void html_section(struct strbuf *out, const char *id, const char *title, size_t count)
{
    strbuf_addf(out,
                "<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">%s "
                "<span class=\"faint\">%zu</span></h2>\n",
                id, id, title, count);
}

/* It can be wider than a telephone is: then it moves, by keys as well. */
void html_table(struct strbuf *out, const char *label, const char *const *heads)
{
    strbuf_addf(out,
                "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"%s\">\n<table>\n"
                "<thead>\n<tr>",
                label);
    for (; *heads; heads++)
        strbuf_addf(out, "<th scope=\"col\">%s</th>", *heads);
    strbuf_adds(out, "</tr>\n</thead>\n<tbody>\n");
}

void html_table_end(struct strbuf *out)
{
    strbuf_adds(out, "</tbody>\n</table>\n</div>\n");
}

void html_more(struct strbuf *out, size_t count)
{
    if (count > HTML_SHOWN_MAX)
        strbuf_addf(out, "<p class=\"faint\">And %zu more.</p>\n", count - HTML_SHOWN_MAX);
}
