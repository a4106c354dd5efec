/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/in_cluster.h"

#include "exporter/system/url.h"
#include "metrics/base/number.h"
#include "metrics/base/shown.h"

static const char default_folder[] = "/var/run/secrets/kubernetes.io/serviceaccount";

static char *join(const char *folder, const char *name)
{
    char *path = NULL;

    if (asprintf(&path, "%s/%s", folder, name) < 0)
        memory_exhausted(0);
    return path;
}

bool in_cluster_load(const struct in_cluster_options *options, struct kube_config *out,
                     struct error *err)
{
    const char *folder = options->folder ? options->folder : default_folder;
    CLEANUP(free_cleanup) char *address = NULL;
    struct server_url url;
    uint64_t port;

    *out = (struct kube_config){.origin = NULL};
    if (!options->host || !*options->host || !options->port || !*options->port)
        return fail(err, "this is no pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are "
                         "not both set");
    if (!parse_uint(options->port, 65535, &port))
        return fail(err, "KUBERNETES_SERVICE_PORT is '%s', which is no port",
                    shown(options->port).text);

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
    out->token_file = join(folder, "token");
    out->ca.file = join(folder, "ca.crt");
    return true;
}
