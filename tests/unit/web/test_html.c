/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/html.h"

#include "exporter/evaluation.h"
#include "exporter/system/platform.h"
#include "exporter/web/api.h"
#include "exporter/web/query.h"

#include "tests/unit/folder.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

static struct text_case {
    const char *name;
    const char *text;
    const char *html;
} text_cases[] = {
    {"plain text is unchanged", "Deployment default/app-a", "Deployment default/app-a"},
    {"markup is escaped", "<b a='1' c=\"2\">&amp;</b>",
     "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;amp;&lt;/b&gt;"},
    {"non-ASCII letters are unchanged", "gr\xC3\xBC\xC3\x9F \xF0\x9F\x91\x8D",
     "gr\xC3\xBC\xC3\x9F \xF0\x9F\x91\x8D"},
    {"control characters are replaced", "a\033b\nc\x7F",
     "a\xEF\xBF\xBD"
     "b\xEF\xBF\xBD"
     "c\xEF\xBF\xBD"},
    {"C1 controls are replaced", "\xC2\x85", "\xEF\xBF\xBD"},
    {"bidirectional controls and byte order marks are replaced",
     "a\xE2\x80\xAE"
     "b\xE2\x81\xA6\xEF\xBB\xBF",
     "a\xEF\xBF\xBD"
     "b\xEF\xBF\xBD\xEF\xBF\xBD"},
    {"the line separator U+2028 is replaced", "\xE2\x80\xA8", "\xEF\xBF\xBD"},
    {"invalid UTF-8 is replaced",
     "a\xFF"
     "b\xE2\x82",
     "a\xEF\xBF\xBD"
     "b\xEF\xBF\xBD\xEF\xBF\xBD"},
    {"empty text", "", ""},
};

TEST_ROWS(html_text_escapes, text_cases, name)
{
    const struct text_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf plain = STRBUF_INIT(4096);
    CLEANUP(strbuf_release) struct strbuf formatted = STRBUF_INIT(4096);

    html_text(&plain, c->text);
    assert_string_equal(plain.data, c->html);
    html_textf(&formatted, "%s", c->text);
    assert_string_equal(formatted.data, c->html);
}

/* A session with an unreachable API server, and its first page. */
struct lab {
    struct world world;
    struct namespace_filter filter;
    struct log log;
    struct kube_session *session;
    struct strbuf page;
};

static const char *const environment[] = {NULL};

static void lab_init(struct lab *lab)
{
    struct rest_config config = {.origin = xstrdup("a test"),
                                 .server = xstrdup("http://127.0.0.1:1")};
    struct error err;

    *lab = (struct lab){.log = {.level = LOG_LEVEL_ERROR, .stream = stderr},
                        .page = STRBUF_INIT(1 << 20)};
    world_init(&lab->world, &rules_options_default, 1);
    lab->session = kube_session_new(&(struct kube_session_settings){.config = &config,
                                                                    .environment = environment,
                                                                    .store = lab->world.store,
                                                                    .engine = lab->world.engine,
                                                                    .filter = &lab->filter,
                                                                    .log = &lab->log,
                                                                    .now_ms = platform_steady_ms()},
                                    &err);
    assert_non_null(lab->session);
}

static void lab_release(struct lab *lab)
{
    kube_session_free(lab->session);
    strbuf_release(&lab->page);
    world_release(&lab->world);
}

/* Sets the parameters of a query "NAME=VALUE&NAME=VALUE"; NULL: none. */
static void set_parameters(const char *text, struct query *query)
{
    while (text && *text) {
        size_t len = strcspn(text, "&"), name_len = strcspn(text, "=");
        unsigned i = 0;

        while (strlen(parameter_names[i]) != name_len ||
               strncmp(parameter_names[i], text, name_len) != 0)
            assert_in_range(++i, 0, PARAMETER_COUNT - 1);
        query->values[i] = xmemdup0(text + name_len + 1, len - name_len - 1);
        text += len + (text[len] == '&');
    }
}

/* Writes the first page for a query as set_parameters() has it. */
static void write_index(const struct health *health, const char *parameters, struct strbuf *page)
{
    struct query query = {{0}};
    struct queued_request *request;

    set_parameters(parameters, &query);
    request = queued_request_new(&endpoints[ENDPOINT_INDEX_PAGE], &query);
    index_page(request, health);
    if (request->header.value)
        strbuf_addf(page, "%s: %s\n", request->header.name, request->header.value);
    strbuf_adds(page, request->body.data);
    queued_request_free(request);
}

