/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/fake_api.h"

#include <setjmp.h>

#include <cmocka.h>

#include "metrics/base/number.h"

enum {
    BODY_MAX = 1 << 22,
    PAGE_OBJECTS = 3,
    STALL_MS = 60 * 1000, /* Time after which an unanswered request fails. */
    BOOKMARK_MS = 60 * 1000,
};

#define POLICY  "policy.karmada.io/v1alpha1"
#define WORK    "work.karmada.io/v1alpha2"
#define CLUSTER "cluster.karmada.io/v1alpha1"

const struct fake_kind_row fake_kinds[FAKE_KIND_COUNT] = {
    [FAKE_POLICY] = {POLICY, "PropagationPolicy", "propagationpolicies", true, false},
    [FAKE_CLUSTER_POLICY] = {POLICY, "ClusterPropagationPolicy", "clusterpropagationpolicies",
                             false, false},
    [FAKE_BINDING] = {WORK, "ResourceBinding", "resourcebindings", true, false},
    [FAKE_CLUSTER_BINDING] = {WORK, "ClusterResourceBinding", "clusterresourcebindings", false,
                              false},
    [FAKE_OVERRIDE] = {POLICY, "OverridePolicy", "overridepolicies", true, false},
    [FAKE_CLUSTER_OVERRIDE] = {POLICY, "ClusterOverridePolicy", "clusteroverridepolicies", false,
                               false},
    [FAKE_QUOTA] = {POLICY, "FederatedResourceQuota", "federatedresourcequotas", true, false},
    [FAKE_CLUSTER] = {CLUSTER, "Cluster", "clusters", false, false},
    [FAKE_EVENT] = {"v1", "Event", "events", true, false},
    [FAKE_CONFIG_MAP] = {"v1", "ConfigMap", "configmaps", true, true},
    [FAKE_DEPLOYMENT] = {"apps/v1", "Deployment", "deployments", true, true},
    [FAKE_FOO] = {"example.io/v1", "Foo", "foos", true, true},
    [FAKE_WORK] = {"work.karmada.io/v1alpha1", "Work", "works", true, false},
};

/* State of a request. */
enum transfer_state { TRANSFER_NEW, TRANSFER_SENDING, TRANSFER_STREAMING, TRANSFER_STALLED };

struct transfer {
    struct transfer *next;
    struct transport_handler handler;
    char path[2048];
    bool metadata_only;
    bool over;
    enum transfer_state state;
    enum fake_kind kind;
    char ns[16];
    char name[64];             /* Name of the requested object; "" for lists and watches. */
    char shard_selector[1024]; /* "" to send objects of all shards. */
    unsigned http_status;
    int64_t retry_after_ms;
    const char *content_type;
    struct strbuf body;
    size_t sent;
    size_t cut_at; /* Length at which the body ends early; SIZE_MAX: complete. */
    bool cut_looks_fine;
    uint64_t seen; /* Version up to which changes have been sent. */
    bool deaf;     /* The stream stays open, but sends no more events. */
    bool bookmarks;
    int64_t opened_ms;
    int64_t bookmark_ms;
    int64_t ends_ms;
};

uint32_t fake_random(struct fake_api *f, uint32_t limit)
{
    f->random ^= f->random << 13;
    f->random ^= f->random >> 17;
    f->random ^= f->random << 5;
    return f->random % limit;
}

static bool has_fault(struct fake_api *f)
{
    return fake_random(f, 100) < f->fault_percent;
}

void fake_api_init(struct fake_api *f, uint32_t seed)
{
    *f = (struct fake_api){.random = seed * 2654435761U + 1, .version = 100, .bookmarks = true};
    f->snapshots = xcalloc(FAKE_SNAPSHOTS, sizeof(*f->snapshots));
    f->base = xcalloc(1, sizeof(*f->base));
    for (int i = 0; i < FAKE_KIND_COUNT; i++)
        f->served[i] = true;
}

static void free_transfer(struct transfer *t)
{
    strbuf_release(&t->body);
    free(t);
}

void fake_api_release(struct fake_api *f)
{
    while (f->transfers) {
        struct transfer *t = f->transfers;

        f->transfers = t->next;
        free_transfer(t);
    }
    free(f->snapshots);
    free(f->base);
    free(f->log);
}

/* ---- objects ---- */

static void note_change(struct fake_api *f, const char *type, struct fake_object *object)
{
    object->version = ++f->version;
    f->log = xreallocarray(f->log, f->log_count + 1, sizeof(*f->log));
    f->log[f->log_count++] = (struct fake_change){f->version, type, *object};
}

