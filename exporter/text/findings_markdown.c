/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/findings_format.h"

#include <strings.h>

#include "exporter/text/place_text.h"
#include "exporter/version.h"
#include "metrics/base/utf8.h"

/* Findings as Markdown, for a comment on a merge request. */

enum {
    TEXT_MAX_BYTES = 1024 * 1024,
    END_BYTES = 1024, /* Room for the sentences at the end of a shortened comment. */
};

/* ---- texts ---- */

/* Returns the replacement of a character that Markdown or HTML could take for markup; else NULL. */
static const char *markdown_reference(uint32_t point)
{
    switch (point) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    /* An invisible blank, because a mention or a reference would notify people. */
    case '@':
        return "@&#8203;";
    case '#':
        return "#&#8203;";
    default:
        return NULL;
    }
}

/* Returns true if the text begins like an address that Markdown makes a link without any markup. */
static bool is_address(const char *text)
{
    return strncmp(text, "://", 3) == 0 || strncasecmp(text, "www.", 4) == 0;
}

void findings_add_cell(struct strbuf *out, const char *text)
{
    while (*text != '\0') {
        const char *begin = text;
        uint32_t point = utf8_next(&text);
        const char *reference = markdown_reference(point);

        if (is_address(begin))
            strbuf_addf(out, "%c&#8203;", *begin);
        else if (reference)
            strbuf_adds(out, reference);
        else if (point == '\n' || point == '\t')
            strbuf_addc(out, ' ');
        else if (point == UTF8_BROKEN || utf8_is_unsafe(point))
            strbuf_adds(out, "\xEF\xBF\xBD");
        else if (point < 0x80 && strchr("\\`*_{}[]()|~!$", (int)point))
            strbuf_addf(out, "\\%c", (int)point);
        else
            strbuf_add(out, begin, (size_t)(text - begin));
    }
}

static void add_code_cell(struct strbuf *out, const char *text)
{
    strbuf_adds(out, "<code>");
    findings_add_cell(out, text);
    strbuf_adds(out, "</code>");
}

/* ---- rows ---- */

static void add_row(struct strbuf *out, const struct finding *finding)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX_BYTES);

    strbuf_adds(out, "| ");
    add_code_cell(out, finding->rule);
    strbuf_adds(out, "<br>");
    if (*finding->environment) {
        findings_add_cell(out, finding->environment);
        strbuf_adds(out, ": ");
    }
    findings_add_cell(out, finding->subject);
    place_add(&text, &finding->place);
    if (text.len > 0) {
        strbuf_adds(out, "<br>");
        add_code_cell(out, text.data);
    }
    strbuf_reset(&text);
    strbuf_adds(out, " | ");
    findings_add_cell(out, finding->message);
    if (finding->suppression != FINDING_COUNTS)
        strbuf_adds(&text, *finding->justification ? finding->justification : "in the baseline");
    else
        strbuf_adds(&text, finding->action);
    if (text.len > 0)
        strbuf_adds(out, "<br>");
    if (text.len > 0 && finding->suppression != FINDING_COUNTS)
        strbuf_adds(out, "Accepted: ");
    findings_add_cell(out, text.data);
    strbuf_adds(out, " |\n");
}

/* Groups of findings, in the order of the comment. Only the first is not folded. */
enum markdown_group { GROUP_FAILING, GROUP_OTHERS, GROUP_SUPPRESSED, GROUP_PASSED, GROUP_COUNT };

static enum markdown_group group_of(const struct finding *finding)
{
    if (finding->passed)
        return GROUP_PASSED;
    if (finding->suppression != FINDING_COUNTS)
        return GROUP_SUPPRESSED;
    return finding->level == FINDING_ERROR ? GROUP_FAILING : GROUP_OTHERS;
}

static void open_group(struct strbuf *out, enum markdown_group group, size_t count)
{
    static const char *const titles[GROUP_COUNT][2] = {
        [GROUP_FAILING] = {"", ""},
        [GROUP_OTHERS] = {"finding that does not fail", "findings that do not fail"},
        [GROUP_SUPPRESSED] = {"accepted finding: in the baseline, or with an exception",
                              "accepted findings: in the baseline, or with an exception"},
        [GROUP_PASSED] = {"expectation holds", "expectations hold"},
    };

    strbuf_addc(out, '\n');
    if (group != GROUP_FAILING)
        strbuf_addf(out, "<details><summary>%zu %s</summary>\n\n", count, titles[group][count > 1]);
    strbuf_adds(out, "| Finding | Cause and action |\n|---|---|\n");
}

/*
 * Appends the findings of a group, as many as fit below `max` bytes, and the number of the others.
 */
static void add_group(const struct findings *f, enum markdown_group group, size_t max,
                      struct strbuf *out)
{
    size_t count = 0, written = 0;

    for (size_t i = 0; i < f->count; i++)
        count += group_of(&f->items[i]) == group;
    if (count == 0)
        return;
    open_group(out, group, count);
    for (size_t i = 0; i < f->count; i++) {
        size_t begin = out->len;

        if (group_of(&f->items[i]) != group)
            continue;
        add_row(out, &f->items[i]);
        /* A long row does not keep the shorter ones behind it out. */
        if (out->len > max)
            strbuf_cut(out, begin);
        else
            written++;
    }
    if (written < count)
        strbuf_addf(out, "\nand %zu more\n", count - written);
    if (group != GROUP_FAILING)
        strbuf_adds(out, "\n</details>\n");
}

/* ---- comment ---- */

/* Appends the text for people as a folded code block, if it fits. */
static void add_text(const struct findings *f, size_t max, struct strbuf *out)
{
    size_t begin = out->len;

    if (f->text.len == 0)
        return;
    strbuf_addf(out, "\n<details><summary>Output of the %s</summary>\n\n<pre>\n", f->command);
    for (const char *at = f->text.data; *at != '\0';) {
        const char *from = at;
        const char *reference = markdown_reference(utf8_next(&at));

        /* A blank line would end the block. */
        if (reference)
            strbuf_adds(out, reference);
        else if (from[0] == '\n' && from[1] == '\n')
            strbuf_adds(out, "\n&nbsp;");
        else
            strbuf_add(out, from, (size_t)(at - from));
    }
    strbuf_adds(out, "</pre>\n\n</details>\n");
    if (out->len <= max)
        return;
    strbuf_cut(out, begin);
    strbuf_addf(out, "\nThe output of the %s is too long for a comment.\n", f->command);
}

void findings_write_markdown(const struct findings *f, const struct findings_end *end,
                             struct strbuf *out)
{
    CLEANUP(strbuf_release) struct strbuf summary = STRBUF_INIT(TEXT_MAX_BYTES);
    size_t max = MARKDOWN_MAX_CHARACTERS - END_BYTES;

    findings_add_summary(f, &summary);
    strbuf_addf(out, "**%s**: ", end->exit_status == 0 ? "Passed" : "Failed");
    findings_add_cell(out, summary.data);
    if (!end->complete)
        strbuf_adds(out, " Not all inputs could be read.");
    strbuf_addc(out, '\n');
    for (unsigned group = 0; group < GROUP_COUNT; group++) {
        /* The failing findings leave room for the sections of the plan. */
        add_group(f, group, max - (group == GROUP_FAILING ? f->details.len : 0), out);
        if (group == GROUP_FAILING && out->len + f->details.len <= max)
            strbuf_add(out, f->details.data, f->details.len);
    }
    add_text(f, max, out);
    strbuf_addf(out, "\n<sub>%s %s %s</sub>\n", EXPORTER_NAME, EXPORTER_VERSION, f->command);
}
