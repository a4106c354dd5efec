/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/problem_rows.h"

#include "metrics/base/csv.h"
#include "metrics/expose/report.h"
#include "tests/unit/bound_objects.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { TEXT_MAX = 1 << 20, ALL_STATUSES = (1 << PROBLEM_STATUS_COUNT) - 1 };

static const int64_t NOW_MS = INT64_C(1767225600000); /* 2026-01-01T00:00:00Z */

static const struct external_subject pods = {"", "Source", "", "pods"};
static const struct external_subject scheduler = {"", "ControlPlane", "", SCHEDULER_COMPONENT};
static const struct external_subject twice = {"apps/v1", "Deployment", "default", "left"};

static const struct location_source no_files;

/* A Deployment that the policy of its binding has left. */
#define LEFT_BINDING                                                                               \
    "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\",\"metadata\":{"     \
    "\"name\":\"left-deployment\",\"namespace\":\"default\"},\"spec\":{\"resource\":{"             \
    "\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"namespace\":\"default\","                \
    "\"name\":\"left\",\"uid\":\"u-left\",\"resourceVersion\":\"10\"},\"replicas\":2," ON(         \
        "m1") ",\"clusters\":[{\"name\":\"m1\",\"replicas\":2}]},\"status\":{\"conditions\":[{"    \
              "\"type\":"                                                                          \
              "\"Scheduled\",\"status\":\"True\"}],\"aggregatedStatus\":[{\"clusterName\":\"m1\"," \
              "\"applied\":true,\"health\":\"Healthy\"}]}}"

static void world_judge(struct world *w, bool snapshot)
{
    struct problem_options options = {.snapshot = snapshot, .only_proven_times = snapshot};

    problem_settings_reset(&options.settings);
    world_init(w, &rules_options_default, 1);
    store_set_owner_key(w->store, "team");
    world_put_text(w, TEMPLATE("left", ",\"labels\":{\"team\":\"blue\"}"));
    world_put_text(w, LEFT_BINDING);
    world_run(w, NOW_MS);
    engine_judge_problems(w->engine, &options);
    problems_report(engine_problems(w->engine), &pods, PROBLEM_REASON_DATA_INCOMPLETE_LATE,
                    NOW_MS - 60000);
    problems_report(engine_problems(w->engine), &twice, PROBLEM_REASON_DUPLICATE_OBJECT, 0);
    problems_report(engine_problems(w->engine), &scheduler,
                    PROBLEM_REASON_SCHEDULER_STUCK_NOT_RUNNING, NOW_MS - 3600000);
    world_run(w, NOW_MS);
}

/* Returns the instance of a problem. */
static const struct problem *find(const struct world *w, enum problem_id problem)
{
    struct problem_walk walk = {0};
    const struct problem *p;

    while ((p = problems_next(engine_problems(w->engine), &walk)) != NULL) {
        if (problem_id(p) == problem)
            return p;
    }
    fail_msg("no instance of %s", problem_names[problem]);
    return NULL;
}

static bool find_in_file(const void *context, const struct entry *entry, const char *field,
                         struct location *out)
{
    (void)field;
    *out = (struct location){context, 3, 0};
    return entry_class(entry) == CLASS_TEMPLATE;
}

static void write_row(const struct world *w, const struct problem *p,
                      const struct location_source *locations, struct strbuf *out)
{
    struct json_writer writer = {.out = out};

    strbuf_reset(out);
    problem_write(&writer, w->engine, p, locations);
}

