/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/request.h"

#include <errno.h>
#include <time.h>

#include "tests/unit/heap.h"
#include "tests/unit/http_client.h"
#include "tests/unit/local_server.h"

#include "tests/unit/suite.h"

#define HOST   "Host: a\r\n"
#define HIDDEN "GET /-/healthy HTTP/1.1\r\nHost: hidden\r\n\r\n" /* 41 bytes */
#define GET    "GET / HTTP/1.1\r\n" HOST

/* Bytes with their length, because a request may contain NUL. */
#define BYTES(text) text, sizeof(text) - 1

/*
 * Requests that hide a second request behind their head. The server answers the first one with 400
 * and closes the connection.
 */
static const struct smuggled {
    const char *title;
    const char *bytes;
    size_t len;
} smuggled[] = {
    {"folded Content-Length", BYTES(GET "Content-Length:\r\n 42\r\n\r\n" HIDDEN)},
    {"Content-Length folded by a tab", BYTES(GET "Content-Length:\r\n\t42\r\n\r\n" HIDDEN)},
    {"Content-Length folded twice", BYTES(GET "Content-Length:\r\n \r\n 42\r\n\r\n" HIDDEN)},
    {"Content-Length folded after its value", BYTES(GET "Content-Length: 4\r\n 2\r\n\r\n" HIDDEN)},
    {"an empty folded line", BYTES(GET "Content-Length: 0\r\n \r\n\r\n" HIDDEN)},
    {"folded Transfer-Encoding",
     BYTES(GET "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n" HIDDEN)},
    {"Transfer-Encoding folded after its value",
     BYTES(GET "Transfer-Encoding: chun\r\n ked\r\n\r\n0\r\n\r\n" HIDDEN)},
    {"folded Host", BYTES("GET / HTTP/1.1\r\nHost:\r\n a\r\n\r\n" HIDDEN)},
    {"folded Connection", BYTES(GET "Connection:\r\n keep-alive\r\n\r\n" HIDDEN)},
    {"folded Expect", BYTES(GET "Expect:\r\n 100-continue\r\n\r\n" HIDDEN)},
    {"a fold that makes a name", BYTES(GET "Content: 42\r\n -Length\r\n\r\n" HIDDEN)},
    {"a fold of any header", BYTES(GET "X: a\r\n b\r\n\r\n" HIDDEN)},
    {"a fold before the first header", BYTES("GET / HTTP/1.1\r\n X: a\r\n" HOST "\r\n" HIDDEN)},
    {"NUL in the length", BYTES(GET "Content-Length: 0\0 42\r\n\r\n" HIDDEN)},
    {"NUL at the end of the length", BYTES(GET "Content-Length: 0\0\r\n\r\n" HIDDEN)},
    {"NUL before the length", BYTES(GET "Content-Length:\0 42\r\n\r\n" HIDDEN)},
    {"two NUL in the length", BYTES(GET "Content-Length: 0\0\0X\0: 42\r\n\r\n" HIDDEN)},
    {"NUL in Transfer-Encoding", BYTES(GET "Transfer-Encoding: \0chunked\r\n\r\n0\r\n\r\n" HIDDEN)},
    {"NUL in the name of the length", BYTES(GET "Content\0-Length: 42\r\n\r\n" HIDDEN)},
    {"NUL behind the name of the length", BYTES(GET "Content-Length\0: 42\r\n\r\n" HIDDEN)},
    {"NUL before the name of the length", BYTES(GET "\0Content-Length: 42\r\n\r\n" HIDDEN)},
    {"NUL in Host", BYTES("GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n" HIDDEN)},
    {"NUL in any header", BYTES(GET "X: a\0b\r\n\r\n" HIDDEN)},
    {"a line of one NUL", BYTES(GET "\0\r\n" HIDDEN)},
    {"a line that begins with NUL", BYTES(GET "\0X: y\r\n" HIDDEN)},
    {"NUL in the method", BYTES("GET\0x / HTTP/1.1\r\n" HOST "\r\n" HIDDEN)},
    {"NUL behind the method", BYTES("GET\0 / HTTP/1.1\r\n" HOST "\r\n" HIDDEN)},
    {"NUL in the target", BYTES("GET /-/healthy\0x HTTP/1.1\r\n" HOST "\r\n" HIDDEN)},
    {"NUL and a version in the target",
     BYTES("GET /-/healthy\0HTTP/ HTTP/1.1\r\n" HOST "\r\n" HIDDEN)},
    {"NUL and a whole version in the target",
     BYTES("GET /-/healthy\0HTTP/1.1\0 HTTP/1.1\r\n" HOST "\r\n" HIDDEN)},
    {"NUL before the query", BYTES("GET /-/healthy\0?a=b HTTP/1.1\r\n" HOST "\r\n" HIDDEN)},
    {"NUL and a version before the query",
     BYTES("GET /-/healthy\0HTTP/1.1\0?a=b HTTP/1.1\r\n" HOST "\r\n" HIDDEN)},
    {"NUL in the query", BYTES("GET /-/healthy?a\0b HTTP/1.1\r\n" HOST "\r\n" HIDDEN)},
    {"CR in the length", BYTES(GET "Content-Length: 0\r42\r\n\r\n" HIDDEN)},
    {"CR at the end of the length", BYTES(GET "Content-Length: 0\r\r\n\r\n" HIDDEN)},
    {"CR for the end of a line", BYTES(GET "X: y\rContent-Length: 42\r\n\r\n" HIDDEN)},
    {"CR in a name", BYTES(GET "X\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" HIDDEN)},
    {"CR in the target", BYTES("GET /-/healthy\r HTTP/1.1\r\n" HOST "\r\n" HIDDEN)},
    {"LF for the end of the request line", BYTES("GET / HTTP/1.1\n" HOST "\r\n" HIDDEN)},
    {"LF for the end of a header", BYTES("GET / HTTP/1.1\r\nHost: a\n\r\n" HIDDEN)},
    {"LF before the length", BYTES(GET "X: y\nContent-Length: 42\r\n\r\n" HIDDEN)},
    {"LF for the end of the length", BYTES(GET "Content-Length: 0\n\r\n" HIDDEN)},
    {"LF for the end of the head", BYTES(GET "\n" HIDDEN)},
    {"LF for all ends", BYTES("GET / HTTP/1.1\nHost: a\nContent-Length: 0\n\n" HIDDEN)},
    {"LF and CR", BYTES(GET "Content-Length: 0\n\r\r\n\r\n" HIDDEN)},
    {"a sign before the length", BYTES(GET "Content-Length: +42\r\n\r\n" HIDDEN)},
    {"a negative length", BYTES(GET "Content-Length: -42\r\n\r\n" HIDDEN)},
    {"a list of lengths", BYTES(GET "Content-Length: 42, 42\r\n\r\n" HIDDEN)},
    {"a list of other lengths", BYTES(GET "Content-Length: 0,42\r\n\r\n" HIDDEN)},
    {"a hexadecimal length", BYTES(GET "Content-Length: 0x2a\r\n\r\n" HIDDEN)},
    {"a length with an exponent", BYTES(GET "Content-Length: 42e0\r\n\r\n" HIDDEN)},
    {"a length with a point", BYTES(GET "Content-Length: 42.0\r\n\r\n" HIDDEN)},
    {"a length with a blank inside", BYTES(GET "Content-Length: 4 2\r\n\r\n" HIDDEN)},
    {"a length and a blank", BYTES(GET "Content-Length: 42 \r\n\r\n" HIDDEN)},
    {"a length and a tab", BYTES(GET "Content-Length: 42\t\r\n\r\n" HIDDEN)},
    {"a vertical tab before the length", BYTES(GET "Content-Length: \v42\r\n\r\n" HIDDEN)},
    {"no length", BYTES(GET "Content-Length:\r\n\r\n" HIDDEN)},
    {"blanks for a length", BYTES(GET "Content-Length:  \t \r\n\r\n" HIDDEN)},
    {"equal lengths", BYTES(GET "Content-Length: 0\r\nContent-Length: 0\r\n\r\n" HIDDEN)},
    {"lengths of several cases",
     BYTES(GET "Content-Length: 0\r\ncontent-LENGTH: 42\r\n\r\n" HIDDEN)},
    {"an empty length and a length",
     BYTES(GET "Content-Length:\r\nContent-Length: 42\r\n\r\n" HIDDEN)},
    {"a blank before the colon", BYTES(GET "Content-Length : 42\r\n\r\n" HIDDEN)},
    {"a tab before the colon", BYTES(GET "Content-Length\t: 42\r\n\r\n" HIDDEN)},
    {"a tab before the colon of Transfer-Encoding",
     BYTES(GET "Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n" HIDDEN)},
    {"a length beside chunks",
     BYTES(GET "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" HIDDEN)},
    {"chunks beside a length",
     BYTES(GET "transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n" HIDDEN)},
    {"chunks of another case", BYTES(GET "TRANSFER-ENCODING: ChUnKeD\r\n\r\n0\r\n\r\n" HIDDEN)},
    {"chunks among encodings",
     BYTES(GET "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" HIDDEN)},
    {"an unknown encoding", BYTES(GET "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" HIDDEN)},
    {"an empty encoding", BYTES(GET "Transfer-Encoding:\r\n\r\n0\r\n\r\n" HIDDEN)},
    {"two encodings", BYTES(GET "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n"
                                "0\r\n\r\n" HIDDEN)},
    {"a chunk with an extension",
     BYTES(GET "Transfer-Encoding: chunked\r\n\r\n0;a=\"\r\n\r\n\"\r\n\r\n" HIDDEN)},
    {"a chunk extension with LF",
     BYTES(GET "Transfer-Encoding: chunked\r\n\r\n2;a\nxx\r\n0\r\n\r\n" HIDDEN)},
    {"chunks in HTTP/1.0",
     BYTES("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" HIDDEN)},
    {"chunks and a trailer",
     BYTES(GET "Transfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 42\r\n\r\n" HIDDEN)},
    {"two blanks before the target", BYTES("GET  / HTTP/1.1\r\n" HOST "\r\n" HIDDEN)},
    {"two blanks before the version", BYTES("GET /  HTTP/1.1\r\n" HOST "\r\n" HIDDEN)},
    {"a blank in the target", BYTES("GET /a /b HTTP/1.1\r\n" HOST "\r\n" HIDDEN)},
    {"a blank behind the version", BYTES("GET / HTTP/1.1 \r\n" HOST "\r\n" HIDDEN)},
    {"a tab in the target", BYTES("GET /a\tb HTTP/1.1\r\n" HOST "\r\n" HIDDEN)},
    {"no Host", BYTES("GET / HTTP/1.1\r\n\r\n" HIDDEN)},
    {"no Host in a later version", BYTES("GET / HTTP/1.2\r\n\r\n" HIDDEN)},
    {"Host of several cases", BYTES(GET "hOST: a\r\n\r\n" HIDDEN)},
    {"a header without a colon", BYTES(GET "Content-Length 42\r\n\r\n" HIDDEN)},
    {"a header without a name", BYTES(GET ": 42\r\n\r\n" HIDDEN)},
};

