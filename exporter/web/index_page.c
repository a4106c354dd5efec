/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/evaluation.h"
#include "exporter/web/findings_section.h"
#include "exporter/web/frame.h"
#include "exporter/web/html.h"
#include "exporter/web/list_parts.h"
#include "exporter/web/pages.h"
#include "exporter/web/source_section.h"

enum {

    PLACE_MAX = 8192,
};

static void add_problems(const struct manifests *m, struct strbuf *out)
{
    CLEANUP(strbuf_release) struct strbuf place = STRBUF_INIT(PLACE_MAX);
    size_t count = manifests_problem_count(m);

    if (count == 0)
        return;
    html_section(out, "problems", "Problems in manifests", count);
    strbuf_adds(out, "<ul class=\"cards\">\n");
    for (size_t i = 0; i < count && i < HTML_SHOWN_MAX; i++) {
        struct manifest_problem p = manifests_problem(m, i);

        strbuf_adds(out, "<li>\n<p><b>");
        strbuf_reset(&place);
        manifest_problem_place(&p, &place);
        html_text(out, place.data);
        strbuf_addf(out, "</b> <span class=\"faint\">%s</span></p>\n<p class=\"bad\">",
                    problem_kind_name(p.kind));
        html_text(out, p.text);
        strbuf_adds(out, "</p>\n</li>\n");
    }
    strbuf_adds(out, "</ul>\n");
    html_more(out, count);
    strbuf_adds(out, "</section>\n");
}

/* The findings, worst first, for people. */
void index_page_write(const struct health *h, struct strbuf *out)
{
    frame_open(out, FRAME_OVERVIEW, "What is wrong now");
    if (!h->config_loaded)
        strbuf_adds(out, "<p class=\"bad\">The last reload failed; the old configuration stays in "
                         "force. The log says why.</p>\n");
    if (h->evaluation) {
        const struct cards cards = {h->evaluation->engine, h->now_ms, LIST_PARTIES_MAX, out};

        findings_section_write(&cards, h->findings, NULL);
        add_problems(h->evaluation->manifests, out);
    } else {
        strbuf_adds(out, "<p>Everything is being read for the first time.</p>\n");
    }
    if (h->session)
        source_section_write(h->session, out);
    frame_close(out, h->now_ms);
}
