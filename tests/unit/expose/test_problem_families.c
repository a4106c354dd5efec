/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/problem_families.h"

#include "metrics/expose/problem_text.h"
#include "tests/unit/bound_objects.h"
#include "tests/unit/page.h"
#include "tests/unit/suite.h"

enum { MINUTE_MS = 60 * 1000, LINE_MAX_BYTES = 1 << 16, PAGE_MAX_BYTES = 64 << 20 };

static const int64_t START_MS = INT64_C(1767225600000);

#define OPEN         "karmada_policy_problems"
#define BY_NAMESPACE "karmada_policy_namespace_problems"
#define HIDDEN       "karmada_policy_problems_hidden"
#define OLDEST       "karmada_policy_problem_oldest_timestamp_seconds"
#define SINCE        "karmada_policy_problem_since_timestamp_seconds"
#define DROPPED      "karmada_policy_exporter_detail_series_dropped"

/* A world with problems that open at once. */
struct lab {
    struct world world;
    struct problem_options options;
    struct registry_options limits;
    struct problems *problems;
    struct registry *registry;
    int64_t now_ms;
};

static void lab_init(struct lab *lab)
{
    *lab = (struct lab){.now_ms = START_MS, .limits = registry_options_default};
    problem_settings_reset(&lab->options.settings);
    for (unsigned i = 0; i < PROBLEM_COUNT; i++)
        lab->options.settings.patience_ms[i] = 0;
    world_init(&lab->world, &rules_options_default, 1);
    store_set_owner_key(lab->world.store, "team");
}

static void lab_judge(struct lab *lab)
{
    lab->registry = page_registry(&lab->world, &lab->limits);
    world_run(&lab->world, lab->now_ms);
    engine_judge_problems(lab->world.engine, &lab->options);
    lab->problems = engine_problems(lab->world.engine);
    world_run(&lab->world, lab->now_ms);
}

static void lab_release(struct lab *lab)
{
    registry_free(lab->registry);
    world_release(&lab->world);
}

static void pass(struct lab *lab, int64_t ms)
{
    lab->now_ms += ms;
    world_run(&lab->world, lab->now_ms);
}

static char *lab_page(struct lab *lab)
{
    problem_families_fill(lab->registry, lab->world.engine);
    return page_of(lab->registry);
}

/* Reports a problem of a Deployment that began some seconds before START_MS. */
static void report(struct lab *lab, enum problem_reason reason, const char *ns, const char *name,
                   int64_t age_s)
{
    problems_report(lab->problems, &(struct external_subject){"apps/v1", "Deployment", ns, name},
                    reason, START_MS - 1000 * age_s);
}

static void report_number(struct lab *lab, enum problem_reason reason, unsigned ns, unsigned name,
                          int64_t age_s)
{
    char ns_text[32], name_text[32];

    snprintf(ns_text, sizeof(ns_text), "ns-%05u", ns);
    snprintf(name_text, sizeof(name_text), "web-%05u", name);
    report(lab, reason, ns_text, name_text, age_s);
}

/* Returns the number of series of a family on a page. */
static size_t count_series(const char *page, const char *family)
{
    size_t count = 0, len = strlen(family);

    for (const char *line = page; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        count += strncmp(line, family, len) == 0 && line[len] == '{';
        if (!*line)
            break;
    }
    return count;
}

TEST(each_problem_has_a_row_unless_it_is_off)
{
    struct lab lab;

    lab_init(&lab);
    lab.options.settings.severity[PROBLEM_ORPHANED] = SEVERITY_OFF;
    lab.options.settings.severity[PROBLEM_EXCLUDED] = SEVERITY_CRITICAL;
    lab_judge(&lab);
    report(&lab, PROBLEM_REASON_ORPHANED, "shop", "web", 10);
    pass(&lab, 0);
    CLEANUP(free_cleanup) char *page = lab_page(&lab);

    assert_int_equal(count_series(page, OPEN), PROBLEM_COUNT - 1);
    assert_int_equal(count_series(page, OPEN "_opened_total"), PROBLEM_COUNT - 1);
    assert_int_equal(count_series(page, OPEN "_resolved_total"), PROBLEM_COUNT - 1);
    assert_int_equal(page_sum(page, OPEN, ""), 0);
    page_has(page, OPEN "{problem=\"excluded\",severity=\"critical\"}", "0");
    page_has(page, OPEN "{problem=\"placement_lost\",severity=\"critical\"}", "0");
    page_lacks(page, OPEN "{problem=\"orphaned\"");
    page_lacks(page, BY_NAMESPACE "{");
    page_lacks(page, OLDEST "{");
    page_lacks(page, SINCE "{");
    page_lacks(page, HIDDEN "{");
    lab_release(&lab);
}

