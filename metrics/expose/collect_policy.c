/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/collect.h"

#include "metrics/model/store.h"

enum relation { RELATION_CLAIMED, RELATION_SELECTED, RELATION_WON, RELATION_EXCLUDED };

static const char *const relation_names[] = {
    [RELATION_CLAIMED] = "claimed",
    [RELATION_SELECTED] = "selected",
    [RELATION_WON] = "won",
    [RELATION_EXCLUDED] = "excluded",
};

static const char *const policy_kind_names[] = {"PropagationPolicy", "ClusterPropagationPolicy"};

/* By rank_step, from RANK_KIND on. */
static const char *const decided_by_names[] = {"kind", "priority", "selector", "name"};

/* Of a policy whose kinds have not all been read the number would be too small, or 0: an alert. */
static void relate(struct samples *out, const struct entry *policy, enum relation relation)
{
    const struct policy_decision *d = policy ? policy_decision(policy) : NULL;

    if (policy && !(d && d->kinds_incomplete))
        SAMPLE(out, 1, relation, entry_kind(policy), entry_ns(policy), policy->name);
}

static void collect_relations(const struct entry *template, struct samples *out)
{
    const struct template_decision *d = template_decision(template);

    if (d->state == STATE_IGNORED)
        return;
    relate(out, d->claimed, RELATION_CLAIMED);
    relate(out, d->winner, RELATION_WON);
    for (uint32_t i = 0; i < d->candidate_count; i++) {
        const struct candidate *c = &d->candidates[i];

        if (c->excluded)
            relate(out, c->policy, RELATION_EXCLUDED);
        else if (candidate_eligible(c) && c->score > SCORE_NONE)
            relate(out, c->policy, RELATION_SELECTED);
    }
}

/*
 * A policy that exists has its series even if it selects nothing: counting those that are 0
 * is all that karmada_propagationpolicy_unused needs.
 */
static void collect_policy_templates(const struct entry *entry, struct samples *out)
{
    if (entry_class(entry) == CLASS_TEMPLATE)
        collect_relations(entry, out);
    else if (!policy_decision(entry)->kinds_incomplete)
        SAMPLE(out, 0, 0, entry_kind(entry), entry_ns(entry), entry->name);
}

static void weigh_relations(const struct label_set *rows, int64_t weight[FOLD_WEIGHTS])
{
    weight[2] += rows->series[RELATION_CLAIMED].sum;
}

static const char *bool_text(bool value)
{
    return value ? "true" : "false";
}

static void collect_policy_info(const struct entry *entry, struct samples *out)
{
    const struct policy *policy = entry_policy(entry);
    const struct propagation *p = &policy->propagation;
    bool overwrites = p->conflict_resolution == CONFLICT_RESOLUTION_OVERWRITE;
    char priority[16];

    snprintf(priority, sizeof(priority), "%" PRId32, policy->priority);
    SAMPLE(out, 1, 0, entry_kind(entry), entry_ns(entry), entry->name,
           policy->lazy ? "Lazy" : "Immediate", policy->preempts ? "Always" : "Never", priority,
           bool_text(p->propagate_deps),
           dependency_value_name(DEPENDENCY_CONFLICT_RESOLUTION, overwrites),
           bool_text(p->preserve == OPTIONAL_TRUE));
}

static void collect_policy_generation(const struct entry *entry, struct samples *out)
{
    const struct policy *policy = entry_policy(entry);

    SAMPLE(out, policy->generation, 0, entry_kind(entry), entry_ns(entry), entry->name);
}

static void collect_overlaps(const struct entry *entry, struct samples *out)
{
    const struct template_decision *d = template_decision(entry);
    const struct candidate *best = d->candidates;
    enum rank_step step = RANK_NAME;

    if (d->state == STATE_IGNORED || d->candidate_count < 2)
        return;
    /* Those that are not eligible come last. */
    if (!candidate_eligible(&best[1]))
        return;
    candidate_compare(&best[0], &best[1], &step);
    SAMPLE(out, 1, step - RANK_KIND);
}

static void collect_policy_problems(const struct entry *entry, struct samples *out)
{
    samples_add_bits(out, policy_decision(entry)->problems);
}

static const struct family_def families[] = {
    {.name = "karmada_propagationpolicy_templates",
     .help = "Templates that claim a policy, that it selects, that it would win, and that its "
             "excludedResources exclude; without ignored ones. Rows that are 0 are left out.",
     .bound = "policy limit x 4",
     .fold = FOLD_POLICY,
     .sparse = true,
     .weigh = weigh_relations,
     .labels = {POLICY, ENUM_LABEL("relation", relation_names)},
     FROM(TEMPLATES | POLICIES, collect_policy_templates)},
    {.name = "karmada_propagationpolicy_info",
     .help = "The settings of a policy as labels; always 1.",
     .bound = "policy limit",
     .fold = FOLD_POLICY,
     .no_rest = true,
     .labels = {POLICY, FREE_LABEL("activation"), FREE_LABEL("preemption"), FREE_LABEL("priority"),
                FREE_LABEL("propagate_deps"), FREE_LABEL("conflict_resolution"),
                FREE_LABEL("preserve_resources_on_deletion")},
     FROM(POLICIES, collect_policy_info)},
    {.name = "karmada_propagationpolicy_generation",
     .help = "The metadata.generation of a policy: it changes when the spec does.",
     .bound = "policy limit",
     .fold = FOLD_POLICY,
     .no_rest = true,
     .labels = {POLICY},
     FROM(POLICIES, collect_policy_generation)},
    {.name = "karmada_propagationpolicy_unused",
     .help = "Policies that select no template: they have no row in "
             "karmada_propagationpolicy_templates with relation selected.",
     .aggregation = AGGREGATE_ZEROS,
     .labels = {ENUM_LABEL("policy_kind", policy_kind_names)},
     .of = "karmada_propagationpolicy_templates",
     .of_index = RELATION_SELECTED},
    {.name = "karmada_propagationpolicy_overlaps",
     .help = "Templates that several policies select, by what decides between the best two.",
     .labels = {ENUM_LABEL("decided_by", decided_by_names)},
     FROM(TEMPLATES, collect_overlaps)},
    {.name = "karmada_propagationpolicy_invalid",
     .help = "Policies in which something cannot work as written, by reason.",
     .labels = {ENUM_LABEL("reason", policy_problem_names)},
     FROM(POLICIES, collect_policy_problems)},
};
const struct family_group policy_families = {families, ARRAY_LEN(families)};
