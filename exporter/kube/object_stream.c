/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/object_stream.h"

enum {
    /* Well above what an API server takes in a request (3 MiB). */
    OBJECT_MAX_BYTES = 8 * 1024 * 1024,
    /* A tree takes up to 40 times the bytes of its text: "[0,0,0,...". */
    OBJECT_MAX_VALUES = 200 * 1000,
    /* Hundreds of streams must not each keep the room of the largest object they saw. */
    KEPT_BYTES = 16 * 1024,
};

/* True if the text has more values than any sound object; nothing else about it is checked. */
static bool has_too_many_values(const char *json, size_t len)
{
    size_t values = 0;
    bool in_string = false;

    /* Each value takes two bytes at least. */
    if (len / 2 <= OBJECT_MAX_VALUES)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (in_string && json[i] == '\\')
            i++;
        else if (json[i] == '"')
            in_string = !in_string;
        else if (!in_string && (json[i] == ',' || json[i] == '{' || json[i] == '['))
            values++;
    }
    return values > OBJECT_MAX_VALUES;
}

/*
 * Give the object the type that was asked for: in the lists of built-in kinds it has
 * none, and reduced to its metadata it has that of the reduced form. False if
 * it is something else.
 */
static bool set_type(const struct object_stream *s, cJSON *object, struct error *err)
{
    const char *kind = json_str(object, "kind", "");
    const char *api_version = json_str(object, "apiVersion", "");
    bool reduced = strcmp(kind, "PartialObjectMetadata") == 0;

    if (strcmp(kind, s->kind) == 0 && strcmp(api_version, s->api_version) == 0)
        return true;
    if (*kind && !reduced)
        return fail(err, "a %s '%s' among objects of kind %s '%s'", kind, api_version, s->kind,
                    s->api_version);
    cJSON_DeleteItemFromObjectCaseSensitive(object, "kind");
    cJSON_DeleteItemFromObjectCaseSensitive(object, "apiVersion");
    if (!cJSON_AddStringToObject(object, "kind", s->kind) ||
        !cJSON_AddStringToObject(object, "apiVersion", s->api_version))
        abort();
    return true;
}

static const char *version_of(const cJSON *object)
{
    return json_str(json_get(object, "metadata"), "resourceVersion", "");
}

static bool tell_object(struct object_stream *s, enum object_news_kind kind, cJSON *object)
{
    struct error err;
    struct object_news news = {.kind = kind, .object = object, .version = version_of(object)};

    if (!cJSON_IsObject(object)) {
        news.kind = NEWS_REJECTED;
        news.object = NULL;
        news.reason = "not an object";
    } else if (!set_type(s, object, &err)) {
        news.kind = NEWS_REJECTED;
        news.object = NULL;
        news.reason = err.text;
    }
    return s->tell(s->context, &news);
}

static bool tell_error(struct object_stream *s, const cJSON *object)
{
    struct status status;

    if (!status_read(object, &status))
        status = (struct status){0};
    return s->tell(s->context,
                   &(struct object_news){.kind = NEWS_ERROR, .version = "", .status = &status});
}

static bool tell_bookmark(struct object_stream *s, const cJSON *object)
{
    const cJSON *annotations = json_get(json_get(object, "metadata"), "annotations");
    bool filled = strcmp(json_str(annotations, "k8s.io/initial-events-end", ""), "true") == 0;

    return s->tell(s->context, &(struct object_news){.kind = filled ? NEWS_FILLED : NEWS_BOOKMARK,
                                                     .version = version_of(object)});
}

/* One change of a stream. */
static bool tell_change(struct object_stream *s, const cJSON *change)
{
    const char *type = json_str(change, "type", "");
    cJSON *object = cJSON_GetObjectItemCaseSensitive(change, "object");

    if (strcmp(type, "ADDED") == 0 || strcmp(type, "MODIFIED") == 0)
        return tell_object(s, NEWS_OBJECT, object);
    if (strcmp(type, "DELETED") == 0)
        return tell_object(s, NEWS_REMOVED, object);
    if (strcmp(type, "BOOKMARK") == 0)
        return tell_bookmark(s, object);
    if (strcmp(type, "ERROR") == 0)
        return tell_error(s, object);
    return s->tell(s->context, &(struct object_news){.kind = NEWS_REJECTED,
                                                     .version = version_of(object),
                                                     .reason = "a change of unknown type"});
}

