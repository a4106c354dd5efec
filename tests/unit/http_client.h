/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* HTTP client for tests of the server. Sends any bytes, so that tests can send invalid requests. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#define ZLIB_CONST
#include <zlib.h>

#include "metrics/base/strbuf.h"

enum { HTTP_ANSWER_MAX = 4 * 1024 * 1024, HTTP_PATIENCE_S = 20 };

/*
 * Connects to "127.0.0.1:<port>" or "[::1]:<port>". Returns the socket, or -1 on an error. Reads
 * time out after HTTP_PATIENCE_S seconds.
 */
static inline int http_connect(const char *address)
{
    const struct timeval patience = {.tv_sec = HTTP_PATIENCE_S};
    uint16_t port = (uint16_t)strtod(strrchr(address, ':') + 1, NULL);
    struct sockaddr_in6 six = {
        .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_in four = {.sin_family = AF_INET,
                               .sin_port = htons(port),
                               .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    bool is_six = address[0] == '[';
    const struct sockaddr *peer =
        is_six ? (const struct sockaddr *)&six : (const struct sockaddr *)&four;
    int fd = socket(is_six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (connect(fd, peer, is_six ? sizeof(six) : sizeof(four)) == 0)
        return fd;
    close(fd);
    return -1;
}

static inline bool http_send(int fd, const char *bytes, size_t len)
{
    return send(fd, bytes, len, MSG_NOSIGNAL) == (ssize_t)len;
}

/* Appends all bytes until the server closes. Returns false on a timeout or an error. */
static inline bool http_read_all(int fd, struct strbuf *out)
{
    char chunk[16384];
    ssize_t n;

    while ((n = recv(fd, chunk, sizeof(chunk), 0)) > 0)
        strbuf_add(out, chunk, (size_t)n);
    return n == 0;
}

/*
 * Connects, sends the bytes, and appends all bytes until the server closes. Returns false on a
 * timeout or an error.
 */
static inline bool http_talk_bytes(const char *address, const char *bytes, size_t len,
                                   struct strbuf *out)
{
    int fd = http_connect(address);
    bool done = fd >= 0 && http_send(fd, bytes, len) && http_read_all(fd, out);

    if (fd >= 0)
        close(fd);
    return done;
}

static inline bool http_talk(const char *address, const char *request, struct strbuf *out)
{
    return http_talk_bytes(address, request, strlen(request), out);
}

/* Returns the text after the headers, NULL if the headers do not end. */
static inline const char *http_body(const struct strbuf *answer)
{
    const char *end = strstr(answer->data, "\r\n\r\n");

    return end ? end + 4 : NULL;
}

/* Returns the number of status lines. */
static inline unsigned http_answers(const struct strbuf *answer)
{
    unsigned count = 0;

    for (const char *at = answer->data; (at = strstr(at, "HTTP/1.")) != NULL; at++)
        count += strlen(at) > strlen("HTTP/1.x ") && at[9] >= '1' && at[9] <= '5';
    return count;
}

/* Appends the unpacked bytes. Returns false unless `bytes` is exactly one gzip stream. */
static inline bool http_unpack(const char *bytes, size_t len, struct strbuf *out)
{
    z_stream stream = {.next_in = (const Bytef *)bytes, .avail_in = (uInt)len};
    unsigned char chunk[16384];
    int result;

    if (inflateInit2(&stream, 15 + 16) != Z_OK)
        return false;
    do {
        stream.next_out = chunk;
        stream.avail_out = sizeof(chunk);
        result = inflate(&stream, Z_NO_FLUSH);
        strbuf_add(out, chunk, sizeof(chunk) - stream.avail_out);
    } while (result == Z_OK);
    inflateEnd(&stream);
    return result == Z_STREAM_END && stream.avail_in == 0;
}
