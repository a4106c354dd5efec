/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/server_tls.h"

#include <arpa/inet.h>
#include <gnutls/x509.h>

#include "metrics/base/strbuf.h"

enum { PRIORITY_MAX = 2048, CHAIN_MAX = 16, SAN_MAX = 1024 };

struct server_tls {
    const struct web_config *config; /* Borrowed. */
    gnutls_certificate_credentials_t credentials;
    char *priority;
    int64_t not_after;
};

/* ---- versions, ciphers and curves as a GnuTLS priority string ---- */

/* Parts of the suites, by index of web_cipher_names: GnuTLS enables parts, not suites. */
static const struct suite {
    const char *key_exchange; /* NULL: a TLS 1.3 suite, which has no key exchange. */
    const char *cipher, *mac;
} suites[WEB_CIPHERS] = {
    {NULL, "AES-128-GCM", "AEAD"},
    {NULL, "AES-256-GCM", "AEAD"},
    {NULL, "CHACHA20-POLY1305", "AEAD"},
    {"ECDHE-ECDSA", "AES-128-CBC", "SHA1"},
    {"ECDHE-ECDSA", "AES-256-CBC", "SHA1"},
    {"ECDHE-RSA", "AES-128-CBC", "SHA1"},
    {"ECDHE-RSA", "AES-256-CBC", "SHA1"},
    {"ECDHE-ECDSA", "AES-128-GCM", "AEAD"},
    {"ECDHE-ECDSA", "AES-256-GCM", "AEAD"},
    {"ECDHE-RSA", "AES-128-GCM", "AEAD"},
    {"ECDHE-RSA", "AES-256-GCM", "AEAD"},
    {"ECDHE-RSA", "CHACHA20-POLY1305", "AEAD"},
    {"ECDHE-ECDSA", "CHACHA20-POLY1305", "AEAD"},
};

static const char *const version_names[WEB_TLS_VERSIONS] = {"VERS-TLS1.0", "VERS-TLS1.1",
                                                            "VERS-TLS1.2", "VERS-TLS1.3"};
static const char *const curve_names[WEB_CURVES] = {"GROUP-SECP256R1", "GROUP-SECP384R1",
                                                    "GROUP-SECP521R1", "GROUP-X25519"};

/* Default suites: those enabled in Go's crypto/tls, without CBC. Bits by web_cipher_names. */
enum { MODERN_CIPHERS = 0x7 | 0x3F << 7 };

static void add_suites(const struct web_config *c, struct strbuf *out)
{
    unsigned chosen = c->ciphers ? c->ciphers : MODERN_CIPHERS;

    strbuf_adds(out, ":-CIPHER-ALL:-MAC-ALL:-KX-ALL");
    for (size_t i = 0; i < WEB_CIPHERS; i++) {
        /* TLS 1.3 suites are always enabled, as in Go: a list selects older suites only. */
        if (!suites[i].key_exchange || chosen >> i & 1)
            strbuf_addf(out, ":+%s:+%s", suites[i].cipher, suites[i].mac);
        if (suites[i].key_exchange && chosen >> i & 1)
            strbuf_addf(out, ":+%s", suites[i].key_exchange);
    }
}

static char *priority_string(const struct web_config *c)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(PRIORITY_MAX);
    size_t len;

    strbuf_adds(&out, "NORMAL:-VERS-ALL");
    for (unsigned v = c->max_version + 1; v-- > c->min_version;)
        strbuf_addf(&out, ":+%s", version_names[v]);
    add_suites(c, &out);
    if (c->curve_count > 0)
        strbuf_adds(&out, ":-GROUP-ALL");
    for (unsigned i = 0; i < c->curve_count; i++)
        strbuf_addf(&out, ":+%s", curve_names[c->curves[i]]);
    if (c->prefer_server_ciphers)
        strbuf_adds(&out, ":%SERVER_PRECEDENCE");
    return strbuf_take(&out, &len);
}

/* ---- verification of client certificates ---- */

/*
 * Writes a subject alternative name as the exporter toolkit compares it: IP addresses as text, DNS
 * names, e-mail addresses and URIs unchanged. Returns false for other types and invalid names.
 */
static bool san_text(unsigned type, const unsigned char *bytes, size_t len, char out[SAN_MAX])
{
    if (type == GNUTLS_SAN_IPADDRESS)
        return inet_ntop(len == 4 ? AF_INET : AF_INET6, bytes, out, SAN_MAX);
    if ((type != GNUTLS_SAN_DNSNAME && type != GNUTLS_SAN_RFC822NAME && type != GNUTLS_SAN_URI) ||
        len >= SAN_MAX || memchr(bytes, '\0', len))
        return false;
    memcpy(out, bytes, len);
    out[len] = '\0';
    return true;
}

static bool has_allowed_name(const struct web_config *c, gnutls_x509_crt_t certificate)
{
    for (unsigned at = 0;; at++) {
        unsigned char bytes[SAN_MAX];
        size_t len = sizeof(bytes);
        char text[SAN_MAX];
        int type = gnutls_x509_crt_get_subject_alt_name(certificate, at, bytes, &len, NULL);

        if (type == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE)
            return false;
        if (type < 0 || !san_text((unsigned)type, bytes, len, text))
            continue;
        for (unsigned i = 0; i < c->client_san_count; i++) {
            if (strcmp(c->client_sans[i], text) == 0)
                return true;
        }
    }
}

/* Returns true if the client's own certificate, the first of its chain, has an allowed name. */
static bool is_client_allowed(const struct web_config *c, gnutls_session_t session)
{
    gnutls_x509_crt_t certificate;
    unsigned count = 0;
    const gnutls_datum_t *chain = gnutls_certificate_get_peers(session, &count);
    bool allowed = false;

    if (count == 0 || gnutls_x509_crt_init(&certificate) < 0)
        return false;
    if (gnutls_x509_crt_import(certificate, &chain[0], GNUTLS_X509_FMT_DER) == 0)
        allowed = has_allowed_name(c, certificate);
    gnutls_x509_crt_deinit(certificate);
    return allowed;
}