TEST(open_and_resolving_problems_count)
{
    static const char stuck[] = "{problem=\"not_propagated\",severity=\"warning\"}";
    static const struct external_subject web = {"apps/v1", "Deployment", "shop", "web"};
    CLEANUP(strbuf_release) struct strbuf series = STRBUF_INIT(LINE_MAX_BYTES);
    struct lab lab;

    lab_init(&lab);
    lab.options.settings.patience_ms[PROBLEM_UNHEALTHY] = 30 * MINUTE_MS;
    lab_judge(&lab);
    report(&lab, PROBLEM_REASON_NOT_PROPAGATED_NO_MATCH, "shop", "web", 20);
    report(&lab, PROBLEM_REASON_NOT_PROPAGATED_NO_MATCH, "shop", "api", 10);
    report(&lab, PROBLEM_REASON_NOT_PROPAGATED_POLICY_GONE, "shop", "db", 5);
    report(&lab, PROBLEM_REASON_UNHEALTHY_ROLLING, "shop", "db", 5);
    pass(&lab, 0);
    for (unsigned round = 0; round < 2; round++) {
        CLEANUP(free_cleanup) char *page = lab_page(&lab);

        strbuf_reset(&series);
        strbuf_addf(&series, OPEN "%s", stuck);
        page_has(page, series.data, "3");
        strbuf_reset(&series);
        strbuf_addf(&series, OLDEST "%s", stuck);
        page_has(page, series.data, "1767225580");
        page_has(page,
                 BY_NAMESPACE "{namespace=\"shop\",problem=\"not_propagated\",severity=\"warning\","
                              "reason=\"no_match\"}",
                 "2");
        page_has(page,
                 SINCE "{problem=\"not_propagated\",severity=\"warning\",reason=\"no_match\","
                       "api_group=\"apps\",kind=\"Deployment\",namespace=\"shop\",name=\"web\","
                       "policy_kind=\"\",policy_namespace=\"\",policy=\"\",owner=\"\","
                       "actor=\"policy_owner\"}",
                 "1767225580");
        assert_int_equal(page_sum(page, OPEN, ""), 3);
        assert_int_equal(count_series(page, SINCE), 3);
        problems_withdraw(lab.problems, &web, PROBLEM_NOT_PROPAGATED);
        pass(&lab, MINUTE_MS);
    }
    pass(&lab, 5 * MINUTE_MS);
    CLEANUP(free_cleanup) char *page = lab_page(&lab);

    assert_int_equal(page_sum(page, OPEN, stuck), 2);
    assert_int_equal(page_sum(page, OPEN "_resolved_total", stuck), 1);
    assert_int_equal(page_sum(page, OPEN "_opened_total", stuck), 3);
    assert_int_equal(count_series(page, SINCE), 2);
    lab_release(&lab);
}

