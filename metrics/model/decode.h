/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"
#include "metrics/base/json.h"
#include "metrics/base/pool.h"

/* Interned strings, and the decoder of one Kubernetes object that uses them. */

/*
 * Pool of interned strings and blocks, which are reference-counted. Equal strings of one pool have
 * the same address, so pointers are compared instead of texts, and each text is stored once. The
 * last intern_drop() frees a string; its holders never free it.
 */
struct intern;

/* Returns an empty pool; `seed` is the seed of its hash table. */
struct intern *intern_new(uint64_t seed) MUST_USE;
/* Frees the pool and all its strings. Takes NULL. */
void intern_free(struct intern *pool);

/* Returns the pool of the memory of objects that have strings of `pool`; borrowed. */
struct pool *intern_memory(const struct intern *pool);

/* Returns the interned copy of `s` with a new reference; the caller calls intern_drop(). */
const char *intern_add(struct intern *pool, const char *s) MUST_USE;
/* Like intern_add(), for the first `len` bytes of `s`. */
const char *intern_add_len(struct intern *pool, const char *s, size_t len) MUST_USE;

/*
 * Interned blocks: structs and arrays that many objects share, such as sets of labels. Like a
 * string, a block has a reference count, and equal blocks of one pool have the same address.
 *
 * Returns the interned copy of `size` bytes with a new reference, aligned to 8 bytes; sets `*added`
 * to true if the pool had no equal block. Padding in `bytes` must be zero. If the block has
 * interned members, it owns one reference of each: the caller drops those in `bytes` unless the
 * block was added, and those in a block with one reference before it drops the block.
 */
const void *intern_add_block(struct intern *pool, const void *bytes, size_t size,
                             bool *added) MUST_USE;

/* Length of an interned string or block that always has a handle; longer ones have none. */
enum { INTERN_HANDLE_MAX = 2048, INTERN_HEADER_BYTES = 8 };

/*
 * Returns the handle, in intern_memory(), of an interned string or block of at most
 * INTERN_HANDLE_MAX bytes.
 */
pool_handle intern_handle(const void *shared);

/* Returns the interned string or block of a handle; NULL for 0. `memory` is intern_memory(). */
static inline const void *intern_at(const struct pool *memory, pool_handle handle)
{
    const char *cell = pool_at(memory, handle);

    return cell ? cell + INTERN_HEADER_BYTES : NULL;
}

/* Adds a reference to an interned string or block and returns the string or block. */
const void *intern_ref(const void *shared);

/* Returns the length of an interned string, or the size of a block, in bytes. */
size_t intern_len(const void *shared);

/* Returns true if the next intern_drop() frees the string or block. */
bool intern_has_one_reference(const void *shared);

/* Returns the interned copy of `s` without a new reference; NULL if the pool does not have it. */
const char *intern_find(const struct intern *pool, const char *s) MUST_USE;

/* Removes one reference to an interned string or block, which may be NULL. */
void intern_drop(struct intern *pool, const void *shared);

/*
 * Cache of up to 256 texts that were derived from other texts, in at most 1 MiB: many bindings have
 * the same placement. A key determines its text. intern_recall() returns the text, interned with a
 * new reference, or NULL if the cache does not have it. intern_remember() stores it, unless key or
 * text have more than 2 KiB.
 */
const char *intern_recall(struct intern *pool, const char *key, size_t len) MUST_USE;
void intern_remember(struct intern *pool, const char *key, size_t len, const char *text);

/* ---- decoder of Kubernetes objects ---- */

/* Templates that are kept with their whole JSON. */
enum kept_documents {
    DOCUMENTS_OF_NONE,
    DOCUMENTS_OF_WHOLE_OBJECTS, /* Of templates that have more than metadata. */
    DOCUMENTS_OF_ALL,           /* The source never reads metadata only. */
};

/*
 * Decodes one Kubernetes object with the rules of the API server. A missing or null member has the
 * zero value, as in Go. An invalid member is an error that names the member; the decoding functions
 * then return the same value as for a missing member, except as noted. The caller checks `failed`
 * after the last member and rejects the whole object: a half-read policy would give wrong results.
 *
 * `path` in the functions below is the path of `parent`, for error messages.
 */
struct decode {
    struct intern *strings;
    /* Returns the findings of admission_review(); NULL: no findings. */
    struct admission *(*review)(const cJSON *object);
    struct error *err;  /* The first error. */
    const char *prefix; /* Prefix of paths in error messages, or NULL. */
    /* --owner-key: label or annotation that names the team of a template. NULL: none. Borrowed. */
    const char *owner_key;
    bool failed;
    enum kept_documents documents; /* Templates with template_document(). */
};

/* Returns the object or array `parent.key`; NULL if it is absent. */
const cJSON *decode_object(struct decode *d, const cJSON *parent, const char *path,
                           const char *key);
