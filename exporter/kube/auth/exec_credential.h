/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/auth/kube_config.h"
#include "metrics/base/strbuf.h"

/*
 * The input and the output of an exec plugin: an ExecCredential of
 * client.authentication.k8s.io, v1 or v1beta1.
 */
struct exec_credential {
    char *token;       /* NULL if there is none; then there is a certificate. */
    char *certificate; /* PEM, with `key`, or neither. */
    char *key;
    int64_t expires_ms; /* Since the epoch; INT64_MAX if it has no end. */
};

void exec_credential_release(struct exec_credential *credential);

enum { EXEC_REQUEST_MAX_BYTES = 2 * 1024 * 1024 };

/*
 * Append the value of KUBERNETES_EXEC_INFO. `config->exec` is the plugin; `ca`
 * is PEM, or NULL if the system's authorities are trusted.
 */
void exec_request_write(const struct kube_config *config, const char *ca, struct strbuf *out);

/*
 * Read the output of a plugin. It must be of `api_version` and hold a usable
 * credential. Errors quote nothing of the output but type names.
 */
bool exec_credential_parse(const char *json, size_t len, const char *api_version,
                           struct exec_credential *out, struct error *err) MUST_USE;