/* Returns the number of resources that the first page reports as unreadable. */
static size_t count_failures(struct lab *lab)
{
    size_t count = 0;

    strbuf_reset(&lab->page);
    write_index(&(struct health){.session = lab->session, .telemetry_path = "/metrics"}, NULL,
                &lab->page);
    assert_non_null(strstr(lab->page.data, "http://127.0.0.1:1"));
    for (const char *at = lab->page.data; (at = strstr(at, "cannot be read")) != NULL; at++)
        count++;
    return count;
}

static struct age_case {
    const char *name;
    int64_t now_ms;
    const char *html;
} age_cases[] = {
    {"unknown current time", 0, ""},
    {"just now", INT64_C(1767225600000), " (0 s ago)"},
    {"seconds", INT64_C(1767225659999), " (59 s ago)"},
    {"a minute", INT64_C(1767225660000), " (1 min ago)"},
    {"hours", INT64_C(1767232800000), " (2 h ago)"},
    {"days", INT64_C(1767225600000) + INT64_C(86400000) * 400, " (400 d ago)"},
    {"in the future", INT64_C(1767225599000), ""},
};

TEST_ROWS(html_time_shows_the_age, age_cases, name)
{
    const struct age_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(4096);
    char wanted[256];

    snprintf(wanted, sizeof(wanted),
             "<time datetime=\"2026-01-01T00:00:00Z\">2026-01-01T00:00:00Z</time>%s", c->html);
    html_time(&out, INT64_C(1767225600000), c->now_ms);
    assert_string_equal(out.data, wanted);
}

TEST(first_page_reports_only_resources_that_failed)
{
    enum { TIMEOUT_MS = 60 * 1000 };
    struct lab lab;

    lab_init(&lab);
    assert_true(kube_source_reflector_count(kube_session_source(lab.session)) > 1);
    assert_int_equal(count_failures(&lab), 0);
    int64_t began_ms = platform_steady_ms();
    while (count_failures(&lab) < 2) {
        int64_t now_ms = platform_steady_ms();

        assert_in_range(now_ms - began_ms, 0, TIMEOUT_MS);
        kube_session_turn(lab.session, now_ms, INT64_C(1767225600000) + now_ms);
        kube_session_poll(lab.session, NULL, NULL, 0, 20);
    }
    lab_release(&lab);
}

#define NOW_MS INT64_C(1767225600000)

/*
 * Returns an evaluation of the manifests in the folder. `severity` is a value of
 * --problems.severity; NULL: the flag is omitted. `snapshot`: as in `check`.
 */
static struct evaluation *evaluate_manifests(const char *folder, const char *severity,
                                             bool snapshot)
{
    static const struct log log = {.level = LOG_LEVEL_ERROR};
    const char *const arguments[] = {"check", "--manifests", folder, "--problems.severity",
                                     severity};
    struct options options;
    struct error err;

    assert_true(config_load(&options, severity ? 5 : 3, arguments, &err));
    struct evaluation *e = evaluation_new(
        &(struct evaluation_settings){
            .options = &options, .environment = environment, .log = &log, .seed = 1},
        &err);

    if (!e)
        fail_msg("%s", err.text);
    while (evaluation_load(e, &err) == LOADING_BUSY)
        evaluation_wait(e, NULL, NULL, 0, -1);
    evaluation_run(e, NOW_MS, SIZE_MAX);
    evaluation_judge_problems(e, snapshot, NULL);
    evaluation_run(e, NOW_MS, SIZE_MAX);
    options_release(&options);
    return e;
}

/* Writes the first page with a query after an evaluation of the manifests in the folder. */
static void write_index_of_manifests(const char *folder, const char *parameters,
                                     const char *severity, struct strbuf *page)
{
    struct evaluation *e = evaluate_manifests(folder, severity, true);

    write_index(
        &(struct health){.evaluation = e, .config_loaded = true, .now_ms = NOW_MS + 3600 * 1000},
        parameters, page);
    evaluation_free(e);
}

