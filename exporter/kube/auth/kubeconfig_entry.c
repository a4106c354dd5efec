/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/kubeconfig_entry.h"

#include "exporter/kube/auth/proxy_rules.h"
#include "exporter/system/encoding.h"
#include "exporter/system/secret.h"
#include "exporter/system/url.h"
#include "metrics/base/shown.h"

enum { EXTRA_MAX = 1000, ENV_MAX = 1000 };

/* ---- clusters ---- */

/* Without TLS only a server of this machine can be believed. */
static bool check_scheme(const struct field_place *place, const cJSON *cluster,
                         const struct server_url *url, struct kube_config *out, struct error *err)
{
    if (url->tls)
        return true;
    if (!host_is_loopback(url->address))
        return field_fail(place, cluster, "server", err,
                          "http://%s is not encrypted: use https://, or run 'kubectl proxy' on "
                          "this machine and name http://127.0.0.1:8001",
                          shown(url->address).text);
    kube_config_note(out, "the server is reached without TLS: no credentials are sent");
    return true;
}

static bool read_server(const struct field_place *place, const cJSON *cluster,
                        struct kube_config *out, struct error *err)
{
    struct server_url url;
    struct error why;
    const char *server;

    if (!field_text(place, cluster, "server", &server, err) ||
        !field_copy_text(place, cluster, "tls-server-name", &out->tls_server_name, err) ||
        !field_copy_text(place, cluster, "proxy-url", &out->proxy_url, err))
        return false;
    if (!server)
        return field_fail(place, cluster, "server", err, "it is missing");
    if (!server_url_parse(server, NULL, &url, &why))
        return field_fail(place, cluster, "server", err, "%s", why.text);
    out->server = url.base;
    url.base = NULL;
    bool fits = check_scheme(place, cluster, &url, out, err);
    server_url_release(&url);
    if (!fits)
        return false;
    if (out->tls_server_name) {
        if (!server_url_parse(server, out->tls_server_name, &url, &why))
            return field_fail(place, cluster, "tls-server-name", err, "%s", why.text);
        server_url_release(&url);
    }
    if (out->proxy_url && !proxy_url_check(out->proxy_url, &why))
        return field_fail(place, cluster, "proxy-url", err, "%s", why.text);
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
        kube_config_note(out, "certificate-authority-data is used, not certificate-authority");
    if (out->insecure)
        kube_config_note(out, "insecure-skip-tls-verify: anybody can pretend to be the server");
    return true;
}

/* Keep what the cluster has for exec plugins, under the name that Kubernetes gives to that. */
static bool read_exec_config(const struct field_place *place, const cJSON *cluster,
                             struct kube_config *out, struct error *err)
{
    const cJSON *list;
    const cJSON *item;

    if (!field_list(place, cluster, "extensions", &list, err))
        return false;
    cJSON_ArrayForEach (item, list) {
        const cJSON *extension = json_get(item, "extension");

        if (!extension ||
            strcmp(json_str(item, "name", ""), "client.authentication.k8s.io/exec") != 0)
            continue;
        out->exec_config = cJSON_PrintUnformatted(extension);
        if (!out->exec_config)
            memory_exhausted(0);
        return true;
    }
    return true;
}

bool kubeconfig_read_cluster(const struct field_place *place, const cJSON *cluster,
                             struct kube_config *out, struct error *err)
{
    return read_server(place, cluster, out, err) && read_trust(place, cluster, out, err) &&
           field_bool(place, cluster, "disable-compression", &out->disable_compression, err) &&
           read_exec_config(place, cluster, out, err);
}

/* ---- users ---- */

/* Providers that kubectl once had, and the plugins that replace them. */
static const struct successor {
    const char *provider;
    const char *plugin;
} successors[] = {
    {"gcp", "gke-gcloud-auth-plugin"},
    {"azure", "kubelogin"},
    {"oidc", "kubectl-oidc_login"},
};

static bool refuse_provider(const struct field_place *place, const cJSON *user, struct error *err)
{
    const cJSON *provider;
    const char *name;
    const char *plugin = "";

    if (!field_object(place, user, "auth-provider", &provider, err))
        return false;
    if (!provider)
        return true;
    if (!field_text(place, provider, "name", &name, err))
        return false;
    for (size_t i = 0; name && i < ARRAY_LEN(successors); i++) {
        if (strcmp(successors[i].provider, name) == 0)
            plugin = successors[i].plugin;
    }
    return field_fail(place, user, "auth-provider", err,
                      "the provider '%s' is gone since Kubernetes 1.26: use an exec plugin%s%s",
                      name ? shown(name).text : "", *plugin ? ", such as " : "", plugin);
}