TEST(a_row_has_the_members_of_the_contract)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEXT_MAX);
    const struct location_source files = {.find = find_in_file, .context = "app.yaml"};
    struct world w;

    world_judge(&w, false);
    write_row(&w, find(&w, PROBLEM_ORPHANED), &files, &out);
    assert_string_equal(
        out.data,
        "{\"problem\":\"orphaned\",\"severity\":\"info\",\"reason\":null,\"status\":\"pending\","
        "\"open\":false,\"since\":\"2026-01-01T00:00:00Z\",\"sinceSeen\":true,\"subject\":{"
        "\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"namespace\":\"default\","
        "\"name\":\"left\"},\"policy\":null,\"clusters\":[],\"related\":[],\"causedBy\":null,"
        "\"owner\":\"blue\",\"actor\":\"policy_owner\",\"cause\":\"No policy governs Deployment "
        "default/left, which keeps running from the binding of an earlier policy.\",\"action\":"
        "\"Create a policy that selects the template, or delete the template.\",\"endsWhen\":"
        "\"The problem ends when a policy governs the template or the template is gone.\","
        "\"doc\":\"orphaned\",\"location\":{\"file\":\"app.yaml\",\"line\":3,\"column\":0}}");
    write_row(&w, find(&w, PROBLEM_DUPLICATE_OBJECT), &files, &out);
    assert_non_null(strstr(out.data, "\"location\":{\"file\":\"app.yaml\",\"line\":3"));
    write_row(&w, find(&w, PROBLEM_ORPHANED), &no_files, &out);
    assert_null(strstr(out.data, "location"));
    world_release(&w);
}

/* A run that only observes once must not print the time of the run. */
TEST(a_snapshot_has_only_times_that_objects_prove)
{
    CLEANUP(strbuf_release) struct strbuf first = STRBUF_INIT(TEXT_MAX);
    CLEANUP(strbuf_release) struct strbuf second = STRBUF_INIT(TEXT_MAX);
    struct world w;

    world_judge(&w, true);
    write_row(&w, find(&w, PROBLEM_ORPHANED), &no_files, &first);
    assert_non_null(strstr(first.data, "\"status\":\"open\",\"open\":true,\"since\":null,"
                                       "\"subject\""));
    write_row(&w, find(&w, PROBLEM_DATA_INCOMPLETE), &no_files, &first);
    assert_non_null(strstr(first.data, "\"since\":\"2025-12-31T23:59:00Z\",\"subject\""));
    strbuf_reset(&first);
    report_write(w.engine, NULL, &first);
    assert_non_null(strstr(first.data, "\"problem\":\"orphaned\""));
    world_release(&w);
    world_judge(&w, true);
    report_write(w.engine, NULL, &second);
    assert_string_equal(first.data, second.data);
    world_release(&w);
}

static bool find_policy_in_file(const void *context, const struct entry *entry, const char *field,
                                struct location *out)
{
    (void)field;
    *out = (struct location){context, 7, 2};
    return strcmp(entry->name, "b") == 0;
}

TEST(other_parties_have_their_own_place)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEXT_MAX);
    const struct location_source files = {.find = find_policy_in_file, .context = "b.yaml"};
    struct problem tie = {.reason = PROBLEM_REASON_POLICY_TIE};
    struct world w;

    world_judge(&w, false);
    world_put_text(&w, POLICY("a", SELECTS("new") "," ON("m1")));
    world_put_text(&w, POLICY("b", SELECTS("new") "," ON("m1")));
    world_put_text(&w, POLICY("c", SELECTS("new") "," ON("m1")));
    world_put_text(&w, TEMPLATE("new", ""));
    world_run(&w, NOW_MS);
    tie.subject = world_find(&w, "policy.karmada.io/v1alpha1", "PropagationPolicy", "default", "a");
    write_row(&w, &tie, &files, &out);
    assert_non_null(strstr(
        out.data,
        "\"policy\":{\"kind\":\"PropagationPolicy\",\"namespace\":\"default\",\"name\":\"a\"},"
        "\"clusters\":[],\"related\":[{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":"
        "\"PropagationPolicy\",\"namespace\":\"default\",\"name\":\"b\",\"location\":{\"file\":"
        "\"b.yaml\",\"line\":7,\"column\":2}},{\"apiVersion\":\"policy.karmada.io/v1alpha1\","
        "\"kind\":\"PropagationPolicy\",\"namespace\":\"default\",\"name\":\"c\"}]"));
    world_release(&w);
}