/* Sends the bytes to a new server. Returns the milliseconds until it has closed the connection. */
static long send_request(const char *bytes, size_t len, struct strbuf *answer)
{
    struct page_store *page_store = page_store_new();
    struct error err;
    struct server *server = local_server(page_store, &err);
    struct timespec from, to;

    assert_non_null(server);
    clock_gettime(CLOCK_MONOTONIC, &from);
    (void)http_talk_bytes(server_address(server, 0), bytes, len, answer);
    clock_gettime(CLOCK_MONOTONIC, &to);
    server_stop(server);
    page_store_free(page_store);
    return (to.tv_sec - from.tv_sec) * 1000 + (to.tv_nsec - from.tv_nsec) / 1000000;
}

TEST_ROWS(request_with_a_hidden_second_one_is_refused, smuggled, title)
{
    const struct smuggled *row = *state;
    CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(HTTP_ANSWER_MAX);
    long took_ms = send_request(row->bytes, row->len, &answer);

    if (strncmp(answer.data, "HTTP/1.1 400 ", 13) != 0 || strstr(answer.data, "Healthy"))
        fail_msg("answered with: %s", answer.data);
    /* libmicrohttpd sends the headers of its own refusals twice. */
    assert_in_range(http_answers(&answer), 1, 2);
    assert_true(took_ms < 2000);
}