void fake_put(struct fake_api *f, enum fake_kind kind, const char *ns, const char *name,
              unsigned value)
{
    struct fake_object *o = NULL;
    bool added;

    for (size_t i = 0; i < f->count && !o; i++) {
        if (f->objects[i].kind == kind && strcmp(f->objects[i].name, name) == 0 &&
            strcmp(f->objects[i].ns, ns) == 0)
            o = &f->objects[i];
    }
    added = !o;
    if (added) {
        if (f->count == FAKE_OBJECTS_MAX)
            return;
        o = &f->objects[f->count++];
        *o = (struct fake_object){.kind = kind};
        snprintf(o->ns, sizeof(o->ns), "%s", ns);
        snprintf(o->name, sizeof(o->name), "%s", name);
    }
    o->value = value;
    note_change(f, added ? "ADDED" : "MODIFIED", o);
}

void fake_remove(struct fake_api *f, size_t at)
{
    struct fake_object gone = f->objects[at];

    f->objects[at] = f->objects[--f->count];
    note_change(f, "DELETED", &gone);
}

void fake_compact(struct fake_api *f)
{
    f->compacted = f->version;
}

void fake_serve(struct fake_api *f, enum fake_kind kind, bool served)
{
    f->served[kind] = served;
    for (size_t i = f->count; !served && i-- > 0;) {
        if (f->objects[i].kind == kind)
            fake_remove(f, i);
    }
}

void fake_save(const struct fake_api *f, struct fake_snapshot *snapshot)
{
    memcpy(snapshot->objects, f->objects, sizeof(f->objects));
    snapshot->count = f->count;
    snapshot->version = f->version;
}

void fake_restore(struct fake_api *f, const struct fake_snapshot *snapshot)
{
    memcpy(f->objects, snapshot->objects, sizeof(f->objects));
    *f->base = *snapshot;
    f->count = snapshot->count;
    f->version = f->compacted = snapshot->version;
    f->log_count = 0;
    fake_cut_all(f);
}

#define SELECTOR(api_version, kind) "{\"apiVersion\":\"" api_version "\",\"kind\":\"" kind "\"}"

static const char *const selected[] = {
    SELECTOR("v1", "ConfigMap"),
    SELECTOR("apps/v1", "Deployment"),
    SELECTOR("example.io/v1", "Foo"),
    (SELECTOR("v1", "ConfigMap") "," SELECTOR("example.io/v1", "Foo")),
    SELECTOR("example.io/v1", "Unheard"),
    SELECTOR(FAKE_OLD_VERSION, "Foo"),
};

bool fake_selects(unsigned value, enum fake_kind kind)
{
    char name[128];

    snprintf(name, sizeof(name), "\"%s\",\"kind\":\"%s\"", fake_kinds[kind].api_version,
             fake_kinds[kind].kind);
    return strstr(selected[value % ARRAY_LEN(selected)], name) != NULL;
}

enum fake_kind fake_bound_kind(const char *name)
{
    static const enum fake_kind kinds[] = {FAKE_CONFIG_MAP, FAKE_DEPLOYMENT, FAKE_FOO};

    return kinds[(unsigned char)name[0] % ARRAY_LEN(kinds)];
}

/*
 * Returns the apiVersion of the template in a binding: for FAKE_OLD_VALUE, an old version of Foo.
 */
static const char *bound_version(const struct fake_object *o)
{
    enum fake_kind kind = fake_bound_kind(o->name);

    return kind == FAKE_FOO && o->value == FAKE_OLD_VALUE ? FAKE_OLD_VERSION
                                                          : fake_kinds[kind].api_version;
}

/* Appends the name that Karmada gives to the binding of a template. */
static void write_binding_name(const struct fake_object *o, struct strbuf *out)
{
    strbuf_addf(out, "%s-", o->name);
    for (const char *c = fake_kinds[fake_bound_kind(o->name)].kind; *c; c++)
        strbuf_addc(out, (char)(*c | 0x20));
}

const char *fake_event_reason(const char *name)
{
    static const char *const reasons[] = {"ApplyPolicyFailed", "ApplyOverridePolicyFailed",
                                          "DependencyPolicyConflict"};

    return reasons[(unsigned char)name[0] % ARRAY_LEN(reasons)];
}

const char *fake_work_ns(unsigned value)
{
    static const char *const spaces[] = {NULL, "a", "b"};

    return spaces[value % ARRAY_LEN(spaces)];
}

static void write_work_binding(const struct fake_object *o, struct strbuf *out)
{
    const char *ns = o->kind == FAKE_WORK ? fake_work_ns(o->value) : NULL;

    if (ns)
        strbuf_addf(out,
                    ",\"annotations\":{\"resourcebinding.karmada.io/namespace\":\"%s\","
                    "\"resourcebinding.karmada.io/name\":\"x-configmap\"}",
                    ns);
}

