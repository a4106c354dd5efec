/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/intern.h"
#include "metrics/base/json.h"

/*
 * Reading one Kubernetes object as the API server would accept it.
 *
 * A missing or null member is a zero value, as in Go; a member of another type
 * is an error that names it, and the object as a whole is refused: half of a
 * policy would give wrong answers with confidence. Only the first error is
 * kept. Readers may go on after it, so that a decoder asks `failed` once.
 */
struct decode {
    struct intern *strings;
    struct error *err;
    const char *prefix; /* What the paths now start at; NULL at the object itself. */
    bool failed;
};

/* The object or array `parent.key`, NULL if absent. `path` names the parent in an error. */
const cJSON *decode_object(struct decode *d, const cJSON *parent, const char *path,
                           const char *key);
const cJSON *decode_array(struct decode *d, const cJSON *parent, const char *path, const char *key);

/* The text `parent.key`, borrowed; NULL if absent or empty. */
const char *decode_text(struct decode *d, const cJSON *parent, const char *path, const char *key);

/* As decode_text, but shared: the caller drops it. NULL if absent or empty. */
const char *decode_shared(struct decode *d, const cJSON *parent, const char *path, const char *key);

/* The whole number `parent.key`; an error too if it has a fraction or leaves int64. */
int64_t decode_int(struct decode *d, const cJSON *parent, const char *path, const char *key,
                   int64_t fallback);

/* A Go *bool: absent is not false everywhere. */
enum optional_bool { OPTIONAL_ABSENT, OPTIONAL_FALSE, OPTIONAL_TRUE };
enum optional_bool decode_bool(struct decode *d, const cJSON *parent, const char *path,
                               const char *key);

/* The RFC 3339 time `parent.key` in milliseconds since the epoch; 0 if absent. */
int64_t decode_time(struct decode *d, const cJSON *parent, const char *path, const char *key);

/* True if metadata.deletionTimestamp is set. */
bool decode_deleting(struct decode *d, const cJSON *metadata);

/* `parent.key`, a number from 0 to INT32_MAX, as Kubernetes counts replicas. */
int32_t decode_replicas(struct decode *d, const cJSON *parent, const char *path, const char *key,
                        int32_t fallback);

/*
 * A member of a map of Kubernetes quantities, in base units: a text or a number,
 * neither negative nor without end. 0 for null, and after an error, which names the member.
 */
double decode_quantity(struct decode *d, const cJSON *item, const char *path);

/* The text of a member of a map, or of an element of an array, of texts: "" for null. */
const char *decode_item_text(struct decode *d, const cJSON *item, const char *path);

/* An element of an array of objects named `path`: an error if it is neither an object nor null. */
void decode_element(struct decode *d, const cJSON *element, const char *path);

/* An array of shared texts `parent.key`, NULL if empty. Release it also after a failure. */
const char **decode_texts(struct decode *d, const cJSON *parent, const char *path, const char *key,
                          uint32_t *count);
void decode_texts_release(struct intern *strings, const char **texts, uint32_t count);

/* Note the first error: "'<prefix>.<path>.<key>' <what>", without what is empty. */
void decode_fail(struct decode *d, const char *path, const char *key, const char *what);
