/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"

/*
 * Address, CA and credentials of an API server, from a kubeconfig or a service account. Stores
 * paths of CA, certificate, key and token files, because credentials.h reads these files again.
 */

/* PEM in the kubeconfig or in a file. Both members are NULL if the kubeconfig sets neither. */
struct rest_config_bytes {
    char *data; /* Decoded PEM without NUL bytes inside; takes precedence over `file`. */
    char *file;
};

struct rest_config_pair {
    char *name;
    char *value;
};

/* Exec plugin: a program that prints credentials. */
struct rest_config_exec {
    char *api_version;
    char *command; /* Path, or a name without a slash to search in PATH. */
    char **args;
    size_t arg_count;
    struct rest_config_pair *env;
    size_t env_count;
    char *install_hint; /* NULL if the kubeconfig has no installHint. */
    bool provide_cluster_info;
};

/* Impersonated user. All members are empty if `user` is NULL. */
struct rest_config_impersonation {
    char *user;
    char *uid; /* NULL if the kubeconfig has no as-uid. */
    char **groups;
    size_t group_count;
    struct rest_config_pair *extra; /* One pair for each value; names repeat. */
    size_t extra_count;
};

enum { REST_CONFIG_NOTES_MAX = 12 };

/* Owns its texts. A text is NULL if the configuration does not set it. */
struct rest_config {
    char *origin;  /* For messages: context and kubeconfigs, or "the pod's service account". */
    char *context; /* NULL for a service account. */
    char *server;  /* "https://host[:port][/prefix]", or http; no query, no slash at the end. */
    char *tls_server_name;
    bool insecure; /* insecure-skip-tls-verify, which excludes a CA. */
    bool disable_compression;
    struct rest_config_bytes ca;    /* The CAs of the system if both members are NULL. */
    char *proxy_url;                /* Secret, because the URL may contain a password. */
    bool proxy_is_from_environment; /* `proxy_url` is set, and not by the kubeconfig. */
    char *exec_config;              /* JSON extension of the cluster for exec plugins. */
    char *ns;

    struct rest_config_bytes certificate; /* Client certificate; set if and only if `key` is set. */
    struct rest_config_bytes key;
    char *token;                   /* Used until `token_file`, if set, holds a usable token. */
    char *token_file;              /* Path of a file that is read periodically. */
    struct rest_config_exec *exec; /* NULL if not set or a certificate, token or token file is. */
    struct rest_config_impersonation as;

    /* Messages about valid settings with a risk or without effect. */
    char *notes[REST_CONFIG_NOTES_MAX];
    size_t note_count;
};

/* Frees the members and wipes the secrets. Accepts a struct filled with zeros. */
void rest_config_release(struct rest_config *config);

typedef void kube_file_fn(void *context, const char *path);
/* Calls `each` with the path of the CA, certificate, key and token file, as far as they are set. */
void rest_config_each_file(const struct rest_config *config, kube_file_fn *each, void *context);

/* Appends a note. Drops the note if there are already REST_CONFIG_NOTES_MAX notes. */
void rest_config_note(struct rest_config *config, const char *fmt, ...) PRINTF_LIKE(2, 3);
