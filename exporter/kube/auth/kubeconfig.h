/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/auth/kube_config.h"

/*
 * kubeconfig files, read as kubectl reads them: what is merged, which of two
 * credentials counts, what a relative path starts from. Two things are stricter:
 * a key that is written twice is an error, and so are a user and a password,
 * which no API server accepts since Kubernetes 1.19.
 */
struct kubeconfig_options {
    /*
     * Files separated by ':', as in $KUBECONFIG: the first that has a context,
     * cluster, user or current-context of a name counts; files that do not exist
     * are skipped, unless it is only one.
     */
    const char *files;
    const char *context; /* NULL or "": the files' current-context. */
    bool refuse_exec;    /* A context that needs an exec plugin is an error. */
};

/* `out` is to be released; on failure it is all zeros. */
bool kubeconfig_load(const struct kubeconfig_options *options, struct kube_config *out,
                     struct error *err) MUST_USE;
