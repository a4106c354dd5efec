/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/request_queue.h"

#include <poll.h>

#include "exporter/web/api.h"
#include "tests/unit/http_client.h"
#include "tests/unit/local_server.h"

#include "tests/unit/suite.h"

/*
 * Clients on sockets of their own, a real server, and the test in the place of the loop: it
 * decides when a call is answered, and with what.
 */
enum { PATIENCE_MS = 20000, MORE_THAN_WAIT = 70 };

#define REQUEST "GET /api/v1/openapi.json HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

struct fixture {
    struct page_store *page_store;
    struct server *server;
    struct request_queue *request_queue;
};

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof(*f));
    struct error err;

    f->page_store = page_store_new();
    f->server = local_server(f->page_store, &err);
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

static int ask(const struct fixture *f)
{
    int fd = http_connect(server_address(f->server, 0));

    assert_true(fd >= 0);
    assert_true(http_send(fd, REQUEST, strlen(REQUEST)));
    return fd;
}

/* The call that comes next; waits for it. */
static struct queued_request *next_call(const struct fixture *f)
{
    struct pollfd wanted = {.fd = request_queue_fd(f->request_queue), .events = POLLIN};
    struct queued_request *queued_request = request_queue_peek(f->request_queue);

    while (!queued_request) {
        assert_int_equal(poll(&wanted, 1, PATIENCE_MS), 1);
        queued_request = request_queue_peek(f->request_queue);
    }
    return queued_request;
}

static void reads(int fd, const char *status, const char *body)
{
    CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(HTTP_ANSWER_MAX);

    assert_true(http_read_all(fd, &answer));
    close(fd);
    assert_memory_equal(answer.data, status, strlen(status));
    assert_string_equal(http_body(&answer), body);
}

TEST_WITH(a_call_is_answered_by_the_loop, set_up, tear_down)
{
    const struct fixture *f = *state;
    int fd = ask(f);
    struct queued_request *queued_request = next_call(f);

    assert_ptr_equal(queued_request->endpoint, &endpoints[ENDPOINT_OPENAPI]);
    strbuf_adds(&queued_request->body, "{}\n");
    request_queue_answer_first(f->request_queue);
    reads(fd, "HTTP/1.1 200 ", "{}\n");
    assert_null(request_queue_peek(f->request_queue));
    assert_int_equal(server_requests(f->server, SERVER_OPENAPI, SERVER_200), 1);
}

TEST_WITH(calls_are_answered_in_the_order_in_which_they_came, set_up, tear_down)
{
    const struct fixture *f = *state;
    int first = ask(f);
    struct queued_request *queued_request = next_call(f);
    int second = ask(f);

    assert_ptr_equal(next_call(f), queued_request);
    strbuf_adds(&queued_request->body, "first\n");
    request_queue_answer_first(f->request_queue);
    reads(first, "HTTP/1.1 200 ", "first\n");
    queued_request = next_call(f);
    queued_request->status = MHD_HTTP_NOT_FOUND;
    strbuf_adds(&queued_request->body, "second\n");
    request_queue_answer_first(f->request_queue);
    reads(second, "HTTP/1.1 404 ", "second\n");
}

TEST_WITH(an_answer_that_is_too_large_says_so, set_up, tear_down)
{
    const struct fixture *f = *state;
    int fd = ask(f);
    struct queued_request *queued_request = next_call(f);

    strbuf_release(&queued_request->body);
    queued_request->body = STRBUF_INIT(4);
    strbuf_adds(&queued_request->body, "too large");
    request_queue_answer_first(f->request_queue);
    reads(fd, "HTTP/1.1 500 ", "");
}

/* The metrics are served all the while. */
TEST_WITH(those_beyond_the_limit_are_sent_away, set_up, tear_down)
{
    static const char metrics[] = "GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(HTTP_ANSWER_MAX);
    const struct fixture *f = *state;
    int fds[MORE_THAN_WAIT];

    for (size_t i = 0; i < MORE_THAN_WAIT; i++)
        fds[i] = ask(f);
    while (server_requests(f->server, SERVER_OPENAPI, SERVER_503) < 1)
        usleep(1000);
    assert_true(http_talk(server_address(f->server, 0), metrics, &answer));
    assert_memory_equal(answer.data, "HTTP/1.1 503 ", 13);
    for (size_t i = 0; i < MORE_THAN_WAIT; i++)
        close(fds[i]);
}

TEST_WITH(who_goes_while_waiting_is_answered_in_vain, set_up, tear_down)
{
    const struct fixture *f = *state;
    int gone = ask(f);
    struct queued_request *queued_request = next_call(f);

    close(gone);
    strbuf_adds(&queued_request->body, "nobody reads this\n");
    request_queue_answer_first(f->request_queue);

    int fd = ask(f);

    queued_request = next_call(f);
    strbuf_adds(&queued_request->body, "{}\n");
    request_queue_answer_first(f->request_queue);
    reads(fd, "HTTP/1.1 200 ", "{}\n");
}

TEST_WITH(who_waits_when_it_stops_is_let_go, set_up, tear_down)
{
    struct fixture *f = *state;
    int fd = ask(f);
    CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(HTTP_ANSWER_MAX);

    next_call(f);
    server_stop(f->server);
    f->server = NULL;
    /* With the answer, or closed before it was sent. */
    (void)http_read_all(fd, &answer);
    close(fd);
    if (answer.len > 0)
        assert_memory_equal(answer.data, "HTTP/1.1 503 ", 13);
}
