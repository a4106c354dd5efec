/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/kubeconfig.h"

#include <errno.h>
#include <unistd.h>

#include "exporter/kube/auth/proxy.h"
#include "exporter/system/encoding.h"
#include "exporter/system/secret.h"
#include "exporter/system/url.h"
#include "exporter/yaml/yaml.h"
#include "metrics/base/shown.h"

enum {
    KUBECONFIG_FILES_MAX = 64,
    KUBECONFIG_MAX_BYTES = 1024 * 1024,
    NODES_MAX = 100 * 1000, /* Nodes of the YAML tree of one file. */
    PEM_MAX_BYTES = 1024 * 1024,
    KEY_MAX_BYTES = 64, /* Buffer for the longest key and "-data". */
    TEXTS_MAX = 1000,   /* Items of args, of as-groups, and of one key of as-user-extra. */
    EXTRA_MAX = 1000,   /* Values of all keys of as-user-extra. */
    ENV_MAX = 1000,
    NAMES_MAX_BYTES = 160, /* Names of contexts in an error. */
    PATHS_MAX_BYTES = 64 * 1024,
};

/* ---- fields of an entry ---- */

/*
 * The readers of a field store NULL, false or an empty list if the field is missing or null. They
 * return false with an error if the field is not valid, for example of another type. The error
 * contains the file, the line, the entry and the key, but no value.
 */
struct entry_place {
    const char *file;   /* Path as the user wrote it. */
    const char *folder; /* Folder of relative paths in the entry. */
    const char *entry;  /* Kind and name of the entry: "user 'admin'". */
};

/* Sets an error such as "'FILE', line 7, user 'admin': 'token': <text>". Returns false. */
static PRINTF_LIKE(5, 6) bool field_fail(const struct entry_place *place, const cJSON *object,
                                         const char *key, struct error *err, const char *fmt, ...)
{
    struct error reason;
    va_list args;

    va_start(args, fmt);
    vsnprintf(reason.text, sizeof(reason.text), fmt, args);
    va_end(args);

    size_t line = yaml_position(object).line;
    if (line == 0)
        return fail(err, "'%s', %s: '%s': %s", place->file, place->entry, key, reason.text);
    return fail(err, "'%s', line %zu, %s: '%s': %s", place->file, line, place->entry, key,
                reason.text);
}

static const char *type_name(const cJSON *item)
{
    if (cJSON_IsString(item))
        return "a string";
    if (cJSON_IsNumber(item))
        return "a number";
    if (cJSON_IsBool(item))
        return "true or false";
    return cJSON_IsArray(item) ? "a list" : "a mapping";
}

/* Returns NULL if the field is missing or null. */
static const cJSON *get_field(const cJSON *object, const char *key)
{
    const cJSON *item = json_get(object, key);

    return item && !cJSON_IsNull(item) ? item : NULL;
}

static bool fail_type(const struct entry_place *place, const cJSON *object, const char *key,
                      const char *wanted, struct error *err)
{
    const cJSON *item = get_field(object, key);
    bool quotes_help =
        (cJSON_IsNumber(item) || cJSON_IsBool(item)) && strcmp(wanted, "a string") == 0;

    return field_fail(place, object, key, err, "is %s and must be %s%s", type_name(item), wanted,
                      quotes_help ? ": put it in quotes" : "");
}

/* Stores a borrowed text, or NULL if the text is empty or after an error. */
static MUST_USE bool field_text(const struct entry_place *place, const cJSON *object,
                                const char *key, const char **out, struct error *err)
{
    const cJSON *item = get_field(object, key);

    *out = NULL;
    if (item && !cJSON_IsString(item))
        return fail_type(place, object, key, "a string", err);
    if (item && item->valuestring[0])
        *out = item->valuestring;
    return true;
}

static MUST_USE bool field_bool(const struct entry_place *place, const cJSON *object,
                                const char *key, bool *out, struct error *err)
{
    const cJSON *item = get_field(object, key);

    if (item && !cJSON_IsBool(item))
        return fail_type(place, object, key, "true or false", err);
    *out = cJSON_IsTrue(item);
    return true;
}

