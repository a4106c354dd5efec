/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"

/*
 * Where an API server is and who we are to it, as kubeconfig.h and in_cluster.h
 * find it. Whatever it names by its path is read again later, by credentials.h.
 */

/* Bytes in the kubeconfig itself (`data`, decoded), or in a file (`file`); or neither. */
struct rest_config_bytes {
    char *data; /* A C string too: a NUL byte inside is an error. Wins over `file`. */
    char *file;
};

struct rest_config_pair {
    char *name;
    char *value;
};

/* A program that prints credentials. */
struct rest_config_exec {
    char *api_version;
    char *command; /* Without a slash: to be found in PATH. */
    char **args;
    size_t arg_count;
    struct rest_config_pair *env;
    size_t env_count;
    char *install_hint; /* NULL if there is none. */
    bool provide_cluster_info;
};

/* As whom we act, if not as the user itself: impersonation. */
struct rest_config_impersonation {
    char *user; /* NULL: nobody else; then the rest is empty too. */
    char *uid;
    char **groups;
    size_t group_count;
    struct rest_config_pair *extra; /* A name once for each of its values. */
    size_t extra_count;
};

enum { REST_CONFIG_NOTES_MAX = 12 };

/* NULL where there is none. It owns all of its texts. */
struct rest_config {
    char *origin;  /* For people: the context and its files, or "the pod's service account". */
    char *context; /* NULL in a pod. */
    char *server;  /* "https://host[:port][/prefix]": no query, no slash at the end. */
    char *tls_server_name;
    bool insecure; /* insecure-skip-tls-verify; then there is no CA. */
    bool disable_compression;
    struct rest_config_bytes ca;    /* None: what the system trusts. */
    char *proxy_url;                /* May hold a password: never print it. */
    bool proxy_is_from_environment; /* From the environment, and not by the cluster. */
    char *exec_config;              /* JSON that the cluster has for exec plugins. */
    char *ns;

    struct rest_config_bytes certificate; /* With `key`, or neither. */
    struct rest_config_bytes key;
    char *token;                   /* If there is a file too, only until that can be read. */
    char *token_file;              /* Read again and again. */
    struct rest_config_exec *exec; /* Only without any of the above. */
    struct rest_config_impersonation as;

    /* What works and should still be reported: insecure-skip-tls-verify, say. */
    char *notes[REST_CONFIG_NOTES_MAX];
    size_t note_count;
};

/* Also for one that is all zeros. Secrets are wiped. */
void rest_config_release(struct rest_config *config);

/* Call `each` for every file that it names and that is read again later. */
typedef void kube_file_fn(void *context, const char *path);
void rest_config_each_file(const struct rest_config *config, kube_file_fn *each, void *context);

/* Add a note; beyond REST_CONFIG_NOTES_MAX they are dropped. */
void rest_config_note(struct rest_config *config, const char *fmt, ...) PRINTF_LIKE(2, 3);
