/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/audit.h"

#include "exporter/kube/server_response.h"
#include "exporter/system/url.h"
#include "metrics/base/number.h"

enum {
    PATH_MAX_BYTES = 16 * 1024,
    SUSPECTS_MAX = 256, /* Whoever has more is listed anew for these. */
    NAMED_MAX = 5,      /* In the log. */
    TRY_AGAIN_MS = 60 * 1000,
    LOOK_AGAIN_MS = 1000, /* For a resource that can be compared now. */
    ASK_AGAIN_MS = 1000,
    PATIENCE_MS = 2 * 60 * 1000, /* Bookmarks move a stream once a minute. */
    /* Ten nanoseconds for a byte, TLS, gzip and parsing included. */
    PAUSE_MIN_MS = 250,
    BYTES_PER_MS = 1000,
};

void audit_init(struct audit *a, struct reflector_context *context, int64_t interval_ms)
{
    *a = (struct audit){.context = context,
                        .interval_ms = interval_ms,
                        .due_ms = interval_ms > 0 ? context->now_ms : INT64_MAX};
    reflector_request_init(&a->reflector_request, context->transport);
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
    reflector_request_close(&a->reflector_request);
    list_limiter_leave(&a->context->limiter, &a->ticket);
    while (a->suspects)
        drop_suspect(a);
    free(a->token);
    a->token = NULL;
}

/* ---- suspects ---- */

static void suspect(struct audit *a, const char *ns, const char *name)
{
    struct audit_suspect *s;

    if (a->suspect_count == SUSPECTS_MAX)
        return;
    s = xcalloc(1, sizeof(*s));
    *s = (struct audit_suspect){.next = a->suspects, .ns = xstrdup(ns), .name = xstrdup(name)};
    a->suspects = s;
    a->suspect_count++;
}

static bool has_passed(const struct audit *a, const char *version)
{
    enum number_order order = number_compare(a->r->watch.version, version);

    return order == NUMBER_GREATER || order == NUMBER_EQUAL;
}

/* The object of a suspect in the store; NULL if it is not there. */
static const struct entry *find_suspect(const struct audit *a, const struct audit_suspect *s)
{
    const struct reflector *r = a->r;
    const struct identity id = {r->objects.settings ? r->objects.settings : r->api_version, r->kind,
                                s->ns, s->name};
    const struct entry *entry = store_find(r->objects.store, &id);

    return entry && entry_is_from_source(entry, r->objects.origin.source) ? entry : NULL;
}

static void diverges(struct audit *a, const struct audit_suspect *s, const struct entry *entry)
{
    if (a->divergences++ >= NAMED_MAX)
        return;
    log_write(a->context->log, LOG_LEVEL_WARN,
              "an object is not as the API server has it; reading its resource again", "resource",
              a->r->resource, "api_version", a->r->api_version, "namespace", s->ns, "name", s->name,
              "here", entry ? "yes" : "no", "there", s->mark ? "yes" : "no");
}

/* True if nothing more is to be asked about the suspect. */
static bool judge(struct audit *a, struct audit_suspect *s)
{
    const struct entry *entry = find_suspect(a, s);
    uint32_t last_change = s->mark > 0 ? s->mark : short_version_of_text(s->as_of);
    bool late = a->context->now_ms >= s->until_ms;

    if ((entry ? entry->version : 0) == s->mark ||
        (entry && short_version_is_newer(entry->version, last_change)))
        return true;
    if (!has_passed(a, s->as_of) && !late)
        return false;
    /* It may have been removed since. */
    if (!entry && s->removals != a->r->objects.removals) {
        s->answered = false;
        return late;
    }
    diverges(a, s, entry);
    return true;
}

