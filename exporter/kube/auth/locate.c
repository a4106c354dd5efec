/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/locate.h"

#include <unistd.h>

#include "exporter/kube/auth/kubeconfig.h"
#include "exporter/kube/auth/proxy.h"
#include "exporter/system/secret.h"
#include "exporter/system/url.h"
#include "metrics/base/number.h"
#include "metrics/base/shown.h"

static const char service_account_folder[] = "/var/run/secrets/kubernetes.io/serviceaccount";

static char *join_path(const char *folder, const char *name)
{
    char *path = NULL;

    if (asprintf(&path, "%s/%s", folder, name) < 0)
        memory_exhausted(0);
    return path;
}

bool in_cluster_load(const struct in_cluster_options *options, struct rest_config *out,
                     struct error *err)
{
    const char *folder = options->folder ? options->folder : service_account_folder;
    CLEANUP(free_cleanup) char *address = NULL;
    struct server_url url;
    uint64_t port;

    *out = (struct rest_config){.origin = NULL};
    if (!options->host || !*options->host || !options->port || !*options->port)
        return fail(err, "not in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are "
                         "not both set");
    if (!parse_uint(options->port, 65535, &port))
        return fail(err, "KUBERNETES_SERVICE_PORT is '%s', not a port", shown(options->port).text);

    bool is_ip6 = strchr(options->host, ':') && options->host[0] != '[';
    if (asprintf(&address, "https://%s%s%s:%" PRIu64, is_ip6 ? "[" : "", options->host,
                 is_ip6 ? "]" : "", port) < 0)
        memory_exhausted(0);
    if (!server_url_parse(address, NULL, &url, err))
        return fail_in(err, "KUBERNETES_SERVICE_HOST");

    out->origin = xstrdup("the pod's service account");
    out->server = url.base;
    url.base = NULL;
    server_url_release(&url);
    out->token_file = join_path(folder, "token");
    out->ca.file = join_path(folder, "ca.crt");
    return true;
}

/* Returns the value of a variable, borrowed; NULL if it is not set or empty. */
static const char *get_variable(const char *const *environment, const char *name)
{
    size_t len = strlen(name);

    for (const char *const *e = environment; *e; e++) {
        if (strncmp(*e, name, len) == 0 && (*e)[len] == '=')
            return (*e)[len + 1] != '\0' ? *e + len + 1 : NULL;
    }
    return NULL;
}

/* Returns the value of a proxy variable, or NULL. Like Go, prefers the upper-case name. */
static const char *get_proxy_variable(const char *const *environment, const char *upper,
                                      const char *lower)
{
    const char *value = get_variable(environment, upper);

    return value ? value : get_variable(environment, lower);
}

/* Returns the path of ~/.kube/config, owned by the caller; NULL without the file or $HOME. */
static char *find_home_config(const struct kube_search *search)
{
    const char *home = get_variable(search->environment, "HOME");
    CLEANUP(free_cleanup) char *path = home ? join_path(home, ".kube/config") : NULL;

    return path && access(path, F_OK) == 0 ? xstrdup(path) : NULL;
}

/* Returns kubeconfig paths, separated by ':', owned by the caller; NULL without a kubeconfig. */
static char *list_kubeconfigs(const struct kube_search *search)
{
    const char *files = search->kubeconfig;

    if (!files || *files == '\0')
        files = get_variable(search->environment, "KUBECONFIG");
    return files ? xstrdup(files) : find_home_config(search);
}

void kube_search_each_file(const struct kube_search *search, kube_file_fn *each, void *context)
{
    CLEANUP(free_cleanup) char *files = list_kubeconfigs(search);

    for (const char *at = files ? files : ""; *at != '\0';) {
        size_t len = strcspn(at, ":");
        CLEANUP(free_cleanup) char *file = xmemdup0(at, len);

        if (len > 0)
            each(context, file);
        at += len + (at[len] == ':');
    }
}

bool proxy_from_environment(const char *const *environment, const struct server_url *server,
                            char **out, struct error *err)
{
    const char *proxy = get_proxy_variable(environment, "HTTPS_PROXY", "https_proxy");
    const char *no_proxy = get_proxy_variable(environment, "NO_PROXY", "no_proxy");

    *out = NULL;
    if (!proxy || !server->tls || !proxy_is_used(server->address, server->port, no_proxy))
        return true;
    *out = secret_concat(strstr(proxy, "://") ? "" : "http://", proxy, "");
    return proxy_url_check(*out, err) || fail_in(err, "HTTPS_PROXY");
}

static bool set_environment_proxy(const struct kube_search *search, struct rest_config *config,
                                  struct error *err)
{
    struct server_url server;

    if (config->proxy_url)
        return true;
    if (!server_url_parse(config->server, NULL, &server, err))
        return false;

    bool usable = proxy_from_environment(search->environment, &server, &config->proxy_url, err);

    server_url_release(&server);
    config->proxy_is_from_environment = config->proxy_url != NULL;
    return usable;
}

enum kube_search_result kube_locate(const struct kube_search *search, struct rest_config *out,
                                    struct error *err)
{
    bool has_context = search->context && *search->context != '\0';
    CLEANUP(free_cleanup) char *files = list_kubeconfigs(search);
    const struct kubeconfig_options options = {.files = files, .context = search->context};
    const struct in_cluster_options pod = {
        .host = get_variable(search->environment, "KUBERNETES_SERVICE_HOST"),
        .port = get_variable(search->environment, "KUBERNETES_SERVICE_PORT"),
    };

    if (!files && has_context) {
        fail(err,
             "the context '%s' needs a kubeconfig, and there is none: name one with --kubeconfig",
             shown(search->context).text);
        return KUBE_UNUSABLE;
    }
    if (!files && !pod.host)
        return KUBE_NOT_CONFIGURED;
    if (!(files ? kubeconfig_load(&options, out, err) : in_cluster_load(&pod, out, err)))
        return KUBE_UNUSABLE;
    if (set_environment_proxy(search, out, err))
        return KUBE_FOUND;
    rest_config_release(out);
    return KUBE_UNUSABLE;
}
