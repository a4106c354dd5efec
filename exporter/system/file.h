/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/stat.h>

#include "metrics/base/error.h"
#include "metrics/base/strbuf.h"

/*
 * Reading whole files. The buffer's ceiling is the file's: a larger one is an
 * error. Bytes are appended; after a failure the buffer may hold some of them.
 */

/*
 * True for /proc, /sys and what is mounted there: the kernel makes up their files while they are
 * read, so that some never end, some wait, and some do things.
 */
bool file_is_kernel_generated(int fd);

/*
 * Why a file or folder could not be opened, by errno, in words. Where not its mode is the reason
 * but a limit of this process, which --hardening sets at the start, that is what it says.
 */
const char *file_open_failure(const char *path);

/*
 * Open a file that is to be read: regular, or /dev/null. Anything else, which could make us wait
 * or be without an end, is refused with the reason, and errno is then 0. The caller closes it;
 * -1 on failure. What is opened is what `about`, which may be NULL, tells of.
 */
int file_open(const char *path, struct stat *about, struct error *err) MUST_USE;

/* Read the file at `path`, which file_open() has to accept. */
bool file_read(const char *path, struct strbuf *out, struct error *err) MUST_USE;

/* Read a file of /proc that we know to end and not to wait. */
bool file_read_proc(const char *path, struct strbuf *out, struct error *err) MUST_USE;

/*
 * Read until the end of `fd`, which may be a pipe or a terminal: waits as long
 * as its writer does. `name` stands for it in errors, as in "standard input".
 * The descriptor stays open.
 */
bool file_read_fd(int fd, const char *name, struct strbuf *out, struct error *err) MUST_USE;

/*
 * Wait until `fd` can be read, however long that takes; returns on a signal too.
 * False with errno on failure. For standard input, which our parent may have made
 * non-blocking, and for pipes.
 */
bool file_wait_readable(int fd) MUST_USE;

/* Tells two states of a file apart without reading it. */
struct file_stamp {
    uint64_t device;
    uint64_t inode;
    int64_t size;
    int64_t changed_ns;
};

struct file_stamp file_stamp_of(const struct stat *about);
bool file_stamp_read(const char *path, struct file_stamp *out, struct error *err) MUST_USE;
bool file_stamp_equal(const struct file_stamp *a, const struct file_stamp *b);

/*
 * A path as error messages show it. A path that leads to something is shown as it is. Otherwise the
 * value may be no path at all but a secret in its place: the folders that exist are shown, and
 * SHOWN_MAX characters of the rest. shown_path() looks at the file system, and keeps errno.
 */
struct shown_path {
    char text[768];
};
struct shown_path shown_path(const char *path);

/* Returns the length of the existing folders of a path, with the '/' after them; may be 0. */
size_t file_existing_folder_length(const char *path);

/* For CLEANUP: close the descriptor, unless it is negative. */
void file_close(const int *fd);
