/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/explain/explanation.h"

#include "metrics/base/strbuf.h"
#include "tests/unit/suite.h"

enum { TEXT_MAX = 1 << 16 };

static const struct difference_case {
    const char *title;
    const char *before;
    const char *after;
    const char *found; /* Each difference: "path: before > after;". */
} cases[] = {
    {"equal", "{\"a\":1}", "{\"a\":1}", ""},
    {"both are absent", NULL, NULL, ""},
    {"before is absent", NULL, "{\"a\":1}", ": - > {\"a\":1};"},
    {"after is absent", "{\"a\":1}", NULL, ": {\"a\":1} > -;"},
    {"members", "{\"a\":1,\"b\":{\"c\":\"x\",\"d\":2}}", "{\"a\":1,\"b\":{\"c\":\"y\",\"d\":2}}",
     "b.c: \"x\" > \"y\";"},
    {"added and removed members", "{\"a\":1,\"c\":3}", "{\"b\":2,\"c\":3}", "a: 1 > -;b: - > 2;"},
    {"a list of texts is one value", "{\"n\":[\"a\",\"b\"]}", "{\"n\":[\"a\"]}",
     "n: [\"a\",\"b\"] > [\"a\"];"},
    {"a list of objects has elements", "{\"n\":[{\"a\":1},{\"b\":2}]}",
     "{\"n\":[{\"a\":1},{\"b\":3},{\"c\":4}]}", "n[1].b: 2 > 3;n[2]: - > {\"c\":4};"},
    {"another type", "{\"n\":[{\"a\":1}]}", "{\"n\":{\"a\":1}}", "n: [{\"a\":1}] > {\"a\":1};"},
    {"values are case-sensitive", "{\"n\":\"A\"}", "{\"n\":\"a\"}", "n: \"A\" > \"a\";"},
};

static const struct lines_case {
    const char *title;
    const char *before;
    const char *after;
    const char *lines;
} lines_cases[] = {
    {"equal", "{\"a\":1}", "{\"a\":1}", ""},
    {"a value", "{\"a\":{\"b\":1}}", "{\"a\":{\"b\":\"x\"}}", "-a.b 1;+a.b x;"},
    {"an added object has a line for each value", NULL,
     "{\"a\":{\"b\":1,\"c\":[\"x\",\"y\"]},\"d\":true}", "+a.b 1;+a.c x;+a.c y;+d true;"},
    {"a removed object has a line for each value", "{\"a\":[{\"b\":1},{\"b\":2}]}", NULL,
     "-a[0].b 1;-a[1].b 2;"},
    {"lists have a line for each different element", "{\"n\":[\"a\",\"b\",\"c\"]}",
     "{\"n\":[\"c\",\"d\",\"a\"]}", "-n b;+n d;"},
    {"lists in another order are compared as a whole", "{\"n\":[\"a\",\"b\"]}",
     "{\"n\":[\"b\",\"a\"]}", "-n [\"a\",\"b\"];+n [\"b\",\"a\"];"},
    {"empty values", "{\"n\":{}}", "{\"n\":[]}", "-n {};+n [];"},
    {"another type", "{\"n\":[\"a\"]}", "{\"n\":\"a\"}", "-n a;+n a;"},
    {"no JSON object", "\"Abort\"", "\"Overwrite\"", "- Abort;+ Overwrite;"},
};

static void add_line(void *context, const struct difference_line *line)
{
    strbuf_addf(context, "%c%s %s;", line->sign, line->path, line->value);
}

TEST_ROWS(differences_are_lines, lines_cases, title)
{
    const struct lines_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf lines = STRBUF_INIT(TEXT_MAX);

    difference_lines_each(c->before, c->after, add_line, &lines);
    assert_string_equal(lines.data, c->lines);
}

static void add_difference(void *context, const struct difference *d)
{
    strbuf_addf(context, "%s: %s > %s;", d->path, d->before ? d->before : "-",
                d->after ? d->after : "-");
}

TEST_ROWS(differences_are_found, cases, title)
{
    const struct difference_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf found = STRBUF_INIT(TEXT_MAX);

    differences_each(c->before, c->after, add_difference, &found);
    assert_string_equal(found.data, c->found);
}
