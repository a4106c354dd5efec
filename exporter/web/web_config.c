/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/web_config.h"

#include <strings.h>

#include "exporter/system/secret.h"
#include "exporter/yaml/yaml.h"
#include "metrics/base/shown.h"
#include "metrics/base/suggest.h"

/* The suites of tls.CipherSuites() in Go: those that Go does not call insecure. */
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
    SALT_AT = 7, /* Offset behind "$2b$10$". */
    COST_MIN = 4,
};

static const char *const version_names[WEB_TLS_VERSIONS + 1] = {"TLS10", "TLS11", "TLS12", "TLS13",
                                                                NULL};

/* In the order of enum web_client_auth; the last name is an older alias of RequireAnyClientCert. */
static const char *const client_auth_names[] = {
    "NoClientCert",
    "RequestClientCert",
    "RequireAnyClientCert",
    "VerifyClientCertIfGiven",
    "RequireAndVerifyClientCert",
    "RequireClientCert",
    NULL,
};

/* ---- fields of the configuration ---- */

struct config_reader {
    const char *path;
    struct web_config *config;
    bool has_position; /* The error already begins with the position of an inner key. */
};

struct config_field;

/* Reads a value. Returns false with the reason, to which the caller adds the field and position. */
typedef bool read_fn(struct config_reader *r, const cJSON *value, const struct config_field *field,
                     struct error *err);

enum section { ROOT, TLS, HTTP, RATE };

/* Key of the file with the description of its value. Unused columns are zero. */
struct config_field {
    enum section section; /* Mapping that contains the key. */
    const char *name;
    read_fn *read;
    size_t offset;        /* Target member of struct web_config. */
    read_fn *read_member; /* Reads a member of this mapping. */
    enum section members; /* Section of these members, for read_known(). */
    bool (*check)(struct web_config *c, struct error *err); /* Checks the mapping; or NULL. */
    bool (*add)(struct web_config *c, const char *text, const struct config_field *field,
                struct error *err); /* Adds an item of this list. */
    const char *const *names;       /* Allowed values; ended by NULL. */
    const char *kind;               /* Kind of the names, for errors. */
};

static void *field_target(const struct config_reader *r, const struct config_field *field)
{
    return (char *)r->config + field->offset;
}

/* ---- values ---- */

static const char *next_name(void *context)
{
    const char *const **at = context;

    return **at ? *(*at)++ : NULL;
}

/* Finds the index of the text in `names`. Returns false with the nearest name in the error. */
static bool find_name(const char *const *names, const char *kind, const char *text, unsigned *out,
                      struct error *err)
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
        return fail(err, "no %s", kind);
    const char *nearest = suggest_name(text, next_name, &at);

    return nearest ? fail(err, "'%s' is no %s; did you mean '%s'?", shown(text).text, kind, nearest)
                   : fail(err, "'%s' is no %s", shown(text).text, kind);
}

static bool read_name(struct config_reader *r, const cJSON *value, const struct config_field *field,
                      struct error *err)
{
    return find_name(field->names, field->kind, value->valuestring, field_target(r, field), err);
}

static bool copy_text(const cJSON *value, char **out, struct error *err)
{
    const char *text = value->valuestring;

    if (!text)
        return fail(err, "expected a text");
    /* The exporter toolkit treats an empty text as if the key were not there. */
    *out = *text != '\0' ? xstrdup(text) : NULL;
    return true;
}

static bool read_text(struct config_reader *r, const cJSON *value, const struct config_field *field,
                      struct error *err)
{
    return copy_text(value, field_target(r, field), err);
}

static bool read_boolean(struct config_reader *r, const cJSON *value,
                         const struct config_field *field, struct error *err)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on"};
    const char *text = value->valuestring;
    bool *out = field_target(r, field);

    for (size_t i = 0; text && i < ARRAY_LEN(words); i++) {
        if (strcasecmp(text, words[i]) == 0) {
            *out = i % 2 == 1;
            return true;
        }
    }
    return fail(err, "expected true or false");
}

static bool read_client_auth(struct config_reader *r, const cJSON *value,
                             const struct config_field *field, struct error *err)
{
    const char *text = value->valuestring;
    bool is_set = text && *text != '\0';
    unsigned at = WEB_CLIENT_NONE; /* Also for an empty text, like the exporter toolkit. */

    /* In the exporter toolkit any type, even NoClientCert, enables TLS. */
    r->config->tls = is_set;
    if ((!text || is_set) && !find_name(field->names, field->kind, text, &at, err))
        return false;
    r->config->client_auth =
        /* The last name is an alias. */
        at > WEB_CLIENT_REQUIRE_AND_VERIFY ? WEB_CLIENT_REQUIRE_ANY : (enum web_client_auth)at;
    return true;
}

