/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/object_request.h"

#include "tests/unit/manual.h"
#include "tests/unit/suite.h"

enum { SECOND_MS = 1000, STEP_MS = 10 * SECOND_MS, KIB = 1024 };

/* Returns when a fetch that receives `bytes` each second fails; 0: not within a minute. */
static int64_t find_failure_ms(size_t bytes)
{
    struct transfer transfer = {0};
    char piece[2 * KIB];
    struct fetch *f = fetch_start(
        manual_transport(&transfer),
        &(struct fetch_spec){.id = {"v1", "ConfigMap", "a", "x"}, .resource = "configmaps"}, 0);
    int64_t now_ms = 0;

    assert_in_range(bytes, 0, sizeof(piece));
    memset(piece, ' ', sizeof(piece));
    while (f->state == FETCH_OPEN && now_ms < 60 * SECOND_MS) {
        now_ms += SECOND_MS;
        if (bytes > 0)
            assert_true(transfer.handler.data(transfer.handler.context, 200, piece, bytes));
        fetch_turn(f, now_ms);
    }
    if (f->state == FETCH_OPEN)
        now_ms = 0;
    else
        assert_int_equal(f->state, FETCH_FAILED);
    fetch_free(f);
    return now_ms;
}

TEST(fetch_with_a_slow_response_fails)
{
    assert_int_equal(find_failure_ms(0), PROGRESS_SHORT_MS);
    /* The fetch fails 10 s after the first byte, unless 10 KiB have arrived. */
    assert_int_equal(find_failure_ms(1), SECOND_MS + STEP_MS);
    assert_int_equal(find_failure_ms(1000), SECOND_MS + STEP_MS);
    assert_int_equal(find_failure_ms(2 * KIB), 0);
}

/* A write request, and the state after a response with http_status. */
static struct write_case {
    const char *title;
    enum transport_method method;
    const char *path;
    unsigned http_status;
    enum fetch_state state;
} write_cases[] = {
    {"created", TRANSPORT_CREATE, "/api/v1/namespaces/a/configmaps?fieldManager=tool", 201,
     FETCH_FOUND},
    {"already existing", TRANSPORT_CREATE, "/api/v1/namespaces/a/configmaps?fieldManager=tool", 409,
     FETCH_FAILED},
    {"missing namespace", TRANSPORT_CREATE, "/api/v1/namespaces/a/configmaps?fieldManager=tool",
     404, FETCH_MISSING},
    {"replaced", TRANSPORT_REPLACE, "/api/v1/namespaces/a/configmaps/x?fieldManager=tool", 200,
     FETCH_FOUND},
    {"conflict", TRANSPORT_REPLACE, "/api/v1/namespaces/a/configmaps/x?fieldManager=tool", 409,
     FETCH_FAILED},
    {"merged", TRANSPORT_MERGE, "/api/v1/namespaces/a/configmaps/x?fieldManager=tool", 200,
     FETCH_FOUND},
};

TEST_ROWS(http_status_determines_the_state_of_a_write, write_cases, title)
{
    const struct write_case *w = *state;
    struct transfer transfer = {0};
    const struct fetch_spec spec = {
        .id = {"v1", "ConfigMap", "a", "x"},
        .resource = "configmaps",
        .method = w->method,
        .body = "{\"data\":{}}",
        .field_manager = "tool",
    };
    struct fetch *f = fetch_start(manual_transport(&transfer), &spec, 0);
    char body[128];

    assert_int_equal(transfer.method, w->method);
    assert_string_equal(transfer.path, w->path);
    assert_string_equal(transfer.body, "{\"data\":{}}");
    snprintf(body, sizeof(body),
             w->state == FETCH_FOUND
                 ? "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"x\"}}"
                 : "{\"kind\":\"Status\",\"code\":%u,\"message\":\"no\"}",
             w->http_status);
    assert_true(
        transfer.handler.data(transfer.handler.context, w->http_status, body, strlen(body)));
    transfer.handler.done(
        transfer.handler.context,
        &(struct transport_result){.complete = true, .http_status = w->http_status, .error = ""});
    assert_int_equal(f->state, w->state);
    assert_int_equal(f->http_status, w->http_status);
    fetch_free(f);
}

/* An object that is not in the first page may be in the rest of the list. */
TEST(object_is_missing_only_if_the_list_is_complete)
{
    static const struct {
        const char *body;
        enum fetch_state state;
    } rows[] = {
        {"{\"kind\":\"L\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[]}", FETCH_FAILED},
        {"{\"kind\":\"XList\",\"metadata\":{\"resourceVersion\":\"1\"},\"items\":[]}",
         FETCH_MISSING},
        {"{\"kind\":\"XList\",\"metadata\":{\"resourceVersion\":\"1\",\"continue\":\"t\"},"
         "\"items\":[]}",
         FETCH_FAILED},
        {"{\"kind\":\"XList\",\"metadata\":{\"resourceVersion\":\"1\",\"continue\":\"t\"},"
         "\"items\":[{\"metadata\":{\"name\":\"x\"}}]}",
         FETCH_FOUND},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct transfer transfer = {0};
        struct fetch *f =
            fetch_start(manual_transport(&transfer),
                        &(struct fetch_spec){.id = {"v1", "ConfigMap", "a", "x"},
                                             .resource = "configmaps",
                                             .list_query = "fieldSelector=metadata.name%3Dx"},
                        0);

        manual_answer(&transfer, 200, rows[i].body, 0);
        assert_int_equal(f->state, rows[i].state);
        fetch_free(f);
    }
}
