/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/metadata.h"

#include "metrics/base/map.h"
#include "metrics/base/number.h"

static const uint32_t fnv_basis = 2166136261U;
static const uint32_t fnv_prime = 16777619U;

bool identity_read(const cJSON *json, struct identity *out, struct error *err)
{
    const cJSON *metadata = json_get(json, "metadata");
    struct identity id = {
        .api_version = json_str(json, "apiVersion", ""),
        .kind = json_str(json, "kind", ""),
        .ns = json_str(metadata, "namespace", ""),
        .name = json_str(metadata, "name", ""),
    };

    if (!*id.api_version)
        return fail(err, "the object has no apiVersion");
    if (!*id.kind)
        return fail(err, "the object has no kind");
    if (!*id.name)
        return fail(err, "the %s has no metadata.name", id.kind);
    *out = id;
    return true;
}

uint32_t uid_hash(const char *uid)
{
    uint32_t hash = fnv_basis;

    for (const char *c = uid; *c; c++)
        hash = (hash ^ (unsigned char)*c) * fnv_prime;
    return hash;
}

bool uid_hashes_differ(uint32_t a, uint32_t b)
{
    return a != b && a != fnv_basis && b != fnv_basis;
}

uint32_t short_version_of_text(const char *version)
{
    uint64_t number = 0;

    if (*version && !parse_uint(version, UINT64_MAX, &number))
        number = map_hash(version, strlen(version), 0);
    return (uint32_t)number;
}

uint32_t short_version_of_object(const cJSON *json)
{
    return short_version_of_text(json_str(json_get(json, "metadata"), "resourceVersion", ""));
}

enum { NAME_MAX_LEN = 63, PREFIX_MAX_LEN = 253 };

static const struct {
    const char *name;
    enum label_operator op;
    bool has_values;
} operators[] = {
    {"In", LABEL_IN, true},
    {"NotIn", LABEL_NOT_IN, true},
    {"Exists", LABEL_EXISTS, false},
    {"DoesNotExist", LABEL_DOES_NOT_EXIST, false},
};

static void drop_label_texts(struct intern *strings, const struct label *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        intern_drop(strings, items[i].key);
        intern_drop(strings, items[i].value);
    }
}

void labels_decode(struct decode *d, const cJSON *parent, const char *path, const char *key,
                   struct labels *out)
{
    const cJSON *map = decode_object(d, parent, path, key);
    CLEANUP(free_cleanup) struct label *items = decode_alloc_array(map, sizeof(*items));
    size_t count = 0;
    const cJSON *item;
    bool added;

    *out = (struct labels){0};
    cJSON_ArrayForEach (item, map) {
        if (!cJSON_IsString(item) && !cJSON_IsNull(item)) {
            decode_fail(d, path, key, "must be a map of strings");
            break;
        }
        const char *value = decode_item_text(d, item, path);
        items[count++] =
            (struct label){intern_add(d->strings, item->string), intern_add(d->strings, value)};
    }
    if (count == 0)
        return;
    *out = labels_of_block(intern_add_block(d->strings, items, count * sizeof(*items), &added));
    if (!added)
        drop_label_texts(d->strings, items, count);
}

void labels_release(struct intern *strings, struct labels *labels)
{
    if (labels->items && intern_has_one_reference(labels->items))
        drop_label_texts(strings, labels->items, labels->count);
    intern_drop(strings, labels->items);
    *labels = (struct labels){0};
}

const char *labels_get(const struct labels *labels, const char *shared_key)
{
    /* Search backwards: the last of duplicate keys applies, as in Go. */
    for (size_t i = labels->count; i > 0; i--) {
        struct label label = labels_at(labels, i - 1);

        if (label.key == shared_key)
            return label.value;
    }
    return NULL;
}

size_t packed_labels_count(const cJSON *parent, const char *key)
{
    size_t count = (size_t)cJSON_GetArraySize(json_get(parent, key));

    return count < PACKED_LABELS_MAX ? count : PACKED_LABELS_MAX;
}