/* Returns the nanoseconds of the unit at the start of the text, and its length; 0 if unknown. */
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

/* Reads a duration in Go's syntax ("1s", "1.5s", "100ms", "1m30s", "0") that is not negative. */
static bool read_interval(struct config_reader *r, const cJSON *value,
                          const struct config_field *field, struct error *err)
{
    static const char digits[] = "0123456789";
    const double sum_max = 1e18; /* About 30 years. */
    const char *text = value->valuestring, *at = text;
    int64_t *out_ns = field_target(r, field);
    double sum = 0;

    if (text && strcmp(text, "0") == 0) {
        *out_ns = 0;
        return true;
    }
    while (at && *at != '\0' && sum <= sum_max) {
        size_t whole = strspn(at, digits);
        size_t part = at[whole] == '.' ? strspn(at + whole + 1, digits) : 0;
        size_t len = whole + part + (at[whole] == '.' ? 1 : 0), unit_len;
        double unit = unit_ns(at + len, &unit_len);

        if (whole + part == 0 || unit == 0)
            break;
        sum += strtod(at, NULL) * unit;
        at += len + unit_len;
    }
    if (!text || *text == '\0' || *at != '\0' || sum > sum_max)
        return fail(err, "expected a duration such as 100ms, 1s or 1m30s");
    *out_ns = (int64_t)sum;
    return true;
}

static bool read_burst(struct config_reader *r, const cJSON *value,
                       const struct config_field *field, struct error *err)
{
    enum { DIGITS_MAX = 9 };
    const char *text = value->valuestring;
    uint32_t *out = field_target(r, field);

    if (!text || *text == '\0' || strlen(text) > DIGITS_MAX ||
        strspn(text, "0123456789") != strlen(text))
        return fail(err, "expected a whole number of requests");
    *out = (uint32_t)strtod(text, NULL);
    return true;
}

/* ---- lists ---- */

static bool read_list(struct config_reader *r, const cJSON *list, const struct config_field *field,
                      struct error *err)
{
    const cJSON *item;

    if (!cJSON_IsArray(list))
        return fail(err, "expected a list");
    cJSON_ArrayForEach (item, list) {
        const char *text = item->valuestring;

        if (!text || *text == '\0')
            return fail(err, "expected a list of strings");
        if (!field->add(r->config, text, field, err))
            return false;
    }
    return true;
}

static bool add_cipher(struct web_config *c, const char *text, const struct config_field *field,
                       struct error *err)
{
    unsigned at;

    if (!find_name(field->names, field->kind, text, &at, err))
        return false;
    c->ciphers |= 1U << at;
    return true;
}

static bool add_curve(struct web_config *c, const char *text, const struct config_field *field,
                      struct error *err)
{
    unsigned at;

    if (!find_name(field->names, field->kind, text, &at, err))
        return false;
    for (unsigned i = 0; i < c->curve_count; i++) {
        if (c->curves[i] == at)
            return fail(err, "'%s' is set twice", text);
    }
    c->curves[c->curve_count++] = at;
    return true;
}

static bool add_san(struct web_config *c, const char *text, const struct config_field *field,
                    struct error *err)
{
    (void)field;
    if (c->client_san_count == WEB_SANS_MAX)
        return fail(err, "more than %d names", WEB_SANS_MAX);
    c->client_sans[c->client_san_count++] = xstrdup(text);
    return true;
}

static bool read_sans(struct config_reader *r, const cJSON *value, const struct config_field *field,
                      struct error *err)
{
    return read_list(r, value, field, err) &&
           (r->config->client_san_count > 0 ||
            fail(err, "an empty list would reject every client"));
}

/* ---- mappings ---- */

/* Adds the position of the node to the error, unless the error has one. Returns false. */
static bool fail_at(struct config_reader *r, const cJSON *node, struct error *err)
{
    bool has_position = r->has_position;

    r->has_position = true;
    return !has_position && yaml_fail(r->path, node, err);
}

/* A null mapping has no members. */
static bool read_mapping(struct config_reader *r, const cJSON *mapping,
                         const struct config_field *field, struct error *err)
{
    const cJSON *member;

    if (!cJSON_IsObject(mapping) && !cJSON_IsNull(mapping))
        return fail(err, "expected 'key: value' lines");
    cJSON_ArrayForEach (member, mapping) {
        if (!field->read_member(r, member, field, err))
            return fail_at(r, member, err);
    }
    return !field->check || field->check(r->config, err);
}

