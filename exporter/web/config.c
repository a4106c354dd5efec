/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/config.h"

#include "exporter/system/secret.h"

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

void web_config_forget(struct web_config *c)
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
    web_config_forget(c);
    *c = (struct web_config){.tls = false};
}