TEST(hidden_problems_count_by_their_cause)
{
    static const struct external_subject scheduler = {"", "ControlPlane", "", SCHEDULER_COMPONENT};
    struct lab lab;

    lab_init(&lab);
    lab_judge(&lab);
    problems_report(lab.problems, &scheduler, PROBLEM_REASON_SCHEDULER_STUCK_NOT_RUNNING, 0);
    pass(&lab, 0);
    report(&lab, PROBLEM_REASON_NOT_SCHEDULED_WAITING, "shop", "web", 10);
    report(&lab, PROBLEM_REASON_NOT_SCHEDULED_WAITING, "shop", "api", 10);
    report(&lab, PROBLEM_REASON_NOT_SCHEDULED_NO_CLUSTER_FIT, "shop", "db", 10);
    pass(&lab, 0);
    CLEANUP(free_cleanup) char *page = lab_page(&lab);

    page_has(page, HIDDEN "{problem=\"not_scheduled\",cause=\"scheduler_stuck\"}", "2");
    assert_int_equal(count_series(page, HIDDEN), 1);
    page_has(page, OPEN "{problem=\"not_scheduled\",severity=\"warning\"}", "1");
    assert_int_equal(count_series(page, SINCE), 2);
    page_has(page,
             SINCE "{problem=\"scheduler_stuck\",severity=\"critical\",reason=\"not_running\","
                   "api_group=\"\",kind=\"ControlPlane\",namespace=\"\",name=\"" SCHEDULER_COMPONENT
                   "\",policy_kind=\"\",policy_namespace=\"\",policy=\"\",owner=\"\","
                   "actor=\"platform\"}",
             "1767225600");
    lab_release(&lab);
}

/* ---- objects of the store ---- */

static const char orphan_binding[] =
    "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\",\"metadata\":{"
    "\"name\":\"web-deployment\",\"namespace\":\"default\"},\"spec\":{\"resource\":{"
    "\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"namespace\":\"default\","
    "\"name\":\"web\",\"uid\":\"u-web\",\"resourceVersion\":\"10\"}," ON("member1") "}}";

#define ORPHAN_ROW(owner)                                                                          \
    SINCE "{problem=\"orphaned\",severity=\"info\",reason=\"\",api_group=\"apps\",kind="           \
          "\"Deployment\",namespace=\"default\",name=\"web\",policy_kind=\"\","                    \
          "policy_namespace=\"\",policy=\"\",owner=\"" owner "\",actor=\"policy_owner\"}"

TEST(rows_with_names_follow_the_owner_of_the_template)
{
    struct lab lab;

    lab_init(&lab);
    world_put_text(&lab.world, TEMPLATE("web", ",\"labels\":{\"team\":\"red\"}"));
    world_put_text(&lab.world, orphan_binding);
    lab_judge(&lab);
    CLEANUP(free_cleanup) char *page = lab_page(&lab);

    page_has(page, ORPHAN_ROW("red"), "1767225600");
    assert_int_equal(page_sum(page, OPEN "_opened_total", "orphaned"), 0);
    /* The problem stays the same. */
    world_put_text(&lab.world, TEMPLATE("web", ",\"labels\":{\"team\":\"blue\"}"));
    pass(&lab, MINUTE_MS);
    CLEANUP(free_cleanup) char *next = lab_page(&lab);

    page_has(next, ORPHAN_ROW("blue"), "1767225600");
    page_lacks(next, ORPHAN_ROW("red"));
    lab_release(&lab);
}

TEST(the_policy_is_the_governing_one_or_the_subject)
{
    struct lab lab;

    lab_init(&lab);
    world_put_text(&lab.world, POLICY("a", SELECTS("web") "," ON("m1")));
    world_put_text(&lab.world, TEMPLATE("web", "," CLAIM("a")));
    lab_judge(&lab);
    struct entry *policy =
        world_find(&lab.world, "policy.karmada.io/v1alpha1", "PropagationPolicy", "default", "a");
    struct entry *web = world_find(&lab.world, "apps/v1", "Deployment", "default", "web");
    struct external_subject pods = {"", "Source", "", "pods"};

    assert_ptr_equal(problem_policy(&(struct problem){
                         .subject = web, .reason = PROBLEM_REASON_NOT_PROPAGATED_WAITING}),
                     policy);
    assert_ptr_equal(problem_policy(&(struct problem){.subject = policy,
                                                      .reason = PROBLEM_REASON_POLICY_UNUSED}),
                     policy);
    assert_null(problem_policy(
        &(struct problem){.external = &pods, .reason = PROBLEM_REASON_DATA_INCOMPLETE_LATE}));
    lab_release(&lab);
}