static bool check_header(const char *name, const char *value, struct error *err)
{
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

static bool read_header(struct config_reader *r, const cJSON *member,
                        const struct config_field *headers, struct error *err)
{
    const char *name = member->string;
    unsigned at;

    if (!find_name(headers->names, headers->kind, name, &at, err))
        return false;
    if (cJSON_IsNull(member))
        return true;
    return (copy_text(member, &r->config->headers[at], err) &&
            check_header(name, r->config->headers[at], err)) ||
           fail_in(err, "%s", name);
}

/* Accepts $2a$, $2b$ and $2y$ with a cost of COST_MIN to WEB_BCRYPT_COST_MAX, salt and hash. */
static bool check_hash(const char *hash, struct error *err)
{
    static const char alphabet[] =
        "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    bool shaped = strlen(hash) == HASH_LEN && hash[0] == '$' && hash[1] == '2' && hash[2] != '\0' &&
                  strchr("aby", hash[2]) && hash[3] == '$' && strspn(hash + 4, "0123456789") == 2 &&
                  hash[6] == '$' && strspn(hash + SALT_AT, alphabet) == HASH_LEN - SALT_AT;
    int cost = shaped ? (hash[4] - '0') * 10 + (hash[5] - '0') : 0;

    if (!shaped || cost < COST_MIN)
        return fail(err, "not a bcrypt hash, as generated by 'htpasswd -nBC 10'");
    if (cost > WEB_BCRYPT_COST_MAX)
        return fail(err, "a bcrypt cost of %d takes too long; %d is the most", cost,
                    WEB_BCRYPT_COST_MAX);
    return true;
}

static bool read_user(struct config_reader *r, const cJSON *member,
                      const struct config_field *users, struct error *err)
{
    const char *hash = member->valuestring;
    struct web_config *c = r->config;

    (void)users;
    if (c->user_count == WEB_USERS_MAX)
        return fail(err, "more than %d keys", WEB_USERS_MAX);
    if (strchr(member->string, ':'))
        return fail(
            err,
            "a user name must not contain ':', which separates user and password in a request");
    if (!hash || !check_hash(hash, err))
        return hash ? false : fail(err, "expected a bcrypt hash");
    c->users[c->user_count++] = (struct web_user){xstrdup(member->string), xstrdup(hash)};
    return true;
}

/* Sets `tls`, and checks that tls_server_config is complete and without contradictions. */
static bool check_tls(struct web_config *c, struct error *err)
{
    bool has_ca = c->client_ca || c->client_ca_file;
    bool verifies = c->client_auth >= WEB_CLIENT_VERIFY_IF_GIVEN;
    bool requires =
        c->client_auth == WEB_CLIENT_REQUIRE_ANY || c->client_auth == WEB_CLIENT_REQUIRE_AND_VERIFY;

    /* Keys such as min_version alone do not enable TLS, as in the exporter toolkit. */
    c->tls = c->tls || c->cert || c->cert_file || c->key || c->key_file || has_ca;
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
        return fail(err, "a client CA without client_auth_type would not verify clients");
    if (verifies && !has_ca)
        return fail(err, "client_auth_type needs client_ca or client_ca_file to verify with");
    /* Otherwise a client could avoid the restriction by sending no certificate. */
    if (c->client_san_count > 0 && !requires)
        return fail(err,
                    "client_allowed_sans needs a client_auth_type that requires a certificate: "
                    "RequireAnyClientCert or RequireAndVerifyClientCert");
    if (c->min_version > c->max_version)
        return fail(err, "min_version is above max_version");
    return true;
}

static bool check_rate(struct web_config *c, struct error *err)
{
    if (c->rate_interval_ns > 0 && c->rate_burst == 0)
        return fail(err, "a burst of 0 would refuse every request; set burst to 1 or more");
    return true;
}

/* ---- the table of fields ---- */

static read_fn read_known;

#define AT(member)        .offset = offsetof(struct web_config, member)
#define NAMES(list, word) .names = (list), .kind = (word)

static const struct config_field fields[] = {
    {ROOT, "tls_server_config", read_mapping, .read_member = read_known, .members = TLS,
     .check = check_tls},
    {ROOT, "http_server_config", read_mapping, .read_member = read_known, .members = HTTP},
    {ROOT, "basic_auth_users", read_mapping, .read_member = read_user},
    {ROOT, "rate_limit", read_mapping, .read_member = read_known, .members = RATE,
     .check = check_rate},
    {TLS, "cert", read_text, AT(cert)},
    {TLS, "cert_file", read_text, AT(cert_file)},
    {TLS, "key", read_text, AT(key)},
    {TLS, "key_file", read_text, AT(key_file)},
    {TLS, "client_ca", read_text, AT(client_ca)},
    {TLS, "client_ca_file", read_text, AT(client_ca_file)},
    {TLS, "client_auth_type", read_client_auth, NAMES(client_auth_names, "client auth type")},
    {TLS, "client_allowed_sans", read_sans, .add = add_san},
    {TLS, "min_version", read_name, AT(min_version), NAMES(version_names, "TLS version")},
    {TLS, "max_version", read_name, AT(max_version), NAMES(version_names, "TLS version")},
    {TLS, "cipher_suites", read_list, .add = add_cipher, NAMES(web_cipher_names, "cipher suite")},
    {TLS, "curve_preferences", read_list, .add = add_curve, NAMES(web_curve_names, "curve")},
    {TLS, "prefer_server_cipher_suites", read_boolean, AT(prefer_server_ciphers)},
    {HTTP, "http2", read_boolean, AT(http2)},
    {HTTP, "headers", read_mapping, .read_member = read_header,
     NAMES(web_header_names, "header that can be set")},
    {RATE, "interval", read_interval, AT(rate_interval_ns)},
    {RATE, "burst", read_burst, AT(rate_burst)},
};

/* Position of suggest_name() in the fields of a section. */
struct field_cursor {
    enum section section;
    size_t at;
};

static const char *next_field_name(void *context)
{
    struct field_cursor *c = context;

    while (c->at < ARRAY_LEN(fields) && fields[c->at].section != c->section)
        c->at++;
    return c->at < ARRAY_LEN(fields) ? fields[c->at++].name : NULL;
}

static bool fail_unknown(const char *key, enum section section, struct error *err)
{
    const char *nearest = suggest_name(key, next_field_name, &(struct field_cursor){section, 0});

    /* A secret may stand in the place of a key by mistake. */
    if (strlen(key) > SHOWN_MAX)
        return fail(err, "an unknown key");
    return nearest ? fail(err, "there is no '%s'; did you mean '%s'?", shown(key).text, nearest)
                   : fail(err, "there is no '%s'", shown(key).text);
}

/* Reads a member as the table says for its key. A null value counts as absent. */
static bool read_known(struct config_reader *r, const cJSON *member,
                       const struct config_field *mapping, struct error *err)
{
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        const struct config_field *field = &fields[i];

        if (field->section != mapping->members || strcmp(field->name, member->string) != 0)
            continue;
        return cJSON_IsNull(member) || field->read(r, member, field, err) ||
               (!r->has_position && fail_in(err, "%s", field->name));
    }
    return fail_unknown(member->string, mapping->members, err);
}

