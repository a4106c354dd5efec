/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/notify/event_writer.h"

#include "exporter/kube/backoff.h"
#include "metrics/base/timestamp.h"
#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/rule.h"

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

static void disputes_init(struct disputes *d, uint64_t seed)
{
    *d = (struct disputes){.map = MAP_INIT(is_at), .seed = seed};
}

static void disputes_release(struct disputes *d)
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
        .rate_limit = {.interval_ns = INTERVAL_S * INT64_C(1000) * MS_NS, .burst = BURST},
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

/*
 * Forget one that is over, if nothing depends on what is known of it: its rate is that of a new
 * one, or there are more than client-go keeps.
 */
static void disputes_tidy(struct disputes *d, struct dispute *dispute)
{
    const struct event_place place = {dispute->ns, dispute->name};
    struct dispute *last = d->items[d->count - 1];

    if (dispute->fields != 0 ||
        (d->ended <= ENDED_MAX && dispute->rate_limit.full_ns > d->now_ms * MS_NS))
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

/* The next one that is to be looked at; NULL if there is none. */
static struct dispute *disputes_next(struct disputes *d)
{
    if (d->cursor >= d->count)
        d->cursor = 0;
    return d->count > 0 ? d->items[d->cursor++] : NULL;
}

enum {
    INTERVAL_MS = 200, /* Between two Events: each takes two requests. */
    SLICE = 1000,      /* Conflicts that are looked at in a turn. */
    AGAIN_MS = 3600 * 1000,
    REST_MS = 60 * 1000, /* Before one is looked at again whose Event cannot be written. */
    SOON_MS = 1000,      /* The same where the store is about to know better. */
    EMISSION_MS_NS = 1000 * 1000,
    TEXT_MAX_BYTES = 512,
};

#define EMISSION_WORD(id, word) word,
const char *const event_writer_result_names[EMISSION_RESULT_COUNT] = {
    EMISSION_RESULTS(EMISSION_WORD)};

void event_writer_init(struct event_writer *e, const char *instance, uint64_t seed)
{
    *e = (struct event_writer){.instance = instance};
    disputes_init(&e->disputes, seed);
}

void event_writer_suspend(struct event_writer *e)
{
    fetch_free(e->fetch);
    free(e->name);
    e->fetch = NULL;
    e->at = NULL;
    e->name = NULL;
}

void event_writer_release(struct event_writer *e)
{
    event_writer_suspend(e);
    disputes_release(&e->disputes);
}

/* ---- what is to be written ---- */

static const struct entry *binding_of(const struct engine *engine, const struct dispute *d)
{
    const struct kind_def *def = kind_of_bindings(false);

    return store_find(engine_store(engine),
                      &(struct identity){def->api_version, def->name, d->ns, d->name});
}

static bool may_write(struct dispute *d, int64_t now_ms)
{
    return rate_limit_allow(&d->rate_limit, now_ms * EMISSION_MS_NS);
}

/* What is there counts one more if that has been said of an earlier conflict. */
static int64_t look_at_own(struct event_writer *e, struct dispute *d, const struct entry *own,
                           int64_t now_ms)
{
    bool counts = d->again && may_write(d, now_ms);

    if (d->said != e->fields) {
        d->said = e->fields;
        d->said_ms = now_ms;
    }
    if (d->again && !counts)
        e->results[EMISSION_DROPPED]++;
    d->again = counts;
    if (!counts)
        return INT64_MAX;
    e->step = EMISSION_READ_EVENT;
    e->name = xstrdup(own->name);
    return now_ms;
}

/* Now, with the first step and what it is about, or when to look again. */
static int64_t look(struct event_writer *e, const struct event_writer_world *world,
                    struct dispute *d, int64_t now_ms)
{
    const struct conflict_events *events = &engine_context_const(world->engine)->conflict_events;
    const struct entry *binding = d->fields ? binding_of(world->engine, d) : NULL;
    const struct entry *own;

    if (!binding || !entry_exists(binding)) {
        disputes_tidy(&e->disputes, d);
        return INT64_MAX;
    }
    d->others |= d->fields & conflict_events_by_others(events, binding);
    e->fields = d->fields & ~d->others;
    if (e->fields == 0)
        return INT64_MAX;
    if (now_ms < d->due_ms || now_ms < d->began_ms + world->patience_ms)
        return d->due_ms > d->began_ms + world->patience_ms ? d->due_ms
                                                            : d->began_ms + world->patience_ms;
    own = conflict_events_find_own(events, binding, e->fields);
    if (own)
        return look_at_own(e, d, own, now_ms);
    if (d->said == e->fields && !d->again && now_ms < d->said_ms + AGAIN_MS)
        return d->said_ms + AGAIN_MS;
    if (!may_write(d, now_ms)) {
        d->due_ms = now_ms + REST_MS;
        return d->due_ms;
    }
    e->step = EMISSION_READ_BINDING;
    return now_ms;
}

/* The next one of which something is to be written; NULL if none is found in this turn. */
static struct dispute *find(struct event_writer *e, const struct event_writer_world *world,
                            int64_t now_ms)
{
    for (unsigned i = 0; i < SLICE && e->left > 0; i++) {
        struct dispute *d = disputes_next(&e->disputes);
        int64_t when_ms;

        e->left = d ? e->left - 1 : 0;
        if (!d)
            break;
        when_ms = look(e, world, d, now_ms);
        if (when_ms <= now_ms)
            return d;
        e->soonest_ms = earlier_of(e->soonest_ms, when_ms);
    }
    return NULL;
}

/* ---- requests ---- */

static const struct {
    const char *verb;
    const char *resource;
} rights[] = {
    [EMISSION_READ_BINDING] = {"get", "resourcebindings"},
    [EMISSION_CREATE] = {"create", "events"},
    [EMISSION_READ_EVENT] = {"get", "events"},
    [EMISSION_COUNT] = {"patch", "events"},
};

static void ask(struct event_writer *e, const struct event_writer_world *world,
                enum transport_method method, const cJSON *body, int64_t now_ms)
{
    bool is_binding = e->step == EMISSION_READ_BINDING;
    char *text = body ? cJSON_PrintUnformatted(body) : NULL;

    if (body && !text)
        memory_exhausted(0);
    e->fetch = fetch_start(world->transport,
                           &(struct fetch_spec){
                               .id = {is_binding ? kind_of_bindings(false)->api_version : "v1",
                                      is_binding ? kind_of_bindings(false)->name : "Event",
                                      e->at->ns, is_binding ? e->at->name : e->name},
                               .resource = rights[e->step].resource,
                               .metadata_only = is_binding,
                               .method = method,
                               .body = text,
                               .field_manager = EVENT_COMPONENT,
                           },
                           now_ms);
    free(text);
}

static void put_text(cJSON *object, const char *key, const char *text)
{
    if (!cJSON_AddStringToObject(object, key, text))
        memory_exhausted(0);
}

/* As client-go's recorder makes it. */
static cJSON *make_event(const struct event_writer *e, const cJSON *binding, int64_t clock_ms)
{
    CLEANUP(strbuf_release) struct strbuf message = STRBUF_INIT(TEXT_MAX_BYTES);
    cJSON *event = cJSON_CreateObject();
    cJSON *metadata = cJSON_AddObjectToObject(event, "metadata");
    cJSON *about = cJSON_AddObjectToObject(event, "involvedObject");
    cJSON *source = cJSON_AddObjectToObject(event, "source");
    char now[32];

    format_timestamp(clock_ms, now);
    conflict_event_message(e->fields, &message);
    put_text(event, "apiVersion", "v1");
    put_text(event, "kind", "Event");
    put_text(metadata, "name", e->name);
    put_text(metadata, "namespace", e->at->ns);
    put_text(about, "apiVersion", kind_of_bindings(false)->api_version);
    put_text(about, "kind", kind_of_bindings(false)->name);
    put_text(about, "namespace", e->at->ns);
    put_text(about, "name", e->at->name);
    put_text(about, "uid", json_str(binding, "uid", ""));
    put_text(about, "resourceVersion", json_str(binding, "resourceVersion", ""));
    put_text(event, "type", "Warning");
    put_text(event, "reason", EVENT_CONFLICT);
    put_text(event, "message", message.data);
    put_text(source, "component", EVENT_COMPONENT);
    put_text(event, "reportingComponent", EVENT_COMPONENT);
    put_text(event, "reportingInstance", e->instance);
    put_text(event, "firstTimestamp", now);
    put_text(event, "lastTimestamp", now);
    cJSON_AddNumberToObject(event, "count", 1);
    return event;
}

/* One more, of what was read and of nothing else. */
static cJSON *make_count(const cJSON *event, int64_t clock_ms)
{
    const cJSON *metadata = json_get(event, "metadata");
    cJSON *patch = cJSON_CreateObject();
    cJSON *fresh = cJSON_AddObjectToObject(patch, "metadata");
    char now[32];

    format_timestamp(clock_ms, now);
    put_text(fresh, "uid", json_str(metadata, "uid", ""));
    put_text(fresh, "resourceVersion", json_str(metadata, "resourceVersion", ""));
    put_text(patch, "lastTimestamp", now);
    cJSON_AddNumberToObject(patch, "count", (double)(json_int(event, "count", 1) + 1));
    return patch;
}

/* ---- answers ---- */

static void finish(struct event_writer *e, enum event_writer_result result, int64_t now_ms)
{
    struct dispute *d = e->at;

    e->results[result]++;
    d->said = e->fields;
    d->said_ms = now_ms;
    d->again = false;
    event_writer_suspend(e);
}

/* The store is about to know better, or the server does not do it now. */
static void put_off(struct event_writer *e, int64_t until_ms)
{
    e->at->due_ms = until_ms;
    e->soonest_ms = earlier_of(e->soonest_ms, until_ms);
    event_writer_suspend(e);
}

static void fail_at(struct event_writer *e, const struct fetch *f, int64_t now_ms)
{
    /* Neither rights nor time will change that, but perhaps somebody who sees it. */
    bool refused = f->state == FETCH_MISSING || f->http_status == 400 || f->http_status == 422;
    int64_t wait_ms = backoff_ms(e->failures++, 0);

    e->err = f->err;
    e->results[EMISSION_FAILED]++;
    if (f->state == FETCH_FORBIDDEN) {
        e->forbidden_verb = rights[e->step].verb;
        e->forbidden_resource = rights[e->step].resource;
    }
    e->hold_ms = now_ms + (wait_ms > f->retry_after_ms ? wait_ms : f->retry_after_ms);
    put_off(e, refused ? now_ms + REST_MS : e->hold_ms);
}

/*
 * An Event was written after its conflict began, as far as the server's own times tell, which are
 * whole seconds: it counts already. Another one led then, and we see it late.
 */
static bool was_written_since(const cJSON *metadata, const struct entry *binding)
{
    const struct dependency_decision *d = binding ? dependency_decision(binding) : NULL;
    const cJSON *write;
    int64_t time_ms;

    cJSON_ArrayForEach (write, json_array(metadata, "managedFields")) {
        if (d && d->since_ms > 0 && parse_timestamp(json_str(write, "time", ""), &time_ms) &&
            time_ms >= d->since_ms)
            return true;
    }
    return false;
}

/* What is known now leads to a write. */
static void write_next(struct event_writer *e, const struct event_writer_world *world,
                       const cJSON *object, int64_t now_ms, int64_t clock_ms)
{
    const struct entry *entry = binding_of(world->engine, e->at);
    const struct binding *b = entry_binding(entry);
    const cJSON *metadata = json_get(object, "metadata");
    const char *uid = json_str(metadata, "uid", "");

    if (e->step == EMISSION_READ_EVENT && was_written_since(metadata, entry)) {
        finish(e, EMISSION_EXISTS, now_ms);
    } else if (e->step == EMISSION_READ_EVENT) {
        CLEANUP(json_cleanup) cJSON *patch = make_count(object, clock_ms);

        e->step = EMISSION_COUNT;
        ask(e, world, TRANSPORT_MERGE, patch, now_ms);
    } else if (!b || e->fields & ~e->at->fields ||
               uid_hashes_differ(b->own_uid_hash, uid_hash(uid)) ||
               *json_str(metadata, "deletionTimestamp", "")) {
        put_off(e, now_ms + SOON_MS);
    } else {
        CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(TEXT_MAX_BYTES);

        conflict_event_name(e->at->name, uid, e->fields, &name);
        e->name = xstrdup(name.data);
        CLEANUP(json_cleanup) cJSON *event = make_event(e, metadata, clock_ms);
        e->step = EMISSION_CREATE;
        ask(e, world, TRANSPORT_CREATE, event, now_ms);
    }
}

static void receive(struct event_writer *e, const struct event_writer_world *world,
                    const struct fetch *f, int64_t now_ms, int64_t clock_ms)
{
    bool reads = e->step == EMISSION_READ_BINDING || e->step == EMISSION_READ_EVENT;
    bool found = f->state == FETCH_FOUND;

    if (found) {
        e->failures = 0;
        if (e->forbidden_verb == rights[e->step].verb)
            e->forbidden_verb = NULL;
    }
    if (found && reads)
        write_next(e, world, f->object, now_ms, clock_ms);
    else if (found)
        finish(e, e->step == EMISSION_CREATE ? EMISSION_CREATED : EMISSION_UPDATED, now_ms);
    else if (f->http_status == 409 && e->step == EMISSION_CREATE)
        finish(e, EMISSION_EXISTS, now_ms);
    /* It is gone, or somebody changed it: the store tells. */
    else if (f->http_status == 409 || (f->state == FETCH_MISSING && e->step != EMISSION_CREATE))
        put_off(e, now_ms + SOON_MS);
    else
        fail_at(e, f, now_ms);
}

void event_writer_turn(struct event_writer *e, const struct event_writer_world *world,
                       int64_t now_ms, int64_t clock_ms)
{
    disputes_set(&e->disputes, now_ms, world->leads);
    if (!world->leads) {
        event_writer_suspend(e);
        /* Whoever comes to lead looks at all of them. */
        e->left = 0;
        e->soonest_ms = 0;
        return;
    }
    if (e->fetch)
        fetch_turn(e->fetch, now_ms);
    if (e->fetch && e->fetch->state != FETCH_OPEN) {
        struct fetch *ended = e->fetch;

        e->fetch = NULL;
        receive(e, world, ended, now_ms, clock_ms);
        fetch_free(ended);
    }
    if (e->disputes.changed || (e->left == 0 && now_ms >= e->soonest_ms)) {
        e->disputes.changed = false;
        e->left = e->disputes.count;
        e->soonest_ms = INT64_MAX;
    }
    if (e->fetch || now_ms < e->hold_ms)
        return;
    e->at = find(e, world, now_ms);
    e->hold_ms = now_ms + INTERVAL_MS;
    if (e->at)
        ask(e, world, TRANSPORT_READ, NULL, now_ms);
}

int64_t event_writer_due(const struct event_writer *e)
{
    if (e->fetch)
        return fetch_due(e->fetch);
    if (!e->disputes.leads)
        return INT64_MAX;
    return e->left > 0 || e->soonest_ms < e->hold_ms ? e->hold_ms : e->soonest_ms;
}
