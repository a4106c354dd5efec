/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/exposition.h"

#include "metrics/base/timestamp.h"
#include "metrics/expose/family.h"
#include "tests/unit/golden.h"
#include "tests/unit/page.h"
#include "tests/unit/suite.h"

enum { PAGE_MAX_BYTES = 1 << 20 };

struct golden_case {
    const char *name;
    const char *objects;
    const char *page;
    enum exposition_format format;
    bool all; /* The page has all families, also those off by default or set by the exporter. */
};

static struct golden_case golden_cases[] = {
    {"objects with bindings", "observed.json", "observed.metrics.txt", EXPOSITION_TEXT, false},
    {"objects with bindings, OpenMetrics", "observed.json", "observed.openmetrics.txt",
     EXPOSITION_OPENMETRICS, false},
    {"manifests without bindings", "derived.json", "derived.metrics.txt", EXPOSITION_TEXT, false},
    {"stale templates and member clusters", "capacity.json", "capacity.metrics.txt",
     EXPOSITION_TEXT, false},
    {"objects that the other pages lack", "assorted.json", "assorted.metrics.txt", EXPOSITION_TEXT,
     true},
};
static const struct golden_case *const observed = &golden_cases[0];

/* Sets metrics of the exporter itself, with numbers of different formats. */
static void set_own(struct registry *r)
{
    REGISTRY_SET(r, OWN_BUILD_INFO, 1, "1.2.3", "0123abc", "gcc 12", "1.15 to 1.16", "server");
    REGISTRY_SET(r, OWN_SNAPSHOT, 1767240000.25);
    REGISTRY_SET(r, OWN_HTTP_REQUESTS, 2000000, "/metrics", "200");
    REGISTRY_SET(r, OWN_HTTP_REQUESTS, 1, "/", "404");
    REGISTRY_SET(r, OWN_CPU_SECONDS, 1.5);
    REGISTRY_SET(r, OWN_RESIDENT_BYTES, 1234567890);
    registry_observe(r, OWN_EVALUATION_DURATION, 0.0004);
}

/* Sets one series of each family that the exporter sets; the names of labels are their values. */
static void set_all_own(struct registry *r)
{
    for (size_t i = 0; i < own_families.count; i++) {
        const struct family_def *f = &own_families.families[i];
        const char *labels[FAMILY_LABELS_MAX];
        size_t count = 0;

        for (; f->labels[count].name; count++)
            labels[count] = f->labels[count].name;
        if (f->type == FAMILY_HISTOGRAM)
            registry_observe(r, (enum own_family)i, 0.0004);
        else
            registry_set(r, (enum own_family)i, 1, count, labels);
    }
}

/* Sets one series of each family of problems; the names of labels are their values. */
static void set_all_problems(struct registry *r)
{
    for (unsigned i = 0; i < problem_families.count; i++) {
        const struct family_def *f = &problem_families.families[i];
        const char *labels[FAMILY_LABELS_MAX];
        size_t count = 0;

        for (; f->labels[count].name; count++)
            labels[count] = f->labels[count].name;
        *registry_problem_value(r, i, count, labels) = 1;
    }
}

static void render(const struct golden_case *c, bool synced, struct strbuf *out)
{
    struct registry_options options = registry_options_default;
    struct world w;
    int64_t now_ms;

    options.opt_in = c->all;
    assert_true(parse_timestamp("2026-01-01T04:00:00Z", &now_ms));
    world_init(&w, &rules_options_default, 1);
    struct registry *r = page_registry(&w, &options);
    golden_load(&w, c->objects);
    world_run(&w, now_ms);
    if (c->all) {
        set_all_own(r);
        set_all_problems(r);
    } else {
        set_own(r);
    }
    REGISTRY_SET(r, OWN_UP, synced);
    registry_prepare(r);
    exposition_write(
        r, (struct exposition){.format = c->format, .synced = synced, .created_ms = 1767230000125},
        out);
    assert_true(strbuf_ok(out));
    registry_free(r);
    world_release(&w);
}

TEST_ROWS(page_equals_the_golden_page_of, golden_cases, name)
{
    const struct golden_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT(PAGE_MAX_BYTES);

    render(c, true, &page);
    golden_check(c->page, page.data);
}

static struct strbuf pages = STRBUF_INIT(PAGE_MAX_BYTES);

static int render_pages(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(golden_cases); i++)
        render(&golden_cases[i], true, &pages);
    return 0;
}

static int release_pages(void **state)
{
    (void)state;
    strbuf_release(&pages);
    return 0;
}

SUITE_WITH(render_pages, release_pages);

/* Returns true if the line is a series of the family (of a histogram: its count) and not 0. */
static bool is_nonzero_series_of(const char *line, const struct family_def *f)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(1024);

    strbuf_addf(&name, "%s%s", f->name, f->type == FAMILY_HISTOGRAM ? "_count" : "");
    if (strncmp(line, name.data, name.len) != 0 || !strchr("{ ", line[name.len]))
        return false;

    const char *end = strchr(line, '\n');

    return strtod((const char *)memrchr(line, ' ', (size_t)(end - line)) + 1, NULL) != 0;
}

