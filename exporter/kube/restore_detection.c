/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/restore_detection.h"

#include "exporter/kube/server_response.h"
#include "exporter/system/url.h"
#include "metrics/base/map.h"
#include "metrics/base/number.h"

enum { ARRAY_FACTOR = 31 };

static uint64_t hash_text(const char *text, uint64_t seed)
{
    return map_hash(text, strlen(text), seed);
}

/* Servers write the same members in another order when they are asked in another way. */
static uint64_t hash_value(const cJSON *value)
{
    uint64_t hash = (uint64_t)(value->type & 0xff);
    const cJSON *child;

    if (cJSON_IsString(value))
        return hash_text(value->valuestring, hash);
    if (cJSON_IsNumber(value))
        return map_hash(&value->valuedouble, sizeof(value->valuedouble), hash);
    if (cJSON_IsArray(value)) {
        cJSON_ArrayForEach (child, value)
            hash = hash * ARRAY_FACTOR + hash_value(child);
    } else if (cJSON_IsObject(value)) {
        cJSON_ArrayForEach (child, value)
            hash += hash_text(child->string, hash_value(child));
    }
    return hash;
}

static const char *text_of(const cJSON *object, const char *key)
{
    return json_str(json_get(object, "metadata"), key, "");
}

static uint64_t hash_uid(const cJSON *object)
{
    return hash_text(text_of(object, "uid"), 0);
}

/* Two changes under the same number differ in this, unless they were made in the same second. */
static uint64_t hash_origin(const cJSON *object)
{
    const cJSON *metadata = json_get(object, "metadata");
    const cJSON *entry;
    int64_t generation = json_int(metadata, "generation", 0);
    uint64_t hash = map_hash(&generation, sizeof(generation), hash_uid(object));

    cJSON_ArrayForEach (entry, json_get(metadata, "managedFields"))
        hash = hash_text(json_str(entry, "time", ""), hash);
    return hash;
}

static void note(struct newest *n, const cJSON *object, const char *version, bool listed,
                 bool deleted)
{
    const char *ns = text_of(object, "namespace");
    const char *name = text_of(object, "name");

    if (!*name || !*version || strlen(ns) >= sizeof(n->ns) || strlen(name) >= sizeof(n->name) ||
        strlen(version) >= sizeof(n->version))
        return;
    memcpy(n->ns, ns, strlen(ns) + 1);
    memcpy(n->name, name, strlen(name) + 1);
    memcpy(n->version, version, strlen(version) + 1);
    n->uid = hash_uid(object);
    n->origin = hash_origin(object);
    n->content = listed ? 0 : hash_value(object);
    n->deleted = deleted;
}

void newest_note(struct newest *n, const cJSON *object, const char *version, bool deleted)
{
    note(n, object, version, false, deleted);
}

void newest_note_listed(struct newest *n, const cJSON *object, const char *version)
{
    if (!*n->name || number_compare(version, n->version) == NUMBER_GREATER)
        note(n, object, version, true, false);
}

void newest_replace(struct newest *n, const struct newest *listed)
{
    bool later = !*listed->name || number_compare(n->version, listed->version) == NUMBER_GREATER;

    /* A deletion is in no list. An object that is not is gone since, nobody knows when. */
    if (!n->deleted || !later)
        *n = *listed;
}

/* True if it is about this object. */
static bool newest_is_of(const struct newest *n, const cJSON *object)
{
    return *n->name && strcmp(text_of(object, "name"), n->name) == 0 &&
           strcmp(text_of(object, "namespace"), n->ns) == 0;
}

bool newest_is_followed_by(const struct newest *n, const cJSON *object, bool deleted)
{
    return newest_is_of(n, object) && (n->deleted || deleted || hash_uid(object) == n->uid);
}

static enum newest_verdict compare_content(const struct newest *n, const cJSON *object)
{
    bool same = hash_origin(object) == n->origin;

    if (same && n->content != 0)
        same = hash_value(object) == n->content;
    return same ? NEWEST_HOLDS : NEWEST_ALTERED;
}

enum newest_verdict newest_judge(const struct newest *n, const char *position, const cJSON *object)
{
    const char *version = text_of(object, "resourceVersion");
    enum number_order order = number_compare(version, position);

