/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/lookup.h"

enum {
    PATIENCE_MS = 2000,
    KEPT_MS = 10 * 1000,
    FAILURE_KEPT_MS = 1000,
    COST_MS = 200, /* Five a second, */
    BURST = 5,     /* after five at once. */
    CREDIT_MAX_MS = BURST * COST_MS,
    KEPT_MAX = 64, /* What the others ask for counts here, too. */
};

struct lookup_query {
    struct lookup_query *next;
    struct fetch *fetch;
    char *ns;
    char *name;
    char *resource;
    bool metadata_only;
    bool late;
    int64_t asked_ms;
    int64_t until_ms; /* When it is forgotten, once it has been answered. */
};

struct lookup {
    struct transport transport;
    const struct namespace_filter *filter;
    struct lookup_query *questions;
    unsigned count;
    int64_t credit_ms; /* Time saved up by web clients. */
    int64_t updated_ms;
};

struct lookup *lookup_new(struct transport transport, const struct namespace_filter *filter,
                          int64_t now_ms)
{
    struct lookup *l = xcalloc(1, sizeof(*l));

    *l = (struct lookup){
        .transport = transport, .filter = filter, .credit_ms = CREDIT_MAX_MS, .updated_ms = now_ms};
    return l;
}

static void forget(struct lookup *l, struct lookup_query **at)
{
    struct lookup_query *q = *at;

    *at = q->next;
    fetch_free(q->fetch);
    free(q->ns);
    free(q->name);
    free(q->resource);
    free(q);
    l->count--;
}

void lookup_free(struct lookup *l)
{
    if (!l)
        return;
    while (l->questions)
        forget(l, &l->questions);
    free(l);
}

static bool spend(struct lookup *l, int64_t now_ms)
{
    l->credit_ms += now_ms - l->updated_ms;
    l->updated_ms = now_ms;
    if (l->credit_ms > CREDIT_MAX_MS)
        l->credit_ms = CREDIT_MAX_MS;
    if (l->credit_ms < COST_MS)
        return false;
    l->credit_ms -= COST_MS;
    return true;
}

static struct lookup_query *find(const struct lookup *l, const struct fetch_spec *spec)
{
    for (struct lookup_query *q = l->questions; q; q = q->next) {
        if (strcmp(q->name, spec->id.name) == 0 && strcmp(q->ns, spec->id.ns) == 0 &&
            strcmp(q->resource, spec->resource) == 0 && q->metadata_only == spec->metadata_only &&
            strcmp(q->fetch->api_version, spec->id.api_version) == 0)
            return q;
    }
    return NULL;
}

static struct lookup_query *ask(struct lookup *l, const struct fetch_spec *spec, int64_t now_ms)
{
    struct lookup_query *q = xcalloc(1, sizeof(*q));

    *q = (struct lookup_query){
        .next = l->questions,
        .fetch = fetch_start(l->transport, spec, now_ms),
        .ns = xstrdup(spec->id.ns),
        .name = xstrdup(spec->id.name),
        .resource = xstrdup(spec->resource),
        .metadata_only = spec->metadata_only,
        .asked_ms = now_ms,
    };
    l->questions = q;
    l->count++;
    return q;
}

static struct lookup_answer answer(const struct lookup_query *q)
{
    static const enum lookup_state states[] = {
        [FETCH_OPEN] = LOOKUP_WAITING,    [FETCH_FOUND] = LOOKUP_FOUND,
        [FETCH_MISSING] = LOOKUP_MISSING, [FETCH_FORBIDDEN] = LOOKUP_FORBIDDEN,
        [FETCH_FAILED] = LOOKUP_FAILED,
    };
    const struct fetch *f = q->fetch;

    if (q->late)
        return (struct lookup_answer){LOOKUP_LATE, NULL, ""};
    return (struct lookup_answer){states[f->state], f->object, f->err.text};
}

struct lookup_answer lookup_ask(struct lookup *l, const struct fetch_spec *spec,
                                enum lookup_client client, int64_t now_ms)
{
    struct lookup_query *q = find(l, spec);

    if (!namespace_filter_allows(l->filter, spec->id.ns))
        return (struct lookup_answer){LOOKUP_OUTSIDE, NULL, ""};
    if (!q && (l->count >= KEPT_MAX || (client == LOOKUP_WEB && !spend(l, now_ms))))
        return (struct lookup_answer){LOOKUP_BUSY, NULL, ""};
    return answer(q ? q : ask(l, spec, now_ms));
}

/* Whoever still waits is told at the next question; nobody keeps a request open for nobody. */
static void look_at(struct lookup_query *q, int64_t now_ms)
{
    bool open = q->fetch->state == FETCH_OPEN;
    bool lasts = q->fetch->state == FETCH_FOUND || q->fetch->state == FETCH_MISSING ||
                 q->fetch->state == FETCH_FORBIDDEN;

    if (q->until_ms)
        return;
    if (!open)
        q->until_ms = now_ms + (lasts ? KEPT_MS : FAILURE_KEPT_MS);
    else if (now_ms >= q->asked_ms + PATIENCE_MS) {
        fetch_stop(q->fetch);
        q->late = true;
        q->until_ms = now_ms + FAILURE_KEPT_MS;
    }
}

void lookup_turn(struct lookup *l, int64_t now_ms)
{
    for (struct lookup_query **at = &l->questions; *at;) {
        look_at(*at, now_ms);
        if ((*at)->until_ms && now_ms >= (*at)->until_ms)
            forget(l, at);
        else
            at = &(*at)->next;
    }
}

int64_t lookup_due(const struct lookup *l)
{
    int64_t due_ms = INT64_MAX;

    for (const struct lookup_query *q = l->questions; q; q = q->next) {
        int64_t at_ms = q->until_ms ? q->until_ms : q->asked_ms + PATIENCE_MS;

        due_ms = at_ms < due_ms ? at_ms : due_ms;
    }
    return due_ms;
}
