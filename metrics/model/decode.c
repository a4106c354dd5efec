/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/decode.h"

#include <math.h>

#include "metrics/base/handle_map.h"
#include "metrics/base/map.h"
#include "metrics/base/number.h"
#include "metrics/base/timestamp.h"

enum {
    POOLED_BYTES_MAX = 4096, /* Each larger cell would use up one of the pool's blocks. */
    MEMO_SLOTS = 256,
    MEMO_KEY_MAX = 2048, /* Longer keys are rare, and are not remembered. */
};

/* A text that was derived from a key, for intern_recall(). */
struct memo {
    uint64_t hash;
    size_t key_len;
    char *bytes; /* Owned: the key, then the text with its NUL. NULL if the slot is empty. */
};

struct intern {
    uint64_t seed;
    struct memo memos[MEMO_SLOTS];
    struct pool *memory;
    struct handle_map pooled; /* Strings and blocks of at most POOLED_BYTES_MAX bytes. */
    struct map large;         /* The others, allocated by malloc(). */
};

/* Header of an interned string or block. Callers have a pointer to `bytes` only. */
struct shared {
    uint32_t len : 31;
    uint32_t is_block : 1;
    uint32_t references;
    char bytes[]; /* Aligned to 8 bytes; a NUL byte follows. */
};

static_assert(offsetof(struct shared, bytes) == INTERN_HEADER_BYTES, "see intern_at()");
static_assert(INTERN_HANDLE_MAX <= (int)POOLED_BYTES_MAX, "strings with handles are in the pool");

struct shared_key {
    const void *bytes;
    size_t len;
    bool is_block;
};

static bool shared_equal(const void *item, const void *key)
{
    const struct shared *shared = item;
    const struct shared_key *k = key;

    return shared->len == k->len && shared->is_block == k->is_block &&
           memcmp(shared->bytes, k->bytes, k->len) == 0;
}

/* Returns the header of a string or block, not const: the pool changes the reference count. */
static struct shared *header_of(const void *shared)
{
    return (struct shared *)((uintptr_t)shared - offsetof(struct shared, bytes));
}

/* Returns true if a string or block of this length is in the map of large ones. */
static bool is_large(size_t len)
{
    return len > POOLED_BYTES_MAX;
}

struct intern *intern_new(uint64_t seed)
{
    struct intern *pool = xmalloc(sizeof(*pool));
    struct pool *memory = pool_new();

    *pool = (struct intern){.seed = seed,
                            .memory = memory,
                            .pooled = HANDLE_MAP_INIT(memory, shared_equal),
                            .large = MAP_INIT(shared_equal)};
    return pool;
}

void intern_free(struct intern *pool)
{
    void *shared;

    if (!pool)
        return;
    for (uint64_t at = 0; (shared = handle_map_next(&pool->pooled, &at));)
        pool_free(shared);
    for (size_t at = 0; (shared = map_next(&pool->large, &at));)
        free(shared);
    handle_map_release(&pool->pooled);
    map_release(&pool->large);
    for (size_t i = 0; i < MEMO_SLOTS; i++)
        free(pool->memos[i].bytes);
    pool_destroy(pool->memory);
    free(pool);
}

struct pool *intern_memory(const struct intern *pool)
{
    return pool->memory;
}

static uint64_t hash_key(const struct intern *pool, const struct shared_key *key)
{
    return map_hash(key->bytes, key->len, pool->seed);
}

static struct shared *find_shared(const struct intern *pool, uint64_t hash,
                                  const struct shared_key *key)
{
    return is_large(key->len) ? map_get(&pool->large, hash, key)
                              : handle_map_get(&pool->pooled, hash, key);
}

/* Returns the interned copy with a new reference; `*added` is set to true if it is a new one. */
static const void *add_shared(struct intern *pool, const struct shared_key *key, bool *added)
{
    uint64_t hash = hash_key(pool, key);
    struct shared *shared = find_shared(pool, hash, key);
    size_t size = sizeof(*shared) + key->len + 1;

    *added = !shared;
    if (shared)
        return intern_ref(shared->bytes);

    assert(key->len < INT32_MAX);
    shared = is_large(key->len) ? xmalloc(size) : pool_alloc(pool->memory, size);
    *shared = (struct shared){
        .len = (uint32_t)key->len & INT32_MAX, .is_block = key->is_block, .references = 1};
    if (key->len > 0)
        memcpy(shared->bytes, key->bytes, key->len);
    shared->bytes[key->len] = '\0';
    if (is_large(key->len))
        map_add(&pool->large, hash, shared);
    else
        handle_map_add(&pool->pooled, hash, shared);
    return shared->bytes;
}

const char *intern_add(struct intern *pool, const char *s)
{
    return intern_add_len(pool, s, strlen(s));
}

const char *intern_add_len(struct intern *pool, const char *s, size_t len)
{
    bool added;

    return add_shared(pool, &(struct shared_key){.bytes = s, .len = len}, &added);
}

