/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/initial_sync.h"

#include "metrics/base/map.h"

static enum discovery_answer previous_answer(const struct unserved_kinds *before,
                                             const struct identity *kind)
{
    for (size_t i = 0; i < before->count; i++) {
        const struct unserved_kind *u = &before->items[i];

        if (strcmp(u->kind, kind->kind) == 0 && strcmp(u->api_version, kind->api_version) == 0)
            return u->answer;
    }
    return DISCOVERY_UNKNOWN;
}

void unserved_kinds_add(struct unserved_kinds *list, const struct identity *kind,
                        enum discovery_answer answer, const struct unserved_kinds *before,
                        const struct log *log)
{
    list->items = xreallocarray(list->items, list->count + 1, sizeof(*list->items));
    list->items[list->count++] = (struct unserved_kind){
        .api_version = xstrdup(kind->api_version),
        .kind = xstrdup(kind->kind),
        .answer = answer,
    };
    if (answer != DISCOVERY_UNKNOWN && answer != previous_answer(before, kind))
        log_write(log, LOG_LEVEL_WARN,
                  answer == DISCOVERY_ABSENT
                      ? "a policy selects a kind that the API server does not serve"
                      : "a policy selects a version of a kind that Karmada does not watch",
                  "api_version", kind->api_version, "kind", kind->kind);
}

void unserved_kinds_release(struct unserved_kinds *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].api_version);
        free(list->items[i].kind);
    }
    free(list->items);
    *list = (struct unserved_kinds){0};
}

void missing_kinds_init(struct missing_kinds *l, struct engine *engine,
                        const struct discovery *discovery, const struct log *log)
{
    *l = (struct missing_kinds){
        .engine = engine, .discovery = discovery, .log = log, .required_read_ms = INT64_MAX};
}

static void free_kinds(struct missing_kind *kinds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(kinds[i].api_version);
        free(kinds[i].kind);
    }
    free(kinds);
}

void missing_kinds_release(struct missing_kinds *l)
{
    free_kinds(l->kinds, l->count);
    l->kinds = NULL;
    l->count = 0;
}

void missing_kinds_wait_again(struct missing_kinds *l)
{
    l->ready = false;
    l->required_read_ms = INT64_MAX;
}

const char *missing_kind_reason(const struct reflector *r)
{
    if (!r)
        return "the API server has not reported yet whether it serves the kind";
    return *r->failure.text ? r->failure.text : "its objects are not completely read yet";
}

bool missing_kind_is_failure(const struct missing_kind *k)
{
    /* Permissions are configured, so their absence is not a failure. */
    return k->late && !(k->reflector && reflector_is_forbidden(k->reflector));
}

/* ---- readiness ---- */

static bool is_missing(const struct missing_kinds *l, const struct reflector *r)
{
    bool left_to_bindings =
        reflector_is_forbidden(r) && kind_of(r->api_version, r->kind)->class == CLASS_TEMPLATE;
    const struct api_resource *ignored;

    if (r->synced || r->supplement || left_to_bindings)
        return false;
    return r->last_end != END_ABSENT ||
           discovery_find(l->discovery, r->api_version, r->kind, &ignored) != DISCOVERY_ABSENT;
}

static bool are_required_read(const struct reflector_list *reflectors)
{
    for (size_t i = 0; i < reflectors->count; i++) {
        if (reflectors->items[i]->required && !reflectors->items[i]->synced)
            return false;
    }
    return true;
}

/* Returns true if all reflectors but the optional ones are ready and will not list again soon. */
static bool are_awaited_kinds_settled(const struct reflector_list *reflectors)
{
    for (size_t i = 0; i < reflectors->count; i++) {
        const struct reflector *r = reflectors->items[i];
        bool reads_again = (r->wants_relist || r->watch.relist) && r->watch.retries == 0;

        if (!r->optional && (!reflector_ready(r) || reads_again))
            return false;
    }
    return true;
}

static void decide_ready(struct missing_kinds *l, const struct reflector_list *reflectors,
                         bool settled, int64_t now_ms)
{
    if (l->ready)
        return;
    /* Required kinds become unread again if the server stops serving them. */
    if (!are_required_read(reflectors)) {
        l->required_read_ms = INT64_MAX;
        return;
    }
    if (l->required_read_ms == INT64_MAX)
        l->required_read_ms = now_ms;
    l->ready = (settled && are_awaited_kinds_settled(reflectors)) ||
               now_ms - l->required_read_ms >= KIND_WAIT_MS;
}

/* ---- missing kinds ---- */

/* Returns a hash of the missing kinds, which detects changes of the list. */
static uint64_t hash_missing_kinds(const struct missing_kinds *l,
                                   const struct reflector_list *reflectors,
                                   const struct unserved_kinds *unserved)
{
    uint64_t sum = 1;

    for (size_t i = 0; i < reflectors->count; i++) {
        if (is_missing(l, reflectors->items[i]))
            sum = 31 * sum + reflectors->items[i]->objects.origin.source;
    }
    for (size_t i = 0; i < unserved->count; i++) {
        const struct unserved_kind *u = &unserved->items[i];

        if (u->answer == DISCOVERY_UNKNOWN)
            sum += map_hash(u->kind, strlen(u->kind), 0) +
                   map_hash(u->api_version, strlen(u->api_version), 1);
    }
    return sum;
}

