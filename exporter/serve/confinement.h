/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/options/options.h"
#include "exporter/system/log.h"

/* In the order of the choices of --hardening. */
enum hardening { HARDENING_AUTO, HARDENING_OFF };

/*
 * Result of --hardening, which restricts the process in three ways:
 * - PR_SET_NO_NEW_PRIVS: it cannot gain privileges.
 * - Landlock: it can read only files that its options, or configuration files in the options, name,
 *   in some cases their folders (landlock_allow_replaceable()), and files that libraries need.
 * - seccomp: it can use only the system calls that it needs (sandbox.h).
 *
 * With an exec plugin in the kubeconfig only PR_SET_NO_NEW_PRIVS is used: the plugin would inherit
 * the rules, and a filter that allows programs to start would not protect.
 */
struct confinement {
    enum hardening wanted;
    char plugin[128];      /* Command of the exec plugin; "" without one. */
    bool wants_seccomp;    /* filter_syscalls() installs the filter. */
    bool done;             /* Landlock or the filter is in force. */
    bool is_blocked;       /* A thread is blocked by a path, and the process must use _exit(). */
    struct error landlock; /* Error that prevented the use of Landlock; or "". */
    struct error seccomp;  /* Error that prevented the use of the filter; or "". */
};

/*
 * Sets PR_SET_NO_NEW_PRIVS and the Landlock rules, irrevocably, for the calling thread and the
 * threads that it starts later. Fills `out`. Confines nothing in builds with a sanitizer, if
 * --hardening is off, if a path hangs or cannot be tried, or if the API server cannot be located.
 */
void confine_process(const struct options *o, const char *const *environment,
                     struct confinement *out);

/* Installs the seccomp filter for all threads if `wants_seccomp`; sets `done`, or the error. */
void filter_syscalls(struct confinement *c);

/* Logs the restrictions in force, and why the others are not. */
void confinement_log(const struct confinement *c, const struct log *log);
