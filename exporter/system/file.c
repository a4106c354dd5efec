/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

enum { CHUNK = 16 * 1024 };

void file_close(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

struct file_stamp file_stamp_of(const struct stat *about)
{
    return (struct file_stamp){
        .device = about->st_dev,
        .inode = about->st_ino,
        .size = about->st_size,
        .changed_ns = about->st_mtim.tv_sec * 1000000000LL + about->st_mtim.tv_nsec,
    };
}

bool file_stamp_read(const char *path, struct file_stamp *out, struct error *err)
{
    struct stat about;

    if (stat(path, &about) < 0)
        return fail(err, "cannot read '%s': %s", path, strerror(errno));
    *out = file_stamp_of(&about);
    return true;
}

bool file_stamp_equal(const struct file_stamp *a, const struct file_stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->changed_ns == b->changed_ns;
}

bool file_wait_readable(int fd)
{
    struct pollfd wanted = {.fd = fd, .events = POLLIN};

    return poll(&wanted, 1, -1) >= 0 || errno == EINTR;
}

static bool read_all(int fd, const char *name, bool may_wait, struct strbuf *out, struct error *err)
{
    char chunk[CHUNK];

    while (strbuf_ok(out)) {
        ssize_t n = read(fd, chunk, sizeof(chunk));

        if (n == 0)
            return true;
        if (n > 0)
            strbuf_add(out, chunk, (size_t)n);
        else if (errno == EAGAIN && may_wait && !file_wait_readable(fd))
            return fail(err, "cannot wait for '%s': %s", name, strerror(errno));
        else if (errno != EINTR && !(errno == EAGAIN && may_wait))
            return fail(err, "cannot read '%s': %s", name, strerror(errno));
    }
    return fail(err, "'%s' is larger than %zu bytes", name, out->max);
}

bool file_read(const char *path, struct strbuf *out, struct error *err)
{
    struct stat about;

    /* O_NONBLOCK, or the open itself would wait for a FIFO's writer. */
    CLEANUP(file_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return fail(err, "cannot open '%s': %s", path, strerror(errno));
    if (fstat(fd, &about) < 0)
        return fail(err, "cannot read '%s': %s", path, strerror(errno));
    if (S_ISDIR(about.st_mode))
        return fail(err, "cannot read '%s': it is a directory, not a file", path);
    /* Character devices are allowed for /dev/null, which people use to say "no file". */
    if (!S_ISREG(about.st_mode) && !S_ISCHR(about.st_mode))
        return fail(err, "cannot read '%s': it is not a regular file", path);
    return read_all(fd, path, false, out, err);
}

bool file_read_fd(int fd, const char *name, struct strbuf *out, struct error *err)
{
    return read_all(fd, name, true, out, err);
}
