/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/object_stream.h"

/* ---- name of an object that cannot be parsed ---- */

enum { NAME_MAX_BYTES = 512 }; /* Above the limit of API servers for names. */

static const char *const metadata_members[] = {"name", "namespace", "resourceVersion"};
enum { MEMBER_NAME, MEMBER_NAMESPACE, MEMBER_COUNT = ARRAY_LEN(metadata_members) };

struct text_slice {
    const char *bytes;
    size_t len;
};

struct metadata_reader {
    const char *at;
    const char *end;
    const char *path[2]; /* Names of the members that contain the metadata. */
    unsigned path_len;
    unsigned depth;   /* Open brackets. */
    unsigned matched; /* Members of `path` that enclose the position. */
    bool ended;       /* The end of the metadata was read. */
    struct text_slice found[MEMBER_COUNT];
};

/* Reads a string after its opening quote. Returns false if the closing quote is missing. */
static bool read_string(struct metadata_reader *r, struct text_slice *out)
{
    *out = (struct text_slice){.bytes = r->at};
    for (; r->at < r->end && *r->at != '"'; r->at++) {
        if (*r->at == '\\' && r->at + 1 < r->end)
            r->at++;
    }
    out->len = (size_t)(r->at - out->bytes);
    return r->at < r->end && *r->at++ == '"';
}

/* Skips white space. Returns the next byte without reading it; '\0' at the end. */
static char peek_byte(struct metadata_reader *r)
{
    while (r->at < r->end && strchr(" \t\r\n", *r->at))
        r->at++;
    return r->at < r->end ? *r->at : '\0';
}

static bool slice_equals(const struct text_slice *text, const char *word)
{
    return text->len == strlen(word) && memcmp(text->bytes, word, text->len) == 0;
}

/* Keeps the value of a member in metadata_members if it is a short string without escapes. */
static void read_metadata_member(struct metadata_reader *r, const struct text_slice *key)
{
    struct text_slice value;

    if (peek_byte(r) != '"')
        return;
    r->at++;
    if (!read_string(r, &value) || value.len >= NAME_MAX_BYTES ||
        memchr(value.bytes, '\\', value.len))
        return;
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        if (slice_equals(key, metadata_members[i]))
            r->found[i] = value;
    }
}

/* Reads a string after its opening quote. Follows a key on the path; reads a metadata member. */
static void read_key(struct metadata_reader *r)
{
    struct text_slice key;
    bool is_on_path = r->matched + 1 == r->depth;

    if (!read_string(r, &key) || !is_on_path || peek_byte(r) != ':')
        return;
    r->at++;
    if (r->matched == r->path_len)
        read_metadata_member(r, &key);
    else if (slice_equals(&key, r->path[r->matched]) && peek_byte(r) == '{')
        r->matched++;
}

static void close_bracket(struct metadata_reader *r)
{
    r->ended = r->matched == r->path_len && r->depth == r->path_len + 1;
    r->depth -= r->depth > 0;
    if (r->matched > 0 && r->matched >= r->depth)
        r->matched = r->depth > 0 ? r->depth - 1 : 0;
}

static void read_metadata(struct metadata_reader *r)
{
    while (r->at < r->end && !r->ended) {
        char byte = *r->at++;

        if (byte == '"')
            read_key(r);
        else if (byte == '{' || byte == '[')
            r->depth++;
        else if (byte == '}' || byte == ']')
            close_bracket(r);
    }
}

/*
 * Reads the name of an object from JSON text that cannot be parsed because it is cut, too large or
 * invalid. Reads up to the end of the metadata. `event`: the text is a watch event with the object
 * as its member "object".
 *
 * Returns {"metadata":{"name":...,"namespace":...,"resourceVersion":...}} without missing members;
 * the caller deletes it. Returns NULL if the name is missing, or if the text ends before it is
 * certain whether there is a namespace.
 */
static MUST_USE cJSON *parse_object_name(const char *json, size_t len, bool event)
{
    struct metadata_reader r = {
        .at = json,
        .end = json + len,
        .path = {event ? "object" : "metadata", "metadata"},
        .path_len = event ? 2 : 1,
    };
    cJSON *object, *metadata;

    read_metadata(&r);
    if (r.found[MEMBER_NAME].len == 0 || (!r.ended && r.found[MEMBER_NAMESPACE].len == 0))
        return NULL;
    object = cJSON_CreateObject();
    metadata = cJSON_AddObjectToObject(object, "metadata");
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        char text[NAME_MAX_BYTES];

        snprintf(text, sizeof(text), "%.*s", (int)r.found[i].len,
                 r.found[i].bytes ? r.found[i].bytes : "");
        if (*text && !cJSON_AddStringToObject(metadata, metadata_members[i], text))
            memory_exhausted(0);
    }
    return object;
}

/* ---- events ---- */

