/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/evaluation.h"
#include "exporter/web/filter.h"
#include "exporter/web/list.h"
#include "metrics/expose/report_parts.h"

enum { HEAD_MAX_BYTES = 4096 };

static const char *const columns[] = {
    "number",
    "time",
    "cause",
    "apiVersion",
    "kind",
    "namespace",
    "name",
    "before.state",
    "before.reason",
    "before.phase",
    "before.stage",
    "before.stageReason",
    "before.policy.kind",
    "before.policy.namespace",
    "before.policy.name",
    "before.claimed.kind",
    "before.claimed.namespace",
    "before.claimed.name",
    "before.version",
    "before.clusters",
    "after.state",
    "after.reason",
    "after.phase",
    "after.stage",
    "after.stageReason",
    "after.policy.kind",
    "after.policy.namespace",
    "after.policy.name",
    "after.claimed.kind",
    "after.claimed.namespace",
    "after.claimed.name",
    "after.version",
    "after.clusters",
    "otherClusters",
    NULL,
};

static const struct list_def history = {"TransitionList", columns};

void api_history(struct call *call, const struct health *h)
{
    const struct transitions *t = engine_transitions(h->evaluation->engine);
    CLEANUP(strbuf_release) struct strbuf head = STRBUF_INIT(HEAD_MAX_BYTES);
    struct json_writer w = {.out = &head};
    struct row_filter filter;
    struct error err;

    if (!filter_rows(&call->query, &filter, &err)) {
        api_refuse(call, MHD_HTTP_BAD_REQUEST, err.text);
        return;
    }
    json_writer_open(&w, NULL, '{');
    report_put_time(&w, "began", transitions_start_ms(t));
    report_put_time(&w, "since", transitions_complete_since_ms(t));
    json_writer_int(&w, "entries", (int64_t)transitions_count(t));
    json_writer_int(&w, "limit", (int64_t)transitions_limit(t));
    json_writer_text(
        &w, "text",
        t ? "What happened before 'since' is not remembered. All of it is in memory alone: "
            "a restart and a reload of the exporter begin it anew."
          : "Nothing is remembered: --history.entries is 0.");
    json_writer_close(&w, '}');
    list_transitions(call, &history, t, &filter, head.data);
}