/* Stores a borrowed mapping, or NULL after an error. */
static MUST_USE bool field_object(const struct entry_place *place, const cJSON *object,
                                  const char *key, const cJSON **out, struct error *err)
{
    const cJSON *item = get_field(object, key);

    *out = NULL;
    if (item && !cJSON_IsObject(item))
        return fail_type(place, object, key, "a mapping", err);
    *out = item;
    return true;
}

/* Stores a borrowed list of mappings, or NULL after an error. */
static MUST_USE bool field_list(const struct entry_place *place, const cJSON *object,
                                const char *key, const cJSON **out, struct error *err)
{
    const cJSON *list = get_field(object, key);
    const cJSON *item;

    *out = NULL;
    if (list && !cJSON_IsArray(list))
        return fail_type(place, object, key, "a list", err);
    cJSON_ArrayForEach (item, list) {
        if (!cJSON_IsObject(item))
            return field_fail(place, object, key, err, "an item is %s and must be a mapping",
                              type_name(item));
    }
    *out = list;
    return true;
}

/* Stores a copy of a text, which the caller owns. */
static MUST_USE bool field_copy_text(const struct entry_place *place, const cJSON *object,
                                     const char *key, char **out, struct error *err)
{
    const char *text = NULL;

    if (!field_text(place, object, key, &text, err))
        return false;
    *out = text ? xstrdup(text) : NULL;
    return true;
}

/* Returns the path, below the folder of its kubeconfig if it is relative. The caller owns it. */
static MUST_USE char *resolve_path(const struct entry_place *place, const char *path)
{
    char *full = NULL;

    if (path[0] == '/')
        return xstrdup(path);
    if (asprintf(&full, "%s/%s", place->folder, path) < 0)
        memory_exhausted(0);
    return full;
}

/* Stores the result of resolve_path(), which the caller owns. */
static MUST_USE bool field_copy_path(const struct entry_place *place, const cJSON *object,
                                     const char *key, char **out, struct error *err)
{
    const char *path = NULL;

    if (!field_text(place, object, key, &path, err))
        return false;
    *out = path ? resolve_path(place, path) : NULL;
    return true;
}

/* Stores copies of a list of texts. The caller owns the texts and the array. */
static MUST_USE bool field_copy_texts(const struct entry_place *place, const cJSON *object,
                                      const char *key, char ***out, size_t *out_count,
                                      struct error *err)
{
    const cJSON *list = get_field(object, key);
    const cJSON *item;
    int count = cJSON_GetArraySize(list);

    if (list && !cJSON_IsArray(list))
        return fail_type(place, object, key, "a list", err);
    if (count > TEXTS_MAX)
        return field_fail(place, object, key, err, "more than %d items", TEXTS_MAX);
    cJSON_ArrayForEach (item, list) {
        if (!cJSON_IsString(item))
            return field_fail(place, object, key, err, "an item is %s and must be a string",
                              cJSON_IsNull(item) ? "null" : type_name(item));
    }

    char **texts = xcalloc((size_t)count + 1, sizeof(*texts));
    *out_count = 0;
    cJSON_ArrayForEach (item, list)
        texts[(*out_count)++] = xstrdup(item->valuestring);
    *out = texts;
    return true;
}

/*
 * Stores the decoded base64 of the field `key`-data and the path of the field `key`, if they exist.
 * The caller owns both, also after an error.
 */
static MUST_USE bool field_copy_bytes(const struct entry_place *place, const cJSON *object,
                                      const char *key, struct rest_config_bytes *out,
                                      struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf bytes = STRBUF_SECRET(PEM_MAX_BYTES);
    char data_key[KEY_MAX_BYTES];
    const char *data = NULL;
    size_t len;

    snprintf(data_key, sizeof(data_key), "%s-data", key);
    if (!field_copy_path(place, object, key, &out->file, err) ||
        !field_text(place, object, data_key, &data, err))
        return false;
    if (!data)
        return true;
    strbuf_reserve(&bytes, strlen(data));
    if (!base64_decode(data, &bytes))
        return field_fail(place, object, data_key, err, "not base64");
    if (!strbuf_ok(&bytes))
        return field_fail(place, object, data_key, err, "larger than %d bytes", PEM_MAX_BYTES);
    if (bytes.len == 0 || memchr(bytes.data, '\0', bytes.len))
        return field_fail(place, object, data_key, err, "not PEM in base64");
    out->data = strbuf_take(&bytes, &len);
    return true;
}