TEST(rows_with_names_of_a_policy_name_it_as_subject_and_as_policy)
{
    struct lab lab;

    lab_init(&lab);
    world_put_text(&lab.world, POLICY("a", SELECTS("web") "," ON("m1")));
    lab_judge(&lab);
    CLEANUP(free_cleanup) char *page = lab_page(&lab);

    page_has(page,
             SINCE "{problem=\"policy_unused\",severity=\"info\",reason=\"\",api_group="
                   "\"policy.karmada.io\",kind=\"PropagationPolicy\",namespace=\"default\","
                   "name=\"a\",policy_kind=\"PropagationPolicy\",policy_namespace=\"default\","
                   "policy=\"a\",owner=\"\",actor=\"policy_owner\"}",
             "1767225600");
    lab_release(&lab);
}

/* ---- limits ---- */

TEST(the_hundred_namespaces_with_the_oldest_problems_have_rows)
{
    struct lab lab;

    lab_init(&lab);
    lab_judge(&lab);
    /* Namespaces 50 to 149 have an old problem; each has two. */
    for (unsigned i = 0; i < 150; i++) {
        report_number(&lab, PROBLEM_REASON_NOT_PROPAGATED_STUCK, i, 0, i < 50 ? 10 : 100);
        report_number(&lab, PROBLEM_REASON_NOT_PROPAGATED_STUCK, i, 1, 5);
        /* Another reason has its own rows. */
        report_number(&lab, PROBLEM_REASON_NOT_PROPAGATED_WAITING, i, 2, i < 100 ? 20 : 1);
    }
    pass(&lab, 0);
    CLEANUP(free_cleanup) char *page = lab_page(&lab);

    page_has(page,
             BY_NAMESPACE "{namespace=\"_others\",problem=\"not_propagated\",severity=\"warning\","
                          "reason=\"stuck\"}",
             "100");
    page_has(page,
             BY_NAMESPACE "{namespace=\"_others\",problem=\"not_propagated\",severity=\"warning\","
                          "reason=\"waiting\"}",
             "50");
    page_has(page,
             BY_NAMESPACE "{namespace=\"ns-00149\",problem=\"not_propagated\","
                          "severity=\"warning\",reason=\"stuck\"}",
             "2");
    page_lacks(page, BY_NAMESPACE "{namespace=\"ns-00049\",problem=\"not_propagated\","
                                  "severity=\"warning\",reason=\"stuck\"}");
    page_lacks(page, BY_NAMESPACE "{namespace=\"ns-00100\",problem=\"not_propagated\","
                                  "severity=\"warning\",reason=\"waiting\"}");
    assert_int_equal(count_series(page, BY_NAMESPACE), 2 * 101);
    assert_int_equal(page_sum(page, BY_NAMESPACE, ""), 450);
    page_has(page, DROPPED "{family=\"" BY_NAMESPACE "\"}", "100");
    lab_release(&lab);
}

/* Returns true for problems that an external subject can have without a cause that hides them. */
static bool is_reportable(enum problem_reason reason)
{
    /* These are hidden by another problem of the same object, which is in the store. */
    return problem_reasons[reason].problem != PROBLEM_DEPENDENCY_CONFLICT;
}

TEST(all_reasons_together_have_at_most_2000_rows_by_namespace)
{
    size_t reasons = 0;
    struct lab lab;

    lab_init(&lab);
    lab_judge(&lab);
    for (unsigned i = 0; i < PROBLEM_REASON_COUNT; i++) {
        reasons += is_reportable((enum problem_reason)i);
        for (unsigned ns = 0; is_reportable((enum problem_reason)i) && ns < 110; ns++)
            report_number(&lab, (enum problem_reason)i, ns, i, ns);
    }
    pass(&lab, 0);
    CLEANUP(free_cleanup) char *page = lab_page(&lab);

    assert_int_equal(count_series(page, BY_NAMESPACE), 2000);
    assert_int_equal(page_sum(page, BY_NAMESPACE, ""), page_sum(page, OPEN, ""));
    assert_int_equal(page_sum(page, BY_NAMESPACE, ""), 110 * reasons);
    assert_in_range(page_sum(page, BY_NAMESPACE, "severity=\"critical\""), 1, 110 * reasons);
    page_has(page,
             BY_NAMESPACE "{namespace=\"_others\",problem=\"policy_unused\",severity=\"info\","
                          "reason=\"\"}",
             "110");
    lab_release(&lab);
}

