/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/api.h"

enum { BODY_MAX = 64 << 20, PAGE_OBJECTS = 3 };

void api_init(struct api *a, const struct plan *plan)
{
    *a = (struct api){.plan = plan};
    etcd_init(&a->etcd);
}

void api_release(struct api *a)
{
    etcd_release(&a->etcd);
}

void api_advance(struct api *a)
{
    for (unsigned i = 0; i < a->plan->servers; i++) {
        struct api_server *s = &a->servers[i];

        while (s->applied < a->etcd.count && a->etcd.log[s->applied].at_ms + s->lag_ms <= a->now_ms)
            s->applied++;
    }
}

int64_t api_due(const struct api *a, unsigned server)
{
    const struct api_server *s = &a->servers[server];

    return s->applied < a->etcd.count ? a->etcd.log[s->applied].at_ms + s->lag_ms : INT64_MAX;
}

/*
 * Returns the resourceVersion of a list from the watch cache: the version of the cache's last
 * change. With kind_versions, returns that of the kind's last change instead, but at least the
 * compacted version, unless the cache itself is older.
 */
static uint64_t cache_version(const struct api *a, unsigned server, unsigned kind)
{
    size_t at = a->servers[server].applied;
    uint64_t version = etcd_version_at(&a->etcd, at);

    if (!a->plan->kind_versions || version < a->etcd.compacted)
        return version;
    while (at > 0 && slot_kind(a->etcd.log[at - 1].slot) != kind)
        at--;
    version = etcd_version_at(&a->etcd, at);
    return version > a->etcd.compacted ? version : a->etcd.compacted;
}

static bool reads_cache(const struct api_request *r)
{
    return r->has_version && !r->token[0];
}

bool api_is_fresh(const struct api *a, unsigned server, const struct api_request *r)
{
    uint64_t applied = etcd_version_at(&a->etcd, a->servers[server].applied);

    if (r->type == REQUEST_LIST && reads_cache(r))
        return r->version <= applied;
    if (r->type == REQUEST_WATCH && r->initial)
        return (r->has_version ? r->version : a->etcd.version) <= applied;
    return true;
}

static void set_response(struct api_response *out, unsigned http_status, const char *body)
{
    *out = (struct api_response){.http_status = http_status,
                                 .content_type = body[0] == '<' ? "text/html" : "application/json",
                                 .body = STRBUF_INIT(BODY_MAX)};
    strbuf_adds(&out->body, body);
}

void api_refuse_stale(struct api_response *out)
{
    set_response(
        out, 504,
        "{\"kind\":\"Status\",\"code\":504,\"message\":\"Timeout: Too large resource version\","
        "\"details\":{\"causes\":[{\"reason\":\"ResourceVersionTooLarge\"}],"
        "\"retryAfterSeconds\":1}}");
    out->retry_after_ms = 1000;
}

static bool matches_request(const struct api_request *r, unsigned slot, const struct cell *cell)
{
    char name[48];

    return cell->exists && !r->other_reason && (!r->ns[0] || strcmp(r->ns, slot_ns(slot)) == 0) &&
           (!r->name[0] || strcmp(r->name, slot_name(slot, name)) == 0);
}

/* ---- lists ---- */

struct page {
    size_t count; /* Number of changes at the page's version. */
    uint64_t version;
    unsigned first; /* Index within the kind of the first slot on the page. */
};

/* Returns false if the continue token is malformed, compacted, or from before a restore. */
static bool parse_token(const struct api *a, const struct api_request *r, struct page *out)
{
    unsigned epoch = 0;

    *out = (struct page){0};
    if (sscanf(r->token, "c%u.%" SCNu64 ".%u", &epoch, &out->version, &out->first) != 3 ||
        epoch != a->etcd.epoch || out->version < a->etcd.compacted)
        return false;
    out->count = etcd_count_at(&a->etcd, out->version);
    return true;
}

static void answer_list(struct api *a, unsigned server, const struct api_request *r,
                        struct api_response *out)
{
    bool paginates = r->limit > 0 && (!reads_cache(r) || a->plan->paginates);
    struct page page = {.count = a->etcd.count, .version = a->etcd.version};
    struct cell cells[SIM_PLACES];
    unsigned written = 0, place;

