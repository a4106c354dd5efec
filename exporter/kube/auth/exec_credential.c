/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/exec_credential.h"

#include "exporter/system/encoding.h"
#include "exporter/system/secret.h"
#include "metrics/base/json.h"
#include "metrics/base/timestamp.h"

void exec_credential_release(struct exec_credential *credential)
{
    secret_free(credential->token);
    secret_free(credential->certificate);
    secret_free(credential->key);
    *credential = (struct exec_credential){.token = NULL};
}

/* ,"<key>":"<text>" */
static void write_text(struct strbuf *out, const char *key, const char *text)
{
    if (!text)
        return;
    strbuf_addf(out, ",\"%s\":", key);
    json_quote(out, text);
}

static void write_cluster(const struct kube_config *config, const char *ca, struct strbuf *out)
{
    strbuf_adds(out, "\"cluster\":{\"server\":");
    json_quote(out, config->server);
    write_text(out, "tls-server-name", config->tls_server_name);
    if (config->insecure)
        strbuf_adds(out, ",\"insecure-skip-tls-verify\":true");
    if (ca) {
        strbuf_adds(out, ",\"certificate-authority-data\":\"");
        base64_encode(ca, strlen(ca), out);
        strbuf_addc(out, '"');
    }
    /* What is in the environment the plugin finds there. */
    write_text(out, "proxy-url", config->proxy_is_inherited ? NULL : config->proxy_url);
    if (config->disable_compression)
        strbuf_adds(out, ",\"disable-compression\":true");
    if (config->exec_config)
        strbuf_addf(out, ",\"config\":%s", config->exec_config);
    strbuf_adds(out, "},");
}

void exec_request_write(const struct kube_config *config, const char *ca, struct strbuf *out)
{
    strbuf_adds(out, "{\"kind\":\"ExecCredential\",\"apiVersion\":");
    json_quote(out, config->exec->api_version);
    strbuf_adds(out, ",\"spec\":{");
    if (config->exec->provide_cluster_info)
        write_cluster(config, ca, out);
    strbuf_adds(out, "\"interactive\":false}}");
}

/* NULL if it is missing, null or empty. */
static bool get_text(const cJSON *status, const char *key, const char **out, struct error *err)
{
    const cJSON *item = json_get(status, key);

    if (item && !cJSON_IsNull(item) && !cJSON_IsString(item))
        return fail(err, "its status.%s is not a text", key);
    const char *text = json_str(status, key, "");
    *out = *text ? text : NULL;
    return true;
}

static bool check(const char *token, const char *certificate, const char *key, struct error *err)
{
    if (!token && !certificate && !key)
        return fail(err, "its status has neither a token nor a client certificate");
    if (!certificate != !key)
        return fail(err, "its status has %s without %s",
                    certificate ? "clientCertificateData" : "clientKeyData",
                    certificate ? "clientKeyData" : "clientCertificateData");
    if (token && !secret_fits_header(token))
        return fail(err, "its status.token holds control characters or is longer than %d bytes",
                    SECRET_HEADER_MAX);
    if (certificate && !pem_check_certificates(certificate, err))
        return fail_in(err, "its status.clientCertificateData");
    if (key && !pem_check_key(key, err))
        return fail_in(err, "its status.clientKeyData");
    return true;
}

static bool read_status(const cJSON *status, struct exec_credential *out, struct error *err)
{
    const char *token, *certificate, *key, *expiry;
    int64_t expires_ms = INT64_MAX;

    if (!cJSON_IsObject(status))
        return fail(err, "it has no status");
    if (!get_text(status, "token", &token, err) ||
        !get_text(status, "clientCertificateData", &certificate, err) ||
        !get_text(status, "clientKeyData", &key, err) ||
        !get_text(status, "expirationTimestamp", &expiry, err))
        return false;
    if (expiry && !parse_timestamp(expiry, &expires_ms))
        return fail(err, "its status.expirationTimestamp is not a time in RFC 3339");
    if (!check(token, certificate, key, err))
        return false;
    *out = (struct exec_credential){
        .token = token ? xstrdup(token) : NULL,
        .certificate = certificate ? xstrdup(certificate) : NULL,
        .key = key ? xstrdup(key) : NULL,
        .expires_ms = expires_ms,
    };
    return true;
}

bool exec_credential_parse(const char *json, size_t len, const char *api_version,
                           struct exec_credential *out, struct error *err)
{
    struct error why;

    CLEANUP(secret_tree_cleanup) cJSON *tree = json_parse(json, len, NULL, &why);
    if (!tree)
        return fail(err, "its output is not JSON");
    if (strcmp(json_str(tree, "kind", ""), "ExecCredential") != 0)
        return fail(err, "its output is not an ExecCredential");
    if (strcmp(json_str(tree, "apiVersion", ""), api_version) != 0)
        return fail(err, "its answer is not of the apiVersion '%s' that the kubeconfig asks for",
                    api_version);
    return read_status(json_get(tree, "status"), out, err);
}
