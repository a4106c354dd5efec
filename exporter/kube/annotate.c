/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/annotate.h"

#include "metrics/base/number.h"

enum {
    INTERVAL_MS = 1000 / ANNOTATE_PER_S,
    INTERVAL_MAX_MS = 5000,
    RETRY_MS = 500, /* Doubled with each failure. */
    FAILURES_MAX = 5,
    BUSY_MAX = 10,
};

void annotate_init(struct annotate *a, struct transport transport)
{
    *a = (struct annotate){.transport = transport, .interval_ms = INTERVAL_MS};
}

void annotate_release(struct annotate *a)
{
    fetch_free(a->fetch);
    free(a->patch);
    a->fetch = NULL;
    a->patch = NULL;
}

void annotate_start(struct annotate *a, const struct annotate_spec *spec)
{
    a->spec = spec;
    a->failures = a->busy = 0;
    a->version = 0;
    a->state = ANNOTATE_OPEN;
}

/* What has been read decides whether to write, and at which version. */
static enum annotate_state decide(struct annotate *a, const cJSON *metadata)
{
    const struct annotate_spec *spec = a->spec;
    const char *uid = json_str(metadata, "uid", "");
    const char *version = json_str(metadata, "resourceVersion", "");
    const char *value = json_str(json_get(metadata, "annotations"), spec->key, NULL);
    CLEANUP(json_cleanup) cJSON *patch = cJSON_CreateObject();
    cJSON *fresh = cJSON_AddObjectToObject(patch, "metadata");
    cJSON *annotations;

    if (uid_hashes_differ(uid_hash(uid), spec->uid_hash))
        return ANNOTATE_REPLACED;
    if (*json_str(metadata, "deletionTimestamp", ""))
        return ANNOTATE_DELETING;
    if (!*uid || !*version) {
        fail(&a->err, "the server's answer has no uid and no resourceVersion");
        return ANNOTATE_FAILED;
    }
    if (!spec->wanted(spec->context, value))
        return ANNOTATE_UNWANTED;
    cJSON_AddStringToObject(fresh, "uid", uid);
    cJSON_AddStringToObject(fresh, "resourceVersion", version);
    annotations = cJSON_AddObjectToObject(fresh, "annotations");
    if (spec->value)
        cJSON_AddStringToObject(annotations, spec->key, spec->value);
    else
        cJSON_AddNullToObject(annotations, spec->key);
    a->patch = cJSON_PrintUnformatted(patch);
    if (!a->patch)
        memory_exhausted(0);
    return ANNOTATE_OPEN;
}

/* The object is read again after a while, unless that has been done often enough. */
static enum annotate_state retry(struct annotate *a, const struct fetch *f, int64_t now_ms)
{
    bool is_busy = f->http_status == 429;
    int64_t wait_ms = f->retry_after_ms;

    a->err = f->err;
    if (is_busy) {
        a->interval_ms =
            a->interval_ms * 2 < INTERVAL_MAX_MS ? a->interval_ms * 2 : INTERVAL_MAX_MS;
        wait_ms = wait_ms > a->interval_ms ? wait_ms : a->interval_ms;
        a->busy++;
    } else {
        /* What changes while we look at it is looked at again at once. */
        if (wait_ms == 0)
            wait_ms = f->http_status == 409 ? INTERVAL_MS : (int64_t)RETRY_MS << a->failures;
        a->failures++;
    }
    a->due_ms = now_ms + wait_ms;
    return a->failures >= FAILURES_MAX || a->busy >= BUSY_MAX ? ANNOTATE_FAILED : ANNOTATE_OPEN;
}

static enum annotate_state receive(struct annotate *a, const struct fetch *f, int64_t now_ms)
{
    const cJSON *metadata = json_get(f->object, "metadata");

    if (f->state == FETCH_MISSING)
        return ANNOTATE_GONE;
    if (f->state == FETCH_FAILED)
        return retry(a, f, now_ms);
    if (f->state == FETCH_FORBIDDEN) {
        a->err = f->err;
        return ANNOTATE_FORBIDDEN;
    }
    if (!a->writes)
        return decide(a, metadata);
    if (!parse_uint(json_str(metadata, "resourceVersion", ""), UINT64_MAX, &a->version))
        a->version = 0;
    /* The server keeps up: back to the full rate, step by step. */
    a->interval_ms -= (a->interval_ms - INTERVAL_MS + 1) / 2;
    a->due_ms = a->read_ms + a->interval_ms;
    return ANNOTATE_WRITTEN;
}

enum annotate_state annotate_turn(struct annotate *a, int64_t now_ms)
{
    if (!a->spec || a->state != ANNOTATE_OPEN)
        return a->state;
    if (a->fetch) {
        struct fetch *ended = a->fetch;

        fetch_turn(ended, now_ms);
        if (ended->state == FETCH_OPEN)
            return a->state;
        a->fetch = NULL;
        a->state = receive(a, ended, now_ms);
        fetch_free(ended);
    }
    /* What has been read is written at once: the longer that takes, the sooner it has changed. */
    if (a->state != ANNOTATE_OPEN || (!a->patch && now_ms < a->due_ms))
        return a->state;
    a->writes = a->patch != NULL;
    if (!a->writes)
        a->read_ms = now_ms;
    a->fetch = fetch_start(a->transport,
                           &(struct fetch_spec){
                               .id = a->spec->id,
                               .resource = a->spec->resource,
                               .metadata_only = true,
                               .method = a->patch ? TRANSPORT_MERGE : TRANSPORT_READ,
                               .body = a->patch,
                               .field_manager = a->spec->field_manager,
                           },
                           now_ms);
    free(a->patch);
    a->patch = NULL;
    return a->state;
}

int64_t annotate_due(const struct annotate *a)
{
    if (!a->spec || a->state != ANNOTATE_OPEN)
        return INT64_MAX;
    return a->fetch ? fetch_due(a->fetch) : a->due_ms;
}