    if (r->token[0] && !parse_token(a, r, &page)) {
        set_response(out, 410, "{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\"}");
        return;
    }
    if (reads_cache(r)) {
        page.count = a->servers[server].applied;
        page.version = cache_version(a, server, r->target);
    }
    etcd_kind_at(&a->etcd, (enum sim_kind)r->target, page.count, cells);
    set_response(out, 200, "{\"kind\":\"SomeList\",\"items\":[");
    out->content_type = "application/json";
    for (place = page.first; place < SIM_PLACES && !(paginates && written == PAGE_OBJECTS);
         place++) {
        unsigned slot = r->target * SIM_PLACES + place;

        if (!matches_request(r, slot, &cells[place]))
            continue;
        strbuf_adds(&out->body, written++ > 0 ? "," : "");
        object_write(slot, &cells[place], a->plan->template_kinds, r->metadata_only, &out->body);
    }
    strbuf_addf(&out->body, "],\"metadata\":{\"resourceVersion\":\"%" PRIu64 "\"", page.version);
    if (place < SIM_PLACES)
        strbuf_addf(&out->body, ",\"continue\":\"c%u.%" PRIu64 ".%u\"", a->etcd.epoch, page.version,
                    place);
    strbuf_adds(&out->body, "}}");
}

static void answer_get(struct api *a, const struct api_request *r, struct api_response *out)
{
    for (unsigned place = 0; place < SIM_PLACES; place++) {
        unsigned slot = r->target * SIM_PLACES + place;

        if (!matches_request(r, slot, &a->etcd.cells[slot]))
            continue;
        set_response(out, 200, "");
        out->content_type = "application/json";
        object_write(slot, &a->etcd.cells[slot], a->plan->template_kinds, r->metadata_only,
                     &out->body);
        return;
    }
    set_response(out, 404, "{\"kind\":\"Status\",\"code\":404,\"reason\":\"NotFound\"}");
}

/* ---- discovery ---- */

static void append_group(const struct api *a, const char *api_version, bool stale,
                         struct strbuf *out)
{
    const char *slash = strchr(api_version, '/');
    const char *separator = "";

    strbuf_addf(out,
                "{\"metadata\":{\"name\":\"%.*s\"},\"versions\":[{\"version\":\"%s\","
                "\"freshness\":\"%s\",\"resources\":[",
                slash ? (int)(slash - api_version) : 0, api_version,
                slash ? slash + 1 : api_version, stale ? "Stale" : "Current");
    for (unsigned kind = 0; kind < SIM_KIND_COUNT && !stale; kind++) {
        const struct sim_kind_row *row = &sim_kinds[kind];

        if (a->unserved[kind] || !plan_has_kind(a->plan, kind) ||
            strcmp(row->api_version, api_version) != 0)
            continue;
        strbuf_addf(out,
                    "%s{\"resource\":\"%s\",\"responseKind\":{\"kind\":\"%s\"},\"scope\":\"%s\","
                    "\"verbs\":[\"delete\",\"list\",\"watch\"]}",
                    separator, row->resource, row->kind,
                    row->cluster_scoped ? "Cluster" : "Namespaced");
        separator = ",";
    }
    strbuf_adds(out, "]}]}");
}

static void answer_discovery(const struct api *a, const struct api_request *r,
                             struct api_response *out)
{
    const char *separator = "";

    set_response(out, 200, "{\"kind\":\"APIGroupDiscoveryList\",\"items\":[");
    out->content_type = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    for (unsigned kind = 0; kind < SIM_KIND_COUNT; kind++) {
        const char *api_version = sim_kinds[kind].api_version;
        bool first = true;

        for (unsigned other = 0; other < kind; other++)
            first = first && strcmp(sim_kinds[other].api_version, api_version) != 0;
        if (!first || r->core != !strchr(api_version, '/'))
            continue;
        strbuf_adds(&out->body, separator);
        append_group(a, api_version, plan_fault(a->plan, FAULT_STALE, kind, a->now_ms) != NULL,
                     &out->body);
        separator = ",";
    }
    strbuf_adds(&out->body, "]}");
}

