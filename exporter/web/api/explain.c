/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/explain/explain.h"
#include "exporter/evaluation.h"
#include "exporter/web/api/find.h"

/* As the verb explains with --output json, but what only the API server knows is not read. */
void api_explain(struct call *call, const struct health *h)
{
    const struct entry *entry = find_object(call, h, EXPLAIN_CLASSES);
    struct explanation x;

    if (!entry)
        return;
    explanation_init(&x);
    explain_object(h->evaluation->engine, entry, h->now_ms, &x);
    explanation_finish(&x);
    strbuf_add(&call->body, x.json.data, x.json.len);
    explanation_release(&x);
}
