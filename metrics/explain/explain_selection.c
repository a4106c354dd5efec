/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/explain/explain_selection.h"

#include "metrics/expose/decision_text.h"
#include "metrics/model/store.h"

enum { NEAR_MISSES_MAX = 10 };

/* ---- selectors ---- */

/* "app in (web, api)", as kubectl writes requirements. */
static void add_requirement(struct strbuf *out, const struct label_requirement *r)
{
    static const char *const operators[] = {
        [LABEL_IN] = " in (",
        [LABEL_NOT_IN] = " notin (",
    };

    if (r->op == LABEL_EXISTS || r->op == LABEL_DOES_NOT_EXIST) {
        strbuf_addf(out, "%s%s", r->op == LABEL_EXISTS ? "" : "!", r->key);
        return;
    }
    strbuf_addf(out, "%s%s", r->key, operators[r->op]);
    for (size_t i = 0; i < r->value_count; i++)
        strbuf_addf(out, "%s%s", i ? ", " : "", r->values[i]);
    strbuf_addc(out, ')');
}

/* NULL where nothing is set. */
static const char *labels_text(const struct label_selector *labels, struct strbuf *out)
{
    if (!labels)
        return NULL;
    if (labels->invalid)
        strbuf_addf(out, "invalid: %s", labels->invalid);
    for (size_t i = 0; !labels->invalid && i < labels->count; i++) {
        strbuf_adds(out, i ? ", " : "");
        add_requirement(out, &labels->items[i]);
    }
    return out->data;
}

void explain_rule(struct explaining *x, const char *key, uint32_t index,
                  const struct resource_selector *rule, struct strbuf *text)
{
    CLEANUP(strbuf_release) struct strbuf labels = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
    const struct {
        const char *key;
        const char *value;
    } members[] = {
        {"apiVersion", rule->api_version},
        {"kind", rule->kind},
        {"namespace", rule->ns},
        {"name", rule->name},
        {"labelSelector", labels_text(rule->labels, &labels)},
    };

    writer_open(&x->out->facts, key, '{');
    writer_int(&x->out->facts, "index", index);
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        writer_text(&x->out->facts, members[i].key, members[i].value);
        if (members[i].value)
            strbuf_addf(text, "%s%s %s", text->len > 0 ? ", " : "", members[i].key,
                        *members[i].value ? members[i].value : "{}");
    }
    writer_close(&x->out->facts, '}');
}

/* ---- candidates ---- */

static void explain_exclusion(struct explaining *x, const struct candidate *c,
                              const struct entry *template)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
    const struct policy *policy = entry_policy(c->policy);
    uint32_t index = policy_exclusion_of(policy, template);

    if (index == policy->exclusion_count)
        return;
    explain_rule(x, "rule", index, &policy->exclusions[index], &text);
    explain_detail(x, "ruled out: excludedResources[%" PRIu32 "] matches: %s", index, text.data);
}

/* What became of the i-th candidate. */
static void explain_outcome(struct explaining *x, const struct template_decision *d, uint32_t i)
{
    const struct candidate *c = &d->candidates[i];
    enum rank_step step = RANK_NAME;
    struct writer *w = &x->out->facts;
    bool wins = i == 0 && candidate_eligible(c);

    writer_text(w, "outcome",
                c->excluded   ? "excluded"
                : c->deleting ? "deleting"
                : wins        ? "wins"
                              : "loses");
    if (c->excluded || wins || c->deleting)
        writer_text(w, "lostBy", NULL);
    if (c->deleting)
        explain_detail(x, "ruled out: it is being deleted");
    else if (wins)
        explain_detail(x, "wins a fresh match");
    else if (!c->excluded && candidate_compare(&d->candidates[0], c, &step) < 0) {
        writer_text(w, "lostBy", explain_step_word(step));
        explain_detail(x, "loses: %s", explain_step_words(step));
    }
}

