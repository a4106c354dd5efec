/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/timestamp.h"
#include "metrics/expose/exposition.h"
#include "metrics/expose/family.h"
#include "tests/fuzz/must.h"
#include "tests/unit/page.h"
#include "tests/unit/random_object.h"

/*
 * After any sequence of changes, evaluations and scrapes, the page without history equals that of a
 * fresh engine with the remaining objects. Several sources add, change, malform, remove and relist
 * objects. The bytes of the input make every choice.
 */

enum { STEPS_MAX = 256, OBJECTS_MAX = 256, SOURCES = 4, MINUTE_MS = 60 * 1000 };

#define RULES(takeover_rule, grace, namespaces, apis)                                              \
    {                                                                                              \
        .takeover = (takeover_rule), .grace_ms = (grace), .skipped_namespaces = (namespaces),      \
        .skipped_apis = (apis)                                                                     \
    }

static const struct variant {
    struct rules_options rules;
    struct registry_options series;
} variants[] = {
    {RULES(TAKEOVER_PREEMPTION, MINUTE_MS, "kube-.*", ""),
     {.detail_limit = 1000, .policy_limit = 1000}},
    {RULES(TAKEOVER_STATIC, 0, "", "v1/Secret"),
     {.detail_limit = 1000, .policy_limit = 1000, .opt_in = true}},
    {RULES(TAKEOVER_PREEMPTION, 0, "", ""), {.detail_limit = 2, .policy_limit = 2}},
    {RULES(TAKEOVER_PREEMPTION, 0, "", ""), {.detail_limit = 0, .policy_limit = 0, .opt_in = true}},
};

/* Object that the store must have, as the store last accepted it. */
struct held {
    cJSON *json;
    bool seen; /* Seen in the current list, or of another source. */
};

struct history {
    struct world w;
    struct registry *registry;
    struct held held[OBJECTS_MAX];
    size_t count;
    uint32_t sweeps[SOURCES];
    int64_t now_ms;
};

static struct entry *find_entry(const struct world *w, const cJSON *json)
{
    struct identity id;
    struct error err;

    return identity_read(json, &id, &err) ? store_find(w->store, &id) : NULL;
}

static struct held *find_held(struct history *h, const cJSON *json)
{
    const struct entry *entry = find_entry(&h->w, json);

    for (size_t i = 0; i < h->count && entry; i++) {
        if (find_entry(&h->w, h->held[i].json) == entry)
            return &h->held[i];
    }
    return NULL;
}

static void drop_held(struct history *h, struct held *held)
{
    cJSON_Delete(held->json);
    *held = h->held[--h->count];
}

/* ---- malformed objects ---- */

static size_t count_nodes(const cJSON *tree)
{
    const cJSON *item;
    size_t count = 1;

    cJSON_ArrayForEach (item, tree)
        count += count_nodes(item);
    return count;
}

/*
 * Returns the item at index *place below `parent` in depth-first order, and sets its parent.
 * Decrements *place by each item before it. Returns NULL if there are fewer items.
 */
static cJSON *find_node(cJSON *parent, size_t *place, cJSON **out_parent)
{
    cJSON *item, *found = NULL;

    cJSON_ArrayForEach (item, parent) {
        if ((*place)-- == 0) {
            *out_parent = parent;
            return item;
        }
        found = find_node(item, place, out_parent);
        if (found)
            return found;
    }
    return NULL;
}

static cJSON *draw_odd_value(struct world *w)
{
    static const char *const values[] = {
        "null",
        "true",
        "[]",
        "{}",
        "\"\"",
        "\"app\"",
        "\"web\"",
        "\"default\"",
        "0",
        "-1",
        "3",
        "4294967296",
        "1.5",
        "1e300",
        "[null]",
        "[{}]",
        "\"1\"",
        "\"*\"",
        "[[]]",
        "\"a-b.c/d_e\"",
        "\"100m\"",
        "\"1e3\"",
        "[\"\"]",
        "\"2026-01-01T00:00:45Z\"",
        "\"2026-13-01T00:00:00Z\"",
    };

    return cJSON_Parse(values[world_random(w, (uint32_t)ARRAY_LEN(values))]);
}