/* Valid heads that resemble the refused ones. */
TEST(valid_heads_are_answered)
{
    static const char *const requests[] = {
        "GET /-/healthy HTTP/1.1\r\nHost:a\r\nConnection: close\r\n\r\n",
        "GET /-/healthy HTTP/1.1\r\nHost: \t a\r\nX:\r\nY: \t\r\nConnection: close\r\n\r\n",
        "GET /-/healthy HTTP/1.1\r\nHost: a\t \r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        "GET /-/healthy HTTP/1.1\r\nhost:\r\ncontent-length:00\r\nConnection: close\r\n\r\n",
        "\r\nGET /-/healthy? HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        "GET /-/healthy?a=b&&c&=%41+%zz HTTP/1.1\r\nHost: a\r\nCookie: a=b; c\r\n"
        "Cookie: d\r\nConnection: close\r\n\r\n",
        "GET /-/healthy HTTP/1.0\r\n\r\n",
        "GET /%2d/healthy?a HTTP/1.0\r\nX: y\r\n\r\n",
    };

    for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
        CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(HTTP_ANSWER_MAX);

        (void)send_request(requests[i], strlen(requests[i]), &answer);
        if (!strstr(answer.data, " is Healthy.\n"))
            fail_msg("%s\n%s", requests[i], answer.data);
        assert_int_equal(http_answers(&answer), 1);
    }
}

