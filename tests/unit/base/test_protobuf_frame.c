/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/protobuf_frame.h"

#include "exporter/kube/object_stream.h"
#include "exporter/system/file.h"
#include "tests/unit/metadata_protobuf.h"
#include "tests/unit/random_object.h"
#include "tests/unit/suite.h"

enum { BODY_MAX = 1 << 26, WHOLE = 1 << 30 };

/* Events of a body, as JSON. */
struct reading {
    cJSON *events;
    struct error err;
    bool valid;
    struct list_meta list;
};

/* Metadata that protobuf_frame does not convert, because no rule reads it. */
static const char *const unread[] = {"generateName", "finalizers", "deletionGracePeriodSeconds",
                                     "selfLink",     "fieldsType", "blockOwnerDeletion"};

/* Removes unread metadata from an object, and members that are null. */
static void remove_unread(cJSON *item)
{
    for (cJSON *child = item->child, *next; child; child = next) {
        bool removed = cJSON_IsNull(child);

        next = child->next;
        for (size_t i = 0; i < ARRAY_LEN(unread) && child->string; i++)
            removed = removed || strcmp(child->string, unread[i]) == 0;
        if (removed)
            cJSON_Delete(cJSON_DetachItemViaPointer(item, child));
        else if (!child->string || strcmp(child->string, "fieldsV1") != 0)
            remove_unread(child);
    }
}

/* Removes the members of a whole object that metadata does not have. */
static void keep_metadata(cJSON *object)
{
    cJSON *entry;

    for (cJSON *child = object->child, *next; child; child = next) {
        next = child->next;
        if (strcmp(child->string, "metadata") != 0 && strcmp(child->string, "kind") != 0 &&
            strcmp(child->string, "apiVersion") != 0)
            cJSON_Delete(cJSON_DetachItemViaPointer(object, child));
    }
    cJSON_ArrayForEach (entry, json_get(json_get(object, "metadata"), "managedFields"))
        cJSON_DeleteItemFromObjectCaseSensitive(entry, "apiVersion");
    remove_unread(object);
}

static bool record_event(void *context, const struct watch_event *event)
{
    struct reading *r = context;
    cJSON *json = cJSON_CreateObject();

    cJSON_AddNumberToObject(json, "kind", event->kind);
    cJSON_AddStringToObject(json, "version", event->version);
    cJSON_AddBoolToObject(json, "unnamed", event->unnamed);
    if (event->reason)
        cJSON_AddStringToObject(json, "reason", event->reason);
    if (event->status) {
        cJSON_AddNumberToObject(json, "code", event->status->code);
        cJSON_AddNumberToObject(json, "wait", (double)event->status->retry_after_ms);
        cJSON_AddStringToObject(json, "message", event->status->message);
    }
    if (event->object) {
        cJSON *object = cJSON_Duplicate(event->object, true);

        keep_metadata(object);
        cJSON_AddItemToObject(json, "object", object);
    }
    cJSON_AddItemToArray(r->events, json);
    return true;
}

static void read_body(enum json_frame_mode mode, bool protobuf, const char *bytes, size_t len,
                      size_t step, struct reading *out)
{
    struct object_stream s;

    *out = (struct reading){.events = cJSON_CreateArray(), .valid = true};
    object_stream_init(&s, mode, "v1", "ConfigMap", record_event, out);
    if (protobuf)
        object_stream_expect_protobuf(&s);
    for (size_t at = 0; at < len && out->valid; at += step) {
        /* A copy, so that AddressSanitizer detects reads behind the piece. */
        size_t piece = len - at < step ? len - at : step;
        CLEANUP(free_cleanup) char *copy = xmalloc(piece);

        memcpy(copy, bytes + at, piece);
        out->valid = object_stream_feed(&s, copy, piece, &out->err);
    }
    if (out->valid && mode == JSON_FRAME_LIST)
        out->valid = object_stream_finish_list(&s, &out->list, &out->err);
    else if (out->valid)
        assert_false(object_stream_is_cut(&s));
    if (out->valid)
        out->err.text[0] = '\0';
    object_stream_release(&s);
}

static void reading_release(struct reading *r)
{
    cJSON_Delete(r->events);
    list_meta_release(&r->list);
}

