/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/overlay.h"

#include "metrics/model/store.h"
#include "metrics/rules/drift.h"
#include "metrics/rules/object_index.h"

#define ASSUMPTION_TEXT(id, text) text,
const char *const assumption_texts[ASSUMPTION_COUNT] = {ASSUMPTIONS(ASSUMPTION_TEXT)};

/* A change to take back. */
struct step {
    struct entry *entry;
    void *old;
};

struct owned {
    const struct kind_def *def; /* NULL: plain memory. */
    void *object;
};

struct play {
    struct engine *engine;
    struct engine_observer engine_observer; /* Of the engine before. */
    struct play_observer observer;
    struct play_limit limit;
    bool cut;
    struct entry_list unsettled;
    unsigned assumptions;
    const struct resolved_placement *placement; /* The last one; NULL for none yet. */

    struct step *steps;
    size_t step_count;
    size_t step_capacity;
    struct owned *owned;
    size_t owned_count;
    size_t owned_capacity;
    const char **texts;
    size_t text_count;
    size_t text_capacity;
    struct queue_item *queue;
    size_t queue_first;
    size_t queue_end;
    size_t queue_capacity;
};

/* The array with room for one element more. */
static void *grown(void *array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return array;
    *capacity = *capacity ? 2 * *capacity : 16;
    return xreallocarray(array, *capacity, size);
}

static void touch(void *context, struct entry *entry)
{
    const struct play *play = context;

    if (play->observer.touched)
        play->observer.touched(play->observer.context, entry);
}

struct play *play_new(struct engine *e)
{
    struct play *play = xcalloc(1, sizeof(*play));

    play->engine = e;
    play->engine_observer =
        engine_observe(e, (struct engine_observer){.deciding = touch, .context = play});
    play_context(play)->seen.paused = play_context(play)->policy_versions.paused = true;
    return play;
}

void play_free(struct play *play)
{
    struct intern *strings;

    if (!play)
        return;
    strings = store_strings(play_context(play)->store);
    play->observer = (struct play_observer){0};
    play_rollback(play, 0);
    play_evaluate(play);
    engine_observe(play->engine, play->engine_observer);
    placements_drop(play_context(play)->placements, play->placement);
    play_context(play)->seen.paused = play_context(play)->policy_versions.paused = false;
    for (size_t i = 0; i < play->owned_count; i++) {
        if (play->owned[i].def)
            play->owned[i].def->release(strings, play->owned[i].object);
        else
            free(play->owned[i].object);
    }
    for (size_t i = 0; i < play->text_count; i++)
        intern_drop(strings, play->texts[i]);
    free(play->steps);
    free(play->owned);
    free(play->texts);
    free(play->queue);
    entry_list_release(&play->unsettled);
    free(play);
}

void play_set_limit(struct play *play, struct play_limit limit)
{
    play->limit = limit;
}

bool play_is_cut(struct play *play)
{
    play->cut = play->cut || (play->limit.reached && play->limit.reached(play->limit.context));
    return play->cut;
}

struct rule_context *play_context(const struct play *play)
{
    return engine_context(play->engine);
}

bool play_gate(const struct play *play, enum gate gate)
{
    return gate_is_on(play_context(play)->gates, gate);
}

void play_assume(struct play *play, enum assumption assumption)
{
    play->assumptions |= 1u << assumption;
}

unsigned play_take_assumptions(struct play *play)
{
    unsigned assumptions = play->assumptions;

    play->assumptions = 0;
    return assumptions;
}

void play_replace(struct play *play, struct entry *entry, void *object)
{
    touch(play, entry);
    store_pin(entry);
    play->steps = grown(play->steps, play->step_count, &play->step_capacity, sizeof(*play->steps));
    play->steps[play->step_count++] =
        (struct step){entry, store_exchange(play_context(play)->store, entry, object)};
}

static void *keep(struct play *play, const struct kind_def *def, void *object)
{
    play->owned =
        grown(play->owned, play->owned_count, &play->owned_capacity, sizeof(*play->owned));
    play->owned[play->owned_count++] = (struct owned){def, object};
    return object;
}

void *play_keep(struct play *play, void *memory)
{
    return keep(play, NULL, memory);
}

void *play_own(struct play *play, const struct kind_def *def, void *object)
{
    return keep(play, def, object);
}

const char *play_text(struct play *play, const char *text)
{
    const char *shared = intern_add(store_strings(play_context(play)->store), text);

    play->texts = grown(play->texts, play->text_count, &play->text_capacity, sizeof(*play->texts));
    return play->texts[play->text_count++] = shared;
}

const struct resolved_placement *play_placement(struct play *play, const char *text)
{
    struct placements *placements = play_context(play)->placements;
    const struct resolved_placement *last = play->placement;

    play->placement = placements_ref(placements, text);
    placements_drop(placements, last);
    return play->placement;
}

void play_evaluate(struct play *play)
{
    while (!engine_run(play->engine, engine_now_ms(play->engine), SIZE_MAX))
        continue;
}

size_t play_mark(const struct play *play)
{
    assert(play->queue_first == play->queue_end);
    return play->step_count;
}

/* What the steps have put in is owned elsewhere: nothing is released here. */
void play_rollback(struct play *play, size_t mark)
{
    struct store *store = play_context(play)->store;

    while (play->step_count > mark) {
        struct step step = play->steps[--play->step_count];
        const void *played = store_exchange(store, step.entry, step.old);

        (void)played;
        store_unpin(store, step.entry);
    }
}