/* ---- clusters ---- */

/*
 * Rejects a server without TLS, because networks are not trusted. Accepts a loopback address, and
 * notes in `out` that no credentials are sent.
 */
static bool check_tls(const struct entry_place *place, const cJSON *cluster,
                      const struct server_url *url, struct rest_config *out, struct error *err)
{
    if (url->tls)
        return true;
    if (!host_is_loopback(url->address))
        return field_fail(place, cluster, "server", err,
                          "http://%s is not encrypted: use https://, or run 'kubectl proxy' on "
                          "this machine and name http://127.0.0.1:8001",
                          shown(url->address).text);
    rest_config_note(out, "the server is reached without TLS: no credentials are sent");
    return true;
}

static bool read_server(const struct entry_place *place, const cJSON *cluster,
                        struct rest_config *out, struct error *err)
{
    struct server_url url;
    struct error why;
    const char *server;

    if (!field_text(place, cluster, "server", &server, err) ||
        !field_copy_text(place, cluster, "tls-server-name", &out->tls_server_name, err) ||
        !field_copy_text(place, cluster, "proxy-url", &out->proxy_url, err))
        return false;
    if (!server)
        return field_fail(place, cluster, "server", err, "missing");
    if (!server_url_parse(server, NULL, &url, &why))
        return field_fail(place, cluster, "server", err, "%s", why.text);
    out->server = url.base;
    url.base = NULL;
    bool fits = check_tls(place, cluster, &url, out, err);
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

static bool read_server_ca(const struct entry_place *place, const cJSON *cluster,
                           struct rest_config *out, struct error *err)
{
    struct error why;

    if (!field_bool(place, cluster, "insecure-skip-tls-verify", &out->insecure, err) ||
        !field_copy_bytes(place, cluster, "certificate-authority", &out->ca, err))
        return false;
    if (out->insecure && (out->ca.data || out->ca.file))
        return field_fail(place, cluster, "insecure-skip-tls-verify", err,
                          "true, and there is a certificate-authority: remove one of them");
    if (out->ca.data && !pem_check_certificates(out->ca.data, &why))
        return field_fail(place, cluster, "certificate-authority-data", err, "%s", why.text);
    if (out->ca.data && out->ca.file)
        rest_config_note(out, "certificate-authority-data is used, not certificate-authority");
    if (out->insecure)
        rest_config_note(out,
                         "insecure-skip-tls-verify: the identity of the server is not verified");
    return true;
}

/* Stores, as JSON, the extension client.authentication.k8s.io/exec of the cluster, if any. */
static bool read_exec_config(const struct entry_place *place, const cJSON *cluster,
                             struct rest_config *out, struct error *err)
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

static MUST_USE bool read_cluster(const struct entry_place *place, const cJSON *cluster,
                                  struct rest_config *out, struct error *err)
{
    return read_server(place, cluster, out, err) && read_server_ca(place, cluster, out, err) &&
           field_bool(place, cluster, "disable-compression", &out->disable_compression, err) &&
           read_exec_config(place, cluster, out, err);
}

/* ---- users ---- */

/* Former auth providers of kubectl and the exec plugins that replace them. */
static const struct provider_plugin {
    const char *provider;
    const char *plugin;
} provider_plugins[] = {
    {"gcp", "gke-gcloud-auth-plugin"},
    {"azure", "kubelogin"},
    {"oidc", "kubectl-oidc_login"},
};

static bool reject_auth_provider(const struct entry_place *place, const cJSON *user,
                                 struct error *err)
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
    for (size_t i = 0; name && i < ARRAY_LEN(provider_plugins); i++) {
        if (strcmp(provider_plugins[i].provider, name) == 0)
            plugin = provider_plugins[i].plugin;
    }
    return field_fail(place, user, "auth-provider", err,
                      "the provider '%s' was removed in Kubernetes 1.26: use an exec plugin%s%s",
                      name ? shown(name).text : "", *plugin ? ", such as " : "", plugin);
}

