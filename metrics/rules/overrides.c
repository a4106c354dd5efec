/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/overrides.h"

#include "metrics/model/override_policy.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "metrics/rules/placement_match.h"

/* ---- selection ---- */

/* Adds the override policies of one kind and namespace that select the object. */
static void add_selecting_policies(const struct store *store, bool cluster_scoped, const char *ns,
                                   const struct selector_subject *subject,
                                   struct override_selection *out)
{
    const struct kind_def *def = kind_of_overrides(cluster_scoped);
    const struct type *type = store_find_type(store, def->api_version, def->name);
    const char *shared_ns = intern_find(store_string_pool(store), ns);
    const struct partition *partition =
        type && shared_ns ? type_find_partition(store, type, shared_ns) : NULL;

    for (size_t i = 0; partition && i < partition->count; i++) {
        const struct override *override = entry_override(partition_entry(partition, i));
        enum selector_score score = SCORE_ALL;

        if (!override)
            continue;
        out->namespace_has_policies |= !cluster_scoped;
        if (override->selector_count > 0)
            score = selectors_score_subject(override->selectors, override->selector_count, subject);
        if (score == SCORE_NONE)
            continue;
        if (out->count == out->capacity) {
            out->capacity = out->capacity ? 2 * out->capacity : 8;
            out->items = xreallocarray(out->items, out->capacity, sizeof(*out->items));
        }
        out->items[out->count++] = (struct overriding){partition_entry(partition, i), score};
    }
}

static int compare_application_order(const void *left, const void *right)
{
    const struct overriding *a = left;
    const struct overriding *b = right;

    if (entry_is_cluster_scoped(a->policy) != entry_is_cluster_scoped(b->policy))
        return entry_is_cluster_scoped(a->policy) ? -1 : 1;
    if (a->score != b->score)
        return a->score < b->score ? -1 : 1;
    return strcmp(a->policy->name, b->policy->name);
}

static void sort_selection(struct override_selection *selection)
{
    if (selection->count > 1)
        qsort(selection->items, selection->count, sizeof(*selection->items),
              compare_application_order);
}

struct override_selection override_selection_make(const struct store *store,
                                                  const struct entry *template)
{
    const struct type *type = entry_type(template);
    const struct selector_subject subject = {type->api_version, type->kind, entry_ns(template),
                                             template->name,
                                             template_labels(entry_template(template))};
    struct override_selection selection = {0};

    add_selecting_policies(store, true, "", &subject, &selection);
    if (*entry_ns(template))
        add_selecting_policies(store, false, entry_ns(template), &subject, &selection);
    sort_selection(&selection);
    return selection;
}

/*
 * Returns `*count` labels of a map with the texts of the pool; the caller frees the array. A text
 * that is not in the pool is in no selector: the label is left out, or its value is "" outside the
 * pool.
 */
static struct label *find_labels(const struct intern *pool, const cJSON *map, size_t *count)
{
    struct label *items;
    const cJSON *item;

    *count = 0;
    cJSON_ArrayForEach (item, json_object_or_null(map)) {
        if (!cJSON_IsString(item))
            return NULL;
    }
    items = xcalloc((size_t)cJSON_GetArraySize(map), sizeof(*items));
    cJSON_ArrayForEach (item, json_object_or_null(map)) {
        const char *value = intern_find(pool, item->valuestring);
        const char *key = intern_find(pool, item->string);

        if (key)
            items[(*count)++] = (struct label){key, value ? value : ""};
    }
    return items;
}

struct override_selection override_selection_of_object(const struct store *store,
                                                       const cJSON *object)
{
    const struct intern *pool = store_string_pool(store);
    const cJSON *metadata = json_get(object, "metadata");
    const char *ns = json_str(metadata, "namespace", "");
    struct override_selection selection = {0};
    size_t count;
    CLEANUP(free_cleanup)
    struct label *items = find_labels(pool, json_get(metadata, "labels"), &count);
    const struct labels labels = {.items = items, .count = count};

    if (*ns)
        add_selecting_policies(store, false, ns,
                               &(struct selector_subject){
                                   intern_find(pool, json_str(object, "apiVersion", "")),
                                   intern_find(pool, json_str(object, "kind", "")),
                                   intern_find(pool, ns), json_str(metadata, "name", ""), labels},
                               &selection);
    sort_selection(&selection);
    return selection;
}

