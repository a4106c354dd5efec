/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/collect.h"

#include "metrics/rules/policy_versions.h"

enum behind { BEHIND_1, BEHIND_2, BEHIND_MORE, BEHIND_UNKNOWN };
static const char *const behind_names[] = {"1", "2", "3_or_more", "unknown"};

enum rollout { ROLLOUT_CURRENT, ROLLOUT_PREVIOUS, ROLLOUT_OLDER, ROLLOUT_UNKNOWN, ROLLOUT_COUNT };
static const char *const rollout_names[] = {"current", "previous", "older", "unknown"};

/* The history of a policy of which all templates are known; else numbers would be too small. */
static const struct policy_history *history_of(const struct entry *policy)
{
    const struct policy_decision *d = policy_decision(policy);

    return d->kinds_incomplete ? NULL : d->history;
}

/* A version of a history by its place, behind the known ones that for values of none. */
static const struct policy_version *version_at(const struct policy_history *h, size_t at)
{
    return at < h->count ? h->versions[at] : &h->unknown;
}

static void collect_behind(const struct entry *policy, struct samples *out)
{
    const struct policy_history *h = history_of(policy);

    for (size_t i = 0; h && i <= h->count; i++) {
        const struct policy_version *v = version_at(h, i);
        int behind = v->templates > 0 ? policy_version_behind(v) : 0;

        if (behind != 0)
            SAMPLE(out, v->templates,
                   behind < 0    ? BEHIND_UNKNOWN
                   : behind == 1 ? BEHIND_1
                   : behind == 2 ? BEHIND_2
                                 : BEHIND_MORE);
    }
}

static void collect_in_force(const struct entry *policy, struct samples *out)
{
    const struct policy_history *h = history_of(policy);
    size_t count = h ? policy_history_in_force(h) : 0;

    if (count > 1)
        SAMPLE(out, (int64_t)count, 0, entry_kind(policy), entry_ns(policy), policy->name);
}

static void collect_rollout(const struct entry *policy, struct samples *out)
{
    const struct policy_history *h = history_of(policy);
    int64_t templates[ROLLOUT_COUNT] = {0};

    for (size_t i = 0; h && i <= h->count; i++) {
        const struct policy_version *v = version_at(h, i);
        int behind = policy_version_behind(v);

        templates[behind < 0    ? ROLLOUT_UNKNOWN
                  : behind == 0 ? ROLLOUT_CURRENT
                  : behind == 1 ? ROLLOUT_PREVIOUS
                                : ROLLOUT_OLDER] += v->templates;
    }
    for (unsigned i = 0; h && policy_history_lagging(h) > 0 && i < ROLLOUT_COUNT; i++)
        SAMPLE(out, templates[i], i, entry_kind(policy), entry_ns(policy), policy->name);
}

static void collect_superseded(const struct entry *policy, struct samples *out)
{
    const struct policy_history *h = history_of(policy);

    for (size_t i = 0; h && i < h->count; i++) {
        const struct policy_version *v = h->versions[i];
        int64_t superseded_ms = v->templates > 0 ? policy_version_superseded_ms(v) : 0;

        if (superseded_ms > 0)
            SAMPLE(out, superseded_ms, 0);
    }
}

static bool is_transition(unsigned from, unsigned to)
{
    return from != to;
}

static void collect_transitions(const struct entry *template, struct samples *out)
{
    const struct template_decision *d = template_decision(template);

    if (d->before != d->state)
        SAMPLE(out, 1, (unsigned)d->before * STATE_COUNT + d->state);
}

static const struct family_def families[] = {
    {.name = "karmada_templates_behind",
     .help = "Templates that run an older version of the policy that they claim, by how many newer "
             "ones are known. A version is a set of the values that Karmada copies into bindings; "
             "unknown: no version ever had the values, or nothing tells which one was first.",
     .remembers = true,
     .labels = {ENUM_LABEL("behind", behind_names)},
     FROM(POLICIES, collect_behind)},
    {.name = "karmada_propagationpolicy_versions_in_force",
     .help = "How many versions of a policy templates run, where it is more than one.",
     .bound = "policy limit",
     .fold = FOLD_POLICY,
     .remembers = true,
     .sparse = true,
     .labels = {POLICY},
     FROM(POLICIES, collect_in_force)},
    {.name = "karmada_propagationpolicy_rollout_templates",
     .help = "Templates that claim a policy, by the version of it that they run, while not all "
             "run the present one.",
     .bound = "policy limit x 4",
     .fold = FOLD_POLICY,
     .remembers = true,
     .sparse = true,
     .labels = {POLICY, ENUM_LABEL("version", rollout_names)},
     FROM(POLICIES, collect_rollout)},
    {.name = "karmada_propagationpolicy_oldest_superseded_timestamp_seconds",
     .unit = "seconds",
     .help = "When the version that some template still runs and that is outdated for the longest "
             "was superseded, of those of which that is known.",
     .aggregation = AGGREGATE_MIN,
     .remembers = true,
     FROM(POLICIES, collect_superseded)},
    {.name = "karmada_template_transitions_total",
     .help = "How often templates went from one state to another.",
     .type = FAMILY_COUNTER,
     .aggregation = AGGREGATE_INCREASE,
     .labels = {ENUM_LABEL("from", state_names), ENUM_LABEL("to", state_names)},
     .pairs = is_transition,
     FROM(TEMPLATES, collect_transitions)},
};
const struct family_group version_families = {families, ARRAY_LEN(families)};
