/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/object_stream.h"

/*
 * A list or watch stream in protobuf yields the same objects and events in pieces of any size. The
 * text of an object is complete JSON, or there is a reason.
 */

static bool log_object(void *context, const struct protobuf_object *object)
{
    struct strbuf *log = context;

    if (object->json[object->len] != '\0' || (object->fault && !*object->fault))
        abort();
    if (!object->fault && !object->cut && object->json[object->len - 1] != '}')
        abort();
    strbuf_addf(log, "%d %s ", object->cut, object->fault ? object->fault : "");
    strbuf_add(log, object->json, object->len);
    strbuf_addc(log, '\n');
    return true;
}

static bool log_event(void *context, const struct watch_event *event)
{
    struct strbuf *log = context;

    if (event->kind == EVENT_REJECTED && !*event->reason)
        abort();
    if (event->kind == EVENT_OBJECT && !event->object)
        abort();
    strbuf_addf(log, "%d %s %d\n", (int)event->kind, event->version, event->unnamed);
    return true;
}

struct body {
    enum json_frame_mode mode;
    const char *bytes;
    size_t len;
    size_t max;
};

static void split_into_objects(const struct body *body, size_t step, struct strbuf *log)
{
    struct protobuf_frame f;
    struct error err = {""};
    bool fine = true;

    protobuf_frame_init(&f, body->mode, body->max, log_object, log);
    for (size_t at = 0; at < body->len && fine; at += step) {
        size_t left = body->len - at;

        fine = protobuf_frame_feed(&f, body->bytes + at, left < step ? left : step, &err);
    }
    if (f.value.len > body->max || (!fine && !*err.text))
        abort();
    strbuf_addf(log, "%d %d ", fine, protobuf_frame_is_complete(&f));
    if (f.ended)
        strbuf_add(log, f.rest.data, f.rest.len);
    protobuf_frame_release(&f);
}

static void split_into_events(const struct body *body, size_t step, struct strbuf *log)
{
    struct list_meta facts = {0};
    struct object_stream s;
    struct error err = {""};
    bool fine = true;

    object_stream_init(&s, body->mode, "v1", "ConfigMap", log_event, log);
    object_stream_expect_protobuf(&s);
    for (size_t at = 0; at < body->len && fine; at += step) {
        size_t left = body->len - at;

        fine = object_stream_feed(&s, body->bytes + at, left < step ? left : step, &err);
    }
    if (fine && body->mode == JSON_FRAME_LIST)
        fine = object_stream_finish_list(&s, &facts, &err);
    strbuf_addf(log, "%d %s\n", fine, facts.version ? facts.version : "");
    list_meta_release(&facts);
    object_stream_release(&s);
}

static void compare_pieces(const struct body *body, size_t step,
                           void (*split)(const struct body *, size_t, struct strbuf *))
{
    CLEANUP(strbuf_release) struct strbuf whole = STRBUF_INIT(SIZE_MAX);
    CLEANUP(strbuf_release) struct strbuf pieces = STRBUF_INIT(SIZE_MAX);

    split(body, body->len, &whole);
    split(body, step, &pieces);
    if (whole.len != pieces.len || memcmp(whole.data, pieces.data, whole.len) != 0)
        abort();
}

/* The first byte determines mode and maximum, the second byte the piece size. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;

    struct body body = {
        .mode = data[0] & 1 ? JSON_FRAME_EVENTS : JSON_FRAME_LIST,
        .bytes = (const char *)data + 2,
        .len = size - 2,
        .max = 16 + (data[0] & 0xfeU) * 8,
    };
    size_t step = 1 + data[1] % 17;

    compare_pieces(&body, step, split_into_objects);
    compare_pieces(&body, step, split_into_events);
    return 0;
}
