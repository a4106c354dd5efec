/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/notify/event_writer.h"

#include "exporter/kube/backoff.h"
#include "metrics/base/timestamp.h"
#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/rule.h"

/* ---- conflicts ---- */

enum {
    /* client-go's rate limit of an object, and its maximum number of objects with a limit. */
    BURST = 25,
    TOKEN_INTERVAL_S = 300,
    ENDED_MAX = 4096,
    MS_NS = 1000 * 1000,
};

struct binding_name {
    const char *ns;
    const char *name;
};

static bool is_about_binding(const void *item, const void *key)
{
    const struct tracked_conflict *c = item;
    const struct binding_name *name = key;

    return strcmp(c->name, name->name) == 0 && strcmp(c->ns, name->ns) == 0;
}

static uint64_t hash_name(const struct conflict_tracker *t, const struct binding_name *name)
{
    return map_hash(name->name, strlen(name->name), map_hash(name->ns, strlen(name->ns), t->seed));
}

static void conflict_tracker_init(struct conflict_tracker *t, uint64_t seed)
{
    *t = (struct conflict_tracker){.map = MAP_INIT(is_about_binding), .seed = seed};
}

static void conflict_tracker_release(struct conflict_tracker *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->items[i]);
    free(t->items);
    map_release(&t->map);
    conflict_tracker_init(t, t->seed);
}

void conflict_tracker_set_role(struct conflict_tracker *t, int64_t now_ms, bool leads)
{
    t->now_ms = now_ms;
    t->leads = leads;
}

static struct tracked_conflict *add_conflict(struct conflict_tracker *t,
                                             const struct binding_name *name)
{
    size_t ns_size = strlen(name->ns) + 1, name_size = strlen(name->name) + 1;
    struct tracked_conflict *c = xcalloc(1, sizeof(*c) + ns_size + name_size);
    char *texts = (char *)(c + 1);

    *c = (struct tracked_conflict){
        .ns = memcpy(texts, name->ns, ns_size),
        .name = memcpy(texts + ns_size, name->name, name_size),
        .rate_limit = {.interval_ns = TOKEN_INTERVAL_S * INT64_C(1000) * MS_NS, .burst = BURST},
        .position = t->count,
    };
    if (t->count == t->capacity) {
        t->capacity = t->capacity ? 2 * t->capacity : 16;
        t->items = xreallocarray(t->items, t->capacity, sizeof(struct tracked_conflict *));
    }
    t->items[t->count++] = c;
    t->ended++;
    map_add(&t->map, hash_name(t, name), c);
    return c;
}

/* Frees the conflict if it is over, and its rate limit is unused or ENDED_MAX is exceeded. */
static void forget_ended_conflict(struct conflict_tracker *t, struct tracked_conflict *c)
{
    const struct binding_name name = {c->ns, c->name};
    struct tracked_conflict *last = t->items[t->count - 1];

    if (c->fields != 0 || (t->ended <= ENDED_MAX && c->rate_limit.full_ns > t->now_ms * MS_NS))
        return;
    t->count--;
    t->items[c->position] = last;
    last->position = c->position;
    /* The item moved to this position may not have been checked in the present round. */
    if (t->cursor > c->position)
        t->cursor = c->position;
    t->ended--;
    map_take(&t->map, hash_name(t, &name), &name);
    free(c);
}

static void set_fields(struct conflict_tracker *t, struct tracked_conflict *c, unsigned fields)
{
    if (fields == c->fields)
        return;
    t->ended += (fields == 0) - (size_t)(c->fields == 0);
    c->fields = fields;
    c->reported &= fields;
    c->began_ms = t->now_ms;
    c->due_ms = t->now_ms;
    c->pending = t->leads;
    t->changed = true;
}

void conflict_tracker_update_entry(void *tracker, struct entry *entry)
{
    struct conflict_tracker *t = tracker;

    /* The Event may report a conflict. */
    t->changed |= entry_class(entry) == CLASS_EVENT;
    if (entry_class(entry) != CLASS_BINDING || !*entry_ns(entry))
        return;

    const struct binding_name name = {entry_ns(entry), entry->name};
    struct tracked_conflict *c = map_get(&t->map, hash_name(t, &name), &name);
    const struct dependency_decision *decision =
        entry_exists(entry) ? dependency_decision(entry) : NULL;
    /* Karmada compares bindings, and a derived referrer (dependency.h) has no binding yet. */
    unsigned fields = decision && !decision->derived ? dependency_conflicts(decision) : 0;

    if (!c && fields == 0)
        return;
    if (!c)
        c = add_conflict(t, &name);
    c->in_store = true;
    set_fields(t, c, fields);
}