TEST(a_namespace_has_at_most_20_rows_with_names_of_a_problem)
{
    struct lab lab;

    lab_init(&lab);
    lab_judge(&lab);
    for (unsigned i = 0; i < 30; i++) {
        report_number(&lab, PROBLEM_REASON_NOT_PROPAGATED_STUCK, 0, i, 100 + i);
        report_number(&lab, PROBLEM_REASON_NOT_PROPAGATED_WAITING, 0, 100 + i, 50 + i);
        report_number(&lab, PROBLEM_REASON_NOT_SCHEDULED_WAITING, 0, 200 + i, 1);
        report_number(&lab, PROBLEM_REASON_NOT_PROPAGATED_WAITING, 1, 300 + i, 1);
    }
    pass(&lab, 0);
    CLEANUP(free_cleanup) char *page = lab_page(&lab);

    assert_int_equal(count_series(page, SINCE), 60);
    assert_true(page_sum(page, SINCE, "name=\"web-00010\"") > 0);
    assert_int_equal(page_sum(page, SINCE, "name=\"web-00009\""), 0);
    assert_int_equal(page_sum(page, SINCE, "name=\"web-00129\""), 0);
    /* With equal times, the first by name. */
    assert_true(page_sum(page, SINCE, "name=\"web-00219\"") > 0);
    assert_int_equal(page_sum(page, SINCE, "name=\"web-00220\""), 0);
    page_has(page, DROPPED "{family=\"" SINCE "\"}", "60");
    lab_release(&lab);
}

TEST(the_first_20_rows_of_each_problem_come_before_the_rest)
{
    struct lab lab;

    lab_init(&lab);
    lab_judge(&lab);
    for (unsigned i = 0; i < 2000; i++)
        report_number(&lab, PROBLEM_REASON_PLACEMENT_LOST_NO_CLUSTER_FIT, i, i, 10 + i);
    for (unsigned i = 0; i < 30; i++) {
        report_number(&lab, PROBLEM_REASON_ON_FALLBACK, i, 3000 + i, 100 + i);
        report_number(&lab, PROBLEM_REASON_UNHEALTHY_ROLLING, 0, 4000 + i, 100 + i);
    }
    report_number(&lab, PROBLEM_REASON_POLICY_TIE, 0, 5000, 1);
    pass(&lab, 0);
    CLEANUP(free_cleanup) char *page = lab_page(&lab);

    assert_int_equal(count_series(page, SINCE), 1000);
    for (unsigned i = 0; i < 30; i++) {
        char name[32];

        snprintf(name, sizeof(name), "name=\"web-%05u\"", 3000 + i);
        assert_int_equal(page_sum(page, SINCE, name) > 0, i >= 10);
        snprintf(name, sizeof(name), "name=\"web-%05u\"", 4000 + i);
        assert_int_equal(page_sum(page, SINCE, name) > 0, i >= 10);
        /* The oldest 959 placement losses: 1000 - 20 - 20 - 1. */
        snprintf(name, sizeof(name), "name=\"web-%05u\"", 1026 + i);
        assert_int_equal(page_sum(page, SINCE, name) > 0, 1026 + i >= 2000 - 959);
    }
    assert_true(page_sum(page, SINCE, "problem=\"policy_tie\"") > 0);
    page_has(page, DROPPED "{family=\"" SINCE "\"}", "1061");
    lab_release(&lab);
}

