/* SPDX-License-Identifier: Apache-2.0 */

#include "metrics/expose/samples.h"
#include "metrics/model/store.h"
#include "metrics/rules/policy_rank.h"
#include "metrics/rules/policy_versions.h"

enum relation { RELATION_CLAIMED, RELATION_SELECTED, RELATION_WON, RELATION_EXCLUDED };

static const char *const relation_names[] = {
    [RELATION_CLAIMED] = "claimed",
    [RELATION_SELECTED] = "selected",
    [RELATION_WON] = "won",
    [RELATION_EXCLUDED] = "excluded",
};

static const char *const policy_kind_names[] = {"PropagationPolicy", "ClusterPropagationPolicy"};

/* Values of the label `decided_by`, from RANK_KIND on in the order of enum rank_step. */
static const char *const decided_by_names[] = {"kind", "priority", "selector", "name"};

/*
 * Counts a template for a policy, if not NULL. Policies are left out while not all objects of the
 * kinds that they select have been read: the number would be too small, and 0 raises an alert.
 */
static void add_relation(struct samples *out, const struct entry *policy, enum relation relation)
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
    add_relation(out, decision_claimed(d), RELATION_CLAIMED);
    add_relation(out, decision_winner(d), RELATION_WON);
    for (uint32_t i = 0; i < d->candidate_count; i++) {
        const struct candidate c = decision_candidate(d, i);

        if (c.excluded)
            add_relation(out, c.policy, RELATION_EXCLUDED);
        else if (candidate_eligible(&c) && c.score > SCORE_NONE)
            add_relation(out, c.policy, RELATION_SELECTED);
    }
}

/*
 * A policy has a sample of 0, unless its kinds are incomplete: karmada_propagationpolicy_unused
 * counts label sets, and needs one for a policy without templates.
 */
static void collect_policy_templates(const struct entry *entry, struct samples *out)
{
    if (entry_class(entry) == CLASS_TEMPLATE)
        collect_relations(entry, out);
    else if (!policy_decision(entry)->kinds_incomplete)
        SAMPLE(out, 0, 0, entry_kind(entry), entry_ns(entry), entry->name);
}

static void weigh_claims(const struct label_set *set, int64_t weight[LIMIT_WEIGHTS])
{
    weight[WEIGHT_CLAIMED] += set->series[RELATION_CLAIMED].sum;
}

static const char *bool_text(bool value)
{
    return value ? "true" : "false";
}

static void collect_policy_info(const struct entry *entry, struct samples *out)
{
    const struct policy *policy = entry_policy(entry);
    const struct propagation *p = policy->propagation;
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
    struct candidate first, second;
    enum rank_step step = RANK_NAME;

    if (d->state == STATE_IGNORED || d->candidate_count < 2)
        return;
    /* Eligible candidates come first: without a second one, no two policies compete. */
    second = decision_candidate(d, 1);
    if (!candidate_eligible(&second))
        return;
    first = decision_candidate(d, 0);
    candidate_compare(&first, &second, &step);
    SAMPLE(out, 1, step - RANK_KIND);
}

static void collect_policy_problems(const struct entry *entry, struct samples *out)
{
    samples_add_bits(out, policy_decision(entry)->problems);
}

static const struct family_def families[] = {
    {.name = "karmada_propagationpolicy_templates",
     .help = "Templates by policy and relation: claimed, selected, ranked first, or excluded by "
             "excludedResources; without ignored templates. Rows of 0 are omitted.",
     .bound = "policy limit x 4",
     .limit_kind = LIMIT_BY_POLICY,
     .sparse = true,
     .weigh = weigh_claims,
     .labels = {POLICY_LABELS, ENUM_LABEL("relation", relation_names)},
     FROM(TEMPLATE_ENTRIES | POLICY_ENTRIES, collect_policy_templates)},
    {.name = "karmada_propagationpolicy_info",
     .help = "Settings of a policy as labels; always 1.",
     .bound = "policy limit",
     .limit_kind = LIMIT_BY_POLICY,
     .no_rest = true,
     .labels = {POLICY_LABELS, FREE_LABEL("activation"), FREE_LABEL("preemption"),
                FREE_LABEL("priority"), FREE_LABEL("propagate_deps"),
                FREE_LABEL("conflict_resolution"), FREE_LABEL("preserve_resources_on_deletion")},
     FROM(POLICY_ENTRIES, collect_policy_info)},
    {.name = "karmada_propagationpolicy_generation",
     .help = "metadata.generation of a policy, which changes with its spec.",
     .bound = "policy limit",
     .limit_kind = LIMIT_BY_POLICY,
     .no_rest = true,
     .labels = {POLICY_LABELS},
     FROM(POLICY_ENTRIES, collect_policy_generation)},
    {.name = "karmada_propagationpolicy_unused",
     .help = "Policies that select no template.",
     .aggregation = AGGREGATE_ZEROS,
     .labels = {ENUM_LABEL("policy_kind", policy_kind_names)},
     .of = "karmada_propagationpolicy_templates",
     .counted_index = RELATION_SELECTED},
    {.name = "karmada_propagationpolicy_overlaps",
     .help = "Templates that several policies select, by the criterion that ranks the first policy "
             "before the second.",
     .labels = {ENUM_LABEL("decided_by", decided_by_names)},
     FROM(TEMPLATE_ENTRIES, collect_overlaps)},
    {.name = "karmada_propagationpolicy_invalid",
     .help = "Policies with a part that has no effect, by reason.",
     .labels = {ENUM_LABEL("reason", policy_problem_names)},
     FROM(POLICY_ENTRIES, collect_policy_problems)},
};
const struct family_group policy_families = {families, ARRAY_LEN(families)};

/* ---- versions of policies ---- */