/* Fails unless both bodies have the same events. */
static void assert_same(enum json_frame_mode mode, const struct strbuf *json,
                        const struct strbuf *protobuf, size_t step)
{
    struct reading a, b;

    read_body(mode, false, json->data, json->len, WHOLE, &a);
    read_body(mode, true, protobuf->data, protobuf->len, step, &b);
    CLEANUP(free_cleanup) char *a_text = cJSON_PrintUnformatted(a.events);
    CLEANUP(free_cleanup) char *b_text = cJSON_PrintUnformatted(b.events);

    assert_string_equal(b.err.text, "");
    assert_true(a.valid && b.valid);
    if (!cJSON_Compare(a.events, b.events, true))
        fail_msg("JSON: %s\nprotobuf: %s", a_text, b_text);
    if (mode == JSON_FRAME_LIST) {
        assert_string_equal(a.list.version, b.list.version);
        assert_string_equal(a.list.token ? a.list.token : "", b.list.token ? b.list.token : "");
        assert_int_equal(a.list.remaining, b.list.remaining);
        assert_string_equal(a.list.shard_selector ? a.list.shard_selector : "",
                            b.list.shard_selector ? b.list.shard_selector : "");
    }
    reading_release(&a);
    reading_release(&b);
}

/* Responses of a real API server to the same request, in both formats. */
static const struct recording {
    const char *name;
    enum json_frame_mode mode;
} recordings[] = {
    {"metadata-list", JSON_FRAME_LIST},         {"metadata-empty", JSON_FRAME_LIST},
    {"metadata-policies", JSON_FRAME_LIST},     {"metadata-watch", JSON_FRAME_EVENTS},
    {"metadata-watch-list", JSON_FRAME_EVENTS}, {"metadata-gone", JSON_FRAME_EVENTS},
};

TEST_ROWS(recorded_protobuf_has_the_events_of_json, recordings, name)
{
    const struct recording *c = *state;
    CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(BODY_MAX);
    CLEANUP(strbuf_release) struct strbuf protobuf = STRBUF_INIT(BODY_MAX);
    char path[128];
    struct error err;

    snprintf(path, sizeof(path), "tests/fixtures/protocol/%s.json.body", c->name);
    assert_true(file_read(path, &json, &err));
    snprintf(path, sizeof(path), "tests/fixtures/protocol/%s.protobuf.body", c->name);
    assert_true(file_read(path, &protobuf, &err));
    for (size_t step = 1; step < 100; step = 2 * step + 1)
        assert_same(c->mode, &json, &protobuf, step);
    assert_same(c->mode, &json, &protobuf, WHOLE);
}

/* Removes empty maps, and the second of two equal keys: API servers send neither. */
static void remove_unusual_members(cJSON *metadata)
{
    for (cJSON *child = metadata->child, *next; child; child = next) {
        bool empty = cJSON_IsObject(child) && !child->child;

        next = child->next;
        if (empty || cJSON_GetObjectItemCaseSensitive(metadata, child->string) != child)
            cJSON_Delete(cJSON_DetachItemViaPointer(metadata, child));
    }
}

/* Adds managedFields and owners, which random objects do not have. */
static void add_metadata(cJSON *object, unsigned seed)
{
    cJSON *metadata = cJSON_GetObjectItemCaseSensitive(object, "metadata");
    cJSON *entry = cJSON_CreateObject(), *owner = cJSON_CreateObject();

    remove_unusual_members(metadata);
    cJSON_DeleteItemFromObjectCaseSensitive(metadata, "managedFields");
    cJSON_DeleteItemFromObjectCaseSensitive(metadata, "ownerReferences");
    cJSON_AddItemToArray(cJSON_AddArrayToObject(metadata, "managedFields"), entry);
    cJSON_AddStringToObject(entry, "manager", seed % 2 ? "kubectl" : "karmada");
    cJSON_AddStringToObject(entry, "operation", "Update");
    cJSON_AddStringToObject(entry, "time",
                            seed % 3 ? "2026-01-31T23:59:59Z" : "1969-02-28T00:00:00Z");
    if (seed % 5 == 0)
        cJSON_AddStringToObject(entry, "subresource", "status");
    cJSON_AddItemToObject(entry, "fieldsV1", cJSON_Parse("{\"f:spec\":{\"f:x\":{\".\":{}}}}"));
    cJSON_AddItemToArray(cJSON_AddArrayToObject(metadata, "ownerReferences"), owner);
    cJSON_AddStringToObject(owner, "kind", "Deployment");
    cJSON_AddBoolToObject(owner, "controller", seed % 2);
}