    if (!object)
        return n->deleted ? NEWEST_HOLDS : NEWEST_UNDECIDED;
    if (!n->deleted && strcmp(version, n->version) == 0)
        return compare_content(n, object);
    return order == NUMBER_LESS || order == NUMBER_EQUAL ? NEWEST_UNDONE : NEWEST_UNDECIDED;
}

enum newest_verdict newest_judge_past(const struct newest *n, const cJSON *object)
{
    const char *version = text_of(object, "resourceVersion");

    if (!object || n->deleted)
        return !object == n->deleted ? NEWEST_HOLDS : NEWEST_UNDONE;
    return strcmp(version, n->version) == 0 ? compare_content(n, object) : NEWEST_UNDONE;
}

enum {
    QUERY_MAX_BYTES = 4 * 1024,
    EVENT_WAIT_MS = 500, /* An event is on its way when the object can be read. */
    RETRY_FIRST_MS = 500,
    FAILURES_MAX = 6, /* Then it is as if the server could not tell. */
};

static void drop_fetch(struct recheck *c)
{
    fetch_free(c->fetch);
    c->fetch = NULL;
    c->outdated = false;
}

void recheck_release(struct recheck *c)
{
    recheck_end(c);
    drop_fetch(c);
}

void recheck_end(struct recheck *c)
{
    c->step = RECHECK_IDLE;
    c->outdated = true;
}

void recheck_begin(struct recheck *c, const struct recheck_spec *spec, int64_t now_ms)
{
    *c = (struct recheck){.spec = *spec,
                          .newest = *spec->newest,
                          .fetch = c->fetch,
                          .outdated = true,
                          .due_ms = now_ms};
    snprintf(c->position, sizeof(c->position), "%s", spec->position);
    c->step = *c->newest.name ? RECHECK_OBJECT : RECHECK_LIST;
}

/* The stream has brought a change of this object. */
static void recheck_note(struct recheck *c, const cJSON *object, bool deleted)
{
    c->explained = c->explained ||
                   (c->step != RECHECK_IDLE && newest_is_followed_by(&c->newest, object, deleted));
}

/* ---- questions ---- */

