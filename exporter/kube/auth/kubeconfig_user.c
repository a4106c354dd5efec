/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/kubeconfig_user.h"

#include "exporter/kube/auth/kubeconfig_exec.h"
#include "exporter/kube/auth/pem.h"
#include "exporter/kube/auth/secret.h"

enum { EXTRA_MAX = 1000 };

/* What kubectl knew once, and what does the same now. */
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
                      name ? name : "", *plugin ? ", such as " : "", plugin);
}

static bool refuse_password(const struct field_place *place, const cJSON *user, struct error *err)
{
    static const char *const keys[] = {"username", "password"};
    const char *text;

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        if (!field_text(place, user, keys[i], &text, err))
            return false;
        if (text)
            return field_fail(place, user, keys[i], err,
                              "API servers take no user and password since Kubernetes 1.19: use a "
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
        kube_config_note(out, "client-certificate-data counts, not client-certificate");
    if (out->key.data && out->key.file)
        kube_config_note(out, "client-key-data counts, not client-key");
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

/* All of them become headers. */
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

static bool read_impersonation(const struct field_place *place, const cJSON *user,
                               struct kube_impersonation *as, struct error *err)
{
    return field_copy_text(place, user, "as", &as->user, err) &&
           field_copy_text(place, user, "as-uid", &as->uid, err) &&
           field_copy_texts(place, user, "as-groups", &as->groups, &as->group_count, err) &&
           read_extra(place, user, as, err) && check_impersonation(place, user, as, err);
}

/* kubectl does not run a plugin where it has something to show already. */
static bool read_exec(const struct field_place *place, const cJSON *user, struct kube_config *out,
                      struct error *err)
{
    const cJSON *exec;

    if (!field_object(place, user, "exec", &exec, err))
        return false;
    if (!exec)
        return true;
    if (out->token || out->token_file || out->certificate.data || out->certificate.file) {
        kube_config_note(out, "the token or certificate counts, the exec plugin is not run");
        return true;
    }
    return kubeconfig_read_exec(place, exec, &out->exec, err);
}

bool kubeconfig_read_user(const struct field_place *place, const cJSON *user,
                          struct kube_config *out, struct error *err)
{
    return refuse_provider(place, user, err) && refuse_password(place, user, err) &&
           read_token(place, user, out, err) && read_certificate(place, user, out, err) &&
           read_impersonation(place, user, &out->as, err) && read_exec(place, user, out, err);
}
