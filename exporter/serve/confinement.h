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
 *   and files that libraries need. landlock_allow_replaceable() states when it can read their
 *   folders.
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
    struct error landlock; /* Reason why Landlock is not in force; "" without one. */
    struct error seccomp;  /* Reason why the filter is not in force; "" without one. */
};

/*
 * Sets PR_SET_NO_NEW_PRIVS and the Landlock rules, irrevocably, for the calling thread and the
 * threads that it starts later. Fills `out`. Confines nothing if a path in the options hangs, or if
 * the API server cannot be located: opening the API server later reports that error.
 */
void confine_process(const struct options *o, const char *const *environment,
                     struct confinement *out);

/* Installs the seccomp filter for all threads if `wants_seccomp`; sets `done` or the reason. */
void filter_syscalls(struct confinement *c);

/* Logs the restrictions in force, and the reasons for the others. */
void confinement_log(const struct confinement *c, const struct log *log);
