/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/web_config.h"

#include <strings.h>

#include "exporter/options/suggest.h"
#include "exporter/system/secret.h"
#include "exporter/yaml/yaml.h"
#include "metrics/base/shown.h"

/* What crypto/tls calls secure, and a file may therefore name. */
const char *const web_cipher_names[WEB_CIPHERS + 1] = {
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    NULL,
};

const char *const web_curve_names[WEB_CURVES + 1] = {"CurveP256", "CurveP384", "CurveP521",
                                                     "X25519", NULL};

const char *const web_header_names[WEB_HEADERS + 1] = {
    "Content-Security-Policy", "Strict-Transport-Security", "X-Content-Type-Options",
    "X-Frame-Options",         "X-XSS-Protection",          NULL,
};

void web_config_wipe_secrets(struct web_config *c)
{
    for (size_t i = 0; i < c->user_count; i++) {
        free(c->users[i].name);
        secret_free(c->users[i].hash);
    }
    c->user_count = 0;
    secret_free(c->key);
    c->key = NULL;
}

void web_config_release(struct web_config *c)
{
    char **const texts[] = {&c->cert, &c->cert_file, &c->key_file, &c->client_ca,
                            &c->client_ca_file};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        secret_free(*texts[i]);
    for (size_t i = 0; i < c->client_san_count; i++)
        free(c->client_sans[i]);
    for (size_t i = 0; i < WEB_HEADERS; i++)
        free(c->headers[i]);
    web_config_wipe_secrets(c);
    *c = (struct web_config){.tls = false};
}

enum {
    HASH_LEN = 60,
    SALT_AT = 7, /* "$2b$10$" */
    COST_MIN = 4,
};

static const char *const version_names[WEB_TLS_VERSIONS + 1] = {"TLS10", "TLS11", "TLS12", "TLS13",
                                                                NULL};

/* As enum web_client_auth, and behind it an older name that is still accepted. */
static const char *const client_auth_names[] = {
    "NoClientCert",
    "RequestClientCert",
    "RequireAnyClientCert",
    "VerifyClientCertIfGiven",
    "RequireAndVerifyClientCert",
    "RequireClientCert",
    NULL,
};

static const char *next_name(void *context)
{
    const char *const **at = context;

    return **at ? *(*at)++ : NULL;
}

/* The place of a name in such a list; else an error that says what it is not, with the nearest. */
static MUST_USE bool web_name_find(const char *const *names, const char *what, const char *text,
                                   unsigned *out, struct error *err)
{
    const char *const *at = names;

    if (!text)
        return fail(err, "expected a text");
    for (unsigned i = 0; names[i]; i++) {
        if (strcmp(names[i], text) == 0) {
            *out = i;
            return true;
        }
    }
    if (strlen(text) > SHOWN_MAX)
        return fail(err, "no %s", what);
    const char *nearest = suggest_name(text, next_name, &at);

    return nearest ? fail(err, "'%s' is no %s; did you mean '%s'?", shown(text).text, what, nearest)
                   : fail(err, "'%s' is no %s", shown(text).text, what);
}

static MUST_USE bool web_client_auth_parse(const char *text, enum web_client_auth *out,
                                           struct error *err)
{
    unsigned at = 0;

    /* The toolkit treats an empty text as NoClientCert. */
    if (text && *text == '\0')
        at = WEB_CLIENT_NONE;
    else if (!web_name_find(client_auth_names, "client auth type", text, &at, err))
        return false;
    *out = at > WEB_CLIENT_REQUIRE_AND_VERIFY ? WEB_CLIENT_REQUIRE_ANY : (enum web_client_auth)at;
    return true;
}

static MUST_USE bool web_tls_version_parse(const char *text, enum web_tls_version *out,
                                           struct error *err)
{
    unsigned at;

    if (!web_name_find(version_names, "TLS version", text, &at, err))
        return false;
    *out = (enum web_tls_version)at;
    return true;
}

/* The nanoseconds of a unit at the start of the text, and its length; 0 if it is none. */
static double unit_ns(const char *text, size_t *out_len)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1},  {"us", 1e3}, {"\xC2\xB5s", 1e3}, {"ms", 1e6},
                 {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};

    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        *out_len = strlen(units[i].name);
        if (strncmp(text, units[i].name, *out_len) == 0)
            return units[i].ns;
    }
    return 0;
}

static MUST_USE bool web_interval_parse(const char *text, int64_t *out_ns, struct error *err)
{
    static const char digits[] = "0123456789";
    const double most = 1e18; /* Thirty years: no request waits for longer. */
    double sum = 0;
    const char *at = text;

    if (text && strcmp(text, "0") == 0) {
        *out_ns = 0;
        return true;
    }
    while (at && *at != '\0' && sum <= most) {
        size_t whole = strspn(at, digits);
        size_t part = at[whole] == '.' ? strspn(at + whole + 1, digits) : 0;
        size_t len = whole + part + (at[whole] == '.' ? 1 : 0), unit_len;
        double unit = unit_ns(at + len, &unit_len);

        if (whole + part == 0 || unit == 0)
            break;
        sum += strtod(at, NULL) * unit;
        at += len + unit_len;
    }
    if (!text || *text == '\0' || *at != '\0' || sum > most)
        return fail(err, "expected a duration such as 100ms, 1s or 1m30s");
    *out_ns = (int64_t)sum;
    return true;
}