TEST(random_lists_and_streams_have_the_events_of_json)
{
    for (unsigned seed = 0; seed < 200; seed++) {
        struct world w;
        CLEANUP(json_cleanup)
        cJSON *list = cJSON_Parse(
            "{\"kind\":\"XList\",\"metadata\":{\"resourceVersion\":\"7\",\"continue\":\"c\","
            "\"remainingItemCount\":3,\"shardInfo\":{\"selector\":\"s\"}}}");
        cJSON *items = cJSON_AddArrayToObject(list, "items"), *object;
        CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(BODY_MAX);
        CLEANUP(strbuf_release) struct strbuf protobuf = STRBUF_INIT(BODY_MAX);
        CLEANUP(strbuf_release) struct strbuf events = STRBUF_INIT(BODY_MAX);
        CLEANUP(strbuf_release) struct strbuf protobuf_events = STRBUF_INIT(BODY_MAX);

        world_init(&w, &rules_options_default, seed);
        for (unsigned i = 0; i < seed % 7; i++) {
            object = random_object(&w);
            add_metadata(object, seed + i);
            cJSON_DeleteItemFromObjectCaseSensitive(object, "kind");
            cJSON_DeleteItemFromObjectCaseSensitive(object, "apiVersion");
            cJSON_AddItemToArray(items, object);
        }
        CLEANUP(free_cleanup) char *text = cJSON_PrintUnformatted(list);
        strbuf_adds(&json, text);
        append_list_protobuf(list, &protobuf);
        assert_same(JSON_FRAME_LIST, &json, &protobuf, 1 + seed % 200);
        cJSON_ArrayForEach (object, items) {
            CLEANUP(json_cleanup) cJSON *event = cJSON_CreateObject();

            cJSON_AddStringToObject(event, "type", seed % 2 ? "MODIFIED" : "DELETED");
            cJSON_AddItemReferenceToObject(event, "object", object);
            CLEANUP(free_cleanup) char *line = cJSON_PrintUnformatted(event);
            strbuf_addf(&events, "%s\n", line);
            append_event_protobuf(event, &protobuf_events);
        }
        assert_same(JSON_FRAME_EVENTS, &events, &protobuf_events, 1 + seed % 200);
        world_release(&w);
    }
}

/* ---- bodies that are cut or invalid ---- */

#define ITEM(more)                                                                                 \
    "{\"metadata\":{\"name\":\"b\",\"namespace\":\"n\",\"resourceVersion\":\"2\"" more "}}"
#define EVENT(type, more) "{\"type\":\"" type "\",\"object\":" ITEM(more) "}"

/* Returns the events of a reading on one line each: kind, name, version, reason. */
static void write_events(const struct reading *r, struct strbuf *out)
{
    const cJSON *event;

    cJSON_ArrayForEach (event, r->events) {
        const cJSON *metadata = json_get(json_get(event, "object"), "metadata");

        strbuf_addf(out, "%d %s%s %s%s\n", (int)json_int(event, "kind", -1),
                    json_bool(event, "unnamed", false) ? "unnamed" : "",
                    json_str(metadata, "name", ""), json_str(event, "version", ""),
                    json_str(event, "reason", ""));
    }
}

/* Reads a body in pieces of two sizes. Fails unless it has these events and this error. */
static void assert_events(enum json_frame_mode mode, const struct strbuf *body, const char *events,
                          const char *error)
{
    static const size_t steps[] = {1, WHOLE};

    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(BODY_MAX);
        struct reading r;

        read_body(mode, true, body->data, body->len, steps[i], &r);
        write_events(&r, &text);
        assert_string_equal(r.err.text, error);
        assert_string_equal(text.data, events);
        reading_release(&r);
    }
}

static void append_json_event(const char *json, struct strbuf *out)
{
    CLEANUP(json_cleanup) cJSON *event = cJSON_Parse(json);

    assert_non_null(event);
    append_event_protobuf(event, out);
}

#define BYTES(text)           text, sizeof(text) - 1
#define TYPE_OF(kind, length) "k8s\0\x0a" length "\x0a\x02v1\x12" kind