static struct missing_kind *find_kind(struct missing_kind *kinds, size_t count,
                                      const char *api_version, const char *kind)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(kinds[i].kind, kind) == 0 && strcmp(kinds[i].api_version, api_version) == 0)
            return &kinds[i];
    }
    return NULL;
}

static void add_kind(struct missing_kinds *l, const char *api_version, const char *kind,
                     const struct reflector *r, int64_t now_ms)
{
    /* A kind has one reflector per namespace if the filter lists namespaces. */
    if (find_kind(l->kinds, l->count, api_version, kind))
        return;
    l->kinds = xreallocarray(l->kinds, l->count + 1, sizeof(*l->kinds));
    l->kinds[l->count++] = (struct missing_kind){.api_version = xstrdup(api_version),
                                                 .kind = xstrdup(kind),
                                                 .reflector = r,
                                                 .since_ms = now_ms};
}

static void list_missing_kinds(struct missing_kinds *l, const struct reflector_list *reflectors,
                               const struct unserved_kinds *unserved, int64_t now_ms)
{
    for (size_t i = 0; i < reflectors->count; i++) {
        const struct reflector *r = reflectors->items[i];

        if (is_missing(l, r))
            add_kind(l, r->objects.settings ? r->objects.settings : r->api_version, r->kind, r,
                     now_ms);
    }
    for (size_t i = 0; i < unserved->count; i++) {
        if (unserved->items[i].answer == DISCOVERY_UNKNOWN)
            add_kind(l, unserved->items[i].api_version, unserved->items[i].kind, NULL, now_ms);
    }
}

/* Rebuilds `kinds`, updates the engine, and logs late kinds that are no longer missing. */
static void update_missing_kinds(struct missing_kinds *l, const struct reflector_list *reflectors,
                                 const struct unserved_kinds *unserved, int64_t now_ms)
{
    struct missing_kind *before = l->kinds;
    size_t before_count = l->count;

    l->kinds = NULL;
    l->count = 0;
    list_missing_kinds(l, reflectors, unserved, now_ms);
    for (size_t i = 0; i < l->count; i++) {
        struct missing_kind *k = &l->kinds[i];
        const struct missing_kind *known = find_kind(before, before_count, k->api_version, k->kind);

        if (known) {
            k->since_ms = known->since_ms;
            k->late = known->late;
        }
        engine_set_incomplete(l->engine, k->api_version, k->kind, true);
    }
    for (size_t i = 0; i < before_count; i++) {
        const struct missing_kind *k = &before[i];

        if (find_kind(l->kinds, l->count, k->api_version, k->kind))
            continue;
        engine_set_incomplete(l->engine, k->api_version, k->kind, false);
        if (k->late)
            log_write(l->log, LOG_LEVEL_INFO, "all objects of a delayed kind have been read",
                      "kind", k->kind, "api_version", k->api_version);
    }
    free_kinds(before, before_count);
}

static void log_late_kinds(struct missing_kinds *l, bool became_ready, int64_t now_ms)
{
    for (size_t i = 0; i < l->count; i++) {
        struct missing_kind *k = &l->kinds[i];
        bool was_awaited = became_ready && !(k->reflector && k->reflector->optional);

        if (k->late || (!was_awaited && now_ms - k->since_ms < KIND_WAIT_MS))
            continue;
        k->late = true;
        log_write(
            l->log, LOG_LEVEL_WARN,
            "a kind is not read in time; dependent results are missing until it has been read",
            "kind", k->kind, "api_version", k->api_version, "reason",
            missing_kind_reason(k->reflector));
    }
}

void missing_kinds_turn(struct missing_kinds *l, const struct reflector_list *reflectors,
                        const struct unserved_kinds *unserved, bool settled, int64_t now_ms)
{
    bool was_ready = l->ready;
    uint64_t hash;

    decide_ready(l, reflectors, settled, now_ms);
    if (!l->ready)
        return;
    hash = hash_missing_kinds(l, reflectors, unserved);
    if (hash != l->kinds_hash)
        update_missing_kinds(l, reflectors, unserved, now_ms);
    l->kinds_hash = hash;
    log_late_kinds(l, !was_ready, now_ms);
}

int64_t missing_kinds_due(const struct missing_kinds *l)
{
    int64_t due_ms = INT64_MAX;

    if (!l->ready)
        return l->required_read_ms == INT64_MAX ? INT64_MAX : l->required_read_ms + KIND_WAIT_MS;
    for (size_t i = 0; i < l->count; i++) {
        if (!l->kinds[i].late && l->kinds[i].since_ms + KIND_WAIT_MS < due_ms)
            due_ms = l->kinds[i].since_ms + KIND_WAIT_MS;
    }
    return due_ms;
}
