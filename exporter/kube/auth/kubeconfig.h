/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/auth/rest_config.h"

/*
 * Reads kubeconfig files as kubectl does: the merge of several files, the precedence of credentials
 * and the folder of relative paths are the same. Some checks are stricter. For example, a key that
 * appears twice in a mapping is an error, and so is a user name or a password, because API servers
 * accept no passwords since Kubernetes 1.19.
 */
struct kubeconfig_options {
    /*
     * Paths separated by ':', as in $KUBECONFIG. The first file that has a cluster, user, context
     * or current-context provides it. In a list with ':', files that do not exist are skipped.
     */
    const char *files;
    const char *context; /* Name of the context; the current-context if NULL or "". */
    bool refuse_exec;    /* Rejects a context that needs an exec plugin. */
};

/*
 * Reads the files and stores the server and the credentials of the context in `out`, which the
 * caller gives to rest_config_release(). Returns false with an error, and `out` filled with zeros,
 * if the context cannot be used. Errors contain no value of a credential.
 */
bool kubeconfig_load(const struct kubeconfig_options *options, struct rest_config *out,
                     struct error *err) MUST_USE;