/*
 * What strict reading refuses still has a name, as a rule: a user may put a NUL
 * into an annotation. Without it the object could not be found again to remove it.
 */
static bool tell_unreadable(struct object_stream *s, const char *json, size_t len,
                            const char *reason)
{
    CLEANUP(json_cleanup) cJSON *rough = cJSON_ParseWithLength(json, len);
    bool change = s->mode == FRAME_EVENTS;
    cJSON *object = change ? cJSON_GetObjectItemCaseSensitive(rough, "object") : rough;
    struct error ignored;

    if (change && strcmp(json_str(rough, "type", ""), "DELETED") == 0)
        return tell_object(s, NEWS_REMOVED, object);
    if (!cJSON_IsObject(object) || !set_type(s, object, &ignored))
        object = NULL;
    return s->tell(s->context, &(struct object_news){.kind = NEWS_REJECTED,
                                                     .object = object,
                                                     .version = version_of(object),
                                                     .reason = reason});
}

static bool take_object(void *context, const char *json, size_t len, size_t offset)
{
    struct object_stream *s = context;
    struct error err;

    (void)offset;
    if (json[0] != '{') {
        s->malformed = s->mode == FRAME_EVENTS;
        return !s->malformed && tell_object(s, NEWS_OBJECT, NULL);
    }
    if (has_too_many_values(json, len))
        return s->tell(s->context, &(struct object_news){.kind = NEWS_REJECTED,
                                                         .version = "",
                                                         .reason = "too many values"});

    CLEANUP(json_cleanup) cJSON *parsed = json_parse(json, len, NULL, &err);

    if (!parsed)
        return tell_unreadable(s, json, len, err.text);
    return s->mode == FRAME_LIST ? tell_object(s, NEWS_OBJECT, parsed) : tell_change(s, parsed);
}

void object_stream_init(struct object_stream *s, enum frame_mode mode, const char *api_version,
                        const char *kind, object_news_fn *tell, void *context)
{
    *s = (struct object_stream){
        .mode = mode,
        .api_version = api_version,
        .kind = kind,
        .tell = tell,
        .context = context,
    };
    frame_init(&s->frame, mode, OBJECT_MAX_BYTES, take_object, s);
}

void object_stream_release(struct object_stream *s)
{
    frame_release(&s->frame);
}

bool object_stream_feed(struct object_stream *s, const char *bytes, size_t len, struct error *err)
{
    fail(err, "the reading was given up");
    if (!frame_feed(&s->frame, bytes, len, err)) {
        if (s->malformed)
            fail(err, "what came is no stream of changes");
        return false;
    }
    if (!s->frame.in_object && s->frame.object.cap > KEPT_BYTES)
        strbuf_release(&s->frame.object);
    return true;
}

bool object_stream_is_cut(const struct object_stream *s)
{
    return !frame_complete(&s->frame) || s->frame.rest.len == 0;
}

bool object_stream_finish_list(struct object_stream *s, struct list_facts *out, struct error *err)
{
    static const char suffix[] = "List";

    if (object_stream_is_cut(s))
        return fail(err, "the list is cut short");

    CLEANUP(json_cleanup)
    cJSON *rest = json_parse(s->frame.rest.data, s->frame.rest.len, NULL, err);

    if (!rest)
        return fail_in(err, "the list without its items");

    const cJSON *metadata = json_get(rest, "metadata");
    const char *kind = json_str(rest, "kind", "");
    const char *version = json_str(metadata, "resourceVersion", "");
    const char *token = json_str(metadata, "continue", "");
    size_t len = strlen(kind);

    if (len < sizeof(suffix) || strcmp(kind + len - (sizeof(suffix) - 1), suffix) != 0)
        return fail(err, "a %s is no list", *kind ? kind : "document without kind");
    if (!*version)
        return fail(err, "the list has no resourceVersion");
    *out = (struct list_facts){
        .version = xstrdup(version),
        .token = *token ? xstrdup(token) : NULL,
        .remaining = json_int(metadata, "remainingItemCount", -1),
    };
    return true;
}

void list_facts_release(struct list_facts *facts)
{
    free(facts->version);
    free(facts->token);
    *facts = (struct list_facts){0};
}
