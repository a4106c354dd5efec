/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/exec_plugin.h"
#include "exporter/system/encoding.h"
#include "exporter/system/secret.h"
#include "tests/fuzz/must.h"

/*
 * The output of an exec plugin is parsed to a credential that can be sent, or is refused with a
 * reason that quotes no part of the output. At most one API version accepts the output.
 */

enum { QUOTE_MIN = 4 };

static const char *const versions[] = {"client.authentication.k8s.io/v1",
                                       "client.authentication.k8s.io/v1beta1"};

/*
 * Checks that the reason quotes no string of the output. Skips strings below QUOTE_MIN bytes or
 * without a tilde, because these may equal words of the exporter's messages.
 */
static void check_quotes(const cJSON *item, const char *reason)
{
    const cJSON *child;

    cJSON_ArrayForEach (child, item)
        check_quotes(child, reason);
    if (cJSON_IsString(item) && strlen(item->valuestring) >= QUOTE_MIN &&
        strchr(item->valuestring, '~'))
        MUST(!strstr(reason, item->valuestring));
}

static void check_refusal(const char *text, size_t size, const char *reason)
{
    struct error err;
    CLEANUP(json_cleanup) cJSON *tree = json_parse(text, size, NULL, &err);

    MUST(*reason != '\0');
    check_quotes(tree, reason);
}

static void check_credential(const struct exec_credential *c)
{
    struct error err;

    MUST(c->token || c->certificate);
    MUST(!c->certificate == !c->key);
    MUST(!c->token || secret_fits_header(c->token));
    MUST(!c->certificate || pem_check_certificates(c->certificate, &err));
    MUST(!c->key || pem_check_key(c->key, &err));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(free_cleanup) char *text = xmemdup0((const char *)data, size);
    unsigned accepted = 0;

    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        struct exec_credential credential = {.token = NULL};
        struct error err = {""};

        if (exec_credential_parse(text, size, versions[i], &credential, &err)) {
            check_credential(&credential);
            accepted++;
        } else {
            check_refusal(text, size, err.text);
            MUST(!credential.token && !credential.certificate && !credential.key);
        }
        exec_credential_release(&credential);
    }
    MUST(accepted < ARRAY_LEN(versions));
    return 0;
}
