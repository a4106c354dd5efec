/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/metrics_page.h"

#include <pthread.h>
#include <stdatomic.h>

#include "tests/unit/http_client.h"
#include "tests/unit/local_server.h"
#include "tests/unit/suite.h"

enum { BODY_MAX = 1024 * 1024, PUBLISHERS = 2, READERS = 8, ROUNDS = 25 };

struct fixture {
    struct page_store *page_store;
    struct server *server;
    atomic_bool stop;
    _Atomic unsigned bad;
};

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof(*f));
    struct error err;

    f->page_store = page_store_new();
    f->server = local_server(f->page_store, &err);
    *state = f;
    return f->server ? 0 : -1;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    server_stop(f->server);
    page_store_free(f->page_store);
    free(f);
    return 0;
}

/* Requests the page of the exporter, with these extra header lines. */
static bool fetch(const struct fixture *f, const char *headers, struct strbuf *answer)
{
    char request[512];

    snprintf(request, sizeof(request),
             "GET /exporter HTTP/1.1\r\nHost: a\r\n%sConnection: close\r\n\r\n", headers);
    return http_talk(server_address(f->server, 0), request, answer);
}

/* Appends a page with the same number in all lines, so that a mix of pages is detected. */
static void fill_page(struct strbuf *body, unsigned number, unsigned lines)
{
    for (unsigned i = 0; i < lines; i++)
        strbuf_addf(body, "number{line=\"%04u\"} %06u\n", i, number);
}

static void publish(struct fixture *f, unsigned number, unsigned lines)
{
    CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT(BODY_MAX);

    fill_page(&body, number, lines);
    page_store_publish(f->page_store, PAGE_EXPORTER, &body);
    assert(body.len == 0);
}

static struct encoding_case {
    const char *name;
    const char *headers;
    bool gzip;
} encoding_cases[] = {
    {"no Accept-Encoding", "", false},
    {"gzip", "Accept-Encoding: gzip\r\n", true},
    {"gzip with weight 0", "Accept-Encoding: gzip;q=0\r\n", false},
    {"the header in two lines", "Accept-Encoding: br\r\naccept-encoding: gzip\r\n", true},
    {"similar names", "Accept-Encoding: gzipped\r\nX-Accept-Encoding: gzip\r\n", false},
};

TEST_ROWS(page_follows_accept_encoding, encoding_cases, name)
{
    const struct encoding_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(HTTP_ANSWER_MAX);
    CLEANUP(strbuf_release) struct strbuf plain = STRBUF_INIT(BODY_MAX);
    CLEANUP(strbuf_release) struct strbuf wanted = STRBUF_INIT(BODY_MAX);
    void *fixture = NULL;

    assert_int_equal(set_up(&fixture), 0);
    publish(fixture, 7, 1000);
    bool fetched = fetch(fixture, c->headers, &answer);

    tear_down(&fixture);
    assert_true(fetched);
    const char *body = http_body(&answer);
    size_t len = answer.len - (size_t)(body - answer.data);

    fill_page(&wanted, 7, 1000);
    assert_non_null(strstr(answer.data, "\r\nVary: Accept-Encoding\r\n"));
    assert_non_null(strstr(answer.data, "\r\nContent-Type: text/html;"));
    if (c->gzip) {
        assert_non_null(strstr(answer.data, "\r\nContent-Encoding: gzip\r\n"));
        assert_true(len < wanted.len / 4);
        assert_true(http_unpack(body, len, &plain));
        assert_string_equal(plain.data, wanted.data);
    } else {
        assert_null(strstr(answer.data, "Content-Encoding"));
        assert_string_equal(body, wanted.data);
    }
}

TEST_WITH(page_that_gzip_would_enlarge_is_sent_plain, set_up, tear_down)
{
    struct fixture *f = *state;
    CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(HTTP_ANSWER_MAX);
    CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT(BODY_MAX);

    strbuf_adds(&body, "up 1\n");
    page_store_publish(f->page_store, PAGE_EXPORTER, &body);
    assert_true(fetch(f, "Accept-Encoding: gzip\r\n", &answer));
    assert_string_equal(http_body(&answer), "up 1\n");
}

TEST_WITH(empty_page_is_answered_with_status_200, set_up, tear_down)
{
    struct fixture *f = *state;
    CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(HTTP_ANSWER_MAX);

    publish(f, 0, 0);
    assert_true(fetch(f, "Accept-Encoding: gzip\r\n", &answer));
    assert_memory_equal(answer.data, "HTTP/1.1 200 ", 13);
    assert_string_equal(http_body(&answer), "");
}

static void *publish_until_stopped(void *context)
{
    struct fixture *f = context;

    for (unsigned number = 0; !atomic_load(&f->stop); number++)
        publish(f, number % 1000000, 2000);
    return NULL;
}

/* Returns true if the body is one complete page: all lines have the same number. */
static bool is_whole_page(const struct strbuf *answer, bool gzip)
{
    CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT(BODY_MAX);
    CLEANUP(strbuf_release) struct strbuf wanted = STRBUF_INIT(BODY_MAX);
    const char *body = http_body(answer);

    if (!body)
        return false;
    if (!gzip)
        strbuf_adds(&page, body);
    else if (!http_unpack(body, answer->len - (size_t)(body - answer->data), &page))
        return false;
    if (page.len < 7)
        return false;
    fill_page(&wanted, (unsigned)strtod(page.data + page.len - 7, NULL), 2000);
    return page.len == wanted.len && memcmp(page.data, wanted.data, page.len) == 0;
}

static void *read_pages(void *context)
{
    struct fixture *f = context;

    for (int i = 0; i < ROUNDS; i++) {
        CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(HTTP_ANSWER_MAX);
        bool gzip = i % 2 == 1;

        if (!fetch(f, gzip ? "Accept-Encoding: gzip\r\n" : "", &answer) ||
            !is_whole_page(&answer, gzip))
            atomic_fetch_add(&f->bad, 1);
    }
    return NULL;
}

TEST_WITH(readers_get_whole_pages_during_publication, set_up, tear_down)
{
    struct fixture *f = *state;
    pthread_t publishers[PUBLISHERS], readers[READERS];

    publish(f, 0, 2000);
    for (int i = 0; i < PUBLISHERS; i++)
        assert_int_equal(pthread_create(&publishers[i], NULL, publish_until_stopped, f), 0);
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_pages, f), 0);
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    atomic_store(&f->stop, true);
    for (int i = 0; i < PUBLISHERS; i++)
        pthread_join(publishers[i], NULL);
    assert_int_equal(f->bad, 0);
    assert_int_equal(server_requests(f->server, SERVER_EXPORTER, SERVER_200), READERS * ROUNDS);
}
