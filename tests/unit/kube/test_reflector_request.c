/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/reflector_request.h"

#include "tests/unit/manual.h"
#include "tests/unit/suite.h"

/* Context of the handlers. */
struct reader {
    bool stops;        /* The event handler returns false. */
    unsigned received; /* Calls of count_received(). */
};

static void count_received(void *context, size_t bytes, bool cut)
{
    struct reader *reader = context;

    (void)bytes;
    (void)cut;
    reader->received++;
}

static bool take_event(void *context, const struct watch_event *event)
{
    (void)event;
    return !((struct reader *)context)->stops;
}

static void ignore_bytes(void *context, size_t bytes, bool cut)
{
    (void)context;
    (void)bytes;
    (void)cut;
}

static bool ignore_event(void *context, const struct watch_event *event)
{
    (void)context;
    (void)event;
    return true;
}

static void ignore_answer(void *context)
{
    (void)context;
}

static void ignore_end(void *context, const struct reflector_request_end *end)
{
    (void)context;
    (void)end;
}

#define EVENT "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"7\"}}}\n"

/* If a stream ended only when its next bytes arrive, a silent one would occupy its connection. */
TEST(unusable_or_stopped_stream_ends_at_once)
{
    static const struct {
        const char *title;
        const char *body;
        bool stops;
        bool goes_on;
    } rows[] = {
        {"an event", EVENT, false, true},
        {"a line that is not an event", "[1]\n", false, false},
        {"an event at which the handler stops", EVENT, true, false},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct transfer transfer = {.path = ""};
        struct reader reader = {.stops = rows[i].stops};
        struct reflector_request q;

        reflector_request_init(&q, manual_transport(&transfer));
        reflector_request_open(
            &q, &(struct reflector_request_spec){
                    .path = "/x",
                    .accept = "*/*",
                    .api_version = "v1",
                    .kind = "ConfigMap",
                    .handler = {ignore_answer, count_received, take_event, ignore_end, &reader}});
        if (transfer.handler.data(transfer.handler.context, 200, rows[i].body,
                                  strlen(rows[i].body)) != rows[i].goes_on)
            fail_msg("%s", rows[i].title);
        assert_int_equal(reader.received, rows[i].goes_on);
        reflector_request_close(&q);
    }
}

static void store_has_page(void *context, const struct reflector_request_end *end)
{
    *(bool *)context = end->page != NULL;
    assert_true(end->page || end->reason == END_MALFORMED);
}

/* Requests a page with this token, and answers it. Returns false if the list then fails. */
static bool request_page(struct reflector_request *q, struct transfer *transfer, const char *token,
                         const char *body)
{
    bool page = false;

    reflector_request_open(
        q, &(struct reflector_request_spec){
               .path = "/x",
               .accept = "*/*",
               .list = true,
               .token = token,
               .api_version = "v1",
               .kind = "ConfigMap",
               .handler = {ignore_answer, ignore_bytes, ignore_event, store_has_page, &page}});
    manual_answer(transfer, 200, body, 0);
    return page;
}

#define PAGE(items, token)                                                                         \
    "{\"kind\":\"XList\",\"metadata\":{\"resourceVersion\":\"1\",\"continue\":\"" token "\"},"     \
    "\"items\":[" items "]}"
#define OBJECT(name) "{\"metadata\":{\"name\":\"" name "\"}}"

TEST(list_without_progress_fails)
{
    struct transfer transfer = {.path = ""};
    struct reflector_request q;

    reflector_request_init(&q, manual_transport(&transfer));
    assert_true(request_page(&q, &transfer, NULL, PAGE(OBJECT("a"), "1")));
    assert_true(request_page(&q, &transfer, "1", PAGE(OBJECT("b"), "2")));
    assert_false(request_page(&q, &transfer, "2", PAGE(OBJECT("c"), "2")));
    /* Pages are not compared with those of earlier lists. */
    assert_true(request_page(&q, &transfer, NULL, PAGE(OBJECT("a"), "1")));
    assert_false(request_page(&q, &transfer, "1", PAGE(OBJECT("a"), "2")));
    assert_true(request_page(&q, &transfer, NULL, PAGE("", "1")));
    for (unsigned i = 1; i < LIST_EMPTY_PAGES_MAX; i++)
        assert_true(request_page(&q, &transfer, i % 2 ? "1" : "2", PAGE("", "3")));
    assert_false(request_page(&q, &transfer, "4", PAGE("", "5")));
    /* The last page may repeat objects. */
    assert_true(request_page(&q, &transfer, NULL, PAGE(OBJECT("a"), "1")));
    assert_true(request_page(&q, &transfer, "1", PAGE(OBJECT("a"), "")));
    reflector_request_close(&q);
}