void api_answer(struct api *a, unsigned server, const struct api_request *r,
                struct api_response *out)
{
    if (r->type == REQUEST_DISCOVERY)
        answer_discovery(a, r, out);
    else if (r->type == REQUEST_OTHER || !plan_has_kind(a->plan, r->target) ||
             a->unserved[r->target])
        set_response(out, 404, "404 page not found\n");
    else if (r->type == REQUEST_GET)
        answer_get(a, r, out);
    else
        answer_list(a, server, r, out);
}

/* ---- streams ---- */

static void append_event(const struct api *a, const struct api_request *r, const char *type,
                         unsigned slot, const struct cell *cell, struct strbuf *out)
{
    strbuf_addf(out, "{\"type\":\"%s\",\"object\":", type);
    object_write(slot, cell, a->plan->template_kinds, r->metadata_only, out);
    strbuf_adds(out, "}\n");
}

void api_bookmark(const struct api *a, unsigned server, struct api_stream *s, bool initial_end,
                  struct strbuf *out)
{
    uint64_t version = etcd_version_at(&a->etcd, a->servers[server].applied);

    if (version < s->sent)
        return;
    s->sent = version;
    strbuf_addf(out,
                "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"x\",\"metadata\":{"
                "\"resourceVersion\":\"%" PRIu64 "\"%s}}}\n",
                version,
                initial_end ? ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}" : "");
}

static void append_initial_events(struct api *a, unsigned server, const struct api_request *r,
                                  struct api_stream *s, struct strbuf *out)
{
    struct cell cells[SIM_PLACES];

    etcd_kind_at(&a->etcd, (enum sim_kind)r->target, s->position, cells);
    for (unsigned place = 0; place < SIM_PLACES; place++) {
        unsigned slot = r->target * SIM_PLACES + place;

        if (matches_request(r, slot, &cells[place]))
            append_event(a, r, "ADDED", slot, &cells[place], out);
    }
    if (!s->without_end)
        api_bookmark(a, server, s, true, out);
}

void api_open_stream(struct api *a, unsigned server, const struct api_request *r, bool without_end,
                     struct api_stream *s, struct api_response *out)
{
    size_t applied = a->servers[server].applied;

    *s = (struct api_stream){.since = r->version, .sent = r->version};
    if (!plan_has_kind(a->plan, r->target) || a->unserved[r->target]) {
        set_response(out, 404, "404 page not found\n");
    } else if (r->initial && a->plan->initial[r->target] == INITIAL_REFUSED) {
        set_response(out, 422, "{\"kind\":\"Status\",\"code\":422}");
    } else if (!r->initial && r->has_version && r->version < a->etcd.compacted) {
        /* A watch cache reports a compacted version by a status, etcd by an event: both occur. */
        if (r->version & 1)
            set_response(out, 410, "{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\"}");
        else
            set_response(out, 200,
                         "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410}}\n");
        s->over = true;
        out->content_type = "application/json";
    } else {
        set_response(out, 200, "");
        out->content_type = "application/json";
        s->position = etcd_count_at(&a->etcd, r->version);
        if (!r->initial)
            return;
        s->position = applied;
        s->since = s->sent = 0;
        s->without_end = without_end || a->plan->initial[r->target] == INITIAL_WITHOUT_END;
        append_initial_events(a, server, r, s, &out->body);
    }
}

bool api_next_event(struct api *a, unsigned server, const struct api_request *r,
                    struct api_stream *s, struct strbuf *out)
{
    while (s->position < a->servers[server].applied) {
        const struct change *c = &a->etcd.log[s->position++];
        struct cell cell = c->cell;

        cell.exists = true;
        if (slot_kind(c->slot) != r->target || c->version <= s->since ||
            !matches_request(r, c->slot, &cell) || (a->plan->liars && c->type[0] == 'D'))
            continue;
        if (c->version > s->sent)
            s->sent = c->version;
        append_event(a, r, c->type, c->slot, &cell, out);
        return true;
    }
    return false;
}