TEST(rows_with_long_names_leave_room_on_the_page)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(LINE_MAX_BYTES);
    struct lab lab;
    size_t bytes = 0;

    lab_init(&lab);
    lab_judge(&lab);
    for (unsigned i = 0; i < 1000; i++) {
        strbuf_reset(&name);
        strbuf_addf(&name, "%0900u", i);
        report(&lab, PROBLEM_REASON_NOT_PROPAGATED_STUCK, i % 2 ? "a" : "b", name.data, i);
    }
    lab.limits.problem_limit = 1000;
    registry_free(lab.registry);
    lab.registry = page_registry(&lab.world, &lab.limits);
    pass(&lab, 0);
    CLEANUP(free_cleanup) char *page = lab_page(&lab);

    bytes = strlen(page);
    assert_in_range(count_series(page, SINCE), 300, 999);
    assert_in_range(bytes, 1, 600 * 1000);
    lab_release(&lab);
}

/* ---- bad names ---- */

TEST(names_with_control_characters_keep_the_sums)
{
    struct lab lab;

    lab_init(&lab);
    lab_judge(&lab);
    report(&lab, PROBLEM_REASON_NOT_PROPAGATED_STUCK, "a\x01", "web", 10);
    report(&lab, PROBLEM_REASON_NOT_PROPAGATED_STUCK, "a\x02", "web", 20);
    report(&lab, PROBLEM_REASON_NOT_PROPAGATED_STUCK, "a\xff", "web", 15);
    report(&lab, PROBLEM_REASON_NOT_PROPAGATED_STUCK, "\"\\\n", "\"", 5);
    pass(&lab, 0);
    CLEANUP(free_cleanup) char *page = lab_page(&lab);

    page_has(page,
             BY_NAMESPACE "{namespace=\"a\xef\xbf\xbd\",problem=\"not_propagated\","
                          "severity=\"warning\",reason=\"stuck\"}",
             "3");
    page_has(page,
             SINCE "{problem=\"not_propagated\",severity=\"warning\",reason=\"stuck\","
                   "api_group=\"apps\",kind=\"Deployment\",namespace=\"a\xef\xbf\xbd\","
                   "name=\"web\",policy_kind=\"\",policy_namespace=\"\",policy=\"\",owner=\"\","
                   "actor=\"user\"}",
             "1767225580");
    page_has(page,
             BY_NAMESPACE "{namespace=\"\\\"\\\\\xef\xbf\xbd\",problem=\"not_propagated\","
                          "severity=\"warning\",reason=\"stuck\"}",
             "1");
    assert_int_equal(page_sum(page, BY_NAMESPACE, ""), 4);
    lab_release(&lab);
}

/* ---- the page ---- */

TEST(families_are_absent_until_all_objects_are_read)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(PAGE_MAX_BYTES);
    struct lab lab;

    lab_init(&lab);
    lab_judge(&lab);
    problem_families_fill(lab.registry, lab.world.engine);
    registry_prepare(lab.registry);
    exposition_write(lab.registry, (struct exposition){.synced = false}, &out);
    assert_null(strstr(out.data, OPEN));
    strbuf_reset(&out);
    exposition_write(lab.registry,
                     (struct exposition){.format = EXPOSITION_OPENMETRICS,
                                         .synced = true,
                                         .created_ms = START_MS,
                                         .since_ms = START_MS + 1000},
                     &out);
    page_has(out.data, "# TYPE " OPEN "_opened", "counter");
    page_has(out.data, OPEN "_opened_created{problem=\"orphaned\",severity=\"info\"}",
             "1767225600");
    page_has(out.data, OPEN "_resolved_created{problem=\"orphaned\",severity=\"info\"}",
             "1767225600");
    lab_release(&lab);
}

TEST(families_are_empty_while_problems_are_not_judged)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    struct registry *r = page_registry(&w, &registry_options_default);

    problem_families_fill(r, w.engine);
    CLEANUP(free_cleanup) char *page = page_of(r);

    page_lacks(page, OPEN "{");
    page_lacks(page, DROPPED "{family=\"" SINCE);
    registry_free(r);
    world_release(&w);
}

/* ---- random problems: the families equal the list ---- */