void conflict_tracker_adopt_store(struct conflict_tracker *t, struct store *store)
{
    struct store_walk walk = store_walk_begin(store, 1U << CLASS_BINDING);
    struct entry *entry;

    for (size_t i = 0; i < t->count; i++)
        t->items[i]->in_store = false;
    while ((entry = store_walk_next(&walk)) != NULL)
        conflict_tracker_update_entry(t, entry);
    for (size_t i = 0; i < t->count; i++) {
        if (!t->items[i]->in_store)
            set_fields(t, t->items[i], 0);
    }
    t->changed = true;
}

/* Returns the next conflict to check, in a ring; NULL if the tracker is empty. */
static struct tracked_conflict *next_conflict(struct conflict_tracker *t)
{
    if (t->cursor >= t->count)
        t->cursor = 0;
    return t->count > 0 ? t->items[t->cursor++] : NULL;
}

/* ---- state of the event writer ---- */

enum {
    WRITE_INTERVAL_MS = 200, /* Minimum time between two Events, or two groups of checks. */
    CHECKS_PER_TURN = 1000,  /* Maximum number of conflicts checked. */
    RECREATE_MS = 3600 * 1000,
    RETRY_MS = 60 * 1000,  /* Time to the next attempt after a rejection, or at the rate limit. */
    STORE_DELAY_MS = 1000, /* Time to the next attempt if the store is out of date. */
    TEXT_MAX_BYTES = 512,
};

#define EVENT_RESULT_NAME(id, word) word,
const char *const event_writer_result_names[EVENT_RESULT_COUNT] = {
    EVENT_RESULTS(EVENT_RESULT_NAME)};

void event_writer_init(struct event_writer *e, const char *instance, uint64_t seed)
{
    *e = (struct event_writer){.instance = instance};
    conflict_tracker_init(&e->conflicts, seed);
}

void event_writer_suspend(struct event_writer *e)
{
    fetch_free(e->fetch);
    free(e->name);
    e->fetch = NULL;
    e->conflict = NULL;
    e->name = NULL;
}

void event_writer_release(struct event_writer *e)
{
    event_writer_suspend(e);
    conflict_tracker_release(&e->conflicts);
}

/* ---- choice of the next write ---- */

static const struct entry *find_binding(const struct engine *engine,
                                        const struct tracked_conflict *c)
{
    const struct kind_def *def = kind_of_bindings(false);

    return store_find(engine_store(engine),
                      &(struct identity){def->api_version, def->name, c->ns, c->name});
}

static bool take_token(struct tracked_conflict *c, int64_t now_ms)
{
    return rate_limit_allow(&c->rate_limit, now_ms * MS_NS);
}

/*
 * Decides about the existing Event `own` with the fields of the conflict: a pending change
 * increments the count if the rate limit allows. Returns `now_ms` to write now, else INT64_MAX.
 */
static int64_t check_existing_event(struct event_writer *e, struct tracked_conflict *c,
                                    const struct entry *own, int64_t now_ms)
{
    bool counts = c->pending && take_token(c, now_ms);

    if (c->written != e->fields) {
        c->written = e->fields;
        c->written_ms = now_ms;
    }
    if (c->pending && !counts)
        e->results[EVENT_RESULT_DROPPED]++;
    c->pending = counts;
    if (!counts)
        return INT64_MAX;
    e->step = EVENT_STEP_READ_EVENT;
    e->name = xstrdup(own->name);
    return now_ms;
}

/*
 * Returns `now_ms` if an Event about the conflict must be written now; then e->step, e->fields and,
 * for an increment, e->name are set. Else returns when to check again, or INT64_MAX to check only
 * after a change; with INT64_MAX the conflict may have ended, and `c` is freed.
 */
static int64_t check_conflict(struct event_writer *e, const struct event_writer_input *input,
                              struct tracked_conflict *c, int64_t now_ms)
{
    const struct conflict_events *events = &engine_context_const(input->engine)->conflict_events;
    const struct entry *binding = c->fields ? find_binding(input->engine, c) : NULL;
    const struct entry *own;

