/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"

/*
 * Web configuration file in the schema of Prometheus' exporter toolkit: TLS, client certificates,
 * users, response headers and request rate.
 */
enum {
    WEB_CONFIG_MAX = 256 * 1024, /* Bytes of the file. */
    WEB_USERS_MAX = 100,
    WEB_SANS_MAX = 100,
    WEB_BCRYPT_COST_MAX = 18, /* Beyond this cost, a check takes half a minute or more. */
};

/* In the order of tls.ClientAuthType in Go. */
enum web_client_auth {
    WEB_CLIENT_NONE,
    WEB_CLIENT_REQUEST,
    WEB_CLIENT_REQUIRE_ANY,
    WEB_CLIENT_VERIFY_IF_GIVEN,
    WEB_CLIENT_REQUIRE_AND_VERIFY,
};

enum web_tls_version { WEB_TLS10, WEB_TLS11, WEB_TLS12, WEB_TLS13, WEB_TLS_VERSIONS };

enum { WEB_CIPHERS = 13, WEB_CURVES = 4, WEB_HEADERS = 5 };

/* Names in the file, as in Go's crypto/tls; each list is ended by NULL. */
extern const char *const web_cipher_names[WEB_CIPHERS + 1];
extern const char *const web_curve_names[WEB_CURVES + 1];
/* Headers that the file may set; the list is ended by NULL. */
extern const char *const web_header_names[WEB_HEADERS + 1];

struct web_user {
    char *name;
    char *hash; /* bcrypt hash of 60 characters with a cost of at most WEB_BCRYPT_COST_MAX. */
};

/* Texts are owned; NULL if the file does not set them. Parsing leaves paths as in the file. */
struct web_config {
    bool tls; /* TLS is enabled: a certificate and a key are set, inline or as files. */
    char *cert, *cert_file;
    char *key, *key_file;
    char *client_ca, *client_ca_file;
    enum web_client_auth client_auth;
    unsigned min_version, max_version; /* Values of enum web_tls_version. */
    bool prefer_server_ciphers;
    bool http2;       /* Accepted for compatibility; libmicrohttpd supports HTTP/1.1 only. */
    unsigned ciphers; /* Bit i: web_cipher_names[i] is enabled. 0: the default. */
    unsigned curves[WEB_CURVES]; /* Indices of web_curve_names, the preferred curve first. */
    unsigned curve_count;        /* 0: the default. */
    char *client_sans[WEB_SANS_MAX];
    unsigned client_san_count;
    char *headers[WEB_HEADERS]; /* Values by index of web_header_names. */
    struct web_user users[WEB_USERS_MAX];
    unsigned user_count;
    int64_t rate_interval_ns; /* Time per request; 0: no limit. */
    uint32_t rate_burst;      /* Requests at once after a pause. */
};

/* Frees the users and the private key; wipes the hashes and the key. */
void web_config_wipe_secrets(struct web_config *c);
/* Frees all texts, wiping PEM texts, paths and hashes, and sets the configuration to zero. */
void web_config_release(struct web_config *c);

/*
 * Parses the text of the file at `path`; the file is not read. Unknown keys, invalid values
 * and contradictions are errors. Errors contain no password, hash or private key. On failure `out`
 * is as after web_config_release().
 */
bool web_config_parse(const char *path, const char *text, size_t len, struct web_config *out,
                      struct error *err) MUST_USE;

/*
 * Returns true if a reload may replace `old` by `fresh`. A file that an editor or a full disk has
 * cut short must not open the port. Therefore the result is false, with the reason, if the change
 * enables or disables TLS, requires less of client certificates, accepts older versions of TLS, or
 * removes all allowed names or all users. Single users and names may change.
 */
bool web_config_check_reload(const struct web_config *old, const struct web_config *fresh,
                             struct error *err) MUST_USE;
