/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/explanation_text.h"

enum { LINE_MAX_BYTES = 1 << 20, INDENT = 2, DETAIL_INDENT = 5 };

void explanation_print_line(struct output *o, enum explain_style style, const char *text)
{
    CLEANUP(strbuf_release) struct strbuf safe = STRBUF_INIT(LINE_MAX_BYTES);
    size_t indent = style == EXPLAIN_DETAIL ? DETAIL_INDENT : INDENT;

    output_safe(&safe, text);
    if (style == EXPLAIN_HEADING) {
        strbuf_adds(&o->text, o->text.len > 0 ? "\n" : "");
        output_styled(o, STYLE_HEADING, safe.data);
    } else {
        strbuf_addf(&o->text, "%*s", (int)indent, "");
        if (style == EXPLAIN_ROW)
            strbuf_adds(&o->text, safe.data);
        else
            output_wrap(&o->text, safe.data, indent, indent, o->width);
    }
    strbuf_addc(&o->text, '\n');
}

static void print_line(void *context, enum explain_style style, const char *text)
{
    explanation_print_line(context, style, text);
}

void explanation_print(const struct explanation *x, struct output *o)
{
    explanation_each_line(x, print_line, o);
}
