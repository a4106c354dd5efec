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

enum { DATA_MAX_BYTES = 1024 * 1024, KEY_MAX = 64, TEXTS_MAX = 1000 };

/* What is wrong with a field: "'FILE', line 7, user 'admin': 'token': <text>". */
static bool field_fail(const struct field_place *place, const cJSON *object, const char *key,
                       struct error *err, const char *fmt, ...)
{
    struct error what;
    va_list args;

    va_start(args, fmt);
    vsnprintf(what.text, sizeof(what.text), fmt, args);
    va_end(args);

    size_t line = yaml_line(object);
    if (line == 0)
        return fail(err, "'%s', %s: '%s': %s", place->file, place->what, key, what.text);
    return fail(err, "'%s', line %zu, %s: '%s': %s", place->file, line, place->what, key,
                what.text);
}

static const char *type_name(const cJSON *item)
{
    if (cJSON_IsString(item))
        return "a text";
    if (cJSON_IsNumber(item))
        return "a number";
    if (cJSON_IsBool(item))
        return "true or false";
    return cJSON_IsArray(item) ? "a list" : "a mapping";
}

/* The field, which is no null; NULL if it is missing. */
static const cJSON *find(const cJSON *object, const char *key)
{
    const cJSON *item = json_get(object, key);

    return item && !cJSON_IsNull(item) ? item : NULL;
}

static bool refuse(const struct field_place *place, const cJSON *object, const char *key,
                   const char *wanted, struct error *err)
{
    const cJSON *item = find(object, key);
    bool quotes_help =
        (cJSON_IsNumber(item) || cJSON_IsBool(item)) && strcmp(wanted, "a text") == 0;

    return field_fail(place, object, key, err, "it is %s and must be %s%s", type_name(item), wanted,
                      quotes_help ? ": put it in quotes" : "");
}

bool field_text(const struct field_place *place, const cJSON *object, const char *key,
                const char **out, struct error *err)
{
    const cJSON *item = find(object, key);

    *out = NULL;
    if (item && !cJSON_IsString(item))
        return refuse(place, object, key, "a text", err);
    if (item && item->valuestring[0])
        *out = item->valuestring;
    return true;
}

static MUST_USE bool field_bool(const struct field_place *place, const cJSON *object,
                                const char *key, bool *out, struct error *err)
{
    const cJSON *item = find(object, key);

    if (item && !cJSON_IsBool(item))
        return refuse(place, object, key, "true or false", err);
    *out = cJSON_IsTrue(item);
    return true;
}

static MUST_USE bool field_object(const struct field_place *place, const cJSON *object,
                                  const char *key, const cJSON **out, struct error *err)
{
    const cJSON *item = find(object, key);

    *out = NULL;
    if (item && !cJSON_IsObject(item))
        return refuse(place, object, key, "a mapping", err);
    *out = item;
    return true;
}

bool field_list(const struct field_place *place, const cJSON *object, const char *key,
                const cJSON **out, struct error *err)
{
    const cJSON *list = find(object, key);
    const cJSON *item;

    *out = NULL;
    if (list && !cJSON_IsArray(list))
        return refuse(place, object, key, "a list", err);
    cJSON_ArrayForEach (item, list) {
        if (!cJSON_IsObject(item))
            return field_fail(place, object, key, err, "an item of it is %s and must be a mapping",
                              type_name(item));
    }
    *out = list;
    return true;
}

/* As field_text(), as a copy for the caller. */
static MUST_USE bool field_copy_text(const struct field_place *place, const cJSON *object,
                                     const char *key, char **out, struct error *err)
{
    const char *text = NULL;

    if (!field_text(place, object, key, &text, err))
        return false;
    *out = text ? xstrdup(text) : NULL;
    return true;
}

/* The path, resolved from the folder of its file if it is relative; for the caller. */
static MUST_USE char *field_resolve(const struct field_place *place, const char *path)
{
    char *full = NULL;

    if (path[0] == '/')
        return xstrdup(path);
    if (asprintf(&full, "%s/%s", place->folder, path) < 0)
        memory_exhausted(0);
    return full;
}

/* A path, relative ones resolved; a copy for the caller. */
static MUST_USE bool field_copy_path(const struct field_place *place, const cJSON *object,
                                     const char *key, char **out, struct error *err)
{
    const char *path = NULL;

    if (!field_text(place, object, key, &path, err))
        return false;
    *out = path ? field_resolve(place, path) : NULL;
    return true;
}

/* A list of texts; copies for the caller. */
static MUST_USE bool field_copy_texts(const struct field_place *place, const cJSON *object,
                                      const char *key, char ***out, size_t *out_count,
                                      struct error *err)
{
    const cJSON *list = find(object, key);
    const cJSON *item;
    int count = cJSON_GetArraySize(list);

