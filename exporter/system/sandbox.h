/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"

/*
 * Landlock ruleset that restricts access to files. Depending on the kernel, it also blocks signals
 * and abstract Unix sockets to processes that it does not restrict. Landlock cannot be disabled
 * again. It applies to the thread that calls landlock_restrict(), and to threads and processes that
 * this thread starts later. Open descriptors stay usable.
 */
struct landlock;

/*
 * Returns a ruleset without access to any file, which the caller frees; NULL with the reason on
 * errors, such as a kernel without Landlock.
 */
struct landlock *landlock_new(struct error *err) MUST_USE;

/* Frees the ruleset, but does not lift its restrictions. Accepts NULL. */
void landlock_free(struct landlock *l);

/* Allows to read a file, or a folder and everything below. Ignores errors, such as ENOENT. */
void landlock_allow_read(struct landlock *l, const char *path);

/*
 * Allows to read a file that may be replaced later: the file, its folder, and the folder of the
 * file that a symbolic link leads to. If the folder does not exist, its nearest existing parent is
 * allowed instead.
 *
 * Folders shared with other programs (such as /, /etc, /tmp or a home folder) are never allowed: a
 * file in one becomes unreadable if another file is renamed over it. The folder of a mount point is
 * not allowed either, because no file can be renamed over a mount point.
 */
void landlock_allow_replaceable(struct landlock *l, const char *path);

/* Enforces the ruleset. Requires PR_SET_NO_NEW_PRIVS. */
bool landlock_restrict(struct landlock *l, struct error *err) MUST_USE;

/*
 * Installs a seccomp filter for all threads, which cannot be removed. Requires PR_SET_NO_NEW_PRIVS.
 * The process can then not run programs, create processes, open files for writing, map memory as
 * writable and executable, open sockets other than IP, Unix and netlink, or signal other processes.
 *
 * System calls that the filter does not list fail with ENOSYS, so that newer libraries fall back as
 * on an older kernel. Listed calls with denied arguments fail with EPERM. The kernel can log both
 * in its audit log. A call of another architecture, such as a 32-bit call, kills the process.
 */
bool seccomp_install(struct error *err) MUST_USE;

/* Used only by sandbox.c and tests. */

/* Returns the Landlock ABI version of the kernel; 0 without Landlock. */
int landlock_version(void);