void fake_write(const struct fake_object *o, bool metadata_only, struct strbuf *out)
{
    const struct fake_kind_row *row = &fake_kinds[o->kind];

    strbuf_addf(out, "{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{\"name\":\"",
                metadata_only ? "meta.k8s.io/v1" : row->api_version,
                metadata_only ? "PartialObjectMetadata" : row->kind);
    if (o->kind == FAKE_BINDING)
        write_binding_name(o, out);
    else
        strbuf_adds(out, o->name);
    strbuf_adds(out, "\",");
    if (row->namespaced)
        strbuf_addf(out, "\"namespace\":\"%s\",", o->ns);
    strbuf_addf(out,
                "\"creationTimestamp\":\"2026-01-01T00:00:00Z\",\"generation\":%u,"
                "\"labels\":{\"v\":\"%u\"},\"resourceVersion\":\"%" PRIu64 "\"",
                o->value + 1, o->value, o->version);
    write_work_binding(o, out);
    strbuf_addc(out, '}');
    if (o->kind == FAKE_POLICY || o->kind == FAKE_CLUSTER_POLICY)
        strbuf_addf(out, ",\"spec\":{\"priority\":%u,\"placement\":{},\"resourceSelectors\":[%s]}",
                    o->value % 7, selected[o->value % ARRAY_LEN(selected)]);
    else if (o->kind == FAKE_BINDING)
        strbuf_addf(out,
                    ",\"spec\":{\"replicas\":%u,\"placement\":{},\"resource\":{\"apiVersion\":"
                    "\"%s\",\"kind\":\"%s\",\"namespace\":\"%s\",\"name\":\"%s\"}}",
                    o->value, bound_version(o), fake_kinds[fake_bound_kind(o->name)].kind, o->ns,
                    o->name);
    else if (o->kind == FAKE_EVENT)
        strbuf_addf(out,
                    ",\"reason\":\"%s\",\"message\":\"Apply override policy(a/x) for cluster(m) "
                    "failed.\",\"involvedObject\":{\"apiVersion\":\"apps/v1\",\"kind\":"
                    "\"Deployment\",\"namespace\":\"%s\",\"name\":\"x\"}",
                    fake_event_reason(o->name), o->ns);
    strbuf_addc(out, '}');
}

/* ---- requests ---- */

/* Stores the value of a query parameter in `out`; "" if the path does not have it. */
static void read_parameter(const struct transfer *t, const char *name, char *out, size_t size)
{
    char key[64];
    const char *at;

    out[0] = '\0';
    snprintf(key, sizeof(key), "%s=", name);
    for (at = strchr(t->path, '?'); at; at = strchr(at + 1, '&')) {
        if (strncmp(at + 1, key, strlen(key)) == 0) {
            snprintf(out, size, "%.*s", (int)strcspn(at + 1 + strlen(key), "&"),
                     at + 1 + strlen(key));
            return;
        }
    }
}

static uint64_t read_number_parameter(const struct transfer *t, const char *name)
{
    char text[64];
    uint64_t value = 0;

    read_parameter(t, name, text, sizeof(text));
    return parse_uint(text, UINT64_MAX, &value) ? value : 0;
}

static bool parse_resource_path(struct transfer *t)
{
    for (int i = 0; i < FAKE_KIND_COUNT; i++) {
        const struct fake_kind_row *row = &fake_kinds[i];
        char prefix[128];
        const char *rest;

        snprintf(prefix, sizeof(prefix), "/%s/%s/", strchr(row->api_version, '/') ? "apis" : "api",
                 row->api_version);
        if (strncmp(t->path, prefix, strlen(prefix)) != 0)
            continue;
        rest = t->path + strlen(prefix);
        if (strncmp(rest, "namespaces/", 11) == 0) {
            size_t len = strcspn(rest + 11, "/");

            snprintf(t->ns, sizeof(t->ns), "%.*s", (int)len, rest + 11);
            rest += 11 + len + 1;
        }
        if (strlen(row->resource) == strcspn(rest, "?/") &&
            strncmp(rest, row->resource, strlen(row->resource)) == 0) {
            t->kind = (enum fake_kind)i;
            rest += strlen(row->resource);
            snprintf(t->name, sizeof(t->name), "%s", *rest == '/' ? rest + 1 : "");
            return true;
        }
        t->ns[0] = '\0';
    }
    return false;
}

/* Returns true if the request lists one object, by limit or by name. */
static bool is_single_list(const struct transfer *t)
{
    return read_number_parameter(t, "limit") == 1 || strstr(t->path, "metadata.name%3D");
}

static struct transfer *start(void *context, const struct transport_request *request)
{
    struct fake_api *f = context;
    struct transfer *t = xcalloc(1, sizeof(*t));

