/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/locate.h"

#include <unistd.h>

#include "exporter/kube/auth/in_cluster.h"
#include "exporter/kube/auth/kubeconfig.h"

/* NULL if it is not set, or empty, which people mean to be the same. */
static const char *variable(const struct kube_place *place, const char *name)
{
    size_t len = strlen(name);

    for (const char *const *e = place->environment; *e; e++) {
        if (strncmp(*e, name, len) == 0 && (*e)[len] == '=')
            return (*e)[len + 1] != '\0' ? *e + len + 1 : NULL;
    }
    return NULL;
}

/* Proxies are written in both cases; curl and Go look at these two. */
static const char *either(const struct kube_place *place, const char *upper, const char *lower)
{
    const char *value = variable(place, upper);

    return value ? value : variable(place, lower);
}

static char *home_config(const struct kube_place *place)
{
    const char *home = variable(place, "HOME");
    char *path = NULL;

    if (!home)
        return NULL;
    if (asprintf(&path, "%s/.kube/config", home) < 0)
        abort();
    if (access(path, F_OK) == 0)
        return path;
    free(path);
    return NULL;
}

char *kube_place_files(const struct kube_place *place)
{
    const char *files = place->kubeconfig;

    if (!files || *files == '\0')
        files = variable(place, "KUBECONFIG");
    return files ? xstrdup(files) : home_config(place);
}

enum kube_found kube_locate(const struct kube_place *place, struct kube_config *out,
                            struct error *err)
{
    bool has_context = place->context && *place->context != '\0';
    const struct in_cluster_options pod = {
        .host = variable(place, "KUBERNETES_SERVICE_HOST"),
        .port = variable(place, "KUBERNETES_SERVICE_PORT"),
    };
    CLEANUP(free_cleanup) char *files = kube_place_files(place);

    if (files) {
        const struct kubeconfig_options options = {
            .files = files,
            .context = place->context,
            .proxy_url = either(place, "HTTPS_PROXY", "https_proxy"),
            .no_proxy = either(place, "NO_PROXY", "no_proxy"),
        };

        return kubeconfig_load(&options, out, err) ? KUBE_FOUND : KUBE_BROKEN;
    }
    if (has_context) {
        fail(err,
             "the context '%s' needs a kubeconfig, and there is none: name one with --kubeconfig",
             place->context);
        return KUBE_BROKEN;
    }
    if (!pod.host)
        return KUBE_NOWHERE;
    return in_cluster_load(&pod, out, err) ? KUBE_FOUND : KUBE_BROKEN;
}