const cJSON *decode_array(struct decode *d, const cJSON *parent, const char *path, const char *key);

/* Returns the string `parent.key`, borrowed from the JSON; NULL if it is absent or empty. */
const char *decode_text(struct decode *d, const cJSON *parent, const char *path, const char *key);

/* Returns the string `parent.key`, interned; the caller drops it. NULL if absent or empty. */
const char *decode_interned(struct decode *d, const cJSON *parent, const char *path,
                            const char *key);

/* Returns the string `parent.key`, interned; the caller drops it. "" if absent. */
const char *decode_interned_or_empty(struct decode *d, const cJSON *parent, const char *path,
                                     const char *key);

/*
 * Returns the integer `parent.key`; `fallback` if it is absent. A fraction, or an absolute value
 * above 2^53, is an error.
 */
int64_t decode_int(struct decode *d, const cJSON *parent, const char *path, const char *key,
                   int64_t fallback);

/* Boolean that distinguishes an absent value from false, as a Go *bool does. */
enum optional_bool { OPTIONAL_ABSENT, OPTIONAL_FALSE, OPTIONAL_TRUE };
/* Returns the boolean `parent.key`. */
enum optional_bool decode_bool(struct decode *d, const cJSON *parent, const char *path,
                               const char *key);

/* Returns the RFC 3339 time `parent.key` in milliseconds since the epoch; 0 if absent or empty. */
int64_t decode_time(struct decode *d, const cJSON *parent, const char *path, const char *key);

/* Returns true if metadata.deletionTimestamp is a text, not "", even if it is no valid time. */
bool decode_is_deleting(struct decode *d, const cJSON *metadata);

/*
 * Returns the replica count `parent.key`; `fallback` if it is absent. A number outside 0 to
 * INT32_MAX is an error.
 */
int32_t decode_replicas(struct decode *d, const cJSON *parent, const char *path, const char *key,
                        int32_t fallback);

/*
 * Returns the Kubernetes quantity `item` (JSON string or number) in base units, finite and not
 * negative; 0 if it is null. `path` is the path of the object that contains `item`.
 */
double decode_quantity(struct decode *d, const cJSON *item, const char *path);

/* Returns the string `item`, borrowed; "" if it is null. `path`: as for decode_quantity(). */
const char *decode_item_text(struct decode *d, const cJSON *item, const char *path);

/* Calls decode_fail() unless `element` is an object or null. `path` is the path of `element`. */
void decode_check_element(struct decode *d, const cJSON *element, const char *path);

/*
 * Allocates `size` uninitialized bytes for each element of an array or member of an object. Returns
 * NULL without elements. The caller frees the memory.
 */
void *decode_alloc_array(const cJSON *items, size_t size);

/*
 * Returns the array of strings `parent.key` as `*count` interned strings, null as "", without
 * invalid elements; NULL if absent or empty. Release it with decode_texts_release(), also after
 * errors.
 */
const char **decode_texts(struct decode *d, const cJSON *parent, const char *path, const char *key,
                          uint32_t *count);
void decode_texts_release(struct intern *strings, const char **texts, uint32_t count);

/*
 * Sets `failed` and the error text "'<prefix>.<path>.<key>' <what>", without empty parts. Does
 * nothing if `failed` is set already.
 */
void decode_fail(struct decode *d, const char *path, const char *key, const char *what);

/* ---- findings of the admission of an object ---- */

/* Set of releases of Karmada, bits by enum release. */
typedef uint8_t release_set;

/* Field of an object that the API server or a webhook refuses, or that the API server drops. */
struct admission_finding {
    const char *field;    /* Path, such as spec.placement; "" for the object. In `texts`. */
    const char *text;     /* Predicate of a sentence about the field. In `texts`. */
    release_set releases; /* Releases of which it is true. */
    bool pruned;          /* Dropped, not refused. */
};

/* Findings about an object, for each release. */
struct admission {
    release_set refused; /* Releases that refuse the object. */
    release_set pruned;  /* Releases that drop fields. */
    bool refused_by_all; /* No release accepts the object. */
    bool stored;         /* The object was read from an API server, now or before. */
    uint32_t count;
    struct admission_finding items[]; /* The texts are in the same allocation. */
};

/*
 * Returns the findings about an object, which the caller frees; NULL without findings. Call it
 * after the last member was decoded. If decoding failed, and no API server stores the object,
 * because all releases refuse it, resets `failed` and sets `*unread`: the caller returns an object
 * without effect, and the findings have the reasons.
 */
struct admission *decode_admission(struct decode *d, const cJSON *object, bool *unread) MUST_USE;

/* Returns true if an object has this apiVersion and kind. */
bool is_object_of_kind(const cJSON *json, const char *api_version, const char *kind);

/* Used only by tests. */

/* Returns the number of different strings and blocks in the pool. */
size_t intern_count(const struct intern *pool);
