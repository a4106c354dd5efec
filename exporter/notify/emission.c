/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/notify/emission.h"

#include "exporter/kube/backoff.h"
#include "metrics/base/timestamp.h"
#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/rules/rule.h"

enum {
    INTERVAL_MS = 200, /* Between two Events: each takes two requests. */
    SLICE = 1000,      /* Conflicts that are looked at in a turn. */
    AGAIN_MS = 3600 * 1000,
    REST_MS = 60 * 1000, /* Before one is looked at again whose Event cannot be written. */
    SOON_MS = 1000,      /* The same where the store is about to know better. */
    MS_NS = 1000 * 1000,
    TEXT_MAX_BYTES = 512,
};

#define EMISSION_WORD(id, word) word,
const char *const emission_result_names[EMISSION_RESULT_COUNT] = {EMISSION_RESULTS(EMISSION_WORD)};

void emission_init(struct emission *e, const char *instance, uint64_t seed)
{
    *e = (struct emission){.instance = instance};
    disputes_init(&e->disputes, seed);
}

void emission_suspend(struct emission *e)
{
    fetch_free(e->fetch);
    free(e->name);
    e->fetch = NULL;
    e->at = NULL;
    e->name = NULL;
}

void emission_release(struct emission *e)
{
    emission_suspend(e);
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
    return rate_allow(&d->rate, now_ms * MS_NS);
}

/* What is there counts one more if that has been said of an earlier conflict. */
static int64_t look_at_own(struct emission *e, struct dispute *d, const struct entry *own,
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
static int64_t look(struct emission *e, const struct emission_world *world, struct dispute *d,
                    int64_t now_ms)
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
static struct dispute *find(struct emission *e, const struct emission_world *world, int64_t now_ms)
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

static void ask(struct emission *e, const struct emission_world *world,
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
static cJSON *make_event(const struct emission *e, const cJSON *binding, int64_t clock_ms)
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

static void finish(struct emission *e, enum emission_result result, int64_t now_ms)
{
    struct dispute *d = e->at;

    e->results[result]++;
    d->said = e->fields;
    d->said_ms = now_ms;
    d->again = false;
    emission_suspend(e);
}

/* The store is about to know better, or the server does not do it now. */
static void put_off(struct emission *e, int64_t until_ms)
{
    e->at->due_ms = until_ms;
    e->soonest_ms = earlier_of(e->soonest_ms, until_ms);
    emission_suspend(e);
}

static void fail_at(struct emission *e, const struct fetch *f, int64_t now_ms)
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
static void write_next(struct emission *e, const struct emission_world *world, const cJSON *object,
                       int64_t now_ms, int64_t clock_ms)
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

static void receive(struct emission *e, const struct emission_world *world, const struct fetch *f,
                    int64_t now_ms, int64_t clock_ms)
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

void emission_turn(struct emission *e, const struct emission_world *world, int64_t now_ms,
                   int64_t clock_ms)
{
    disputes_set(&e->disputes, now_ms, world->leads);
    if (!world->leads) {
        emission_suspend(e);
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

int64_t emission_due(const struct emission *e)
{
    if (e->fetch)
        return fetch_due(e->fetch);
    if (!e->disputes.leads)
        return INT64_MAX;
    return e->left > 0 || e->soonest_ms < e->hold_ms ? e->hold_ms : e->soonest_ms;
}
