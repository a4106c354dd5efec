/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/auth/kube_config.h"

struct in_cluster_options {
    const char *host;   /* $KUBERNETES_SERVICE_HOST */
    const char *port;   /* $KUBERNETES_SERVICE_PORT */
    const char *folder; /* NULL for where Kubernetes mounts the service account. */
};

/*
 * The server of the cluster that this pod runs in. That is not Karmada's own
 * API server, unless both are one. Its files are read by credentials_new().
 */
bool in_cluster_load(const struct in_cluster_options *options, struct kube_config *out,
                     struct error *err) MUST_USE;