static bool reject_password(const struct entry_place *place, const cJSON *user, struct error *err)
{
    static const char *const keys[] = {"username", "password"};
    const char *text;

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        if (!field_text(place, user, keys[i], &text, err))
            return false;
        if (text)
            return field_fail(place, user, keys[i], err,
                              "API servers have not accepted a user and password since Kubernetes "
                              "1.19: use a token or a client certificate");
    }
    return true;
}

static bool read_user_token(const struct entry_place *place, const cJSON *user,
                            struct rest_config *out, struct error *err)
{
    if (!field_copy_text(place, user, "token", &out->token, err) ||
        !field_copy_path(place, user, "tokenFile", &out->token_file, err))
        return false;
    if (out->token && !secret_fits_header(out->token))
        return field_fail(place, user, "token", err,
                          "holds control characters or is longer than %d bytes", SECRET_HEADER_MAX);
    return true;
}

static bool read_client_certificate(const struct entry_place *place, const cJSON *user,
                                    struct rest_config *out, struct error *err)
{
    struct error why;

    if (!field_copy_bytes(place, user, "client-certificate", &out->certificate, err) ||
        !field_copy_bytes(place, user, "client-key", &out->key, err))
        return false;

    bool has_certificate = out->certificate.data || out->certificate.file;
    bool has_key = out->key.data || out->key.file;
    if (has_certificate != has_key)
        return field_fail(place, user, has_key ? "client-certificate" : "client-key", err,
                          "missing, and a client certificate needs its key");
    if (out->certificate.data && !pem_check_certificates(out->certificate.data, &why))
        return field_fail(place, user, "client-certificate-data", err, "%s", why.text);
    if (out->key.data && !pem_check_key(out->key.data, &why))
        return field_fail(place, user, "client-key-data", err, "%s", why.text);
    if (out->certificate.data && out->certificate.file)
        rest_config_note(out, "client-certificate-data is used, not client-certificate");
    if (out->key.data && out->key.file)
        rest_config_note(out, "client-key-data is used, not client-key");
    return true;
}

/* Stores a pair of name and value for each value of each key of as-user-extra. */
static bool read_impersonation_extra(const struct entry_place *place, const cJSON *user,
                                     struct rest_config_impersonation *as, struct error *err)
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
            as->extra[as->extra_count++] =
                (struct rest_config_pair){xstrdup(item->string), values[i]};
        free(values);
        if (as->extra_count > EXTRA_MAX)
            return field_fail(place, user, "as-user-extra", err, "more than %d values", EXTRA_MAX);
    }
    return true;
}

/* Checks the texts that become HTTP headers. Requests escape the names of as-user-extra. */
static bool check_impersonation(const struct entry_place *place, const cJSON *user,
                                const struct rest_config_impersonation *as, struct error *err)
{
    static const char why[] = "empty, too long or holds control characters";

    if (!as->user && (as->uid || as->group_count > 0 || as->extra_count > 0))
        return field_fail(place, user, "as", err,
                          "missing, and as-uid, as-groups and as-user-extra need it");
    if (as->user && !secret_fits_header(as->user))
        return field_fail(place, user, "as", err, "%s", why);
    if (as->uid && !secret_fits_header(as->uid))
        return field_fail(place, user, "as-uid", err, "%s", why);
    for (size_t i = 0; i < as->group_count; i++) {
        if (!secret_fits_header(as->groups[i]))
            return field_fail(place, user, "as-groups", err, "an item is %s", why);
    }
    for (size_t i = 0; i < as->extra_count; i++) {
        const char *name = as->extra[i].name;

        if (!name[0] || strlen(name) > SECRET_HEADER_MAX || !secret_fits_header(as->extra[i].value))
            return field_fail(place, user, "as-user-extra", err, "a name or a value of %s", why);
    }
    return true;
}

