/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/exposition.h"

#include <setjmp.h>

#include <cmocka.h>

#include "metrics/base/timestamp.h"
#include "metrics/expose/families.h"
#include "tests/unit/page.h"

enum { PAGE_MAX_BYTES = 1 << 20 };

struct golden_case {
    const char *name;
    const char *objects;
    const char *page;
    enum exposition_format format;
};

static struct golden_case golden_cases[] = {
    {"objects with bindings", "observed.json", "observed.metrics.txt", EXPOSITION_TEXT},
    {"objects with bindings, OpenMetrics", "observed.json", "observed.openmetrics.txt",
     EXPOSITION_OPENMETRICS},
    {"manifests without bindings", "derived.json", "derived.metrics.txt", EXPOSITION_TEXT},
    {"stale templates and member clusters", "capacity.json", "capacity.metrics.txt",
     EXPOSITION_TEXT},
};

/* What the exporter knows of itself: numbers of all shapes. */
static void set_own(struct registry *r)
{
    REGISTRY_SET(r, OWN_BUILD_INFO, 1, "1.2.3", "0123abc", "gcc 12");
    REGISTRY_SET(r, OWN_SNAPSHOT, 1767240000.25);
    REGISTRY_SET(r, OWN_HTTP_REQUESTS, 2000000, "/metrics", "200");
    REGISTRY_SET(r, OWN_HTTP_REQUESTS, 1, "/", "404");
    REGISTRY_SET(r, OWN_CPU_SECONDS, 1.5);
    REGISTRY_SET(r, OWN_RESIDENT_BYTES, 1234567890);
    registry_count(r, OWN_EVALUATION_DURATION, 0.0004);
}

static void render(const char *objects, enum exposition_format format, bool synced,
                   struct strbuf *out)
{
    struct world w;
    int64_t now_ms;

    assert_true(parse_timestamp("2026-01-01T04:00:00Z", &now_ms));
    world_init(&w, &rules_options_default, 1);
    struct registry *r = page_registry(&w, &registry_options_default);
    golden_load(&w, objects);
    world_run(&w, now_ms);
    set_own(r);
    REGISTRY_SET(r, OWN_UP, synced);
    registry_prepare(r);
    exposition_write(r, format, synced, out);
    assert_true(strbuf_ok(out));
    registry_free(r);
    world_release(&w);
}

static void page_is_golden(void **state)
{
    const struct golden_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT(PAGE_MAX_BYTES);

    render(c->objects, c->format, true, &page);
    golden_check(c->page, page.data);
}

static void before_the_sync_there_is_only_own_health(void **state)
{
    CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT(PAGE_MAX_BYTES);

    (void)state;
    render("observed.json", EXPOSITION_TEXT, false, &page);
    page_has(page.data, "karmada_policy_exporter_up", "0");
    page_has(page.data, "process_cpu_seconds_total", "1.5");
    page_lacks(page.data, "karmada_templates");
    page_lacks(page.data, "# HELP karmada_templates");
    page_lacks(page.data, "# HELP karmada_propagationpolicy");
    page_lacks(page.data, "# HELP karmada_dependency");
    page_lacks(page.data, "# HELP karmada_bindings");
    page_lacks(page.data, "# HELP karmada_template_binding_delay_seconds");
}

/* What a scraper must be able to rely on, whatever is in the golden page. */
static void every_line_is_well_formed(void **state)
{
    CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT(PAGE_MAX_BYTES);
    char family[128] = "";
    char last[2048] = "";

    (void)state;
    render("observed.json", EXPOSITION_TEXT, true, &page);
    assert_int_equal(page.data[page.len - 1], '\n');
    for (char *line = page.data, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        *end = '\0';
        if (strncmp(line, "# HELP ", 7) == 0) {
            snprintf(family, sizeof(family), "%.*s", (int)strcspn(line + 7, " "), line + 7);
            last[0] = '\0';
            continue;
        }
        if (*line == '#')
            continue;
        assert_int_equal(strncmp(line, family, strlen(family)), 0);
        /* Sorted, hence also never the same series twice; buckets are by their bounds. */
        if (family_find(family)->type != FAMILY_HISTOGRAM && strcmp(last, line) >= 0)
            fail_msg("'%s' comes after '%s'", line, last);
        snprintf(last, sizeof(last), "%s", line);
        /* The number ends the line. */
        char *rest;
        strtod(strrchr(line, ' ') + 1, &rest);
        assert_string_equal(rest, "");
    }
}

static void two_runs_are_byte_equal(void **state)
{
    CLEANUP(strbuf_release) struct strbuf one = STRBUF_INIT(PAGE_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf two = STRBUF_INIT(PAGE_MAX_BYTES);

    (void)state;
    render("observed.json", EXPOSITION_TEXT, true, &one);
    render("observed.json", EXPOSITION_TEXT, true, &two);
    assert_string_equal(one.data, two.data);
}

int main(void)
{
    struct CMUnitTest tests[ARRAY_LEN(golden_cases) + 3];
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(golden_cases); i++)
        tests[n++] =
            (struct CMUnitTest){golden_cases[i].name, page_is_golden, NULL, NULL, &golden_cases[i]};
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(before_the_sync_there_is_only_own_health);
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(every_line_is_well_formed);
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(two_runs_are_byte_equal);
    return cmocka_run_group_tests_name("exposition", tests, NULL, NULL);
}