    t->handler = request->handler;
    t->metadata_only = strstr(request->accept, "as=PartialObjectMetadata") != NULL;
    t->body = STRBUF_INIT(BODY_MAX);
    t->cut_at = SIZE_MAX;
    t->opened_ms = f->now_ms;
    snprintf(t->path, sizeof(t->path), "%s", request->path);
    /* Appends at the end: requests are answered in their order. */
    struct transfer **at = &f->transfers;
    while (*at)
        at = &(*at)->next;
    *at = t;
    if (strcmp(t->path, "/api") == 0)
        f->discovery_requests++;
    else if (parse_resource_path(t) && t->name[0]) {
        f->fetches++;
        f->fetched_full = !t->metadata_only;
    } else if (is_single_list(t))
        f->glances++;
    else if (parse_resource_path(t) && !strstr(t->path, "continue="))
        f->requests[t->kind]++;
    else if (parse_resource_path(t))
        f->pages++;
    return t;
}

static void cancel(void *context, struct transfer *transfer)
{
    struct fake_api *f = context;
    struct transfer **at = &f->transfers;

    while (*at != transfer)
        at = &(*at)->next;
    *at = transfer->next;
    free_transfer(transfer);
}

struct transport fake_api_transport(struct fake_api *f)
{
    return (struct transport){.start = start, .cancel = cancel, .context = f};
}

/* Removes and frees the transfer, then calls its `done` handler. */
static void finish(struct fake_api *f, struct transfer *t, bool complete)
{
    struct transfer **at = &f->transfers;
    struct transport_handler handler = t->handler;
    struct transport_result result = {
        .complete = complete,
        .http_status = t->http_status,
        .retry_after_ms = t->retry_after_ms,
        .content_type = t->content_type,
        .error = complete ? "" : "connection lost",
    };

    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    free_transfer(t);
    handler.done(handler.context, &result);
}

static void answer(struct transfer *t, unsigned http_status, const char *body)
{
    t->state = TRANSFER_SENDING;
    t->http_status = http_status;
    t->content_type = body[0] == '{' ? "application/json" : "text/plain; charset=utf-8";
    strbuf_adds(&t->body, body);
}

static const struct {
    unsigned http_status;
    const char *body;
} refusals[] = {
    {429, "Too many requests, please try again later.\n"},
    {429, "{\"kind\":\"Status\",\"code\":429,\"details\":{\"retryAfterSeconds\":1}}"},
    {401, "{\"kind\":\"Status\",\"code\":401,\"message\":\"Unauthorized\"}"},
    {403, "{\"kind\":\"Status\",\"code\":403,\"message\":\"forbidden\"}"},
    {404, "404 page not found\n"},
    {410, "{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\"}"},
    {400, "{\"kind\":\"Status\",\"code\":400}"},
    {422, "{\"kind\":\"Status\",\"code\":422}"},
    {406, "{\"kind\":\"Status\",\"code\":406}"},
    {500, "{\"kind\":\"Status\",\"code\":500}"},
    {503, "<html><body>no upstream</body></html>"},
    {504, "{\"kind\":\"Status\",\"code\":504,\"message\":\"Timeout: Too large resource version: 9, "
          "current: 8\"}"},
    {302, ""},
    {200, ""},
    {200, "<html><body>log in</body></html>"},
    {200, "{\"kind\":\"Status\",\"code\":200}"},
};

static void refuse(struct fake_api *f, struct transfer *t)
{
    uint32_t which = fake_random(f, ARRAY_LEN(refusals) + 2);

    if (which < ARRAY_LEN(refusals)) {
        answer(t, refusals[which].http_status, refusals[which].body);
        t->retry_after_ms = refusals[which].http_status == 429 ? 1000 : 0;
    } else if (which == ARRAY_LEN(refusals)) {
        t->state = TRANSFER_STALLED;
    } else {
        answer(t, 0, "");
    }
}

/* ---- shards ---- */

/* Stores the shardSelector of the request, without the escapes of URLs. */
static void read_shard_selector(const struct transfer *t, char *out, size_t size)
{
    char escaped[sizeof(t->path)];
    size_t len = 0;

    read_parameter(t, "shardSelector", escaped, sizeof(escaped));
    for (const char *c = escaped; *c && len < size - 1; c++) {
        unsigned byte = (unsigned char)*c;

        if (*c == '%' && sscanf(c + 1, "%2x", &byte) == 1)
            c += 2;
        out[len++] = (char)byte;
    }
    out[len] = '\0';
}