/* Removes an item of the object, replaces it by an unusual value, or rarely changes nothing. */
static void malform(struct world *w, cJSON *object)
{
    size_t place = world_random(w, (uint32_t)count_nodes(object));
    cJSON *parent = NULL;
    cJSON *item = find_node(object, &place, &parent);

    if (!item)
        return;
    if (world_random(w, 2) == 0)
        cJSON_Delete(cJSON_DetachItemViaPointer(parent, item));
    else if (cJSON_IsObject(parent))
        MUST(cJSON_ReplaceItemInObjectCaseSensitive(parent, item->string, draw_odd_value(w)));
    else
        MUST(cJSON_ReplaceItemViaPointer(parent, item, draw_odd_value(w)));
}

/* ---- changes ---- */

static struct origin draw_origin(struct history *h, const cJSON *json)
{
    uint32_t source = (uint32_t)strlen(json_str(json, "kind", "")) % SOURCES;

    /* Sometimes another source has the same object. */
    if (world_random(&h->w, 8) == 0)
        source = world_random(&h->w, SOURCES);
    return (struct origin){1 + source, h->sweeps[source]};
}

/* Puts the object into the store, and notes it as held unless rejected. Takes ownership. */
static void put_object(struct history *h, cJSON *json, struct origin origin)
{
    struct error err = {""};
    enum store_outcome outcome = store_put(h->w.store, json, origin, &err);
    struct held *held = find_held(h, json);

    MUST((outcome == STORE_ADDED) == (outcome != STORE_REJECTED && !held));
    MUST(outcome != STORE_REJECTED || *err.text);
    if (outcome != STORE_REJECTED && !held) {
        held = &h->held[h->count++];
        held->json = NULL;
    }
    if (held)
        held->seen = true;
    if (outcome == STORE_REJECTED) {
        cJSON_Delete(json);
        return;
    }
    cJSON_Delete(held->json);
    held->json = json;
}

static void put_random(struct history *h)
{
    cJSON *json = random_object(&h->w);

    for (uint32_t count = world_random(&h->w, 8); count > 5; count--)
        malform(&h->w, json);
    put_object(h, json, draw_origin(h, json));
}

static struct held *pick_held(struct history *h)
{
    return h->count > 0 ? &h->held[world_random(&h->w, (uint32_t)h->count)] : NULL;
}

static void change_one(struct history *h)
{
    struct held *held = pick_held(h);

    if (!held)
        return;
    cJSON *json = cJSON_Duplicate(held->json, true);
    malform(&h->w, json);
    put_object(h, json, draw_origin(h, json));
}

static void remove_one(struct history *h)
{
    struct held *held = pick_held(h);

    if (!held)
        return;
    store_remove(h->w.store, find_entry(&h->w, held->json));
    drop_held(h, held);
}

/* Lists the object again: unchanged, only marked as seen, malformed, or not at all. */
static void relist_object(struct history *h, const cJSON *before, struct origin origin)
{
    uint32_t choice = world_random(&h->w, 4);

    if (choice == 0)
        put_object(h, cJSON_Duplicate(before, true), origin);
    if (choice == 1) {
        entry_mark_seen(find_entry(&h->w, before), origin);
        find_held(h, before)->seen = true;
    }
    if (choice == 2) {
        cJSON *json = cJSON_Duplicate(before, true);

        malform(&h->w, json);
        put_object(h, json, origin);
    }
}