/* ---- the file ---- */

bool web_config_parse(const char *path, const char *text, size_t len, struct web_config *out,
                      struct error *err)
{
    static const struct config_field file = {.read_member = read_known, .members = ROOT};
    CLEANUP(secret_json_cleanup) cJSON *root = NULL;
    struct config_reader r = {.path = path, .config = out};

    *out = (struct web_config){
        .min_version = WEB_TLS12,
        .max_version = WEB_TLS13,
        .prefer_server_ciphers = true,
        .http2 = true,
    };
    bool done =
        (len <= WEB_CONFIG_MAX || fail(err, "%s: larger than %d bytes", path, WEB_CONFIG_MAX)) &&
        yaml_read_config(path, text, len, &root, err) &&
        (!root || read_mapping(&r, root, &file, err) || fail_at(&r, root, err));

    if (!done)
        web_config_release(out);
    return done;
}

/* ---- replacing a configuration ---- */

/* Steps of checking a client certificate, as bits. */
enum { REQUESTED = 1, REQUIRED = 2, VERIFIED = 4 };

/* Steps by enum web_client_auth, whose order is not one of strength: types lack different steps. */
static const unsigned client_auth_steps[] = {
    [WEB_CLIENT_NONE] = 0,
    [WEB_CLIENT_REQUEST] = REQUESTED,
    [WEB_CLIENT_REQUIRE_ANY] = REQUESTED | REQUIRED,
    [WEB_CLIENT_VERIFY_IF_GIVEN] = REQUESTED | VERIFIED,
    [WEB_CLIENT_REQUIRE_AND_VERIFY] = REQUESTED | REQUIRED | VERIFIED,
};

bool web_config_check_reload(const struct web_config *old, const struct web_config *fresh,
                             struct error *err)
{
    if (fresh->tls != old->tls)
        return fail(err, "restart to switch TLS %s", old->tls ? "off" : "on");
    if (client_auth_steps[old->client_auth] & ~client_auth_steps[fresh->client_auth])
        return fail(err, "client_auth_type is weaker than the one in force; restart to apply it");
    if (old->client_san_count > 0 && fresh->client_san_count == 0)
        return fail(err,
                    "client_allowed_sans was removed; restart to accept certificates of any name");
    if (fresh->min_version < old->min_version)
        return fail(err, "min_version is below the one in force; restart to accept older versions "
                         "of TLS");
    if (old->user_count > 0 && fresh->user_count == 0)
        return fail(err, "basic_auth_users has no user; restart to turn authentication off");
    return true;
}
