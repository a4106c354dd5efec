/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/notify/dispute.h"

#include "metrics/model/store.h"
#include "metrics/rules/decision.h"

enum {
    /* As client-go: 25 about an object at once, then one each 300 s, for so many objects. */
    BURST = 25,
    INTERVAL_S = 300,
    ENDED_MAX = 4096,
    MS_NS = 1000 * 1000,
};

struct event_place {
    const char *ns;
    const char *name;
};

static bool is_at(const void *item, const void *key)
{
    const struct dispute *dispute = item;
    const struct event_place *place = key;

    return strcmp(dispute->name, place->name) == 0 && strcmp(dispute->ns, place->ns) == 0;
}

static uint64_t hash_of(const struct disputes *d, const struct event_place *place)
{
    return map_hash(place->name, strlen(place->name),
                    map_hash(place->ns, strlen(place->ns), d->seed));
}

void disputes_init(struct disputes *d, uint64_t seed)
{
    *d = (struct disputes){.map = MAP_INIT(is_at), .seed = seed};
}

void disputes_release(struct disputes *d)
{
    for (size_t i = 0; i < d->count; i++)
        free(d->items[i]);
    free(d->items);
    map_release(&d->map);
    disputes_init(d, d->seed);
}

void disputes_set(struct disputes *d, int64_t now_ms, bool leads)
{
    d->now_ms = now_ms;
    d->leads = leads;
}

static struct dispute *add(struct disputes *d, const struct event_place *place)
{
    size_t ns_size = strlen(place->ns) + 1, name_size = strlen(place->name) + 1;
    struct dispute *dispute = xcalloc(1, sizeof(*dispute) + ns_size + name_size);
    char *texts = (char *)(dispute + 1);

    *dispute = (struct dispute){
        .ns = memcpy(texts, place->ns, ns_size),
        .name = memcpy(texts + ns_size, place->name, name_size),
        .rate = {.interval_ns = INTERVAL_S * INT64_C(1000) * MS_NS, .burst = BURST},
        .position = d->count,
    };
    if (d->count == d->capacity) {
        d->capacity = d->capacity ? 2 * d->capacity : 16;
        d->items = xreallocarray(d->items, d->capacity, sizeof(struct dispute *));
    }
    d->items[d->count++] = dispute;
    d->ended++;
    map_add(&d->map, hash_of(d, place), dispute);
    return dispute;
}

void disputes_tidy(struct disputes *d, struct dispute *dispute)
{
    const struct event_place place = {dispute->ns, dispute->name};
    struct dispute *last = d->items[d->count - 1];

    if (dispute->fields != 0 ||
        (d->ended <= ENDED_MAX && dispute->rate.full_ns > d->now_ms * MS_NS))
        return;
    d->count--;
    d->items[dispute->position] = last;
    last->position = dispute->position;
    /* Whoever has come there looks at it now. */
    if (d->cursor > dispute->position)
        d->cursor = dispute->position;
    d->ended--;
    map_take(&d->map, hash_of(d, &place), &place);
    free(dispute);
}

static void note(struct disputes *d, struct dispute *dispute, unsigned fields)
{
    if (fields == dispute->fields)
        return;
    d->ended += (fields == 0) - (size_t)(dispute->fields == 0);
    dispute->fields = fields;
    dispute->others &= fields;
    dispute->began_ms = d->now_ms;
    dispute->due_ms = d->now_ms;
    dispute->again = d->leads;
    d->changed = true;
}

void disputes_decided(void *disputes, struct entry *entry)
{
    struct disputes *d = disputes;

    /* Whether others have said it may be known now. */
    d->changed |= entry_class(entry) == CLASS_EVENT;
    if (entry_class(entry) != CLASS_BINDING || !*entry_ns(entry))
        return;

    const struct event_place place = {entry_ns(entry), entry->name};
    struct dispute *dispute = map_get(&d->map, hash_of(d, &place), &place);
    const struct dependency_decision *decision =
        entry_exists(entry) ? dependency_decision(entry) : NULL;
    /* What Karmada would say: by bindings that there are. */
    unsigned fields = decision && !decision->derived ? dependency_conflicts(decision) : 0;

    if (!dispute && fields == 0)
        return;
    if (!dispute)
        dispute = add(d, &place);
    dispute->seen = true;
    note(d, dispute, fields);
}

void disputes_adopt(struct disputes *d, struct store *store)
{
    struct store_walk walk = store_walk_begin(store, 1U << CLASS_BINDING);
    struct entry *entry;

    for (size_t i = 0; i < d->count; i++)
        d->items[i]->seen = false;
    while ((entry = store_walk_next(&walk)) != NULL)
        disputes_decided(d, entry);
    for (size_t i = 0; i < d->count; i++) {
        if (!d->items[i]->seen)
            note(d, d->items[i], 0);
    }
    d->changed = true;
}

struct dispute *disputes_next(struct disputes *d)
{
    if (d->cursor >= d->count)
        d->cursor = 0;
    return d->count > 0 ? d->items[d->cursor++] : NULL;
}