void override_selection_release(struct override_selection *selection)
{
    free(selection->items);
    *selection = (struct override_selection){0};
}

bool override_object_selects(const struct entry *policy, const struct override *o,
                             const struct entry *template)
{
    if (!entry_is_cluster_scoped(policy) && strcmp(entry_ns(policy), entry_ns(template)) != 0)
        return false;
    return o->selector_count == 0 ||
           selectors_best_score(o->selectors, o->selector_count, template) != SCORE_NONE;
}

bool override_selects(const struct entry *policy, const struct entry *template)
{
    const struct override *o = entry_override(policy);

    return o && override_object_selects(policy, o, template);
}

/* ---- rules by cluster ---- */

/*
 * Returns true if the rule applies or may apply to the cluster. Sets `unsure` of the steps if the
 * answer depends on the Cluster object, which is not known, and `release_decides`.
 */
static bool rule_may_apply(const struct override_rule *rule, const char *name,
                           const struct cluster *cluster, struct release_range range,
                           struct override_steps *steps)
{
    const struct cluster_affinity *target = rule->target;
    enum release_answer answer;

    if (!target)
        return true;
    if (cluster) {
        answer = affinity_matches_in_range(target, name, cluster, range);
        steps->release_decides |= answer == RELEASE_ANSWER_DIFFERS;
        return answer != RELEASE_ANSWER_NO;
    }
    if (target->never || !affinity_allows_name(target, name))
        return false;
    steps->unsure |= target->labels || target->fields || target->zones;
    return true;
}

struct override_steps override_steps_for_cluster(const struct override_selection *selection,
                                                 const char *name, const struct cluster *cluster,
                                                 struct release_range range)
{
    struct override_steps steps = {0};

    for (size_t i = 0; i < selection->count; i++) {
        const struct overriding *by = &selection->items[i];
        const struct override *override = entry_override(by->policy);

        for (uint32_t k = 0; k < override->rule_count; k++) {
            const struct override_rule *rule = &override->rules[k];

            if (!rule_may_apply(rule, name, cluster, range, &steps))
                continue;
            steps.items = xreallocarray(steps.items, steps.count + 1, sizeof(*steps.items));
            steps.items[steps.count++] = (struct override_step){by, rule};
            steps.others_may_act |= rule->writes_identity && entry_is_cluster_scoped(by->policy);
        }
    }
    return steps;
}

void override_steps_release(struct override_steps *steps)
{
    free(steps->items);
    *steps = (struct override_steps){0};
}

bool override_steps_equal(const struct override_steps *a, const struct override_steps *b)
{
    if (a->count != b->count || a->unsure != b->unsure || a->release_decides != b->release_decides)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        if (a->items[i].rule != b->items[i].rule)
            return false;
    }
    return true;
}

uint32_t override_step_rule_index(const struct override_step *step)
{
    return (uint32_t)(step->rule - entry_override(step->by->policy)->rules);
}

/* ---- failures ---- */

void override_events_init(struct override_events *o, struct store *store,
                          const struct incomplete *incomplete, uint64_t seed)
{
    *o = (struct override_events){.store = store, .incomplete = incomplete};
    subject_index_init(&o->index, seed);
}

void override_events_release(struct override_events *o)
{
    subject_index_release(&o->index);
}

/*
 * Returns true if the Event is about overrides of a template. Such Events exist for bindings, too.
 */
static bool is_template_event(const struct event *event)
{
    return event && event->override &&
           kind_of(event->override->api_version, event->kind)->class == CLASS_TEMPLATE;
}

static struct subject subject_of_event(const struct event *event)
{
    return (struct subject){event->kind, event->ns, event->name};
}

bool override_events_update(struct override_events *o, struct entry *entry, const struct event *old)
{
    const struct event *fresh = entry_event(entry);
    bool was_indexed = is_template_event(old), is_indexed_now = is_template_event(fresh);

    if (was_indexed && is_indexed_now && old->kind == fresh->kind && old->ns == fresh->ns &&
        old->name == fresh->name && override_event_equal(old->override, fresh->override))
        return false;
    if (was_indexed) {
        struct subject subject = subject_of_event(old);

        subject_index_remove(&o->index, &subject, entry);
    }
    if (is_indexed_now) {
        struct subject subject = subject_of_event(fresh);

        subject_index_add(&o->index, &subject, entry);
    }
    return was_indexed || is_indexed_now;
}