static void ask(struct audit *a)
{
    const struct reflector *r = a->r;
    struct audit_suspect *s = a->suspects;
    CLEANUP(strbuf_release) struct strbuf query = STRBUF_INIT(PATH_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf selector = STRBUF_INIT(PATH_MAX_BYTES);

    if (s->until_ms == 0)
        s->until_ms = a->context->now_ms + PATIENCE_MS;
    s->removals = r->objects.removals;
    strbuf_addf(&selector, "metadata.name=%s", s->name);
    url_add(&query, "fieldSelector", selector.data);
    a->fetch = fetch_start(a->context->transport,
                           &(struct fetch_spec){
                               .id = {r->api_version, r->kind, s->ns, s->name},
                               .resource = r->resource,
                               .metadata_only = !r->watch.full_objects,
                               .list_query = query.data,
                           },
                           a->context->now_ms);
}

/* Keep the answer about the suspect, or drop that if there is none. True if there is. */
static bool read_answer(struct audit *a)
{
    const struct fetch *f = a->fetch;
    struct audit_suspect *s = a->suspects;

    if (!f->version || strlen(f->version) >= sizeof(s->as_of)) {
        drop_suspect(a);
        return false;
    }
    memcpy(s->as_of, f->version, strlen(f->version) + 1);
    s->mark = f->object ? short_version_of_object(f->object) : 0;
    s->answered = true;
    drop_fetch(a);
    return true;
}

static void look_at_suspects(struct audit *a)
{
    int64_t now_ms = a->context->now_ms;

    if (a->fetch)
        fetch_turn(a->fetch, now_ms);
    if ((a->fetch && (a->fetch->state == FETCH_OPEN || !read_answer(a))) || now_ms < a->due_ms)
        return;
    if (a->suspects && a->suspects->answered && judge(a, a->suspects))
        drop_suspect(a);
    else if (a->suspects && a->suspects->answered)
        a->due_ms = now_ms + ASK_AGAIN_MS;
    if (a->suspects && !a->suspects->answered)
        ask(a);
}

/* ---- the list ---- */

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
    /* A name that is missing may be one that cannot be read. */
    if (state == LISTED_UNWANTED || !has_passed(a, event->version) ||
        (state == LISTED_MISSING && (r->objects.has_rejected_unknown || r->objects.has_unnamed)) ||
        (state == LISTED_PRESENT &&
         (!short_version_is_newer(version, entry->version) || entry->version == 0)))
        return true;
    suspect(a, json_str(metadata, "namespace", ""), json_str(metadata, "name", ""));
    return true;
}

static void answered(void *context)
{
    (void)context;
}

static void heard(void *context, size_t bytes, bool cut)
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
    a->step = a->token ? AUDIT_LISTING : AUDIT_ASKING;
}

static void open_page(struct audit *a)
{
    const struct reflector *r = a->r;
    CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(PATH_MAX_BYTES);
    char number[16];

    snprintf(number, sizeof(number), "%d", WATCH_PAGE_OBJECTS);
    url_add_resource_path(&path, r->api_version, r->ns ? r->ns : "", r->resource);
    strbuf_addc(&path, '?');
    if (!r->audit_unpaged)
        url_add(&path, "limit", number);
    if (a->token) {
        url_add(&path, "continue", a->token);
    } else {
        url_add(&path, "resourceVersion", r->watch.version);
        url_add(&path, "resourceVersionMatch", "NotOlderThan");
    }
    if (r->field_selector)
        url_add(&path, "fieldSelector", r->field_selector);
    progress_begin(&a->progress, a->context->now_ms);
    /* What is a setting only the whole object tells. */
    reflector_request_open(
        &a->reflector_request,
        &(struct reflector_request_spec){
            .path = path.data,
            .accept = accept_header(!r->objects.settings && !r->watch.full_objects, true),
            .list = true,
            .token = a->token,
            .api_version = r->api_version,
            .kind = r->kind,
            .handler = {answered, heard, receive_event, request_ended, a},
        });
}

typedef void entry_fn(struct audit *a, struct entry *entry);

static void each_entry(struct audit *a, entry_fn *visit)
{
    const struct reflector_store *objects = &a->r->objects;

    for (const struct type *type = store_first_type(objects->store); type; type = type->next) {
        for (const struct partition *p = type->partitions; p; p = p->next_of_type) {
            for (size_t i = 0; i < p->count; i++) {
                if (entry_is_from_source(p->entries[i], objects->origin.source))
                    visit(a, p->entries[i]);
            }
        }
    }
}

