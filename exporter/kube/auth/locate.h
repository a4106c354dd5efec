/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/auth/rest_config.h"
#include "exporter/system/url.h"

/* Where to look for an API server. All is borrowed. */
struct kube_search {
    const char *kubeconfig;         /* NULL or "": not given. */
    const char *context;            /* NULL or "": the kubeconfig's own. */
    const char *const *environment; /* NAME=value, NULL at the end. */
};

enum kube_search_result {
    KUBE_FOUND,
    KUBE_NOT_CONFIGURED, /* No server is configured: no file, no variable, no pod. Not an error. */
    KUBE_UNUSABLE,       /* The configuration cannot be used; the reason is in `err`. */
};

/*
 * Find the server as kubectl does: by the kubeconfig that is given, $KUBECONFIG,
 * ~/.kube/config, or the service account of the pod. Only KUBE_FOUND fills `out`.
 */
enum kube_search_result kube_locate(const struct kube_search *place, struct rest_config *out,
                                    struct error *err) MUST_USE;

/*
 * The proxy of the environment for a server, where Go's programs use it, as a text that the caller
 * frees and shows nobody; NULL in `out` if there is none. False if it cannot be used.
 */
bool proxy_from_environment(const char *const *environment, const struct server_url *server,
                            char **out, struct error *err) MUST_USE;

/* Call `each` for every kubeconfig file that would be read, whether it exists or not. */
void kube_search_each_file(const struct kube_search *place, kube_file_fn *each, void *context);

struct in_cluster_options {
    const char *host;   /* $KUBERNETES_SERVICE_HOST */
    const char *port;   /* $KUBERNETES_SERVICE_PORT */
    const char *folder; /* NULL for where Kubernetes mounts the service account. */
};

/*
 * The server of the cluster that this pod runs in. That is not Karmada's own
 * API server, unless both are one. Its files are read by credentials_new().
 */
bool in_cluster_load(const struct in_cluster_options *options, struct rest_config *out,
                     struct error *err) MUST_USE;