    if (list && !cJSON_IsArray(list))
        return refuse(place, object, key, "a list", err);
    if (count > TEXTS_MAX)
        return field_fail(place, object, key, err, "it has more than %d items", TEXTS_MAX);
    cJSON_ArrayForEach (item, list) {
        if (!cJSON_IsString(item))
            return field_fail(place, object, key, err, "an item of it is %s and must be a text",
                              cJSON_IsNull(item) ? "null" : type_name(item));
    }

    char **texts = xcalloc((size_t)count + 1, sizeof(*texts));
    *out_count = 0;
    cJSON_ArrayForEach (item, list)
        texts[(*out_count)++] = xstrdup(item->valuestring);
    *out = texts;
    return true;
}

/* The base64 of `key`-data, which wins, and the path of `key`; `out` is to be released also after a
 * failure. */
static MUST_USE bool field_copy_bytes(const struct field_place *place, const cJSON *object,
                                      const char *key, struct rest_config_bytes *out,
                                      struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf bytes = STRBUF_SECRET(DATA_MAX_BYTES);
    char data_key[KEY_MAX];
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
        return field_fail(place, object, data_key, err, "it is not base64");
    if (!strbuf_ok(&bytes))
        return field_fail(place, object, data_key, err, "it is larger than %d bytes",
                          DATA_MAX_BYTES);
    if (bytes.len == 0 || memchr(bytes.data, '\0', bytes.len))
        return field_fail(place, object, data_key, err, "it is not PEM in base64");
    out->data = strbuf_take(&bytes, &len);
    return true;
}

enum { EXTRA_MAX = 1000, ENV_MAX = 1000 };

/* ---- clusters ---- */

/* Without TLS only a server of this machine can be believed. */
static bool check_scheme(const struct field_place *place, const cJSON *cluster,
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

static bool read_server(const struct field_place *place, const cJSON *cluster,
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
                       struct rest_config *out, struct error *err)
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
        rest_config_note(out, "certificate-authority-data is used, not certificate-authority");
    if (out->insecure)
        rest_config_note(out, "insecure-skip-tls-verify: anybody can pretend to be the server");
    return true;
}

/* Keep what the cluster has for exec plugins, under the name that Kubernetes gives to that. */
static bool read_exec_config(const struct field_place *place, const cJSON *cluster,
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

/* A cluster: where the server is, and whom to trust. */
static MUST_USE bool kubeconfig_read_cluster(const struct field_place *place, const cJSON *cluster,
                                             struct rest_config *out, struct error *err)
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

static bool read_token(const struct field_place *place, const cJSON *user, struct rest_config *out,
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
                          "it is missing, and a client certificate needs its key");
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

/* Each value of each name, one after the other. */
static bool read_extra(const struct field_place *place, const cJSON *user,
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
            return field_fail(place, user, "as-user-extra", err, "it has more than %d values",
                              EXTRA_MAX);
    }
    return true;
}

/* All of these become headers. */
static bool check_impersonation(const struct field_place *place, const cJSON *user,
                                const struct rest_config_impersonation *as, struct error *err)
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

static bool read_env(const struct field_place *place, const cJSON *exec,
                     struct rest_config_exec *out, struct error *err)
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
        out->env[out->env_count++] =
            (struct rest_config_pair){xstrdup(name), xstrdup(value ? value : "")};
    }
    return true;
}

/* As kubectl does, run no plugin where there are other credentials. */
static bool read_exec(const struct field_place *place, const cJSON *user, struct rest_config *out,
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

/* A user: its credentials, and as whom it acts. */
static MUST_USE bool kubeconfig_read_user(const struct field_place *place, const cJSON *user,
                                          struct rest_config *out, struct error *err)
{
    struct rest_config_impersonation *as = &out->as;

    return refuse_provider(place, user, err) && refuse_password(place, user, err) &&
           read_token(place, user, out, err) && read_certificate(place, user, out, err) &&
           field_copy_text(place, user, "as", &as->user, err) &&
           field_copy_text(place, user, "as-uid", &as->uid, err) &&
           field_copy_texts(place, user, "as-groups", &as->groups, &as->group_count, err) &&
           read_extra(place, user, as, err) && check_impersonation(place, user, as, err) &&
           read_exec(place, user, out, err);
}

enum {
    FILES_MAX = 64,
    FILE_MAX_BYTES = 1024 * 1024,
    NODES_MAX = 100 * 1000,
    NAMES_MAX_BYTES = 160, /* Of the contexts that an error lists. */
    FILES_MAX_BYTES = 64 * 1024,
};

struct source {
    char *file;
    char *folder; /* That relative paths in it start from. */
    cJSON *tree;  /* NULL if the file is empty. */
};

/* In the order of precedence. */
struct sources {
    struct source items[FILES_MAX];
    size_t count;
};

static void release_sources(struct sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        free(sources->items[i].file);
        free(sources->items[i].folder);
        secret_tree_cleanup(&sources->items[i].tree);
    }
}

