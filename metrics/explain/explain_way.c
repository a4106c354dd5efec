/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/explain/explain_way.h"

#include "metrics/base/timestamp.h"
#include "metrics/expose/decision_text.h"
#include "metrics/expose/report_items.h"
#include "metrics/model/binding.h"
#include "metrics/model/cluster.h"
#include "metrics/model/store.h"
#include "metrics/rules/delivery.h"

/* What Karmada says of where the binding is; "" of an earlier stage. */
static const char *message_of(const struct explaining *x, const struct entry *template,
                              struct standing at)
{
    const struct template_decision *d = template_decision(template);

    return at.stage == d->way.delivery.stage && d->binding
               ? engine_delivery_message(x->engine, template)
               : "";
}

/* What its being ready or not means for the copy: what made Karmada evict may have been a blip. */
static void explain_evicted(struct explaining *x, const char *cluster)
{
    const struct kind_def *def = kind_cluster();
    const struct identity id = {def->api_version, def->name, "", cluster};
    const struct cluster *c = entry_cluster(store_find(engine_store(x->engine), &id));

    if (c && c->ready)
        explain_say(x, "%s is ready, and loses it all the same: a task is not taken back.",
                    cluster);
    else if (c)
        explain_say(x, "%s is not ready: what runs there stays until it answers again.", cluster);
}

/* The copy on a cluster that it is moved off goes then, if not before. */
static void explain_evictions(struct explaining *x, const struct binding *b)
{
    const struct trouble *t = b->status.trouble;

    for (uint32_t i = 0; t && i < t->eviction_count; i++) {
        const struct eviction *e = &t->evictions[i];
        char end[32];

        if (!eviction_counts(e))
            explain_say(x, "The copy on %s stays until a person takes its task away.", e->cluster);
        else if (e->created_ms > 0 && e->grace_s > 0) {
            format_timestamp(e->created_ms + (int64_t)e->grace_s * 1000, end);
            explain_say(x, "The copy on %s (%s, %s) goes at %s at the latest.", e->cluster,
                        e->producer, e->reason, end);
        } else {
            explain_say(x,
                        "The copy on %s (%s, %s) goes at the latest when its task times out, by "
                        "default ten minutes after it was made.",
                        e->cluster, e->producer, e->reason);
        }
        if (eviction_counts(e))
            explain_evicted(x, e->cluster);
    }
}

/* Those that the lines above have not told are told. */
static void explain_risks(struct explaining *x, unsigned risks)
{
    unsigned told = 1U << RISK_LAST_COPY | 1U << RISK_READY_EVICTED | 1U << RISK_OVERRIDE_FAILED |
                    1U << RISK_MAY_TRAVEL;

    writer_names(&x->out->facts, "risks", risks, risk_names);
    for (unsigned i = 0; i < RISK_COUNT; i++) {
        if (risks & ~told & 1U << i)
            explain_say(x, "At risk: %s.", risk_texts[i]);
    }
}

/* ---- the links ---- */

/* How many targets have passed each link. */
static void explain_targets(struct explaining *x, struct template_decision *d)
{
    static const struct {
        enum stage stage;
        const char *word;
    } links[] = {
        {STAGE_UNDISPATCHED, "dispatched to"},
        {STAGE_UNAPPLIED, "applied in"},
        {STAGE_UNDELIVERED, "of the newest version in"},
        {STAGE_UNREACHABLE, "healthy in"},
    };
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);

    for (size_t i = 0; i < ARRAY_LEN(links); i++) {
        uint32_t count = 0;

        for (uint32_t k = 0; k < d->target_count; k++)
            count += decision_targets(d)[k].stage > links[i].stage;
        strbuf_addf(&text, "%s%s %" PRIu32, i > 0 ? ", " : "", links[i].word, count);
    }
    explain_say(x, "Of %" PRIu32 " member cluster%s: %s.", d->target_count,
                d->target_count == 1 ? "" : "s", text.data);
}

