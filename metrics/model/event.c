/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/event.h"

#include "metrics/base/utf8.h"
#include "metrics/model/metadata.h"

static const struct {
    const char *reason;
    enum override_outcome outcome;
} reasons[] = {
    {"ApplyOverridePolicyFailed", OVERRIDE_FAILED},
    {"ApplyOverridePolicySucceed", OVERRIDE_APPLIED},
    {"SyncWorkSucceed", WORKS_WRITTEN},
};

/* Returns the index of a reason in `reasons`; ARRAY_LEN(reasons) if it is not in the table. */
static size_t find_reason_index(const char *reason)
{
    size_t at = 0;

    while (at < ARRAY_LEN(reasons) && strcmp(reasons[at].reason, reason) != 0)
        at++;
    return at;
}

static bool is_override_reason(const char *reason)
{
    return find_reason_index(reason) < ARRAY_LEN(reasons);
}

/* Returns true if apiVersion, kind, namespace and name have at most OBJECT_NAME_MAX bytes. */
static bool reference_texts_fit(const cJSON *about)
{
    static const char *const keys[] = {"apiVersion", "kind", "namespace", "name"};
    bool is_valid = true;

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        is_valid = is_valid && strlen(json_str(about, keys[i], "")) <= OBJECT_NAME_MAX;
    return is_valid;
}

/* Part of an Event message, borrowed. */
struct message_span {
    const char *text;
    size_t len;
};

/*
 * Finds the text between `opening` and the next ')', and moves `*at` after the ')'. Returns false
 * if the text is absent, empty or too long for a name.
 */
static bool find_span(const char **at, const char *opening, struct message_span *out)
{
    const char *text = strstr(*at, opening);
    const char *end = text ? strchr(text, ')') : NULL;

    if (!end)
        return false;
    text += strlen(opening);
    *out = (struct message_span){text, (size_t)(end - text)};
    *at = end + 1;
    return out->len > 0 && out->len <= OBJECT_NAME_MAX;
}

struct override_names {
    struct message_span policy_ns;
    struct message_span policy;
    struct message_span cluster;
};

/* Parses the names from a message (struct override_event). Returns false if it has another form. */
static bool parse_override_message(const char *message, struct override_names *out)
{
    struct message_span policy;

    *out = (struct override_names){{"", 0}, {"", 0}, {"", 0}};
    if (!find_span(&message, "override policy(", &policy) ||
        !find_span(&message, " for cluster(", &out->cluster))
        return false;

    const char *slash = memchr(policy.text, '/', policy.len);
    size_t ns_len = slash ? (size_t)(slash - policy.text) : 0;

    if (slash) {
        out->policy_ns = (struct message_span){policy.text, ns_len};
        policy = (struct message_span){slash + 1, policy.len - ns_len - 1};
    }
    out->policy = policy;
    return policy.len > 0;
}

/* Returns the newest time in an Event of either API version; else the creation time. */
static int64_t last_time_ms(struct decode *d, const cJSON *json)
{
    static const char *const keys[] = {"lastTimestamp", "deprecatedLastTimestamp", "eventTime",
                                       "firstTimestamp", "deprecatedFirstTimestamp"};
    const cJSON *series = decode_object(d, json, "", "series");
    const cJSON *metadata = decode_object(d, json, "", "metadata");
    int64_t newest_ms = decode_time(d, series, "series", "lastObservedTime");
    int64_t created_ms = decode_time(d, metadata, "metadata", "creationTimestamp");

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        int64_t ms = decode_time(d, json, "", keys[i]);

        newest_ms = ms > newest_ms ? ms : newest_ms;
    }
    return newest_ms ? newest_ms : created_ms;
}

/*
 * Decodes an Event with a reason in `reasons`. `about` is the reference to the object of the Event,
 * `path` its path. Returns NULL for a message of another form, or unless reference_texts_fit().
 */
static MUST_USE struct override_event *override_event_decode(struct decode *d, const cJSON *json,
                                                             const char *message,
                                                             const cJSON *about, const char *path)
{
    size_t reason = find_reason_index(json_str(json, "reason", ""));
    const char *uid = decode_text(d, about, path, "uid");
    struct override_names names = {{"", 0}, {"", 0}, {"", 0}};
    enum override_outcome outcome;

    if (reason == ARRAY_LEN(reasons) || !reference_texts_fit(about))
        return NULL;
    outcome = reasons[reason].outcome;
    if (outcome != WORKS_WRITTEN && !parse_override_message(message, &names))
        return NULL;

    size_t len = outcome == OVERRIDE_FAILED ? strlen(message) : 0;

    if (len > OVERRIDE_MESSAGE_MAX)
        len = utf8_cut_length(message, OVERRIDE_MESSAGE_MAX);

    struct override_event *e = xcalloc(1, sizeof(*e) + len + 1);

    memcpy(e->message, message, len);
    e->api_version = decode_interned_or_empty(d, about, path, "apiVersion");
    e->cluster = intern_add_len(d->strings, names.cluster.text, names.cluster.len);
    e->policy_ns = intern_add_len(d->strings, names.policy_ns.text, names.policy_ns.len);
    e->policy = intern_add_len(d->strings, names.policy.text, names.policy.len);
    e->time_ms = last_time_ms(d, json);
    e->uid_hash = uid_hash(uid ? uid : "");
    e->outcome = (uint8_t)outcome;
    return e;
}