struct entry *override_event_template(const struct override_events *o, const struct event *event)
{
    return is_template_event(event)
               ? store_find(o->store, &(struct identity){event->override->api_version, event->kind,
                                                         event->ns, event->name})
               : NULL;
}

/* Arguments of override_failed(), together with the Events about the template (`events`). */
struct override_query {
    const struct incomplete *incomplete;
    const struct entry *template;
    const struct subject_group *events;
    const char *cluster;
    const struct work *work;
};

/*
 * Returns true if the Event is about the present template, and about the cluster or all clusters,
 * and Events have been read completely.
 */
static bool event_concerns_query(const struct entry *event, const struct override_query *q)
{
    const struct override_event *e = entry_event(event)->override;
    const struct template *t = entry_template(q->template);

    return !incomplete_has_type(q->incomplete, entry_type(event)) &&
           e->api_version == entry_type(q->template)->api_version &&
           !(t && uid_hashes_differ(e->uid_hash, t->uid_hash)) &&
           (e->outcome == WORKS_WRITTEN || strcmp(e->cluster, q->cluster) == 0);
}

static struct entry *find_or_add_event_policy(const struct override_events *o,
                                              const struct override_event *e)
{
    const struct kind_def *def = kind_of_overrides(!*e->policy_ns);

    return store_find_or_add(
        o->store, &(struct identity){def->api_version, def->name, e->policy_ns, e->policy});
}

static bool is_in_later_second(int64_t ms, const struct override_event *failure)
{
    return ms / 1000 > failure->time_ms / 1000;
}

/* Returns true if the policy is known to be deleted, or changed or recreated after the failure. */
static bool has_changed_since(const struct override_events *o, const struct entry *policy,
                              const struct override_event *failure)
{
    const struct override *override = entry_object(policy);

    if (incomplete_has_type(o->incomplete, entry_type(policy)))
        return false;
    return !override || is_in_later_second(override->changed_ms, failure) ||
           is_in_later_second(override->created_ms, failure);
}

/* Returns true if a later Event or the Work shows that the policy was applied after the failure. */
static bool is_failure_resolved(const struct override_query *q,
                                const struct override_event *failure)
{
    bool resolved = q->work && is_in_later_second((int64_t)q->work->written_s * 1000, failure);

    for (uint32_t i = 0; i < q->events->count && !resolved; i++) {
        const struct override_event *e = entry_event(q->events->entries[i])->override;
        bool same = e->policy == failure->policy && e->policy_ns == failure->policy_ns;

        resolved = e->outcome != OVERRIDE_FAILED && (same || e->outcome == WORKS_WRITTEN) &&
                   event_concerns_query(q->events->entries[i], q) &&
                   is_in_later_second(e->time_ms, failure);
    }
    return resolved;
}

bool override_failed(const struct override_events *o, const struct entry *template,
                     const struct work *work, const char *cluster, struct entry_list *reads,
                     struct override_failure *out)
{
    const struct subject subject = {entry_kind(template), entry_ns(template), template->name};
    const struct override_query q = {
        .incomplete = o->incomplete,
        .template = template,
        .events = subject_index_find(&o->index, &subject),
        .cluster = cluster,
        .work = work,
    };
    const struct override_event *latest = NULL;

    for (uint32_t i = 0; q.events && i < q.events->count; i++) {
        const struct override_event *e = entry_event(q.events->entries[i])->override;
        struct entry *policy;

        if (e->outcome != OVERRIDE_FAILED || !event_concerns_query(q.events->entries[i], &q))
            continue;
        policy = find_or_add_event_policy(o, e);
        entry_list_add(reads, policy);
        if (!has_changed_since(o, policy, e) && !is_failure_resolved(&q, e) &&
            (!latest || e->time_ms > latest->time_ms))
            latest = e;
    }
    if (latest)
        *out = (struct override_failure){latest->policy_ns, latest->policy, latest->message,
                                         latest->time_ms};
    return latest != NULL;
}
