/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/evaluation.h"
#include "exporter/web/api.h"
#include "exporter/web/findings_section.h"
#include "exporter/web/frame.h"
#include "exporter/web/html.h"
#include "exporter/web/link.h"
#include "exporter/web/list_parts.h"

enum { NAME_MAX_BYTES = 4096 };

/* What its team has to know: what is wrong there, and the ways to all that is there. */
void namespace_page(struct call *call, const struct health *h)
{
    const char *ns = call->query.values[PARAMETER_NAMESPACE];
    const struct cards cards = {h->evaluation->engine, h->now_ms, LIST_PARTIES_MAX, &call->body};
    CLEANUP(strbuf_release) struct strbuf title = STRBUF_INIT(NAME_MAX_BYTES);
    CLEANUP(findings_release) struct findings findings;

    findings_gather_in(h->evaluation->store, ns, HTML_SHOWN_MAX, &findings);
    if (findings.templates + findings.policies + findings.bindings == 0) {
        api_refuse(call, MHD_HTTP_NOT_FOUND, "nothing is known in this namespace");
        return;
    }
    strbuf_addf(&title, "Namespace %s", ns);
    frame_open(&call->body, JSON_FRAME_ELSEWHERE, title.data);
    strbuf_adds(&call->body, "<p class=\"ways\">\n");
    link_open_with(&call->body, "templates", {PARAMETER_NAMESPACE, ns});
    strbuf_addf(&call->body, "Its %zu template%s</a>\n", findings.templates,
                findings.templates == 1 ? "" : "s");
    link_open_with(&call->body, "policies", {PARAMETER_NAMESPACE, ns});
    strbuf_addf(&call->body, "Its %zu polic%s</a>\n</p>\n", findings.policies,
                findings.policies == 1 ? "y" : "ies");
    findings_section_write(&cards, &findings, ns);
    frame_close(&call->body, h->now_ms);
}