static bool check_exec_version(const struct entry_place *place, const cJSON *exec,
                               const char *version, struct error *err)
{
    static const char *const known[] = {"client.authentication.k8s.io/v1",
                                        "client.authentication.k8s.io/v1beta1"};

    for (size_t i = 0; version && i < ARRAY_LEN(known); i++) {
        if (strcmp(version, known[i]) == 0)
            return true;
    }
    return field_fail(place, exec, "apiVersion", err, "is '%s' and must be '%s' or '%s'",
                      version ? shown(version).text : "", known[0], known[1]);
}

static bool check_exec_mode(const struct entry_place *place, const cJSON *exec, struct error *err)
{
    static const char *const accepted[] = {"Never", "IfAvailable"};
    const char *mode;

    if (!field_text(place, exec, "interactiveMode", &mode, err))
        return false;
    for (size_t i = 0; mode && i < ARRAY_LEN(accepted); i++) {
        if (strcmp(mode, accepted[i]) == 0)
            return true;
    }
    if (mode && strcmp(mode, "Always") == 0)
        return field_fail(
            place, exec, "interactiveMode", err,
            "the plugin needs interactive input, and the exporter cannot ask for input");
    if (mode)
        return field_fail(place, exec, "interactiveMode", err,
                          "is '%s' and must be 'Never', 'IfAvailable' or 'Always'",
                          shown(mode).text);
    return true;
}

static bool read_exec_env(const struct entry_place *place, const cJSON *exec,
                          struct rest_config_exec *out, struct error *err)
{
    const cJSON *list;
    const cJSON *item;

    if (!field_list(place, exec, "env", &list, err))
        return false;
    if (cJSON_GetArraySize(list) > ENV_MAX)
        return field_fail(place, exec, "env", err, "more than %d items", ENV_MAX);
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
        out->env[out->env_count++] =
            (struct rest_config_pair){xstrdup(name), xstrdup(value ? value : "")};
    }
    return true;
}

/* Reads the exec plugin. A token or a client certificate takes precedence over the plugin. */
static bool read_exec(const struct entry_place *place, const cJSON *user, struct rest_config *out,
                      struct error *err)
{
    const cJSON *exec;
    const char *command;

    if (!field_object(place, user, "exec", &exec, err))
        return false;
    if (!exec)
        return true;
    if (out->token || out->token_file || out->certificate.data || out->certificate.file) {
        rest_config_note(out, "the token or certificate is used; the exec plugin is not run");
        return true;
    }

    struct rest_config_exec *plugin = out->exec = xcalloc(1, sizeof(*plugin));
    if (!field_copy_text(place, exec, "apiVersion", &plugin->api_version, err) ||
        !check_exec_version(place, exec, plugin->api_version, err) ||
        !check_exec_mode(place, exec, err) || !field_text(place, exec, "command", &command, err))
        return false;
    if (!command)
        return field_fail(place, exec, "command", err, "missing");
    /* posix_spawnp() searches PATH for a name without a slash. */
    plugin->command = strchr(command, '/') ? resolve_path(place, command) : xstrdup(command);
    return field_copy_texts(place, exec, "args", &plugin->args, &plugin->arg_count, err) &&
           read_exec_env(place, exec, plugin, err) &&
           field_copy_text(place, exec, "installHint", &plugin->install_hint, err) &&
           field_bool(place, exec, "provideClusterInfo", &plugin->provide_cluster_info, err);
}

static MUST_USE bool read_user(const struct entry_place *place, const cJSON *user,
                               struct rest_config *out, struct error *err)
{
    struct rest_config_impersonation *as = &out->as;

