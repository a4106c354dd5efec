/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/policy_lists.h"

#include "metrics/expose/report.h"
#include "tests/unit/bound_objects.h"
#include "tests/unit/golden.h"
#include "tests/unit/list_text.h"
#include "tests/unit/suite.h"

enum { TEXT_MAX = 1 << 20 };

static const int64_t NOW_MS = INT64_C(1767225600000); /* 2026-01-01T00:00:00Z */

TEST(policies_have_their_problems_and_those_of_their_templates)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, POLICY("idle", SELECTS("nothing") "," ON("m1")));
    world_put_text(&w, POLICY("p", SELECTS("web") "," ON("m1")));
    world_put_text(&w, TEMPLATE("web", "," CLAIM("p")));
    world_put_text(&w, BINDING("web", "p", "m2"));
    list_world_run(&w, NOW_MS);
    CLEANUP(free_cleanup) char *text = list_rows(&w, &policy_list);

    check_has(text, "{\"kind\":\"PropagationPolicy\",\"namespace\":\"default\",\"name\":\"idle\","
                    "\"selected\":0,\"won\":0,\"claimed\":0,\"stale\":0,");
    check_has(text, "\"severity\":\"info\",\"problem\":\"policy_unused\",");
    check_has(text, "\"name\":\"p\",\"selected\":1,\"won\":1,\"claimed\":1,\"stale\":1,");
    check_has(text, "\"severity\":\"warning\",\"problem\":\"policy_not_in_force\",");
    check_has(text, "\"versionsInUse\":1,\"problems\":3}\n");
    world_release(&w);
}

struct lines {
    const struct engine *engine;
    struct strbuf text;
};

static void add_lines(void *context, const struct entry *dependency)
{
    struct lines *l = context;

    report_add_lines(l->engine, REPORT_CONFLICTS, dependency, &l->text);
}

/* Each row is the element of the report, in its order, with further members behind it. */
TEST(conflicts_are_those_of_the_report)
{
    struct lines l = {.text = STRBUF_INIT(TEXT_MAX)};
    struct world w;
    const char *row, *line;

    world_init(&w, &rules_options_default, 1);
    golden_load(&w, "observed.json");
    list_world_run(&w, NOW_MS);
    l.engine = w.engine;
    report_each_entry(w.engine, REPORT_CONFLICTS, add_lines, &l);
    CLEANUP(free_cleanup) char *text = list_rows(&w, &conflict_list);

    assert_true(l.text.len > 0);
    for (row = text, line = l.text.data; *line; row = strchr(row, '\n') + 1) {
        size_t len = strcspn(line, "\n");

        assert_memory_equal(row, line, len - 1);
        assert_int_equal(row[len - 1], ',');
        line += len + 1;
    }
    assert_int_equal(*row, '\0');
    check_has(text, "\"wanted\":\"Overwrite ");
    strbuf_release(&l.text);
    world_release(&w);
}
