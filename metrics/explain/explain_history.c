/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/explain/explain_history.h"

#include "metrics/base/timestamp.h"
#include "metrics/expose/report_parts.h"

enum { TRANSITIONS_MAX = 20, TEXT_MAX_BYTES = 16 * 1024 };

static void explain_transition(struct explaining *x, const struct transition *t)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX_BYTES);
    char time[32];

    transition_write(&x->out->facts, t);
    format_timestamp(t->time_ms, time);
    transition_say(&text, t);
    explain_detail(x, "%s: %s. %s", time, text.data, cause_texts[t->cause]);
}

void explain_history(struct explaining *x, const struct entry *template)
{
    const struct transitions *t = engine_transitions(x->engine);
    uint64_t below = UINT64_MAX;
    struct transition next;
    unsigned count = 0;
    char since[32];

    if (!t)
        return;
    explain_section(x, "history", "How it came here");
    report_put_time(&x->out->facts, "since", transitions_since_ms(t));
    format_timestamp(transitions_since_ms(t), since);
    explain_say(x,
                "All that happened since %s is known; a restart or a reload of the exporter "
                "begins anew.",
                since);
    explanation_open(x->out, "transitions", '[');
    while (count < TRANSITIONS_MAX && transitions_next_of(t, template, &below, &next)) {
        explain_transition(x, &next);
        count++;
    }
    explanation_close(x->out, ']');
    if (count == 0)
        explain_say(x, "It has not moved since.");
    if (count == TRANSITIONS_MAX)
        explain_say(x, "What was before may be known, too: /api/v1/history has all of it.");
    explanation_close(x->out, '}');
}