TEST(hidden_instances_name_their_cause)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEXT_MAX);
    struct problem_filter filter = PROBLEM_FILTER_ALL;
    struct world w;
    struct problem hidden;

    world_judge(&w, false);
    hidden = *find(&w, PROBLEM_ORPHANED);
    hidden.reason = PROBLEM_REASON_NOT_SCHEDULED_WAITING;
    hidden.status = PROBLEM_HIDDEN;
    hidden.cause = find(&w, PROBLEM_SCHEDULER_STUCK);
    write_row(&w, &hidden, &no_files, &out);
    assert_non_null(strstr(out.data, "\"causedBy\":{\"problem\":\"scheduler_stuck\",\"subject\":{"
                                     "\"apiVersion\":\"\",\"kind\":\"ControlPlane\","
                                     "\"namespace\":\"\",\"name\":\"karmada-scheduler\"}}"));
    filter.cause = PROBLEM_SCHEDULER_STUCK;
    assert_true(problem_matches(engine_problems(w.engine), &hidden, &filter));
    filter.cause_subject = SCHEDULER_COMPONENT;
    assert_true(problem_matches(engine_problems(w.engine), &hidden, &filter));
    filter.cause_subject = "other";
    assert_false(problem_matches(engine_problems(w.engine), &hidden, &filter));
    assert_false(problem_matches(engine_problems(w.engine), hidden.cause, &filter));
    world_release(&w);
}

static size_t count_matches(const struct world *w, const struct problem_filter *filter)
{
    const struct problems *ps = engine_problems(w->engine);
    CLEANUP(free_cleanup) const struct problem **list = NULL;
    size_t count, matches = 0;

    list = problems_list(ps, ALL_STATUSES, &count);
    for (size_t i = 0; i < count; i++)
        matches += problem_matches(ps, list[i], filter);
    return matches;
}

TEST(filters_select_by_each_member)
{
    static const struct {
        struct problem_filter filter;
        size_t count;
    } rows[] = {
        {{PROBLEM_COUNT, SEVERITY_COUNT, NULL, NULL, NULL, NULL, NULL, PROBLEM_COUNT, NULL}, 4},
        {{PROBLEM_ORPHANED, SEVERITY_COUNT, NULL, NULL, NULL, NULL, NULL, PROBLEM_COUNT, NULL}, 1},
        {{PROBLEM_COUNT, SEVERITY_INFO, NULL, NULL, NULL, NULL, NULL, PROBLEM_COUNT, NULL}, 2},
        {{PROBLEM_COUNT, SEVERITY_CRITICAL, NULL, NULL, NULL, NULL, NULL, PROBLEM_COUNT, NULL}, 1},
        {{PROBLEM_COUNT, SEVERITY_COUNT, "late", NULL, NULL, NULL, NULL, PROBLEM_COUNT, NULL}, 1},
        {{PROBLEM_COUNT, SEVERITY_COUNT, NULL, "default", NULL, NULL, NULL, PROBLEM_COUNT, NULL},
         2},
        {{PROBLEM_COUNT, SEVERITY_COUNT, NULL, "", NULL, NULL, NULL, PROBLEM_COUNT, NULL}, 2},
        {{PROBLEM_COUNT, SEVERITY_COUNT, NULL, NULL, "blue", NULL, NULL, PROBLEM_COUNT, NULL}, 1},
        {{PROBLEM_COUNT, SEVERITY_COUNT, NULL, NULL, NULL, "p", NULL, PROBLEM_COUNT, NULL}, 0},
        {{PROBLEM_COUNT, SEVERITY_WARNING, NULL, "default", NULL, NULL, NULL, PROBLEM_COUNT, NULL},
         0},
        {{PROBLEM_COUNT, SEVERITY_COUNT, NULL, NULL, NULL, NULL, NULL, PROBLEM_SCHEDULER_STUCK,
          NULL},
         0},
        {{PROBLEM_COUNT, SEVERITY_COUNT, NULL, NULL, NULL, NULL, "EFAU", PROBLEM_COUNT, NULL}, 2},
        {{PROBLEM_COUNT, SEVERITY_COUNT, NULL, NULL, NULL, NULL, "AULT/Lef", PROBLEM_COUNT, NULL},
         2},
        {{PROBLEM_COUNT, SEVERITY_COUNT, NULL, NULL, NULL, NULL, "lt/eft", PROBLEM_COUNT, NULL}, 0},
    };
    struct world w;

    world_judge(&w, false);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(count_matches(&w, &rows[i].filter), rows[i].count);
    world_release(&w);
}