/* Bodies that fail without an event. */
static const struct malformed {
    const char *name;
    enum json_frame_mode mode;
    const char *bytes;
    size_t len;
    const char *error;
} malformed[] = {
    {"nothing", JSON_FRAME_LIST, BYTES(""), "the list ends too early"},
    {"a page of a proxy", JSON_FRAME_LIST, BYTES("<html>"), "the body is no Kubernetes protobuf"},
    {"JSON", JSON_FRAME_LIST, BYTES("{\"kind\":\"List\"}"), "the body is no Kubernetes protobuf"},
    {"a Status", JSON_FRAME_LIST, BYTES(TYPE_OF("\x06Status", "\x0c") "\x12\x02\x12\x00"),
     "the body is a Status and no list of metadata"},
    {"a list of whole objects", JSON_FRAME_LIST,
     BYTES(TYPE_OF("\x07PodList", "\x0d") "\x12\x02\x12\x00"),
     "the body is a PodList and no list of metadata"},
    {"a list without a type", JSON_FRAME_LIST, BYTES("k8s\0\x12\x02\x12\x00"),
     "not valid protobuf: a list without a type, or two lists"},
    {"an envelope without a list", JSON_FRAME_LIST,
     BYTES(TYPE_OF("\x19PartialObjectMetadataList", "\x1f")), "the list ends too early"},
    {"a list without its version", JSON_FRAME_LIST,
     BYTES(TYPE_OF("\x19PartialObjectMetadataList", "\x1f") "\x12\x00"),
     "the list has no resourceVersion"},
    {"two lists", JSON_FRAME_LIST,
     BYTES(TYPE_OF("\x19PartialObjectMetadataList", "\x1f") "\x12\x00\x12\x00"),
     "not valid protobuf: a list without a type, or two lists"},
    {"two types", JSON_FRAME_LIST,
     BYTES(TYPE_OF("\x19PartialObjectMetadataList", "\x1f") "\x0a\x1f\x0a\x02v1\x12\x19"
                                                            "PartialObjectMetadataList"),
     "not valid protobuf: the list has two types"},
    {"an item longer than its list", JSON_FRAME_LIST,
     BYTES(TYPE_OF("\x19PartialObjectMetadataList", "\x1f") "\x12\x03\x12\x02"),
     "not valid protobuf: an item is longer than its list"},
    {"a tag longer than its list", JSON_FRAME_LIST,
     BYTES(TYPE_OF("\x19PartialObjectMetadataList", "\x1f") "\x12\x01\x12\x00"),
     "not valid protobuf: a tag or number is invalid"},
    {"invalid metadata of a list", JSON_FRAME_LIST,
     BYTES(TYPE_OF("\x19PartialObjectMetadataList", "\x1f") "\x12\x03\x0a\x01\x0b"),
     "not valid protobuf: a tag or number is invalid"},
    {"large metadata of a list", JSON_FRAME_LIST,
     BYTES(TYPE_OF("\x19PartialObjectMetadataList", "\x1f") "\x12\xff\xff\xff\x7f\x0a\xff\xff\x7f"),
     "a list, not counting its items, is larger than 1048576 bytes"},
    {"a page of a proxy instead of events", JSON_FRAME_EVENTS, BYTES("<html>"),
     "the body is no stream of watch events in protobuf"},
    {"JSON instead of events", JSON_FRAME_EVENTS, BYTES("{\"type\":\"ADDED\"}"),
     "the body is no stream of watch events in protobuf"},
};

TEST_ROWS(malformed_body_is_an_error, malformed, name)
{
    const struct malformed *c = *state;
    CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT(BODY_MAX);

    strbuf_add(&body, c->bytes, c->len);
    assert_events(c->mode, &body, "", c->error);
}

TEST(cut_list_is_truncated)
{
    CLEANUP(json_cleanup)
    cJSON *list = cJSON_Parse(
        "{\"kind\":\"XList\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[" ITEM("") "]}");
    CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT(BODY_MAX);

    append_list_protobuf(list, &body);
    /* The last four bytes are empty fields of the envelope, after the list. */
    for (size_t len = 0; len < body.len - 4; len++) {
        struct reading r;

        read_body(JSON_FRAME_LIST, true, body.data, len, WHOLE, &r);
        assert_string_equal(r.err.text, "the list ends too early");
        reading_release(&r);
    }
    assert_events(JSON_FRAME_LIST, &body, "0 b 2\n", "");
}

