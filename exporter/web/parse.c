/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/parse.h"

#include <strings.h>

#include "exporter/options/suggest.h"
#include "exporter/system/secret.h"
#include "exporter/web/values.h"
#include "exporter/yaml/yaml.h"
#include "metrics/base/shown.h"

struct web_config_reading {
    const char *path;
    struct web_config *config;
    bool placed; /* The error has a place already, that of an inner key. */
};

/* Sets the field of a key. The caller puts the place before the error. */
typedef bool read_fn(struct web_config_reading *r, const cJSON *value, void *field,
                     struct error *err);

struct key_def {
    const char *name;
    read_fn *read;
    size_t offset; /* Of its field in struct web_config. */
};

/* ---- values ---- */

static bool read_text(struct web_config_reading *r, const cJSON *value, void *field,
                      struct error *err)
{
    const char *text = value->valuestring;
    char **slot = field;

    (void)r;
    if (!text)
        return fail(err, "expected a text");
    /* The toolkit treats an empty text as if the key were not there. */
    *slot = *text != '\0' ? xstrdup(text) : NULL;
    return true;
}

static bool read_boolean(struct web_config_reading *r, const cJSON *value, void *field,
                         struct error *err)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on"};
    const char *text = value->valuestring;
    bool *slot = field;

    (void)r;
    for (size_t i = 0; text && i < ARRAY_LEN(words); i++) {
        if (strcasecmp(text, words[i]) == 0) {
            *slot = i % 2 == 1;
            return true;
        }
    }
    return fail(err, "expected true or false");
}

static bool read_client_auth(struct web_config_reading *r, const cJSON *value, void *field,
                             struct error *err)
{
    enum web_client_auth *slot = field;
    const char *text = value->valuestring;

    /* To the toolkit any that is named is a wish for TLS, NoClientCert too. */
    r->config->tls = text && *text != '\0';
    return web_client_auth_parse(text, slot, err);
}

static bool read_version(struct web_config_reading *r, const cJSON *value, void *field,
                         struct error *err)
{
    enum web_tls_version *slot = field;

    (void)r;
    return web_tls_version_parse(value->valuestring, slot, err);
}

static bool read_interval(struct web_config_reading *r, const cJSON *value, void *field,
                          struct error *err)
{
    (void)r;
    return web_interval_parse(value->valuestring, field, err);
}

static bool read_burst(struct web_config_reading *r, const cJSON *value, void *field,
                       struct error *err)
{
    (void)r;
    return web_burst_parse(value->valuestring, field, err);
}

/* Each text of a list, where one by itself would be a mistake. */
typedef bool item_fn(struct web_config *c, const char *text, struct error *err);

static bool read_list(struct web_config_reading *r, const cJSON *list, item_fn *add,
                      struct error *err)
{
    const cJSON *item;

    if (!cJSON_IsArray(list))
        return fail(err, "expected a list");
    cJSON_ArrayForEach (item, list) {
        const char *text = item->valuestring;

        if (!text || *text == '\0')
            return fail(err, "expected a list of texts");
        if (!add(r->config, text, err))
            return false;
    }
    return true;
}

static bool add_cipher(struct web_config *c, const char *text, struct error *err)
{
    unsigned at;

    if (!web_name_find(web_cipher_names, "cipher suite", text, &at, err))
        return false;
    c->ciphers |= 1U << at;
    return true;
}

static bool add_curve(struct web_config *c, const char *text, struct error *err)
{
    unsigned at;

    if (!web_name_find(web_curve_names, "curve", text, &at, err))
        return false;
    for (unsigned i = 0; i < c->curve_count; i++) {
        if (c->curves[i] == at)
            return fail(err, "'%s' is there twice", text);
    }
    c->curves[c->curve_count++] = at;
    return true;
}

static bool add_san(struct web_config *c, const char *text, struct error *err)
{
    if (c->client_san_count == WEB_SANS_MAX)
        return fail(err, "more than %d names", WEB_SANS_MAX);
    c->client_sans[c->client_san_count++] = xstrdup(text);
    return true;
}

