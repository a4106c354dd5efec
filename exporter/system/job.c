/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "exporter/system/file.h"

struct job_output {
    int socket;
    /* One call is cheaper than two. */
    char frame[sizeof(struct job_frame) + JOB_FRAME_MAX];
};

/* Room for one descriptor beside a message. */
union control {
    struct cmsghdr head;
    char room[CMSG_SPACE(sizeof(int))];
};

bool job_send(int socket, const void *bytes, size_t len, int fd, int flags)
{
    union control control = {.room = ""};
    const char *at = bytes;

    while (len > 0) {
        struct iovec part = {.iov_base = (void *)(uintptr_t)at, .iov_len = len};
        struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

        if (fd >= 0) {
            message.msg_control = &control;
            message.msg_controllen = sizeof(control);
            struct cmsghdr *head = CMSG_FIRSTHDR(&message);
            *head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(fd)),
                                     .cmsg_level = SOL_SOCKET,
                                     .cmsg_type = SCM_RIGHTS};
            memcpy(CMSG_DATA(head), &fd, sizeof(fd));
        }
        ssize_t n = sendmsg(socket, &message, MSG_NOSIGNAL | flags);
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0) {
            at += n;
            len -= (size_t)n;
            fd = -1;
        }
    }
    return true;
}

/* Receive exactly so many bytes, and a descriptor if one comes along. */
static bool receive(int socket, void *bytes, size_t len, int *fd)
{
    char *at = bytes;

    while (len > 0) {
        union control control;
        struct iovec part = {.iov_base = at, .iov_len = len};
        struct msghdr message = {.msg_iov = &part,
                                 .msg_iovlen = 1,
                                 .msg_control = &control,
                                 .msg_controllen = sizeof(control)};
        ssize_t n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
        const struct cmsghdr *head = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;

        if (head && head->cmsg_type == SCM_RIGHTS)
            memcpy(fd, CMSG_DATA(head), sizeof(*fd));
        if (n == 0 || (n < 0 && errno != EINTR))
            return false;
        at += n > 0 ? n : 0;
        len -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

void job_emit(struct job_output *out, const void *bytes, size_t len)
{
    const struct job_frame frame = {.len = (uint32_t)len};

    assert(len <= JOB_FRAME_MAX);
    memcpy(out->frame, &frame, sizeof(frame));
    memcpy(out->frame + sizeof(frame), bytes, len);
    if (!job_send(out->socket, out->frame, sizeof(frame) + len, -1, 0))
        _exit(0);
}

/* Do the jobs that arrive, one after another. */
static void work(int socket)
{
    const struct job_frame last = {.last = true};
    CLEANUP(free_cleanup) struct job_output *out = xcalloc(1, sizeof(*out));
    struct job_request request;

    out->socket = socket;

    for (;;) {
        CLEANUP(file_close) int fd = -1;
        CLEANUP(free_cleanup) char *input = NULL;

        if (!receive(socket, &request, sizeof(request), &fd))
            return;
        input = xcalloc(1, request.len + 1);
        if (!receive(socket, input, request.len, &fd))
            return;
        request.run(out, input, request.len, fd);
        explicit_bzero(input, request.len);
        explicit_bzero(out->frame, sizeof(out->frame));
        if (!job_send(socket, &last, sizeof(last), -1, 0))
            return;
    }
}

void job_serve_processes(int socket, void (*prepare)(void))
{
    char byte;

    /* Nobody waits for them: the kernel forgets them when they end. */
    signal(SIGCHLD, SIG_IGN);
    for (;;) {
        CLEANUP(file_close) int fd = -1;

        if (!receive(socket, &byte, sizeof(byte), &fd))
            return;
        if (fd >= 0 && fork() == 0) {
            close(socket);
            if (prepare)
                prepare();
            work(fd);
            _exit(0);
        }
    }
}
