/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/auth/rest_config.h"
#include "exporter/system/url.h"

/* Inputs of the search for an API server. All members are borrowed. */
struct kube_search {
    const char *kubeconfig;         /* Paths separated by ':'; NULL or "" if not set. */
    const char *context;            /* The current-context if NULL or "". */
    const char *const *environment; /* NAME=value texts; NULL ends the list. */
};

enum kube_search_result {
    KUBE_FOUND,
    KUBE_NOT_CONFIGURED, /* No context, kubeconfig or KUBERNETES_SERVICE_HOST; no error. */
    KUBE_UNUSABLE,       /* Configuration with an error; `err` holds the reason. */
};

/*
 * Finds the API server like kubectl: from search->kubeconfig, $KUBECONFIG, ~/.kube/config if that
 * file exists, or, without search->context, the service account of the pod. Uses the first source
 * that is set; after an error in this source, does not try the next one. Takes the proxy from the
 * environment unless the kubeconfig sets one. Fills `out`, which the caller gives to
 * rest_config_release(), only if the result is KUBE_FOUND.
 */
enum kube_search_result kube_locate(const struct kube_search *search, struct rest_config *out,
                                    struct error *err) MUST_USE;

/*
 * Stores the URL of the proxy for `server` by the rules of Go's http.ProxyFromEnvironment, or NULL
 * for a direct connection or a server without TLS. The URL may contain a password; the caller owns
 * it, also after an error. Returns false with an error if curl cannot use the proxy.
 */
bool proxy_from_environment(const char *const *environment, const struct server_url *server,
                            char **out, struct error *err) MUST_USE;

/* Calls `each` for each kubeconfig path of the search, for ~/.kube/config only if it exists. */
void kube_search_each_file(const struct kube_search *search, kube_file_fn *each, void *context);

struct in_cluster_options {
    const char *host;   /* $KUBERNETES_SERVICE_HOST */
    const char *port;   /* $KUBERNETES_SERVICE_PORT */
    const char *folder; /* Folder of the service account; the standard path if NULL. */
};

/*
 * Stores the API server of the cluster that runs this pod, which is usually the host cluster and
 * not the Karmada API server. Reads no files: credentials_new() reads token and CA. The caller
 * gives `out` to rest_config_release(). Returns false with an error if host or port is missing or
 * invalid.
 */
bool in_cluster_load(const struct in_cluster_options *options, struct rest_config *out,
                     struct error *err) MUST_USE;
