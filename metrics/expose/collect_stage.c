/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/samples.h"

#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "metrics/rules/delivery.h"
#include "metrics/simulate/template_verdicts.h"

/* Returns the index of the series with this stage and reason. */
static unsigned stage_reason_index(struct stage_and_reason at)
{
    return (unsigned)at.stage * STAGE_REASON_COUNT + (unsigned)at.reason;
}

static void collect_template_stage(const struct entry *entry, struct samples *out)
{
    struct stage_and_reason at = template_decision(entry)->stages.at;

    SAMPLE(out, 1, stage_reason_index(at));
}

static void collect_namespace_stage(const struct entry *entry, struct samples *out)
{
    SAMPLE(out, 1, template_decision(entry)->stages.at.stage, entry_ns(entry));
}

static void collect_delivery_stage(const struct entry *entry, struct samples *out)
{
    struct stage_and_reason at = template_decision(entry)->stages.delivery;

    if (at.stage != STAGE_NONE)
        SAMPLE(out, 1, stage_reason_index(at));
}

static void collect_unscheduled_clusters(const struct entry *entry, struct samples *out)
{
    size_t counts[FILTER_COUNT + 1];

    if (entry_class(entry) != CLASS_TEMPLATE ||
        !template_is_unscheduled(template_decision(entry)) ||
        !template_count_filters(out->engine, entry, counts))
        return;
    for (unsigned i = 0; i < FILTER_COUNT; i++) {
        if (counts[i] > 0)
            SAMPLE(out, (int64_t)counts[i], i);
    }
}

static void collect_stage_since(const struct entry *entry, struct samples *out)
{
    const struct template_stages *stages = &template_decision(entry)->stages;

    if (stages->since_s > 0)
        SAMPLE(out, (int64_t)stages->since_s * 1000, stages->at.stage);
}

static void collect_member_stage(const struct entry *entry, struct samples *out)
{
    struct template_decision *d = entry_decision(entry);
    const struct stage_and_reason *targets = decision_targets(d);

    for (uint32_t i = 0; i < d->target_count; i++)
        SAMPLE_ONCE(out, 1, targets[i].stage, entry_binding(decision_binding(d))->clusters[i].name);
}

static void collect_evictions(const struct entry *entry, struct samples *out)
{
    const struct status_problem *t = entry_binding(entry)->status.problem;

    for (uint32_t i = 0; t && i < t->eviction_count; i++) {
        if (eviction_ends_by_itself(&t->evictions[i]))
            SAMPLE_ONCE(out, 1, 0, t->evictions[i].producer, t->evictions[i].reason);
    }
}

static void collect_last_copy_at_risk(const struct entry *entry, struct samples *out)
{
    if (entry_risks(entry) & 1U << RISK_LAST_COPY)
        SAMPLE(out, 1, 0);
}

static void collect_templates_at_risk(const struct entry *entry, struct samples *out)
{
    samples_add_bits(out, entry_risks(entry));
}

static void collect_templates_on_fallback(const struct entry *entry, struct samples *out)
{
    if (template_decision(entry)->flags & 1u << FLAG_FALLBACK)
        SAMPLE(out, 1, 0);
}

static bool is_suspended(const struct binding *b)
{
    for (uint32_t i = 0; i < binding_target_count(b); i++) {
        if (b->clusters[i].item.suspended)
            return true;
    }
    return b->scheduling_suspended;
}

static void collect_suspended_templates(const struct entry *entry, struct samples *out)
{
    const struct template_decision *d = template_decision(entry);
    const struct binding *b = entry_binding(decision_binding(d));
    bool waiting = d->stages.delivery.reason == WHY_SUSPENDED;

    if (b && is_suspended(b))
        SAMPLE(out, 1, waiting);
}

/*
 * Returns true if the template's last change has not reached all member clusters: the binding does
 * not contain the change, a member cluster has an older version, or the binding, in a stage up to
 * STAGE_UNAPPLIED, never had the condition FullyApplied. A later move to other clusters does not
 * count. Returns false without a binding or stage.
 */
static bool is_change_undelivered(const struct template_decision *d)
{
    const struct binding *b = entry_binding(decision_binding(d));
    enum stage stage = d->stages.delivery.stage;

    if (!b || stage == STAGE_NONE)
        return false;
    return d->change_applied == CHANGE_NOT_APPLIED || stage == STAGE_UNDELIVERED ||
           (b->status.applied_s == 0 && stage >= STAGE_UNSCHEDULED && stage <= STAGE_UNAPPLIED);
}

static void collect_delivery_delay(const struct entry *entry, struct samples *out)
{
    const struct template *t = entry_template(entry);

    if (template_changed_ms(t) > 0 && is_change_undelivered(template_decision(entry)))
        SAMPLE(out, template_changed_ms(t), 0);
}

static bool is_delivered(const struct entry *entry)
{
    const struct template_decision *d = template_decision(entry);

    return d && d->state != STATE_STALE && d->stages.delivery.stage >= STAGE_UNHEALTHY &&
           d->stages.delivery.stage <= STAGE_HEALTHY;
}

