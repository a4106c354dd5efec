/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/explain/differences.h"

#include "metrics/base/strbuf.h"
#include "tests/unit/suite.h"

enum { TEXT_MAX = 1 << 16 };

static const struct difference_case {
    const char *title;
    const char *before;
    const char *after;
    const char *found; /* path: before > after; */
} cases[] = {
    {"equal", "{\"a\":1}", "{\"a\":1}", ""},
    {"none", NULL, NULL, ""},
    {"one is absent", NULL, "{\"a\":1}", ": - > {\"a\":1};"},
    {"the other is absent", "{\"a\":1}", NULL, ": {\"a\":1} > -;"},
    {"members", "{\"a\":1,\"b\":{\"c\":\"x\",\"d\":2}}", "{\"a\":1,\"b\":{\"c\":\"y\",\"d\":2}}",
     "b.c: \"x\" > \"y\";"},
    {"members come and go", "{\"a\":1,\"c\":3}", "{\"b\":2,\"c\":3}", "a: 1 > -;b: - > 2;"},
    {"a list of texts is one value", "{\"n\":[\"a\",\"b\"]}", "{\"n\":[\"a\"]}",
     "n: [\"a\",\"b\"] > [\"a\"];"},
    {"a list of objects has elements", "{\"n\":[{\"a\":1},{\"b\":2}]}",
     "{\"n\":[{\"a\":1},{\"b\":3},{\"c\":4}]}", "n[1].b: 2 > 3;n[2]: - > {\"c\":4};"},
    {"another type", "{\"n\":[{\"a\":1}]}", "{\"n\":{\"a\":1}}", "n: [{\"a\":1}] > {\"a\":1};"},
    {"case counts", "{\"n\":\"A\"}", "{\"n\":\"a\"}", "n: \"A\" > \"a\";"},
};

static void add(void *context, const struct difference *d)
{
    strbuf_addf(context, "%s: %s > %s;", d->path, d->before ? d->before : "-",
                d->after ? d->after : "-");
}

TEST_ROWS(differences_are_found, cases, title)
{
    const struct difference_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf found = STRBUF_INIT(TEXT_MAX);

    differences_each(c->before, c->after, add, &found);
    assert_string_equal(found.data, c->found);
}