static pool_handle intern_label_text(struct intern *strings, const char *text)
{
    return intern_handle(intern_add_len(strings, text, strnlen(text, LABEL_TEXT_MAX)));
}

static void drop_handles(struct intern *strings, const pool_handle *handles, size_t count)
{
    for (size_t i = 0; i < count; i++)
        intern_drop(strings, intern_at(intern_memory(strings), handles[i]));
}

static pool_handle share_keys(struct intern *strings, const pool_handle *keys, size_t count)
{
    bool added;
    const void *block = intern_add_block(strings, keys, count * sizeof(*keys), &added);

    if (!added)
        drop_handles(strings, keys, count);
    return intern_handle(block);
}

static_assert(PACKED_LABELS_MAX == 512, "the message in packed_labels_decode() has the number");

pool_handle packed_labels_decode(struct decode *d, const cJSON *parent, const char *path,
                                 const char *key, pool_handle *values)
{
    pool_handle keys[PACKED_LABELS_MAX];
    const cJSON *item;
    size_t count = 0;

    cJSON_ArrayForEach (item, decode_object(d, parent, path, key)) {
        if (!cJSON_IsString(item) && !cJSON_IsNull(item)) {
            decode_fail(d, path, key, "must be a map of strings");
            break;
        }
        if (count == PACKED_LABELS_MAX) {
            decode_fail(d, path, key, "must have at most 512 entries");
            break;
        }
        keys[count] = intern_label_text(d->strings, item->string);
        values[count++] = intern_label_text(d->strings, decode_item_text(d, item, path));
    }
    return count > 0 ? share_keys(d->strings, keys, count) : 0;
}

void packed_labels_release(struct intern *strings, pool_handle keys, const pool_handle *values)
{
    const pool_handle *block = intern_at(intern_memory(strings), keys);
    size_t count = block ? intern_len(block) / sizeof(*block) : 0;

    drop_handles(strings, values, count);
    if (block && intern_has_one_reference(block))
        drop_handles(strings, block, count);
    intern_drop(strings, block);
}

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Returns true if the text is valid as a non-empty label value, or the name part of a label key. */
static bool is_name_part(const char *s, size_t len)
{
    if (len == 0 || len > NAME_MAX_LEN || !is_alnum(s[0]) || !is_alnum(s[len - 1]))
        return false;
    for (size_t i = 0; i < len; i++) {
        if (!is_alnum(s[i]) && !strchr("-_.", s[i]))
            return false;
    }
    return true;
}

/* Returns true if the text is a DNS-1123 subdomain, valid as the prefix of a label key. */
static bool is_label_prefix(const char *s, size_t len)
{
    if (len == 0 || len > PREFIX_MAX_LEN)
        return false;
    for (size_t i = 0; i < len; i++) {
        bool edge = i == 0 || i == len - 1 || s[i - 1] == '.' || s[i + 1] == '.';

        if (s[i] >= 'A' && s[i] <= 'Z')
            return false;
        if (!is_alnum(s[i]) && (edge || (s[i] != '-' && s[i] != '.')))
            return false;
    }
    return true;
}

bool label_key_is_valid(const char *key)
{
    const char *slash = strchr(key, '/');
    const char *name = slash ? slash + 1 : key;

    return is_name_part(name, strlen(name)) &&
           (!slash || is_label_prefix(key, (size_t)(slash - key)));
}

bool label_value_is_valid(const char *value)
{
    return !*value || is_name_part(value, strlen(value));
}

bool object_name_is_valid(const char *name)
{
    return is_label_prefix(name, strlen(name));
}

bool deletion_is_protected(const cJSON *metadata)
{
    return strcmp(json_str(json_get(metadata, "labels"), DELETION_PROTECTION_LABEL, ""),
                  "Always") == 0;
}