/* JSON and CSV come from one table: each member of a row that has all has its columns. */
TEST(csv_has_a_column_for_each_member)
{
    CLEANUP(strbuf_release) struct strbuf row = STRBUF_INIT(TEXT_MAX);
    CLEANUP(strbuf_release) struct strbuf csv = STRBUF_INIT(TEXT_MAX);
    const struct location_source files = {.find = find_in_file, .context = "app.yaml"};
    struct world w;
    struct error err;
    const cJSON *member;
    cJSON *tree;

    world_judge(&w, false);
    write_row(&w, find(&w, PROBLEM_ORPHANED), &files, &row);
    csv_add_headings(&csv, problem_columns);
    assert_true(csv_add_row(&csv, problem_columns, row.data, row.len));
    assert_non_null(strstr(csv.data, "\r\norphaned,info,,pending,false,2026-01-01T00:00:00Z,true,"
                                     "apps/v1,Deployment,default,left,,,,,"));
    assert_non_null(strstr(csv.data, ",orphaned,app.yaml,3,0\r\n"));
    tree = json_parse(row.data, row.len, NULL, &err);
    cJSON_ArrayForEach (member, tree) {
        size_t at = 0, len = strlen(member->string);

        while (problem_columns[at] && (strncmp(problem_columns[at], member->string, len) != 0 ||
                                       !strchr(".", problem_columns[at][len])))
            at++;
        if (!problem_columns[at])
            fail_msg("no column for %s", member->string);
    }
    cJSON_Delete(tree);
    world_release(&w);
}

/* ---- resolved instances ---- */

static const struct resolved_problem frozen = {
    .names = {"PropagationPolicy", "shop", "first", "blue"},
    .api_version = "apps/v1",
    .kind = "Deployment",
    .ns = "shop",
    .name = "web",
    .since_ms = INT64_C(1767225600000) - 3600000,
    .opened_ms = INT64_C(1767225600000) - 60000,
    .resolved_ms = INT64_C(1767225600000),
    .class = CLASS_TEMPLATE,
    .reason = PROBLEM_REASON_NOT_PROPAGATED_WAITING,
    .severity = SEVERITY_WARNING,
    .deleted = true,
};