    if (!binding || !entry_exists(binding)) {
        forget_ended_conflict(&e->conflicts, c);
        return INT64_MAX;
    }
    c->reported |= c->fields & conflict_events_by_others(events, binding);
    e->fields = c->fields & ~c->reported;
    if (e->fields == 0)
        return INT64_MAX;
    if (now_ms < c->due_ms || now_ms < c->began_ms + input->patience_ms)
        return c->due_ms > c->began_ms + input->patience_ms ? c->due_ms
                                                            : c->began_ms + input->patience_ms;
    own = conflict_events_find_own(events, binding, e->fields);
    if (own)
        return check_existing_event(e, c, own, now_ms);
    if (c->written == e->fields && !c->pending && now_ms < c->written_ms + RECREATE_MS)
        return c->written_ms + RECREATE_MS;
    if (!take_token(c, now_ms)) {
        c->due_ms = now_ms + RETRY_MS;
        return c->due_ms;
    }
    e->step = EVENT_STEP_READ_BINDING;
    return now_ms;
}

/*
 * Checks up to CHECKS_PER_TURN conflicts of the present round. Returns the first that needs a
 * write; NULL if these need no write.
 */
static struct tracked_conflict *
find_next_write(struct event_writer *e, const struct event_writer_input *input, int64_t now_ms)
{
    for (unsigned i = 0; i < CHECKS_PER_TURN && e->unchecked > 0; i++) {
        struct tracked_conflict *c = next_conflict(&e->conflicts);
        int64_t when_ms;

        e->unchecked = c ? e->unchecked - 1 : 0;
        if (!c)
            break;
        when_ms = check_conflict(e, input, c, now_ms);
        /* With INT64_MAX the conflict may have ended: `c` is freed then. */
        if (when_ms < INT64_MAX && when_ms <= now_ms)
            return c;
        e->next_round_ms = earlier_of(e->next_round_ms, when_ms);
    }
    return NULL;
}

/* ---- requests ---- */

static const struct {
    const char *verb;
    const char *resource;
} required_rights[] = {
    [EVENT_STEP_READ_BINDING] = {"get", "resourcebindings"},
    [EVENT_STEP_CREATE] = {"create", "events"},
    [EVENT_STEP_READ_EVENT] = {"get", "events"},
    [EVENT_STEP_INCREMENT] = {"patch", "events"},
};

/* Sends the request of e->step. `body` is NULL for a read. */
static void send_request(struct event_writer *e, const struct event_writer_input *input,
                         enum transport_method method, const cJSON *body, int64_t now_ms)
{
    bool is_binding = e->step == EVENT_STEP_READ_BINDING;
    char *text = body ? cJSON_PrintUnformatted(body) : NULL;

    if (body && !text)
        memory_exhausted(0);
    e->fetch = fetch_start(input->transport,
                           &(struct fetch_spec){
                               .id = {is_binding ? kind_of_bindings(false)->api_version : "v1",
                                      is_binding ? kind_of_bindings(false)->name : "Event",
                                      e->conflict->ns, is_binding ? e->conflict->name : e->name},
                               .resource = required_rights[e->step].resource,
                               .metadata_only = is_binding,
                               .method = method,
                               .body = text,
                               .field_manager = EVENT_COMPONENT,
                           },
                           now_ms);
    free(text);
}

static void add_string(cJSON *object, const char *key, const char *text)
{
    if (!cJSON_AddStringToObject(object, key, text))
        memory_exhausted(0);
}

