/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/source_section.h"

#include "exporter/web/html.h"

static size_t add_failed(const struct kube_source *source, struct strbuf *out)
{
    size_t count = 0;

    for (size_t i = 0; i < kube_source_count(source); i++) {
        const struct reflector *f = kube_source_reflector(source, i);

        if (*f->failure.text == '\0' || (kube_source_ready(source) && !f->synced) ||
            count++ >= HTML_SHOWN_MAX)
            continue;
        strbuf_adds(out, "<li>");
        html_textf(out, "%s %s", f->api_version, f->resource);
        strbuf_addf(out, " cannot be read%s<br><span class=\"bad\">",
                    f->synced ? "; its last state counts" : "");
        html_text(out, f->failure.text);
        strbuf_adds(out, "</span></li>\n");
    }
    return count;
}

/* The kinds that are listed now and then, for lack of connections to watch them. */
static size_t add_polled(const struct kube_source *source, struct strbuf *out)
{
    size_t count = 0;

    for (size_t i = 0; i < kube_source_count(source); i++) {
        const struct reflector *f = kube_source_reflector(source, i);

        if (!f->watch.polled || count++ >= HTML_SHOWN_MAX)
            continue;
        strbuf_adds(out, "<li>");
        html_textf(out, "%s %s", f->api_version, f->resource);
        strbuf_adds(out, " is listed every 30 s: no connection is left to watch it over HTTP/1.1"
                         "</li>\n");
    }
    return count;
}

/* The kinds that have not been read, while the rest is shown. */
static size_t add_missing(const struct kube_source *source, struct strbuf *out)
{
    size_t count = 0;

    for (size_t i = 0; i < kube_source_missing_count(source); i++) {
        const struct missing_kind *k = kube_source_missing(source, i);

        if (!k->late || count++ >= HTML_SHOWN_MAX)
            continue;
        strbuf_adds(out, "<li>");
        html_textf(out, "%s %s", k->api_version, k->kind);
        strbuf_adds(out, " has not been read yet; what depends on it is left out<br>"
                         "<span class=\"bad\">");
        html_text(out, missing_kind_reason(k->reflector));
        strbuf_adds(out, "</span></li>\n");
    }
    return count;
}

static void add_unserved(const struct kube_source *source, struct strbuf *out)
{
    static const char *const why[] = {
        [DISCOVERY_UNKNOWN] = "not known yet",
        [DISCOVERY_ABSENT] = "not served",
        [DISCOVERY_UNWATCHED] = "not watched by Karmada in this version",
    };

    for (size_t i = 0; i < kube_source_unserved_count(source) && i < HTML_SHOWN_MAX; i++) {
        const struct unserved *u = kube_source_unserved(source, i);

        strbuf_adds(out, "<li>");
        html_textf(out, "%s %s", u->api_version, u->kind);
        strbuf_addf(out, " is selected by a policy and %s</li>\n", why[u->answer]);
    }
}

void source_cards_write(const struct kube_source *source, struct strbuf *out)
{
    size_t count;

    strbuf_adds(out, "<ul class=\"cards\">\n");
    count = add_failed(source, out);
    count += add_missing(source, out);
    count += add_polled(source, out);
    add_unserved(source, out);
    strbuf_adds(out, "</ul>\n");
    html_more(out, count);
}

void source_section_write(const struct kube_session *session, struct strbuf *out)
{
    strbuf_adds(out, "<section aria-labelledby=\"source\">\n<h2 id=\"source\">Source</h2>\n<p>");
    html_textf(out, "%s, %s", kube_session_server(session), kube_session_origin(session));
    strbuf_adds(out, "</p>\n");
    source_cards_write(kube_session_source(session), out);
    strbuf_adds(out, "</section>\n");
}