static void override_event_release(struct intern *strings, struct override_event *e)
{
    if (!e)
        return;
    intern_drop(strings, e->api_version);
    intern_drop(strings, e->cluster);
    intern_drop(strings, e->policy_ns);
    intern_drop(strings, e->policy);
    free(e);
}

bool override_event_equal(const struct override_event *a, const struct override_event *b)
{
    return a->api_version == b->api_version && a->cluster == b->cluster &&
           a->policy_ns == b->policy_ns && a->policy == b->policy && a->time_ms == b->time_ms &&
           a->uid_hash == b->uid_hash && a->outcome == b->outcome &&
           strcmp(a->message, b->message) == 0;
}

static uint32_t read_occurrence_count(struct decode *d, const cJSON *json)
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

/* Returns the reference to the object of an Event: involvedObject in core/v1, else regarding. */
static const cJSON *find_object_reference(struct decode *d, const cJSON *json, const char **path)
{
    const cJSON *involved = decode_object(d, json, "", "involvedObject");
    const cJSON *regarding = decode_object(d, json, "", "regarding");

    *path = involved ? "involvedObject" : "regarding";
    return involved ? involved : regarding;
}

/* Returns the field message (core/v1) or note (events.k8s.io/v1); "" if both are absent. */
static const char *message_of(struct decode *d, const cJSON *json)
{
    const char *message = decode_text(d, json, "", "message");
    const char *note = decode_text(d, json, "", "note");

    return message ? message : note ? note : "";
}

/* Returns true if a component field of either API version equals EVENT_COMPONENT. */
static bool is_from_exporter(const cJSON *json)
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

static void read_object_reference(struct decode *d, const cJSON *about, const char *path,
                                  struct event *e)
{
    e->kind = decode_interned_or_empty(d, about, path, "kind");
    e->ns = decode_interned_or_empty(d, about, path, "namespace");
    e->name = decode_interned_or_empty(d, about, path, "name");
}

static void read_conflict_event(struct decode *d, const cJSON *json, struct event *e)
{
    const cJSON *metadata = decode_object(d, json, "", "metadata");
    const char *path;
    const cJSON *about = find_object_reference(d, json, &path);
    const char *message = message_of(d, json);

    e->is_conflict = true;
    read_object_reference(d, about, path, e);
    e->uid = decode_interned(d, metadata, "metadata", "uid");
    e->about_uid_hash = uid_hash(json_str(about, "uid", ""));
    e->ours = is_from_exporter(json);
    e->count = read_occurrence_count(d, json);
    /* The API client prepends text to the message of combined Events: strcmp() would not match. */
    e->conflict_resolution = strstr(message, "ConflictResolution conflicted");
    e->preserve = strstr(message, "PreserveResourcesOnDeletion conflicted");
}

static void read_override_event(struct decode *d, const cJSON *json, struct event *e)
{
    const char *path;
    const cJSON *about = find_object_reference(d, json, &path);

    e->override = override_event_decode(d, json, message_of(d, json), about, path);
    if (e->override)
        read_object_reference(d, about, path, e);
}

static void read_refusal_event(struct decode *d, const cJSON *json, struct event *e)
{
    const char *path;
    const cJSON *about = find_object_reference(d, json, &path);
    const char *uid = decode_text(d, about, path, "uid");

    if (!reference_texts_fit(about))
        return;
    e->refusal = xcalloc(1, sizeof(*e->refusal));
    e->refusal->api_version = decode_interned_or_empty(d, about, path, "apiVersion");
    e->refusal->time_ms = last_time_ms(d, json);
    e->refusal->uid_hash = uid_hash(uid ? uid : "");
    read_object_reference(d, about, path, e);
}

static void refusal_event_release(struct intern *strings, struct refusal_event *e)
{
    if (!e)
        return;
    intern_drop(strings, e->api_version);
    free(e);
}

void *event_decode(struct decode *d, const cJSON *json)
{
    const char *reason = decode_text(d, json, "", "reason");
    struct event *e = pool_alloc_zeroed(intern_memory(d->strings), sizeof(*e));

    if (reason && strcmp(reason, EVENT_CONFLICT) == 0)
        read_conflict_event(d, json, e);
    else if (reason && is_override_reason(reason))
        read_override_event(d, json, e);
    else if (reason && strcmp(reason, EVENT_REFUSAL) == 0)
        read_refusal_event(d, json, e);
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
    refusal_event_release(strings, e->refusal);
    pool_free(e);
}

const char *event_subject_ns(const cJSON *json)
{
    const cJSON *involved = json_get(json, "involvedObject");

    return json_str(involved ? involved : json_get(json, "regarding"), "namespace", "");
}
