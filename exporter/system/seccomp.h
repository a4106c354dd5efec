/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"

/*
 * A filter of system calls: what the exporter and its libraries need to read files, talk over
 * sockets and run threads. No program can be run, no process made, no file opened to be written,
 * no memory mapped to be written and run at once, no signal sent to anybody else.
 *
 * Another call fails as if the kernel did not have it (ENOSYS), and one with arguments that are
 * not allowed with EPERM; the kernel's audit log has both. It does not end the process: a
 * library that is newer than this list then does without, as it does on an older kernel.
 */

/* For all threads and for good; needs PR_SET_NO_NEW_PRIVS. */
bool seccomp_install(struct error *err) MUST_USE;