#define INVALID(name)                                                                              \
    "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\n"                            \
    "metadata: {namespace: a, name: " name "}\nspec: {resourceSelectors: [{apiVersion: v1, kind: " \
    "Secret, labelSelector: {matchExpressions: [{key: k, operator: Wrong}]}}]}\n---\n"
#define TEN(name)                                                                                  \
    INVALID(name "0")                                                                              \
    INVALID(name "1")                                                                              \
    INVALID(name "2")                                                                              \
    INVALID(name "3")                                                                              \
    INVALID(name "4")                                                                              \
    INVALID(name "5") INVALID(name "6") INVALID(name "7") INVALID(name "8") INVALID(name "9")
#define HUNDRED(name)                                                                              \
    TEN(name "0")                                                                                  \
    TEN(name "1")                                                                                  \
    TEN(name "2")                                                                                  \
    TEN(name "3")                                                                                  \
    TEN(name "4") TEN(name "5") TEN(name "6") TEN(name "7") TEN(name "8") TEN(name "9")
#define COMPLETE   "<p class=\"good\">No open problems.</p>"
#define INCOMPLETE "<p class=\"bad\">Not everything has been read, so problems may be missing: "

/* Two manifests, and text that the first page must and must not contain. */
static const struct page_case {
    const char *title;
    const char *manifest;
    const char *other;      /* NULL: there is none. */
    const char *parameters; /* Query as set_parameters() has it; NULL: none. */
    const char *severity;   /* Value of --problems.severity; NULL: none. */
    const char *wanted[6];
    const char *unwanted[3];
} page_cases[] = {
    {"no problem",
     "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: a, name: c}\n",
     NULL,
     NULL,
     NULL,
     {COMPLETE, "<b>0</b> critical</a>", "<b>0</b> pending</a>", "<b>0</b> hidden</a>",
      "<title>Problems</title>",
      "info), 0 resolved; the observation began less than 24 hours ago.\">"},
     {INCOMPLETE, "<table>", "Filters:"}},
    {"no problem while a check is disabled",
     "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: a, name: c}\n",
     NULL,
     NULL,
     "policy_tie=off,unhealthy=off",
     {"<p>No open problems in the data that has been read and the checks that are enabled.</p>",
      "disables them (problems.severity): unhealthy, policy tie.</p>"},
     {COMPLETE, INCOMPLETE}},
    {"no problem in the part that was read",
     "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: a, name: c}\n",
     "no: {object\n",
     NULL,
     NULL,
     {INCOMPLETE, "b.yaml (broken_file)",
      "<b>data incomplete</b> <span "
      "class=\"reason\">broken_file</span>",
      "<title>1 warning \xC2\xB7 Problems</title>"},
     {COMPLETE}},
    {"no problem is known while data_incomplete is disabled",
     "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: a, name: c}\n",
     "no: {object\n",
     NULL,
     "data_incomplete=off",
     {"<p>No open problems in the data that has been read and the checks that are enabled.</p>",
      "<p>Not checked, because the configuration disables them (problems.severity): data "
      "incomplete. Kinds and files that cannot be read are listed only on the page of "
      "<a href=\"exporter\">the exporter</a>, not as problems.</p>"},
     {COMPLETE, INCOMPLETE}},
    {"two problems",
     INVALID("one") INVALID("two"),
     NULL,
     NULL,
     NULL,
     {"<a href=\"./?severity=warning\"><b>2</b> warning</a>",
      "</span> warning</span></td>\n<td data-label=\"Problem\" class=\"problem\"><b>policy "
      "invalid</b> ",
      "<a href=\"policy?kind=PropagationPolicy&amp;namespace=a&amp;name=one\">", "a/two</a>",
      "<td data-label=\"Action\" class=\"sentence action\"><b>Policy owner:</b> ",
      "<a href=\"runbook?problem=policy_invalid\">Runbook</a>"},
     {COMPLETE, INCOMPLETE, "Next page"}},
    {"counts by problem are links, and the title has the counts by severity",
     INVALID("one") INVALID("two"),
     NULL,
     NULL,
     NULL,
     {"<a href=\"./?problem=policy_invalid\"><b>2</b> policy invalid</a>",
      "<title>2 warning \xC2\xB7 Problems</title>"},
     {"placement lost</a>"}},
    {"an active filter is marked and has a link that removes it",
     INVALID("one") INVALID("two"),
     NULL,
     "severity=warning&namespace=a",
     NULL,
     {"<a href=\"./?namespace=a\" aria-current=\"true\"><b>2</b> warning</a>",
      "<a href=\"./?namespace=a\">Severity: warning <span",
      "<a href=\"./?severity=warning\">Namespace: a <span", "<a href=\"./\">Clear all filters</a>",
      "<input type=\"hidden\" name=\"severity\" value=\"warning\">",
      "<title>2 warning \xC2\xB7 Problems</title>"},
     {"Severity: info"}},
    {"a filter that matches nothing",
     INVALID("one"),
     NULL,
     "search=none",
     NULL,
     {"<p>No problem matches the filters.</p>", "<b>0</b> warning</a>"},
     {COMPLETE, "<table>"}},
    {"search in namespace and name",
     INVALID("one") INVALID("two"),
     NULL,
     "search=A/ON&problem=policy_invalid",
     NULL,
     {"a/one</a>"},
     {"a/two</a>"}},
    {"sort by age, newest first",
     INVALID("one"),
     NULL,
     "sort=-since",
     NULL,
     {"<th scope=\"col\" class=\"age\" aria-sort=\"descending\"><a href=\"?sort=since\">Since</a>",
      "href=\"api/v1/problems?status=open%2Cresolving%2Cpending&amp;sort=-since&amp;format=csv\">"},
     {"aria-sort=\"ascending\""}},
    {"sort by another column",
     INVALID("one"),
     NULL,
     "sort=sinse",
     NULL,
     {"problems cannot be sorted by &#39;sinse&#39;; do you mean &#39;since&#39;?"},
     {"<table>"}},
    {"refresh",
     INVALID("one"),
     NULL,
     "refresh=1m&severity=info",
     NULL,
     {"Refresh: 60\n", "Refreshed every 1m", "<a href=\"./?severity=info\">Stop refreshing</a>",
      "<a href=\"./?severity=warning&amp;refresh=1m\">"},
     {"Refresh every"}},
    {"no refresh",
     INVALID("one"),
     NULL,
     NULL,
     NULL,
     {"<a href=\"./?refresh=30s\">Refresh every 30 s</a>"},
     {"Refresh: "}},
    {"refresh too often",
     INVALID("one"),
     NULL,
     "refresh=4s",
     NULL,
     {"&#39;refresh&#39; takes an interval from 5s to 1h, such as 30s"},
     {"Refresh: "}},
    {"refresh too seldom", "", NULL, "refresh=61m", NULL, {"takes an interval from 5s"}, {"<form"}},
    {"refresh without a unit", "", NULL, "refresh=30", NULL, {"takes an interval"}, {"<form"}},
    {"no resolved problem",
     INVALID("one"),
     NULL,
     "status=resolved",
     NULL,
     {"<h1>Resolved problems</h1>", "<p>No problem was resolved in this time.</p>",
      "<a href=\"./?\" aria-current=\"true\"><b>0</b> resolved</a>"},
     {"<table>"}},
    {"the first of three parts",
     HUNDRED("a") HUNDRED("b"),
     INVALID("last"),
     NULL,
     NULL,
     {"a/a00<", "a/a99<", "Rows 1 to 100 of 201<", "<a href=\"./?page=2\">Next page</a>"},
     {"a/b00<", "Previous page"}},
    {"a part in the middle",
     HUNDRED("a") HUNDRED("b"),
     INVALID("last"),
     "page=2",
     NULL,
     {"a/b00<", "a/b99<", "<a href=\"./?\">Previous page</a>",
      "<a href=\"./?page=3\">Next page</a>"},
     {"a/a99<", "a/last<"}},
    {"the last part in place of one that no longer exists",
     HUNDRED("a") HUNDRED("b"),
     INVALID("last"),
     "page=9",
     NULL,
     {"a/last<", "<a href=\"./?page=2\">Previous page</a>", "Rows 201 to 201 of 201<"},
     {"a/b99<", "Next page"}},
    {"a part that is no number",
     "",
     NULL,
     "page=0",
     NULL,
     {"&#39;page&#39; takes the number of a page"},
     {"<form"}},
};