TEST(a_resolved_row_has_names_and_times)
{
    CLEANUP(strbuf_release) struct strbuf row = STRBUF_INIT(TEXT_MAX);
    CLEANUP(strbuf_release) struct strbuf csv = STRBUF_INIT(TEXT_MAX);
    struct resolved_problem bare = {.api_version = "",
                                    .kind = "Source",
                                    .ns = "",
                                    .name = "pods",
                                    .reason = PROBLEM_REASON_ORPHANED,
                                    .since_seen = true};
    struct json_writer w = {.out = &row};

    resolved_problem_write(&w, &frozen);
    assert_string_equal(
        row.data,
        "{\"problem\":\"not_propagated\",\"severity\":\"warning\",\"reason\":\"waiting\","
        "\"status\":\"resolved\",\"open\":false,\"since\":\"2025-12-31T23:00:00Z\","
        "\"opened\":\"2025-12-31T23:59:00Z\",\"resolved\":\"2026-01-01T00:00:00Z\","
        "\"deleted\":true,\"subject\":{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\","
        "\"namespace\":\"shop\",\"name\":\"web\"},\"policy\":{\"kind\":\"PropagationPolicy\","
        "\"namespace\":\"shop\",\"name\":\"first\"},\"owner\":\"blue\","
        "\"doc\":\"not-propagated\"}");
    csv_add_headings(&csv, resolved_problem_columns);
    assert_true(csv_add_row(&csv, resolved_problem_columns, row.data, row.len));
    assert_non_null(strstr(csv.data, "\r\nnot_propagated,warning,waiting,resolved,false,"
                                     "2025-12-31T23:00:00Z,,2025-12-31T23:59:00Z,"
                                     "2026-01-01T00:00:00Z,true,apps/v1,Deployment,shop,web,"
                                     "PropagationPolicy,shop,first,blue,not-propagated\r\n"));
    strbuf_reset(&row);
    w = (struct json_writer){.out = &row};
    resolved_problem_write(&w, &bare);
    assert_non_null(strstr(row.data, "\"reason\":null"));
    assert_non_null(strstr(row.data, "\"sinceSeen\":true,\"opened\":null"));
    assert_non_null(strstr(row.data, "\"policy\":null,\"owner\":null"));
}

TEST(filters_select_resolved_instances_by_each_member)
{
    static const struct {
        struct problem_filter filter;
        bool matches;
    } rows[] = {
        {{PROBLEM_COUNT, SEVERITY_COUNT, NULL, NULL, NULL, NULL, NULL, PROBLEM_COUNT, NULL}, true},
        {{PROBLEM_NOT_PROPAGATED, SEVERITY_WARNING, "waiting", "shop", "blue", "shop/first", "SHOP",
          PROBLEM_COUNT, NULL},
         true},
        {{PROBLEM_COUNT, SEVERITY_COUNT, NULL, NULL, NULL, "first", NULL, PROBLEM_COUNT, NULL},
         true},
        {{PROBLEM_ORPHANED, SEVERITY_COUNT, NULL, NULL, NULL, NULL, NULL, PROBLEM_COUNT, NULL},
         false},
        {{PROBLEM_COUNT, SEVERITY_INFO, NULL, NULL, NULL, NULL, NULL, PROBLEM_COUNT, NULL}, false},
        {{PROBLEM_COUNT, SEVERITY_COUNT, "stuck", NULL, NULL, NULL, NULL, PROBLEM_COUNT, NULL},
         false},
        {{PROBLEM_COUNT, SEVERITY_COUNT, NULL, "", NULL, NULL, NULL, PROBLEM_COUNT, NULL}, false},
        {{PROBLEM_COUNT, SEVERITY_COUNT, NULL, NULL, "red", NULL, NULL, PROBLEM_COUNT, NULL},
         false},
        {{PROBLEM_COUNT, SEVERITY_COUNT, NULL, NULL, NULL, "a/first", NULL, PROBLEM_COUNT, NULL},
         false},
        {{PROBLEM_COUNT, SEVERITY_COUNT, NULL, NULL, NULL, NULL, NULL, PROBLEM_ORPHANED, NULL},
         false},
        {{PROBLEM_COUNT, SEVERITY_COUNT, NULL, NULL, NULL, NULL, "none", PROBLEM_COUNT, NULL},
         false},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(resolved_problem_matches(&frozen, &rows[i].filter), rows[i].matches);
}

TEST(a_report_without_judged_problems_has_an_empty_list)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEXT_MAX);
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_run(&w, NOW_MS);
    report_write(w.engine, NULL, &out);
    assert_non_null(strstr(out.data, "\"problems\":[]"));
    world_release(&w);
}
