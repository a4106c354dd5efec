/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"

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
