/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/explain/explain_says.h"

#include "metrics/explain/explain_selection.h"
#include "metrics/explain/field_text.h"
#include "metrics/expose/decision_text.h"
#include "metrics/model/store.h"
#include "metrics/rules/selector.h"

enum { LISTED_MAX = 50 };

static void explain_rules(struct explaining *x, const char *key, const char *verb,
                          const struct resource_selector *rules, uint32_t count)
{
    explanation_open(x->out, key, '[');
    for (uint32_t i = 0; i < count && i < LISTED_MAX; i++) {
        CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);

        explain_rule(x, NULL, i, &rules[i], &text);
        explain_say(x, "%s[%" PRIu32 "] %s: %s", key, i, verb, text.len ? text.data : "nothing");
    }
    explanation_close(x->out, ']');
    if (count > LISTED_MAX)
        explain_say(x, "… and %" PRIu32 " more of %s.", count - LISTED_MAX, key);
}

static bool selects(const struct resource_selector *rule, const struct entry *template)
{
    return selector_score(rule, template) != SCORE_NONE;
}

/* The rules of one sort, and when one fits a template. */
struct rules {
    const char *name;
    const struct resource_selector *items;
    uint32_t count;
    bool (*fits)(const struct resource_selector *rule, const struct entry *template);
};

/*
 * Those that fit none of the templates that the policy's selectors do: a word that was misspelt
 * looks like one that nothing fits yet.
 */
static void explain_unused(struct explaining *x, const char *key, struct rules rules,
                           const struct listing *templates)
{
    writer_open(&x->out->facts, key, '[');
    for (uint32_t i = 0; i < rules.count && i < LISTED_MAX; i++) {
        size_t at = 0;

        while (at < templates->count && !rules.fits(&rules.items[i], templates->entries[at]))
            at++;
        if (at < templates->count)
            continue;
        writer_int(&x->out->facts, NULL, i);
        explain_say(x, "%s[%" PRIu32 "] fits no template that there is.", rules.name, i);
    }
    writer_close(&x->out->facts, ']');
}

void explain_says(struct explaining *x, const struct entry *policy, const struct listing *templates)
{
    const struct policy *p = entry_policy(policy);
    struct writer *w = &x->out->facts;
    bool overwrite = p->propagation.conflict_resolution == CONFLICT_RESOLUTION_OVERWRITE;
    bool preserve = p->propagation.preserve == OPTIONAL_TRUE;

    explain_section(x, "says", "What it says");
    explain_rules(x, "resourceSelectors", "selects", p->selectors, p->selector_count);
    explain_rules(x, "excludedResources", "excludes", p->exclusions, p->exclusion_count);
    /* While a kind has not been read nobody knows. */
    if (policy_decision(policy) && !policy_decision(policy)->kinds_incomplete) {
        const struct rules selectors = {"resourceSelectors", p->selectors, p->selector_count,
                                        selects};
        const struct rules exclusions = {"excludedResources", p->exclusions, p->exclusion_count,
                                         exclusion_matches};

        explain_unused(x, "unusedSelectors", selectors, templates);
        explain_unused(x, "unusedExclusions", exclusions, templates);
    }
    writer_int(w, "priority", p->priority);
    writer_text(w, "activation", p->lazy ? "Lazy" : "Immediate");
    writer_text(w, "preemption", p->preempts ? "Always" : "Never");
    writer_bool(w, "propagateDeps", p->propagation.propagate_deps);
    writer_text(w, "conflictResolution", overwrite ? "Overwrite" : "Abort");
    writer_bool(w, "preserveResourcesOnDeletion", preserve);
    writer_json(w, "placement", p->propagation.placement);
    writer_bool(w, "deleting", p->deleting);
    explain_say(x,
                "priority %" PRId32 ", activation %s, preemption %s, propagateDeps %s, "
                "conflictResolution %s, preserveResourcesOnDeletion %s",
                p->priority, p->lazy ? "Lazy" : "Immediate", p->preempts ? "Always" : "Never",
                p->propagation.propagate_deps ? "true" : "false", overwrite ? "Overwrite" : "Abort",
                preserve ? "true" : "false");
    explain_say(x, "placement: %s",
                p->propagation.placement ? p->propagation.placement : EXPLAIN_NOT_SET);
    if (p->deleting)
        explain_say(x, "It is being deleted: it selects nothing any more.");
    explanation_close(x->out, '}');
}