static bool read_ciphers(struct web_config_reading *r, const cJSON *value, void *field,
                         struct error *err)
{
    (void)field;
    return read_list(r, value, add_cipher, err);
}

static bool read_curves(struct web_config_reading *r, const cJSON *value, void *field,
                        struct error *err)
{
    (void)field;
    return read_list(r, value, add_curve, err);
}

static bool read_sans(struct web_config_reading *r, const cJSON *value, void *field,
                      struct error *err)
{
    (void)field;
    return read_list(r, value, add_san, err) &&
           (r->config->client_san_count > 0 || fail(err, "an empty list would admit nobody"));
}

/* ---- mappings ---- */

/* Sets what a key and its value say. */
typedef bool member_fn(struct web_config_reading *r, const cJSON *member, const void *context,
                       struct error *err);

static bool fail_at(struct web_config_reading *r, const cJSON *node, struct error *err)
{
    bool placed = r->placed;

    r->placed = true;
    return !placed && yaml_fail(r->path, node, err);
}

/* A mapping that is null has no keys. */
static bool read_members(struct web_config_reading *r, const cJSON *mapping, member_fn *read,
                         const void *context, struct error *err)
{
    const cJSON *member;

    if (!cJSON_IsObject(mapping) && !cJSON_IsNull(mapping))
        return fail(err, "expected 'key: value' lines");
    cJSON_ArrayForEach (member, mapping) {
        if (!read(r, member, context, err))
            return fail_at(r, member, err);
    }
    return true;
}

static bool fail_unknown(const char *key, const char *(*next)(void *context), void *context,
                         struct error *err)
{
    const char *nearest = nearest_name(key, next, context);

    /* A secret may have slipped into the place of a key. */
    if (strlen(key) > SHOWN_MAX)
        return fail(err, "an unknown key");
    return nearest ? fail(err, "there is no '%s'; did you mean '%s'?", shown(key).text, nearest)
                   : fail(err, "there is no '%s'", shown(key).text);
}

/* A mapping whose keys are known; the array ends with one without a name. */
static const char *next_key(void *context)
{
    const struct key_def **def = context;

    return (*def)->name ? (*def)++->name : NULL;
}

static bool read_known(struct web_config_reading *r, const cJSON *member, const void *context,
                       struct error *err)
{
    const struct key_def *first = context, *def = first;

    while (def->name && strcmp(def->name, member->string) != 0)
        def++;
    if (!def->name)
        return fail_unknown(member->string, next_key, &first, err);
    if (cJSON_IsNull(member) || def->read(r, member, (char *)r->config + def->offset, err))
        return true;
    return !r->placed && fail_in(err, "%s", def->name);
}

#define KEY(name, read, field)                                                                     \
    {                                                                                              \
        name, read, offsetof(struct web_config, field)                                             \
    }

static const struct key_def tls_keys[] = {
    KEY("cert", read_text, cert),
    KEY("cert_file", read_text, cert_file),
    KEY("key", read_text, key),
    KEY("key_file", read_text, key_file),
    KEY("client_ca", read_text, client_ca),
    KEY("client_ca_file", read_text, client_ca_file),
    KEY("client_auth_type", read_client_auth, client_auth),
    KEY("client_allowed_sans", read_sans, client_sans),
    KEY("min_version", read_version, min_version),
    KEY("max_version", read_version, max_version),
    KEY("cipher_suites", read_ciphers, ciphers),
    KEY("curve_preferences", read_curves, curves),
    KEY("prefer_server_cipher_suites", read_boolean, prefer_server_ciphers),
    {NULL, NULL, 0},
};

static const struct key_def rate_keys[] = {
    KEY("interval", read_interval, rate_interval_ns),
    KEY("burst", read_burst, rate_burst),
    {NULL, NULL, 0},
};

