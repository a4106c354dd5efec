/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/overlay.h"

#include "metrics/model/store.h"
#include "metrics/rules/admission/quota.h"
#include "metrics/rules/object_index.h"
#include "metrics/rules/template_state.h"

#define ASSUMPTION_TEXT(id, text) text,
const char *const assumption_texts[ASSUMPTION_COUNT] = {ASSUMPTIONS(ASSUMPTION_TEXT)};

/* Object of an entry that the overlay has replaced; overlay_rollback() restores it. */
struct replacement {
    struct entry *entry;
    void *old;
};

/* Object or memory that overlay_free() frees. */
struct owned {
    const struct kind_def *def; /* Kind of the object; NULL for memory that has no kind. */
    void *object;
    bool is_cell; /* Without a kind: pool_free() frees the memory, else free(). */
};

struct overlay {
    struct engine *engine;
    struct engine_observer engine_observer; /* The engine's own; overlay_free() restores it. */
    struct overlay_observer observer;
    struct overlay_limit limit;
    bool limit_was_reached;
    struct entry_list unsettled;
    unsigned assumptions;
    struct release_range release;               /* The engine's own; valid if `has_release`. */
    bool has_release;                           /* overlay_set_release() was called. */
    const struct resolved_placement *placement; /* Last one of overlay_resolve_placement(). */

    struct replacement *replacements;
    size_t replacement_count;
    size_t replacement_capacity;
    size_t visited_count; /* Replacements that overlay_next_replacement() has returned. */
    struct owned *owned;
    size_t owned_count;
    size_t owned_capacity;
    struct quota_totals *quota_totals; /* Follow the replacements. */
    struct quota_totals *outer_totals; /* Of the engine before; overlay_free() restores them. */
    const char **texts;
    size_t text_count;
    size_t text_capacity;
    struct queue_item *queue;
    size_t queue_first;
    size_t queue_end;
    size_t queue_capacity;
};

/* Returns `array`, reallocated if it has no room for one more element of `size` bytes. */
static void *ensure_room(void *array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return array;
    *capacity = *capacity ? 2 * *capacity : 16;
    return xreallocarray(array, *capacity, size);
}

static void notify_observer(void *context, struct entry *entry)
{
    const struct overlay *overlay = context;

    if (overlay->observer.touched)
        overlay->observer.touched(overlay->observer.context, entry);
}

struct overlay *overlay_new(struct engine *e)
{
    struct overlay *overlay = xcalloc(1, sizeof(*overlay));

    overlay->engine = e;
    overlay->quota_totals = quota_totals_new(engine_context(e)->store);
    overlay->outer_totals = engine_context(e)->quota_totals;
    engine_context(e)->quota_totals = overlay->quota_totals;
    overlay->engine_observer = engine_observe(
        e, (struct engine_observer){.deciding = notify_observer, .context = overlay});
    overlay_context(overlay)->seen.paused = overlay_context(overlay)->policy_versions.paused = true;
    return overlay;
}

void overlay_free(struct overlay *overlay)
{
    struct intern *strings;

    if (!overlay)
        return;
    strings = store_string_pool(overlay_context(overlay)->store);
    overlay->observer = (struct overlay_observer){0};
    overlay_rollback(overlay, 0);
    overlay_restore_release(overlay);
    overlay_evaluate(overlay);
    engine_observe(overlay->engine, overlay->engine_observer);
    placements_drop(overlay_context(overlay)->placements, overlay->placement);
    overlay_context(overlay)->seen.paused = overlay_context(overlay)->policy_versions.paused =
        false;
    for (size_t i = 0; i < overlay->owned_count; i++) {
        if (overlay->owned[i].def)
            overlay->owned[i].def->release(strings, overlay->owned[i].object);
        else if (overlay->owned[i].is_cell)
            pool_free(overlay->owned[i].object);
        else
            free(overlay->owned[i].object);
    }
    for (size_t i = 0; i < overlay->text_count; i++)
        intern_drop(strings, overlay->texts[i]);
    overlay_context(overlay)->quota_totals = overlay->outer_totals;
    quota_totals_free(overlay->quota_totals);
    free(overlay->replacements);
    free(overlay->owned);
    free(overlay->texts);
    free(overlay->queue);
    entry_list_release(&overlay->unsettled);
    free(overlay);
}