/* Returns true if a range of the selector has the FNV-1a hash of the namespace. */
static bool is_in_shard(const char *selector, const char *ns)
{
    uint64_t hash = UINT64_C(14695981039346656037), first, end;

    for (const char *c = ns; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    for (const char *at = selector; (at = strchr(at, '\'')) != NULL; at++) {
        int len = 0;

        assert_int_equal(sscanf(at, "'0x%16" SCNx64 "', '0x%" SCNx64 "')%n", &first, &end, &len),
                         2);
        at += len;
        /* sscanf() stores UINT64_MAX for 2^64. */
        if (hash >= first && (hash < end || end == UINT64_MAX))
            return true;
    }
    return false;
}

/* Applies f->shards to a shardSelector in the request. Returns true if that answers it. */
static bool refuse_shard(const struct fake_api *f, struct transfer *t)
{
    char selector[sizeof(t->shard_selector)];

    read_shard_selector(t, selector, sizeof(selector));
    if (!*selector || f->shards == FAKE_SHARDS_IGNORED)
        return false;
    if (f->shards == FAKE_SHARDS_UNKNOWN)
        answer(t, 400, "{\"kind\":\"Status\",\"code\":400}");
    else if (f->shards == FAKE_SHARDS_INVALID)
        answer(t, 500,
               "{\"kind\":\"Status\",\"code\":500,\"message\":\"invalid shard selector: CEL\"}");
    else
        memcpy(t->shard_selector, selector, sizeof(selector));
    return t->state == TRANSFER_SENDING;
}

/* ---- answers ---- */

static bool matches_request(const struct transfer *t, const struct fake_object *o)
{
    static const char by_reason[] = "reason%3D";
    char selector[128];

    if (o->kind != t->kind || (t->ns[0] && strcmp(t->ns, o->ns) != 0) ||
        (t->shard_selector[0] && !is_in_shard(t->shard_selector, o->ns)))
        return false;
    read_parameter(t, "fieldSelector", selector, sizeof(selector));
    return strncmp(selector, by_reason, sizeof(by_reason) - 1) != 0 ||
           strcmp(selector + sizeof(by_reason) - 1, fake_event_reason(o->name)) == 0;
}

static bool is_same(const struct fake_object *a, const struct fake_object *b)
{
    return a->kind == b->kind && strcmp(a->ns, b->ns) == 0 && strcmp(a->name, b->name) == 0;
}

/* Stores the objects at an earlier version in `out`. */
static void make_past_snapshot(const struct fake_api *f, uint64_t version,
                               struct fake_snapshot *out)
{
    *out = *f->base;
    out->version = version;
    for (size_t i = 0; i < f->log_count && f->log[i].version <= version; i++) {
        const struct fake_change *c = &f->log[i];
        size_t at = 0;

        while (at < out->count && !is_same(&out->objects[at], &c->object))
            at++;
        if (strcmp(c->type, "DELETED") == 0)
            out->objects[at] = out->objects[--out->count];
        else
            out->objects[at] = c->object;
        out->count += at == out->count && strcmp(c->type, "DELETED") != 0;
    }
}

static bool has_requested_name(const struct transfer *t, const struct fake_object *o)
{
    struct strbuf name = STRBUF_INIT(256);
    char wanted[128];

    read_parameter(t, "fieldSelector", wanted, sizeof(wanted));
    if (o->kind == FAKE_BINDING)
        write_binding_name(o, &name);
    else
        strbuf_adds(&name, o->name);

    bool named = strncmp(wanted, "metadata.name%3D", 16) == 0 ? strcmp(wanted + 16, name.data) == 0
                                                              : strcmp(t->name, name.data) == 0;
    strbuf_release(&name);
    return named;
}

/*
 * Answers a list of one object: the object of the requested name, or the first object of the kind.
 * If f->forgetful, the list contains all present objects of the kind.
 */
static void answer_single_list(struct fake_api *f, struct transfer *t)
{
    CLEANUP(free_cleanup) struct fake_snapshot *now = xcalloc(1, sizeof(*now));
    uint64_t version = read_number_parameter(t, "resourceVersion");
    bool selects = strstr(t->path, "metadata.name%3D") != NULL;
    size_t written = 0;

    if (selects && f->unlisted) {
        answer(t, 404, "{\"kind\":\"Status\",\"code\":404,\"reason\":\"NotFound\"}");
        return;
    }
    if (version > 0 && version < f->compacted && !f->forgetful) {
        answer(t, 410, "{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\"}");
        return;
    }
    if (version > f->version && !f->forgetful) {
        answer(t, 500, "{\"kind\":\"Status\",\"code\":500}");
        return;
    }
    fake_save(f, now);
    if (version > 0 && !f->forgetful)
        make_past_snapshot(f, version, now);
    answer(t, 200, "{");
    strbuf_adds(&t->body, "\"items\":[");
    for (size_t i = 0; i < now->count && (written == 0 || f->forgetful); i++) {
        const struct fake_object *o = &now->objects[i];

        if (!matches_request(t, o) || (selects && !f->forgetful && !has_requested_name(t, o)))
            continue;
        strbuf_adds(&t->body, written++ > 0 ? "," : "");
        fake_write(o, t->metadata_only, &t->body);
    }
    strbuf_addf(&t->body,
                "],\"kind\":\"SomeList\",\"metadata\":{\"resourceVersion\":\"%" PRIu64 "\"}}",
                now->version);
}

static void answer_list(struct fake_api *f, struct transfer *t)
{
    struct fake_snapshot *snapshot;
    unsigned id = 0;
    size_t at = 0, written = 0;
    char token[64];

    read_parameter(t, "continue", token, sizeof(token));
    if (token[0] && !f->endless) {
        if (sscanf(token, "s%u.%zu", &id, &at) != 2 ||
            f->snapshots[id % FAKE_SNAPSHOTS].version < f->compacted ||
            id + FAKE_SNAPSHOTS < f->snapshot_next) {
            answer(t, 410, "{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\"}");
            return;
        }
    } else {
        if (read_number_parameter(t, "resourceVersion") > f->version - f->behind) {
            answer(t, 504,
                   "{\"kind\":\"Status\",\"code\":504,\"details\":{\"causes\":[{\"reason\":"
                   "\"ResourceVersionTooLarge\"}]}}");
            return;
        }
        id = (unsigned)f->snapshot_next++;
        snapshot = &f->snapshots[id % FAKE_SNAPSHOTS];
        snapshot->version = f->version;
        snapshot->count = f->count;
        memcpy(snapshot->objects, f->objects, sizeof(f->objects));
    }
    snapshot = &f->snapshots[id % FAKE_SNAPSHOTS];

    bool paginate = f->paginates && read_number_parameter(t, "limit") > 0;
    answer(t, 200, "{");
    strbuf_adds(&t->body, "\"items\":[");
    for (; at < snapshot->count && !(paginate && written == PAGE_OBJECTS); at++) {
        if (!matches_request(t, &snapshot->objects[at]))
            continue;
        strbuf_adds(&t->body, written++ > 0 ? "," : "");
        fake_write(&snapshot->objects[at], t->metadata_only, &t->body);
        f->sent[t->kind]++;
    }
    strbuf_addf(&t->body,
                "],\"kind\":\"SomeList\",\"metadata\":{\"resourceVersion\":\"%" PRIu64 "\"",
                snapshot->version);
    if (at < snapshot->count || f->endless)
        strbuf_addf(&t->body, ",\"continue\":\"s%u.%zu\"", id, at);
    if (t->shard_selector[0] && t->kind == FAKE_DEPLOYMENT && !t->metadata_only)
        strbuf_addf(&t->body, ",\"shardInfo\":{\"selector\":\"%s\"}",
                    f->shards == FAKE_SHARDS_MIXED_UP ? "other" : t->shard_selector);
    strbuf_adds(&t->body, "}}");
}

static void answer_fetch(struct fake_api *f, struct transfer *t)
{
    for (size_t i = 0; i < f->count; i++) {
        const struct fake_object *o = &f->objects[i];

        if (!matches_request(t, o) || !has_requested_name(t, o))
            continue;
        answer(t, 200, "");
        t->content_type = "application/json";
        fake_write(o, t->metadata_only, &t->body);
        return;
    }
    answer(t, 404, "{\"kind\":\"Status\",\"code\":404,\"reason\":\"NotFound\"}");
}

static void send_change(struct fake_api *f, struct transfer *t, const char *type,
                        const struct fake_object *o)
{
    f->sent[t->kind]++;
    strbuf_addf(&t->body, "{\"type\":\"%s\",\"object\":", type);
    fake_write(o, t->metadata_only, &t->body);
    strbuf_adds(&t->body, "}\n");
}

/* Appends a bookmark, and raises t->seen to its version. */
static void send_bookmark(struct fake_api *f, struct transfer *t, bool ends_initial)
{
    if (f->version - f->behind > t->seen)
        t->seen = f->version - f->behind;
    strbuf_addf(&t->body,
                "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"x\",\"metadata\":{"
                "\"resourceVersion\":\"%" PRIu64 "\"%s}}}\n",
                t->seen,
                ends_initial ? ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}" : "");
    t->bookmark_ms = f->now_ms + BOOKMARK_MS;
}

static void answer_stream(struct fake_api *f, struct transfer *t)
{
    bool initial = strstr(t->path, "sendInitialEvents=true") != NULL;
    uint64_t since = read_number_parameter(t, "resourceVersion");

    if (initial && !f->streaming_lists) {
        answer(t, 422, "{\"kind\":\"Status\",\"code\":422}");
        return;
    }
    answer(t, 200, "");
    t->state = TRANSFER_STREAMING;
    t->bookmarks = f->bookmarks;
    t->bookmark_ms = f->now_ms + BOOKMARK_MS;
    t->ends_ms = f->now_ms + (int64_t)read_number_parameter(t, "timeoutSeconds") * 1000;
    t->seen = since;
    if (!initial && since < f->compacted) {
        strbuf_adds(&t->body,
                    "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410}}\n");
        t->ends_ms = f->now_ms;
        return;
    }
    if (!initial)
        return;
    t->seen = f->version;
    for (size_t i = 0; i < f->count; i++) {
        if (matches_request(t, &f->objects[i]))
            send_change(f, t, "ADDED", &f->objects[i]);
    }
    send_bookmark(f, t, true);
}

static void add_served(const struct fake_api *f, const char *api_version, struct strbuf *out)
{
    bool first = true;

    for (int i = 0; i < FAKE_KIND_COUNT; i++) {
        const struct fake_kind_row *row = &fake_kinds[i];

        if (!f->served[i] || strcmp(row->api_version, api_version) != 0)
            continue;
        strbuf_addf(out,
                    "%s{\"resource\":\"%s\",\"name\":\"%s\",\"kind\":\"%s\",\"namespaced\":%s,"
                    "\"shortNames\":[%s],"
                    "\"responseKind\":{\"kind\":\"%s\"},\"scope\":\"%s\","
                    "\"verbs\":[\"list\",\"watch\",\"delete\"]}",
                    first ? "" : ",", row->resource, row->resource, row->kind,
                    row->namespaced ? "true" : "false", i == FAKE_CONFIG_MAP ? "\"cm\"" : "",
                    row->kind, row->namespaced ? "Namespaced" : "Cluster");
        first = false;
    }
}

static const char *const versions[] = {POLICY, WORK, CLUSTER, "apps/v1", "example.io/v1"};

static void answer_discovery(struct fake_api *f, struct transfer *t)
{
    bool core = strcmp(t->path, "/api") == 0;

    answer(t, 200, "{");
    if (strchr(t->path + 1, '/') && strcmp(t->path, "/apis") != 0) {
        strbuf_adds(&t->body, "\"kind\":\"APIResourceList\",\"resources\":[");
        add_served(f, strchr(t->path + 1, '/') + 1, &t->body);
        strbuf_adds(&t->body, "]}");
        return;
    }
    if (f->legacy_discovery) {
        if (core) {
            strbuf_adds(&t->body, "\"kind\":\"APIVersions\",\"versions\":[\"v1\"]}");
            return;
        }
        strbuf_adds(&t->body, "\"kind\":\"APIGroupList\",\"groups\":[");
        for (size_t i = 0; i < ARRAY_LEN(versions); i++)
            strbuf_addf(&t->body, "%s{\"versions\":[{\"groupVersion\":\"%s\"}]}", i ? "," : "",
                        versions[i]);
        strbuf_adds(&t->body, "]}");
        return;
    }
    t->content_type = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    strbuf_adds(&t->body, "\"kind\":\"APIGroupDiscoveryList\",\"items\":[");
    for (size_t i = 0; i < (core ? 1 : ARRAY_LEN(versions)); i++) {
        const char *api_version = core ? "v1" : versions[i];
        const char *slash = strchr(api_version, '/');

        strbuf_addf(&t->body,
                    "%s{\"metadata\":{\"name\":\"%.*s\"},\"versions\":[{\"version\":\"%s\","
                    "\"freshness\":\"Current\",\"resources\":[",
                    i ? "," : "", slash ? (int)(slash - api_version) : 0, api_version,
                    slash ? slash + 1 : api_version);
        add_served(f, api_version, &t->body);
        if (strcmp(api_version, fake_kinds[FAKE_FOO].api_version) == 0) {
            strbuf_addf(&t->body, "]},{\"version\":\"%s\",\"resources\":[",
                        strchr(FAKE_OLD_VERSION, '/') + 1);
            add_served(f, api_version, &t->body);
        }
        strbuf_adds(&t->body, "]}]}");
    }
    strbuf_adds(&t->body, "]}");
}

static void answer_head(struct transfer *t)
{
    if (t->http_status != 0 && t->handler.responded)
        t->handler.responded(t->handler.context, t->http_status);
}

static void begin(struct fake_api *f, struct transfer *t)
{
    if (f->unreachable) {
        answer(t, 0, "");
    } else if (has_fault(f)) {
        refuse(f, t);
    } else if (!parse_resource_path(t) && !strchr(t->path, '?')) {
        answer_discovery(f, t);
    } else if (!parse_resource_path(t) || !f->served[t->kind]) {
        answer(t, 404, "404 page not found\n");
    } else if (f->forbidden[t->kind]) {
        answer(t, 403, "{\"kind\":\"Status\",\"code\":403,\"message\":\"forbidden\"}");
    } else if (f->busy[t->kind]) {
        answer(t, 429, "{\"kind\":\"Status\",\"code\":429,\"details\":{\"retryAfterSeconds\":1}}");
    } else if (t->name[0]) {
        answer_fetch(f, t);
    } else if (refuse_shard(f, t)) {
        return;
    } else if (strstr(t->path, "watch=true")) {
        answer_stream(f, t);
    } else if (is_single_list(t)) {
        answer_single_list(f, t);
    } else {
        answer_list(f, t);
    }
    if (t->state == TRANSFER_SENDING && t->http_status == 200 && has_fault(f)) {
        t->cut_at = fake_random(f, (uint32_t)t->body.len + 1);
        t->cut_looks_fine = fake_random(f, 2);
    }
}

/* ---- sending ---- */

/* Injects a random fault into an open stream. */
static void inject_stream_fault(struct fake_api *f, struct transfer *t)
{
    switch (fake_random(f, 7)) {
    case 0:
        strbuf_adds(&t->body,
                    "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":500}}\n");
        t->ends_ms = f->now_ms;
        break;
    case 1:
        strbuf_adds(&t->body, "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":429,"
                              "\"details\":{\"retryAfterSeconds\":2}}}\n");
        t->ends_ms = f->now_ms;
        break;
    case 2:
        t->deaf = true;
        break;
    case 3:
        strbuf_adds(&t->body, "{\"type\":\"UNHEARD\",\"object\":{\"metadata\":{}}}\n");
        break;
    case 4:
        strbuf_adds(&t->body, "<html>\n");
        break;
    case 5:
        t->ends_ms = f->now_ms;
        break;
    default:
        t->cut_at = t->sent + fake_random(f, (uint32_t)(t->body.len - t->sent) + 1);
        t->cut_looks_fine = fake_random(f, 2);
        break;
    }
}