/* ---- heads that fill libmicrohttpd's memory for a connection ---- */

enum {
    BAD = 1,    /* Even the request without pieces is refused. */
    SILENT = 2, /* libmicrohttpd closes the connection of some requests without an answer. */
};

/* A request made of a start, repeated pieces, and an end. */
static const struct filler {
    const char *title;
    const char *start, *piece, *end;
    size_t most; /* Maximum number of bytes of all pieces. */
    unsigned flags;
} fillers[] = {
    {"arguments", "GET /-/healthy?", "a&", " HTTP/1.1\r\n" HOST "\r\n", 1200, 0},
    {"arguments in HTTP/1.0", "GET /-/healthy?", "a&", " HTTP/1.0\r\n\r\n", 1200, 0},
    {"arguments of a name and a value", "GET /-/healthy?", "a=b&", " HTTP/1.1\r\n" HOST "\r\n",
     2000, 0},
    {"escaped arguments", "GET /-/healthy?", "%61&", " HTTP/1.1\r\n" HOST "\r\n", 2000, 0},
    {"empty arguments", "GET /-/healthy?", "&", " HTTP/1.1\r\n" HOST "\r\n", 600, 0},
    {"arguments behind a NUL", "GET /-/healthy@?", "a&", " HTTP/1.1\r\n" HOST "\r\n", 1200, BAD},
    {"arguments behind a NUL and a version", "GET /-/healthy@HTTP/1.1@?", "a&",
     " HTTP/1.1\r\n" HOST "\r\n", 1200, BAD},
    {"arguments with values behind a NUL", "GET /-/healthy@?", "a=b&", " HTTP/1.1\r\n" HOST "\r\n",
     2000, BAD},
    {"cookies", "GET /-/healthy HTTP/1.1\r\n" HOST "Cookie: ", "a;", "\r\n\r\n", 1200, 0},
    {"cookies in HTTP/1.0", "GET /-/healthy HTTP/1.0\r\nCookie: ", "a;", "\r\n\r\n", 1200, 0},
    {"cookies of a name and a value", "GET /-/healthy HTTP/1.1\r\n" HOST "Cookie: ", "a=b; ",
     "\r\n\r\n", 2000, 0},
    {"a long cookie", "GET /-/healthy HTTP/1.1\r\n" HOST "Cookie: ", "abcdefghijklm", "\r\n\r\n",
     17000, SILENT},
    {"cookies and a wrong length", "GET /-/healthy HTTP/1.1\r\n" HOST "Cookie: ", "a;",
     "\r\nContent-Length: x\r\n\r\n", 1200, BAD | SILENT},
    {"cookies without Host", "GET /-/healthy HTTP/1.1\r\nCookie: ", "a;", "\r\n\r\n", 1200, BAD},
    {"headers", "GET /-/healthy HTTP/1.1\r\n" HOST, "a:b\r\n", "\r\n", 2000, 0},
    {"a long header", "GET /-/healthy HTTP/1.1\r\n" HOST "X: ", "abcdefghijklm", "\r\n\r\n", 17000,
     0},
    {"folded lines", "GET /-/healthy HTTP/1.1\r\n" HOST "X: ", "\r\n abcdefghijklm", "\r\n\r\n",
     17000, 0},
    {"a long target", "GET /-/healthy?", "abcdefghijklm", " HTTP/1.1\r\n" HOST "\r\n", 17000, 0},
    {"a long method", "GET", "abcdefghijklm", " /-/healthy HTTP/1.1\r\n" HOST "\r\n", 17000, 0},
};

static void fill(const struct filler *row, const char *first, size_t bytes, struct strbuf *out)
{
    strbuf_adds(out, first);
    strbuf_adds(out, row->start);
    for (size_t n = 0; n < bytes; n += strlen(row->piece))
        strbuf_adds(out, row->piece);
    strbuf_adds(out, row->end);
    for (char *at = out->data; (at = strchr(at, '@')) != NULL; at++)
        *at = '\0';
}

static bool begins_with(const char *text, const char *const *starts)
{
    for (; *starts; starts++) {
        if (strncmp(text, *starts, strlen(*starts)) == 0)
            return true;
    }
    return false;
}

/* The first request of a connection, and the end of its answer. */
#define FIRST     "GET /nothing HTTP/1.1\r\n" HOST "\r\n"
#define FIRST_END "not found\n"