/* GnuTLS callback in the handshake, which fails unless the result is 0. */
static int verify_client(gnutls_session_t session)
{
    const struct server_tls *t = gnutls_db_get_ptr(session);
    const struct web_config *c = t->config;
    unsigned count = 0, status = 0;
    gnutls_typed_vdata_st purpose = {
        .type = GNUTLS_DT_KEY_PURPOSE_OID,
        .data = (unsigned char *)(uintptr_t)GNUTLS_KP_TLS_WWW_CLIENT,
    };

    /* GnuTLS refuses clients without a required certificate; allowed names require it, too. */
    if (!gnutls_certificate_get_peers(session, &count) || count == 0)
        return c->client_san_count == 0 ? 0 : GNUTLS_E_CERTIFICATE_ERROR;
    if (c->client_auth >= WEB_CLIENT_VERIFY_IF_GIVEN &&
        (gnutls_certificate_verify_peers(session, &purpose, 1, &status) < 0 || status != 0))
        return GNUTLS_E_CERTIFICATE_ERROR;
    return c->client_san_count == 0 || is_client_allowed(c, session) ? 0
                                                                     : GNUTLS_E_CERTIFICATE_ERROR;
}

/* ---- settings of a configuration ---- */

static gnutls_datum_t datum(const char *text)
{
    return (gnutls_datum_t){(unsigned char *)(uintptr_t)text, (unsigned)strlen(text)};
}

static bool load_certificate(struct server_tls *t, struct error *err)
{
    const gnutls_datum_t cert = datum(t->config->cert), key = datum(t->config->key);
    int code = gnutls_certificate_set_x509_key_mem2(t->credentials, &cert, &key,
                                                    GNUTLS_X509_FMT_PEM, NULL, 0);

    return code >= 0 ||
           fail(err, "the certificate and the key cannot be used: %s", gnutls_strerror(code));
}

static bool load_authorities(struct server_tls *t, struct error *err)
{
    if (!t->config->client_ca)
        return true;
    const gnutls_datum_t pem = datum(t->config->client_ca);
    int count = gnutls_certificate_set_x509_trust_mem(t->credentials, &pem, GNUTLS_X509_FMT_PEM);

    return count > 0 ||
           fail(err, "client_ca has no certificate: %s",
                count < 0 ? gnutls_strerror(count) : "the file contains no certificate");
}

static int64_t first_expiry(const struct web_config *c)
{
    gnutls_x509_crt_t chain[CHAIN_MAX];
    const gnutls_datum_t pem = datum(c->cert);
    unsigned count = CHAIN_MAX;
    int64_t first = 0;

    if (gnutls_x509_crt_list_import(chain, &count, &pem, GNUTLS_X509_FMT_PEM, 0) < 0)
        return 0;
    for (unsigned i = 0; i < count; i++) {
        int64_t end = gnutls_x509_crt_get_expiration_time(chain[i]);

        first = i == 0 || end < first ? end : first;
        gnutls_x509_crt_deinit(chain[i]);
    }
    return first;
}

static bool check_priority(const char *priority, struct error *err)
{
    gnutls_priority_t cache;
    int code = gnutls_priority_init(&cache, priority, NULL);

    if (code < 0)
        return fail(err,
                    "no valid TLS configuration results from the versions, ciphers and curves: %s",
                    gnutls_strerror(code));
    gnutls_priority_deinit(cache);
    return true;
}

struct server_tls *server_tls_new(const struct web_config *config, struct error *err)
{
    struct server_tls *t = xcalloc(1, sizeof(*t));

    t->config = config;
    t->priority = priority_string(config);
    if (gnutls_certificate_allocate_credentials(&t->credentials) < 0)
        memory_exhausted(sizeof(*t));
    if (load_certificate(t, err) && load_authorities(t, err) && check_priority(t->priority, err)) {
        t->not_after = first_expiry(config);
        return t;
    }
    server_tls_free(t);
    return NULL;
}

void server_tls_free(struct server_tls *t)
{
    if (!t)
        return;
    gnutls_certificate_free_credentials(t->credentials);
    free(t->priority);
    free(t);
}

void server_tls_apply(struct server_tls *t, gnutls_session_t session)
{
    static const gnutls_certificate_request_t requests[] = {
        [WEB_CLIENT_NONE] = GNUTLS_CERT_IGNORE,
        [WEB_CLIENT_REQUEST] = GNUTLS_CERT_REQUEST,
        [WEB_CLIENT_REQUIRE_ANY] = GNUTLS_CERT_REQUIRE,
        [WEB_CLIENT_VERIFY_IF_GIVEN] = GNUTLS_CERT_REQUEST,
        [WEB_CLIENT_REQUIRE_AND_VERIFY] = GNUTLS_CERT_REQUIRE,
    };
    gnutls_datum_t http = datum("http/1.1");

    /* For verify_client(): libmicrohttpd uses the session pointer, but not the database pointer. */
    gnutls_db_set_ptr(session, t);
    gnutls_credentials_clear(session);
    if (gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, t->credentials) < 0 ||
        gnutls_priority_set_direct(session, t->priority, NULL) < 0)
        memory_exhausted(0);
    gnutls_alpn_set_protocols(session, &http, 1, 0);
    gnutls_certificate_server_set_request(session, requests[t->config->client_auth]);
    gnutls_session_set_verify_function(session, verify_client);
}

int64_t server_tls_not_after(const struct server_tls *t)
{
    return t->not_after;
}
