/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/explain/explanation.h"

enum {
    JSON_MAX_BYTES = 256 << 20,
    JSON_LINES = 3, /* The levels of the JSON that begin lines of their own. */
};

struct explanation_line {
    char *text;
    enum explain_style style;
    unsigned object;
};

void explanation_init(struct explanation *x)
{
    *x = (struct explanation){.json = STRBUF_INIT(JSON_MAX_BYTES)};
    x->facts = (struct writer){.out = &x->json, .lines = JSON_LINES};
    explanation_open(x, NULL, '{');
}

void explanation_finish(struct explanation *x)
{
    explanation_close(x, '}');
    assert(x->depth == 0);
    strbuf_addc(&x->json, '\n');
}

void explanation_release(struct explanation *x)
{
    for (size_t i = 0; i < x->line_count; i++)
        free(x->lines[i].text);
    free(x->lines);
    strbuf_release(&x->json);
    *x = (struct explanation){0};
}

void explanation_open(struct explanation *x, const char *key, char bracket)
{
    assert(x->depth < EXPLANATION_DEPTH_MAX);
    x->levels[x->depth].first_line = x->line_count;
    x->levels[x->depth].object =
        bracket == '{' || x->depth == 0 ? x->depth : x->levels[x->depth - 1].object;
    x->depth++;
    writer_open(&x->facts, key, bracket);
}

/* The lines about the object that is about to be closed, in order. */
static void write_text(struct explanation *x, size_t first_line)
{
    bool open = false;

    for (size_t i = first_line; i < x->line_count; i++) {
        const struct explanation_line *line = &x->lines[i];

        if (line->object != x->depth || line->style == EXPLAIN_HEADING)
            continue;
        if (!open)
            writer_open(&x->facts, "text", '[');
        open = true;
        writer_text(&x->facts, NULL, line->text);
    }
    if (open)
        writer_close(&x->facts, ']');
}

void explanation_close(struct explanation *x, char bracket)
{
    assert(x->depth > 0);
    x->depth--;
    if (bracket == '}')
        write_text(x, x->levels[x->depth].first_line);
    writer_close(&x->facts, bracket);
}

void explanation_line(struct explanation *x, enum explain_style style, const char *fmt, ...)
{
    struct strbuf text = STRBUF_INIT(JSON_MAX_BYTES);
    va_list args;
    size_t len;

    va_start(args, fmt);
    strbuf_vaddf(&text, fmt, args);
    va_end(args);
    if (x->line_count == x->line_capacity) {
        x->line_capacity = x->line_capacity ? 2 * x->line_capacity : 32;
        x->lines = xreallocarray(x->lines, x->line_capacity, sizeof(*x->lines));
    }
    x->lines[x->line_count++] = (struct explanation_line){
        .text = strbuf_take(&text, &len),
        .style = style,
        .object = x->levels[x->depth - 1].object,
    };
}

void explanation_lines(const struct explanation *x, explain_fn *line, void *context)
{
    for (size_t i = 0; i < x->line_count; i++)
        line(context, x->lines[i].style, x->lines[i].text);
}
