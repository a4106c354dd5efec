/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/locate.h"

#include <unistd.h>

#include "exporter/kube/auth/in_cluster.h"
#include "exporter/kube/auth/kubeconfig.h"
#include "exporter/kube/auth/proxy_rules.h"
#include "exporter/system/secret.h"
#include "metrics/base/shown.h"

/* NULL if it is not set, or empty, which people mean to be the same. */
static const char *variable(const char *const *environment, const char *name)
{
    size_t len = strlen(name);

    for (const char *const *e = environment; *e; e++) {
        if (strncmp(*e, name, len) == 0 && (*e)[len] == '=')
            return (*e)[len + 1] != '\0' ? *e + len + 1 : NULL;
    }
    return NULL;
}

/* Proxies are written in both cases, and capitals go first. */
static const char *either(const char *const *environment, const char *upper, const char *lower)
{
    const char *value = variable(environment, upper);

    return value ? value : variable(environment, lower);
}

static char *home_config(const struct kube_place *place)
{
    const char *home = variable(place->environment, "HOME");
    char *path = NULL;

    if (!home)
        return NULL;
    if (asprintf(&path, "%s/.kube/config", home) < 0)
        memory_exhausted(0);
    if (access(path, F_OK) == 0)
        return path;
    free(path);
    return NULL;
}

/* The kubeconfig files that would be read, with ':' between them; NULL for none. */
static char *find_files(const struct kube_place *place)
{
    const char *files = place->kubeconfig;

    if (!files || *files == '\0')
        files = variable(place->environment, "KUBECONFIG");
    return files ? xstrdup(files) : home_config(place);
}

void kube_place_each_file(const struct kube_place *place, kube_file_fn *each, void *context)
{
    CLEANUP(free_cleanup) char *files = find_files(place);

    for (const char *at = files ? files : ""; *at != '\0';) {
        size_t len = strcspn(at, ":");
        CLEANUP(free_cleanup) char *file = xmemdup0(at, len);

        if (len > 0)
            each(context, file);
        at += len + (at[len] == ':');
    }
}

/* A URL without a scheme is one of http. */
bool kube_inherited_proxy(const char *const *environment, const struct server_url *server,
                          char **out, struct error *err)
{
    const char *proxy = either(environment, "HTTPS_PROXY", "https_proxy");
    const char *no_proxy = either(environment, "NO_PROXY", "no_proxy");

    *out = NULL;
    if (!proxy || !server->tls || !proxy_is_used(server->address, server->port, no_proxy))
        return true;
    *out = secret_concat(strstr(proxy, "://") ? "" : "http://", proxy, "");
    return proxy_url_check(*out, err) || fail_in(err, "HTTPS_PROXY");
}

static bool inherit_proxy(const struct kube_place *place, struct kube_config *config,
                          struct error *err)
{
    struct server_url server;

    if (config->proxy_url)
        return true;
    if (!server_url_parse(config->server, NULL, &server, err))
        return false;

    bool usable = kube_inherited_proxy(place->environment, &server, &config->proxy_url, err);

    server_url_release(&server);
    config->proxy_is_inherited = config->proxy_url != NULL;
    return usable;
}

enum kube_found kube_locate(const struct kube_place *place, struct kube_config *out,
                            struct error *err)
{
    bool has_context = place->context && *place->context != '\0';
    CLEANUP(free_cleanup) char *files = find_files(place);
    const struct kubeconfig_options options = {.files = files, .context = place->context};
    const struct in_cluster_options pod = {
        .host = variable(place->environment, "KUBERNETES_SERVICE_HOST"),
        .port = variable(place->environment, "KUBERNETES_SERVICE_PORT"),
    };

    if (!files && has_context) {
        fail(err,
             "the context '%s' needs a kubeconfig, and there is none: name one with --kubeconfig",
             shown(place->context).text);
        return KUBE_BROKEN;
    }
    if (!files && !pod.host)
        return KUBE_NOWHERE;
    if (!(files ? kubeconfig_load(&options, out, err) : in_cluster_load(&pod, out, err)))
        return KUBE_BROKEN;
    if (inherit_proxy(place, out, err))
        return KUBE_FOUND;
    kube_config_release(out);
    return KUBE_BROKEN;
}
