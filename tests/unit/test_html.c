/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/pages/html.h"

#include "exporter/kube/session.h"
#include "exporter/web/pages/pages.h"

#include "tests/unit/suite.h"
#include "tests/unit/world.h"

static struct text_case {
    const char *name;
    const char *text;
    const char *html;
} text_cases[] = {
    {"plain text stays", "Deployment default/app-a", "Deployment default/app-a"},
    {"markup is shown, not followed", "<b a='1' c=\"2\">&amp;</b>",
     "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;amp;&lt;/b&gt;"},
    {"other scripts stay", "gr\xC3\xBC\xC3\x9F \xF0\x9F\x91\x8D",
     "gr\xC3\xBC\xC3\x9F \xF0\x9F\x91\x8D"},
    {"control characters are replaced", "a\033b\nc\x7F",
     "a\xEF\xBF\xBD"
     "b\xEF\xBF\xBD"
     "c\xEF\xBF\xBD"},
    {"C1 controls are replaced", "\xC2\x85", "\xEF\xBF\xBD"},
    {"broken UTF-8 is replaced",
     "a\xFF"
     "b\xE2\x82",
     "a\xEF\xBF\xBD"
     "b\xEF\xBF\xBD\xEF\xBF\xBD"},
    {"nothing", "", ""},
};

TEST_ROWS(text, text_cases, name)
{
    const struct text_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf plain = STRBUF_INIT(4096);
    CLEANUP(strbuf_release) struct strbuf formatted = STRBUF_INIT(4096);

    html_text(&plain, c->text);
    assert_string_equal(plain.data, c->html);
    html_textf(&formatted, "%s", c->text);
    assert_string_equal(formatted.data, c->html);
}

/* Only what has failed is among the resources that cannot be read. */
TEST(the_first_page_complains_of_nothing)
{
    static const char *const environment[] = {NULL};
    CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT(1 << 20);
    struct kube_config config = {.origin = xstrdup("a test"),
                                 .server = xstrdup("http://127.0.0.1:1")};
    struct namespace_filter filter = {0};
    struct log log = {.level = LOG_LEVEL_ERROR, .stream = stderr};
    struct world world;
    struct error err;

    world_init(&world, &rules_options_default, 1);
    struct kube_session *session =
        kube_session_new(&(struct kube_session_settings){.config = &config,
                                                         .environment = environment,
                                                         .store = world.store,
                                                         .engine = world.engine,
                                                         .filter = &filter,
                                                         .log = &log},
                         &err);
    assert_non_null(session);
    assert_true(kube_source_count(kube_session_source(session)) > 0);
    index_page_write(&(struct health){.session = session, .telemetry_path = "/metrics"}, &page);
    assert_non_null(strstr(page.data, "http://127.0.0.1:1"));
    assert_null(strstr(page.data, "cannot be read"));
    kube_session_free(session);
    world_release(&world);
}