    return reject_auth_provider(place, user, err) && reject_password(place, user, err) &&
           read_user_token(place, user, out, err) &&
           read_client_certificate(place, user, out, err) &&
           field_copy_text(place, user, "as", &as->user, err) &&
           field_copy_text(place, user, "as-uid", &as->uid, err) &&
           field_copy_texts(place, user, "as-groups", &as->groups, &as->group_count, err) &&
           read_impersonation_extra(place, user, as, err) &&
           check_impersonation(place, user, as, err) && read_exec(place, user, out, err);
}

/* ---- files ---- */

struct kubeconfig_file {
    char *path;
    char *folder; /* Folder of relative paths in the file. */
    cJSON *tree;  /* First YAML document; NULL if the file is empty. */
};

/* Files in the order of precedence. */
struct kubeconfig_files {
    struct kubeconfig_file items[KUBECONFIG_FILES_MAX];
    size_t count;
};

static void release_files(struct kubeconfig_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        free(files->items[i].path);
        free(files->items[i].folder);
        secret_json_cleanup(&files->items[i].tree);
    }
}

/* Stores the first document, like kubectl; NULL if the text is empty. The caller owns the tree. */
static bool parse_first_document(const char *file, const char *text, cJSON **out, struct error *err)
{
    struct yaml_limits limits = {.nodes_max = NODES_MAX, .bytes_max = KUBECONFIG_MAX_BYTES};
    struct yaml_text source = {text, strlen(text)};
    struct json_position where;

    CLEANUP(yaml_reader_cleanup)
    struct yaml_reader *reader = yaml_reader_new(yaml_read_text, &source, limits);
    switch (yaml_reader_next(reader, out, &where, err)) {
    case YAML_READ_DOCUMENT:
    case YAML_READ_ITEM:
        return true;
    case YAML_READ_END:
        *out = NULL;
        return true;
    case YAML_READ_MALFORMED:
        return fail_in(err, "the kubeconfig '%s', line %zu, column %zu", file, where.line,
                       where.column);
    }
    abort();
}

static bool check_kind(const char *file, const cJSON *tree, struct error *err)
{
    static const struct {
        const char *key;
        const char *wanted;
    } texts[] = {{"kind", "Config"}, {"apiVersion", "v1"}};

    if (!cJSON_IsObject(tree))
        return fail(err, "'%s' is not a kubeconfig: not a mapping", file);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct entry_place place = {.file = file, .entry = "the kubeconfig"};
        const char *text;

        if (!field_text(&place, tree, texts[i].key, &text, err))
            return false;
        if (text && strcmp(text, texts[i].wanted) != 0)
            return fail(err, "'%s' is not a kubeconfig: its %s is '%s' and not '%s'", file,
                        texts[i].key, shown(text).text, texts[i].wanted);
    }
    return true;
}

static bool add_file(struct kubeconfig_files *files, const char *file, struct error *err)
{
    CLEANUP(secret_cleanup) char *text = secret_file_read(file, KUBECONFIG_MAX_BYTES, NULL, err);
    const char *slash = strrchr(file, '/');
    cJSON *tree;

    if (!text)
        return fail_in(err, "the kubeconfig");
    if (!parse_first_document(file, text, &tree, err))
        return false;
    if (tree && !check_kind(file, tree, err)) {
        secret_json_cleanup(&tree);
        return false;
    }
    /* The folder of "/config" is "/", the folder of "config" is ".". */
    files->items[files->count++] = (struct kubeconfig_file){
        .path = xstrdup(file),
        .folder = slash ? xmemdup0(file, slash == file ? 1 : (size_t)(slash - file)) : xstrdup("."),
        .tree = tree,
    };
    return true;
}

/* Appends a list of paths that ':' separates. shown_path() replaces unsafe characters. */
static void append_paths(struct strbuf *out, const char *files)
{
    for (const char *at = files; *at;) {
        size_t len = strcspn(at, ":");
        CLEANUP(free_cleanup) char *file = xmemdup0(at, len);

        strbuf_addf(out, "%s%s", len > 0 ? shown_path(file).text : "", at[len] ? ":" : "");
        at += len + (at[len] == ':');
    }
}