void play_observe(struct play *play, struct play_observer observer)
{
    play->observer = observer;
}

void play_enqueue(struct play *play, struct queue_item item)
{
    if (play->queue_first == play->queue_end)
        play->queue_first = play->queue_end = 0;
    play->queue = grown(play->queue, play->queue_end, &play->queue_capacity, sizeof(*play->queue));
    play->queue[play->queue_end++] = item;
}

bool play_next(struct play *play, struct queue_item *out)
{
    if (play->queue_first == play->queue_end)
        return false;
    *out = play->queue[play->queue_first++];
    return true;
}

void play_note_unsettled(struct play *play, struct entry *template)
{
    struct entry_list *list = &play->unsettled;
    size_t place = entry_place(list->items, list->count, template);

    if (place < list->count && list->items[place] == template)
        return;
    entry_list_add(list, template);
    memmove(&list->items[place + 1], &list->items[place],
            (list->count - 1 - place) * sizeof(struct entry *));
    list->items[place] = template;
}

const struct entry_list *play_unsettled(const struct play *play)
{
    return &play->unsettled;
}

struct entry_list play_readers(const struct entry *entry, enum object_class class)
{
    struct entry_list list = {0};

    for (uint32_t i = 0; i < entry->reader_count; i++) {
        if (entry_class(entry->readers[i]) == class)
            entry_list_add(&list, entry->readers[i]);
    }
    return list;
}

struct entry *bindings_entry(struct play *play, const struct entry *template)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(BINDING_NAME_MAX);
    const struct identity of = {NULL, entry_kind(template), entry_ns(template), template->name};
    const struct identity id = binding_identity(&of, &name);

    return store_refer(play_context(play)->store, &id);
}

bool bindings_is_of(const struct binding *b, const struct entry *template)
{
    const struct type *type = template->partition->type;

    return b->api_version == type->api_version && b->kind == type->kind &&
           b->ns == entry_ns(template) && strcmp(b->name, template->name) == 0 &&
           !uid_hashes_differ(b->uid_hash, entry_template(template)->uid_hash);
}

struct binding *bindings_copy(struct play *play, const struct binding *old)
{
    struct binding *copy = play_keep(play, xmalloc(sizeof(*copy)));

    *copy = *old;
    return copy;
}

struct binding *bindings_make(struct play *play, const struct entry *template)
{
    const struct type *type = template->partition->type;

    return bindings_copy(play, &(struct binding){
                                   .api_version = type->api_version,
                                   .kind = type->kind,
                                   .ns = entry_ns(template),
                                   .name = template->name,
                                   .uid_hash = entry_template(template)->uid_hash,
                               });
}

void bindings_set_undetermined(struct binding *b, enum undetermined_reason reason)
{
    b->undetermined = (uint8_t)(1 + reason);
}

void bindings_follow(struct binding *b, const struct template *t)
{
    b->resource_version = t->resource_version;
    b->uid_hash = t->uid_hash;
    b->delivered_generation = 0;
    b->write = (struct binding_write){0}; /* Whatever it was, this one comes after the template. */
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct target_cluster *)a)->name,
                  ((const struct target_cluster *)b)->name);
}

void outcome_read(const struct entry *template, struct outcome *out)
{
    const struct template_decision *d = template_decision(template);
    const struct binding *b = d ? entry_binding(d->binding) : NULL;

    *out = (struct outcome){.undetermined = UNDETERMINED_REASON_COUNT};
    if (!d)
        return;
    out->exists = true;
    out->state = d->state;
    out->reason = d->reason;
    out->policy = d->claimed ? d->claimed : d->governing;
    if (out->policy)
        store_pin(out->policy);
    out->binding = b;
    if (b && b->undetermined)
        out->undetermined = (enum undetermined_reason)(b->undetermined - 1);
    if (!b || b->cluster_count == 0)
        return;
    out->cluster_count = b->cluster_count;
    out->clusters = xreallocarray(NULL, b->cluster_count, sizeof(*out->clusters));
    memcpy(out->clusters, b->clusters, b->cluster_count * sizeof(*out->clusters));
    qsort(out->clusters, out->cluster_count, sizeof(*out->clusters), by_name);
}

void outcome_release(struct outcome *o, struct store *store)
{
    if (o->policy)
        store_unpin(store, o->policy);
    free(o->clusters);
    *o = (struct outcome){0};
}

bool outcome_same_clusters(const struct outcome *a, const struct outcome *b)
{
    if (a->cluster_count != b->cluster_count || a->undetermined != b->undetermined)
        return false;
    for (uint32_t i = 0; i < a->cluster_count; i++) {
        if (a->clusters[i].name != b->clusters[i].name ||
            a->clusters[i].replicas != b->clusters[i].replicas)
            return false;
    }
    return true;
}

unsigned outcome_fields(const struct outcome *a, const struct outcome *b)
{
    if (!a->binding || !b->binding)
        return 0;
    return drift_fields(&a->binding->propagation, NULL, &b->binding->propagation, false);
}

bool outcome_equal(const struct outcome *a, const struct outcome *b)
{
    return a->exists == b->exists && a->state == b->state && a->reason == b->reason &&
           a->policy == b->policy && outcome_same_clusters(a, b) && outcome_fields(a, b) == 0;
}
