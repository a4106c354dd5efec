/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/html.h"

#include "exporter/evaluation.h"
#include "exporter/system/platform.h"
#include "exporter/web/page_index.h"
#include "metrics/rules/findings.h"

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

/* A session with an unreachable API server, and its index page. */
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

/* Returns the number of resources that the index page reports as unreadable. */
static size_t count_failures(struct lab *lab)
{
    size_t count = 0;

    strbuf_reset(&lab->page);
    index_page_write(&(struct health){.session = lab->session, .telemetry_path = "/metrics"},
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

TEST(index_page_reports_only_resources_that_failed)
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

/* Writes the index page after an evaluation of the manifests in the folder. */
static void write_index_of_manifests(const char *folder, struct strbuf *page)
{
    static const struct log log = {.level = LOG_LEVEL_ERROR};
    const char *const arguments[] = {"check", "--manifests", folder};
    struct options options;
    struct error err;

    options_init(&options);
    assert_true(options_parse(&options, ARRAY_LEN(arguments), arguments, &err));
    struct evaluation *e = evaluation_new(
        &(struct evaluation_settings){
            .options = &options, .environment = environment, .log = &log, .seed = 1},
        &err);

    if (!e)
        fail_msg("%s", err.text);
    while (evaluation_load(e, &err) == LOADING_BUSY)
        evaluation_wait(e, NULL, NULL, 0, -1);
    evaluation_run(e, INT64_C(1767225600000), SIZE_MAX);

    struct findings findings;

    findings_gather(e->store, &findings);
    index_page_write(&(struct health){.evaluation = e,
                                      .findings = &findings,
                                      .config_loaded = true,
                                      .telemetry_path = "/metrics"},
                     page);
    findings_release(&findings);
    evaluation_free(e);
}

TEST(each_list_of_findings_has_a_heading_and_a_count)
{
    static const char *const expected[] = {
        "<li><a href=\"#invalid\"><b>2</b> Invalid policies</a></li>",
        "<h2 id=\"invalid\">Invalid policies <span class=\"faint\">2</span></h2>",
        "<a href=\"policy?kind=PropagationPolicy&amp;namespace=a&amp;name=empty-1\">",
        ">PropagationPolicy a/empty-1</a>",
        "PropagationPolicy a/empty-2",
        "<h2 id=\"problems\">Problems in manifests <span class=\"faint\">2</span></h2>",
        "b-1.yaml",
        "b-2.yaml",
    };
    CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT(1 << 20);
    char *folder = folder_make();

    folder_write(folder, "a.yaml",
                 "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\n"
                 "metadata: {namespace: a, name: empty-1}\nspec: {resourceSelectors: []}\n---\n"
                 "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\n"
                 "metadata: {namespace: a, name: empty-2}\nspec: {resourceSelectors: []}\n");
    folder_write(folder, "b-1.yaml", "no: {object\n");
    folder_write(folder, "b-2.yaml", "no: {object\n");
    write_index_of_manifests(folder, &page);
    folder_remove(folder);
    for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
        if (!strstr(page.data, expected[i]))
            fail_msg("the page lacks %s", expected[i]);
    }
}