static bool refuse_password(const struct field_place *place, const cJSON *user, struct error *err)
{
    static const char *const keys[] = {"username", "password"};
    const char *text;

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        if (!field_text(place, user, keys[i], &text, err))
            return false;
        if (text)
            return field_fail(
                place, user, keys[i], err,
                "API servers accept no user and password since Kubernetes 1.19: use a "
                "token or a client certificate");
    }
    return true;
}

static bool read_token(const struct field_place *place, const cJSON *user, struct kube_config *out,
                       struct error *err)
{
    if (!field_copy_text(place, user, "token", &out->token, err) ||
        !field_copy_path(place, user, "tokenFile", &out->token_file, err))
        return false;
    if (out->token && !secret_fits_header(out->token))
        return field_fail(place, user, "token", err,
                          "it holds control characters or is longer than %d bytes",
                          SECRET_HEADER_MAX);
    return true;
}

static bool read_certificate(const struct field_place *place, const cJSON *user,
                             struct kube_config *out, struct error *err)
{
    struct error why;

    if (!field_copy_bytes(place, user, "client-certificate", &out->certificate, err) ||
        !field_copy_bytes(place, user, "client-key", &out->key, err))
        return false;

    bool has_certificate = out->certificate.data || out->certificate.file;
    bool has_key = out->key.data || out->key.file;
    if (has_certificate != has_key)
        return field_fail(place, user, has_key ? "client-certificate" : "client-key", err,
                          "it is missing, and a client certificate needs its key");
    if (out->certificate.data && !pem_check_certificates(out->certificate.data, &why))
        return field_fail(place, user, "client-certificate-data", err, "%s", why.text);
    if (out->key.data && !pem_check_key(out->key.data, &why))
        return field_fail(place, user, "client-key-data", err, "%s", why.text);
    if (out->certificate.data && out->certificate.file)
        kube_config_note(out, "client-certificate-data is used, not client-certificate");
    if (out->key.data && out->key.file)
        kube_config_note(out, "client-key-data is used, not client-key");
    return true;
}

/* Each value of each name, one after the other. */
static bool read_extra(const struct field_place *place, const cJSON *user,
                       struct kube_impersonation *as, struct error *err)
{
    const cJSON *extra;
    const cJSON *item;

    if (!field_object(place, user, "as-user-extra", &extra, err))
        return false;
    cJSON_ArrayForEach (item, extra) {
        char **values = NULL;
        size_t count = 0;

        if (!field_copy_texts(place, extra, item->string, &values, &count, err))
            return false;
        as->extra = xreallocarray(as->extra, as->extra_count + count + 1, sizeof(*as->extra));
        for (size_t i = 0; i < count; i++)
            as->extra[as->extra_count++] = (struct kube_pair){xstrdup(item->string), values[i]};
        free(values);
        if (as->extra_count > EXTRA_MAX)
            return field_fail(place, user, "as-user-extra", err, "it has more than %d values",
                              EXTRA_MAX);
    }
    return true;
}

/* All of these become headers. */
static bool check_impersonation(const struct field_place *place, const cJSON *user,
                                const struct kube_impersonation *as, struct error *err)
{
    static const char why[] = "it is empty, too long or holds control characters";

    if (!as->user && (as->uid || as->group_count > 0 || as->extra_count > 0))
        return field_fail(place, user, "as", err,
                          "it is missing, and as-uid, as-groups and as-user-extra need it");
    if (as->user && !secret_fits_header(as->user))
        return field_fail(place, user, "as", err, "%s", why);
    if (as->uid && !secret_fits_header(as->uid))
        return field_fail(place, user, "as-uid", err, "%s", why);
    for (size_t i = 0; i < as->group_count; i++) {
        if (!secret_fits_header(as->groups[i]))
            return field_fail(place, user, "as-groups", err, "an item of %s", why);
    }
    for (size_t i = 0; i < as->extra_count; i++) {
        if (!as->extra[i].name[0] || !secret_fits_header(as->extra[i].value))
            return field_fail(place, user, "as-user-extra", err, "a name or a value of %s", why);
    }
    return true;
}

