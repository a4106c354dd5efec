/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/engine_state.h"

const struct rules_options rules_options_default = {
    .takeover = TAKEOVER_PREEMPTION,
    .grace_ms = 60 * 1000,
    .skipped_namespaces = "kube-.*",
    .skipped_apis = "",
};

static enum queue queue_of(const struct entry *entry)
{
    switch (entry_class(entry)) {
    case CLASS_POLICY:
        return QUEUE_POLICY;
    case CLASS_TEMPLATE:
        return QUEUE_TEMPLATE;
    case CLASS_BINDING:
        return QUEUE_BINDING;
    case CLASS_OVERRIDE:
    case CLASS_CLUSTER:
    case CLASS_EVENT:
    case CLASS_LEASE:
    case CLASS_SETTING:
    case CLASS_OTHER:
        return QUEUE_OTHER;
    }
    abort();
}

void engine_mark(struct engine *e, struct entry *entry)
{
    struct dirty_queue *queue = &e->queues[queue_of(entry)];

    if (entry->dirty)
        return;
    entry->dirty = true;
    entry->next_dirty = NULL;
    if (queue->last)
        queue->last->next_dirty = entry;
    else
        queue->first = entry;
    queue->last = entry;
}

static struct entry *take_dirty(struct engine *e)
{
    for (unsigned i = 0; i < QUEUE_COUNT; i++) {
        struct dirty_queue *queue = &e->queues[i];
        struct entry *entry = queue->first;

        if (!entry)
            continue;
        queue->first = entry->next_dirty;
        if (!queue->first)
            queue->last = NULL;
        entry->dirty = false;
        return entry;
    }
    return NULL;
}

void engine_mark_dependents(struct engine *e, const struct entry *entry)
{
    for (uint32_t i = 0; i < entry->dependent_count; i++)
        engine_mark(e, entry->dependents[i]);
}

void engine_mark_type(struct engine *e, const struct type *type)
{
    for (const struct partition *partition = type->partitions; partition;
         partition = partition->next_of_type) {
        for (size_t i = 0; i < partition->count; i++) {
            if (partition->entries[i]->object)
                engine_mark(e, partition->entries[i]);
            else
                engine_mark_dependents(e, partition->entries[i]);
        }
    }
}

static void mark_all_templates(struct engine *e)
{
    for (const struct type *type = store_types(e->store); type; type = type->next) {
        if (type->def->class == CLASS_TEMPLATE)
            engine_mark_type(e, type);
    }
}

static void mark_selected_in(struct engine *e, const struct partition *partition,
                             const struct resource_selector *selector)
{
    for (size_t i = 0; i < partition->count; i++) {
        struct entry *entry = partition->entries[i];

        if (entry->object && selector_score(selector, entry) != SCORE_NONE)
            engine_mark(e, entry);
    }
}

/* The templates that a selector of this policy selects now. */
static void mark_selected(struct engine *e, const struct entry *policy,
                          const struct resource_selector *selector)
{
    const struct type *type = store_type(e->store, selector->api_version, selector->kind);
    bool cluster_wide = policy->partition->type->def->cluster_scoped;
    const char *ns = cluster_wide ? selector->ns : policy->partition->ns;

    if (!type)
        return;
    if (ns && selector->name) {
        struct entry *entry =
            store_find(e->store, &(struct identity){selector->api_version, selector->kind, ns,
                                                    selector->name});
        if (entry)
            engine_mark(e, entry);
        return;
    }
    if (ns) {
        const struct partition *partition = type_partition(e->store, type, ns);

        if (partition)
            mark_selected_in(e, partition, selector);
        return;
    }
    for (const struct partition *partition = type->partitions; partition;
         partition = partition->next_of_type)
        mark_selected_in(e, partition, selector);
}

/* The first and the last selector of a kind decide over "no policy selects this kind at all". */
static void mark_if_unselected(struct engine *e, const struct resource_selector *selector)
{
    const struct type *type = store_type(e->store, selector->api_version, selector->kind);

    if (type && selector_index_type_count(e->index, type->api_version, type->kind) == 0)
        engine_mark_type(e, type);
}

static void policy_changed(struct engine *e, struct entry *entry, const struct policy *old)
{
    const struct policy *fresh = entry->object;

    for (uint32_t i = 0; fresh && i < fresh->selector_count; i++)
        mark_if_unselected(e, &fresh->selectors[i]);
    if (fresh)
        selector_index_add(e->index, entry, fresh);
    if (old)
        selector_index_remove(e->index, entry, old);
    for (uint32_t i = 0; old && i < old->selector_count; i++)
        mark_if_unselected(e, &old->selectors[i]);
    for (uint32_t i = 0; fresh && i < fresh->selector_count; i++)
        mark_selected(e, entry, &fresh->selectors[i]);
    engine_mark_dependents(e, entry);
}

/* A binding tells which template it is of: that template's state may be another now. */
static void mark_template_of(struct engine *e, const struct binding *b)
{
    struct entry *template = b ? engine_template_of(e, b) : NULL;

    if (template)
        engine_mark(e, template);
}

static void binding_changed(struct engine *e, struct entry *entry, const struct binding *old)
{
    bool derives = store_count(e->store, CLASS_BINDING) == 0;

    if (derives != e->derives) {
        e->derives = derives;
        mark_all_templates(e);
    }
    mark_template_of(e, old);
    mark_template_of(e, entry->object);
    engine_mark_dependents(e, entry);
}

