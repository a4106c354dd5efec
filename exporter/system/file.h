/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/stat.h>

#include "metrics/base/error.h"
#include "metrics/base/strbuf.h"

/*
 * Functions that read whole files append the bytes to `out`. A file that exceeds the limit of the
 * buffer is an error. After an error the buffer may hold a part of the file.
 */

/*
 * Returns true for files of kernel file systems such as procfs, sysfs and cgroupfs. Reading such a
 * file may block, never end, or have side effects. Returns false if fstatfs(2) fails.
 */
bool file_is_kernel_generated(int fd);

/*
 * Returns the text for errno after `path` could not be opened. If errno is EACCES although the
 * permissions of the file allow reading, Landlock denied the access, and the text names
 * --hardening. The text is static or from strerror(3).
 */
const char *file_open_failure(const char *path);

/*
 * Opens a regular file or /dev/null for reading. Returns a descriptor that the caller closes; -1 on
 * errors. Other kinds of files, and files of kernel file systems, could block or never end: they
 * are errors, with errno 0. `about` gets the status of the open file; may be NULL.
 */
int file_open(const char *path, struct stat *about, struct error *err) MUST_USE;

/* Reads a file that file_open() accepts. */
bool file_read(const char *path, struct strbuf *out, struct error *err) MUST_USE;

/* Reads a file of /proc or /sys, which must be known to end and not to block. */
bool file_read_proc(const char *path, struct strbuf *out, struct error *err) MUST_USE;

/*
 * Waits without a timeout until `fd` is readable, for descriptors that may be non-blocking, such as
 * an inherited standard input. Returns true also after a signal; false, with errno, on errors.
 */
bool file_wait_readable(int fd) MUST_USE;

/* Identity, size and modification time of a file, to detect changes without reading the file. */
struct file_stamp {
    uint64_t device;
    uint64_t inode;
    int64_t size;
    int64_t changed_ns; /* Modification time, since the epoch. */
};

struct file_stamp file_stamp_of(const struct stat *about);
/* Reads the stamp of the file at `path`; follows symbolic links. */
bool file_stamp_read(const char *path, struct file_stamp *out, struct error *err) MUST_USE;
bool file_stamp_equal(const struct file_stamp *a, const struct file_stamp *b);

/*
 * Path for error messages. A user may have put a secret in the place of a path. Therefore a path
 * for which stat(2) fails is shortened to its existing folders and at most SHOWN_MAX characters of
 * the rest. The text is cut at 767 bytes. stat(2) may block. shown_path() preserves errno.
 */
struct shown_path {
    char text[768];
};
struct shown_path shown_path(const char *path);

/* Returns the length of the longest prefix of `path` that ends in '/' and exists; may be 0. */
size_t file_existing_folder_length(const char *path);

/* Closes the descriptor unless it is negative; for CLEANUP. */
void file_close(const int *fd);

/* Used only by tests. */

/*
 * Reads until the end of `fd`, which may be a pipe or a terminal; blocks until then. `name` stands
 * for the file in errors, for example "standard input". The descriptor stays open.
 */
bool file_read_fd(int fd, const char *name, struct strbuf *out, struct error *err) MUST_USE;