static bool read_files(const char *files, struct kubeconfig_files *out, struct error *err)
{
    bool several = strchr(files, ':') != NULL;

    for (const char *at = files; *at;) {
        size_t len = strcspn(at, ":");
        CLEANUP(free_cleanup) char *file = xmemdup0(at, len);

        at += len + (at[len] == ':');
        if (len == 0 || (several && access(file, F_OK) != 0 && errno == ENOENT))
            continue;
        if (out->count == KUBECONFIG_FILES_MAX)
            return fail(err, "there are more than %d kubeconfig files", KUBECONFIG_FILES_MAX);
        if (!add_file(out, file, err))
            return false;
    }
    if (out->count > 0)
        return true;

    CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT(PATHS_MAX_BYTES);

    append_paths(&names, files);
    return fail(err, "no kubeconfig file exists at '%s'", names.data);
}

/* ---- clusters, users and contexts by name ---- */

/* Borrowed from a file. place.entry points to `label`, so an entry cannot be copied. */
struct kubeconfig_entry {
    struct entry_place place;
    char label[SHOWN_BYTES + 16];
    const cJSON *body; /* Mapping with the fields of the entry; NULL if this mapping is missing. */
};

/* Key of a list of entries, and key of the body in each of them. */
struct kubeconfig_list {
    const char *key;
    const char *body_key;
};
static const struct kubeconfig_list contexts = {"contexts", "context"};
static const struct kubeconfig_list clusters = {"clusters", "cluster"};
static const struct kubeconfig_list users = {"users", "user"};

enum search_result { SEARCH_FOUND, SEARCH_ABSENT, SEARCH_FAILED };

static enum search_result find_entry_in_file(const struct kubeconfig_file *file,
                                             const struct kubeconfig_list *list, const char *name,
                                             struct kubeconfig_entry *out, struct error *err)
{
    struct entry_place place = {file->path, file->folder, list->key};
    const cJSON *items;
    const cJSON *item;
    const cJSON *found = NULL;

    if (!field_list(&place, file->tree, list->key, &items, err))
        return SEARCH_FAILED;
    cJSON_ArrayForEach (item, items) {
        const char *item_name;

        if (!field_text(&place, item, "name", &item_name, err))
            return SEARCH_FAILED;
        if (!item_name || strcmp(item_name, name) != 0)
            continue;
        if (found) {
            field_fail(&place, item, "name", err, "'%s' appears twice", shown(name).text);
            return SEARCH_FAILED;
        }
        found = item;
    }
    if (!found)
        return SEARCH_ABSENT;
    snprintf(out->label, sizeof(out->label), "%s '%s'", list->body_key, shown(name).text);
    out->place = (struct entry_place){file->path, file->folder, out->label};
    return field_object(&out->place, found, list->body_key, &out->body, err) ? SEARCH_FOUND
                                                                             : SEARCH_FAILED;
}

/* Stores the entry `name` of the first file that has such an entry in the list. */
static enum search_result find_entry(const struct kubeconfig_files *files,
                                     const struct kubeconfig_list *list, const char *name,
                                     struct kubeconfig_entry *out, struct error *err)
{
    for (size_t i = 0; i < files->count; i++) {
        enum search_result search = find_entry_in_file(&files->items[i], list, name, out, err);

        if (search != SEARCH_ABSENT)
            return search;
    }
    return SEARCH_ABSENT;
}

/*
 * Sets an error for a context that no file has, or a missing current-context if `name` is NULL. The
 * error lists the existing contexts, as far as NAMES_MAX_BYTES allows. Returns false.
 */
static bool fail_no_context(const struct kubeconfig_files *files, const char *name,
                            struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT(NAMES_MAX_BYTES);
    const cJSON *item;

    for (size_t i = 0; i < files->count; i++) {
        cJSON_ArrayForEach (item, json_get(files->items[i].tree, contexts.key))
            strbuf_addf(&names, "%s'%s'", names.len > 0 ? ", " : "",
                        shown(json_str(item, "name", "")).text);
    }

    const char *list = names.len > 0 ? names.data : "none";
    const char *more = strbuf_ok(&names) ? "" : " and more";
    if (name)
        return fail(err, "the kubeconfig has no context '%s' (there are: %s%s)", shown(name).text,
                    list, more);
    return fail(err,
                "the kubeconfig has no current-context: name one with --context (there are: "
                "%s%s)",
                list, more);
}

