/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/auth/kube_config.h"
#include "metrics/base/json.h"

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

/* What is wrong with a field: "'FILE', line 7, user 'admin': 'token': <text>". */
bool field_fail(const struct field_place *place, const cJSON *object, const char *key,
                struct error *err, const char *fmt, ...) PRINTF_LIKE(5, 6);

/* An empty text reads as one that is missing. Borrowed. */
bool field_text(const struct field_place *place, const cJSON *object, const char *key,
                const char **out, struct error *err) MUST_USE;
bool field_bool(const struct field_place *place, const cJSON *object, const char *key, bool *out,
                struct error *err) MUST_USE;
bool field_object(const struct field_place *place, const cJSON *object, const char *key,
                  const cJSON **out, struct error *err) MUST_USE;
/* A list of objects. */
bool field_list(const struct field_place *place, const cJSON *object, const char *key,
                const cJSON **out, struct error *err) MUST_USE;

/* As field_text(), as a copy for the caller. */
bool field_copy_text(const struct field_place *place, const cJSON *object, const char *key,
                     char **out, struct error *err) MUST_USE;
/* A path, relative ones resolved; a copy for the caller. */
bool field_copy_path(const struct field_place *place, const cJSON *object, const char *key,
                     char **out, struct error *err) MUST_USE;
/* A list of texts; copies for the caller. */
bool field_copy_texts(const struct field_place *place, const cJSON *object, const char *key,
                      char ***out, size_t *out_count, struct error *err) MUST_USE;
/* The base64 of `key`-data, which wins, and the path of `key`; `out` is to be released also after a
 * failure. */
bool field_copy_bytes(const struct field_place *place, const cJSON *object, const char *key,
                      struct kube_bytes *out, struct error *err) MUST_USE;

/* The path, resolved from the folder of its file if it is relative; for the caller. */
char *field_resolve(const struct field_place *place, const char *path) MUST_USE;
