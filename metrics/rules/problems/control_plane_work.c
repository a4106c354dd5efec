/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/problems/control_plane_work.h"

#include "metrics/model/claim.h"
#include "metrics/model/policy.h"
#include "metrics/model/template.h"

static const struct found_work no_work = {.kind = WORK_COUNT};

/* ---- decisions ---- */

/* Returns true if the change waits for a PriorityClass or override policy. */
static bool waits_for_object(const struct entry *template, const struct template_decision *d)
{
    const struct policy_decision *policy =
        decision_governing(d) ? policy_decision(decision_governing(d)) : NULL;

    return policy && (policy->override_missing ||
                      (*entry_ns(template) && policy->priority.state == PRIORITY_MISSING));
}

/* Returns true if Karmada applies the policy only at the user's next change of the template. */
static bool is_applied_lazily(const struct rules_options *options,
                              const struct template_decision *d)
{
    const struct policy *policy = entry_policy(decision_governing(d));

    return options->takeover == TAKEOVER_STATIC || !policy || policy->lazy || d->priority_moved;
}

static struct found_work find_stale_work(const struct rules_options *options,
                                         const struct entry *template,
                                         const struct template_decision *d)
{
    static const enum work_kind kinds[STALE_REASON_COUNT] = {
        [STALE_POLICY_UPDATED] = WORK_POLICIES, [STALE_POLICY_REPLACED] = WORK_POLICIES,
        [STALE_SELECTOR_MISMATCH] = WORK_COUNT, [STALE_POLICY_GONE] = WORK_COUNT,
        [STALE_NEVER_BOUND] = WORK_TEMPLATES,   [STALE_TEMPLATE_UPDATED] = WORK_TEMPLATES,
    };
    struct found_work found = {kinds[d->reason], decision_since_ms(d), false};

    if (waits_for_object(template, d))
        return no_work;
    if (d->reason == STALE_TEMPLATE_UPDATED || !is_applied_lazily(options, d))
        return found;
    /* Only a user's change of the template after the change of the policy makes the work. */
    found.made_ms = later_of(found.made_ms, template_changed_ms(entry_template(template)));
    return d->phase == PHASE_OVERDUE ? found : no_work;
}

static struct found_work find_unbound_work(const struct entry *template,
                                           const struct template_decision *d)
{
    const struct template *t = entry_template(template);
    const struct policy *policy = entry_policy(decision_governing(d));
    struct found_work found = no_work;

    /* A template without uid is in no API server yet. */
    if (!policy || t->uid_hash == uid_hash("") || waits_for_object(template, d))
        return no_work;
    found.made_ms = later_of(later_of(template_created_ms(t), template_changed_ms(t)),
                             later_of(policy->created_ms, policy->changed_ms));
    found.stuck = d->reason == UNBOUND_STUCK;
    if (d->reason == UNBOUND_WAITING)
        found.kind = WORK_TEMPLATES;
    return found;
}

struct found_work find_controller_work(const struct rules_options *options,
                                       const struct entry *template,
                                       const struct template_decision *d)
{
    if (d->state == STATE_STALE)
        return find_stale_work(options, template, d);
    return d->state == STATE_UNBOUND ? find_unbound_work(template, d) : no_work;
}

struct found_work find_scheduler_work(const struct template_decision *d)
{
    struct stage_and_reason at = d->stages.delivery;

    if (at.stage != STAGE_UNSCHEDULED || at.reason != WHY_WAITING)
        return no_work;
    return (struct found_work){WORK_SCHEDULING, d->stages.delivery_since_s * INT64_C(1000), false};
}

struct found_work find_dependency_work(const struct dependency_decision *d)
{
    /* Karmada does not resolve a dependency with a requiredBy that names a missing binding. */
    if (!d || d->dangling > 0)
        return no_work;
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++) {
        if (d->fields[i].unapplied)
            return (struct found_work){WORK_DEPENDENCIES, d->since_ms, false};
    }
    return no_work;
}

bool was_claimed(const struct template_decision *before, const struct template_decision *after)
{
    return before && !before->first_run && after->own_claim &&
           (!before->own_claim || decision_claimed(before) != decision_claimed(after));
}

/* ---- writes of bindings ---- */