static void changed(void *context, struct entry *entry, const void *old)
{
    struct engine *e = context;

    engine_mark(e, entry);
    switch (entry_class(entry)) {
    case CLASS_POLICY:
        policy_changed(e, entry, old);
        return;
    case CLASS_BINDING:
        binding_changed(e, entry, old);
        return;
    case CLASS_OVERRIDE:
        engine_mark_dependents(e, entry);
        return;
    case CLASS_CLUSTER:
        engine_cluster_changed(e, old, entry->object);
        return;
    case CLASS_TEMPLATE:
    case CLASS_SETTING:
        engine_connector_changed(e, entry, old);
        return;
    case CLASS_EVENT:
    case CLASS_LEASE:
    case CLASS_OTHER:
        return;
    }
    abort();
}

struct engine *engine_new(struct store *store, const struct rules_options *options, uint64_t seed,
                          struct error *err)
{
    struct ignored *ignored = ignored_new(options->skipped_namespaces, options->skipped_apis, err);

    if (!ignored)
        return NULL;
    struct engine *e = xcalloc(1, sizeof(*e));
    e->store = store;
    e->options = *options;
    e->ignored = ignored;
    e->index = selector_index_new(store, seed);
    e->placements = placements_new(store, seed);
    e->collisions = collisions_new(&collision_binding_name, seed);
    e->duplicates = collisions_new(&collision_cloud_resource, seed);
    e->derives = true;
    e->name = STRBUF_INIT(BINDING_NAME_MAX);
    store_listen(store, (struct store_listener){changed, e});
    return e;
}

static void free_decision(struct engine *e, struct entry *entry)
{
    switch (entry_class(entry)) {
    case CLASS_TEMPLATE:
        engine_template_forget(e, entry);
        return;
    case CLASS_BINDING: {
        struct binding_decision *decision = entry->decision;

        if (decision)
            free(decision->dependency);
        break;
    }
    case CLASS_POLICY:
        engine_policy_forget(e, entry);
        return;
    case CLASS_LEASE:
        engine_lease_forget(e, entry);
        return;
    case CLASS_OVERRIDE:
    case CLASS_CLUSTER:
    case CLASS_EVENT:
    case CLASS_SETTING:
    case CLASS_OTHER:
        break;
    }
    free(entry->decision);
    entry->decision = NULL;
}

void engine_free(struct engine *e)
{
    if (!e)
        return;
    store_listen(e->store, (struct store_listener){0});
    for (const struct type *type = store_types(e->store); type; type = type->next) {
        for (const struct partition *partition = type->partitions; partition;
             partition = partition->next_of_type) {
            for (size_t i = 0; i < partition->count; i++)
                free_decision(e, partition->entries[i]);
        }
    }
    ignored_free(e->ignored);
    selector_index_free(e->index);
    placements_free(e->placements);
    collisions_free(e->collisions);
    collisions_free(e->duplicates);
    entry_list_release(&e->reads);
    entry_list_release(&e->shaken);
    free(e->candidates);
    free(e->waiting);
    free(e->placed);
    strbuf_release(&e->name);
    free(e);
}

/* Look again at one entry, tell, and let it go if it is of no use to anybody. */
static void evaluate(struct engine *e, struct entry *entry)
{
    e->evaluations++;
    if (!entry->object) {
        if (entry->decision)
            engine_mark_dependents(e, entry);
        engine_mark_dependencies(e, entry);
        edges_replace(e->store, entry, NULL, 0);
        free_decision(e, entry);
    } else if (entry_class(entry) == CLASS_TEMPLATE) {
        engine_decide_template(e, entry);
    } else if (entry_class(entry) == CLASS_BINDING) {
        engine_decide_binding(e, entry);
    } else if (entry_class(entry) == CLASS_POLICY) {
        engine_decide_policy(e, entry);
    } else if (entry_class(entry) == CLASS_LEASE) {
        engine_decide_lease(e, entry);
    }
    if (e->observer.decided)
        e->observer.decided(e->observer.context, entry);
    if (!entry->object)
        store_tidy(e->store, entry);
}

bool engine_run(struct engine *e, int64_t now_ms, size_t budget)
{
    /* A clock that was set back must not take back what has been said. */
    if (now_ms > e->now_ms)
        e->now_ms = now_ms;
    engine_wake(e);
    while (budget-- > 0) {
        struct entry *entry = take_dirty(e);

        if (!entry)
            return true;
        evaluate(e, entry);
    }
    for (unsigned i = 0; i < QUEUE_COUNT; i++) {
        if (e->queues[i].first)
            return false;
    }
    return true;
}

void engine_observe(struct engine *e, struct engine_observer observer)
{
    e->observer = observer;
}

const struct store *engine_store(const struct engine *e)
{
    return e->store;
}

int64_t engine_deadline(const struct engine *e)
{
    return e->deadline_ms;
}

uint64_t engine_evaluations(const struct engine *e)
{
    return e->evaluations;
}

enum takeover engine_takeover(const struct engine *e)
{
    return e->options.takeover;
}

bool engine_derives(const struct engine *e)
{
    return e->derives;
}

bool engine_next_selected(const struct engine *e, size_t *at, const char **api_version,
                          const char **kind)
{
    return selector_index_next_type(e->index, at, api_version, kind);
}

uint64_t engine_selected_version(const struct engine *e)
{
    return selector_index_types_version(e->index);
}
