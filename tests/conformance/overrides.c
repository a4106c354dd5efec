/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/override/override_effect.h"

#include "exporter/yaml/yaml_writer.h"
#include "metrics/base/json.h"
#include "metrics/model/store.h"
#include "metrics/rules/override/override_check.h"
#include "tests/conformance/conformance.h"

/* Vectors of override policies: what ApplyOverridePolicies does for each cluster. */

enum { SEED = 1 };

/* Returns true if both texts are YAML with equal values: the writers of YAML differ. */
static bool yaml_equal(const char *a, const char *b)
{
    struct error err;
    CLEANUP(json_cleanup) cJSON *left = yaml_field_converter.read(a, &err);
    CLEANUP(json_cleanup) cJSON *right = yaml_field_converter.read(b, &err);

    return left && right && cJSON_Compare(left, right, true);
}

static bool values_equal(const cJSON *a, const cJSON *b)
{
    const cJSON *x, *y;

    if (!a || !b || cJSON_IsString(a) != cJSON_IsString(b) || cJSON_IsArray(a) != cJSON_IsArray(b))
        return !a && !b;
    if (cJSON_IsString(a))
        return strcmp(a->valuestring, b->valuestring) == 0 ||
               yaml_equal(a->valuestring, b->valuestring);
    if (!a->child || cJSON_GetArraySize(a) != cJSON_GetArraySize(b))
        return cJSON_Compare(a, b, true);
    for (x = a->child, y = b->child; x; x = x->next, y = y->next) {
        if (!values_equal(x, x->string ? cJSON_GetObjectItemCaseSensitive(b, x->string) : y))
            return false;
    }
    return true;
}

static bool differ(struct strbuf *why, const char *what, const cJSON *expected, const cJSON *actual)
{
    char *left = expected ? cJSON_PrintUnformatted(expected) : NULL;
    char *right = actual ? cJSON_PrintUnformatted(actual) : NULL;

    strbuf_addf(why, " %s: Karmada %s, the rules %s;", what, left ? left : "none",
                right ? right : "none");
    cJSON_free(left);
    cJSON_free(right);
    return false;
}

static bool agree(struct strbuf *why, const char *what, const cJSON *expected, const cJSON *actual)
{
    return values_equal(expected, actual) || differ(why, what, expected, actual);
}

/* ---- the effect in the format of the vectors ---- */

static cJSON *rule_json(const struct entry *policy, const struct override_rule *rule)
{
    cJSON *out = cJSON_CreateObject();

    cJSON_AddStringToObject(out, "kind", entry_kind(policy));
    if (*entry_ns(policy))
        cJSON_AddStringToObject(out, "namespace", entry_ns(policy));
    cJSON_AddStringToObject(out, "name", policy->name);
    if (!entry_override(policy)->deprecated)
        cJSON_AddNumberToObject(out, "rule", override_rule_index(policy, rule));
    return out;
}

static cJSON *applied_json(const struct override_effect *effect)
{
    cJSON *out = cJSON_CreateArray();

    for (size_t i = 0; i < effect->applied_count; i++) {
        const struct applied_override *applied = &effect->applied[i];
        cJSON *item = rule_json(applied->policy, applied->rule);
        cJSON *paths = cJSON_AddArrayToObject(item, "paths");

        for (size_t k = 0; k < applied->changes.count; k++)
            cJSON_AddItemToArray(paths, cJSON_CreateString(applied->changes.items[k].path));
        cJSON_AddItemToArray(out, item);
    }
    return out;
}

static cJSON *changes_json(const struct override_changes *changes)
{
    cJSON *out = cJSON_CreateArray();

    for (size_t i = 0; i < changes->count; i++) {
        const struct override_change *change = &changes->items[i];
        cJSON *item = cJSON_CreateObject();

        cJSON_AddStringToObject(item, "path", change->path);
        if (change->from)
            cJSON_AddItemToObject(item, "from", cJSON_Duplicate(change->from, true));
        if (change->to)
            cJSON_AddItemToObject(item, "to", cJSON_Duplicate(change->to, true));
        cJSON_AddItemToArray(out, item);
    }
    return out;
}

static cJSON *work_json(const struct override_effect *effect)
{
    cJSON *out = cJSON_CreateObject();
    cJSON *cluster_wide = override_effect_annotation(effect, true);
    cJSON *namespaced = override_effect_annotation(effect, false);

    if (cluster_wide)
        cJSON_AddItemToObject(out, "policy.karmada.io/applied-cluster-overrides", cluster_wide);
    if (namespaced)
        cJSON_AddItemToObject(out, "policy.karmada.io/applied-overrides", namespaced);
    if (out->child)
        return out;
    cJSON_Delete(out);
    return NULL;
}