/* Returns the index of the first change after a version in the log, which is sorted by version. */
static size_t find_first_after(const struct fake_api *f, uint64_t version)
{
    size_t begin = 0, end = f->log_count;

    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;

        if (f->log[middle].version <= version)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/* Appends the changes after t->seen, up to the first random fault, and a bookmark if it is due. */
static void append_changes(struct fake_api *f, struct transfer *t)
{
    for (size_t i = find_first_after(f, t->seen); i < f->log_count && !t->deaf; i++) {
        const struct fake_change *c = &f->log[i];

        if (c->version > f->version - f->behind)
            break;
        t->seen = c->version;
        if (!matches_request(t, &c->object))
            continue;
        send_change(f, t, c->type, &c->object);
        if (has_fault(f)) {
            inject_stream_fault(f, t);
            return;
        }
    }
    /* A server sends no bookmark to a client that is ahead of it. */
    if (!t->deaf && t->bookmarks && f->version - f->behind >= t->seen &&
        f->now_ms >= t->bookmark_ms)
        send_bookmark(f, t, false);
}

/* Sends a random part of the rest of the body. Returns false if no bytes are left. May free `t`. */
static bool send_piece(struct fake_api *f, struct transfer *t)
{
    size_t end = t->body.len < t->cut_at ? t->body.len : t->cut_at;
    size_t len = end - t->sent;

    if (len == 0)
        return false;
    len = 1 + fake_random(f, (uint32_t)(len < 700 ? len : 700));

    const char *piece = t->body.data + t->sent;

    t->sent += len;
    if (!t->handler.data(t->handler.context, t->http_status, piece, len))
        finish(f, t, false);
    return true;
}

static bool advance(struct fake_api *f, struct transfer *t)
{
    if (t->state == TRANSFER_NEW && t->name[0] && f->slow_fetches)
        return false;
    if (t->state == TRANSFER_NEW) {
        begin(f, t);
        answer_head(t);
        return true;
    }
    if (t->state == TRANSFER_STALLED) {
        if (f->now_ms < t->opened_ms + STALL_MS)
            return false;
        finish(f, t, false);
        return true;
    }
    if (t->state == TRANSFER_STREAMING && t->sent == t->body.len)
        append_changes(f, t);
    if (send_piece(f, t))
        return true;
    if (t->state == TRANSFER_STREAMING && t->cut_at == SIZE_MAX &&
        (t->deaf || f->now_ms < t->ends_ms))
        return false;
    finish(f, t, t->http_status != 0 && (t->cut_at == SIZE_MAX || t->cut_looks_fine));
    return true;
}

void fake_say(struct fake_api *f, enum fake_kind kind, const char *text)
{
    for (struct transfer *t = f->transfers; t; t = t->next) {
        if (t->state == TRANSFER_STREAMING && t->kind == kind)
            strbuf_adds(&t->body, text);
    }
}

bool fake_turn(struct fake_api *f)
{
    struct transfer *open[FAKE_KIND_COUNT * 8];
    size_t count = 0;
    bool busy = false;

    /* Handlers may start new transfers, which wait for the next call, but cancel no transfer. */
    f->open_streams = 0;
    for (struct transfer *t = f->transfers; t && count < ARRAY_LEN(open); t = t->next) {
        f->open_streams += t->state == TRANSFER_STREAMING;
        open[count++] = t;
    }
    for (size_t i = 0; i < count; i++)
        busy = advance(f, open[i]) || busy;
    return busy;
}

void fake_cut_all(struct fake_api *f)
{
    struct transfer *open[FAKE_KIND_COUNT * 8];
    size_t count = 0;

    for (struct transfer *t = f->transfers; t && count < ARRAY_LEN(open); t = t->next)
        open[count++] = t;
    for (size_t i = 0; i < count; i++)
        finish(f, open[i], false);
}