static void reset(struct audit *a, struct entry *entry)
{
    (void)a;
    entry->audited = false;
}

static void suspect_unlisted(struct audit *a, struct entry *entry)
{
    if (!entry->audited && entry->version > 0 &&
        !short_version_is_newer(entry->version, short_version_of_text(a->version)))
        suspect(a, entry_ns(entry), entry->name);
}

static void list(struct audit *a)
{
    int64_t now_ms = a->context->now_ms;

    if (a->reflector_request.transfer &&
        now_ms >= progress_deadline(&a->progress, PROGRESS_LIST_MS))
        a->step = AUDIT_FAILED;
    else if (!a->reflector_request.transfer && now_ms >= a->due_ms &&
             list_limiter_enter(&a->context->limiter, &a->ticket, LIST_AUDIT, now_ms))
        open_page(a);
}

/* ---- turns ---- */

static bool is_steady(const struct reflector *r)
{
    return r->synced && r->watch.phase == WATCH_STREAMING && r->answered_ms > 0;
}

static struct reflector *find(const struct audit *a, struct reflector *const *reflectors,
                              size_t count)
{
    for (size_t i = 0; i < count && a->source > 0; i++) {
        if (reflectors[i]->objects.origin.source == a->source)
            return reflectors[i];
    }
    return NULL;
}

/* The next resource, if it is its turn. */
static void begin(struct audit *a, struct reflector *const *reflectors, size_t count)
{
    int64_t now_ms = a->context->now_ms;
    struct reflector *next = NULL;

    for (size_t i = 0; i < count; i++) {
        if (is_steady(reflectors[i]) && (!next || reflectors[i]->audited_ms < next->audited_ms))
            next = reflectors[i];
    }
    a->due_ms = next ? next->audited_ms + a->interval_ms : now_ms + LOOK_AGAIN_MS;
    if (a->due_ms > now_ms + TRY_AGAIN_MS)
        a->due_ms = now_ms + TRY_AGAIN_MS;
    if (!next || a->due_ms > now_ms)
        return;
    a->r = next;
    a->source = next->objects.origin.source;
    a->sweep = next->objects.origin.sweep;
    a->step = AUDIT_LISTING;
    a->divergences = 0;
    a->compared = false;
    each_entry(a, reset);
    list(a);
}

/* The audit is over, for the time being if it is not `done`. */
static void end(struct audit *a, bool done)
{
    int64_t soon_ms = a->interval_ms < TRY_AGAIN_MS ? a->interval_ms : TRY_AGAIN_MS;
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
    if (a->divergences > 0)
        reflector_relist_most_recent(r);
}

void audit_turn(struct audit *a, struct reflector *const *reflectors, size_t count)
{
    if (a->interval_ms == 0)
        return;
    a->r = find(a, reflectors, count);
    if (a->source == 0) {
        if (a->context->now_ms >= a->due_ms)
            begin(a, reflectors, count);
        return;
    }
    if (!a->r || !is_steady(a->r) || a->r->objects.origin.sweep != a->sweep)
        a->step = AUDIT_FAILED;
    if (a->step == AUDIT_LISTING)
        list(a);
    if (a->step == AUDIT_ASKING && !a->compared) {
        each_entry(a, suspect_unlisted);
        a->compared = true;
    }
    if (a->step == AUDIT_ASKING)
        look_at_suspects(a);
    if (a->step == AUDIT_FAILED || (a->step == AUDIT_ASKING && !a->suspects))
        end(a, a->step == AUDIT_ASKING);
}

int64_t audit_due(const struct audit *a)
{
    if (a->source == 0)
        return a->due_ms;
    if (a->reflector_request.transfer)
        return progress_deadline(&a->progress, PROGRESS_LIST_MS);
    if (a->ticket.state == TICKET_WAITING)
        return list_limiter_due(&a->context->limiter, &a->ticket);
    return a->fetch ? fetch_due(a->fetch) : a->due_ms;
}