static bool error_agrees(const cJSON *expected, const struct override_effect *effect,
                         struct strbuf *why)
{
    CLEANUP(json_cleanup) cJSON *actual = NULL;
    CLEANUP(json_cleanup) cJSON *wanted = cJSON_Duplicate(expected, true);

    if (effect->failed_policy)
        actual = rule_json(effect->failed_policy, effect->failed_rule);
    if (effect->panicked)
        cJSON_AddTrueToObject(actual, "panic");
    cJSON_DeleteItemFromObjectCaseSensitive(wanted, "message");
    if (values_equal(wanted, actual))
        return true;
    strbuf_addf(why, " (%s; %s)", json_str(expected, "message", ""), effect->err.text);
    return differ(why, "error", expected, actual);
}

static bool effect_agrees(const cJSON *expect, const struct override_effect *effect,
                          struct strbuf *why)
{
    CLEANUP(json_cleanup) cJSON *applied = applied_json(effect);
    CLEANUP(json_cleanup) cJSON *changes = changes_json(&effect->changes);
    CLEANUP(json_cleanup) cJSON *work = work_json(effect);
    const cJSON *error = json_get(expect, "error");

    if (!agree(why, "applied", json_get(expect, "applied"), applied) ||
        !error_agrees(error, effect, why))
        return false;
    return error || (agree(why, "changes", json_get(expect, "changes"), changes) &&
                     agree(why, "result", json_get(expect, "result"), effect->result) &&
                     agree(why, "work", json_get(expect, "work"), work));
}

/* ---- one vector ---- */

static bool cluster_agrees(const struct override_subject *subject,
                           const struct override_selection *selection, const cJSON *expect,
                           struct strbuf *why)
{
    const struct kind_def *def = kind_of_clusters();
    const char *name = json_str(expect, "cluster", "");
    const struct identity id = {def->api_version, def->name, "", name};
    const struct entry *cluster = store_find(subject->store, &id);
    const cJSON *error = json_get(expect, "error");
    struct override_effect effect;
    bool agrees;

    /* Karmada applies nothing for a cluster that does not exist. */
    if (!cluster)
        return (error && !json_get(error, "kind")) || differ(why, "cluster", expect, NULL);
    effect = override_effect_make(subject, selection, name, entry_cluster(cluster));
    agrees = effect_agrees(expect, &effect, why);
    override_effect_release(&effect);
    return agrees;
}

static const cJSON *find_object(const cJSON *objects, const struct identity *id)
{
    const cJSON *item;

    cJSON_ArrayForEach (item, objects) {
        const cJSON *metadata = json_get(item, "metadata");

        if (strcmp(json_str(item, "kind", ""), id->kind) == 0 &&
            strcmp(json_str(item, "apiVersion", ""), id->api_version) == 0 &&
            strcmp(json_str(metadata, "namespace", ""), id->ns) == 0 &&
            strcmp(json_str(metadata, "name", ""), id->name) == 0)
            return item;
    }
    return NULL;
}

enum verdict judge_overrides(const cJSON *vector, enum release release, struct strbuf *why)
{
    const cJSON *objects = json_array(vector, "objects"), *of = json_get(vector, "template");
    const struct identity id = {json_str(of, "apiVersion", ""), json_str(of, "kind", ""),
                                json_str(of, "namespace", ""), json_str(of, "name", "")};
    struct store *store = store_new(SEED);
    struct override_subject subject = {
        .store = store,
        .object = find_object(objects, &id),
        .yaml = &yaml_field_converter,
        .release = {release, release, RELEASE_GIVEN, false},
    };
    struct override_selection selection = {0};
    const cJSON *item;
    struct error err;
    bool right = true;

    cJSON_ArrayForEach (item, objects)
        right &= store_put(store, item, (struct origin){0}, &err) != STORE_REJECTED;
    subject.template = store_find(store, &id);
    right &= subject.template && subject.object;
    if (!right)
        strbuf_addf(why, " an object was rejected;");
    else
        selection = override_selection_make(store, subject.template);
    bool never_fails = right && overrides_cannot_fail(&selection, subject.object);

    cJSON_ArrayForEach (item, json_array(vector, "expect")) {
        if (never_fails && json_get(json_get(item, "error"), "kind"))
            right = differ(why, "failure", item, NULL);
        right = right && cluster_agrees(&subject, &selection, item, why);
    }
    override_selection_release(&selection);
    store_free(store);
    return right ? VERDICT_RIGHT : VERDICT_WRONG;
}