void overlay_set_limit(struct overlay *overlay, struct overlay_limit limit)
{
    overlay->limit = limit;
}

bool overlay_limit_reached(struct overlay *overlay)
{
    overlay->limit_was_reached =
        overlay->limit_was_reached ||
        (overlay->limit.reached && overlay->limit.reached(overlay->limit.context));
    return overlay->limit_was_reached;
}

struct rule_context *overlay_context(const struct overlay *overlay)
{
    return engine_context(overlay->engine);
}

void overlay_set_release(struct overlay *overlay, struct release_range release)
{
    struct release_range last = engine_simulate_release(overlay->engine, release);

    if (!overlay->has_release)
        overlay->release = last;
    overlay->has_release = true;
}

void overlay_restore_release(struct overlay *overlay)
{
    if (overlay->has_release)
        (void)engine_simulate_release(overlay->engine, overlay->release);
    overlay->has_release = false;
}

bool overlay_gate_is_on(const struct overlay *overlay, enum gate gate)
{
    return gate_is_on(overlay_context(overlay)->gates, gate);
}

void overlay_assume(struct overlay *overlay, enum assumption assumption)
{
    overlay->assumptions |= 1u << assumption;
}

unsigned overlay_take_assumptions(struct overlay *overlay)
{
    unsigned assumptions = overlay->assumptions;

    overlay->assumptions = 0;
    return assumptions;
}

/* Returns the previous object. */
static void *swap_object(struct overlay *overlay, struct entry *entry, void *object)
{
    struct store *store = overlay_context(overlay)->store;
    bool is_binding = entry_class(entry) == CLASS_BINDING && *entry_ns(entry);
    void *old = store_swap_object(store, entry, object);

    if (is_binding)
        quota_totals_update(overlay->quota_totals, entry_ns(entry), old, object);
    return old;
}

struct quota_totals *overlay_quota_totals(const struct overlay *overlay)
{
    return overlay->quota_totals;
}

void overlay_replace(struct overlay *overlay, struct entry *entry, void *object)
{
    notify_observer(overlay, entry);
    store_pin(entry);
    overlay->replacements =
        ensure_room(overlay->replacements, overlay->replacement_count,
                    &overlay->replacement_capacity, sizeof(*overlay->replacements));
    overlay->replacements[overlay->replacement_count++] =
        (struct replacement){entry, swap_object(overlay, entry, object)};
}

bool overlay_next_replacement(struct overlay *overlay, struct entry **entry, const void **old)
{
    const struct replacement *r = &overlay->replacements[overlay->visited_count];

    if (overlay->visited_count == overlay->replacement_count)
        return false;
    overlay->visited_count++;
    *entry = r->entry;
    *old = r->old;
    return true;
}

static void *add_owned(struct overlay *overlay, struct owned owned)
{
    overlay->owned = ensure_room(overlay->owned, overlay->owned_count, &overlay->owned_capacity,
                                 sizeof(*overlay->owned));
    overlay->owned[overlay->owned_count++] = owned;
    return owned.object;
}

void *overlay_own_memory(struct overlay *overlay, void *memory)
{
    return add_owned(overlay, (struct owned){.object = memory});
}

void *overlay_own_object(struct overlay *overlay, const struct kind_def *def, void *object)
{
    return add_owned(overlay, (struct owned){.def = def, .object = object});
}

void *overlay_own_cell(struct overlay *overlay, void *cell)
{
    return add_owned(overlay, (struct owned){.object = cell, .is_cell = true});
}

void *overlay_alloc_cell(struct overlay *overlay, size_t bytes)
{
    struct intern *strings = store_string_pool(overlay_context(overlay)->store);

    return overlay_own_cell(overlay, pool_alloc(intern_memory(strings), bytes));
}

const char *overlay_intern(struct overlay *overlay, const char *text)
{
    const char *shared = intern_add(store_string_pool(overlay_context(overlay)->store), text);

    overlay->texts = ensure_room(overlay->texts, overlay->text_count, &overlay->text_capacity,
                                 sizeof(*overlay->texts));
    return overlay->texts[overlay->text_count++] = shared;
}

const struct resolved_placement *overlay_resolve_placement(struct overlay *overlay,
                                                           const char *text)
{
    struct placements *placements = overlay_context(overlay)->placements;
    const struct resolved_placement *last = overlay->placement;

    overlay->placement = placements_ref(placements, text);
    placements_drop(placements, last);
    return overlay->placement;
}

