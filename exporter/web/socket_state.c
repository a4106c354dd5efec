/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/socket_state.h"

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

bool socket_has_unread(int fd)
{
    int bytes = 0;

    return ioctl(fd, FIONREAD, &bytes) == 0 && bytes > 0;
}

bool socket_has_unsent(int fd)
{
    int bytes = 0;

    return ioctl(fd, SIOCOUTQ, &bytes) == 0 && bytes > 0;
}

bool socket_has_received(int fd)
{
    struct tcp_info info = {.tcpi_bytes_received = 0};
    socklen_t len = sizeof(info);

    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 && info.tcpi_bytes_received > 0;
}