/* Many series are 0 without objects. Only a value other than 0 shows that a family is computed. */
static void a_golden_page_has_a_value_of(void **state)
{
    const struct family_def *f = *state;
    const char *line = pages.data;

    /* The golden pages have no delays and no transitions; test_series.c tests them. */
    if (f->aggregation == AGGREGATE_WAIT ||
        strcmp(f->name, "karmada_template_transitions_total") == 0)
        return;
    while (*line && !is_nonzero_series_of(line, f))
        line = strchr(line, '\n') + 1;
    if (!*line)
        fail_msg("No golden page has a series of %s that is not 0. Add objects that make one to "
                 "tests/fixtures/golden/assorted.json, then run `make golden`.",
                 f->name);
}

MADE_TESTS(add_tests_of_families)
{
    for (size_t i = 0; i < family_count(); i++)
        ADD_TEST(a_golden_page_has_a_value_of, family_at(i)->name, family_at(i));
}

/* Without this test, the series of a problem that no rule detects could always be 0. */
static void a_golden_page_has_a_policy_with(void **state)
{
    const char *const *problem = *state;
    CLEANUP(strbuf_release) struct strbuf zero = STRBUF_INIT(1024);
    size_t zeros = 0, all = 0;

    strbuf_addf(&zero, "karmada_propagationpolicy_invalid{reason=\"%s\"} ", *problem);
    for (const char *at = pages.data; (at = strstr(at, zero.data)); all++) {
        at += zero.len;
        zeros += strncmp(at, "0\n", 2) == 0;
    }
    if (zeros == all)
        fail_msg("No golden page has a policy with %s. Add one to tests/fixtures/golden/"
                 "assorted.json, then run `make golden`.",
                 *problem);
}

MADE_TESTS(add_tests_of_problems)
{
    for (size_t i = 0; i < POLICY_PROBLEM_COUNT; i++)
        ADD_TEST(a_golden_page_has_a_policy_with, policy_problem_names[i],
                 &policy_problem_names[i]);
}

TEST(page_before_the_sync_has_own_metrics_only)
{
    CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT(PAGE_MAX_BYTES);

    render(observed, false, &page);
    page_has(page.data, "karmada_policy_exporter_up", "0");
    page_has(page.data, "process_cpu_seconds_total", "1.5");
    page_lacks(page.data, "karmada_templates");
    page_lacks(page.data, "# HELP karmada_templates");
    page_lacks(page.data, "# HELP karmada_propagationpolicy");
    page_lacks(page.data, "# HELP karmada_dependency");
    page_lacks(page.data, "# HELP karmada_bindings");
    page_lacks(page.data, "# HELP karmada_template_binding_delay_seconds");
}

/* Properties of each page that Prometheus and other clients depend on. */
TEST(each_line_is_well_formed)
{
    CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT(PAGE_MAX_BYTES);
    char family[128] = "";
    char last[2048] = "";

    render(observed, true, &page);
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
        /* The lines are sorted, so no series occurs twice. Buckets are sorted by their bounds. */
        if (family_find(family)->type != FAMILY_HISTOGRAM && strcmp(last, line) >= 0)
            fail_msg("'%s' comes after '%s'", line, last);
        snprintf(last, sizeof(last), "%s", line);
        /* The line ends after the value. */
        char *rest;
        strtod(strrchr(line, ' ') + 1, &rest);
        assert_string_equal(rest, "");
    }
}

TEST(two_pages_of_equal_objects_are_equal)
{
    CLEANUP(strbuf_release) struct strbuf one = STRBUF_INIT(PAGE_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf two = STRBUF_INIT(PAGE_MAX_BYTES);

    render(observed, true, &one);
    render(observed, true, &two);
    assert_string_equal(one.data, two.data);
}

/* A reload creates a registry with counters that start at 0. */
TEST(created_time_is_that_of_the_reload_or_of_the_start)
{
    struct registry *r = registry_new(NULL, &registry_options_default, 1);
    CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT(PAGE_MAX_BYTES);
    struct exposition how = {
        .format = EXPOSITION_OPENMETRICS, .created_ms = 1000, .since_ms = 2500};

    REGISTRY_SET(r, OWN_EVALUATIONS, 7);
    REGISTRY_SET(r, OWN_CPU_SECONDS, 7);
    REGISTRY_SET(r, OWN_HTTP_REQUESTS, 7, "metrics", "200");
    registry_prepare(r);
    exposition_write(r, how, &page);
    page_has(page.data, "karmada_policy_exporter_evaluations_created", "2.5");
    page_has(page.data, "karmada_policy_exporter_evaluation_duration_seconds_created", "2.5");
    page_has(page.data, "process_cpu_seconds_created", "1");
    page_has(page.data,
             "karmada_policy_exporter_http_requests_created{handler=\"metrics\",code=\"200\"}",
             "1");
    /* Without a known start time, the process counters have no _created series. */
    how.created_ms = 0;
    strbuf_reset(&page);
    exposition_write(r, how, &page);
    assert_null(strstr(page.data, "process_cpu_seconds_created"));
    registry_free(r);
}
