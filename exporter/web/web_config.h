/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"

/*
 * What a web configuration file says, in the schema of Prometheus' exporter toolkit: who may
 * connect, how, and with which credentials.
 */
enum {
    WEB_CONFIG_MAX = 256 * 1024, /* Bytes of the file, inline certificates included. */
    WEB_USERS_MAX = 100,
    WEB_SANS_MAX = 100,
    WEB_BCRYPT_COST_MAX = 18, /* Above it a wrong password would take minutes. */
};

/* Weakest first, as Go's crypto/tls orders them. */
enum web_client_auth {
    WEB_CLIENT_NONE,
    WEB_CLIENT_REQUEST,
    WEB_CLIENT_REQUIRE_ANY,
    WEB_CLIENT_VERIFY_IF_GIVEN,
    WEB_CLIENT_REQUIRE_AND_VERIFY,
};

enum web_tls_version { WEB_TLS10, WEB_TLS11, WEB_TLS12, WEB_TLS13, WEB_TLS_VERSIONS };

enum { WEB_CIPHERS = 13, WEB_CURVES = 4, WEB_HEADERS = 5 };

/* Go's names, which the file uses, each list ended by NULL. */
extern const char *const web_cipher_names[WEB_CIPHERS + 1];
extern const char *const web_curve_names[WEB_CURVES + 1];
/* The headers that may be set. */
extern const char *const web_header_names[WEB_HEADERS + 1];

struct web_user {
    char *name;
    char *hash; /* bcrypt's, of 60 characters, and of a cost that we would compute. */
};

/* Texts are owned; NULL where the file does not have them. Paths are relative to no folder. */
struct web_config {
    bool tls; /* Anything of tls_server_config is there: then a certificate and a key are, too. */
    char *cert, *cert_file;
    char *key, *key_file;
    char *client_ca, *client_ca_file;
    enum web_client_auth client_auth;
    enum web_tls_version min_version, max_version;
    bool prefer_server_ciphers;
    bool http2;                  /* Accepted for the schema's sake: only HTTP/1.1 is spoken. */
    unsigned ciphers;            /* Bits by place in web_cipher_names; 0: the default. */
    unsigned curves[WEB_CURVES]; /* Places in web_curve_names, the preferred first. */
    unsigned curve_count;        /* 0: the default. */
    char *client_sans[WEB_SANS_MAX];
    unsigned client_san_count;
    char *headers[WEB_HEADERS];
    struct web_user users[WEB_USERS_MAX];
    unsigned user_count;
    int64_t rate_interval_ns; /* 0: no limit. */
    uint32_t rate_burst;
};

/* Wipes and frees what is secret: the users, and the private key. */
void web_config_wipe_secrets(struct web_config *c);
/* Wipe and free. */
void web_config_release(struct web_config *c);

/*
 * Parse the text of the web configuration file at this path, strictly: what the schema does not
 * have, and what would not do what it seems to, is an error with its place. No error holds a
 * password, a hash or a key. On failure `out` is as after web_config_release().
 */
bool web_config_parse(const char *path, const char *text, size_t len, struct web_config *out,
                      struct error *err) MUST_USE;

/*
 * The values of a web configuration: their names, and which of them go together. A NULL text is no
 * text at all, and refused. No error repeats a hash.
 */

/*
 * Returns true if a reload may put `fresh` in force in the place of `old`. A reload turns neither
 * TLS, nor client certificates, nor authentication off: a file that an editor or a full disk has
 * cut short must not open the port. It returns false with the reason if `fresh` has no TLS, asks
 * less of client certificates, accepts older versions of TLS or has no users any more. Single
 * users and names may come and go.
 */
bool web_config_check_reload(const struct web_config *old, const struct web_config *fresh,
                             struct error *err) MUST_USE;
