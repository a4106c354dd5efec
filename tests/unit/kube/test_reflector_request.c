/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/reflector_request.h"

#include "tests/unit/manual.h"
#include "tests/unit/suite.h"

/* It may have had enough. */
struct reader {
    bool enough;
    unsigned heard;
};

static void heard(void *context, size_t bytes, bool cut)
{
    struct reader *reader = context;

    (void)bytes;
    (void)cut;
    reader->heard++;
}

static bool take_event(void *context, const struct watch_event *event)
{
    (void)event;
    return !((struct reader *)context)->enough;
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
        struct transfer transfer = {.path = ""};
        struct reader reader = {.enough = rows[i].enough};
        struct reflector_request q;

        reflector_request_init(&q, manual_transport(&transfer));
        reflector_request_open(
            &q, &(struct reflector_request_spec){
                    .path = "/x",
                    .accept = "*/*",
                    .api_version = "v1",
                    .kind = "ConfigMap",
                    .handler = {ignore_answer, heard, take_event, ignore_end, &reader}});
        if (transfer.handler.data(transfer.handler.context, 200, rows[i].body,
                                  strlen(rows[i].body)) != rows[i].goes_on)
            fail_msg("%s", rows[i].title);
        assert_int_equal(reader.heard, rows[i].goes_on);
        reflector_request_close(&q);
    }
}

static void note_end(void *context, const struct reflector_request_end *end)
{
    *(bool *)context = end->page != NULL;
    assert_true(end->page || end->reason == END_MALFORMED);
}

/* Asks for a page by this token; true if the list may go on behind it. */
static bool goes_on(struct reflector_request *q, struct transfer *transfer, const char *token,
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
               .handler = {ignore_answer, ignore_bytes, ignore_event, note_end, &page}});
    manual_answer(transfer, 200, body, 0);
    return page;
}

#define PAGE(items, token)                                                                         \
    "{\"kind\":\"XList\",\"metadata\":{\"resourceVersion\":\"1\",\"continue\":\"" token "\"},"     \
    "\"items\":[" items "]}"
#define OBJECT(name) "{\"metadata\":{\"name\":\"" name "\"}}"

TEST(a_list_without_progress_ends)
{
    struct transfer transfer = {.path = ""};
    struct reflector_request q;

    reflector_request_init(&q, manual_transport(&transfer));
    assert_true(goes_on(&q, &transfer, NULL, PAGE(OBJECT("a"), "1")));
    assert_true(goes_on(&q, &transfer, "1", PAGE(OBJECT("b"), "2")));
    assert_false(goes_on(&q, &transfer, "2", PAGE(OBJECT("c"), "2")));
    /* What an earlier list had is nothing to the next. */
    assert_true(goes_on(&q, &transfer, NULL, PAGE(OBJECT("a"), "1")));
    assert_false(goes_on(&q, &transfer, "1", PAGE(OBJECT("a"), "2")));
    assert_true(goes_on(&q, &transfer, NULL, PAGE("", "1")));
    for (unsigned i = 1; i < LIST_EMPTY_PAGES_MAX; i++)
        assert_true(goes_on(&q, &transfer, i % 2 ? "1" : "2", PAGE("", "3")));
    assert_false(goes_on(&q, &transfer, "4", PAGE("", "5")));
    /* The last page of a list may be as it likes. */
    assert_true(goes_on(&q, &transfer, NULL, PAGE(OBJECT("a"), "1")));
    assert_true(goes_on(&q, &transfer, "1", PAGE(OBJECT("a"), "")));
    reflector_request_close(&q);
}
