/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/listener.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "exporter/system/file.h"

enum {
    FAMILIES = 2,
    /* What a client that does not read may make the kernel hold of a page, beside its window. */
    UNSENT_MAX = 256 * 1024,
};

static void free_addresses(struct addrinfo **list)
{
    if (*list)
        freeaddrinfo(*list);
}

/* A listening socket, or -1 with errno. */
static int open_socket(const struct addrinfo *where)
{
    const int on = 1, off = 0, unsent = UNSENT_MAX;
    int type = where->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC;

    int fd = socket(where->ai_family, type, where->ai_protocol);
    if (fd < 0)
        return -1;
    /* A restart must not wait until the connections of its predecessor time out. */
    bool ready = setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0;
    if (ready && where->ai_family == AF_INET6)
        ready = setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) == 0;
    /* Connections inherit it. A kernel without it serves all the same. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof(unsent));
    if (ready && bind(fd, where->ai_addr, where->ai_addrlen) == 0 && listen(fd, SOMAXCONN) == 0)
        return fd;

    int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

bool listener_open(const struct address *address, int *out_fd, struct error *err)
{
    static const int everywhere[FAMILIES] = {AF_INET6, AF_INET};
    static const int named[FAMILIES] = {AF_INET, AF_INET6};
    const int *families = address->host[0] ? named : everywhere;
    const char *reason = NULL;
    char port[8];

    snprintf(port, sizeof(port), "%u", (unsigned)address->port);
    for (size_t i = 0; i < FAMILIES; i++) {
        CLEANUP(free_addresses) struct addrinfo *found = NULL;
        const struct addrinfo hints = {
            .ai_family = families[i],
            .ai_socktype = SOCK_STREAM,
            .ai_flags = AI_PASSIVE | AI_NUMERICSERV,
        };
        int result = getaddrinfo(address->host[0] ? address->host : NULL, port, &hints, &found);

        if (result != 0) {
            if (!reason)
                reason = result == EAI_SYSTEM ? strerror(errno) : gai_strerror(result);
            continue;
        }
        int fd = open_socket(found);
        if (fd >= 0) {
            *out_fd = fd;
            return true;
        }
        reason = strerror(errno);
        /* The other family helps only where the system lacks this one. */
        if (errno != EAFNOSUPPORT && errno != EADDRNOTAVAIL)
            break;
    }
    return fail(err, "%s", reason);
}

void listener_name(int fd, char out[LISTENER_NAME_MAX])
{
    struct sockaddr_storage bound = {0};
    socklen_t len = sizeof(bound);
    char host[INET6_ADDRSTRLEN + 20] = "?";
    char port[8] = "?";

    if (getsockname(fd, (struct sockaddr *)&bound, &len) == 0)
        getnameinfo((struct sockaddr *)&bound, len, host, sizeof(host), port, sizeof(port),
                    NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(out, LISTENER_NAME_MAX, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}