/* The first document, as kubectl does it. NULL in `out` if there is none. */
static bool parse(const char *file, const char *text, cJSON **out, struct error *err)
{
    struct yaml_limits limits = {.nodes_max = NODES_MAX, .bytes_max = FILE_MAX_BYTES};
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
        return fail(err, "'%s' is not a kubeconfig: it is no mapping", file);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct field_place place = {.file = file, .what = "the kubeconfig"};
        const char *text;

        if (!field_text(&place, tree, texts[i].key, &text, err))
            return false;
        if (text && strcmp(text, texts[i].wanted) != 0)
            return fail(err, "'%s' is not a kubeconfig: its %s is '%s' and not '%s'", file,
                        texts[i].key, shown(text).text, texts[i].wanted);
    }
    return true;
}

static bool add_source(struct sources *sources, const char *file, struct error *err)
{
    CLEANUP(secret_cleanup) char *text = secret_file_read(file, FILE_MAX_BYTES, NULL, err);
    const char *slash = strrchr(file, '/');
    cJSON *tree;

    if (!text)
        return fail_in(err, "the kubeconfig");
    if (!parse(file, text, &tree, err))
        return false;
    if (tree && !check_kind(file, tree, err)) {
        secret_tree_cleanup(&tree);
        return false;
    }
    /* "/config" is in "/", "config" in ".". */
    sources->items[sources->count++] = (struct source){
        .file = xstrdup(file),
        .folder = slash ? xmemdup0(file, slash == file ? 1 : (size_t)(slash - file)) : xstrdup("."),
        .tree = tree,
    };
    return true;
}

/* Each of the files, which are separated by ':', as shown_path() shows it. */
static void add_files(struct strbuf *out, const char *files)
{
    for (const char *at = files; *at;) {
        size_t len = strcspn(at, ":");
        CLEANUP(free_cleanup) char *file = xmemdup0(at, len);

        strbuf_addf(out, "%s%s", len > 0 ? shown_path(file).text : "", at[len] ? ":" : "");
        at += len + (at[len] == ':');
    }
}

static bool read_sources(const char *files, struct sources *out, struct error *err)
{
    bool several = strchr(files, ':') != NULL;

    for (const char *at = files; *at;) {
        size_t len = strcspn(at, ":");
        CLEANUP(free_cleanup) char *file = xmemdup0(at, len);

        at += len + (at[len] == ':');
        if (len == 0 || (several && access(file, F_OK) != 0 && errno == ENOENT))
            continue;
        if (out->count == FILES_MAX)
            return fail(err, "there are more than %d kubeconfig files", FILES_MAX);
        if (!add_source(out, file, err))
            return false;
    }
    if (out->count > 0)
        return true;

    CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT(FILES_MAX_BYTES);

    add_files(&names, files);
    return fail(err, "there is no kubeconfig file: none of '%s' exists", names.data);
}

/* A named item of one of the lists, and what error texts about its fields need. */
struct kubeconfig_entry {
    struct field_place place;
    char what[SHOWN_BYTES + 16];
    const cJSON *body; /* NULL if it is empty. */
};

/* What one list is called, and an item of it. */
struct list_names {
    const char *list;
    const char *item;
};
static const struct list_names contexts = {"contexts", "context"};
static const struct list_names clusters = {"clusters", "cluster"};
static const struct list_names users = {"users", "user"};

enum search { SEARCH_FOUND, SEARCH_ABSENT, SEARCH_FAILED };

static enum search find_in(const struct source *source, const struct list_names *names,
                           const char *name, struct kubeconfig_entry *out, struct error *err)
{
    struct field_place place = {source->file, source->folder, names->list};
    const cJSON *list;
    const cJSON *item;
    const cJSON *found = NULL;

    if (!field_list(&place, source->tree, names->list, &list, err))
        return SEARCH_FAILED;
    cJSON_ArrayForEach (item, list) {
        const char *its_name;

        if (!field_text(&place, item, "name", &its_name, err))
            return SEARCH_FAILED;
        if (!its_name || strcmp(its_name, name) != 0)
            continue;
        if (found) {
            field_fail(&place, item, "name", err, "'%s' is there twice", shown(name).text);
            return SEARCH_FAILED;
        }
        found = item;
    }
    if (!found)
        return SEARCH_ABSENT;
    snprintf(out->what, sizeof(out->what), "%s '%s'", names->item, shown(name).text);
    out->place = (struct field_place){source->file, source->folder, out->what};
    return field_object(&out->place, found, names->item, &out->body, err) ? SEARCH_FOUND
                                                                          : SEARCH_FAILED;
}

