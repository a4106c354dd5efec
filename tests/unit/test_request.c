/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/reflector/request.h"

#include "tests/unit/suite.h"

/* A server that says what the test has it say, and a reader that may have had enough. */
struct transfer {
    struct transport_handler handler;
    bool enough;
    unsigned heard;
};

static struct transfer *start(void *context, const struct transport_request *request)
{
    struct transfer *transfer = context;

    transfer->handler = request->handler;
    return transfer;
}

static void cancel(void *context, struct transfer *transfer)
{
    (void)context;
    (void)transfer;
}

static void heard(void *context, size_t bytes, bool cut)
{
    struct transfer *transfer = context;

    (void)bytes;
    (void)cut;
    transfer->heard++;
}

static bool take_event(void *context, const struct watch_event *event)
{
    (void)event;
    return !((struct transfer *)context)->enough;
}

static void ignore_answer(void *context)
{
    (void)context;
}

static void ignore_end(void *context, const struct request_end *end)
{
    (void)context;
    (void)end;
}

#define EVENT "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"7\"}}}\n"

/* The connection is not held by a stream that nobody can read, or wants to, however silent it is.
 */
TEST(a_stream_is_given_up_with_the_bytes_that_end_it)
{
    static const struct {
        const char *title;
        const char *body;
        bool enough;
        bool goes_on;
    } rows[] = {
        {"an event", EVENT, false, true},
        {"what is no event", "[1]\n", false, false},
        {"an event that is the last wanted", EVENT, true, false},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct transfer transfer = {.enough = rows[i].enough};
        struct request q;

        request_init(&q,
                     (struct transport){.start = start, .cancel = cancel, .context = &transfer});
        request_open(&q, &(struct request_spec){
                             .path = "/x",
                             .accept = "*/*",
                             .api_version = "v1",
                             .kind = "ConfigMap",
                             .handler = {ignore_answer, heard, take_event, ignore_end, &transfer}});
        if (transfer.handler.data(transfer.handler.context, 200, rows[i].body,
                                  strlen(rows[i].body)) != rows[i].goes_on)
            fail_msg("%s", rows[i].title);
        assert_int_equal(transfer.heard, rows[i].goes_on);
        request_close(&q);
    }
}
