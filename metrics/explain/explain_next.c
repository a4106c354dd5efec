/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/explain/explain_next.h"

#include "metrics/expose/decision_text.h"
#include "metrics/expose/report.h"
#include "metrics/simulate/reconcile.h"

/* Where its replicas are then. */
static void explain_clusters_of(struct explaining *x, const struct outcome *o)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);

    if (o->undetermined != UNDETERMINED_REASON_COUNT) {
        explain_detail(x, "on clusters that only the scheduler knows (%s): %s",
                       undetermined_reason_names[o->undetermined],
                       explain_undetermined_words(o->undetermined));
        return;
    }
    for (uint32_t i = 0; i < o->cluster_count; i++)
        strbuf_addf(&text, "%s%s: %" PRId32, i ? ", " : "", o->clusters[i].name,
                    o->clusters[i].replicas);
    if (text.len > 0)
        explain_detail(x, "on %s", text.data);
}

/* What stands after something has happened, which `words` tell. */
static void explain_outcome(struct explaining *x, const char *words, const struct outcome *o)
{
    const struct template_decision then = {.state = o->state, .reason = (uint8_t)o->reason};
    const char *reason = reason_name(o->state, o->reason);

    explain_say(x, "%s: %s%s%s.", words, state_names[o->state], reason ? ", " : "",
                reason ? reason : "");
    explain_detail(x, "%s", explain_state_words(&then));
    if (o->policy)
        explain_detail(x, "by %s", explain_name(x, o->policy));
    explain_clusters_of(x, o);
}

struct next {
    struct explaining *x;
    bool late; /* What Karmada makes of it by itself, it should have made. */
    enum unmoved why;
};

static void explain_assumptions(struct explaining *x, unsigned assumptions)
{
    writer_names(&x->out->facts, "assumptions", assumptions, assumption_texts);
    for (unsigned i = 0; i < ASSUMPTION_COUNT; i++) {
        if (assumptions & 1u << i)
            explain_say(x, "Assumed: %s", assumption_texts[i]);
    }
}

/* True if the user's change is in no binding then. */
static bool is_behind(const struct outcome *o)
{
    return o->state == STATE_STALE && o->reason == STALE_TEMPLATE_UPDATED;
}

/* What waits for a change, but (seed 001) not by static rules. */
static void explain_restart(struct explaining *x, const struct outcome *o)
{
    if (o->state == STATE_PENDING)
        explain_say(x, "A restart of Karmada's controllers delivers that change all the same.");
    else
        explain_say(x, "A restart of Karmada's controllers brings that as well.");
}

static void explain_foresight(void *context, const struct foresight *f)
{
    const struct next *next = context;
    struct explaining *x = next->x;
    struct writer *w = &x->out->facts;
    bool moves = !outcome_equal(&f->now, &f->rest);
    bool waits = !outcome_equal(&f->rest, &f->next);
    bool is_static = engine_takeover(x->engine) == TAKEOVER_STATIC;

    writer_text(w, "when",
                plan_when_names[moves   ? PLAN_AT_ONCE
                                : waits ? PLAN_AT_NEXT_CHANGE
                                        : PLAN_NEVER]);
    writer_bool(w, "settled", f->settled);
    report_put_outcome(w, "atRest", &f->rest);
    report_put_outcome(w, "afterNextChange", &f->next);
    if (!f->settled)
        explain_say(x, "Karmada would not come to rest over it. What follows is not the end.");
    if (moves && next->late)
        explain_outcome(x, "What Karmada should have made of it", &f->rest);
    else if (moves)
        explain_outcome(x, "Karmada makes of it by itself", &f->rest);
    else
        explain_say(x, "Karmada by itself leaves it as it is.");
    if (moves && next->late)
        explain_say(x, "A restart of Karmada's controllers, or the next change by its user, is a "
                       "new occasion.");
    if (waits)
        explain_outcome(x, "After the next change by its user", &f->next);
    if (!waits || is_behind(&f->next))
        explain_say(x, "%s", explain_unmoved_words(&f->next, next->why, is_static));
    else if ((!moves || f->next.state == STATE_PENDING) && !is_static &&
             f->next.state != STATE_STALE)
        explain_restart(x, &f->next);
    explain_assumptions(x, moves || waits ? f->assumptions : 0);
}

/* True if what its binding says is not what runs. */
static bool is_held(enum stage delivery)
{
    return delivery < STAGE_UNHEALTHY && delivery != STAGE_PLACED_NOWHERE;
}

void explain_next(struct explaining *x, const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    struct next next = {
        .x = x,
        .late = d->state == STATE_STALE && d->phase == PHASE_OVERDUE,
        .why = explain_unmoved(d),
    };

    explain_section(x, "next", "What comes next");
    if (is_held(d->way.delivery.stage))
        explain_say(
            x, "What follows is about its binding: what holds up the rest is told under Stage.");
    foresight_make(x->engine, template, explain_foresight, &next);
    explanation_close(x->out, '}');
}
