/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/restore_detection.h"

#include "exporter/kube/server_response.h"
#include "exporter/system/url.h"
#include "metrics/base/map.h"
#include "metrics/base/number.h"

/* ---- last change ---- */

enum { ARRAY_FACTOR = 31 };

static uint64_t hash_text(const char *text, uint64_t seed)
{
    return map_hash(text, strlen(text), seed);
}

/* Returns a hash that is independent of the order of members, which differs between requests. */
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

static const char *metadata_text(const cJSON *object, const char *key)
{
    return json_str(json_get(object, "metadata"), key, "");
}

static uint64_t hash_uid(const cJSON *object)
{
    return hash_text(metadata_text(object, "uid"), 0);
}

/* Returns a hash that differs for changes with the same version, unless made in the same second. */
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

static void set_last_change(struct last_change *n, const cJSON *object, const char *version,
                            bool listed, bool deleted)
{
    const char *ns = metadata_text(object, "namespace");
    const char *name = metadata_text(object, "name");

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

void last_change_note_event(struct last_change *n, const cJSON *object, const char *version,
                            bool deleted)
{
    set_last_change(n, object, version, false, deleted);
}

void last_change_note_listed(struct last_change *n, const cJSON *object, const char *version)
{
    if (!*n->name || number_compare(version, n->version) == NUMBER_GREATER)
        set_last_change(n, object, version, true, false);
}

void last_change_replace(struct last_change *n, const struct last_change *listed)
{
    bool later = !*listed->name || number_compare(n->version, listed->version) == NUMBER_GREATER;

    /* Except for a later deletion: a list does not contain deleted objects. */
    if (!n->deleted || !later)
        *n = *listed;
}

static bool is_change_of(const struct last_change *n, const cJSON *object)
{
    return *n->name && strcmp(metadata_text(object, "name"), n->name) == 0 &&
           strcmp(metadata_text(object, "namespace"), n->ns) == 0;
}

static bool is_same_change(const struct last_change *a, const struct last_change *b)
{
    return strcmp(a->version, b->version) == 0 && strcmp(a->name, b->name) == 0 &&
           strcmp(a->ns, b->ns) == 0;
}

bool last_change_is_followed_by(const struct last_change *n, const cJSON *object, bool deleted)
{
    return is_change_of(n, object) && (n->deleted || deleted || hash_uid(object) == n->uid);
}

static enum last_change_verdict compare_content(const struct last_change *n, const cJSON *object)
{
    bool same = hash_origin(object) == n->origin;

    if (same && n->content != 0)
        same = hash_value(object) == n->content;
    return same ? LAST_CHANGE_HOLDS : LAST_CHANGE_ALTERED;
}

enum last_change_verdict last_change_compare_current(const struct last_change *n,
                                                     const char *position, const cJSON *object)
{
    const char *version = metadata_text(object, "resourceVersion");
    enum number_order order = number_compare(version, position);

    if (!object)
        return n->deleted ? LAST_CHANGE_HOLDS : LAST_CHANGE_UNDECIDED;
    if (!n->deleted && strcmp(version, n->version) == 0)
        return compare_content(n, object);
    return order == NUMBER_LESS || order == NUMBER_EQUAL ? LAST_CHANGE_UNDONE
                                                         : LAST_CHANGE_UNDECIDED;
}

enum last_change_verdict last_change_compare_past(const struct last_change *n, const cJSON *object)
{
    const char *version = metadata_text(object, "resourceVersion");

    if (!object || n->deleted)
        return !object == n->deleted ? LAST_CHANGE_HOLDS : LAST_CHANGE_UNDONE;
    return strcmp(version, n->version) == 0 ? compare_content(n, object) : LAST_CHANGE_UNDONE;
}

/* ---- check of a resumed stream ---- */

enum {
    QUERY_MAX_BYTES = 4 * 1024,
    EVENT_WAIT_MS = 500, /* Longest wait for the event of a change that a read has shown. */
    RETRY_FIRST_MS = 500,
    RETRIES_MAX = 6, /* After these retries a failed read counts as an unknown state. */
};

static void drop_fetch(struct restore_check *c)
{
    fetch_free(c->fetch);
    c->fetch = NULL;
    c->outdated = false;
}

/* Ends the check. The next turn frees its request, because a handler may call the function. */
static void end_check(struct restore_check *c)
{
    c->step = RESTORE_CHECK_IDLE;
    c->outdated = true;
}

void restore_check_release(struct restore_check *c)
{
    end_check(c);
    drop_fetch(c);
}

void restore_check_begin(struct restore_check *c, const struct restore_check_spec *spec,
                         int64_t now_ms)
{
    *c = (struct restore_check){.spec = *spec,
                                .last_change = *spec->last_change,
                                .fetch = c->fetch,
                                .outdated = true,
                                .due_ms = now_ms};
    snprintf(c->position, sizeof(c->position), "%s", spec->position);
    c->step = *c->last_change.name ? RESTORE_CHECK_OBJECT : RESTORE_CHECK_LIST;
}

/* Sets `explained` if a change that the stream has brought can follow the last change. */
static void note_stream_change(struct restore_check *c, const cJSON *object, bool deleted)
{
    c->explained = c->explained || (c->step != RESTORE_CHECK_IDLE &&
                                    last_change_is_followed_by(&c->last_change, object, deleted));
}

static void send_request(struct restore_check *c, struct transport transport, int64_t now_ms)
{
    CLEANUP(strbuf_release) struct strbuf query = STRBUF_INIT(QUERY_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf selector = STRBUF_INIT(QUERY_MAX_BYTES);
    bool any = c->step == RESTORE_CHECK_LIST;
    const char *ns = c->spec.ns ? c->spec.ns : "";

    if (any) {
        if (c->spec.shard)
            namespace_filter_add_shard_selector(c->spec.shard, &selector);
        url_add_parameter(&query, "limit", "1");
        url_add_selectors(&query, &(struct selectors){c->spec.field_selector, selector.data});
    } else {
        strbuf_addf(&selector, "metadata.name=%s", c->last_change.name);
        url_add_parameter(&query, "fieldSelector", selector.data);
        url_add_parameter(&query, "resourceVersion", c->past);
        url_add_parameter(&query, "resourceVersionMatch", "Exact");
    }
    c->fetch = fetch_start(transport,
                           &(struct fetch_spec){
                               .id = {c->spec.api_version, c->spec.kind,
                                      any ? ns : c->last_change.ns, any ? "" : c->last_change.name},
                               .resource = c->spec.resource,
                               .metadata_only = any || c->spec.metadata_only,
                               .fields = c->spec.fields,
                               .list_query = c->step == RESTORE_CHECK_OBJECT ? NULL : query.data,
                           },
                           now_ms);
}

/* Subtracts 1 from a version. Returns false if the version is not a number above 0. */
static bool decrement_version(char *version)
{
    size_t len = strlen(version);
    size_t zeros = 0;

    if (len == 0 || strspn(version, "0123456789") < len || strspn(version, "0") == len)
        return false;
    while (version[len - 1 - zeros] == '0')
        version[len - 1 - zeros++] = '9';
    version[len - 1 - zeros]--;
    /* Versions have no leading zeros. */
    if (version[0] == '0' && len > 1)
        memmove(version, version + 1, len);
    return true;
}

/* Begins a step at due_ms. Returns RESTORE_CHECK_OPEN. */
static enum restore_check_result begin_step(struct restore_check *c, enum restore_check_step step,
                                            int64_t due_ms)
{
    c->step = step;
    c->due_ms = due_ms;
    c->failures = 0;
    return RESTORE_CHECK_OPEN;
}

/* Begins a step that reads the object at `version`. Returns RESTORE_CHECK_OPEN. */
static enum restore_check_result begin_past_read(struct restore_check *c,
                                                 enum restore_check_step step, const char *version,
                                                 int64_t now_ms)
{
    memcpy(c->past, version, sizeof(c->past));
    return begin_step(c, step, now_ms);
}

static bool is_state_known(const struct fetch *f)
{
    return f->state == FETCH_FOUND || f->state == FETCH_MISSING;
}

/* Returns true for a list with a version; false for a 404: the server does not serve the list. */
static bool is_list_known(const struct fetch *f)
{
    return is_state_known(f) && f->version;
}

static enum restore_check_result evaluate_object(struct restore_check *c, const struct fetch *f,
                                                 int64_t now_ms)
{
    enum last_change_verdict verdict = LAST_CHANGE_UNDECIDED;

    if (is_state_known(f))
        verdict = last_change_compare_current(&c->last_change, c->position, f->object);
    c->altered = verdict == LAST_CHANGE_ALTERED && !c->spec.by_version;
    if (verdict == LAST_CHANGE_UNDONE)
        return RESTORE_CHECK_RESTORED;
    if (c->altered)
        return RESTORE_CHECK_DOUBTFUL;
    c->unread = !is_state_known(f);
    c->changed = is_state_known(f) && verdict == LAST_CHANGE_UNDECIDED;
    return begin_step(c, RESTORE_CHECK_LIST, now_ms);
}

/* Returns true if the object is one of those that lists and streams bring. */
static bool is_in_scope(const struct restore_check *c, const cJSON *object)
{
    const char *ns = json_str(json_get(object, "metadata"), "namespace", "");

    return object && (!c->spec.shard || namespace_filter_allows(c->spec.shard, ns));
}

/* A list older than the stream proves a restore. So does an older object if no change is known. */
static enum restore_check_result evaluate_list(struct restore_check *c, const struct fetch *f,
                                               int64_t now_ms)
{
    char before[WATCH_VERSION_MAX];
    const char *version = json_str(json_get(f->object, "metadata"), "resourceVersion", "");
    bool unknown = !*c->last_change.name && is_in_scope(c, f->object) &&
                   number_compare(version, c->position) == NUMBER_LESS;

    if (is_list_known(f) && (unknown || number_compare(f->version, c->position) == NUMBER_LESS))
        return RESTORE_CHECK_RESTORED;
    if (c->unread || c->changed)
        return begin_past_read(c, RESTORE_CHECK_PAST, c->position, now_ms);
    if (!c->last_change.deleted)
        return RESTORE_CHECK_PASSED;
    memcpy(before, c->last_change.version, sizeof(before));
    return decrement_version(before) ? begin_past_read(c, RESTORE_CHECK_BEFORE, before, now_ms)
                                     : RESTORE_CHECK_PASSED;
}

static enum restore_check_result evaluate_deletion(struct restore_check *c, const struct fetch *f,
                                                   int64_t now_ms)
{
    bool before = c->step == RESTORE_CHECK_BEFORE;

    /* The server does not have this state any more, or ignores resourceVersionMatch. */
    if (!is_list_known(f) || strcmp(f->version, c->past) != 0)
        return RESTORE_CHECK_PASSED;
    if ((f->state == FETCH_FOUND) != before)
        return RESTORE_CHECK_RESTORED;
    return before ? begin_past_read(c, RESTORE_CHECK_DELETION, c->last_change.version, now_ms)
                  : RESTORE_CHECK_PASSED;
}

static enum restore_check_result evaluate_past(struct restore_check *c, const struct fetch *f,
                                               int64_t now_ms)
{
    bool past = is_list_known(f) && strcmp(f->version, c->position) == 0;
    enum last_change_verdict verdict = LAST_CHANGE_UNDECIDED;

    /* With another version, the state is the present one: resourceVersionMatch was ignored. */
    if (past)
        verdict = last_change_compare_past(&c->last_change, f->object);
    else if (is_list_known(f))
        verdict = last_change_compare_current(&c->last_change, c->position, f->object);
    c->altered = verdict == LAST_CHANGE_ALTERED && !c->spec.by_version;
    /* A server without the past state (410) cannot send its events either. */
    if (c->altered || (c->changed && f->http_status == 410))
        return RESTORE_CHECK_DOUBTFUL;
    if (verdict == LAST_CHANGE_UNDECIDED && (c->changed || is_list_known(f)))
        return begin_step(c, RESTORE_CHECK_EVENT, now_ms + EVENT_WAIT_MS);
    return verdict == LAST_CHANGE_UNDONE ? RESTORE_CHECK_RESTORED : RESTORE_CHECK_PASSED;
}

/* Returns true if the request failed for a reason that may be temporary. */
static bool is_temporary_failure(const struct restore_check *c, const struct fetch *f)
{
    /* A healthy server does not answer 400 to a read of an object by name. */
    bool unhealthy = c->step == RESTORE_CHECK_OBJECT && f->http_status == 400;

    return f->state == FETCH_FAILED &&
           (unhealthy || f->http_status == 0 || f->http_status == 429 || f->http_status >= 500);
}

static enum restore_check_result evaluate_response(struct restore_check *c, int64_t now_ms)
{
    struct fetch *f = c->fetch;
    enum restore_check_result result = RESTORE_CHECK_OPEN;

    c->fetch = NULL;
    if (is_temporary_failure(c, f) && c->failures < RETRIES_MAX) {
        c->due_ms = now_ms + ((int64_t)RETRY_FIRST_MS << c->failures++);
    } else if (c->step == RESTORE_CHECK_OBJECT) {
        result = evaluate_object(c, f, now_ms);
    } else if (c->step == RESTORE_CHECK_PAST) {
        result = evaluate_past(c, f, now_ms);
    } else if (c->step == RESTORE_CHECK_BEFORE || c->step == RESTORE_CHECK_DELETION) {
        result = evaluate_deletion(c, f, now_ms);
    } else {
        result = evaluate_list(c, f, now_ms);
    }
    fetch_free(f);
    return result;
}

static enum restore_check_result await_event(struct restore_check *c, int64_t now_ms)
{
    if (c->explained)
        return RESTORE_CHECK_PASSED;
    return now_ms >= c->due_ms ? RESTORE_CHECK_RESTORED : RESTORE_CHECK_OPEN;
}

enum restore_check_result restore_check_turn(struct restore_check *c, struct transport transport,
                                             int64_t now_ms)
{
    enum restore_check_result result = RESTORE_CHECK_OPEN;

    if (c->outdated)
        drop_fetch(c);
    if (c->step == RESTORE_CHECK_IDLE)
        return RESTORE_CHECK_OPEN;
    if (c->fetch)
        fetch_turn(c->fetch, now_ms);
    if (c->fetch && c->fetch->state != FETCH_OPEN)
        result = evaluate_response(c, now_ms);
    if (result == RESTORE_CHECK_OPEN && c->step == RESTORE_CHECK_EVENT)
        result = await_event(c, now_ms);
    if (result != RESTORE_CHECK_OPEN)
        end_check(c);
    else if (!c->fetch && c->step != RESTORE_CHECK_EVENT && now_ms >= c->due_ms)
        send_request(c, transport, now_ms);
    return result;
}

int64_t restore_check_due(const struct restore_check *c)
{
    if (c->step == RESTORE_CHECK_IDLE)
        return INT64_MAX;
    return c->fetch ? fetch_due(c->fetch) : c->due_ms;
}

/* ---- history of a reflector ---- */

void restore_history_begin_list(struct restore_history *h)
{
    end_check(&h->restore_check);
    h->listed = (struct last_change){0};
    h->contradicted = false;
}

/* Compares the last change with its object in a list; may set `contradicted` and `varies`. */
static void compare_listed(struct restore_history *h, const struct watch *w, const cJSON *object)
{
    enum last_change_verdict verdict =
        last_change_compare_current(&h->last_change, w->version, object);

    h->contradicted = h->contradicted || verdict == LAST_CHANGE_UNDONE ||
                      (verdict == LAST_CHANGE_ALTERED && !h->varies);
    h->varies = h->varies || (h->doubted && verdict == LAST_CHANGE_HOLDS);
}

void restore_history_note(struct restore_history *h, const struct watch *w,
                          const struct watch_event *event)
{
    const cJSON *object = event->object;

    if (!object || event->kind == EVENT_BOOKMARK || event->kind == EVENT_INITIAL_END)
        return;
    if (w->phase == WATCH_STREAMING) {
        bool deleted = event->kind == EVENT_DELETED;

        note_stream_change(&h->restore_check, object, deleted);
        last_change_note_event(&h->last_change, object, event->version, deleted);
        return;
    }
    if (is_change_of(&h->last_change, object))
        compare_listed(h, w, object);
    last_change_note_listed(&h->listed, object, event->version);
}

bool restore_history_end_list(struct restore_history *h, bool older)
{
    bool restored = (older || h->contradicted) && !h->expected;

    if (older || h->contradicted || h->expected)
        h->last_change = h->listed;
    else
        last_change_replace(&h->last_change, &h->listed);
    h->expected = h->contradicted = h->doubted = false;
    return restored;
}

void restore_history_check(struct restore_history *h, struct restore_check_spec spec,
                           int64_t now_ms)
{
    if (!h->resumed)
        return;
    spec.last_change = &h->last_change;
    spec.by_version = h->varies;
    restore_check_begin(&h->restore_check, &spec, now_ms);
}

bool restore_history_end_request(struct restore_history *h)
{
    const struct restore_check *c = &h->restore_check;
    bool lost = c->step != RESTORE_CHECK_IDLE && !c->explained &&
                !is_same_change(&h->last_change, &c->last_change);

    end_check(&h->restore_check);
    return lost;
}

enum restore_check_result restore_history_turn(struct restore_history *h,
                                               struct transport transport, int64_t now_ms)
{
    enum restore_check_result result = restore_check_turn(&h->restore_check, transport, now_ms);

    h->doubted = h->doubted || (result == RESTORE_CHECK_DOUBTFUL && h->restore_check.altered);
    return result;
}