/*
 * Sends the request. Returns the head of its answer, or "" if the server closes the connection
 * without one; fails if the server needs more than two seconds.
 */
static const char *read_head_in_time(const char *address, const struct strbuf *request,
                                     struct strbuf *answer)
{
    const bool is_second = strncmp(request->data, FIRST, strlen(FIRST)) == 0;
    const char *head = is_second ? NULL : answer->data;

    const struct timeval timeout = {.tv_sec = 2};
    int fd = http_connect(address);

    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    (void)http_send(fd, request->data, request->len);
    while (!head || !strstr(head, "\r\n\r\n")) {
        char chunk[4096];
        ssize_t n = recv(fd, chunk, sizeof(chunk), 0);

        if (n < 0 && errno == EAGAIN)
            fail_msg("%zu bytes: no answer for two seconds", request->len);
        if (n <= 0)
            break;
        strbuf_add(answer, chunk, (size_t)n);
        head = is_second ? strstr(answer->data, FIRST_END) : answer->data;
        head = head && is_second ? head + strlen(FIRST_END) : head;
    }
    close(fd);
    return head ? head : "";
}

enum { COARSE = 16 };

/* Tests every size of the last quarter, where libmicrohttpd's memory gets full, and some below. */
static void sweep(const struct filler *row, const char *first)
{
    static const char *const wanted[] = {"HTTP/1.1 400 ", "HTTP/1.1 405 ", "HTTP/1.1 413 ",
                                         "HTTP/1.1 414 ", "HTTP/1.1 431 ", NULL};
    struct page_store *page_store = page_store_new();
    struct error err;
    struct server *server = local_server(page_store, &err);
    unsigned good = 0, refused = 0;

    assert_non_null(server);
    for (size_t bytes = 0; bytes <= row->most;
         bytes += strlen(row->piece) * (bytes < row->most * 3 / 4 ? COARSE : 1)) {
        CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(HTTP_ANSWER_MAX);
        CLEANUP(strbuf_release) struct strbuf request = STRBUF_INIT(HTTP_ANSWER_MAX);

        fill(row, first, bytes, &request);
        const char *head = read_head_in_time(server_address(server, 0), &request, &answer);

        if (strncmp(head, "HTTP/1.1 200 ", 13) == 0)
            good++;
        else if (begins_with(head, wanted) || ((row->flags & SILENT) && *head == '\0'))
            refused++;
        else
            fail_msg("%zu bytes: answered with: '%s'", request.len, head);
    }
    server_stop(server);
    page_store_free(page_store);
    assert_true(refused > 0);
    assert_true(((row->flags & BAD) != 0) == (good == 0));
}

TEST_ROWS(head_that_fills_the_memory_is_answered, fillers, title)
{
    sweep(*state, "");
}

TEST_ROWS(second_head_that_fills_the_memory_is_answered, fillers, title)
{
    sweep(*state, FIRST);
}

enum { LEAK_REQUESTS = 200, LEAK_BYTES_MAX = 8 * 1024, QUIET_MS = 30 };

/* Returns the heap in use once it is stable: connections are freed soon after their answers. */
static size_t settled_heap_bytes(void)
{
    size_t bytes = heap_bytes();

    for (unsigned quiet_ms = 0; quiet_ms < QUIET_MS; quiet_ms++) {
        usleep(1000);
        if (heap_bytes() != bytes)
            quiet_ms = 0;
        bytes = heap_bytes();
    }
    return bytes;
}

/* In an earlier version one such request leaked 72 bytes. */
TEST_ROWS(head_that_fills_the_memory_leaks_no_heap, fillers, title)
{
    const struct filler *row = *state;
    struct page_store *page_store = page_store_new();
    struct error err;
    struct server *server = local_server(page_store, &err);
    CLEANUP(strbuf_release) struct strbuf request = STRBUF_INIT(HTTP_ANSWER_MAX);
    size_t before = 0;

    assert_non_null(server);
    fill(row, "", row->most, &request);
    for (unsigned i = 0; i < 2 * LEAK_REQUESTS; i++) {
        CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(HTTP_ANSWER_MAX);

        if (i == LEAK_REQUESTS)
            before = settled_heap_bytes();
        (void)read_head_in_time(server_address(server, 0), &request, &answer);
    }
    size_t after = settled_heap_bytes();

    server_stop(server);
    page_store_free(page_store);
    if (HEAP_COUNTS && after > before + LEAK_BYTES_MAX)
        fail_msg("%u requests: %zu bytes in use before, %zu after", LEAK_REQUESTS, before, after);
}
