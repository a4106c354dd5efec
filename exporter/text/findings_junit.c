/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/findings_format.h"

#include "exporter/text/place_text.h"
#include "metrics/base/utf8.h"

/* Findings as JUnit XML, in the form that Jenkins and GitLab read: a suite for each environment. */

enum { TEXT_MAX_BYTES = 1024 * 1024 };

/* ---- XML ---- */

/* Returns the reference for a character with a meaning in XML; NULL for others. */
static const char *xml_reference(uint32_t point)
{
    switch (point) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\n':
        return "&#10;";
    case '\t':
        return "&#9;";
    default:
        return NULL;
    }
}

/*
 * Appends a text for an attribute or, with `lines`, for an element, which keeps its line breaks.
 * U+FFFD replaces characters that XML forbids or that are unsafe for a terminal.
 */
static void add_xml(struct strbuf *out, const char *text, bool lines)
{
    while (*text != '\0') {
        const char *begin = text;
        uint32_t point = utf8_next(&text);
        const char *reference = xml_reference(point);

        if (reference && !(lines && point == '\n'))
            strbuf_adds(out, reference);
        else if (point == '\n')
            strbuf_addc(out, '\n');
        else if (point == UTF8_BROKEN || utf8_is_unsafe(point) || point == 0xFFFE ||
                 point == 0xFFFF)
            strbuf_adds(out, "\xEF\xBF\xBD");
        else
            strbuf_add(out, begin, (size_t)(text - begin));
    }
}

static void add_attribute(struct strbuf *out, const char *name, const char *value)
{
    strbuf_addf(out, " %s=\"", name);
    add_xml(out, value, false);
    strbuf_addc(out, '"');
}

/* ---- counts ---- */

struct suite_counts {
    size_t tests;
    size_t failures;
    size_t errors;
    size_t skipped;
};

static bool is_in_suite(const struct finding *finding, const char *environment)
{
    return strcmp(finding->environment, environment) == 0;
}

/* Counts the findings of an environment; "" is none. A suite without a finding has one test. */
static struct suite_counts count_suite(const struct findings *f, const struct findings_end *end,
                                       const char *environment)
{
    struct suite_counts c = {.tests = 0};

    for (size_t i = 0; i < f->count; i++) {
        const struct finding *finding = &f->items[i];

        if (!is_in_suite(finding, environment))
            continue;
        c.tests++;
        c.skipped += finding->suppression != FINDING_COUNTS;
        if (finding_is_defect(finding) && finding->level == FINDING_ERROR)
            *(finding->unread ? &c.errors : &c.failures) += 1;
    }
    if (c.tests == 0) {
        c.tests = 1;
        c.errors = !end->complete;
    }
    return c;
}

static void add_counts(struct strbuf *out, const struct suite_counts *c)
{
    strbuf_addf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\"", c->tests, c->failures,
                c->errors);
}

/* ---- tests ---- */

/* Appends the name of the class, which Jenkins groups by its dots: "check.policy_tie". */
static void add_class(const struct findings *f, const char *rule, struct strbuf *out)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(TEXT_MAX_BYTES);

    size_t len = strlen(f->command);

    /* The rules of plan begin with the name of the command. */
    if (strncmp(rule, f->command, len) != 0 || rule[len] != '/')
        strbuf_addf(&name, "%s.", f->command);
    strbuf_adds(&name, rule);
    for (char *slash = name.data; (slash = strchr(slash, '/'));)
        *slash = '.';
    add_attribute(out, "classname", name.data);
}

/* Appends an element with a message and, as its text, the place, the sentences and the relations.
 */
static void add_element(struct strbuf *out, const char *element, const struct finding *finding)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX_BYTES);

    place_add(&text, &finding->place);
    if (text.len > 0)
        strbuf_addc(&text, '\n');
    strbuf_addf(&text, "%s\n", finding->message);
    if (*finding->action)
        strbuf_addf(&text, "Action: %s\n", finding->action);
    for (size_t i = 0; i < finding->relation_count; i++) {
        strbuf_addf(&text, "Related: %s ", finding->relations[i].text);
        place_add(&text, &finding->relations[i].at);
        strbuf_addc(&text, '\n');
    }
    strbuf_addf(out, "\n      <%s", element);
    if (strcmp(element, "system-out") != 0) {
        add_attribute(out, "type", finding->rule);
        add_attribute(out, "message", finding->message);
    }
    strbuf_addc(out, '>');
    add_xml(out, text.data, true);
    strbuf_addf(out, "</%s>\n    ", element);
}