enum {
    /* API servers accept 3 MiB in a request. */
    OBJECT_MAX_BYTES = 8 * 1024 * 1024,
    /* A cJSON tree takes up to 40 times the bytes of its text: "[0,0,0,...". */
    OBJECT_MAX_VALUES = 200 * 1000,
    /* A stream without an incomplete object frees a larger buffer: hundreds may be open. */
    BUFFER_KEPT_BYTES = 16 * 1024,
};

/* Returns true if the text, maybe invalid JSON, has more than about OBJECT_MAX_VALUES values. */
static bool has_too_many_values(const char *json, size_t len)
{
    size_t values = 0;
    bool in_string = false;

    /* A value takes at least two bytes. */
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
 * Sets the requested type: items in lists of built-in kinds have no type, and metadata-only objects
 * have the kind PartialObjectMetadata. Returns false if the object has another kind. `memory` is
 * that of the object; cJSON does not use it.
 */
static bool set_type(const char *asked_version, const char *asked_kind, cJSON *object,
                     struct json_memory *memory, struct error *err)
{
    const char *kind = json_str(object, "kind", "");
    const char *api_version = json_str(object, "apiVersion", "");
    bool reduced = strcmp(kind, "PartialObjectMetadata") == 0;

    if (strcmp(kind, asked_kind) == 0 && strcmp(api_version, asked_version) == 0)
        return true;
    if (*kind && !reduced)
        return fail(err, "an object of kind %s '%s' is in a response for kind %s '%s'", kind,
                    api_version, asked_kind, asked_version);
    json_set_member_text(memory, object, "kind", asked_kind);
    json_set_member_text(memory, object, "apiVersion", asked_version);
    return true;
}

static const char *object_version(const cJSON *object)
{
    return json_str(json_get(object, "metadata"), "resourceVersion", "");
}

/* Returns an event with the object, or EVENT_REJECTED with the reason in `err`, which it borrows.
 */
static struct watch_event object_event(struct object_stream *s, enum watch_event_kind kind,
                                       cJSON *object, struct error *err)
{
    bool valid = cJSON_IsObject(object) ? set_type(s->api_version, s->kind, object, &s->memory, err)
                                        : fail(err, "not an object");

    return (struct watch_event){.kind = valid ? kind : EVENT_REJECTED,
                                .object = valid ? object : NULL,
                                .version = object_version(object),
                                .reason = valid ? NULL : err->text};
}

/* Returns the event in `json`; borrows `json`, `err` for EVENT_REJECTED, `status` for EVENT_ERROR.
 */
static struct watch_event read_watch_event(struct object_stream *s, const cJSON *json,
                                           struct status *status, struct error *err)
{
    const char *type = json_str(json, "type", "");
    cJSON *object = cJSON_GetObjectItemCaseSensitive(json, "object");
    struct watch_event event = {.version = object_version(object)};

    if (strcmp(type, "ADDED") == 0 || strcmp(type, "MODIFIED") == 0)
        return object_event(s, EVENT_OBJECT, object, err);
    if (strcmp(type, "DELETED") == 0)
        return object_event(s, EVENT_DELETED, object, err);
    if (strcmp(type, "BOOKMARK") == 0) {
        const cJSON *annotations = json_get(json_get(object, "metadata"), "annotations");
        const char *end = json_str(annotations, "k8s.io/initial-events-end", "");

        event.kind = strcmp(end, "true") == 0 ? EVENT_INITIAL_END : EVENT_BOOKMARK;
    } else if (strcmp(type, "ERROR") == 0) {
        if (!status_read(object, status))
            *status = (struct status){0};
        event = (struct watch_event){.kind = EVENT_ERROR, .version = "", .status = status};
    } else {
        event.kind = EVENT_REJECTED;
        event.reason = "an event of unknown type";
    }
    return event;
}

/* Returns true for a watch event of type DELETED; servers write the type first. */
static bool is_deletion(const struct object_stream *s, const char *json, size_t len)
{
    static const char start[] = "{\"type\":\"DELETED\"";

    return s->mode == JSON_FRAME_EVENTS && len >= sizeof(start) - 1 &&
           memcmp(json, start, sizeof(start) - 1) == 0;
}

/* Emits EVENT_DELETED for a named deletion, else EVENT_REJECTED. Returns the result of `emit`. */
static bool reject_unparsed(struct object_stream *s, const char *json, size_t len,
                            struct watch_event event)
{
    CLEANUP(json_cleanup)
    cJSON *object = parse_object_name(json, len, s->mode == JSON_FRAME_EVENTS);
    bool deleted = is_deletion(s, json, len);
    struct error err;

    event.kind = EVENT_REJECTED;
    event.unnamed = !object && !deleted;
    event.version = object_version(object);
    event.object = object;
    if (object && deleted)
        event = object_event(s, EVENT_DELETED, object, &err);
    else if (object && !set_type(s->api_version, s->kind, object, &s->memory, &err))
        abort();
    return s->emit(s->context, &event);
}

/*
 * Handles an object that strict parsing rejects, for example because of a NUL in an annotation:
 * like reject_unparsed(), but tries first to parse the object with cJSON.
 */
static bool reject_invalid(struct object_stream *s, const char *json, size_t len,
                           const char *reason)
{
    CLEANUP(json_cleanup) cJSON *rough = cJSON_ParseWithLength(json, len);
    bool is_event = s->mode == JSON_FRAME_EVENTS;
    cJSON *object = is_event ? cJSON_GetObjectItemCaseSensitive(rough, "object") : rough;
    struct watch_event event;
    struct error err;

    if (!rough)
        return reject_unparsed(s, json, len, (struct watch_event){.reason = reason});
    if (is_event && strcmp(json_str(rough, "type", ""), "DELETED") == 0) {
        event = object_event(s, EVENT_DELETED, object, &err);
    } else {
        event = object_event(s, EVENT_REJECTED, object, &err);
        event.reason = reason;
        event.version = object_version(event.object);
    }
    return s->emit(s->context, &event);
}

/*
 * Returns the members of an object that `fields` keeps, as a tree of cJSON that the caller deletes;
 * NULL if the text is invalid or has too many values.
 */
static cJSON *parse_members(const struct json_filter *fields, const char *json, size_t len)
{
    CLEANUP(json_memory_release) struct json_memory memory = {0};
    const cJSON *tree = json_filter_parse(fields, json, len, OBJECT_MAX_VALUES, &memory);
    cJSON *copy = tree ? cJSON_Duplicate(tree, true) : NULL;

    if (tree && !copy)
        memory_exhausted(len);
    return copy;
}

cJSON *object_parse(const char *api_version, const char *kind, const struct json_filter *fields,
                    const char *json, size_t len, struct error *err)
{
    cJSON *object = parse_members(fields, json, len);

    if (!object && has_too_many_values(json, len)) {
        fail(err, "too many values");
        return NULL;
    }
    if (!object)
        object = json_parse(json, len, NULL, err);
    if (object && !cJSON_IsObject(object))
        fail(err, "not an object");
    else if (object && set_type(api_version, kind, object, NULL, err))
        return object;
    cJSON_Delete(object);
    return NULL;
}

/* Emits a list item or an event. Returns the result of `emit`. */
static bool emit_tree(struct object_stream *s, cJSON *tree)
{
    struct status status;
    struct error err;
    struct watch_event event = s->mode == JSON_FRAME_LIST
                                   ? object_event(s, EVENT_OBJECT, tree, &err)
                                   : read_watch_event(s, tree, &status, &err);

    return s->emit(s->context, &event);
}

/*
 * Parses the members that s->fields keeps of the object at the start of the text, in s->memory.
 * Sets `used` to its length. Returns NULL if the text is invalid or has too many values.
 */
static cJSON *parse_kept_members(struct object_stream *s, const char *json, size_t len,
                                 size_t *used)
{
    const struct json_filter_row row = JSON_ROW_OBJECT("object", s->fields);
    const struct json_filter event = {.rows = &row, .row_count = 1};
    const struct json_filter *filter =
        s->fields && s->mode == JSON_FRAME_EVENTS ? &event : s->fields;

    return json_filter_parse_first(filter, json, len, OBJECT_MAX_VALUES, &s->memory, used);
}

/*
 * Emits the object at the start of the text, and returns its length. Returns 0 if it is incomplete,
 * invalid or has too many values. Sets `stopped` if `emit` returned false.
 */
static size_t emit_first(void *context, const char *json, size_t len, bool *stopped)
{
    struct object_stream *s = context;
    size_t used;
    cJSON *kept = parse_kept_members(s, json, len, &used);

    if (kept && !emit_tree(s, kept))
        *stopped = true;
    json_memory_release(&s->memory);
    return kept ? used : 0;
}

/* Emits an object that is not cut, and whose framing is valid. */
static bool emit_text(struct object_stream *s, const char *json, size_t len)
{
    size_t used;
    cJSON *kept = parse_kept_members(s, json, len, &used);
    bool is_whole = kept && used == len;
    bool goes_on = is_whole && emit_tree(s, kept);
    struct error err;

    json_memory_release(&s->memory);
    if (is_whole)
        return goes_on;
    /* The reason of the rejection, and what can be read of the object. */
    if (has_too_many_values(json, len))
        return reject_unparsed(
            s, json, len, (struct watch_event){.reason = "too many values", .too_large = true});

    CLEANUP(json_cleanup) cJSON *parsed = json_parse(json, len, NULL, &err);

    return parsed ? emit_tree(s, parsed) : reject_invalid(s, json, len, err.text);
}

static const struct watch_event cut_event = {.reason = "larger than 8 MiB", .too_large = true};

static bool receive_json(void *context, const char *json, size_t len, size_t offset)
{
    struct object_stream *s = context;
    struct watch_event event;
    struct error err;

    (void)offset;
    if (json[0] != '{') {
        s->malformed = s->mode == JSON_FRAME_EVENTS;
        event = object_event(s, EVENT_OBJECT, NULL, &err);
        return !s->malformed && s->emit(s->context, &event);
    }
    return s->json.cut ? reject_unparsed(s, json, len, cut_event) : emit_text(s, json, len);
}

static bool receive_protobuf(void *context, const struct protobuf_object *object)
{
    struct object_stream *s = context;

    if (object->cut)
        return reject_unparsed(s, object->json, object->len, cut_event);
    if (object->fault)
        return reject_unparsed(s, object->json, object->len,
                               (struct watch_event){.reason = object->fault});
    return emit_text(s, object->json, object->len);
}

void object_stream_init(struct object_stream *s, enum json_frame_mode mode, const char *api_version,
                        const char *kind, watch_event_fn *emit, void *context)
{
    *s = (struct object_stream){
        .mode = mode,
        .api_version = api_version,
        .kind = kind,
        .emit = emit,
        .context = context,
    };
    json_frame_init(&s->json, mode, OBJECT_MAX_BYTES, receive_json, s);
    protobuf_frame_init(&s->protobuf, mode, OBJECT_MAX_BYTES, receive_protobuf, s);
    s->json.on_start = emit_first;
    s->json.cuts_large = true;
}

void object_stream_release(struct object_stream *s)
{
    json_frame_release(&s->json);
    protobuf_frame_release(&s->protobuf);
}

void object_stream_expect_protobuf(struct object_stream *s)
{
    s->is_protobuf = true;
}

/* Frees a buffer above BUFFER_KEPT_BYTES. */
static void shrink(struct strbuf *buffer)
{
    if (buffer->cap > BUFFER_KEPT_BYTES)
        strbuf_release(buffer);
}

bool object_stream_feed(struct object_stream *s, const char *bytes, size_t len, struct error *err)
{
    fail(err, "the reader stopped");
    if (s->is_protobuf) {
        if (!protobuf_frame_feed(&s->protobuf, bytes, len, err))
            return false;
    } else if (!json_frame_feed(&s->json, bytes, len, err)) {
        if (s->malformed)
            fail(err, "the body is no stream of watch events");
        return false;
    }
    if (!s->json.in_object)
        shrink(&s->json.object);
    if (s->protobuf.value.len == 0)
        shrink(&s->protobuf.value);
    shrink(&s->protobuf.text);
    return true;
}

bool object_stream_is_cut(const struct object_stream *s)
{
    return s->is_protobuf ? !protobuf_frame_is_complete(&s->protobuf)
                          : !json_frame_is_complete(&s->json);
}

/* Returns the JSON text of the list without its items. */
static const struct strbuf *list_text(const struct object_stream *s)
{
    return s->is_protobuf ? &s->protobuf.rest : &s->json.rest;
}

bool object_stream_is_truncated(const struct object_stream *s)
{
    return object_stream_is_cut(s) || list_text(s)->len == 0;
}

bool object_stream_finish_list(struct object_stream *s, struct list_meta *out, struct error *err)
{
    static const char suffix[] = "List";

    if (object_stream_is_truncated(s))
        return fail(err, "the list ends too early");

    CLEANUP(json_cleanup)
    cJSON *rest = json_parse(list_text(s)->data, list_text(s)->len, NULL, err);

    if (!rest)
        return fail_in(err, "the list without its items");

    const cJSON *metadata = json_get(rest, "metadata");
    const char *kind = json_str(rest, "kind", "");
    const char *version = json_str(metadata, "resourceVersion", "");
    const char *token = json_str(metadata, "continue", "");
    const char *shard = json_str(json_get(metadata, "shardInfo"), "selector", "");
    size_t len = strlen(kind);

    if (len < sizeof(suffix) || strcmp(kind + len - (sizeof(suffix) - 1), suffix) != 0)
        return fail(err, "the body is a %s and no list", *kind ? kind : "document without kind");
    if (!*version)
        return fail(err, "the list has no resourceVersion");
    *out = (struct list_meta){
        .version = xstrdup(version),
        .token = *token ? xstrdup(token) : NULL,
        .remaining = json_int(metadata, "remainingItemCount", -1),
        .shard_selector = *shard ? xstrdup(shard) : NULL,
    };
    return true;
}

void list_meta_release(struct list_meta *meta)
{
    free(meta->version);
    free(meta->token);
    free(meta->shard_selector);
    *meta = (struct list_meta){0};
}