/* A duration as Go writes it ("1s", "1.5s", "100ms", "1m30s", "0"), not negative. */
static MUST_USE bool web_burst_parse(const char *text, uint32_t *out, struct error *err)
{
    enum { DIGITS_MAX = 9 };

    if (!text || *text == '\0' || strlen(text) > DIGITS_MAX ||
        strspn(text, "0123456789") != strlen(text))
        return fail(err, "expected a whole number of requests");
    *out = (uint32_t)strtod(text, NULL);
    return true;
}

/* A value of the header at that place of web_header_names; NULL is none, and fine. */
static MUST_USE bool web_header_check(unsigned at, const char *value, struct error *err)
{
    const char *name = web_header_names[at];

    /* A line end would begin another header. */
    for (const char *c = value; c && *c != '\0'; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7F)
            return fail(err, "a header cannot have control characters");
    }
    if (value && strcmp(name, "X-Content-Type-Options") == 0 && strcmp(value, "nosniff") != 0)
        return fail(err, "expected nosniff");
    if (value && strcmp(name, "X-Frame-Options") == 0 && strcmp(value, "deny") != 0 &&
        strcmp(value, "sameorigin") != 0)
        return fail(err, "expected deny or sameorigin");
    return true;
}

/* $2a$, $2b$ or $2y$, a cost up to WEB_BCRYPT_COST_MAX, salt and hash. */
static MUST_USE bool web_hash_check(const char *hash, struct error *err)
{
    static const char alphabet[] =
        "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    bool shaped = strlen(hash) == HASH_LEN && hash[0] == '$' && hash[1] == '2' && hash[2] != '\0' &&
                  strchr("aby", hash[2]) && hash[3] == '$' && strspn(hash + 4, "0123456789") == 2 &&
                  hash[6] == '$' && strspn(hash + SALT_AT, alphabet) == HASH_LEN - SALT_AT;
    int cost = shaped ? (hash[4] - '0') * 10 + (hash[5] - '0') : 0;

    if (!shaped || cost < COST_MIN)
        return fail(err, "not a bcrypt hash, such as 'htpasswd -nBC 10' makes");
    if (cost > WEB_BCRYPT_COST_MAX)
        return fail(err, "a bcrypt cost of %d takes too long; %d is the most", cost,
                    WEB_BCRYPT_COST_MAX);
    return true;
}

/* Is what tls_server_config says complete, and free of contradictions? */
static MUST_USE bool web_tls_check(const struct web_config *c, struct error *err)
{
    bool has_ca = c->client_ca || c->client_ca_file;
    bool verifies = c->client_auth >= WEB_CLIENT_VERIFY_IF_GIVEN;
    bool requires =
        c->client_auth == WEB_CLIENT_REQUIRE_ANY || c->client_auth == WEB_CLIENT_REQUIRE_AND_VERIFY;

    if ((c->cert && c->cert_file) || (c->key && c->key_file) || (c->client_ca && c->client_ca_file))
        return fail(err, "give %s inline or as a file, not both",
                    c->cert && c->cert_file ? "cert"
                    : c->key && c->key_file ? "key"
                                            : "client_ca");
    if (c->tls && !c->cert && !c->cert_file)
        return fail(err, "there is neither cert nor cert_file");
    if (c->tls && !c->key && !c->key_file)
        return fail(err, "there is neither key nor key_file");
    if (has_ca && c->client_auth == WEB_CLIENT_NONE)
        return fail(err, "a client CA without client_auth_type would verify nobody");
    if (verifies && !has_ca)
        return fail(err, "client_auth_type needs client_ca or client_ca_file to verify with");
    /* Else who sends no certificate is not restricted by what names it has to have. */
    if (c->client_san_count > 0 && !requires)
        return fail(err,
                    "client_allowed_sans needs a client_auth_type that requires a certificate: "
                    "RequireAnyClientCert or RequireAndVerifyClientCert");
    if (c->min_version > c->max_version)
        return fail(err, "min_version is above max_version");
    return true;
}

/* The parts of checking a client's certificate, as bits. */
enum { ASKED = 1, REQUIRED = 2, VERIFIED = 4 };

/* Go's order of the types is not one of strength: two of them lack different parts. */
static const unsigned client_auth_parts[] = {
    [WEB_CLIENT_NONE] = 0,
    [WEB_CLIENT_REQUEST] = ASKED,
    [WEB_CLIENT_REQUIRE_ANY] = ASKED | REQUIRED,
    [WEB_CLIENT_VERIFY_IF_GIVEN] = ASKED | VERIFIED,
    [WEB_CLIENT_REQUIRE_AND_VERIFY] = ASKED | REQUIRED | VERIFIED,
};

bool web_config_check_reload(const struct web_config *old, const struct web_config *fresh,
                             struct error *err)
{
    if (fresh->tls != old->tls)
        return fail(err, "restart to switch TLS %s", old->tls ? "off" : "on");
    if (client_auth_parts[old->client_auth] & ~client_auth_parts[fresh->client_auth])
        return fail(err, "client_auth_type is weaker than the one in force; restart to ask less of "
                         "client certificates");
    if (old->client_san_count > 0 && fresh->client_san_count == 0)
        return fail(err, "client_allowed_sans is gone; restart to accept certificates of any name");
    if (fresh->min_version < old->min_version)
        return fail(err, "min_version is below the one in force; restart to accept older versions "
                         "of TLS");
    if (old->user_count > 0 && fresh->user_count == 0)
        return fail(err, "basic_auth_users has no user; restart to turn authentication off");
    return true;
}

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
    const char *nearest = suggest_name(key, next, context);

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
