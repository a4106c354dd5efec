/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/request_queue.h"

#include <poll.h>

#include "exporter/web/api.h"
#include "exporter/web/server.h"
#include "tests/unit/http_client.h"

#include "tests/unit/suite.h"

/*
 * Clients with sockets send requests to a real server. The test replaces the event loop: it takes
 * requests from the queue and answers them.
 */

enum { TIMEOUT_MS = 20000, OVER_LIMIT = 70 };

#define CLOSE   "Host: a\r\nConnection: close\r\n"
#define REQUEST "GET /api/v1/openapi.json HTTP/1.1\r\n" CLOSE "\r\n"
#define POST                                                                                       \
    "POST /api/v1/plan HTTP/1.1\r\n" CLOSE                                                         \
    "Content-Type: application/yaml\r\nContent-Length: 4\r\n\r\na: b"

struct fixture {
    struct page_store *page_store;
    struct server *server;
    struct request_queue *request_queue;
};

static int set_up(void **state)
{
    static const char *const address = "127.0.0.1:0";
    const struct server_options options = {
        .addresses = &address, .address_count = 1, .telemetry_path = "/metrics", .plans = true};
    struct fixture *f = xcalloc(1, sizeof(*f));
    struct error err;

    f->page_store = page_store_new();
    f->server = server_start(&options, f->page_store, &err);
    *state = f;
    if (!f->server)
        return -1;
    f->request_queue = server_request_queue(f->server);
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    server_stop(f->server);
    page_store_free(f->page_store);
    free(f);
    return 0;
}

static int send_bytes(const struct fixture *f, const char *request)
{
    int fd = http_connect(server_address(f->server, 0));

    assert_true(fd >= 0);
    assert_true(http_send(fd, request, strlen(request)));
    return fd;
}

static int send_request(const struct fixture *f)
{
    return send_bytes(f, REQUEST);
}

/* Returns the next request of the queue; waits for it. */
static struct queued_request *wait_for_request(const struct fixture *f)
{
    struct pollfd wanted = {.fd = request_queue_fd(f->request_queue), .events = POLLIN};
    struct queued_request *queued_request = request_queue_peek(f->request_queue);

    while (!queued_request) {
        assert_int_equal(poll(&wanted, 1, TIMEOUT_MS), 1);
        queued_request = request_queue_peek(f->request_queue);
    }
    return queued_request;
}

static void assert_response(int fd, const char *status, const char *body)
{
    CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(HTTP_ANSWER_MAX);

    assert_true(http_read_all(fd, &answer));
    close(fd);
    assert_memory_equal(answer.data, status, strlen(status));
    assert_string_equal(http_body(&answer), body);
}

TEST_WITH(queued_request_is_answered_by_the_loop, set_up, tear_down)
{
    const struct fixture *f = *state;
    int fd = send_request(f);
    struct queued_request *queued_request = wait_for_request(f);

    assert_ptr_equal(queued_request->endpoint, &endpoints[ENDPOINT_OPENAPI]);
    strbuf_adds(&queued_request->body, "{}\n");
    request_queue_answer_first(f->request_queue);
    assert_response(fd, "HTTP/1.1 200 ", "{}\n");
    assert_null(request_queue_peek(f->request_queue));
    assert_int_equal(server_requests(f->server, SERVER_OPENAPI, SERVER_200), 1);
}

TEST_WITH(queued_requests_are_answered_in_order, set_up, tear_down)
{
    const struct fixture *f = *state;
    int first = send_request(f);
    struct queued_request *queued_request = wait_for_request(f);
    int second = send_request(f);

    assert_ptr_equal(wait_for_request(f), queued_request);
    strbuf_adds(&queued_request->body, "first\n");
    request_queue_answer_first(f->request_queue);
    assert_response(first, "HTTP/1.1 200 ", "first\n");
    queued_request = wait_for_request(f);
    queued_request->status = MHD_HTTP_NOT_FOUND;
    strbuf_adds(&queued_request->body, "second\n");
    request_queue_answer_first(f->request_queue);
    assert_response(second, "HTTP/1.1 404 ", "second\n");
}