/* Returns an Event as client-go's recorder makes it. `binding`: metadata of the binding. */
static cJSON *event_json_new(const struct event_writer *e, const cJSON *binding, int64_t clock_ms)
{
    CLEANUP(strbuf_release) struct strbuf message = STRBUF_INIT(TEXT_MAX_BYTES);
    cJSON *event = cJSON_CreateObject();
    cJSON *metadata = cJSON_AddObjectToObject(event, "metadata");
    cJSON *about = cJSON_AddObjectToObject(event, "involvedObject");
    cJSON *source = cJSON_AddObjectToObject(event, "source");
    char now[32];

    format_timestamp(clock_ms, now);
    conflict_event_message(e->fields, &message);
    add_string(event, "apiVersion", "v1");
    add_string(event, "kind", "Event");
    add_string(metadata, "name", e->name);
    add_string(metadata, "namespace", e->conflict->ns);
    add_string(about, "apiVersion", kind_of_bindings(false)->api_version);
    add_string(about, "kind", kind_of_bindings(false)->name);
    add_string(about, "namespace", e->conflict->ns);
    add_string(about, "name", e->conflict->name);
    add_string(about, "uid", json_str(binding, "uid", ""));
    add_string(about, "resourceVersion", json_str(binding, "resourceVersion", ""));
    add_string(event, "type", "Warning");
    add_string(event, "reason", EVENT_CONFLICT);
    add_string(event, "message", message.data);
    add_string(source, "component", EVENT_COMPONENT);
    add_string(event, "reportingComponent", EVENT_COMPONENT);
    add_string(event, "reportingInstance", e->instance);
    add_string(event, "firstTimestamp", now);
    add_string(event, "lastTimestamp", now);
    cJSON_AddNumberToObject(event, "count", 1);
    return event;
}

/*
 * Returns a merge patch that increments the count. With uid and resourceVersion the API server
 * rejects the patch if the Event is no longer as read.
 */
static cJSON *increment_patch_new(const cJSON *event, int64_t clock_ms)
{
    const cJSON *metadata = json_get(event, "metadata");
    cJSON *patch = cJSON_CreateObject();
    cJSON *fresh = cJSON_AddObjectToObject(patch, "metadata");
    char now[32];

    format_timestamp(clock_ms, now);
    add_string(fresh, "uid", json_str(metadata, "uid", ""));
    add_string(fresh, "resourceVersion", json_str(metadata, "resourceVersion", ""));
    add_string(patch, "lastTimestamp", now);
    cJSON_AddNumberToObject(patch, "count", (double)(json_int(event, "count", 1) + 1));
    return patch;
}

/* ---- responses ---- */

/* Ends a write after which the API server has the Event. */
static void finish_write(struct event_writer *e, enum event_writer_result result, int64_t now_ms)
{
    struct tracked_conflict *c = e->conflict;

    e->results[result]++;
    c->written = e->fields;
    c->written_ms = now_ms;
    c->pending = false;
    event_writer_suspend(e);
}

/* Cancels the write and has the conflict checked again at `until_ms`. */
static void postpone_write(struct event_writer *e, int64_t until_ms)
{
    e->conflict->due_ms = until_ms;
    e->next_round_ms = earlier_of(e->next_round_ms, until_ms);
    event_writer_suspend(e);
}

static void handle_failure(struct event_writer *e, const struct fetch *f, int64_t now_ms)
{
    /* A refused request fails until a user acts, so the other conflicts come first. */
    bool refused = f->state == FETCH_MISSING || f->http_status == 400 || f->http_status == 422;
    int64_t wait_ms = backoff_ms(e->failures++, 0);

    e->err = f->err;
    e->results[EVENT_RESULT_FAILED]++;
    if (f->state == FETCH_FORBIDDEN) {
        e->forbidden_verb = required_rights[e->step].verb;
        e->forbidden_resource = required_rights[e->step].resource;
    }
    e->paused_until_ms = now_ms + (wait_ms > f->retry_after_ms ? wait_ms : f->retry_after_ms);
    postpone_write(e, refused ? now_ms + RETRY_MS : e->paused_until_ms);
}

/*
 * Returns true if an Event was written since `since_ms` of the decision, by the API server's times,
 * which are whole seconds: another replica led then, and its write counts for this conflict.
 */
static bool was_written_since(const cJSON *metadata, const struct entry *binding)
{
    const struct dependency_decision *decision = binding ? dependency_decision(binding) : NULL;
    const cJSON *write;
    int64_t time_ms;

    cJSON_ArrayForEach (write, json_array(metadata, "managedFields")) {
        if (decision && decision->since_ms > 0 &&
            parse_timestamp(json_str(write, "time", ""), &time_ms) && time_ms >= decision->since_ms)
            return true;
    }
    return false;
}