void overlay_evaluate(struct overlay *overlay)
{
    while (!engine_run(overlay->engine, engine_now_ms(overlay->engine), SIZE_MAX))
        continue;
}

size_t overlay_mark(const struct overlay *overlay)
{
    assert(overlay->queue_first == overlay->queue_end);
    return overlay->replacement_count;
}

/* Simulated objects are not freed here: the overlay or its caller owns them. */
void overlay_rollback(struct overlay *overlay, size_t mark)
{
    struct store *store = overlay_context(overlay)->store;

    while (overlay->replacement_count > mark) {
        struct replacement replacement = overlay->replacements[--overlay->replacement_count];
        const void *simulated = swap_object(overlay, replacement.entry, replacement.old);

        (void)simulated;
        store_unpin(store, replacement.entry);
    }
    if (overlay->visited_count > mark)
        overlay->visited_count = mark;
}

void overlay_observe(struct overlay *overlay, struct overlay_observer observer)
{
    overlay->observer = observer;
}

void overlay_enqueue(struct overlay *overlay, struct queue_item item)
{
    if (overlay->queue_first == overlay->queue_end)
        overlay->queue_first = overlay->queue_end = 0;
    overlay->queue = ensure_room(overlay->queue, overlay->queue_end, &overlay->queue_capacity,
                                 sizeof(*overlay->queue));
    overlay->queue[overlay->queue_end++] = item;
}

bool overlay_dequeue(struct overlay *overlay, struct queue_item *out)
{
    if (overlay->queue_first == overlay->queue_end)
        return false;
    *out = overlay->queue[overlay->queue_first++];
    return true;
}

void overlay_note_unsettled(struct overlay *overlay, struct entry *template)
{
    struct entry_list *list = &overlay->unsettled;
    size_t place = entry_sort_index(list->items, list->count, template);

    if (place < list->count && list->items[place] == template)
        return;
    entry_list_add(list, template);
    memmove(&list->items[place + 1], &list->items[place],
            (list->count - 1 - place) * sizeof(struct entry *));
    list->items[place] = template;
}

const struct entry_list *overlay_unsettled_templates(const struct overlay *overlay)
{
    return &overlay->unsettled;
}

struct entry_list list_readers(const struct entry *entry, enum object_class class)
{
    struct entry_list list = {0};

    for (uint32_t i = 0; i < entry_reader_count(entry); i++) {
        if (entry_class(entry_reader(entry, i)) == class)
            entry_list_add(&list, entry_reader(entry, i));
    }
    return list;
}

struct entry *overlay_binding_entry(struct overlay *overlay, const struct entry *template)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(BINDING_NAME_MAX);
    const struct identity of = {NULL, entry_kind(template), entry_ns(template), template->name};
    const struct identity id = identity_of_template_binding(&of, &name);

    return store_find_or_add(overlay_context(overlay)->store, &id);
}

bool binding_belongs_to(const struct binding *b, const struct entry *template)
{
    const struct type *type = entry_type(template);

    return b->scope->api_version == type->api_version && b->scope->kind == type->kind &&
           b->scope->ns == entry_ns(template) && strcmp(b->name, template->name) == 0 &&
           !uid_hashes_differ(b->uid_hash, entry_template(template)->uid_hash);
}

void binding_copy_init(struct binding_copy *copy, const struct binding *b)
{
    copy->binding = *b;
    copy->propagation = *b->propagation;
    copy->rare = *binding_rare(b);
    copy->binding.propagation = &copy->propagation;
    copy->binding.rare = &copy->rare;
}

struct binding *overlay_copy_binding(struct overlay *overlay, const struct binding *old)
{
    struct binding_copy *copy = overlay_alloc_cell(overlay, sizeof(*copy));

    binding_copy_init(copy, old);
    return &copy->binding;
}

struct propagation *overlay_propagation(struct binding *binding_of_copy)
{
    return &((struct binding_copy *)binding_of_copy)->propagation;
}

struct binding_rare *overlay_rare(struct binding *binding_of_copy)
{
    return &((struct binding_copy *)binding_of_copy)->rare;
}

struct binding *overlay_new_binding(struct overlay *overlay, const struct entry *template)
{
    return overlay_copy_binding(overlay, &(struct binding){
                                             .scope = &entry_partition(template)->scope,
                                             .name = template->name,
                                             .uid_hash = entry_template(template)->uid_hash,
                                             .propagation = propagation_none(),
                                         });
}

