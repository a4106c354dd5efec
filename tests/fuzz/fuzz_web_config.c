/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/web_config.h"

#include "tests/fuzz/must.h"

/*
 * A web configuration file with any content is refused with its path and a reason, and no field of
 * the configuration is set; or the configuration is complete and within the limits of web_config.h.
 */

enum { HASH_LEN = 60 };

static const char path[] = "web.yml";

static void check_text(const char *text)
{
    for (const char *at = text; *at != '\0'; at++)
        MUST((unsigned char)*at >= ' ' && *at != 0x7F);
}

static void check_tls(const struct web_config *c)
{
    bool verifies = c->client_ca || c->client_ca_file;

    MUST(!c->tls == (!c->cert && !c->cert_file));
    MUST(!c->tls == (!c->key && !c->key_file));
    MUST(!(c->cert && c->cert_file) && !(c->key && c->key_file));
    MUST(!(c->client_ca && c->client_ca_file));
    MUST(c->min_version <= c->max_version && c->max_version < WEB_TLS_VERSIONS);
    MUST(c->ciphers >> WEB_CIPHERS == 0 && c->curve_count <= WEB_CURVES);
    for (unsigned i = 0; i < c->curve_count; i++)
        MUST(c->curves[i] < WEB_CURVES);
    MUST(c->client_san_count <= WEB_SANS_MAX);
    /* Settings for client certificates are refused unless they have an effect. */
    MUST(!(verifies || c->client_san_count > 0) || c->client_auth != WEB_CLIENT_NONE);
    MUST(verifies || c->client_auth < WEB_CLIENT_VERIFY_IF_GIVEN);
}

static void check_users(const struct web_config *c)
{
    MUST(c->user_count <= WEB_USERS_MAX);
    for (unsigned i = 0; i < c->user_count; i++) {
        const char *hash = c->users[i].hash;

        MUST(!strchr(c->users[i].name, ':'));
        MUST(strlen(hash) == HASH_LEN && strncmp(hash, "$2", 2) == 0);
        MUST((hash[4] - '0') * 10 + hash[5] - '0' <= WEB_BCRYPT_COST_MAX);
        for (unsigned k = 0; k < i; k++)
            MUST(strcmp(c->users[i].name, c->users[k].name) != 0);
    }
}

static void check_config(const struct web_config *c)
{
    check_tls(c);
    check_users(c);
    for (size_t i = 0; i < WEB_HEADERS; i++) {
        if (c->headers[i])
            check_text(c->headers[i]);
    }
    MUST(c->rate_interval_ns >= 0 && (c->rate_interval_ns == 0 || c->rate_burst > 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct web_config none;
    CLEANUP(free_cleanup) char *text = xmemdup0((const char *)data, size);
    struct error err = {""};
    struct web_config config;

    if (web_config_parse(path, text, size, &config, &err)) {
        check_config(&config);
        web_config_release(&config);
    } else {
        MUST(strncmp(err.text, path, strlen(path)) == 0 && err.text[strlen(path)] == ':');
        MUST(strlen(err.text) > strlen(path) + 1);
    }
    MUST(memcmp(&config, &none, sizeof(config)) == 0);
    return 0;
}
