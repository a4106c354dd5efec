/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/kubeconfig_cluster.h"

#include "exporter/kube/auth/pem.h"
#include "exporter/kube/auth/server_url.h"

/* The name under which a cluster keeps what its exec plugins need to know. */
static const char exec_extension[] = "client.authentication.k8s.io/exec";

static bool read_server(const struct field_place *place, const cJSON *cluster,
                        struct kube_config *out, struct error *err)
{
    struct server_url url;
    struct error why;
    const char *server;

    if (!field_text(place, cluster, "server", &server, err) ||
        !field_copy_text(place, cluster, "tls-server-name", &out->tls_server_name, err))
        return false;
    if (!server)
        return field_fail(place, cluster, "server", err, "it is missing");
    if (!server_url_parse(server, NULL, &url, &why))
        return field_fail(place, cluster, "server", err, "%s", why.text);
    out->server = url.base;
    url.base = NULL;
    if (!url.tls)
        kube_config_note(out, "the server is reached without TLS: no credentials are sent");
    server_url_release(&url);
    if (!out->tls_server_name)
        return true;
    if (!server_url_parse(server, out->tls_server_name, &url, &why))
        return field_fail(place, cluster, "tls-server-name", err, "%s", why.text);
    server_url_release(&url);
    return true;
}

static bool read_trust(const struct field_place *place, const cJSON *cluster,
                       struct kube_config *out, struct error *err)
{
    struct error why;

    if (!field_bool(place, cluster, "insecure-skip-tls-verify", &out->insecure, err) ||
        !field_copy_bytes(place, cluster, "certificate-authority", &out->ca, err))
        return false;
    if (out->insecure && (out->ca.data || out->ca.file))
        return field_fail(place, cluster, "insecure-skip-tls-verify", err,
                          "it is true, and there is a certificate-authority: remove one of them");
    if (out->ca.data && !pem_check_certificates(out->ca.data, &why))
        return field_fail(place, cluster, "certificate-authority-data", err, "%s", why.text);
    if (out->ca.data && out->ca.file)
        kube_config_note(out, "certificate-authority-data counts, not certificate-authority");
    if (out->insecure)
        kube_config_note(out, "insecure-skip-tls-verify: anybody can pretend to be the server");
    return true;
}

static bool read_proxy(const struct field_place *place, const cJSON *cluster,
                       struct kube_config *out, struct error *err)
{
    struct error why;

    if (!field_copy_text(place, cluster, "proxy-url", &out->proxy_url, err))
        return false;
    if (out->proxy_url && !proxy_url_check(out->proxy_url, &why))
        return field_fail(place, cluster, "proxy-url", err, "%s", why.text);
    return true;
}

static bool read_exec_config(const struct field_place *place, const cJSON *cluster,
                             struct kube_config *out, struct error *err)
{
    const cJSON *list;
    const cJSON *item;

    if (!field_list(place, cluster, "extensions", &list, err))
        return false;
    cJSON_ArrayForEach (item, list) {
        const cJSON *extension = json_get(item, "extension");

        if (!extension || strcmp(json_str(item, "name", ""), exec_extension) != 0)
            continue;
        out->exec_config = cJSON_PrintUnformatted(extension);
        if (!out->exec_config)
            abort();
        return true;
    }
    return true;
}

bool kubeconfig_read_cluster(const struct field_place *place, const cJSON *cluster,
                             struct kube_config *out, struct error *err)
{
    return read_server(place, cluster, out, err) && read_trust(place, cluster, out, err) &&
           read_proxy(place, cluster, out, err) &&
           field_bool(place, cluster, "disable-compression", &out->disable_compression, err) &&
           read_exec_config(place, cluster, out, err);
}