const void *intern_add_block(struct intern *pool, const void *bytes, size_t size, bool *added)
{
    return add_shared(pool, &(struct shared_key){bytes, size, .is_block = true}, added);
}

pool_handle intern_handle(const void *shared)
{
    assert(intern_len(shared) <= INTERN_HANDLE_MAX);
    return pool_handle_of(header_of(shared));
}

const void *intern_ref(const void *shared)
{
    struct shared *header = header_of(shared);

    /* An overflow of the count would free a string that is in use. */
    assert(header->references < UINT32_MAX);
    header->references++;
    return shared;
}

size_t intern_len(const void *shared)
{
    return header_of(shared)->len;
}

bool intern_has_one_reference(const void *shared)
{
    return header_of(shared)->references == 1;
}

const char *intern_find(const struct intern *pool, const char *s)
{
    const struct shared_key key = {.bytes = s, .len = strlen(s)};
    const struct shared *shared = find_shared(pool, hash_key(pool, &key), &key);

    return shared ? shared->bytes : NULL;
}

void intern_drop(struct intern *pool, const void *shared)
{
    if (!shared)
        return;

    struct shared *header = header_of(shared);
    const struct shared_key key = {shared, header->len, header->is_block};

    if (--header->references > 0)
        return;
    if (is_large(key.len))
        free(map_take(&pool->large, hash_key(pool, &key), &key));
    else
        pool_free(handle_map_take(&pool->pooled, hash_key(pool, &key), &key));
}

const char *intern_recall(struct intern *pool, const char *key, size_t len)
{
    uint64_t hash = map_hash(key, len, pool->seed);
    const struct memo *memo = &pool->memos[hash % MEMO_SLOTS];

    if (!memo->bytes || memo->hash != hash || memo->key_len != len ||
        memcmp(memo->bytes, key, len) != 0)
        return NULL;
    return intern_add(pool, memo->bytes + len);
}

void intern_remember(struct intern *pool, const char *key, size_t len, const char *text)
{
    uint64_t hash = map_hash(key, len, pool->seed);
    struct memo *memo = &pool->memos[hash % MEMO_SLOTS];
    size_t text_bytes = strlen(text) + 1;

    if (len > MEMO_KEY_MAX || text_bytes > MEMO_KEY_MAX)
        return;
    free(memo->bytes);
    memo->hash = hash;
    memo->key_len = len;
    memo->bytes = xmalloc(len + text_bytes);
    if (len > 0)
        memcpy(memo->bytes, key, len);
    memcpy(memo->bytes + len, text, text_bytes);
}

size_t intern_count(const struct intern *pool)
{
    return pool->pooled.count + pool->large.count;
}

static const char *json_type_name(const cJSON *item)
{
    if (cJSON_IsString(item))
        return "a string";
    if (cJSON_IsNumber(item))
        return "a number";
    if (cJSON_IsBool(item))
        return "a boolean";
    if (cJSON_IsArray(item))
        return "an array";
    return "an object";
}

void decode_fail(struct decode *d, const char *path, const char *key, const char *what)
{
    const char *prefix = d->prefix ? d->prefix : "";

    if (d->failed)
        return;
    d->failed = true;
    fail(d->err, "'%s%s%s%s%s' %s", prefix, *prefix && (*path || *key) ? "." : "", path,
         *path && *key ? "." : "", key, what);
}

static void fail_wrong_type(struct decode *d, const char *path, const char *key, const char *wanted,
                            const cJSON *found)
{
    char what[64];

    snprintf(what, sizeof(what), "must be %s, found %s", wanted, json_type_name(found));
    decode_fail(d, path, key, what);
}

const cJSON *decode_object(struct decode *d, const cJSON *parent, const char *path, const char *key)
{
    const cJSON *item = json_get(parent, key);

    if (item && !cJSON_IsObject(item)) {
        fail_wrong_type(d, path, key, "an object", item);
        return NULL;
    }
    return item;
}

const cJSON *decode_array(struct decode *d, const cJSON *parent, const char *path, const char *key)
{
    const cJSON *item = json_get(parent, key);

    if (item && !cJSON_IsArray(item)) {
        fail_wrong_type(d, path, key, "an array", item);
        return NULL;
    }
    return item;
}

const char *decode_text(struct decode *d, const cJSON *parent, const char *path, const char *key)
{
    const cJSON *item = json_get(parent, key);

    if (item && !cJSON_IsString(item)) {
        fail_wrong_type(d, path, key, "a string", item);
        return NULL;
    }
    return item && item->valuestring[0] ? item->valuestring : NULL;
}

const char *decode_interned(struct decode *d, const cJSON *parent, const char *path,
                            const char *key)
{
    const char *text = decode_text(d, parent, path, key);

    return text ? intern_add(d->strings, text) : NULL;
}

const char *decode_interned_or_empty(struct decode *d, const cJSON *parent, const char *path,
                                     const char *key)
{
    const char *text = decode_text(d, parent, path, key);

    return intern_add(d->strings, text ? text : "");
}