enum behind { BEHIND_1, BEHIND_2, BEHIND_MORE, BEHIND_UNKNOWN };
static const char *const behind_names[] = {"1", "2", "3_or_more", "unknown"};

enum rollout { ROLLOUT_CURRENT, ROLLOUT_PREVIOUS, ROLLOUT_OLDER, ROLLOUT_UNKNOWN, ROLLOUT_COUNT };
static const char *const rollout_names[] = {"current", "previous", "older", "unknown"};

/* Returns the history, if any; NULL if not all objects of a selected kind have been read. */
static const struct policy_history *complete_history(const struct entry *policy)
{
    const struct policy_decision *d = policy_decision(policy);

    return d->kinds_incomplete ? NULL : d->history;
}

/*
 * Returns a known version by index. If `at` is the number of known ones, returns the unknown
 * version, or NULL.
 */
static const struct policy_version *version_at(const struct policy_history *h, size_t at)
{
    return at < h->count ? h->versions[at] : h->unknown;
}

static void collect_versions_behind(const struct entry *policy, struct samples *out)
{
    const struct policy_history *h = complete_history(policy);

    for (size_t i = 0; h && i <= h->count; i++) {
        const struct policy_version *v = version_at(h, i);
        int behind = v && v->templates > 0 ? policy_version_count_later(v) : 0;

        if (behind != 0)
            SAMPLE(out, v->templates,
                   behind < 0    ? BEHIND_UNKNOWN
                   : behind == 1 ? BEHIND_1
                   : behind == 2 ? BEHIND_2
                                 : BEHIND_MORE);
    }
}

static void collect_version_count(const struct entry *policy, struct samples *out)
{
    const struct policy_history *h = complete_history(policy);
    size_t count = h ? policy_history_count_used_versions(h) : 0;

    if (count > 1)
        SAMPLE(out, (int64_t)count, 0, entry_kind(policy), entry_ns(policy), policy->name);
}

static void collect_rollout_templates(const struct entry *policy, struct samples *out)
{
    const struct policy_history *h = complete_history(policy);
    int64_t templates[ROLLOUT_COUNT] = {0};

    for (size_t i = 0; h && i <= h->count; i++) {
        const struct policy_version *v = version_at(h, i);

        if (!v)
            break;
        int behind = policy_version_count_later(v);
        templates[behind < 0    ? ROLLOUT_UNKNOWN
                  : behind == 0 ? ROLLOUT_CURRENT
                  : behind == 1 ? ROLLOUT_PREVIOUS
                                : ROLLOUT_OLDER] += v->templates;
    }
    for (unsigned i = 0; h && policy_history_count_outdated_templates(h) > 0 && i < ROLLOUT_COUNT;
         i++)
        SAMPLE(out, templates[i], i, entry_kind(policy), entry_ns(policy), policy->name);
}

static void collect_superseded_since(const struct entry *policy, struct samples *out)
{
    const struct policy_history *h = complete_history(policy);

    for (size_t i = 0; h && i < h->count; i++) {
        const struct policy_version *v = h->versions[i];
        int64_t superseded_ms = v->templates > 0 ? policy_version_superseded_ms(v) : 0;

        if (superseded_ms > 0)
            SAMPLE(out, superseded_ms, 0);
    }
}

/* Returns true if a series with these values of the labels `from` and `to` is possible. */
static bool is_possible_transition(unsigned from, unsigned to)
{
    return from != to;
}

static void collect_state_transition(const struct entry *template, struct samples *out)
{
    const struct template_decision *d = template_decision(template);

    if (d->before != d->state)
        SAMPLE(out, 1, (unsigned)d->before * STATE_COUNT + d->state);
}

static const struct family_def version_family_rows[] = {
    {.name = "karmada_templates_behind",
     .help = "Templates that run an older version of the claimed policy, by the number of newer "
             "versions. A version is one set of the values that Karmada copies into bindings. "
             "Unknown: the values match no known version, or the order of the versions is unknown.",
     .remembers = true,
     .labels = {ENUM_LABEL("behind", behind_names)},
     FROM(POLICY_ENTRIES, collect_versions_behind)},
    {.name = "karmada_propagationpolicy_versions_in_force",
     .help = "Versions of a policy that templates run, if more than one.",
     .bound = "policy limit",
     .limit_kind = LIMIT_BY_POLICY,
     .remembers = true,
     .sparse = true,
     .labels = {POLICY_LABELS},
     FROM(POLICY_ENTRIES, collect_version_count)},
    {.name = "karmada_propagationpolicy_rollout_templates",
     .help = "Templates that claim a policy, by the version that they run; absent if all run the "
             "present version.",
     .bound = "policy limit x 4",
     .limit_kind = LIMIT_BY_POLICY,
     .remembers = true,
     .sparse = true,
     .labels = {POLICY_LABELS, ENUM_LABEL("version", rollout_names)},
     FROM(POLICY_ENTRIES, collect_rollout_templates)},
    {.name = "karmada_propagationpolicy_oldest_superseded_timestamp_seconds",
     .unit = "seconds",
     .help = "Time at which the oldest version that templates still run was superseded, in seconds "
             "since the epoch; absent if unknown.",
     .aggregation = AGGREGATE_MIN,
     .remembers = true,
     FROM(POLICY_ENTRIES, collect_superseded_since)},
    {.name = "karmada_template_transitions_total",
     .help = "Changes of a template's state, by state before and after.",
     .type = FAMILY_COUNTER,
     .aggregation = AGGREGATE_INCREASE,
     .labels = {ENUM_LABEL("from", state_names), ENUM_LABEL("to", state_names)},
     .pairs = is_possible_transition,
     FROM(TEMPLATE_ENTRIES, collect_state_transition)},
};
const struct family_group version_families = {version_family_rows, ARRAY_LEN(version_family_rows)};
