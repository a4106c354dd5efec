/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/auth/kube_config.h"
#include "metrics/base/strbuf.h"

/*
 * What an exec plugin is told and what it answers: an ExecCredential of
 * client.authentication.k8s.io, v1 or v1beta1.
 */
struct exec_credential {
    char *token;       /* NULL if there is none; then there is a certificate. */
    char *certificate; /* PEM, with `key`, or neither. */
    char *key;
    int64_t expires_ms; /* Since the epoch; INT64_MAX if it was not told. */
};

void exec_credential_release(struct exec_credential *credential);

enum { EXEC_REQUEST_MAX_BYTES = 2 * 1024 * 1024 };

/*
 * Append what goes to KUBERNETES_EXEC_INFO. `config->exec` is the plugin; `ca`
 * is PEM, or NULL if the system's authorities are trusted.
 */
void exec_request_write(const struct kube_config *config, const char *ca, struct strbuf *out);

/*
 * Read what a plugin printed. It must speak `api_version`, and say something
 * that can be used. Errors hold nothing of what it printed but type names.
 */
bool exec_credential_parse(const char *json, size_t len, const char *api_version,
                           struct exec_credential *out, struct error *err) MUST_USE;