/* Returns the borrowed name of the context to use; NULL with an error if not set or invalid. */
static const char *choose_context(const struct kubeconfig_files *files, const char *wanted,
                                  struct error *err)
{
    const char *name = wanted && *wanted ? wanted : NULL;

    for (size_t i = 0; i < files->count && !name; i++) {
        struct entry_place place = {files->items[i].path, "", "the kubeconfig"};

        if (!field_text(&place, files->items[i].tree, "current-context", &name, err))
            return NULL;
    }
    if (!name)
        fail_no_context(files, NULL, err);
    return name;
}

/*
 * Stores the cluster or the user of a context. Searches all files, because the entry may be in
 * another file than the context. Returns false with an error if there is no usable entry.
 */
static bool find_referenced_entry(const struct kubeconfig_files *files,
                                  const struct kubeconfig_entry *context,
                                  const struct kubeconfig_list *list, struct kubeconfig_entry *out,
                                  struct error *err)
{
    const char *name;

    if (!field_text(&context->place, context->body, list->body_key, &name, err))
        return false;
    if (!name)
        return field_fail(&context->place, context->body, list->body_key, err, "missing");
    switch (find_entry(files, list, name, out, err)) {
    case SEARCH_FOUND:
        return true;
    case SEARCH_ABSENT:
        return field_fail(&context->place, context->body, list->body_key, err,
                          "there is no %s '%s' in the kubeconfig", list->body_key,
                          shown(name).text);
    case SEARCH_FAILED:
        return false;
    }
    abort();
}

static bool read_context(const struct kubeconfig_files *files, const char *name,
                         struct rest_config *out, struct error *err)
{
    struct kubeconfig_entry context = {.body = NULL};
    struct kubeconfig_entry cluster = {.body = NULL};
    struct kubeconfig_entry user = {.body = NULL};

    switch (find_entry(files, &contexts, name, &context, err)) {
    case SEARCH_FOUND:
        break;
    case SEARCH_ABSENT:
        return fail_no_context(files, name, err);
    case SEARCH_FAILED:
        return false;
    }
    out->context = xstrdup(name);
    return field_copy_text(&context.place, context.body, "namespace", &out->ns, err) &&
           find_referenced_entry(files, &context, &clusters, &cluster, err) &&
           find_referenced_entry(files, &context, &users, &user, err) &&
           read_cluster(&cluster.place, cluster.body, out, err) &&
           read_user(&user.place, user.body, out, err);
}

static bool load_context(const struct kubeconfig_options *options, struct rest_config *out,
                         struct error *err)
{
    CLEANUP(release_files) struct kubeconfig_files files = {.count = 0};
    CLEANUP(strbuf_release) struct strbuf origin = STRBUF_INIT(PATHS_MAX_BYTES);

    if (!read_files(options->files, &files, err))
        return false;
    const char *name = choose_context(&files, options->context, err);
    if (!name || !read_context(&files, name, out, err))
        return false;
    if (out->exec && options->refuse_exec)
        return fail(err,
                    "context '%s' needs the exec plugin '%s', and running programs is not "
                    "allowed here",
                    shown(name).text, shown_path(out->exec->command).text);
    strbuf_addf(&origin, "context '%s' of '", shown(name).text);
    append_paths(&origin, options->files);
    strbuf_addc(&origin, '\'');
    out->origin = strbuf_take(&origin, NULL);
    return true;
}

bool kubeconfig_load(const struct kubeconfig_options *options, struct rest_config *out,
                     struct error *err)
{
    *out = (struct rest_config){.origin = NULL};

    bool loaded = load_context(options, out, err);
    if (!loaded)
        rest_config_release(out);
    secret_wipe_stack();
    return loaded;
}
