/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/explain/explain.h"

#include "metrics/explain/explain_binding.h"
#include "metrics/explain/explain_history.h"
#include "metrics/explain/explain_policy.h"
#include "metrics/explain/explain_template.h"

enum { NAME_MAX_BYTES = 1 << 20 };

/* The first line: who it is, and of a binding also whose. */
static void add_title(struct explaining *x, const struct entry *entry)
{
    struct identity of = dependency_resource(entry);

    if (entry_class(entry) == CLASS_BINDING)
        explanation_line(x->out, EXPLAIN_HEADING, "%s of %s %s", explain_name(x, entry), of.kind,
                         of.name);
    else if (entry_class(entry) == CLASS_TEMPLATE)
        explanation_line(x->out, EXPLAIN_HEADING, "%s (%s)", explain_name(x, entry),
                         entry->partition->type->api_version);
    else
        explanation_line(x->out, EXPLAIN_HEADING, "%s", explain_name(x, entry));
}

/* Others of its kind are missing, and so may be what it is held against. */
static void explain_unknown(struct explaining *x)
{
    writer_text(&x->out->facts, "state", NULL);
    explain_say(x, "Its state is not known: not all objects of its kind have been read yet.");
}

void explain_object(struct engine *e, const struct entry *entry, int64_t now_ms,
                    struct explanation *x)
{
    const struct type *type = entry->partition->type;
    struct explaining explaining = {.engine = e, .now_ms = now_ms, .out = x};

    for (unsigned i = 0; i < EXPLAIN_NAMES; i++)
        explaining.names[i] = STRBUF_INIT(NAME_MAX_BYTES);
    writer_text(&x->facts, "apiVersion", "karmada-policy-exporter/v1");
    writer_text(&x->facts, "kind", "Explanation");
    writer_open(&x->facts, "object", '{');
    report_put_identity(&x->facts, (struct identity){type->api_version, entry_kind(entry),
                                                     entry_ns(entry), entry->name});
    writer_close(&x->facts, '}');
    add_title(&explaining, entry);
    if (entry_class(entry) == CLASS_POLICY)
        explain_policy(&explaining, entry);
    else if (entry_class(entry) == CLASS_BINDING)
        explain_binding(&explaining, entry);
    else if (template_decision(entry))
        explain_template(&explaining, entry);
    else
        explain_unknown(&explaining);
    if (entry_class(entry) == CLASS_TEMPLATE && !x->without_history)
        explain_history(&explaining, entry);
    for (unsigned i = 0; i < EXPLAIN_NAMES; i++)
        strbuf_release(&explaining.names[i]);
}