static void ask(struct recheck *c, struct transport transport, int64_t now_ms)
{
    CLEANUP(strbuf_release) struct strbuf query = STRBUF_INIT(QUERY_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf selector = STRBUF_INIT(QUERY_MAX_BYTES);
    bool any = c->step == RECHECK_LIST;
    const char *ns = c->spec.ns ? c->spec.ns : "";

    if (any) {
        url_add(&query, "limit", "1");
        if (c->spec.field_selector)
            url_add(&query, "fieldSelector", c->spec.field_selector);
    } else {
        strbuf_addf(&selector, "metadata.name=%s", c->newest.name);
        url_add(&query, "fieldSelector", selector.data);
        url_add(&query, "resourceVersion", c->past);
        url_add(&query, "resourceVersionMatch", "Exact");
    }
    c->fetch = fetch_start(transport,
                           &(struct fetch_spec){
                               .id = {c->spec.api_version, c->spec.kind, any ? ns : c->newest.ns,
                                      any ? "" : c->newest.name},
                               .resource = c->spec.resource,
                               .metadata_only = any || c->spec.metadata_only,
                               .list_query = c->step == RECHECK_OBJECT ? NULL : query.data,
                           },
                           now_ms);
}

/* ---- answers ---- */

/* The version before that, if it is a number above 0. */
static bool decrement(char *version)
{
    size_t len = strlen(version);
    size_t zeros = 0;

    if (len == 0 || strspn(version, "0123456789") < len || strspn(version, "0") == len)
        return false;
    while (version[len - 1 - zeros] == '0')
        version[len - 1 - zeros++] = '9';
    version[len - 1 - zeros]--;
    /* Servers write no leading zeros. */
    if (version[0] == '0' && len > 1)
        memmove(version, version + 1, len);
    return true;
}

static enum recheck_result go_on(struct recheck *c, enum recheck_step step, int64_t due_ms)
{
    c->step = step;
    c->due_ms = due_ms;
    c->failures = 0;
    return RECHECK_OPEN;
}

static enum recheck_result ask_about(struct recheck *c, enum recheck_step step, const char *version,
                                     int64_t now_ms)
{
    memcpy(c->past, version, sizeof(c->past));
    return go_on(c, step, now_ms);
}

static bool was_read(const struct fetch *f)
{
    return f->state == FETCH_FOUND || f->state == FETCH_MISSING;
}

/* A list that is not found has no version: its kind has gone, or its server knows no such list. */
static bool list_was_read(const struct fetch *f)
{
    return was_read(f) && f->version;
}

static enum recheck_result look_at_object(struct recheck *c, const struct fetch *f, int64_t now_ms)
{
    enum newest_verdict verdict = NEWEST_UNDECIDED;

    if (was_read(f))
        verdict = newest_judge(&c->newest, c->position, f->object);
    c->altered = verdict == NEWEST_ALTERED && !c->spec.by_version;
    if (verdict == NEWEST_UNDONE)
        return RECHECK_RESTORED;
    if (c->altered)
        return RECHECK_DOUBTFUL;
    c->unread = !was_read(f);
    c->changed = was_read(f) && verdict == NEWEST_UNDECIDED;
    return go_on(c, RECHECK_LIST, now_ms);
}

/* No object of which nothing is known may be older than the stream, nor may the list be. */
static enum recheck_result look_at_list(struct recheck *c, const struct fetch *f, int64_t now_ms)
{
    char before[WATCH_VERSION_MAX];
    const char *version = json_str(json_get(f->object, "metadata"), "resourceVersion", "");
    bool unknown =
        !*c->newest.name && f->object && number_compare(version, c->position) == NUMBER_LESS;

    if (list_was_read(f) && (unknown || number_compare(f->version, c->position) == NUMBER_LESS))
        return RECHECK_RESTORED;
    if (c->unread || c->changed)
        return ask_about(c, RECHECK_PAST, c->position, now_ms);
    if (!c->newest.deleted)
        return RECHECK_PASSED;
    memcpy(before, c->newest.version, sizeof(before));
    return decrement(before) ? ask_about(c, RECHECK_BEFORE, before, now_ms) : RECHECK_PASSED;
}

static enum recheck_result look_at_deletion(struct recheck *c, const struct fetch *f,
                                            int64_t now_ms)
{
    bool before = c->step == RECHECK_BEFORE;

    /* A server that has forgotten that, or cannot tell. */
    if (!list_was_read(f) || strcmp(f->version, c->past) != 0)
        return RECHECK_PASSED;
    if ((f->state == FETCH_FOUND) != before)
        return RECHECK_RESTORED;
    return before ? ask_about(c, RECHECK_DELETION, c->newest.version, now_ms) : RECHECK_PASSED;
}

static enum recheck_result look_at_past(struct recheck *c, const struct fetch *f, int64_t now_ms)
{
    bool past = list_was_read(f) && strcmp(f->version, c->position) == 0;
    enum newest_verdict verdict = NEWEST_UNDECIDED;

    /* A server that does not look back tells how it is now. */
    if (past)
        verdict = newest_judge_past(&c->newest, f->object);
    else if (list_was_read(f))
        verdict = newest_judge(&c->newest, c->position, f->object);
    c->altered = verdict == NEWEST_ALTERED && !c->spec.by_version;
    /* What it has forgotten is not to be had by events either. */
    if (c->altered || (c->changed && f->http_status == 410))
        return RECHECK_DOUBTFUL;
    if (verdict == NEWEST_UNDECIDED && (c->changed || list_was_read(f)))
        return go_on(c, RECHECK_EVENT, now_ms + EVENT_WAIT_MS);
    return verdict == NEWEST_UNDONE ? RECHECK_RESTORED : RECHECK_PASSED;
}

static bool may_pass(const struct recheck *c, const struct fetch *f)
{
    /* A server that does not understand to be asked for an object by its name is not well. */
    bool odd = c->step == RECHECK_OBJECT && f->http_status == 400;

    return f->state == FETCH_FAILED &&
           (odd || f->http_status == 0 || f->http_status == 429 || f->http_status >= 500);
}

static enum recheck_result read_answer(struct recheck *c, int64_t now_ms)
{
    struct fetch *f = c->fetch;
    enum recheck_result result = RECHECK_OPEN;

    c->fetch = NULL;
    if (may_pass(c, f) && c->failures < FAILURES_MAX) {
        c->due_ms = now_ms + ((int64_t)RETRY_FIRST_MS << c->failures++);
    } else if (c->step == RECHECK_OBJECT) {
        result = look_at_object(c, f, now_ms);
    } else if (c->step == RECHECK_PAST) {
        result = look_at_past(c, f, now_ms);
    } else if (c->step == RECHECK_BEFORE || c->step == RECHECK_DELETION) {
        result = look_at_deletion(c, f, now_ms);
    } else {
        result = look_at_list(c, f, now_ms);
    }
    fetch_free(f);
    return result;
}

static enum recheck_result await_event(struct recheck *c, int64_t now_ms)
{
    if (c->explained)
        return RECHECK_PASSED;
    return now_ms >= c->due_ms ? RECHECK_RESTORED : RECHECK_OPEN;
}

enum recheck_result recheck_turn(struct recheck *c, struct transport transport, int64_t now_ms)
{
    enum recheck_result result = RECHECK_OPEN;

    if (c->outdated)
        drop_fetch(c);
    if (c->step == RECHECK_IDLE)
        return RECHECK_OPEN;
    if (c->fetch)
        fetch_turn(c->fetch, now_ms);
    if (c->fetch && c->fetch->state != FETCH_OPEN)
        result = read_answer(c, now_ms);
    if (result == RECHECK_OPEN && c->step == RECHECK_EVENT)
        result = await_event(c, now_ms);
    if (result != RECHECK_OPEN)
        recheck_end(c);
    else if (!c->fetch && c->step != RECHECK_EVENT && now_ms >= c->due_ms)
        ask(c, transport, now_ms);
    return result;
}

int64_t recheck_due(const struct recheck *c)
{
    if (c->step == RECHECK_IDLE)
        return INT64_MAX;
    return c->fetch ? fetch_due(c->fetch) : c->due_ms;
}

void history_begin_list(struct history *h)
{
    recheck_end(&h->recheck);
    h->listed = (struct newest){0};
    h->contradicted = false;
}

/* Hold the newest object known against what a list has of it. */
static void compare(struct history *h, const struct watch *w, const cJSON *object)
{
    enum newest_verdict verdict = newest_judge(&h->newest, w->version, object);

    h->contradicted =
        h->contradicted || verdict == NEWEST_UNDONE || (verdict == NEWEST_ALTERED && !h->varies);
    h->varies = h->varies || (h->doubted && verdict == NEWEST_HOLDS);
}

void history_note(struct history *h, const struct watch *w, const struct watch_event *event)
{
    const cJSON *object = event->object;

    if (!object || event->kind == EVENT_BOOKMARK || event->kind == EVENT_INITIAL_END)
        return;
    if (w->phase == WATCH_STREAMING) {
        bool deleted = event->kind == EVENT_DELETED;

        recheck_note(&h->recheck, object, deleted);
        newest_note(&h->newest, object, event->version, deleted);
        return;
    }
    if (newest_is_of(&h->newest, object))
        compare(h, w, object);
    newest_note_listed(&h->listed, object, event->version);
}

bool history_end_list(struct history *h, bool older)
{
    bool restored = (older || h->contradicted) && !h->expected;

    if (older || h->contradicted || h->expected)
        h->newest = h->listed;
    else
        newest_replace(&h->newest, &h->listed);
    h->expected = h->contradicted = h->doubted = false;
    return restored;
}

void history_check(struct history *h, struct recheck_spec spec, int64_t now_ms)
{
    if (!h->resumed)
        return;
    spec.newest = &h->newest;
    spec.by_version = h->varies;
    recheck_begin(&h->recheck, &spec, now_ms);
}

bool history_end_request(struct history *h)
{
    bool lost = recheck_is_open(&h->recheck) && !newest_is(&h->newest, &h->recheck.newest);

    recheck_end(&h->recheck);
    return lost;
}

enum recheck_result history_turn(struct history *h, struct transport transport, int64_t now_ms)
{
    enum recheck_result result = recheck_turn(&h->recheck, transport, now_ms);

    h->doubted = h->doubted || (result == RECHECK_DOUBTFUL && h->recheck.altered);
    return result;
}