TEST(invalid_events_are_rejected_alone)
{
    CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT(BODY_MAX);

    strbuf_add(&body, BYTES("\0\0\0\0"));
    strbuf_add(&body, BYTES("\0\0\0\x02\x12\x00"));
    strbuf_add(&body, BYTES("\0\0\0\x07\x0a\x05"
                            "ADDED"));
    strbuf_add(&body, BYTES("\0\0\0\x08\x12\x06\x0a\x04k8s\0"));
    strbuf_add(&body, BYTES("\0\0\0\x11\x12\x0f\x0a\x0dk8s\0\x0a\x05\x12\x03Pod\x12\x00"));
    append_json_event("{\"type\":\"RENAMED\",\"object\":" ITEM("") "}", &body);
    append_json_event(EVENT("ADDED", ",\"annotations\":{\"a\":\"\xff\"}"), &body);
    append_json_event(EVENT("DELETED", ",\"annotations\":{\"a\":\"\xff\"}"), &body);
    append_json_event(EVENT("ADDED", ",\"labels\":{\"a\":\"\\u0001\"}"), &body);
    assert_events(JSON_FRAME_EVENTS, &body,
                  "5  an event of unknown type\n"
                  "5 unnamed not valid protobuf: an event has no object\n"
                  "5  not an object\n"
                  "5  an event of unknown type\n"
                  "5 unnamed the object is no PartialObjectMetadata\n"
                  "5  2an event of unknown type\n"
                  "5 b 2not valid JSON: bytes that are not valid UTF-8\n"
                  "1 b 2\n"
                  "0 b 2\n",
                  "");
}

/* Appends an event with an annotation of `count` bytes, after name and namespace. */
static void append_large_event(const char *type, const char *ns, char byte, size_t count,
                               struct strbuf *out)
{
    CLEANUP(json_cleanup) cJSON *event = cJSON_CreateObject();
    CLEANUP(free_cleanup) char *value = xmalloc(count + 1);
    cJSON *metadata;

    memset(value, byte, count);
    value[count] = '\0';
    cJSON_AddStringToObject(event, "type", type);
    metadata = cJSON_AddObjectToObject(cJSON_AddObjectToObject(event, "object"), "metadata");
    cJSON_AddStringToObject(metadata, "name", "large");
    cJSON_AddStringToObject(metadata, "namespace", ns);
    cJSON_AddStringToObject(metadata, "resourceVersion", "2");
    cJSON_AddStringToObject(cJSON_AddObjectToObject(metadata, "annotations"), "a", value);
    append_event_protobuf(event, out);
}

TEST(large_objects_are_rejected_alone)
{
    static const char too_large[] = "5 large 2larger than 8 MiB\n";
    CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT(BODY_MAX);
    CLEANUP(strbuf_release) struct strbuf log = STRBUF_INIT(BODY_MAX);
    struct reading r;

    append_json_event(EVENT("ADDED", ""), &body);
    append_large_event("ADDED", "n", 'x', 7 << 20, &body);
    append_large_event("ADDED", "n", 'x', 9 << 20, &body);
    append_large_event("ADDED", "n", '\1', 2 << 20, &body); /* 12 MiB of JSON. */
    append_large_event("ADDED", "", 'x', 9 << 20, &body);   /* No namespace: it may follow. */
    append_large_event("DELETED", "n", 'x', 9 << 20, &body);
    append_json_event(EVENT("ADDED", ""), &body);
    read_body(JSON_FRAME_EVENTS, true, body.data, body.len, 1 << 16, &r);
    write_events(&r, &log);
    assert_true(r.valid);
    strbuf_reset(&body);
    strbuf_addf(&body, "0 b 2\n0 large 2\n%s%s5 unnamed larger than 8 MiB\n1 large 2\n0 b 2\n",
                too_large, too_large);
    assert_string_equal(log.data, body.data);
    reading_release(&r);
}

TEST(large_item_is_rejected_alone)
{
    CLEANUP(json_cleanup)
    cJSON *list =
        cJSON_Parse("{\"kind\":\"XList\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[" ITEM(
            ",\"annotations\":{\"a\":\"x\"}") "," ITEM("") "]}");
    cJSON *annotations = cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(json_get(list, "items"), 0),
                                         "metadata"),
        "annotations");
    CLEANUP(free_cleanup) char *value = xcalloc((9 << 20) + 1, 1);
    CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT(BODY_MAX);

    memset(value, 'x', 9 << 20);
    cJSON_SetValuestring(annotations->child, value);
    append_list_protobuf(list, &body);
    assert_events(JSON_FRAME_LIST, &body, "5 b 2larger than 8 MiB\n0 b 2\n", "");
}