TEST_WITH(descriptor_is_readable_while_an_answer_leaves_other_requests, set_up, tear_down)
{
    const struct fixture *f = *state;
    struct pollfd wanted = {.fd = request_queue_fd(f->request_queue), .events = POLLIN};
    int first = send_request(f);

    wait_for_request(f);

    int second = send_request(f);

    assert_int_equal(poll(&wanted, 1, TIMEOUT_MS), 1);
    assert_non_null(request_queue_peek(f->request_queue));
    assert_int_equal(poll(&wanted, 1, 0), 0);
    request_queue_answer_first(f->request_queue);
    assert_int_equal(poll(&wanted, 1, 0), 1);
    assert_non_null(request_queue_peek(f->request_queue));
    request_queue_answer_first(f->request_queue);
    assert_int_equal(poll(&wanted, 1, 0), 0);
    close(first);
    close(second);
}

TEST_WITH(response_that_is_too_large_has_status_500, set_up, tear_down)
{
    const struct fixture *f = *state;
    int fd = send_request(f);
    struct queued_request *queued_request = wait_for_request(f);

    strbuf_release(&queued_request->body);
    queued_request->body = STRBUF_INIT(4);
    strbuf_adds(&queued_request->body, "too large");
    request_queue_answer_first(f->request_queue);
    assert_response(fd, "HTTP/1.1 500 ", "");
}

/* /metrics does not use the queue. Its status is 503 because no page is published. */
TEST_WITH(requests_beyond_the_limit_have_status_503, set_up, tear_down)
{
    static const char metrics[] = "GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(HTTP_ANSWER_MAX);
    const struct fixture *f = *state;
    int fds[OVER_LIMIT];

    for (size_t i = 0; i < OVER_LIMIT; i++)
        fds[i] = send_request(f);
    while (server_requests(f->server, SERVER_OPENAPI, SERVER_503) < 1)
        usleep(1000);
    assert_true(http_talk(server_address(f->server, 0), metrics, &answer));
    assert_memory_equal(answer.data, "HTTP/1.1 503 ", 13);
    for (size_t i = 0; i < OVER_LIMIT; i++)
        close(fds[i]);
}

TEST_WITH(response_to_a_disconnected_client_is_dropped, set_up, tear_down)
{
    const struct fixture *f = *state;
    int gone = send_request(f);
    struct queued_request *queued_request = wait_for_request(f);

    close(gone);
    strbuf_adds(&queued_request->body, "nobody reads this\n");
    request_queue_answer_first(f->request_queue);

    int fd = send_request(f);

    queued_request = wait_for_request(f);
    strbuf_adds(&queued_request->body, "{}\n");
    request_queue_answer_first(f->request_queue);
    assert_response(fd, "HTTP/1.1 200 ", "{}\n");
}

TEST_WITH(manifests_are_accepted_from_one_request_at_a_time, set_up, tear_down)
{
    const struct fixture *f = *state;

    for (unsigned round = 0; round < 2; round++) {
        CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(HTTP_ANSWER_MAX);
        int fd = send_bytes(f, POST);
        struct queued_request *queued_request = wait_for_request(f);

        assert_string_equal(queued_request->content.data, "a: b");
        assert_true(http_talk(server_address(f->server, 0), POST, &answer));
        assert_memory_equal(answer.data, "HTTP/1.1 429 ", 13);
        strbuf_adds(&queued_request->body, "{}\n");
        request_queue_answer_first(f->request_queue);
        assert_response(fd, "HTTP/1.1 200 ", "{}\n");
    }
}

TEST_WITH(server_stop_ends_waiting_requests, set_up, tear_down)
{
    struct fixture *f = *state;
    int fd = send_request(f);
    CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(HTTP_ANSWER_MAX);

    wait_for_request(f);
    server_stop(f->server);
    f->server = NULL;
    /* The server may close the connection before it sends the response. */
    (void)http_read_all(fd, &answer);
    close(fd);
    if (answer.len > 0)
        assert_memory_equal(answer.data, "HTTP/1.1 503 ", 13);
}
