/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/canonical_json.h"

#include <math.h>

enum {
    TEXT_MAX = 4 * 1024 * 1024,
    KEY_MAX = 2 * 1024, /* As in intern_remember(). */
};

/* A double represents every integer up to this value exactly. */
static const double whole_number_max = 0x1p53;

/* Parts of a policy spec for which canonical JSON has special rules. */
enum schema_node {
    NODE_OTHER,
    NODE_PLACEMENT,
    NODE_REPLICA_SCHEDULING,
    NODE_SPREAD_CONSTRAINT,
    NODE_FAILOVER,
    NODE_FAILOVER_APPLICATION,
    NODE_FAILOVER_CLUSTER,
    NODE_DECISION_CONDITIONS,
    NODE_SUSPENSION,
    NODE_MATCH_LABELS,
};

/* The member `key` of a `from` node is a `to` node. Array elements have the node of their array. */
static const struct step {
    enum schema_node from;
    const char *key;
    enum schema_node to;
} steps[] = {
    {NODE_PLACEMENT, "replicaScheduling", NODE_REPLICA_SCHEDULING},
    {NODE_PLACEMENT, "spreadConstraints", NODE_SPREAD_CONSTRAINT},
    {NODE_FAILOVER, "application", NODE_FAILOVER_APPLICATION},
    {NODE_FAILOVER, "cluster", NODE_FAILOVER_CLUSTER},
    {NODE_FAILOVER_APPLICATION, "decisionConditions", NODE_DECISION_CONDITIONS},
};

/* Default of an unset `key`, if `if_key` is NULL, or the member `if_key` is unset or `if_text`. */
static const struct default_value {
    enum schema_node node;
    const char *key;
    const char *json; /* Canonical JSON of the default. */
    const char *if_key;
    const char *if_text;
} defaults[] = {
    {NODE_REPLICA_SCHEDULING, "replicaSchedulingType", "\"Divided\"", NULL, NULL},
    {NODE_REPLICA_SCHEDULING, "replicaDivisionPreference", "\"Weighted\"", "replicaSchedulingType",
     "Divided"},
    {NODE_SPREAD_CONSTRAINT, "minGroups", "1", NULL, NULL},
    {NODE_SPREAD_CONSTRAINT, "spreadByField", "\"cluster\"", "spreadByLabel", ""},
    {NODE_FAILOVER_APPLICATION, "purgeMode", "\"Gracefully\"", NULL, NULL},
    {NODE_FAILOVER_APPLICATION, "gracePeriodSeconds", "600", "purgeMode", "Gracefully"},
    {NODE_FAILOVER_APPLICATION, "decisionConditions", "{\"tolerationSeconds\":300}", NULL, NULL},
    {NODE_FAILOVER_CLUSTER, "purgeMode", "\"Gracefully\"", NULL, NULL},
    {NODE_DECISION_CONDITIONS, "tolerationSeconds", "300", NULL, NULL},
};

/* Members for which 0 differs from an absent value, which means a default or no limit. */
static const char *const zero_is_value[] = {"tolerationSeconds", "gracePeriodSeconds"};

/* Members of spec.suspension that Karmada copies from policies. */
static const char *const suspension_keys[] = {"dispatching", "dispatchingOnClusters"};

/* A member of an object, or an element of an array. */
struct canonical_member {
    const char *key;   /* NULL for an element of an array. */
    const cJSON *item; /* NULL if the member is missing and has a default. */
    const char *json;  /* Canonical JSON of the default; NULL if `item` is set. */
    size_t position;   /* Position in the object, to order duplicate keys. */
};

static bool is_listed_key(const char *key, const char *const *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(key, keys[i]) == 0)
            return true;
    }
    return false;
}

static enum schema_node schema_node_of_member(enum schema_node from, const char *key)
{
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        if (steps[i].from == from && strcmp(steps[i].key, key) == 0)
            return steps[i].to;
    }
    return strcmp(key, "matchLabels") == 0 ? NODE_MATCH_LABELS : NODE_OTHER;
}

/* Returns true for NULL and for a scalar that means the same as an absent member. */
static bool is_unset(const cJSON *item)
{
    if (cJSON_IsString(item))
        return !item->valuestring[0];
    if (cJSON_IsNumber(item))
        return item->valuedouble == 0 &&
               !(item->string &&
                 is_listed_key(item->string, zero_is_value, ARRAY_LEN(zero_is_value)));
    return !item || cJSON_IsNull(item) || cJSON_IsFalse(item);
}

/* Writes a scalar, or an object or array that is empty or has only omitted members. */
static void write_leaf(struct strbuf *out, const cJSON *item)
{
    double number = item->valuedouble;

    if (cJSON_IsString(item))
        json_quote(out, item->valuestring);
    else if (cJSON_IsBool(item))
        strbuf_adds(out, cJSON_IsTrue(item) ? "true" : "false");
    else if (cJSON_IsObject(item))
        strbuf_adds(out, "{}");
    else if (cJSON_IsArray(item))
        strbuf_adds(out, "[]");
    else if (!cJSON_IsNumber(item))
        strbuf_adds(out, "null");
    else if (number == trunc(number) && fabs(number) <= whole_number_max)
        strbuf_addf(out, "%" PRId64, (int64_t)number);
    else
        strbuf_addf(out, "%.17g", number);
}

static int compare_members(const void *a, const void *b)
{
    const struct canonical_member *x = a;
    const struct canonical_member *y = b;
    int order = strcmp(x->key, y->key);

    if (order != 0)
        return order;
    return x->position < y->position ? -1 : 1;
}