TEST_ROWS(first_page_lists_problems, page_cases, title)
{
    const struct page_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT(1 << 20);
    char *folder = folder_make();

    folder_write(folder, "a.yaml", c->manifest);
    if (c->other)
        folder_write(folder, "b.yaml", c->other);
    write_index_of_manifests(folder, c->parameters, c->severity, &page);
    folder_remove(folder);
    for (size_t i = 0; i < ARRAY_LEN(c->wanted) && c->wanted[i]; i++) {
        if (!strstr(page.data, c->wanted[i]))
            fail_msg("the page lacks %s", c->wanted[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(c->unwanted) && c->unwanted[i]; i++) {
        if (strstr(page.data, c->unwanted[i]))
            fail_msg("the page has %s", c->unwanted[i]);
    }
}

/* Runs the evaluation at times in minutes from `from` to `to`, one of which is in each minute. */
static void run_minutes(struct evaluation *e, int from, int to)
{
    for (int minute = from; minute <= to; minute++)
        evaluation_run(e, NOW_MS + minute * INT64_C(60000), SIZE_MAX);
}

TEST(first_page_has_a_chart_and_a_list_of_resolved_problems)
{
    static const struct external_subject pods = {"", "Source", "", "pods"};
    CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT(1 << 20);
    CLEANUP(strbuf_release) struct strbuf resolved = STRBUF_INIT(1 << 20);
    char *folder = folder_make();
    struct evaluation *e;
    struct problems *ps;
    struct health health = {.config_loaded = true, .now_ms = NOW_MS + 60 * 60000};

    folder_write(folder, "a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n");
    e = evaluate_manifests(folder, NULL, false);
    folder_remove(folder);
    ps = engine_problems(e->engine);
    run_minutes(e, 1, 5);
    problems_report(ps, &pods, PROBLEM_REASON_DATA_INCOMPLETE_LATE, NOW_MS + 5 * 60000);
    run_minutes(e, 6, 30);
    problems_withdraw(ps, &pods, PROBLEM_DATA_INCOMPLETE);
    run_minutes(e, 31, 60);
    health.evaluation = e;
    write_index(&health, NULL, &page);
    write_index(&health, "status=resolved", &resolved);
    evaluation_free(e);
    assert_non_null(strstr(page.data,
                           "hours: 1 opened (0 critical, 1 warning, 0 info), 1 resolved; "
                           "the observation began less than 24 hours ago.\">"));
    assert_non_null(strstr(page.data, "<path class=\"critical\" d=\"M0 0\"></path>"));
    assert_non_null(strstr(page.data, "<path class=\"warning\" d=\"M0 0M4"));
    assert_non_null(strstr(page.data, "<path class=\"resolved\" d=\"M0 0M4"));
    assert_non_null(strstr(page.data, "Observed for <time "));
    assert_non_null(strstr(page.data, "<b>1</b> resolved</a></li>"));
    assert_non_null(strstr(page.data, "<p class=\"good\">No open problems.</p>"));
    assert_non_null(strstr(resolved.data, "<b>data incomplete</b> <span class=\"reason\">late<"));
    assert_non_null(strstr(resolved.data, "Source pods"));
    assert_non_null(strstr(resolved.data, "status=resolved&amp;format=csv\">CSV</a>"));
}

static struct age_case short_age_cases[] = {
    {"just now", NOW_MS, "0&nbsp;s"},
    {"hours", NOW_MS + INT64_C(7200000), "2&nbsp;h"},
    {"in the future", NOW_MS - 1, "0&nbsp;s"},
};

TEST_ROWS(html_age_has_the_exact_time, short_age_cases, name)
{
    const struct age_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(4096);
    char wanted[256];

    snprintf(wanted, sizeof(wanted),
             "<time datetime=\"2026-01-01T00:00:00Z\" title=\"since 2026-01-01T00:00:00Z\">%s"
             "</time>",
             c->html);
    html_age(&out, NOW_MS, false, c->now_ms);
    assert_string_equal(out.data, wanted);
}

TEST(html_age_marks_times_of_the_first_observation)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(4096);

    html_age(&out, 0, true, NOW_MS);
    assert_string_equal(out.data, "");
    html_age(&out, NOW_MS, true, NOW_MS + 60000);
    assert_string_equal(out.data, "<time datetime=\"2026-01-01T00:00:00Z\" title=\"first seen at "
                                  "2026-01-01T00:00:00Z\">over 1&nbsp;min</time>");
}
