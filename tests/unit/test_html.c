/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/pages/html.h"

#include "tests/unit/suite.h"

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