/*
 * Lists the elements of an array in their order; or the members of an object and its defaults,
 * sorted by key. Of duplicate keys, lists the last, as in Go. Of NODE_SUSPENSION, lists only
 * suspension_keys. Returns the number of listed items.
 */
static size_t list_members(const cJSON *json, enum schema_node node, struct canonical_member *out)
{
    bool is_object = cJSON_IsObject(json);
    size_t count = 0;
    size_t kept = 0;
    const cJSON *item;

    cJSON_ArrayForEach (item, json) {
        const char *key = is_object ? item->string : NULL;

        if (node == NODE_SUSPENSION && key &&
            !is_listed_key(key, suspension_keys, ARRAY_LEN(suspension_keys)))
            continue;
        out[count] = (struct canonical_member){.key = key, .item = item, .position = count};
        count++;
    }
    if (!is_object)
        return count;
    for (size_t i = 0; i < ARRAY_LEN(defaults); i++) {
        const struct default_value *value = &defaults[i];
        const char *other;

        if (value->node != node || !is_unset(json_get(json, value->key)))
            continue;
        other = value->if_key ? json_str(json, value->if_key, "") : "";
        if (*other && strcmp(other, value->if_text) != 0)
            continue;
        out[count] =
            (struct canonical_member){.key = value->key, .json = value->json, .position = count};
        count++;
    }
    qsort(out, count, sizeof(*out), compare_members);
    for (size_t i = 0; i < count; i++) {
        if (i + 1 == count || strcmp(out[i].key, out[i + 1].key) != 0)
            out[kept++] = out[i];
    }
    return kept;
}

static void truncate_text(struct strbuf *out, size_t len)
{
    if (out->len == len)
        return;
    out->len = len;
    out->data[len] = '\0';
}

/* Writes a value. Returns false and writes nothing if it means the same as an absent value. */
static bool write_value(struct strbuf *out, const cJSON *item, enum schema_node node)
{
    bool is_object = cJSON_IsObject(item);
    size_t start = out->len;
    bool written = false;

    if (!is_object && !cJSON_IsArray(item)) {
        if (is_unset(item))
            return false;
        write_leaf(out, item);
        return true;
    }

    size_t room = (size_t)cJSON_GetArraySize(item) + ARRAY_LEN(defaults);
    CLEANUP(free_cleanup)
    struct canonical_member *members = xreallocarray(NULL, room, sizeof(*members));
    size_t count = list_members(item, node, members);

    strbuf_addc(out, is_object ? '{' : '[');
    for (size_t i = 0; i < count; i++) {
        const struct canonical_member *m = &members[i];
        size_t mark = out->len;

        strbuf_adds(out, written ? "," : "");
        if (m->key) {
            json_quote(out, m->key);
            strbuf_addc(out, ':');
        }
        if (m->json) {
            strbuf_adds(out, m->json);
        } else if (!write_value(out, m->item,
                                m->key ? schema_node_of_member(node, m->key) : node)) {
            /* Omit the member, unless it is an element of an array or a label. */
            if (m->key && node != NODE_MATCH_LABELS) {
                truncate_text(out, mark);
                continue;
            }
            write_leaf(out, m->item);
        }
        written = true;
    }
    strbuf_addc(out, is_object ? '}' : ']');
    if (!written)
        truncate_text(out, start);
    return written;
}

/* ---- cache of canonical texts ---- */

static void add_bytes(struct strbuf *key, const void *bytes, size_t len)
{
    strbuf_add(key, &len, sizeof(len));
    strbuf_add(key, bytes, len);
}

/* Appends bytes that differ for different values. Recursive: json_parse() limits the depth. */
static void add_key_of_value(struct strbuf *key, const cJSON *item)
{
    const int head[] = {item->type & 0xff, cJSON_GetArraySize(item)};
    const cJSON *child;

    strbuf_add(key, head, sizeof(head));
    if (cJSON_IsString(item))
        add_bytes(key, item->valuestring, strlen(item->valuestring));
    else if (cJSON_IsNumber(item))
        strbuf_add(key, &item->valuedouble, sizeof(item->valuedouble));
    cJSON_ArrayForEach (child, item) {
        if (child->string)
            add_bytes(key, child->string, strlen(child->string));
        add_key_of_value(key, child);
    }
}

static const char *derive_canonical_text(struct decode *d, const cJSON *json,
                                         enum canonical_kind kind)
{
    static const struct {
        enum schema_node node;
        const char *name;
    } roots[] = {
        [CANONICAL_PLAIN] = {NODE_OTHER, "schedulePriority"},
        [CANONICAL_PLACEMENT] = {NODE_PLACEMENT, "placement"},
        [CANONICAL_FAILOVER] = {NODE_FAILOVER, "failover"},
        [CANONICAL_SUSPENSION] = {NODE_SUSPENSION, "suspension"},
    };
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);

    if (!write_value(&text, json, roots[kind].node))
        return NULL;
    if (!strbuf_ok(&text)) {
        decode_fail(d, "spec", roots[kind].name, "is larger than 4 MiB");
        return NULL;
    }
    return intern_add_len(d->strings, text.data, text.len);
}

const char *canonical_text(struct decode *d, const cJSON *json, enum canonical_kind kind)
{
    CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(KEY_MAX);
    const char *text;

    if (!cJSON_IsObject(json))
        return derive_canonical_text(d, json, kind);
    strbuf_addc(&key, (char)kind);
    add_key_of_value(&key, json);
    text = strbuf_ok(&key) ? intern_recall(d->strings, key.data, key.len) : NULL;
    if (text)
        return text;
    text = derive_canonical_text(d, json, kind);
    if (text && strbuf_ok(&key))
        intern_remember(d->strings, key.data, key.len, text);
    return text;
}
