/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"

/*
 * Landlock: what this process and its children may open. It is for good, and for the calling
 * thread and those that it starts later; what is open already stays open.
 */

/* The version that the kernel has; 0 without Landlock. */
int landlock_version(void);

struct landlock;

/* Nothing may be opened, written, made or run but what is allowed before landlock_restrict(). */
struct landlock *landlock_new(struct error *err) MUST_USE;
/* Takes NULL. */
void landlock_free(struct landlock *l);

/* Let a file or folder be read, with all below it. What does not exist is skipped. */
void landlock_allow_read(struct landlock *l, const char *path);

/*
 * The same for a path that another file may replace later: its folder, and that of what it is a
 * link to, can be read as well; for one that does not exist yet the nearest folder that does.
 *
 * A folder that the system or many programs share (/, /etc, /tmp, a home ...) is never opened up
 * that way: of it the file alone can be read, as long as no other file is renamed over it. The
 * folder of a file that is mounted by itself is not opened up either, since no file can be renamed
 * over that.
 */
void landlock_allow_replaceable(struct landlock *l, const char *path);

/* From now on. The process must not be able to gain privileges (PR_SET_NO_NEW_PRIVS). */
bool landlock_restrict(struct landlock *l, struct error *err) MUST_USE;

/*
 * A filter of system calls. The exporter and its libraries read files, use sockets and run threads.
 * The process cannot run programs, create processes, open files for writing, map memory both
 * writable and executable, or send signals to other processes.
 *
 * Unknown calls fail as on a kernel without them (ENOSYS), known calls with other arguments with
 * EPERM. The kernel's audit log has both. Refused calls do not end the process: a library that is
 * newer than the list of calls falls back as on an older kernel. A call of another architecture,
 * such as a 32-bit one, ends the process.
 */

/* Installs the filter for all threads, for good. Needs PR_SET_NO_NEW_PRIVS. */
bool seccomp_install(struct error *err) MUST_USE;
