/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"
#include "metrics/base/json.h"

/*
 * Shared strings: equal texts are one pointer, so comparing is comparing
 * pointers, and a hundred thousand objects in one namespace hold its name once.
 *
 * Each string counts its holders and goes with the last one.
 */
struct intern;

struct intern *intern_new(uint64_t seed) MUST_USE;
/* Frees the pool and every string still in it. Takes NULL. */
void intern_free(struct intern *pool);

/* The shared copy of `s`, one holder more. */
const char *intern_add(struct intern *pool, const char *s) MUST_USE;
const char *intern_add_len(struct intern *pool, const char *s, size_t len) MUST_USE;

/* One more holder of a string that came from this pool. */
const char *intern_ref(const char *shared);

/* The shared copy of `s` if somebody holds it, else NULL. Changes no count. */
const char *intern_find(const struct intern *pool, const char *s) MUST_USE;

/* One holder less. Takes NULL. */
void intern_drop(struct intern *pool, const char *shared);

/* How many different strings are held. */
size_t intern_count(const struct intern *pool);

/*
 * Reads one Kubernetes object as the API server would accept it.
 *
 * A missing or null member is a zero value, as in Go. A member of another type is an error that
 * names it, and the whole object is refused: half of a policy would give wrong answers with
 * confidence. Only the first error is kept; readers go on after it with zero values, so that a
 * decoder checks `failed` once, at its end.
 */
struct decode {
    struct intern *strings;
    struct error *err;
    const char *prefix; /* Where paths in errors start; NULL for the object itself. */
    /* Of the label or annotation that says whose a template is; NULL: nobody asks. Borrowed. */
    const char *owner_key;
    bool failed;
};

/* The object or array `parent.key`, NULL if absent. `path` is the parent's, for errors. */
const cJSON *decode_object(struct decode *d, const cJSON *parent, const char *path,
                           const char *key);
const cJSON *decode_array(struct decode *d, const cJSON *parent, const char *path, const char *key);

/* The text `parent.key`, borrowed; NULL if absent or empty. */
const char *decode_text(struct decode *d, const cJSON *parent, const char *path, const char *key);

/* As decode_text(), but shared: the caller drops it. */
const char *decode_shared(struct decode *d, const cJSON *parent, const char *path, const char *key);

/* As decode_shared(), but the text "" if absent or empty. */
const char *decode_shared_or_empty(struct decode *d, const cJSON *parent, const char *path,
                                   const char *key);

/* The whole number `parent.key`, `fallback` if absent; an error if beyond 2^53 or a fraction. */
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

/* The number of replicas `parent.key`, from 0 to INT32_MAX; `fallback` if absent. */
int32_t decode_replicas(struct decode *d, const cJSON *parent, const char *path, const char *key,
                        int32_t fallback);

/*
 * A member of a map of Kubernetes quantities, a text or a number, in base units: finite and not
 * negative. 0 for null, and after an error, which names the member.
 */
double decode_quantity(struct decode *d, const cJSON *item, const char *path);

/* A member of a map of texts, or an element of an array of texts, borrowed: "" for null. */
const char *decode_item_text(struct decode *d, const cJSON *item, const char *path);

/* Check an element of an array of objects: an error if it is neither an object nor null. */
void decode_element(struct decode *d, const cJSON *element, const char *path);

/*
 * Room for `size` bytes for each element of an array or member of an object, NULL if there is
 * none. The caller frees it.
 */
void *decode_room(const cJSON *items, size_t size);

/* The array of texts `parent.key`, shared; NULL if empty. Release it also after a failure. */
const char **decode_texts(struct decode *d, const cJSON *parent, const char *path, const char *key,
                          uint32_t *count);
void decode_texts_release(struct intern *strings, const char **texts, uint32_t count);

/* Fail with "'<prefix>.<path>.<key>' <what>", without what is empty; keeps the first error. */
void decode_fail(struct decode *d, const char *path, const char *key, const char *what);