static bool has_suspended_target(const struct binding *b)
{
    for (uint32_t i = 0; i < binding_target_count(b); i++) {
        if (b->clusters[i].item.suspended)
            return true;
    }
    return false;
}

void overlay_suspend_targets(struct overlay *overlay, const struct binding *old,
                             struct binding *fresh)
{
    uint32_t count = binding_target_count(fresh);
    struct target_cluster *targets;

    if (!fresh->propagation->suspension && !has_suspended_target(fresh))
        return;
    targets = overlay_own_memory(overlay, xcalloc(count + (size_t)1, sizeof(*targets)));
    if (count > 0)
        memcpy(targets, fresh->clusters, count * sizeof(*targets));
    targets_set_suspended(store_string_pool(overlay_context(overlay)->store),
                          fresh->propagation->suspension, targets, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct target_cluster *last =
            old && targets[i].item.suspended
                ? targets_find(old->clusters, binding_target_count(old), targets[i].name)
                : NULL;

        if (!last || !target_has_copy(last))
            continue;
        targets[i].item = last->item;
        targets[i].item.suspended = targets[i].item.applied = true;
    }
    fresh->clusters = targets;
}

void binding_set_undetermined(struct binding *b, enum undetermined_reason reason)
{
    b->undetermined = (uint8_t)(1 + reason);
}

void binding_set_template_version(struct binding *b, const struct template *t)
{
    b->resource_version = t->resource_version;
    b->uid_hash = t->uid_hash;
    b->delivered_generation = 0;
    b->write = (struct binding_write){0}; /* Unknown time: the template is not newer. */
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct target_cluster *)a)->name,
                  ((const struct target_cluster *)b)->name);
}

/* Returns a copy of targets, sorted by name; NULL without any. */
static struct target_cluster *sort_targets(const struct target_cluster *targets, uint32_t count)
{
    struct target_cluster *copy;

    if (count == 0)
        return NULL;
    copy = xreallocarray(NULL, count, sizeof(*copy));
    memcpy(copy, targets, count * sizeof(*copy));
    qsort(copy, count, sizeof(*copy), by_name);
    return copy;
}

static enum undetermined_reason undetermined_of(const struct binding *b)
{
    return b && b->undetermined ? (enum undetermined_reason)(b->undetermined - 1)
                                : UNDETERMINED_REASON_COUNT;
}

static int by_namespace_and_name(const void *a, const void *b)
{
    const struct outcome_referrer *x = a, *y = b;
    int order = strcmp(x->ns, y->ns);

    return order ? order : strcmp(x->name, y->name);
}

static void read_outcome_referrers(const struct store *store, const struct binding *b,
                                   struct outcome *out)
{
    if (binding_rare(b)->referrer_count == 0)
        return;
    out->referrers = xcalloc(binding_rare(b)->referrer_count, sizeof(*out->referrers));
    for (uint32_t i = 0; i < binding_rare(b)->referrer_count; i++) {
        struct identity id = referrer_identity(&binding_rare(b)->referrers[i]);
        const struct binding *referrer = entry_binding(store_find(store, &id));
        uint32_t count = referrer ? referrer->cluster_count : 0;

        out->referrers[out->referrer_count++] = (struct outcome_referrer){
            .ns = binding_rare(b)->referrers[i].ns,
            .name = binding_rare(b)->referrers[i].name,
            .clusters = sort_targets(count ? referrer->clusters : NULL, count),
            .cluster_count = count,
            .undetermined = undetermined_of(referrer),
        };
    }
    qsort(out->referrers, out->referrer_count, sizeof(*out->referrers), by_namespace_and_name);
}

/* Sets the targets; those for referrers have 0 replicas, because the referrer's number is another.
 */
static void read_outcome_targets(const struct binding *b, struct outcome *out)
{
    out->cluster_count = binding_target_count(b);
    if (out->cluster_count == 0)
        return;
    out->clusters = xreallocarray(NULL, out->cluster_count, sizeof(*out->clusters));
    memcpy(out->clusters, b->clusters, out->cluster_count * sizeof(*out->clusters));
    for (uint32_t i = b->cluster_count; i < out->cluster_count; i++)
        out->clusters[i].replicas = 0;
    qsort(out->clusters, out->cluster_count, sizeof(*out->clusters), by_name);
}

