/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/world.h"

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

struct world {
    struct engine *engine;
    struct engine_observer engine_observer; /* Of the engine before. */
    struct world_observer observer;
    int64_t now_ms;
    unsigned assumptions;

    struct step *steps;
    size_t step_count;
    size_t step_capacity;
    struct owned *owned;
    size_t owned_count;
    size_t owned_capacity;
    const char **texts;
    size_t text_count;
    size_t text_capacity;
    struct event *events;
    size_t first_event;
    size_t event_count;
    size_t event_capacity;
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
    const struct world *w = context;

    if (w->observer.touched)
        w->observer.touched(w->observer.context, entry);
}

struct world *world_new(struct engine *e, int64_t now_ms)
{
    struct world *w = xcalloc(1, sizeof(*w));

    w->engine = e;
    w->now_ms = now_ms;
    w->engine_observer =
        engine_observe(e, (struct engine_observer){.deciding = touch, .context = w});
    world_context(w)->seen.paused = true;
    return w;
}

void world_free(struct world *w)
{
    struct intern *strings;

    if (!w)
        return;
    strings = store_strings(world_context(w)->store);
    w->observer = (struct world_observer){0};
    world_rollback(w, 0);
    world_evaluate(w);
    engine_observe(w->engine, w->engine_observer);
    world_context(w)->seen.paused = false;
    for (size_t i = 0; i < w->owned_count; i++) {
        if (w->owned[i].def)
            w->owned[i].def->release(strings, w->owned[i].object);
        else
            free(w->owned[i].object);
    }
    for (size_t i = 0; i < w->text_count; i++)
        intern_drop(strings, w->texts[i]);
    free(w->steps);
    free(w->owned);
    free(w->texts);
    free(w->events);
    free(w);
}

struct rule_context *world_context(const struct world *w)
{
    return engine_context(w->engine);
}

bool world_gate(const struct world *w, enum gate gate)
{
    return gate_is_on(world_context(w)->gates, gate);
}

void world_assume(struct world *w, enum assumption assumption)
{
    w->assumptions |= 1u << assumption;
}

unsigned world_take_assumptions(struct world *w)
{
    unsigned assumptions = w->assumptions;

    w->assumptions = 0;
    return assumptions;
}

void world_replace(struct world *w, struct entry *entry, void *object)
{
    touch(w, entry);
    store_pin(entry);
    w->steps = grown(w->steps, w->step_count, &w->step_capacity, sizeof(*w->steps));
    w->steps[w->step_count++] =
        (struct step){entry, store_exchange(world_context(w)->store, entry, object)};
}

static void *keep(struct world *w, const struct kind_def *def, void *object)
{
    w->owned = grown(w->owned, w->owned_count, &w->owned_capacity, sizeof(*w->owned));
    w->owned[w->owned_count++] = (struct owned){def, object};
    return object;
}

void *world_keep(struct world *w, void *memory)
{
    return keep(w, NULL, memory);
}

void *world_own(struct world *w, const struct kind_def *def, void *object)
{
    return keep(w, def, object);
}

const char *world_text(struct world *w, const char *text)
{
    const char *shared = intern_add(store_strings(world_context(w)->store), text);

    w->texts = grown(w->texts, w->text_count, &w->text_capacity, sizeof(*w->texts));
    return w->texts[w->text_count++] = shared;
}

void world_evaluate(struct world *w)
{
    while (!engine_run(w->engine, w->now_ms, SIZE_MAX))
        continue;
}

size_t world_mark(const struct world *w)
{
    assert(w->first_event == w->event_count);
    return w->step_count;
}

/* What the steps have put in is owned elsewhere: nothing is released here. */
void world_rollback(struct world *w, size_t mark)
{
    struct store *store = world_context(w)->store;

    while (w->step_count > mark) {
        struct step step = w->steps[--w->step_count];
        const void *played = store_exchange(store, step.entry, step.old);

        (void)played;
        store_unpin(store, step.entry);
    }
}

void world_observe(struct world *w, struct world_observer observer)
{
    w->observer = observer;
}

void world_enqueue(struct world *w, struct event event)
{
    if (w->first_event == w->event_count)
        w->first_event = w->event_count = 0;
    w->events = grown(w->events, w->event_count, &w->event_capacity, sizeof(*w->events));
    w->events[w->event_count++] = event;
}

bool world_next(struct world *w, struct event *out)
{
    if (w->first_event == w->event_count)
        return false;
    *out = w->events[w->first_event++];
    return true;
}

struct entry_list world_readers(const struct entry *entry, enum object_class class)
{
    struct entry_list list = {0};

    for (uint32_t i = 0; i < entry->reader_count; i++) {
        if (entry_class(entry->readers[i]) == class)
            entry_list_add(&list, entry->readers[i]);
    }
    return list;
}
