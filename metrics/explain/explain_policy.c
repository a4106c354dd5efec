/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/explain/explain_policy.h"

#include "metrics/explain/explain_says.h"
#include "metrics/explain/explain_versions.h"
#include "metrics/expose/decision_text.h"
#include "metrics/expose/policy_names.h"
#include "metrics/expose/report_items.h"
#include "metrics/model/store.h"

/* Of templates, and of other policies: further ones are counted. */
enum { LISTED_MAX = 50, RIVALS_MAX = 10 };

/* ---- where ---- */

static void explain_clusters(struct explaining *x, const struct resolved_placement *resolved)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);

    if (!resolved || !resolved->has_clusters)
        return;
    explain_section(x, "where", "Where it may place them");
    writer_open(&x->out->facts, "clusters", '[');
    for (uint32_t i = 0; i < resolved->cluster_count; i++) {
        writer_text(&x->out->facts, NULL, resolved->clusters[i]);
        strbuf_addf(&text, "%s%s", i ? ", " : "", resolved->clusters[i]);
    }
    writer_close(&x->out->facts, ']');
    explain_say(x, "%s.", text.len > 0 ? text.data : "On no member cluster that there is");
    explanation_close(x->out, '}');
}

/* ---- what is wrong with it ---- */

/* The override policies that it waits for. */
static void explain_overrides(struct explaining *x, const struct entry *entry)
{
    const struct policy *p = entry_policy(entry);
    const struct kind_def *def = kind_override(entry->partition->type->def->cluster_scoped);

    explanation_open(x->out, "dependentOverrides", '[');
    for (uint32_t i = 0; i < p->override_count; i++) {
        const struct entry *override = store_find(
            engine_store(x->engine),
            &(struct identity){def->api_version, def->name, entry_ns(entry), p->overrides[i]});
        bool exists = override && entry_exists(override);

        explanation_open(x->out, NULL, '{');
        writer_text(&x->out->facts, "kind", def->name);
        writer_text(&x->out->facts, "name", p->overrides[i]);
        writer_bool(&x->out->facts, "exists", exists);
        explain_say(x, "dependentOverrides names the %s %s, which %s.", def->name, p->overrides[i],
                    exists ? "exists" : "does not exist: until it does, the policy is not applied");
        explanation_close(x->out, '}');
    }
    explanation_close(x->out, ']');
}

/* What its schedulePriority comes to. */
static void explain_priority(struct explaining *x, const struct entry *entry)
{
    static const char *const states[] = {
        [PRIORITY_NONE] = "none",
        [PRIORITY_UNKNOWN] = "unknown",
        [PRIORITY_MISSING] = "missing",
        [PRIORITY_VALUE] = "found",
    };
    const char *names = entry_policy(entry)->propagation.schedule_priority;
    const struct policy_decision *d = policy_decision(entry);
    struct writer *w = &x->out->facts;

    if (!d || !names)
        return;
    writer_open(w, "schedulePriority", '{');
    writer_json(w, "names", names);
    writer_text(w, "class", states[d->priority.state]);
    if (d->priority.state == PRIORITY_VALUE)
        writer_int(w, "value", d->priority.value);
    writer_close(w, '}');
    if (d->priority.state == PRIORITY_MISSING)
        explain_say(x, "Karmada cannot resolve schedulePriority %s: it makes no binding.", names);
    else if (d->priority.state == PRIORITY_VALUE)
        explain_say(x, "schedulePriority %s is %" PRId32 ".", names, d->priority.value);
    else
        explain_say(x, "What schedulePriority %s comes to is not known here.", names);
}

static void explain_problems(struct explaining *x, const struct entry *entry)
{
    unsigned problems = entry_policy_problems(entry);
    const struct policy *p = entry_policy(entry);

    if (problems == 0 && p->override_count == 0 && !p->propagation.schedule_priority)
        return;
    explain_section(x, "problems", "What is wrong with it, or might be");
    explanation_open(x->out, "items", '[');
    report_problems(&x->out->facts, entry);
    explanation_close(x->out, ']');
    for (unsigned i = 0; i < POLICY_PROBLEM_COUNT; i++) {
        if (problems & 1u << i)
            explain_say(x, "%s: %s.", policy_problem_names[i], policy_problem_texts[i]);
    }
    explain_overrides(x, entry);
    explain_priority(x, entry);
    explanation_close(x->out, '}');
}

