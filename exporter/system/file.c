/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "metrics/base/shown.h"

enum {
    CHUNK = 16 * 1024,
    /* Device number of /dev/null on Linux (devices.txt of the kernel). */
    NULL_MAJOR = 1,
    NULL_MINOR = 3,
    /* Not defined in linux/magic.h. */
    CONFIGFS_SUPER_MAGIC = 0x62656570,
};

void file_close(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static bool prefix_exists(const char *path, size_t len)
{
    CLEANUP(free_cleanup) char *part = xmemdup0(path, len);
    struct stat about;

    return stat(part, &about) == 0;
}

size_t file_existing_folder_length(const char *path)
{
    size_t found = 0;

    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        size_t len = (size_t)(slash - path) + 1;

        if (!prefix_exists(path, len))
            break;
        found = len;
    }
    return found;
}

struct shown_path shown_path(const char *path)
{
    struct shown_path result;
    int code = errno;

    if (prefix_exists(path, strlen(path))) {
        snprintf(result.text, sizeof(result.text), "%s", path);
    } else {
        size_t len = file_existing_folder_length(path);

        snprintf(result.text, sizeof(result.text), "%.*s%s", (int)len, path,
                 shown(path + len).text);
    }
    errno = code;
    return result;
}

/* Returns a time in nanoseconds; the nearest one that fits for years before 1678 or after 2262. */
static int64_t nanoseconds_of(struct timespec time)
{
    int64_t ns;

    if (__builtin_mul_overflow((int64_t)time.tv_sec, INT64_C(1000000000), &ns) ||
        __builtin_add_overflow(ns, (int64_t)time.tv_nsec, &ns))
        return time.tv_sec < 0 ? INT64_MIN : INT64_MAX;
    return ns;
}

struct file_stamp file_stamp_of(const struct stat *about)
{
    return (struct file_stamp){
        .device = about->st_dev,
        .inode = about->st_ino,
        .size = about->st_size,
        .changed_ns = nanoseconds_of(about->st_mtim),
    };
}

bool file_stamp_read(const char *path, struct file_stamp *out, struct error *err)
{
    struct stat about;

    if (stat(path, &about) < 0)
        return fail(err, "cannot read '%s': %s", shown_path(path).text, strerror(errno));
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

static bool read_chunks(int fd, const char *name, bool may_wait, char chunk[CHUNK],
                        struct strbuf *out, struct error *err)
{
    while (strbuf_ok(out)) {
        ssize_t n = read(fd, chunk, CHUNK);

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

/*
 * Reads until the end of `fd`. `may_wait`: after EAGAIN, wait for data. Overwrites `chunk`
 * afterwards, because the file may contain secrets.
 */
static bool read_all(int fd, const char *name, bool may_wait, struct strbuf *out, struct error *err)
{
    char chunk[CHUNK];
    bool done = read_chunks(fd, name, may_wait, chunk, out, err);

    explicit_bzero(chunk, sizeof(chunk));
    return done;
}

/*
 * Returns the reason to reject a file of this type; NULL for regular files and for /dev/null, which
 * users set as a path to mean "no file".
 */
static const char *rejection_reason(const struct stat *about)
{
    switch (about->st_mode & S_IFMT) {
    case S_IFREG:
        return NULL;
    case S_IFDIR:
        return "is a directory, not a file";
    case S_IFIFO:
        return "is a FIFO, not a regular file";
    case S_IFSOCK:
        return "is a socket, not a regular file";
    case S_IFCHR:
        if (about->st_rdev == makedev(NULL_MAJOR, NULL_MINOR))
            return NULL;
        return "is a device, not a regular file";
    default:
        return "is a device, not a regular file";
    }
}

bool file_is_kernel_generated(int fd)
{
    static const long magics[] = {
        PROC_SUPER_MAGIC,     SYSFS_MAGIC,         DEBUGFS_MAGIC,    TRACEFS_MAGIC,
        CGROUP_SUPER_MAGIC,   CGROUP2_SUPER_MAGIC, SECURITYFS_MAGIC, BPF_FS_MAGIC,
        CONFIGFS_SUPER_MAGIC, EFIVARFS_MAGIC,      SELINUX_MAGIC,    PSTOREFS_MAGIC,
        BINFMTFS_MAGIC,
    };
    struct statfs about;

    if (fstatfs(fd, &about) < 0)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(magics); i++) {
        if ((long)about.f_type == magics[i])
            return true;
    }
    return false;
}

static bool fail_rejected(const char *path, const char *why, struct error *err)
{
    errno = 0;
    return fail(err, "cannot read '%s': %s", shown_path(path).text, why);
}

const char *file_open_failure(const char *path)
{
    int code = errno;

    /* faccessat(2) checks the permissions of the file, but not the Landlock rules. */
    if (code == EACCES && faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0)
        return "--hardening allows only paths named at the start: restart, or set it to off";
    return strerror(code);
}

int file_open(const char *path, struct stat *about, struct error *err)
{
    static const char kernel_generated[] =
        "a file of a virtual file system (/proc, /sys), not a regular file";
    struct stat found;
    const char *why = NULL;

    /* Opening a device can have side effects, so the type is checked before open(2), and again
     * later, in case the file was replaced. O_NONBLOCK: open(2) of a FIFO does not block. */
    int fd = stat(path, &found) < 0 || (why = rejection_reason(&found))
                 ? -1
                 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0 && !why && errno == EACCES) {
        /* "permission denied" would hide that files of /proc and /sys are unsupported. */
        CLEANUP(file_close) int path_fd = open(path, O_PATH | O_CLOEXEC);

        why = path_fd >= 0 && file_is_kernel_generated(path_fd) ? kernel_generated : NULL;
        errno = EACCES;
    }
    if (fd >= 0 && fstat(fd, &found) == 0) {
        why = rejection_reason(&found);
        if (!why && S_ISREG(found.st_mode) && file_is_kernel_generated(fd))
            why = kernel_generated;
        if (!why) {
            if (about)
                *about = found;
            return fd;
        }
    }
    if (!why)
        fail(err, "cannot open '%s': %s", shown_path(path).text, file_open_failure(path));
    else
        fail_rejected(path, why, err);
    if (fd >= 0)
        close(fd);
    return -1;
}

bool file_read(const char *path, struct strbuf *out, struct error *err)
{
    CLEANUP(file_close) int fd = file_open(path, NULL, err);

    return fd >= 0 && read_all(fd, path, false, out, err);
}

bool file_read_proc(const char *path, struct strbuf *out, struct error *err)
{
    CLEANUP(file_close) int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return fail(err, "cannot open '%s': %s", path, strerror(errno));
    return read_all(fd, path, false, out, err);
}

bool file_read_fd(int fd, const char *name, struct strbuf *out, struct error *err)
{
    return read_all(fd, name, true, out, err);
}