static void add_suppression(struct strbuf *out, const struct finding *finding)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX_BYTES);

    strbuf_addf(&text, "%s%s%s",
                finding->suppression == FINDING_IN_BASELINE ? "in the baseline" : "exception",
                *finding->justification ? ": " : "", finding->justification);
    strbuf_adds(out, "\n      <skipped");
    add_attribute(out, "message", text.data);
    strbuf_adds(out, "/>\n    ");
}

static void add_test(const struct findings *f, const struct finding *finding, struct strbuf *out)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(TEXT_MAX_BYTES);

    /* Several documents of a file can have an error: the line tells them apart. */
    if (finding->unread)
        place_add(&name, &finding->place);
    else
        strbuf_adds(&name, finding->subject);
    strbuf_adds(out, "    <testcase");
    add_attribute(out, "name", name.data);
    add_class(f, finding->rule, out);
    strbuf_addc(out, '>');
    if (finding->suppression != FINDING_COUNTS)
        add_suppression(out, finding);
    else if (!finding->passed)
        add_element(out,
                    finding->level != FINDING_ERROR ? "system-out"
                    : finding->unread               ? "error"
                                                    : "failure",
                    finding);
    strbuf_adds(out, "</testcase>\n");
}

/* Appends the test of a suite without findings: GitLab shows an empty suite as missing. */
static void add_empty_test(const struct findings *f, const struct findings_end *end,
                           struct strbuf *out)
{
    strbuf_adds(out, "    <testcase");
    add_attribute(out, "name", "no findings");
    add_attribute(out, "classname", f->command);
    strbuf_adds(out, end->complete ? "/>\n"
                                   : "><error type=\"data_incomplete\" message=\"Not all inputs "
                                     "could be read.\"/></testcase>\n");
}

static void add_suite(const struct findings *f, const struct findings_end *end,
                      const char *environment, struct strbuf *out)
{
    struct suite_counts counts = count_suite(f, end, environment);
    size_t written = 0;

    strbuf_adds(out, "  <testsuite");
    add_attribute(out, "name", *environment ? environment : f->command);
    add_counts(out, &counts);
    strbuf_addf(out, " skipped=\"%zu\">\n", counts.skipped);
    for (size_t i = 0; i < f->count; i++) {
        if (!is_in_suite(&f->items[i], environment))
            continue;
        add_test(f, &f->items[i], out);
        written++;
    }
    if (written == 0)
        add_empty_test(f, end, out);
    strbuf_adds(out, "  </testsuite>\n");
}

/* Returns the sums of all suites. */
static struct suite_counts count_all(const struct findings *f, const struct findings_end *end)
{
    struct suite_counts all = {.tests = 0};
    size_t first = findings_have_common_part(f) ? 0 : 1;

    for (size_t i = first; i <= f->environment_count; i++) {
        struct suite_counts c = count_suite(f, end, i > 0 ? f->environments[i - 1] : "");

        all.tests += c.tests;
        all.failures += c.failures;
        all.errors += c.errors;
    }
    return all;
}

void findings_write_junit(const struct findings *f, const struct findings_end *end,
                          struct strbuf *out)
{
    struct suite_counts counts = count_all(f, end);

    strbuf_adds(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
    add_attribute(out, "name", "karmada-policy-exporter");
    add_counts(out, &counts);
    strbuf_adds(out, ">\n");
    if (findings_have_common_part(f))
        add_suite(f, end, "", out);
    for (size_t i = 0; i < f->environment_count; i++)
        add_suite(f, end, f->environments[i], out);
    strbuf_adds(out, "</testsuites>\n");
}