static bool check_version(const struct field_place *place, const cJSON *exec, const char *version,
                          struct error *err)
{
    static const char *const known[] = {"client.authentication.k8s.io/v1",
                                        "client.authentication.k8s.io/v1beta1"};

    for (size_t i = 0; version && i < ARRAY_LEN(known); i++) {
        if (strcmp(version, known[i]) == 0)
            return true;
    }
    return field_fail(place, exec, "apiVersion", err, "it is '%s' and must be '%s' or '%s'",
                      version ? shown(version).text : "", known[0], known[1]);
}

static bool check_interaction(const struct field_place *place, const cJSON *exec, struct error *err)
{
    static const char *const fine[] = {"Never", "IfAvailable"};
    const char *mode;

    if (!field_text(place, exec, "interactiveMode", &mode, err))
        return false;
    for (size_t i = 0; mode && i < ARRAY_LEN(fine); i++) {
        if (strcmp(mode, fine[i]) == 0)
            return true;
    }
    if (mode && strcmp(mode, "Always") == 0)
        return field_fail(place, exec, "interactiveMode", err,
                          "the plugin always asks a person, and there is nobody to ask");
    if (mode)
        return field_fail(place, exec, "interactiveMode", err,
                          "it is '%s' and must be 'Never', 'IfAvailable' or 'Always'",
                          shown(mode).text);
    return true;
}

static bool read_env(const struct field_place *place, const cJSON *exec, struct kube_exec *out,
                     struct error *err)
{
    const cJSON *list;
    const cJSON *item;

    if (!field_list(place, exec, "env", &list, err))
        return false;
    if (cJSON_GetArraySize(list) > ENV_MAX)
        return field_fail(place, exec, "env", err, "it has more than %d items", ENV_MAX);
    out->env = xcalloc((size_t)cJSON_GetArraySize(list) + 1, sizeof(*out->env));
    cJSON_ArrayForEach (item, list) {
        const char *name;
        const char *value;

        if (!field_text(place, item, "name", &name, err) ||
            !field_text(place, item, "value", &value, err))
            return false;
        if (!name || strchr(name, '='))
            return field_fail(place, item, "name", err,
                              "the name of a variable is missing or "
                              "holds a '='");
        out->env[out->env_count++] = (struct kube_pair){xstrdup(name), xstrdup(value ? value : "")};
    }
    return true;
}

/* As kubectl does, run no plugin where there are other credentials. */
static bool read_exec(const struct field_place *place, const cJSON *user, struct kube_config *out,
                      struct error *err)
{
    const cJSON *exec;
    const char *command;

    if (!field_object(place, user, "exec", &exec, err))
        return false;
    if (!exec)
        return true;
    if (out->token || out->token_file || out->certificate.data || out->certificate.file) {
        kube_config_note(out, "the token or certificate is used; the exec plugin is not run");
        return true;
    }

    struct kube_exec *plugin = out->exec = xcalloc(1, sizeof(*plugin));
    if (!field_copy_text(place, exec, "apiVersion", &plugin->api_version, err) ||
        !check_version(place, exec, plugin->api_version, err) ||
        !check_interaction(place, exec, err) || !field_text(place, exec, "command", &command, err))
        return false;
    if (!command)
        return field_fail(place, exec, "command", err, "it is missing");
    /* A name without a slash is looked up in PATH. */
    plugin->command = strchr(command, '/') ? field_resolve(place, command) : xstrdup(command);
    return field_copy_texts(place, exec, "args", &plugin->args, &plugin->arg_count, err) &&
           read_env(place, exec, plugin, err) &&
           field_copy_text(place, exec, "installHint", &plugin->install_hint, err) &&
           field_bool(place, exec, "provideClusterInfo", &plugin->provide_cluster_info, err);
}

bool kubeconfig_read_user(const struct field_place *place, const cJSON *user,
                          struct kube_config *out, struct error *err)
{
    struct kube_impersonation *as = &out->as;

    return refuse_provider(place, user, err) && refuse_password(place, user, err) &&
           read_token(place, user, out, err) && read_certificate(place, user, out, err) &&
           field_copy_text(place, user, "as", &as->user, err) &&
           field_copy_text(place, user, "as-uid", &as->uid, err) &&
           field_copy_texts(place, user, "as-groups", &as->groups, &as->group_count, err) &&
           read_extra(place, user, as, err) && check_impersonation(place, user, as, err) &&
           read_exec(place, user, out, err);
}