static bool read_tls(struct web_config_reading *r, const cJSON *value, void *field,
                     struct error *err)
{
    struct web_config *c = r->config;

    (void)field;
    if (!read_members(r, value, read_known, tls_keys, err))
        return false;
    /* Keys that only say how are no wish for TLS, to the toolkit either. */
    c->tls = c->tls || c->cert || c->cert_file || c->key || c->key_file || c->client_ca ||
             c->client_ca_file;
    return web_tls_check(c, err);
}

static bool read_rate(struct web_config_reading *r, const cJSON *value, void *field,
                      struct error *err)
{
    (void)field;
    if (!read_members(r, value, read_known, rate_keys, err))
        return false;
    if (r->config->rate_interval_ns > 0 && r->config->rate_burst == 0)
        return fail(err, "a burst of 0 would refuse every request; set burst to 1 or more");
    return true;
}

static bool read_header(struct web_config_reading *r, const cJSON *member, const void *context,
                        struct error *err)
{
    unsigned at;

    (void)context;
    if (!web_name_find(web_header_names, "header that can be set", member->string, &at, err))
        return false;
    if (cJSON_IsNull(member))
        return true;
    return (read_text(r, member, &r->config->headers[at], err) &&
            web_header_check(at, r->config->headers[at], err)) ||
           fail_in(err, "%s", member->string);
}

static bool read_headers(struct web_config_reading *r, const cJSON *value, void *field,
                         struct error *err)
{
    (void)field;
    return read_members(r, value, read_header, NULL, err);
}

/* HTTP/2 is what libmicrohttpd does not have: whatever the file says, it is not spoken. */
static const struct key_def http_keys[] = {
    {"http2", read_boolean, offsetof(struct web_config, http2)},
    {"headers", read_headers, 0},
    {NULL, NULL, 0},
};

static bool read_http(struct web_config_reading *r, const cJSON *value, void *field,
                      struct error *err)
{
    (void)field;
    return read_members(r, value, read_known, http_keys, err);
}

static bool read_user(struct web_config_reading *r, const cJSON *member, const void *context,
                      struct error *err)
{
    const char *hash = member->valuestring;
    struct web_config *c = r->config;

    (void)context;
    if (c->user_count == WEB_USERS_MAX)
        return fail(err, "more than %d keys", WEB_USERS_MAX);
    if (strchr(member->string, ':'))
        return fail(err, "a user's name cannot have a colon, which ends it in a request");
    if (!hash || !web_hash_check(hash, err))
        return hash ? false : fail(err, "expected a bcrypt hash");
    c->users[c->user_count++] = (struct web_user){xstrdup(member->string), xstrdup(hash)};
    return true;
}

static bool read_users(struct web_config_reading *r, const cJSON *value, void *field,
                       struct error *err)
{
    (void)field;
    return read_members(r, value, read_user, NULL, err);
}

static const struct key_def root_keys[] = {
    {"tls_server_config", read_tls, 0},
    {"http_server_config", read_http, 0},
    {"basic_auth_users", read_users, 0},
    {"rate_limit", read_rate, 0},
    {NULL, NULL, 0},
};

/* ---- the file ---- */

bool web_config_parse(const char *path, const char *text, size_t len, struct web_config *out,
                      struct error *err)
{
    CLEANUP(secret_tree_cleanup) cJSON *root = NULL;
    struct web_config_reading r = {.path = path, .config = out};

    *out = (struct web_config){
        .min_version = WEB_TLS12,
        .max_version = WEB_TLS13,
        .prefer_server_ciphers = true,
        .http2 = true,
    };
    bool done =
        (len <= WEB_CONFIG_MAX || fail(err, "%s: larger than %d bytes", path, WEB_CONFIG_MAX)) &&
        yaml_read_config(path, text, len, &root, err) &&
        (!root || read_members(&r, root, read_known, root_keys, err) || fail_at(&r, root, err));

    if (!done)
        web_config_release(out);
    return done;
}