static bool is_possible_stage_reason(unsigned stage, unsigned reason)
{
    return stage_has_reason((enum stage)stage, (enum stage_reason)reason);
}

/* Returns true if a series is possible: delivery stages begin with STAGE_EVICTING. */
static bool is_possible_delivery_reason(unsigned stage, unsigned reason)
{
    return stage >= STAGE_EVICTING && is_possible_stage_reason(stage, reason);
}

#define STAGE  ENUM_LABEL("stage", stage_names)
#define REASON ENUM_LABEL("reason", stage_reason_names)

static const char *const waiting_names[] = {"false", "true"};

static const double delay_buckets[] = {0.5,   1.5,   2.5,   5.5,    10.5,   20.5,   30.5,   60.5,
                                       120.5, 300.5, 600.5, 1800.5, 3600.5, 7200.5, 86400.5};

static const struct family_def families[] = {
    {.name = "karmada_templates_stage",
     .help = "Templates by stage, from match to healthy, and by reason; each template is in "
             "exactly one stage.",
     .labels = {STAGE, REASON},
     .pairs = is_possible_stage_reason,
     FROM(TEMPLATE_ENTRIES, collect_template_stage)},
    {.name = "karmada_namespace_templates_stage",
     .help = "Resource templates by namespace and stage; each template is in exactly one stage. "
             "Rows of 0 are omitted.",
     .bound = "detail limit x 12",
     .limit_kind = LIMIT_BY_NAMESPACE,
     .sparse = true,
     .labels = {FREE_LABEL("namespace"), STAGE},
     FROM(TEMPLATE_ENTRIES, collect_namespace_stage)},
    {.name = "karmada_templates_delivery",
     .help = "Templates with a binding by delivery stage and reason, regardless of the present "
             "policies.",
     .labels = {STAGE, REASON},
     .pairs = is_possible_delivery_reason,
     FROM(TEMPLATE_ENTRIES, collect_delivery_stage)},
    {.name = "karmada_templates_unscheduled_clusters",
     .help = "Pairs of an unscheduled template and a member cluster, by the first filter of the "
             "scheduler that excludes the cluster. Pairs without such a filter do not count.",
     .labels = {ENUM_LABEL("filter", cluster_filter_names)},
     FROM(TEMPLATE_ENTRIES | CLUSTER_ENTRIES, collect_unscheduled_clusters)},
    {.name = "karmada_templates_stage_oldest_timestamp_seconds",
     .unit = "seconds",
     .help = "Start of the stage for the template that has been in it the longest, in seconds "
             "since the epoch; templates without a time do not count.",
     .aggregation = AGGREGATE_MIN,
     .labels = {STAGE},
     FROM(TEMPLATE_ENTRIES, collect_stage_since)},
    {.name = "karmada_member_cluster_templates_stage",
     .help = "Templates by member cluster and by stage there.",
     .bound = "member clusters x 6",
     .sparse = true,
     .labels = {FREE_LABEL("member_cluster"), STAGE},
     FROM(TEMPLATE_ENTRIES, collect_member_stage)},
    {.name = "karmada_bindings_evicting",
     .help = "Bindings that Karmada evicts from a member cluster, by producer and reason of the "
             "eviction.",
     .bound = "producers x reasons",
     .labels = {FREE_LABEL("producer"), FREE_LABEL("reason")},
     FROM(BINDING_ENTRIES, collect_evictions)},
    {.name = "karmada_templates_last_copy_at_risk",
     .help = "Templates with a single copy that Karmada deletes when the "
             "eviction times out, because no other member cluster fits.",
     FROM(TEMPLATE_ENTRIES, collect_last_copy_at_risk)},
    {.name = "karmada_templates_at_risk",
     .help = "Templates with a risk of an outage at Karmada's next action or a user's next change, "
             "by risk.",
     .labels = {ENUM_LABEL("risk", risk_names)},
     FROM(TEMPLATE_ENTRIES, collect_templates_at_risk)},
    {.name = "karmada_templates_on_fallback",
     .help = "Templates that run in a group of clusterAffinities other than the first.",
     FROM(TEMPLATE_ENTRIES, collect_templates_on_fallback)},
    {.name = "karmada_templates_suspended",
     .help = "Templates with suspended dispatching or scheduling, with and "
             "without a waiting change.",
     .labels = {ENUM_LABEL("waiting", waiting_names)},
     FROM(TEMPLATE_ENTRIES, collect_suspended_templates)},
    {.name = "karmada_template_delivery_delay_seconds",
     .unit = "seconds",
     .type = FAMILY_HISTOGRAM,
     .help =
         "Time from a change of a template to its delivery in all member clusters of the template.",
     .aggregation = AGGREGATE_WAIT,
     .ended = is_delivered,
     .buckets = delay_buckets,
     .bucket_count = ARRAY_LEN(delay_buckets),
     FROM(TEMPLATE_ENTRIES, collect_delivery_delay)},
};
const struct family_group stage_families = {families, ARRAY_LEN(families)};