/* ---- its templates ---- */

static int by_identity(const void *a, const void *b)
{
    return entry_compare(*(const struct entry *const *)a, *(const struct entry *const *)b);
}

/* The templates whose decisions the policy is part of, in the order of lists. */
static struct listing templates_of(const struct entry *policy)
{
    struct listing out = {0};

    out.entries = xreallocarray(NULL, policy->reader_count + 1, sizeof(const struct entry *));
    for (uint32_t i = 0; i < policy->reader_count; i++) {
        if (template_decision(policy->readers[i]) && entry_exists(policy->readers[i]))
            out.entries[out.count++] = policy->readers[i];
    }
    qsort(out.entries, out.count, sizeof(const struct entry *), by_identity);
    return out;
}

/* True if the template is to follow the policy, and its binding does not say what that says. */
static bool is_not_in_force(const struct template_decision *d, const struct entry *policy)
{
    if (d->state == STATE_STALE)
        return stale_policy(d) == policy;
    return d->governing == policy && (d->state == STATE_UNBOUND || d->state == STATE_PENDING);
}

static void explain_lagging(struct explaining *x, const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    const char *reason = reason_name(d->state, d->reason);
    const char *phase = d->state == STATE_STALE ? phase_names[d->phase] : NULL;
    struct writer *w = &x->out->facts;

    explanation_open(x->out, NULL, '{');
    report_put_object(w, template);
    writer_text(w, "state", state_names[d->state]);
    writer_text(w, "reason", reason);
    writer_text(w, "phase", phase);
    explain_detail(x, "%s: %s%s%s%s%s", explain_name(x, template), state_names[d->state],
                   reason ? ", " : "", reason ? reason : "", phase ? ", " : "", phase ? phase : "");
    explanation_close(x->out, '}');
}

static void explain_templates(struct explaining *x, const struct entry *policy,
                              const struct listing *templates)
{
    struct policy_counts counts = policy_counts_of(policy);
    size_t lagging = 0;

    for (size_t i = 0; i < templates->count; i++) {
        const struct template_decision *d = template_decision(templates->entries[i]);

        lagging += is_not_in_force(d, policy);
    }
    explain_section(x, "templates", "Its templates");
    report_put_counts(&x->out->facts, &counts);
    writer_int(&x->out->facts, "notInForceOn", (int64_t)lagging);
    explain_say(x,
                "Selected: %" PRIu32 ", won in a fresh match: %" PRIu32 ", claimed: %" PRIu32
                ", stale: %" PRIu32 ".",
                counts.selected, counts.won, counts.claimed, counts.stale);
    if (lagging > 0)
        explain_say(x, "It is not in force on %zu that are to follow it:", lagging);
    else if (counts.selected + counts.claimed > 0)
        explain_say(x, "It is in force on all that are to follow it.");
    explanation_open(x->out, "notInForce", '[');
    for (size_t i = 0, listed = 0; i < templates->count && listed < LISTED_MAX; i++) {
        if (!is_not_in_force(template_decision(templates->entries[i]), policy))
            continue;
        explain_lagging(x, templates->entries[i]);
        listed++;
    }
    explanation_close(x->out, ']');
    if (lagging > LISTED_MAX)
        explain_detail(x, "… and %zu more", lagging - LISTED_MAX);
    explanation_close(x->out, '}');
}

/* ---- how far they have come ---- */

/* Where the binding of a template is that follows the policy; STAGE_NONE of any other. */
static struct standing delivery_by(const struct entry *template, const struct entry *policy)
{
    const struct template_decision *d = template_decision(template);

    return d->governing == policy ? d->way.delivery : (struct standing){STAGE_NONE, WHY_NONE};
}

