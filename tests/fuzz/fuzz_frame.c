/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/json_frame.h"

/* The same bytes in pieces of any size result in the same objects and, if valid, the same rest. */

static bool log_object(void *context, const char *json, size_t len, size_t offset)
{
    struct strbuf *log = context;

    if (json[len] != '\0')
        abort();
    strbuf_addf(log, "%zu:", offset);
    strbuf_add(log, json, len);
    strbuf_addc(log, '\n');
    return true;
}

struct outcome {
    struct strbuf log;
    struct strbuf rest;
    bool fine;
    bool complete;
};

static void outcome_release(struct outcome *o)
{
    strbuf_release(&o->log);
    strbuf_release(&o->rest);
}

struct input {
    enum json_frame_mode mode;
    const char *bytes;
    size_t len;
    size_t max;
};

static void split_bytes(const struct input *in, size_t step, struct outcome *out)
{
    struct error err;
    struct json_frame f;

    *out = (struct outcome){STRBUF_INIT(SIZE_MAX), STRBUF_INIT(SIZE_MAX), true, false};
    json_frame_init(&f, in->mode, in->max, log_object, &out->log);
    for (size_t at = 0; at < in->len && out->fine; at += step) {
        size_t left = in->len - at;

        out->fine = json_frame_feed(&f, in->bytes + at, left < step ? left : step, &err);
    }
    if (f.object.len > in->max || f.rest.len > in->max)
        abort();
    out->complete = json_frame_is_complete(&f);
    strbuf_add(&out->rest, f.rest.data, f.rest.len);
    json_frame_release(&f);
}

static bool are_equal(const struct strbuf *a, const struct strbuf *b)
{
    return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

static void compare_pieces(const struct input *in, size_t step)
{
    CLEANUP(outcome_release) struct outcome whole;
    CLEANUP(outcome_release) struct outcome pieces;

    split_bytes(in, in->len, &whole);
    split_bytes(in, step, &pieces);
    if (whole.fine != pieces.fine || !are_equal(&whole.log, &pieces.log))
        abort();
    /* After a failure, the length of the rest is unspecified. */
    if (whole.fine && (whole.complete != pieces.complete || !are_equal(&whole.rest, &pieces.rest)))
        abort();
}

/* The first byte determines the piece size, the second byte the maximum size of an object. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;

    struct input in = {.bytes = (const char *)data + 2, .len = size - 2};
    size_t step = 1 + data[0] % 17;

    in.max = data[1] < 128 ? (size_t)data[1] : SIZE_MAX / 2;
    in.mode = JSON_FRAME_EVENTS;
    compare_pieces(&in, step);
    in.mode = JSON_FRAME_LIST;
    compare_pieces(&in, step);
    return 0;
}
