/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/override_policy.h"

#include "metrics/model/managed_fields.h"

/* JSON pointers of the fields by which override policies select. */
static const char *const identity_paths[] = {
    "/apiVersion", "/kind", "/metadata/labels", "/metadata/name", "/metadata/namespace",
};

/* Fields list[].parent.key of overriders. They contain the JSON pointer of the field to change. */
static const struct {
    const char *list;
    const char *parent; /* NULL if the field is list[].key. */
    const char *key;
} written_paths[] = {
    {"plaintext", NULL, "path"},
    {"fieldOverrider", NULL, "fieldPath"},
    {"imageOverrider", "predicate", "path"},
};

/* Returns true if the JSON pointer is in identity_paths, or a parent or child of such a path. */
static bool is_identity_path(const char *pointer)
{
    for (size_t i = 0; i < ARRAY_LEN(identity_paths); i++) {
        const char *a = pointer;
        const char *b = identity_paths[i];

        while (*a && *a == *b) {
            a++;
            b++;
        }
        if ((*a == '\0' && (*b == '\0' || *b == '/')) || (*b == '\0' && *a == '/'))
            return true;
    }
    return false;
}

static bool overriders_change_identity(struct decode *d, const cJSON *overriders, const char *path)
{
    bool writes = cJSON_GetArraySize(decode_array(d, overriders, path, "labelsOverrider")) > 0;
    const cJSON *item;

    for (size_t i = 0; i < ARRAY_LEN(written_paths); i++) {
        const char *parent = written_paths[i].parent;

        cJSON_ArrayForEach (item, decode_array(d, overriders, path, written_paths[i].list)) {
            const cJSON *holder = parent ? json_get(item, parent) : item;

            writes |= holder && is_identity_path(json_str(holder, written_paths[i].key, ""));
        }
    }
    return writes;
}

/* Decodes targetCluster and overriders in `json`, the object at `path`. */
static void read_rule(struct decode *d, const cJSON *json, const char *path,
                      struct override_rule *out)
{
    const cJSON *target = decode_object(d, json, path, "targetCluster");
    const cJSON *overriders = decode_object(d, json, path, "overriders");
    const cJSON *list;
    char where[64];

    snprintf(where, sizeof(where), "%s.overriders", path);
    *out = (struct override_rule){
        .empty = true,
        .writes_identity = overriders_change_identity(d, overriders, where),
    };
    cJSON_ArrayForEach (list, overriders)
        out->empty &= cJSON_GetArraySize(list) == 0;
    if (!out->empty)
        out->overriders = cJSON_Duplicate(overriders, true);
    if (!target)
        return;
    snprintf(where, sizeof(where), "%s.targetCluster", path);
    out->target = xcalloc(1, sizeof(*out->target));
    cluster_affinity_decode(d, target, where, out->target);
}

/* Makes an override policy without effect. */
static void drop_rules(struct intern *strings, struct override *o)
{
    for (uint32_t i = 0; i < o->rule_count; i++) {
        if (o->rules[i].target)
            cluster_affinity_release(strings, o->rules[i].target);
        free(o->rules[i].target);
        cJSON_Delete(o->rules[i].overriders);
    }
    o->rule_count = 0;
}

void *override_decode(struct decode *d, const cJSON *json)
{
    static const char path[] = "spec.overrideRules[]";
    const cJSON *metadata = decode_object(d, json, "", "metadata");
    const cJSON *spec = decode_object(d, json, "", "spec");
    const cJSON *rules = decode_array(d, spec, "spec", "overrideRules");
    struct override *o = pool_alloc_zeroed(intern_memory(d->strings), sizeof(*o));
    const cJSON *item;

    o->selectors = resource_selectors_decode(d, spec, "resourceSelectors", &o->selector_count);
    o->deprecated = cJSON_GetArraySize(rules) == 0;
    o->rules = o->deprecated ? xcalloc(1, sizeof(*o->rules))
                             : decode_alloc_array(rules, sizeof(*o->rules));
    if (o->deprecated)
        read_rule(d, spec, "spec", &o->rules[o->rule_count++]);
    cJSON_ArrayForEach (item, rules) {
        decode_check_element(d, item, path);
        read_rule(d, item, path, &o->rules[o->rule_count++]);
    }
    o->created_ms = decode_time(d, metadata, "metadata", "creationTimestamp");
    o->changed_ms = user_change_time_ms(d, metadata, NULL);
    o->protected = deletion_is_protected(metadata);
    o->admission = decode_admission(d, json, &o->unread);
    if (o->unread)
        drop_rules(d->strings, o);
    if (d->failed) {
        override_release(d->strings, o);
        return NULL;
    }
    return o;
}

void override_release(struct intern *strings, void *object)
{
    struct override *o = object;

    if (!o)
        return;
    resource_selectors_release(strings, o->selectors, o->selector_count);
    drop_rules(strings, o);
    free(o->rules);
    free(o->admission);
    pool_free(o);
}
