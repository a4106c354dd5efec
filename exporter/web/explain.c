/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/explain/explain.h"

#include "exporter/evaluation.h"
#include "exporter/text/text_table.h"
#include "exporter/web/find.h"
#include "exporter/web/form.h"

/* False: the call is refused. */
static bool read_history(struct call *call, bool *out)
{
    const char *value = call->query.values[PARAMETER_HISTORY];

    if (value && strcmp(value, "true") != 0 && strcmp(value, "false") != 0) {
        api_refuse(call, MHD_HTTP_BAD_REQUEST, "'history' takes true or false");
        return false;
    }
    *out = !value || strcmp(value, "true") == 0;
    return true;
}

static void write_text(struct call *call, const struct form *form, const struct explanation *x,
                       bool forgets)
{
    struct output o = form_begin(call, form);

    explanation_print(x, &o);
    if (forgets) {
        explanation_print_line(&o, EXPLAIN_HEADING, "How it came here");
        explanation_print_line(&o, EXPLAIN_PARAGRAPH,
                               "This exporter remembers nothing: --history.entries is 0.");
    }
    form_end(call, &o);
}

/* As the verb explains, but what only the API server knows is not read. */
void api_explain(struct call *call, const struct health *h)
{
    const struct entry *entry;
    struct explanation x;
    struct form form;
    bool history;

    if (!form_read(call, &form) || !read_history(call, &history))
        return;
    entry = find_object(call, h, EXPLAIN_CLASSES);
    if (!entry)
        return;

    struct engine *engine = h->evaluation->engine;
    bool forgets = history && entry_class(entry) == CLASS_TEMPLATE && !engine_transitions(engine);

    explanation_init(&x);
    x.without_history = !history;
    explain_object(engine, entry, h->now_ms, &x);
    explanation_finish(&x);
    if (form.text)
        write_text(call, &form, &x, forgets);
    else
        strbuf_add(&call->body, x.json.data, x.json.len);
    explanation_release(&x);
}