static void explain_candidate(struct explaining *x, const struct entry *template, uint32_t i)
{
    const struct template_decision *d = template_decision(template);
    const struct candidate *c = &d->candidates[i];
    const struct policy *policy = entry_policy(c->policy);
    struct writer *w = &x->out->facts;

    explanation_open(x->out, NULL, '{');
    report_put_policy(w, "policy", policy_name_of(c->policy));
    writer_text(w, "selectsBy", explain_score_words(c->score));
    writer_int(w, "priority", policy->priority);
    explain_say(x, "%u. %s, selects it by %s, priority %" PRId32, i + 1, explain_name(x, c->policy),
                explain_score_words(c->score), policy->priority);
    if (c->excluded)
        explain_exclusion(x, c, template);
    explain_outcome(x, d, i);
    explanation_close(x->out, '}');
}

/* ---- policies that come near ---- */

/* The selector of a policy that comes nearest to a template; NULL if none is of its kind. */
static const struct resource_selector *nearest(const struct policy *policy,
                                               const struct entry *template,
                                               enum selector_miss *miss, uint32_t *index)
{
    const struct resource_selector *best = NULL;

    *miss = MISS_KIND;
    for (uint32_t i = 0; i < policy->selector_count; i++) {
        enum selector_miss m = selector_miss(&policy->selectors[i], template);

        if (m <= *miss && m != MISS_NOTHING)
            continue;
        best = &policy->selectors[i];
        *miss = m;
        *index = i;
        if (m == MISS_NOTHING)
            break;
    }
    return best;
}

/* A policy selects only what is in its own namespace. */
static bool reaches(const struct entry *policy, const struct entry *template)
{
    return policy->partition->type->def->cluster_scoped ||
           strcmp(entry_ns(policy), entry_ns(template)) == 0;
}

/* True if the policy selects others of the template's kind where it could reach the template. */
static bool explain_near_miss(struct explaining *x, const struct entry *policy,
                              const struct entry *template)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(EXPLAIN_VALUE_MAX_BYTES);
    enum selector_miss miss;
    uint32_t index = 0;
    const struct resource_selector *selector =
        nearest(entry_policy(policy), template, &miss, &index);
    bool elsewhere = !reaches(policy, template);
    const char *word = elsewhere ? "policyNamespace" : explain_miss_word(miss);

    /* Of a policy elsewhere only that is near which would select it here. */
    if (!selector || elsewhere != (miss == MISS_NOTHING))
        return false;
    explanation_open(x->out, NULL, '{');
    report_put_policy(&x->out->facts, "policy", policy_name_of(policy));
    explain_rule(x, "selector", index, selector, &text);
    writer_text(&x->out->facts, "misses", word);
    explain_say(x, "%s selects %s", explain_name(x, policy), text.data);
    if (elsewhere)
        explain_detail(x, "does not fit: it selects only in its own namespace (%s)", word);
    else
        explain_detail(x, "does not fit: the %s of resourceSelectors[%" PRIu32 "]", word, index);
    explanation_close(x->out, '}');
    return true;
}

static void explain_near_misses(struct explaining *x, const struct entry *template)
{
    CLEANUP(listing_release)
    struct listing policies = listing_make(engine_store(x->engine), CLASS_POLICY);
    size_t told = 0;

    explanation_open(x->out, "nearMisses", '[');
    for (size_t i = 0; i < policies.count && told < NEAR_MISSES_MAX; i++)
        told += explain_near_miss(x, policies.entries[i], template);
    explanation_close(x->out, ']');
}

void explain_selection(struct explaining *x, const struct entry *template)
{
    const struct template_decision *d = template_decision(template);

    explain_section(x, "selection", "Policies that select it, best first");
    explanation_open(x->out, "candidates", '[');
    for (uint32_t i = 0; i < d->candidate_count; i++)
        explain_candidate(x, template, i);
    explanation_close(x->out, ']');
    if (d->candidate_count == 0)
        explain_say(x, "None.");
    if (!d->winner)
        explain_near_misses(x, template);
    explanation_close(x->out, '}');
}