static void explain_links(struct explaining *x, struct template_decision *d)
{
    enum stage stage = d->way.at.stage;
    enum stage delivery = d->way.delivery.stage;
    bool scheduled = delivery != STAGE_NONE && delivery != STAGE_UNSCHEDULED &&
                     !(delivery == STAGE_EVICTING && d->way.delivery.reason != WHY_REPLACING);

    explain_say(x, "Matched: %s. Bound: %s. As its policy says: %s. Scheduled: %s.",
                stage > STAGE_UNMATCHED ? "yes" : "no", d->binding ? "yes" : "no",
                stage > STAGE_OUTDATED ? "yes" : "no", scheduled ? "yes" : "no");
    if (d->target_count > 0)
        explain_targets(x, d);
}

/* ---- the clusters ---- */

static int worst_first(const void *a, const void *b)
{
    const struct target_place *x = a, *y = b;

    if (x->at.stage != y->at.stage)
        return x->at.stage < y->at.stage ? -1 : 1;
    if (x->at.reason != y->at.reason)
        return x->at.reason < y->at.reason ? -1 : 1;
    return strcmp(x->cluster, y->cluster);
}

static void explain_places(struct explaining *x, const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    const char *said = message_of(x, template, d->way.delivery);
    CLEANUP(free_cleanup) struct target_place *places = target_places(x->engine, template);

    qsort(places, d->target_count, sizeof(*places), worst_first);
    for (uint32_t i = 0; i < d->target_count; i++) {
        const struct target_place *p = &places[i];
        const char *reason = stage_reason_names[p->at.reason];
        bool says = *p->message && strcmp(p->message, said) != 0;

        explain_detail(x, "%s: %s%s%s%s%s", p->cluster, stage_names[p->at.stage],
                       *reason ? ", " : "", reason, says ? ": " : "", says ? p->message : "");
    }
}

/* Why it is there, what Karmada says, and what ends it. */
static void explain_standing(struct explaining *x, const struct entry *template, struct standing at,
                             uint32_t since_s)
{
    struct stage_end end = stage_end_of(at);
    const char *message = message_of(x, template, at);
    char since[32];

    format_timestamp((int64_t)since_s * 1000, since);
    explain_say(x, "%s%s%s", stage_texts[at.stage], at.reason == WHY_NONE ? "" : " ",
                stage_reason_texts[at.reason]);
    if (*message)
        explain_say(x, "Karmada says: %s", message);
    if (since_s > 0)
        explain_say(x, "Since %s, as far as the objects show.", since);
    if (*end.text)
        explain_say(x, "Up to %s: %s", stage_actor_words(end.actor), end.text);
}

/* How far its binding has come with what it says, where that is not all that there is to say. */
static void explain_delivery(struct explaining *x, const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    struct standing at = d->way.delivery;
    const char *reason = stage_reason_names[at.reason];

    if (at.stage == STAGE_HEALTHY) {
        explain_say(x, "What its binding has made of it is healthy in all its member clusters.");
        return;
    }
    explain_say(x, "What its binding has made of it is %s%s%s.", stage_names[at.stage],
                *reason ? ", " : "", reason);
    explain_standing(x, template, at, d->way.delivery_since_s);
}

void explain_way(struct explaining *x, const struct entry *template)
{
    struct template_decision *d = template->decision;
    const struct way *way = &d->way;
    const char *reason = stage_reason_names[way->at.reason];
    CLEANUP(strbuf_release) struct strbuf heading = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);

    strbuf_addf(&heading, "Stage: %s%s%s", stage_names[way->at.stage], *reason ? ", " : "", reason);
    explain_section(x, "way", heading.data);
    report_put_way(&x->out->facts, x->engine, template);
    writer_text(&x->out->facts, "actor", actor_names[stage_end_of(way->at).actor]);
    /* Of the first stages the state says since when. */
    explain_standing(x, template, way->at, way->at.stage >= STAGE_EVICTING ? way->since_s : 0);
    if (way->delivery.stage != STAGE_NONE && way->at.stage < STAGE_EVICTING)
        explain_delivery(x, template);
    if (d->binding && entry_binding(d->binding)->status.trouble)
        explain_evictions(x, entry_binding(d->binding));
    explain_risks(x, d->risks);
    explain_links(x, d);
    explain_places(x, template);
    explanation_close(x->out, '}');
}
