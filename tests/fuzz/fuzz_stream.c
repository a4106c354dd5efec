/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/object_stream.h"
#include "metrics/model/store.h"

/* Lists and watches yield the same events in pieces of any size. Rejections have a reason. */

struct taking {
    struct store *store;
    struct strbuf log; /* Events and outcomes, in order. */
};

static const char *const kinds[][2] = {
    {"policy.karmada.io/v1alpha1", "PropagationPolicy"},
    {"work.karmada.io/v1alpha2", "ResourceBinding"},
    {"cluster.karmada.io/v1alpha1", "Cluster"},
    {"apps/v1", "Deployment"},
    {"v1", "Event"},
};

static bool store_event(void *context, const struct watch_event *event)
{
    struct taking *t = context;
    struct error err = {""};
    enum store_outcome outcome = STORE_REJECTED;

    if (event->kind == EVENT_OBJECT)
        outcome = store_put(t->store, event->object, (struct origin){1, 1}, &err);
    if (event->kind == EVENT_OBJECT && outcome == STORE_REJECTED && err.text[0] == '\0')
        abort();
    if (event->kind == EVENT_REJECTED && !*event->reason)
        abort();
    strbuf_addf(&t->log, "%d %d %s\n", (int)event->kind, (int)outcome,
                event->version ? event->version : "");
    return true;
}

struct body {
    enum json_frame_mode mode;
    const char *const *kind;
    const char *bytes;
    size_t len;
};

static void read_body(const struct body *body, size_t step, struct strbuf *log)
{
    struct taking taking = {store_new(0), STRBUF_INIT(SIZE_MAX)};
    struct list_meta facts = {0};
    struct object_stream stream;
    struct error err = {""};
    bool fine = true;

    object_stream_init(&stream, body->mode, body->kind[0], body->kind[1], store_event, &taking);
    for (size_t at = 0; at < body->len && fine; at += step) {
        size_t left = body->len - at;

        fine = object_stream_feed(&stream, body->bytes + at, left < step ? left : step, &err);
    }
    if (!fine && err.text[0] == '\0')
        abort();
    if (fine && body->mode == JSON_FRAME_LIST) {
        fine = object_stream_finish_list(&stream, &facts, &err);
        list_meta_release(&facts);
    }
    strbuf_addf(&taking.log, "%d\n", fine);
    object_stream_release(&stream);
    store_free(taking.store);
    *log = taking.log;
}

static void compare_pieces(const struct body *body, size_t step)
{
    CLEANUP(strbuf_release) struct strbuf whole;
    CLEANUP(strbuf_release) struct strbuf pieces;

    read_body(body, body->len, &whole);
    read_body(body, step, &pieces);
    if (strcmp(whole.data, pieces.data) != 0)
        abort();
}

/* The first byte determines the kind, the second byte the piece size. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;

    struct body body = {
        .kind = kinds[data[0] % ARRAY_LEN(kinds)],
        .bytes = (const char *)data + 2,
        .len = size - 2,
    };
    size_t step = 1 + data[1] % 17;

    body.mode = JSON_FRAME_EVENTS;
    compare_pieces(&body, step);
    body.mode = JSON_FRAME_LIST;
    compare_pieces(&body, step);
    return 0;
}