static void report_random(struct lab *lab)
{
    static const char *const kinds[] = {"Deployment", "ConfigMap", "Job"};
    struct world *w = &lab->world;
    enum problem_reason reason = (enum problem_reason)world_random(w, PROBLEM_REASON_COUNT);
    bool wide = world_random(w, 2);
    char ns[32], name[32];

    /* Few namespaces with many problems, and many with few. */
    snprintf(ns, sizeof(ns), "ns-%u", wide ? world_random(w, 400) : world_random(w, 3));
    snprintf(name, sizeof(name), "x-%u", world_random(w, 100));
    const struct external_subject subject = {world_random(w, 2) ? "apps/v1" : "v1",
                                             kinds[world_random(w, ARRAY_LEN(kinds))],
                                             world_random(w, 9) ? ns : "", name};

    if (world_random(w, 10) == 0)
        problems_withdraw(lab->problems, &subject, problem_reasons[reason].problem);
    else if (is_reportable(reason))
        problems_report(lab->problems, &subject, reason,
                        START_MS - 1000 * (int64_t)world_random(w, 50));
}

static size_t count_same(const struct problem **list, size_t count, const struct problem *p,
                         bool same_reason, bool same_ns)
{
    size_t same = 0;

    for (size_t i = 0; i < count; i++)
        same +=
            (same_reason ? list[i]->reason == p->reason : problem_id(list[i]) == problem_id(p)) &&
            (!same_ns || strcmp(problem_ns(list[i]), problem_ns(p)) == 0);
    return same;
}

/* Returns how many reasons occur in the list. */
static size_t count_reasons(const struct problem **list, size_t count)
{
    size_t reasons = 0;

    for (size_t i = 0; i < count; i++)
        reasons += count_same(list, i, list[i], true, false) == 0;
    return reasons;
}

/* Fails unless the page has the rows by namespace that follow from the ordered list. */
static void check_namespaces(const char *page, const struct problem **list, size_t count)
{
    size_t named[PROBLEM_REASON_COUNT] = {0}, others[PROBLEM_REASON_COUNT] = {0};
    size_t room = 2000 - count_reasons(list, count), rows = 0;
    CLEANUP(strbuf_release) struct strbuf series = STRBUF_INIT(LINE_MAX_BYTES);

    for (size_t i = 0; i < count; i++) {
        const struct problem *p = list[i];
        size_t problems = count_same(list, count, p, true, true);

        if (count_same(list, i, p, true, true) > 0)
            continue;
        if (named[p->reason] == 100 || room == 0) {
            others[p->reason] += problems;
            continue;
        }
        named[p->reason]++;
        room--;
        rows++;
        strbuf_reset(&series);
        strbuf_addf(&series, "namespace=\"%s\",problem=\"%s\",severity=\"%s\",reason=\"%s\"}",
                    problem_ns(p), problem_names[problem_id(p)],
                    severity_names[problem_table[problem_id(p)].severity],
                    problem_reasons[p->reason].name);
        assert_int_equal(page_sum(page, BY_NAMESPACE, series.data), problems);
    }
    for (unsigned i = 0; i < PROBLEM_REASON_COUNT; i++) {
        strbuf_reset(&series);
        strbuf_addf(&series, "namespace=\"_others\",problem=\"%s\"",
                    problem_names[problem_reasons[i].problem]);
        strbuf_addf(&series, ",severity=\"%s\",reason=\"%s\"}",
                    severity_names[problem_table[problem_reasons[i].problem].severity],
                    problem_reasons[i].name);
        assert_int_equal(page_sum(page, BY_NAMESPACE, series.data), others[i]);
        rows += others[i] > 0;
    }
    assert_int_equal(count_series(page, BY_NAMESPACE), rows);
    assert_in_range(rows, 0, 2000);
}