void outcome_read(const struct store *store, const struct entry *template, struct outcome *out)
{
    const struct template_decision *d = template_decision(template);
    const struct binding *b = d ? entry_binding(decision_binding(d)) : NULL;

    *out = (struct outcome){.undetermined = UNDETERMINED_REASON_COUNT};
    if (!d)
        return;
    out->exists = true;
    out->state = d->state;
    out->reason = d->reason;
    out->policy = decision_claimed(d) ? decision_claimed(d) : decision_governing(d);
    if (out->policy)
        store_pin(out->policy);
    out->binding = b;
    out->predicted = predict_from_decision(d, template);
    out->undetermined = undetermined_of(b);
    if (!b)
        return;
    read_outcome_targets(b, out);
    read_outcome_referrers(store, b, out);
}

const char *outcome_by_release(const struct outcome *o)
{
    return o->undetermined == UNDETERMINED_RELEASE && o->binding
               ? binding_rare(o->binding)->by_release
               : NULL;
}

void outcome_release(struct outcome *o, struct store *store)
{
    if (o->policy)
        store_unpin(store, o->policy);
    for (uint32_t i = 0; i < o->referrer_count; i++)
        free(o->referrers[i].clusters);
    free(o->referrers);
    free(o->clusters);
    *o = (struct outcome){0};
}

const struct target_cluster *outcome_find_cluster(const struct outcome *o, const char *name)
{
    return targets_find(o->clusters, o->cluster_count, name);
}

bool outcome_clusters_equal(const struct outcome *a, const struct outcome *b)
{
    return a->cluster_count == b->cluster_count && a->undetermined == b->undetermined &&
           targets_equal(a->clusters, b->clusters, a->cluster_count);
}

/* Compares names only: the copies of a dependency have no replicas of the referrer. */
static bool has_equal_clusters(const struct outcome_referrer *a, const struct outcome_referrer *b)
{
    if (a->cluster_count != b->cluster_count || a->undetermined != b->undetermined)
        return false;
    for (uint32_t i = 0; i < a->cluster_count; i++) {
        if (a->clusters[i].name != b->clusters[i].name)
            return false;
    }
    return true;
}

static const struct outcome_referrer *find_referrer(const struct outcome *o,
                                                    const struct outcome_referrer *key)
{
    return o->referrer_count > 0 ? bsearch(key, o->referrers, o->referrer_count,
                                           sizeof(*o->referrers), by_namespace_and_name)
                                 : NULL;
}

bool outcome_referrers_move(const struct outcome *a, const struct outcome *b)
{
    for (uint32_t i = 0; i < a->referrer_count; i++) {
        const struct outcome_referrer *x = &a->referrers[i], *y = find_referrer(b, x);

        if (y && !has_equal_clusters(x, y))
            return true;
    }
    return false;
}

unsigned outcome_differing_fields(const struct outcome *a, const struct outcome *b)
{
    if (!a->binding || !b->binding)
        return 0;
    return drift_fields(a->binding->propagation, NULL, b->binding->propagation, false);
}

static bool has_equal_prediction(const struct outcome *a, const struct outcome *b)
{
    if (!a->exists || !b->exists)
        return true;
    return a->predicted.outcome == b->predicted.outcome &&
           strcmp(a->predicted.reason, b->predicted.reason) == 0;
}

bool outcome_waits_for_scheduling(const struct outcome *o)
{
    return o->exists && o->binding && o->binding->has_placement &&
           o->binding->scheduling_suspended && !o->binding->deleting;
}

/* Returns true if both bindings want equal replicas, or the scheduler has placed those of `b`. */
static bool has_equal_waiting_replicas(const struct outcome *a, const struct outcome *b)
{
    return !a->binding || !b->binding || a->binding->replicas == b->binding->replicas ||
           !(outcome_waits_for_scheduling(b) || predicted_by_other_scheduler(b->predicted));
}

bool outcome_equal(const struct outcome *a, const struct outcome *b)
{
    return a->exists == b->exists && a->state == b->state && a->reason == b->reason &&
           a->policy == b->policy && outcome_clusters_equal(a, b) && has_equal_prediction(a, b) &&
           has_equal_waiting_replicas(a, b) && !outcome_referrers_move(a, b) &&
           outcome_differing_fields(a, b) == 0;
}
