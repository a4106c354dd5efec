/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/event.h"

#include "metrics/model/identity.h"

static uint32_t read_count(struct decode *d, const cJSON *json)
{
    const cJSON *series = decode_object(d, json, "", "series");
    const int64_t counts[] = {
        decode_int(d, json, "", "count", 0),
        decode_int(d, json, "", "deprecatedCount", 0),
        decode_int(d, series, "series", "count", 0),
    };
    int64_t highest = 1;

    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        if (counts[i] > highest)
            highest = counts[i];
    }
    return highest < UINT32_MAX ? (uint32_t)highest : UINT32_MAX;
}

/* What it is about. core/v1 and events.k8s.io/v1 have different names for the same fields. */
static const cJSON *find_about(struct decode *d, const cJSON *json, const char **path)
{
    const cJSON *involved = decode_object(d, json, "", "involvedObject");
    const cJSON *regarding = decode_object(d, json, "", "regarding");

    *path = involved ? "involvedObject" : "regarding";
    return involved ? involved : regarding;
}

/* Likewise; "" without any. */
static const char *read_message(struct decode *d, const cJSON *json)
{
    const char *message = decode_text(d, json, "", "message");
    const char *note = decode_text(d, json, "", "note");

    return message ? message : note ? note : "";
}

/* core/v1 has two fields for who wrote it, events.k8s.io/v1 two others. */
static bool is_ours(const cJSON *json)
{
    const char *const components[] = {
        json_str(json_get(json, "source"), "component", ""),
        json_str(json, "reportingComponent", ""),
        json_str(json_get(json, "deprecatedSource"), "component", ""),
        json_str(json, "reportingController", ""),
    };

    for (size_t i = 0; i < ARRAY_LEN(components); i++) {
        if (strcmp(components[i], EVENT_COMPONENT) == 0)
            return true;
    }
    return false;
}

static void read_about(struct decode *d, const cJSON *about, const char *path, struct event *e)
{
    e->kind = decode_shared_or_empty(d, about, path, "kind");
    e->ns = decode_shared_or_empty(d, about, path, "namespace");
    e->name = decode_shared_or_empty(d, about, path, "name");
}

static void read_conflict(struct decode *d, const cJSON *json, struct event *e)
{
    const cJSON *metadata = decode_object(d, json, "", "metadata");
    const char *path;
    const cJSON *about = find_about(d, json, &path);
    const char *message = read_message(d, json);

    e->is_conflict = true;
    read_about(d, about, path, e);
    e->uid = decode_shared(d, metadata, "metadata", "uid");
    e->about_uid_hash = uid_hash(json_str(about, "uid", ""));
    e->ours = is_ours(json);
    e->count = read_count(d, json);
    /* The message of combined events has a prefix. */
    e->conflict_resolution = strstr(message, "ConflictResolution conflicted");
    e->preserve = strstr(message, "PreserveResourcesOnDeletion conflicted");
}

static void read_override(struct decode *d, const cJSON *json, struct event *e)
{
    const char *path;
    const cJSON *about = find_about(d, json, &path);

    e->override = override_event_decode(d, json, read_message(d, json), about, path);
    if (e->override)
        read_about(d, about, path, e);
}

void *event_decode(struct decode *d, const cJSON *json)
{
    const char *reason = decode_text(d, json, "", "reason");
    struct event *e = xcalloc(1, sizeof(*e));

    if (reason && strcmp(reason, EVENT_CONFLICT) == 0)
        read_conflict(d, json, e);
    else if (reason && override_event_is(reason))
        read_override(d, json, e);
    if (d->failed) {
        event_release(d->strings, e);
        return NULL;
    }
    return e;
}

void event_release(struct intern *strings, void *object)
{
    struct event *e = object;

    if (!e)
        return;
    intern_drop(strings, e->kind);
    intern_drop(strings, e->ns);
    intern_drop(strings, e->name);
    intern_drop(strings, e->uid);
    override_event_release(strings, e->override);
    free(e);
}