int64_t decode_int(struct decode *d, const cJSON *parent, const char *path, const char *key,
                   int64_t fallback)
{
    const cJSON *item = json_get(parent, key);

    if (!item)
        return fallback;
    if (!cJSON_IsNumber(item)) {
        fail_wrong_type(d, path, key, "a whole number", item);
        return fallback;
    }
    /* A double is exact for whole numbers up to 2^53. */
    if (item->valuedouble != trunc(item->valuedouble) || fabs(item->valuedouble) > 0x1p53) {
        decode_fail(d, path, key, "must be a whole number of at most 2^53");
        return fallback;
    }
    return (int64_t)item->valuedouble;
}

enum optional_bool decode_bool(struct decode *d, const cJSON *parent, const char *path,
                               const char *key)
{
    const cJSON *item = json_get(parent, key);

    if (!item)
        return OPTIONAL_ABSENT;
    if (!cJSON_IsBool(item)) {
        fail_wrong_type(d, path, key, "a boolean", item);
        return OPTIONAL_ABSENT;
    }
    return cJSON_IsTrue(item) ? OPTIONAL_TRUE : OPTIONAL_FALSE;
}

int64_t decode_time(struct decode *d, const cJSON *parent, const char *path, const char *key)
{
    const char *text = decode_text(d, parent, path, key);
    int64_t ms = 0;

    if (text && !parse_timestamp(text, &ms))
        decode_fail(d, path, key, "must be a time such as 2026-01-31T12:00:00Z");
    return ms;
}

bool decode_is_deleting(struct decode *d, const cJSON *metadata)
{
    decode_time(d, metadata, "metadata", "deletionTimestamp");
    return decode_text(d, metadata, "metadata", "deletionTimestamp") != NULL;
}

int32_t decode_replicas(struct decode *d, const cJSON *parent, const char *path, const char *key,
                        int32_t fallback)
{
    int64_t replicas = decode_int(d, parent, path, key, fallback);

    if (json_get(parent, key) && (replicas < 0 || replicas > INT32_MAX)) {
        decode_fail(d, path, key, "must be between 0 and 2147483647");
        return fallback;
    }
    return (int32_t)replicas;
}

static const char *member_name(const cJSON *item)
{
    return item->string ? item->string : "";
}

double decode_quantity(struct decode *d, const cJSON *item, const char *path)
{
    double amount = 0;

    if (cJSON_IsNull(item))
        return 0;
    if (cJSON_IsNumber(item)) {
        amount = item->valuedouble;
    } else if (!cJSON_IsString(item)) {
        fail_wrong_type(d, path, member_name(item), "a quantity", item);
        return 0;
    } else if (!parse_quantity(item->valuestring, &amount)) {
        decode_fail(d, path, member_name(item), "must be a quantity such as 500m or 1.5Gi");
        return 0;
    }
    if (amount < 0 || !isfinite(amount)) {
        decode_fail(d, path, member_name(item),
                    "must be a quantity of at least 0 within the supported range");
        return 0;
    }
    return amount;
}

const char *decode_item_text(struct decode *d, const cJSON *item, const char *path)
{
    if (cJSON_IsString(item))
        return item->valuestring;
    if (!cJSON_IsNull(item))
        fail_wrong_type(d, path, member_name(item), "a string", item);
    return "";
}

void decode_check_element(struct decode *d, const cJSON *element, const char *path)
{
    if (!cJSON_IsObject(element) && !cJSON_IsNull(element))
        fail_wrong_type(d, path, "", "an object", element);
}

void *decode_alloc_array(const cJSON *items, size_t size)
{
    size_t count = (size_t)cJSON_GetArraySize(items);

    return count > 0 ? xreallocarray(NULL, count, size) : NULL;
}

const char **decode_texts(struct decode *d, const cJSON *parent, const char *path, const char *key,
                          uint32_t *count)
{
    const cJSON *array = decode_array(d, parent, path, key);
    const char **texts = decode_alloc_array(array, sizeof(*texts));
    const cJSON *item;

    *count = 0;
    cJSON_ArrayForEach (item, array) {
        if (!cJSON_IsString(item) && !cJSON_IsNull(item))
            decode_fail(d, path, key, "must be an array of strings");
        else
            texts[(*count)++] = intern_add(d->strings, decode_item_text(d, item, path));
    }
    return texts;
}

void decode_texts_release(struct intern *strings, const char **texts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        intern_drop(strings, texts[i]);
    free(texts);
}

struct admission *decode_admission(struct decode *d, const cJSON *object, bool *unread)
{
    struct admission *a = d->review ? d->review(object) : NULL;

    *unread = d->failed && a && a->refused_by_all && !a->stored;
    if (*unread)
        d->failed = false;
    return a;
}

bool is_object_of_kind(const cJSON *json, const char *api_version, const char *kind)
{
    return strcmp(json_str(json, "apiVersion", ""), api_version) == 0 &&
           strcmp(json_str(json, "kind", ""), kind) == 0;
}