/* Appends a requirement with capacity for `values` values. Sets `invalid` if the key is illegal. */
static struct label_requirement *add_requirement(struct decode *d, struct label_selector *s,
                                                 const char *key, enum label_operator op,
                                                 size_t values)
{
    s->items = xreallocarray(s->items, s->count + 1, sizeof(*s->items));
    struct label_requirement *r = &s->items[s->count++];

    *r = (struct label_requirement){.key = intern_add(d->strings, key), .op = op};
    if (values > 0)
        r->values = xreallocarray(NULL, values, sizeof(*r->values));
    if (!label_key_is_valid(key))
        s->invalid = "a label key is not valid";
    return r;
}

static void add_requirement_value(struct decode *d, struct label_selector *s,
                                  struct label_requirement *r, const char *value)
{
    r->values[r->value_count++] = intern_add(d->strings, value);
    if (!label_value_is_valid(value))
        s->invalid = "a label value is not valid";
}

static void decode_match_expression(struct decode *d, struct label_selector *s, const cJSON *item)
{
    static const char path[] = "matchExpressions[]";
    const char *key = decode_text(d, item, path, "key");
    const char *name = decode_text(d, item, path, "operator");
    const cJSON *values = decode_array(d, item, path, "values");
    size_t count = (size_t)cJSON_GetArraySize(values);
    const cJSON *value;
    size_t i = 0;

    decode_check_element(d, item, path);
    while (i < ARRAY_LEN(operators) && strcmp(name ? name : "", operators[i].name) != 0)
        i++;
    if (i == ARRAY_LEN(operators)) {
        s->invalid = "an operator is not one of In, NotIn, Exists, DoesNotExist";
        return;
    }
    if (operators[i].has_values != (count > 0))
        s->invalid = count > 0 ? "Exists and DoesNotExist take no values"
                               : "In and NotIn need at least one value";
    struct label_requirement *r = add_requirement(d, s, key ? key : "", operators[i].op, count);
    if (!r->values)
        return;
    cJSON_ArrayForEach (value, values)
        add_requirement_value(d, s, r, decode_item_text(d, value, "matchExpressions[].values"));
}

struct label_selector *label_selector_decode(struct decode *d, const cJSON *parent,
                                             const char *path, const char *key)
{
    const cJSON *json = decode_object(d, parent, path, key);
    const char *outer = d->prefix;
    const cJSON *item;
    char prefix[256];

    if (!json)
        return NULL;

    struct label_selector *s = xcalloc(1, sizeof(*s));
    snprintf(prefix, sizeof(prefix), "%s%s%s.%s", outer ? outer : "", outer ? "." : "", path, key);
    d->prefix = prefix;
    cJSON_ArrayForEach (item, decode_object(d, json, "", "matchLabels")) {
        const char *value = decode_item_text(d, item, "matchLabels");

        add_requirement_value(d, s, add_requirement(d, s, item->string, LABEL_IN, 1), value);
    }
    cJSON_ArrayForEach (item, decode_array(d, json, "", "matchExpressions"))
        decode_match_expression(d, s, item);
    d->prefix = outer;
    return s;
}

/* Returns a copy of the text without leading and trailing spaces; the caller frees it. */
static char *copy_trimmed(const char *text, size_t len)
{
    while (len > 0 && *text == ' ') {
        text++;
        len--;
    }
    while (len > 0 && text[len - 1] == ' ')
        len--;
    return xmemdup0(text, len);
}

/* Adds the comma-separated values to `expression`. An empty text is the value "", as in kubectl. */
static void add_expression_values(cJSON *expression, const char *text, size_t len)
{
    cJSON *values = cJSON_AddArrayToObject(expression, "values");

    for (size_t at = 0; at <= len;) {
        const char *comma = memchr(text + at, ',', len - at);
        size_t end = comma ? (size_t)(comma - text) : len;
        CLEANUP(free_cleanup) char *value = copy_trimmed(text + at, end - at);

        cJSON_AddItemToArray(values, cJSON_CreateString(value));
        at = end + 1;
    }
}

/*
 * Appends one requirement as a matchExpression: key, operator and values if an operator of `signs`
 * is found; else a key that must exist or, after '!', not. Returns false on a syntax error.
 */
