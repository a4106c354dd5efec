/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/audit.h"

#include "exporter/kube/server_response.h"
#include "exporter/system/url.h"
#include "metrics/base/number.h"

enum {
    PATH_MAX_BYTES = 16 * 1024,
    PAGE_OBJECTS = 500, /* Small: an audit has time, and pauses between pages. */
    SUSPECTS_MAX = 256, /* Further suspects are ignored: a divergence relists all objects anyway. */
    LOGGED_MAX = 5,     /* Divergences of an audit that are logged. */
    /* Longest time to the next audit after a failed one, and between searches for a due one. */
    RETRY_MS = 60 * 1000,
    IDLE_INTERVAL_MS = 1000, /* Time between two checks if no reflector can be audited. */
    SUSPECT_INTERVAL_MS = 1000,
    SUSPECT_TIMEOUT_MS = 2 * 60 * 1000, /* Bookmarks come once a minute. */
    PAUSE_MIN_MS = 250,
    BYTES_PER_MS = 1000, /* Pause after a page: 1,000 bytes take about 10 us of CPU time. */
};

void audit_init(struct audit *a, struct reflector_context *context, int64_t interval_ms)
{
    *a = (struct audit){.context = context,
                        .interval_ms = interval_ms,
                        .due_ms = interval_ms > 0 ? context->now_ms : INT64_MAX};
    reflector_request_init(&a->request, context->transport);
}

static void drop_fetch(struct audit *a)
{
    fetch_free(a->fetch);
    a->fetch = NULL;
}

static void drop_suspect(struct audit *a)
{
    struct audit_suspect *s = a->suspects;

    drop_fetch(a);
    a->suspects = s->next;
    a->suspect_count--;
    free(s->ns);
    free(s->name);
    free(s);
}

void audit_release(struct audit *a)
{
    reflector_request_close(&a->request);
    list_limiter_leave(&a->context->limiter, &a->ticket);
    while (a->suspects)
        drop_suspect(a);
    free(a->token);
    a->token = NULL;
}

/* ---- suspects ---- */

static void add_suspect(struct audit *a, const char *ns, const char *name)
{
    struct audit_suspect *s;

    if (a->suspect_count == SUSPECTS_MAX)
        return;
    s = xcalloc(1, sizeof(*s));
    *s = (struct audit_suspect){.next = a->suspects, .ns = xstrdup(ns), .name = xstrdup(name)};
    a->suspects = s;
    a->suspect_count++;
}

/* Returns true if the reflector's stream is at this version or a later one. */
static bool stream_has_passed(const struct audit *a, const char *version)
{
    enum number_order order = number_compare(a->r->watch.version, version);

    return order == NUMBER_GREATER || order == NUMBER_EQUAL;
}

/* Returns the suspect's object in the store; NULL if it is missing or of another source. */
static const struct entry *find_suspect(const struct audit *a, const struct audit_suspect *s)
{
    const struct reflector *r = a->r;
    const struct identity id = {r->objects.settings ? r->objects.settings : r->api_version, r->kind,
                                s->ns, s->name};
    const struct entry *entry = store_find(r->objects.store, &id);

    return entry && entry_is_from_source(entry, r->objects.origin.source) ? entry : NULL;
}

static void report_divergence(struct audit *a, const struct audit_suspect *s,
                              const struct entry *entry)
{
    if (a->divergences++ >= LOGGED_MAX)
        return;
    log_write(a->context->log, LOG_LEVEL_WARN,
              "an object differs from that of the API server; reading its resource again",
              "resource", a->r->resource, "api_version", a->r->api_version, "namespace", s->ns,
              "name", s->name, "here", entry ? "yes" : "no", "there",
              s->server_version ? "yes" : "no");
}