static void explain_deliveries(struct explaining *x, const struct entry *policy,
                               const struct listing *templates)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
    size_t stages[STAGE_NONE + 1] = {0};
    size_t listed = 0;

    for (size_t i = 0; i < templates->count; i++)
        stages[delivery_by(templates->entries[i], policy).stage]++;
    if (stages[STAGE_NONE] == templates->count)
        return;
    explain_section(x, "way", "How far they have come");
    for (unsigned i = 0; i < STAGE_COUNT; i++) {
        if (stages[i] == 0)
            continue;
        writer_int(&x->out->facts, stage_names[i], (int64_t)stages[i]);
        strbuf_addf(&text, "%s%s %zu", text.len ? ", " : "", stage_names[i], stages[i]);
    }
    explain_say(x, "Of %zu with a binding: %s.", templates->count - stages[STAGE_NONE], text.data);
    for (size_t i = 0; i < templates->count && listed < LISTED_MAX; i++) {
        struct standing at = delivery_by(templates->entries[i], policy);

        if (at.stage == STAGE_HEALTHY || at.stage == STAGE_NONE)
            continue;
        explain_detail(x, "%s: %s, %s", explain_name(x, templates->entries[i]),
                       stage_names[at.stage], stage_reason_names[at.reason]);
        listed++;
    }
    explanation_close(x->out, '}');
}

/* ---- its rivals ---- */

static void explain_rival(struct explaining *x, const struct rival *rival)
{
    const char *name = explain_name(x, rival->policy);
    const char *plural = rival->templates == 1 ? "" : "s";
    struct writer *w = &x->out->facts;

    explanation_open(x->out, NULL, '{');
    report_put_policy(w, "policy", policy_name_of(rival->policy));
    writer_text(w, "by", rival->claims ? "claim" : explain_step_word(rival->step));
    writer_bool(w, "tie", rival_is_tie(rival));
    writer_bool(w, "first", rival->first);
    writer_int(w, "templates", (int64_t)rival->templates);
    if (rival->claims)
        explain_say(x, "%s keeps %zu template%s that it would win: by its claim.", name,
                    rival->templates, plural);
    else if (rival_is_tie(rival))
        explain_say(x, "A tie with %s on %zu template%s: only the name decides, and %s first.",
                    name, rival->templates, plural, rival->first ? "it comes" : "the other comes");
    else if (rival->first)
        explain_say(x, "%s comes after it on %zu template%s: %s.", name, rival->templates, plural,
                    explain_step_words(rival->step));
    else
        explain_say(x, "It comes after %s on %zu template%s: %s.", name, rival->templates, plural,
                    explain_step_words(rival->step));
    explanation_close(x->out, '}');
}

static void explain_rivals(struct explaining *x, const struct entry *policy)
{
    CLEANUP(rivals_release) struct rivals rivals = rivals_of(policy);
    size_t shown = rivals.count < RIVALS_MAX ? rivals.count : RIVALS_MAX;

    if (rivals.count == 0)
        return;
    explain_section(x, "overlaps", "Other policies that select the same");
    explanation_open(x->out, "rivals", '[');
    for (size_t i = 0; i < shown; i++)
        explain_rival(x, &rivals.items[i]);
    explanation_close(x->out, ']');
    writer_int(&x->out->facts, "more", (int64_t)(rivals.count - shown));
    if (rivals.count > shown)
        explain_say(x, "… and %zu more.", rivals.count - shown);
    explanation_close(x->out, '}');
}

void explain_policy(struct explaining *x, const struct entry *policy)
{
    CLEANUP(listing_release) struct listing templates = templates_of(policy);
    const struct policy_decision *d = policy_decision(policy);

    explain_says(x, policy, &templates);
    explain_problems(x, policy);
    explain_templates(x, policy, &templates);
    explain_versions(x, policy);
    explain_deliveries(x, policy, &templates);
    explain_rivals(x, policy);
    explain_clusters(x, d ? d->resolved : NULL);
}