static bool parse_requirement(const char *text, cJSON *expressions)
{
    static const struct {
        const char *sign;
        const char *op;
    } signs[] = {{"!=", "NotIn"}, {"==", "In"}, {"=", "In"}, {" notin", "NotIn"}, {" in", "In"}};
    cJSON *expression = cJSON_CreateObject();
    const char *open = strchr(text, '('), *op = *text == '!' ? "DoesNotExist" : "Exists";
    const char *key = text + (*text == '!');
    size_t key_len = strlen(key), len = strlen(text);

    cJSON_AddItemToArray(expressions, expression);
    for (size_t i = 0; i < ARRAY_LEN(signs) && *text != '!'; i++) {
        const char *at = strstr(text, signs[i].sign), *rest = at ? at + strlen(signs[i].sign) : "";
        bool list = signs[i].sign[0] == ' ';

        /* "in" and "notin" need a list in parentheses; the other operators must not have one. */
        if (!at || list != (open != NULL))
            continue;
        if (list && (rest + strspn(rest, " ") != open || text[len - 1] != ')'))
            return false;
        rest = list ? open + 1 : rest;
        add_expression_values(expression, rest, (size_t)(text + len - rest) - list);
        key_len = (size_t)(at - text);
        op = signs[i].op;
        open = NULL;
        break;
    }
    CLEANUP(free_cleanup) char *name = copy_trimmed(key, key_len);
    cJSON_AddStringToObject(expression, "key", name);
    cJSON_AddStringToObject(expression, "operator", op);
    /* `open` is still set if no operator accepted the parenthesis. */
    return !open;
}

struct label_selector *label_selector_parse(struct intern *strings, const char *text,
                                            struct error *err)
{
    CLEANUP(json_cleanup) cJSON *json = cJSON_CreateObject();
    cJSON *selector = cJSON_AddObjectToObject(json, "selector");
    cJSON *expressions = cJSON_AddArrayToObject(selector, "matchExpressions");
    struct decode d = {.strings = strings, .err = err};
    struct label_selector *s;
    bool is_valid = true;

    for (const char *at = text; is_valid; at++) {
        size_t len = strcspn(at, ",(");

        /* A requirement ends at the first comma outside of parentheses. */
        if (at[len] == '(')
            len += strcspn(at + len, ")");
        len += strcspn(at + len, ",");

        CLEANUP(free_cleanup) char *requirement = copy_trimmed(at, len);

        is_valid = parse_requirement(requirement, expressions);
        at += len;
        if (*at == '\0')
            break;
    }
    s = label_selector_decode(&d, json, "", "selector");
    if (is_valid && s && !s->invalid && !d.failed)
        return s;
    fail(err, "'%s' is not a label selector such as app=web,tier!=test%s%s", text,
         s && s->invalid ? ": " : "", s && s->invalid ? s->invalid : "");
    label_selector_free(strings, s);
    return NULL;
}

void label_selector_free(struct intern *strings, struct label_selector *selector)
{
    if (!selector)
        return;
    for (size_t i = 0; i < selector->count; i++) {
        struct label_requirement *r = &selector->items[i];

        intern_drop(strings, r->key);
        for (size_t v = 0; v < r->value_count; v++)
            intern_drop(strings, r->values[v]);
        free(r->values);
    }
    free(selector->items);
    free(selector);
}

static bool requirements_equal(const struct label_requirement *a, const struct label_requirement *b)
{
    return a->key == b->key && a->op == b->op && a->value_count == b->value_count &&
           (a->value_count == 0 ||
            memcmp(a->values, b->values, a->value_count * sizeof(*a->values)) == 0);
}

bool label_selector_equal(const struct label_selector *a, const struct label_selector *b)
{
    if (!a || !b)
        return a == b;
    if (a->count != b->count || a->invalid != b->invalid)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        if (!requirements_equal(&a->items[i], &b->items[i]))
            return false;
    }
    return true;
}