/* Counts the suspect if it diverges. Returns false if it cannot be decided yet. */
static bool decide_suspect(struct audit *a, struct audit_suspect *s)
{
    const struct entry *entry = find_suspect(a, s);
    uint32_t last_change =
        s->server_version > 0 ? s->server_version : short_version_of_text(s->list_version);
    bool late = a->context->now_ms >= s->deadline_ms;

    if ((entry ? entry->version : 0) == s->server_version ||
        (entry && short_version_is_newer(entry->version, last_change)))
        return true;
    if (!stream_has_passed(a, s->list_version) && !late)
        return false;
    /* The object may have been added and removed since the request: request it again. */
    if (!entry && s->removals != a->r->objects.removals) {
        s->checked = false;
        return late;
    }
    report_divergence(a, s, entry);
    return true;
}

static void request_suspect(struct audit *a)
{
    const struct reflector *r = a->r;
    struct audit_suspect *s = a->suspects;
    CLEANUP(strbuf_release) struct strbuf query = STRBUF_INIT(PATH_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf selector = STRBUF_INIT(PATH_MAX_BYTES);

    if (s->deadline_ms == 0)
        s->deadline_ms = a->context->now_ms + SUSPECT_TIMEOUT_MS;
    s->removals = r->objects.removals;
    strbuf_addf(&selector, "metadata.name=%s", s->name);
    url_add_parameter(&query, "fieldSelector", selector.data);
    a->fetch = fetch_start(a->context->transport,
                           &(struct fetch_spec){
                               .id = {r->api_version, r->kind, s->ns, s->name},
                               .resource = r->resource,
                               .metadata_only = !r->watch.full_objects,
                               .list_query = query.data,
                           },
                           a->context->now_ms);
}

/* Stores a usable response in the first suspect. Otherwise drops the suspect, returns false. */
static bool read_suspect(struct audit *a)
{
    const struct fetch *f = a->fetch;
    struct audit_suspect *s = a->suspects;

    if (!f->version || strlen(f->version) >= sizeof(s->list_version)) {
        drop_suspect(a);
        return false;
    }
    memcpy(s->list_version, f->version, strlen(f->version) + 1);
    s->server_version = f->object ? short_version_of_object(f->object) : 0;
    s->checked = true;
    drop_fetch(a);
    return true;
}

static void check_suspects(struct audit *a)
{
    int64_t now_ms = a->context->now_ms;

    if (a->fetch)
        fetch_turn(a->fetch, now_ms);
    if ((a->fetch && (a->fetch->state == FETCH_OPEN || !read_suspect(a))) || now_ms < a->due_ms)
        return;
    if (a->suspects && a->suspects->checked && decide_suspect(a, a->suspects))
        drop_suspect(a);
    else if (a->suspects && a->suspects->checked)
        a->due_ms = now_ms + SUSPECT_INTERVAL_MS;
    if (a->suspects && !a->suspects->checked)
        request_suspect(a);
}

/* ---- list ---- */

static bool receive_event(void *context, const struct watch_event *event)
{
    struct audit *a = context;
    const struct reflector *r = a->r;
    uint32_t version = short_version_of_text(event->version);
    struct entry *entry = NULL;

    if (event->kind != EVENT_OBJECT || version == 0)
        return true;

    enum listed_state state = reflector_store_find_listed(&r->objects, event->object, &entry);
    const cJSON *metadata = json_get(event->object, "metadata");

    if (state == LISTED_PRESENT)
        entry->audited = true;
    /* A missing object may be one that the reflector rejected. */
    if (state == LISTED_UNWANTED || !stream_has_passed(a, event->version) ||
        (state == LISTED_MISSING && (r->objects.has_rejected_unknown || r->objects.has_unnamed)) ||
        (state == LISTED_PRESENT &&
         (!short_version_is_newer(version, entry->version) || entry->version == 0)))
        return true;
    add_suspect(a, json_str(metadata, "namespace", ""), json_str(metadata, "name", ""));
    return true;
}

static void ignore_headers(void *context)
{
    (void)context;
}

static void record_progress(void *context, size_t bytes, bool cut)
{
    struct audit *a = context;

    (void)cut;
    progress_note_bytes(&a->progress, bytes, a->context->now_ms);
}

static void request_ended(void *context, const struct reflector_request_end *end)
{
    struct audit *a = context;
    int64_t pause_ms = (int64_t)(a->progress.bytes / BYTES_PER_MS);

    list_limiter_leave(&a->context->limiter, &a->ticket);
    a->r->audit_unpaged = a->r->audit_unpaged || (a->token && end->reason == END_GONE);
    free(a->token);
    a->token = NULL;
    a->due_ms = a->context->now_ms + (pause_ms > PAUSE_MIN_MS ? pause_ms : PAUSE_MIN_MS);
    if (!end->page || strlen(end->page->version) >= sizeof(a->version)) {
        a->step = AUDIT_FAILED;
        return;
    }
    memcpy(a->version, end->page->version, strlen(end->page->version) + 1);
    a->token = end->page->token ? xstrdup(end->page->token) : NULL;
    a->step = a->token ? AUDIT_LISTING : AUDIT_CHECKING;
}

static void request_page(struct audit *a)
{
    const struct reflector *r = a->r;
    CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(PATH_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf shard = STRBUF_INIT(PATH_MAX_BYTES);
    char number[16];

    snprintf(number, sizeof(number), "%d", PAGE_OBJECTS);
    url_add_resource_path(&path, r->api_version, r->ns ? r->ns : "", r->resource);
    strbuf_addc(&path, '?');
    if (!r->audit_unpaged)
        url_add_parameter(&path, "limit", number);
    if (a->token) {
        url_add_parameter(&path, "continue", a->token);
    } else {
        url_add_parameter(&path, "resourceVersion", r->watch.version);
        url_add_parameter(&path, "resourceVersionMatch", "NotOlderThan");
    }
    reflector_add_shard_selector(r, true, &shard);
    url_add_selectors(&path, &(struct selectors){r->field_selector, shard.data});
    progress_begin(&a->progress, a->context->now_ms);
    /* Settings are recognized by spec members: request full objects. */
    reflector_request_open(
        &a->request,
        &(struct reflector_request_spec){
            .path = path.data,
            .accept = accept_header(!r->objects.settings && !r->watch.full_objects, true),
            .list = true,
            .token = a->token,
            .shard_selector = shard.data,
            .api_version = r->api_version,
            .kind = r->kind,
            .handler = {ignore_headers, record_progress, receive_event, request_ended, a},
        });
}

static void each_reflector_entry(struct audit *a,
                                 void (*visit)(struct audit *a, struct entry *entry))
{
    const struct reflector_store *objects = &a->r->objects;

    for (const struct type *type = store_first_type(objects->store); type; type = type->next) {
        for (const struct partition *p = type->partitions; p; p = p->next_of_type) {
            for (size_t i = 0; i < p->count; i++) {
                if (entry_is_from_source(partition_entry(p, i), objects->origin.source))
                    visit(a, partition_entry(p, i));
            }
        }
    }
}

static void clear_audited(struct audit *a, struct entry *entry)
{
    (void)a;
    entry->audited = false;
}

static void suspect_if_unlisted(struct audit *a, struct entry *entry)
{
    if (!entry->audited && entry->version > 0 &&
        !short_version_is_newer(entry->version, short_version_of_text(a->version)))
        add_suspect(a, entry_ns(entry), entry->name);
}

static void continue_list(struct audit *a)
{
    int64_t now_ms = a->context->now_ms;

    if (a->request.transfer && now_ms >= progress_deadline(&a->progress, PROGRESS_LIST_MS))
        a->step = AUDIT_FAILED;
    else if (!a->request.transfer && now_ms >= a->due_ms &&
             list_limiter_enter(&a->context->limiter, &a->ticket, LIST_AUDIT, now_ms))
        request_page(a);
}

/* ---- start and end ---- */

static bool can_be_audited(const struct reflector *r)
{
    return r->synced && r->watch.phase == WATCH_STREAMING && r->answered_ms > 0;
}

static struct reflector *find_audited_reflector(const struct audit *a,
                                                struct reflector *const *reflectors, size_t count)
{
    for (size_t i = 0; i < count && a->source > 0; i++) {
        if (reflectors[i]->objects.origin.source == a->source)
            return reflectors[i];
    }
    return NULL;
}

/* Sets due_ms, and begins an audit of the resource with the oldest last audit, if due. */
static void begin_next_audit(struct audit *a, struct reflector *const *reflectors, size_t count)
{
    int64_t now_ms = a->context->now_ms;
    struct reflector *next = NULL;

    for (size_t i = 0; i < count; i++) {
        if (can_be_audited(reflectors[i]) &&
            (!next || reflectors[i]->audited_ms < next->audited_ms))
            next = reflectors[i];
    }
    a->due_ms = next ? next->audited_ms + a->interval_ms : now_ms + IDLE_INTERVAL_MS;
    if (a->due_ms > now_ms + RETRY_MS)
        a->due_ms = now_ms + RETRY_MS;
    if (!next || a->due_ms > now_ms)
        return;
    a->r = next;
    a->source = next->objects.origin.source;
    a->sweep = next->objects.origin.sweep;
    a->step = AUDIT_LISTING;
    a->divergences = 0;
    a->compared = false;
    each_reflector_entry(a, clear_audited);
    continue_list(a);
}

/*
 * Ends the audit. `done`: the audit is complete and counts; otherwise the resource is due again
 * after RETRY_MS at most. Lists the resource again if a divergence was found, or if an object of
 * unknown name was rejected: an audit does not decode objects, so only a list shows whether they
 * are valid now.
 */
static void end_audit(struct audit *a, bool done)
{
    int64_t soon_ms = a->interval_ms < RETRY_MS ? a->interval_ms : RETRY_MS;
    struct reflector *r = a->r;

    audit_release(a);
    a->source = 0;
    a->due_ms = a->context->now_ms;
    a->r = NULL;
    if (!r)
        return;
    r->audited_ms = a->context->now_ms - (done ? 0 : a->interval_ms - soon_ms);
    r->watch.counts.audits += done;
    r->watch.counts.divergences += a->divergences;
    if (done || a->divergences > 0)
        r->diverged = a->divergences > 0;
    if (a->divergences > 0)
        reflector_relist_most_recent(r);
    else if (done && r->objects.unnamed_sweep > 0)
        reflector_relist(r);
}

void audit_turn(struct audit *a, struct reflector *const *reflectors, size_t count)
{
    if (a->interval_ms == 0)
        return;
    a->r = find_audited_reflector(a, reflectors, count);
    if (a->source == 0) {
        if (a->context->now_ms >= a->due_ms)
            begin_next_audit(a, reflectors, count);
        return;
    }
    if (!a->r || !can_be_audited(a->r) || a->r->objects.origin.sweep != a->sweep)
        a->step = AUDIT_FAILED;
    if (a->step == AUDIT_LISTING)
        continue_list(a);
    if (a->step == AUDIT_CHECKING && !a->compared) {
        each_reflector_entry(a, suspect_if_unlisted);
        a->compared = true;
    }
    if (a->step == AUDIT_CHECKING)
        check_suspects(a);
    if (a->step == AUDIT_FAILED || (a->step == AUDIT_CHECKING && !a->suspects))
        end_audit(a, a->step == AUDIT_CHECKING);
}

int64_t audit_due(const struct audit *a)
{
    if (a->source == 0)
        return a->due_ms;
    if (a->request.transfer)
        return progress_deadline(&a->progress, PROGRESS_LIST_MS);
    if (a->ticket.state == TICKET_WAITING)
        return list_limiter_due(&a->context->limiter, &a->ticket);
    return a->fetch ? fetch_due(a->fetch) : a->due_ms;
}
