/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/auth/rest_config.h"
#include "metrics/base/json.h"

/*
 * kubeconfig files, read as kubectl reads them: what is merged, which of two
 * credentials counts, what a relative path starts from. Two things are stricter:
 * a key that is written twice is an error, and so are a user and a password,
 * which no API server accepts since Kubernetes 1.19.
 */
struct kubeconfig_options {
    /*
     * Files separated by ':', as in $KUBECONFIG: the first that has a context,
     * cluster, user or current-context of a name counts; files that do not exist
     * are skipped, unless it is only one.
     */
    const char *files;
    const char *context; /* NULL or "": the files' current-context. */
    bool refuse_exec;    /* A context that needs an exec plugin is an error. */
};

/* `out` is to be released; on failure it is all zeros. */
bool kubeconfig_load(const struct kubeconfig_options *options, struct rest_config *out,
                     struct error *err) MUST_USE;

/*
 * The fields of a kubeconfig, each of the type that it must have. A field that
 * is missing or null is no error: the answer is NULL, false or empty. One of
 * another type is, and the error says where it is and what it should be; never
 * what it holds.
 */
struct field_place {
    const char *file;   /* As the user named it. */
    const char *folder; /* That relative paths start from. */
    const char *what;   /* "user 'admin'" */
};

/* An empty text reads as one that is missing. Borrowed. */
bool field_text(const struct field_place *place, const cJSON *object, const char *key,
                const char **out, struct error *err) MUST_USE;
/* A list of objects. */
bool field_list(const struct field_place *place, const cJSON *object, const char *key,
                const cJSON **out, struct error *err) MUST_USE;

/*
 * The entries of a kubeconfig that a context names. `out` is to be released also after a
 * failure: it has what was read before.
 */