static void relist_source(struct history *h)
{
    uint32_t source = world_random(&h->w, SOURCES);
    struct origin origin = {1 + source, ++h->sweeps[source]};
    size_t gone = 0;

    for (size_t i = 0; i < h->count; i++)
        h->held[i].seen = !entry_is_from_source(find_entry(&h->w, h->held[i].json), origin.source);
    for (size_t i = h->count; i > 0; i--) {
        if (!h->held[i - 1].seen && h->count < OBJECTS_MAX)
            relist_object(h, h->held[i - 1].json, origin);
    }
    for (size_t i = h->count; i > 0; i--) {
        if (h->held[i - 1].seen)
            continue;
        drop_held(h, &h->held[i - 1]);
        gone++;
    }
    MUST(store_sweep(h->w.store, origin) == gone);
}

static void take_step(struct history *h)
{
    uint32_t roll = world_random(&h->w, 16);

    if (roll < 8)
        put_random(h);
    else if (roll < 11)
        change_one(h);
    else if (roll < 13)
        remove_one(h);
    else if (roll < 14)
        relist_source(h);
    h->now_ms += world_random(&h->w, 8) == 0 ? MINUTE_MS : 250;
    if (world_random(&h->w, 3) == 0)
        engine_run(h->w.engine, h->now_ms, world_random(&h->w, 20));
    if (world_random(&h->w, 16) == 0)
        registry_prepare(h->registry);
}

/* ---- the comparison ---- */

/* Returns true for a line of a family that counts past events, which a fresh engine lacks. */
static bool is_history(const char *line)
{
    for (size_t i = 0; i < family_count(); i++) {
        const struct family_def *f = family_at(i);

        if (family_remembers(f) && strncmp(line, f->name, strlen(f->name)) == 0)
            return true;
    }
    return false;
}

static const char *skip_history(const char *page)
{
    while (is_history(page))
        page = strchr(page, '\n') + 1;
    return page;
}

static void compare_pages(const char *page, const char *fresh)
{
    while (*page || *fresh) {
        page = skip_history(page);
        fresh = skip_history(fresh);
        size_t len = strcspn(page, "\n");

        if (strncmp(page, fresh, len + 1) != 0) {
            fprintf(stderr, "the page has '%.*s', a fresh one '%.*s'\n", (int)len, page,
                    (int)strcspn(fresh, "\n"), fresh);
            abort();
        }
        page += len + (page[len] == '\n');
        fresh += len + (fresh[len] == '\n');
    }
}

/* Returns the page of a fresh engine with the same objects, put in another order. */
static char *build_fresh_page(const struct history *h, const struct variant *v)
{
    struct world w;
    struct registry *r;

    world_init(&w, &v->rules, 99);
    r = page_registry(&w, &v->series);
    for (size_t i = h->count; i > 0; i--)
        world_put(&w, h->held[i - 1].json);
    world_inherit(&w, &h->w);
    world_run(&w, h->now_ms);
    char *page = page_of(r);
    registry_free(r);
    world_release(&w);
    return page;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct history *h;

    if (size < 2)
        return 0;
    h = xcalloc(1, sizeof(*h));
    const struct variant *v = &variants[data[0] % ARRAY_LEN(variants)];

    MUST(parse_timestamp("2026-01-01T00:00:00Z", &h->now_ms));
    world_init(&h->w, &v->rules, 1);
    h->registry = page_registry(&h->w, &v->series);
    h->w.choices = data + 1;
    h->w.choices_left = size - 1;
    for (size_t i = 0; i < STEPS_MAX && h->w.choices_left > 0 && h->count < OBJECTS_MAX; i++)
        take_step(h);
    world_run(&h->w, h->now_ms);

    CLEANUP(free_cleanup) char *page = page_of(h->registry);
    CLEANUP(free_cleanup) char *fresh = build_fresh_page(h, v);
    compare_pages(page, fresh);
    for (size_t i = 0; i < h->count; i++)
        cJSON_Delete(h->held[i].json);
    registry_free(h->registry);
    world_release(&h->w);
    free(h);
    return 0;
}