/* Fails unless the page has a row with the names of the problem. */
static void check_since_row(const char *page, const struct problem *p)
{
    CLEANUP(strbuf_release) struct strbuf series = STRBUF_INIT(LINE_MAX_BYTES);
    const char *group = strcmp(problem_api_version(p), "v1") == 0 ? "" : "apps";
    char value[32];

    strbuf_addf(&series, SINCE "{problem=\"%s\",severity=\"%s\",reason=\"%s\",api_group=\"%s\",",
                problem_names[problem_id(p)], severity_names[problem_table[problem_id(p)].severity],
                problem_reasons[p->reason].name, group);
    strbuf_addf(&series,
                "kind=\"%s\",namespace=\"%s\",name=\"%s\",policy_kind=\"\",policy_namespace=\"\","
                "policy=\"\",owner=\"\",actor=\"%s\"}",
                problem_subject_kind(p), problem_ns(p), problem_name(p),
                actor_names[problem_reasons[p->reason].actor]);
    snprintf(value, sizeof(value), "%" PRId64, p->since_ms / 1000);
    page_has(page, series.data, value);
}

/* Fails unless the page has the rows with names that follow from the ordered list. */
static void check_names(const char *page, const struct problem **list, size_t count, size_t limit)
{
    bool *taken = xcalloc(count + 1, sizeof(*taken)), *candidate = xcalloc(count + 1, 1);
    size_t rows = 0, of_problem[PROBLEM_COUNT] = {0};

    for (size_t i = 0; i < count; i++) {
        candidate[i] = count_same(list, i, list[i], false, true) < limit;
        taken[i] = candidate[i] && of_problem[problem_id(list[i])]++ < 20;
        rows += taken[i];
    }
    for (size_t i = 0; i < count && rows < 1000; i++) {
        if (candidate[i] && !taken[i]) {
            taken[i] = true;
            rows++;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (taken[i])
            check_since_row(page, list[i]);
    }
    assert_int_equal(count_series(page, SINCE), rows);
    free(taken);
    free(candidate);
}

/* Fails unless the page counts the problems of the list. */
static void check_counts(const char *page, const struct problem **list, size_t count)
{
    for (unsigned i = 0; i < PROBLEM_COUNT; i++) {
        char labels[128], value[32];
        const struct problem *oldest = NULL;
        size_t open = 0;

        for (size_t k = 0; k < count; k++) {
            open += problem_id(list[k]) == i;
            if (problem_id(list[k]) == i && (!oldest || list[k]->since_ms < oldest->since_ms))
                oldest = list[k];
        }
        snprintf(labels, sizeof(labels), OPEN "{problem=\"%s\",severity=\"%s\"}", problem_names[i],
                 severity_names[problem_table[i].severity]);
        snprintf(value, sizeof(value), "%zu", open);
        page_has(page, labels, value);
        snprintf(labels, sizeof(labels), OLDEST "{problem=\"%s\",severity=\"%s\"}",
                 problem_names[i], severity_names[problem_table[i].severity]);
        snprintf(value, sizeof(value), "%" PRId64, oldest ? oldest->since_ms / 1000 : 0);
        if (oldest)
            page_has(page, labels, value);
        else
            page_lacks(page, labels);
    }
}

static void check_against_list(struct lab *lab)
{
    CLEANUP(free_cleanup) char *page = lab_page(lab);
    size_t count;
    const struct problem **list =
        problems_list(lab->problems, 1u << PROBLEM_OPEN | 1u << PROBLEM_RESOLVING, &count);

    assert_int_equal(page_sum(page, OPEN, ""), count);
    assert_int_equal(page_sum(page, BY_NAMESPACE, ""), count);
    check_counts(page, list, count);
    check_namespaces(page, list, count);
    check_names(page, list, count, lab->limits.problem_limit);
    free(list);
}

TEST(families_of_random_problems_equal_the_list)
{
    static const size_t limits[] = {20, 0, 1, 3, 500};

    for (size_t round = 0; round < ARRAY_LEN(limits); round++) {
        struct lab lab;

        lab_init(&lab);
        lab.limits.problem_limit = limits[round];
        lab.world.random = (uint32_t)round + 1;
        lab.options.settings.patience_ms[PROBLEM_UNHEALTHY] = 10 * MINUTE_MS;
        lab_judge(&lab);
        for (unsigned step = 0; step < 3; step++) {
            for (unsigned i = 0; i < 600; i++)
                report_random(&lab);
            pass(&lab, MINUTE_MS);
            check_against_list(&lab);
        }
        lab_release(&lab);
    }
}