/* Sends the write after a read, unless another replica has made it or binding or fields changed. */
static void send_write(struct event_writer *e, const struct event_writer_input *input,
                       const cJSON *object, int64_t now_ms, int64_t clock_ms)
{
    const struct entry *entry = find_binding(input->engine, e->conflict);
    const struct binding *b = entry_binding(entry);
    const cJSON *metadata = json_get(object, "metadata");
    const char *uid = json_str(metadata, "uid", "");

    if (e->step == EVENT_STEP_READ_EVENT && was_written_since(metadata, entry)) {
        finish_write(e, EVENT_RESULT_EXISTS, now_ms);
    } else if (e->step == EVENT_STEP_READ_EVENT) {
        CLEANUP(json_cleanup) cJSON *patch = increment_patch_new(object, clock_ms);

        e->step = EVENT_STEP_INCREMENT;
        send_request(e, input, TRANSPORT_MERGE, patch, now_ms);
    } else if (!b || e->fields & ~e->conflict->fields ||
               uid_hashes_differ(b->own_uid_hash, uid_hash(uid)) ||
               *json_str(metadata, "deletionTimestamp", "")) {
        postpone_write(e, now_ms + STORE_DELAY_MS);
    } else {
        CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(TEXT_MAX_BYTES);

        conflict_event_name(e->conflict->name, uid, e->fields, &name);
        e->name = xstrdup(name.data);
        CLEANUP(json_cleanup) cJSON *event = event_json_new(e, metadata, clock_ms);
        e->step = EVENT_STEP_CREATE;
        send_request(e, input, TRANSPORT_CREATE, event, now_ms);
    }
}

static void handle_response(struct event_writer *e, const struct event_writer_input *input,
                            const struct fetch *f, int64_t now_ms, int64_t clock_ms)
{
    bool reads = e->step == EVENT_STEP_READ_BINDING || e->step == EVENT_STEP_READ_EVENT;
    bool found = f->state == FETCH_FOUND;

    if (found) {
        e->failures = 0;
        if (e->forbidden_verb == required_rights[e->step].verb)
            e->forbidden_verb = NULL;
    }
    if (found && reads)
        send_write(e, input, f->object, now_ms, clock_ms);
    else if (found)
        finish_write(e, e->step == EVENT_STEP_CREATE ? EVENT_RESULT_CREATED : EVENT_RESULT_UPDATED,
                     now_ms);
    else if (f->http_status == 409 && e->step == EVENT_STEP_CREATE)
        finish_write(e, EVENT_RESULT_EXISTS, now_ms);
    /* The object was deleted or changed: the store will receive this. */
    else if (f->http_status == 409 || (f->state == FETCH_MISSING && e->step != EVENT_STEP_CREATE))
        postpone_write(e, now_ms + STORE_DELAY_MS);
    else
        handle_failure(e, f, now_ms);
}

void event_writer_turn(struct event_writer *e, const struct event_writer_input *input,
                       int64_t now_ms, int64_t clock_ms)
{
    conflict_tracker_set_role(&e->conflicts, now_ms, input->leads);
    if (!input->leads) {
        event_writer_suspend(e);
        /* A new leader starts with a round of all conflicts. */
        e->unchecked = 0;
        e->next_round_ms = 0;
        return;
    }
    if (e->fetch)
        fetch_turn(e->fetch, now_ms);
    if (e->fetch && e->fetch->state != FETCH_OPEN) {
        struct fetch *ended = e->fetch;

        e->fetch = NULL;
        handle_response(e, input, ended, now_ms, clock_ms);
        fetch_free(ended);
    }
    if (e->conflicts.changed || (e->unchecked == 0 && now_ms >= e->next_round_ms)) {
        e->conflicts.changed = false;
        e->unchecked = e->conflicts.count;
        e->next_round_ms = INT64_MAX;
    }
    if (e->fetch || now_ms < e->paused_until_ms)
        return;
    e->conflict = find_next_write(e, input, now_ms);
    e->paused_until_ms = now_ms + WRITE_INTERVAL_MS;
    if (e->conflict)
        send_request(e, input, TRANSPORT_READ, NULL, now_ms);
}

int64_t event_writer_due(const struct event_writer *e)
{
    if (e->fetch)
        return fetch_due(e->fetch);
    if (!e->conflicts.leads)
        return INT64_MAX;
    return e->unchecked > 0 || e->next_round_ms < e->paused_until_ms ? e->paused_until_ms
                                                                     : e->next_round_ms;
}
