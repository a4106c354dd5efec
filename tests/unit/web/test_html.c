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

/* Writes the first page; the value of the parameter `page` is `part`, NULL to omit it. */
static void write_index(const struct health *health, const char *part, struct strbuf *page)
{
    struct query query = {.values[PARAMETER_PAGE] = part ? xstrdup(part) : NULL};
    struct queued_request *request = queued_request_new(&endpoints[ENDPOINT_INDEX_PAGE], &query);

    index_page(request, health);
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

/*
 * Writes a part of the first page after an evaluation of the manifests in the folder. `severity` is
 * a value of --problems.severity; NULL: the flag is omitted.
 */
static void write_index_of_manifests(const char *folder, const char *part, const char *severity,
                                     struct strbuf *page)
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
    evaluation_run(e, INT64_C(1767225600000), SIZE_MAX);
    evaluation_judge_problems(e, true, NULL);
    evaluation_run(e, INT64_C(1767225600000), SIZE_MAX);
    write_index(&(struct health){.evaluation = e, .config_loaded = true}, part, page);
    evaluation_free(e);
    options_release(&options);
}

#define INVALID(name)                                                                              \
    "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\n"                            \
    "metadata: {namespace: a, name: " name "}\nspec: {resourceSelectors: []}\n---\n"
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

/* Two manifests, and text that a part of the first page must and must not contain. */
static const struct page_case {
    const char *title;
    const char *manifest;
    const char *other; /* NULL: there is none. */
    const char *part;
    const char *severity; /* Value of --problems.severity; NULL: none. */
    const char *wanted[6];
    const char *unwanted[3];
} page_cases[] = {
    {"no problem",
     "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: a, name: c}\n",
     NULL,
     NULL,
     NULL,
     {COMPLETE, "<b>0</b> critical</a>", "<b>0</b> pending</a>", "<b>0</b> hidden</a>"},
     {INCOMPLETE, "<table>"}},
    {"no problem in the part that was read",
     "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: a, name: c}\n",
     "no: {object\n",
     NULL,
     NULL,
     {INCOMPLETE, "b.yaml", ">data incomplete, broken_file</td>"},
     {COMPLETE}},
    {"no problem is known while data_incomplete is disabled",
     "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: a, name: c}\n",
     "no: {object\n",
     NULL,
     "data_incomplete=off",
     {"<p>No open problems. The problem data_incomplete is disabled, so problems may be missing: ",
      "<a href=\"exporter\">the exporter</a>"},
     {COMPLETE, INCOMPLETE}},
    {"two problems",
     INVALID("one") INVALID("two"),
     NULL,
     NULL,
     NULL,
     {"<b>2</b> warning</a>",
      "</span> warning</span></td>\n<td data-label=\"Problem\">policy invalid, ",
      "<a href=\"policy?kind=PropagationPolicy&amp;namespace=a&amp;name=one\">", "a/two</a>",
      ">policy_owner</td>\n<td data-label=\"Action\" class=\"sentence\">"},
     {COMPLETE, INCOMPLETE, "Next page"}},
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
     "2",
     NULL,
     {"a/b00<", "a/b99<", "<a href=\"./?\">Previous page</a>",
      "<a href=\"./?page=3\">Next page</a>"},
     {"a/a99<", "a/last<"}},
    {"the last part in place of one that no longer exists",
     HUNDRED("a") HUNDRED("b"),
     INVALID("last"),
     "9",
     NULL,
     {"a/last<", "<a href=\"./?page=2\">Previous page</a>", "Rows 201 to 201 of 201<"},
     {"a/b99<", "Next page"}},
    {"a part that is no number",
     "",
     NULL,
     "0",
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
    write_index_of_manifests(folder, c->part, c->severity, &page);
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
