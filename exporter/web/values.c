/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/values.h"

#include "exporter/options/suggest.h"
#include "metrics/base/shown.h"

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

bool web_name_find(const char *const *names, const char *what, const char *text, unsigned *out,
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
        return fail(err, "no %s", what);
    const char *nearest = nearest_name(text, next_name, &at);

    return nearest ? fail(err, "'%s' is no %s; did you mean '%s'?", shown(text).text, what, nearest)
                   : fail(err, "'%s' is no %s", shown(text).text, what);
}

bool web_client_auth_parse(const char *text, enum web_client_auth *out, struct error *err)
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

bool web_tls_version_parse(const char *text, enum web_tls_version *out, struct error *err)
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

bool web_interval_parse(const char *text, int64_t *out_ns, struct error *err)
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

bool web_burst_parse(const char *text, uint32_t *out, struct error *err)
{
    enum { DIGITS_MAX = 9 };

    if (!text || *text == '\0' || strlen(text) > DIGITS_MAX ||
        strspn(text, "0123456789") != strlen(text))
        return fail(err, "expected a whole number of requests");
    *out = (uint32_t)strtod(text, NULL);
    return true;
}

bool web_header_check(unsigned at, const char *value, struct error *err)
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

bool web_hash_check(const char *hash, struct error *err)
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

bool web_tls_check(const struct web_config *c, struct error *err)
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

bool web_reload_check(const struct web_config *old, const struct web_config *fresh,
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