/* Of several files, the first that has the entry counts. */
static enum search kubeconfig_find(const struct sources *sources, const struct list_names *names,
                                   const char *name, struct kubeconfig_entry *out,
                                   struct error *err)
{
    for (size_t i = 0; i < sources->count; i++) {
        enum search search = find_in(&sources->items[i], names, name, out, err);

        if (search != SEARCH_ABSENT)
            return search;
    }
    return SEARCH_ABSENT;
}

/* The error lists the contexts there are, for a person who has to name one. */
static bool refuse_context(const struct sources *sources, const char *name, struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT(NAMES_MAX_BYTES);
    const cJSON *item;

    for (size_t i = 0; i < sources->count; i++) {
        cJSON_ArrayForEach (item, json_get(sources->items[i].tree, contexts.list))
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

/* Returns the name of the context to use, borrowed; NULL with an error if it cannot be read. */
static const char *choose_context(const struct sources *sources, const char *wanted,
                                  struct error *err)
{
    const char *name = wanted && *wanted ? wanted : NULL;

    for (size_t i = 0; i < sources->count && !name; i++) {
        struct field_place place = {sources->items[i].file, "", "the kubeconfig"};

        if (!field_text(&place, sources->items[i].tree, "current-context", &name, err))
            return NULL;
    }
    if (!name)
        refuse_context(sources, NULL, err);
    return name;
}

/* The cluster or user that a context names; it may be in another file than the context. */
static bool find_named(const struct sources *sources, const struct kubeconfig_entry *context,
                       const struct list_names *names, struct kubeconfig_entry *out,
                       struct error *err)
{
    const char *name;

    if (!field_text(&context->place, context->body, names->item, &name, err))
        return false;
    if (!name)
        return field_fail(&context->place, context->body, names->item, err, "it is missing");
    switch (kubeconfig_find(sources, names, name, out, err)) {
    case SEARCH_FOUND:
        return true;
    case SEARCH_ABSENT:
        return field_fail(&context->place, context->body, names->item, err,
                          "there is no %s '%s' in the kubeconfig", names->item, shown(name).text);
    case SEARCH_FAILED:
        return false;
    }
    abort();
}

static bool read_context(const struct sources *sources, const char *name, struct rest_config *out,
                         struct error *err)
{
    struct kubeconfig_entry context = {.body = NULL};
    struct kubeconfig_entry cluster = {.body = NULL};
    struct kubeconfig_entry user = {.body = NULL};

    switch (kubeconfig_find(sources, &contexts, name, &context, err)) {
    case SEARCH_FOUND:
        break;
    case SEARCH_ABSENT:
        return refuse_context(sources, name, err);
    case SEARCH_FAILED:
        return false;
    }
    out->context = xstrdup(name);
    return field_copy_text(&context.place, context.body, "namespace", &out->ns, err) &&
           find_named(sources, &context, &clusters, &cluster, err) &&
           find_named(sources, &context, &users, &user, err) &&
           kubeconfig_read_cluster(&cluster.place, cluster.body, out, err) &&
           kubeconfig_read_user(&user.place, user.body, out, err);
}

static bool load(const struct kubeconfig_options *options, struct rest_config *out,
                 struct error *err)
{
    CLEANUP(release_sources) struct sources sources = {.count = 0};
    CLEANUP(strbuf_release) struct strbuf origin = STRBUF_INIT(FILES_MAX_BYTES);

    if (!read_sources(options->files, &sources, err))
        return false;
    const char *name = choose_context(&sources, options->context, err);
    if (!name || !read_context(&sources, name, out, err))
        return false;
    if (out->exec && options->refuse_exec)
        return fail(err,
                    "context '%s' needs the exec plugin '%s', and running programs is not "
                    "allowed here",
                    shown(name).text, shown_path(out->exec->command).text);
    strbuf_addf(&origin, "context '%s' of '", shown(name).text);
    add_files(&origin, options->files);
    strbuf_addc(&origin, '\'');
    out->origin = strbuf_take(&origin, NULL);
    return true;
}

bool kubeconfig_load(const struct kubeconfig_options *options, struct rest_config *out,
                     struct error *err)
{
    *out = (struct rest_config){.origin = NULL};

    bool loaded = load(options, out, err);
    if (!loaded)
        rest_config_release(out);
    secret_wipe_stack();
    return loaded;
}