/* Returns the kinds of work of the controllers that the difference of two bindings belongs to. */
static unsigned kinds_of_difference(const struct binding *old, const struct binding *fresh)
{
    unsigned kinds = 0;

    if (old->own_uid_hash != fresh->own_uid_hash ||
        old->resource_version != fresh->resource_version)
        kinds |= 1U << WORK_TEMPLATES;
    if (!propagation_equal(old->propagation, fresh->propagation) ||
        !claim_equal(old->claim, fresh->claim))
        kinds |= 1U << (fresh->has_placement ? WORK_POLICIES : WORK_DEPENDENCIES);
    if (binding_rare(old)->referrer_count != binding_rare(fresh)->referrer_count)
        kinds |= 1U << WORK_DEPENDENCIES;
    return kinds;
}

bool was_written(const struct binding *old, const struct binding *fresh, unsigned *kinds)
{
    *kinds = old ? kinds_of_difference(old, fresh) : 1U << WORK_TEMPLATES;
    return *kinds != 0 || old->write.time_s != fresh->write.time_s ||
           old->write.manager != fresh->write.manager;
}

bool was_scheduled(const struct binding *old, const struct binding *fresh)
{
    const struct binding_status *a = &fresh->status;
    const struct binding_status *b;

    if (!old)
        return a->scheduled != SCHEDULED_NEVER;
    b = &old->status;
    return a->scheduled != b->scheduled || a->scheduled_s != b->scheduled_s ||
           (a->observed && !b->observed) || old->applied_placement != fresh->applied_placement;
}

/* ---- bindings that the exporter does not keep ---- */

/* Times of one binding. Bindings with equal hashes count as one. */
struct other_binding {
    uint64_t hash;
    uint32_t times_s[CONTROL_COUNT];
};

static bool has_hash(const void *item, const void *key)
{
    return ((const struct other_binding *)item)->hash == *(const uint64_t *)key;
}

void other_bindings_init(struct other_bindings *o, uint64_t seed)
{
    *o = (struct other_bindings){.times = MAP_INIT(has_hash), .seed = seed};
}

void other_bindings_release(struct other_bindings *o)
{
    struct other_binding *b;

    for (size_t at = 0; (b = map_next(&o->times, &at)) != NULL;)
        free(b);
    map_release(&o->times);
}

static struct other_binding *add_other_binding(struct other_bindings *o, uint64_t hash)
{
    struct other_binding *b = xcalloc(1, sizeof(*b));

    if (o->times.count == OTHER_BINDINGS_MAX) {
        other_bindings_release(o);
        memcpy(o->dropped_s, o->newest_s, sizeof(o->dropped_s));
    }
    b->hash = hash;
    map_add(&o->times, hash, b);
    return b;
}

static uint64_t hash_of_binding(const struct other_bindings *o, const cJSON *binding)
{
    const cJSON *metadata = json_get(binding, "metadata");
    const char *ns = json_str(metadata, "namespace", "");
    const char *name = json_str(metadata, "name", "");

    return map_hash(name, strlen(name), map_hash(ns, strlen(ns), o->seed));
}

/* Limits a time in the future, which must not hide the writes of other bindings for long. */
static int64_t limit_time(uint32_t time_s, int64_t now_ms)
{
    return earlier_of(time_s, now_ms / 1000 + OTHER_BINDINGS_AHEAD_S);
}

unsigned other_bindings_note(struct other_bindings *o, const cJSON *binding, int64_t now_ms)
{
    uint64_t hash = hash_of_binding(o, binding);
    struct other_binding *b = map_get(&o->times, hash, &hash);
    struct binding_times times;
    unsigned written = 0;

    binding_times_decode(binding, &times);

    const uint32_t times_s[CONTROL_COUNT] = {
        [CONTROL_CONTROLLERS] = times.written_s,
        [CONTROL_SCHEDULER] = times.scheduled_s,
    };
    for (unsigned i = 0; i < CONTROL_COUNT; i++)
        written |= (unsigned)(b ? times_s[i] > b->times_s[i]
                                : limit_time(times_s[i], now_ms) > o->dropped_s[i])
                   << i;
    if (!written)
        return 0;
    if (!b)
        b = add_other_binding(o, hash);
    for (unsigned i = 0; i < CONTROL_COUNT; i++) {
        b->times_s[i] = times_s[i];
        o->newest_s[i] = (uint32_t)later_of(o->newest_s[i], limit_time(times_s[i], now_ms));
    }
    return written;
}

void other_bindings_skip_list(struct other_bindings *o, int64_t now_ms)
{
    for (unsigned i = 0; i < CONTROL_COUNT; i++) {
        o->newest_s[i] = (uint32_t)later_of(o->newest_s[i], now_ms / 1000);
        o->dropped_s[i] = (uint32_t)later_of(o->dropped_s[i], now_ms / 1000);
    }
}
