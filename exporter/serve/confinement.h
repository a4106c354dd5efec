/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/options/options.h"
#include "exporter/system/log.h"

/* In the order of --hardening's choices. */
enum hardening { HARDENING_AUTO, HARDENING_OFF };

/*
 * What --hardening makes of the process: it cannot gain privileges, a filter keeps it to the
 * system calls that it needs (sandbox.h), and Landlock to reading what its options name: the
 * configuration file, the kubeconfig and all files in that, manifests, assets; with the folders
 * that these are in, for files that are replaced, unless these folders are shared ones such as
 * /etc (sandbox.h); besides what libraries read to resolve names, to trust authorities and to load
 * modules.
 *
 * An exec plugin would inherit both, and a filter that lets it run would let anything run: where
 * the kubeconfig names one, only the first of the three is done.
 */
struct confinement {
    enum hardening wanted;
    char plugin[128];      /* The exec plugin; "" if there is none. */
    bool filters;          /* There is to be a filter. */
    bool done;             /* At least one of the two is in force. */
    bool is_blocked;       /* The thread that tried still waits for a path. */
    struct error landlock; /* Why there is none of it; "" if there is. */
    struct error seccomp;
};

/*
 * Confines this process to what the options need, for good: the calling thread, and the threads
 * that start later. Confining opens the paths that the options name. A thread that ends afterwards
 * tries that first, because a path may not answer: then the process is not confined. Leaves out
 * what the kernel does not have, and everything where the API server cannot be located: the caller
 * that opens the API server reports that error.
 */
void confine_process(const struct options *o, const char *const *environment,
                     struct confinement *out);

/* The rest of it: the filter, behind which no process can be made. */
void filter_syscalls(struct confinement *c);

/* Log what was done, what was not, and why. */
void confinement_log(const struct confinement *c, const struct log *log);
