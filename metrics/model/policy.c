/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/policy.h"

#include "metrics/base/timestamp.h"
#include "metrics/model/canonical_json.h"

struct resource_selector *resource_selectors_decode(struct decode *d, const cJSON *spec,
                                                    const char *key, uint32_t *count)
{
    const cJSON *array = decode_array(d, spec, "spec", key);
    struct resource_selector *selectors = decode_alloc_array(array, sizeof(*selectors));
    char path[64];
    const cJSON *item;

    *count = 0;
    snprintf(path, sizeof(path), "spec.%s[]", key);
    cJSON_ArrayForEach (item, array) {
        decode_check_element(d, item, path);
        selectors[(*count)++] = (struct resource_selector){
            .api_version = decode_interned(d, item, path, "apiVersion"),
            .kind = decode_interned(d, item, path, "kind"),
            .ns = decode_interned(d, item, path, "namespace"),
            .name = decode_interned(d, item, path, "name"),
            .labels = label_selector_decode(d, item, path, "labelSelector"),
        };
    }
    return selectors;
}

void resource_selectors_release(struct intern *strings, struct resource_selector *selectors,
                                uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        intern_drop(strings, selectors[i].api_version);
        intern_drop(strings, selectors[i].kind);
        intern_drop(strings, selectors[i].ns);
        intern_drop(strings, selectors[i].name);
        label_selector_free(strings, selectors[i].labels);
    }
    free(selectors);
}

/* Returns true if two lists of `count` selectors are equal. Both need the same string pool. */
static bool resource_selectors_equal(const struct resource_selector *a,
                                     const struct resource_selector *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (a[i].api_version != b[i].api_version || a[i].kind != b[i].kind || a[i].ns != b[i].ns ||
            a[i].name != b[i].name || !label_selector_equal(a[i].labels, b[i].labels))
            return false;
    }
    return true;
}

static enum conflict_resolution read_conflict_resolution(struct decode *d, const cJSON *spec)
{
    const char *text = decode_text(d, spec, "spec", "conflictResolution");

    if (!text || strcmp(text, "Abort") == 0)
        return CONFLICT_RESOLUTION_ABORT;
    if (strcmp(text, "Overwrite") != 0)
        decode_fail(d, "spec", "conflictResolution", "must be Abort or Overwrite");
    return CONFLICT_RESOLUTION_OVERWRITE;
}

static const char *read_canonical(struct decode *d, const cJSON *spec, const char *key,
                                  enum canonical_kind kind)
{
    return canonical_text(d, decode_object(d, spec, "spec", key), kind);
}

void propagation_decode(struct decode *d, const cJSON *spec, struct propagation *out)
{
    const char *scheduler = decode_text(d, spec, "spec", "schedulerName");
    const cJSON *suspension = decode_object(d, spec, "spec", "suspension");

    decode_bool(d, suspension, "spec.suspension", "dispatching");
    decode_object(d, suspension, "spec.suspension", "dispatchingOnClusters");
    *out = (struct propagation){
        .placement = read_canonical(d, spec, "placement", CANONICAL_PLACEMENT),
        .failover = read_canonical(d, spec, "failover", CANONICAL_FAILOVER),
        .suspension = canonical_text(d, suspension, CANONICAL_SUSPENSION),
        .scheduler_name = intern_add(d->strings, scheduler ? scheduler : DEFAULT_SCHEDULER),
        .schedule_priority = read_canonical(d, spec, "schedulePriority", CANONICAL_PLAIN),
        .conflict_resolution = read_conflict_resolution(d, spec),
        .preserve = decode_bool(d, spec, "spec", "preserveResourcesOnDeletion"),
        .propagate_deps = decode_bool(d, spec, "spec", "propagateDeps") == OPTIONAL_TRUE,
    };
}

void propagation_release(struct intern *strings, struct propagation *p)
{
    intern_drop(strings, p->placement);
    intern_drop(strings, p->failover);
    intern_drop(strings, p->suspension);
    intern_drop(strings, p->scheduler_name);
    intern_drop(strings, p->schedule_priority);
    *p = (struct propagation){0};
}

bool propagation_equal(const struct propagation *a, const struct propagation *b)
{
    return a->placement == b->placement && a->failover == b->failover &&
           a->suspension == b->suspension && a->scheduler_name == b->scheduler_name &&
           a->schedule_priority == b->schedule_priority &&
           a->conflict_resolution == b->conflict_resolution && a->preserve == b->preserve &&
           a->propagate_deps == b->propagate_deps;
}

/* Returns true if f:spec of a managedFields entry contains a field of struct propagation. */
static bool owns_propagation_field(const cJSON *fields)
{
    static const char *const copied[] = {
        "f:placement",        "f:failover",
        "f:suspension",       "f:schedulerName",
        "f:schedulePriority", "f:conflictResolution",
        "f:propagateDeps",    "f:preserveResourcesOnDeletion",
    };

    for (size_t i = 0; i < ARRAY_LEN(copied); i++) {
        if (json_get(fields, copied[i]))
            return true;
    }
    return false;
}

uint32_t propagation_write_time_s(struct decode *d, const cJSON *metadata)
{
    const cJSON *entry;
    uint32_t newest_s = 0;

    cJSON_ArrayForEach (entry, json_get(metadata, "managedFields")) {
        uint32_t time_s;

        if (!owns_propagation_field(json_get(json_get(entry, "fieldsV1"), "f:spec")))
            continue;
        time_s = timestamp_seconds(decode_time(d, entry, "metadata.managedFields[]", "time"));
        newest_s = time_s > newest_s ? time_s : newest_s;
    }
    return newest_s;
}

static int32_t read_priority(struct decode *d, const cJSON *spec)
{
    int64_t priority = decode_int(d, spec, "spec", "priority", 0);

    if (priority < INT32_MIN || priority > INT32_MAX) {
        decode_fail(d, "spec", "priority", "must fit in 32 bits");
        return 0;
    }
    return (int32_t)priority;
}

static void read_priority_class(struct decode *d, const cJSON *spec, struct policy *p)
{
    static const char path[] = "spec.schedulePriority";
    const cJSON *priority = decode_object(d, spec, "spec", "schedulePriority");
    const char *source = decode_text(d, priority, path, "priorityClassSource");

    p->priority_class = decode_interned(d, priority, path, "priorityClassName");
    p->priority_refused = source && strcmp(source, "KubePriorityClass") != 0;
}

static bool spec_text_equals(struct decode *d, const cJSON *spec, const char *key,
                             const char *value)
{
    const char *text = decode_text(d, spec, "spec", key);

    return text && strcmp(text, value) == 0;
}

static bool selects_service_imports(const struct policy *p)
{
    for (uint32_t i = 0; i < p->selector_count; i++) {
        const struct resource_selector *s = &p->selectors[i];

        if (s->api_version && strcmp(s->api_version, "multicluster.x-k8s.io/v1alpha1") == 0 &&
            s->kind && strcmp(s->kind, "ServiceImport") == 0)
            return true;
    }
    return false;
}

/* Makes a policy without effect. */
static void drop_selectors(struct intern *strings, struct policy *p)
{
    resource_selectors_release(strings, p->selectors, p->selector_count);
    resource_selectors_release(strings, p->exclusions, p->exclusion_count);
    p->selectors = p->exclusions = NULL;
    p->selector_count = p->exclusion_count = 0;
}

void *policy_decode(struct decode *d, const cJSON *json)
{
    const cJSON *metadata = decode_object(d, json, "", "metadata");
    const cJSON *spec = decode_object(d, json, "", "spec");
    bool cluster_scoped = strcmp(json_str(json, "kind", ""), "ClusterPropagationPolicy") == 0;
    struct policy *p = pool_alloc_zeroed(intern_memory(d->strings), sizeof(*p));

    p->selectors = resource_selectors_decode(d, spec, "resourceSelectors", &p->selector_count);
    p->exclusions = resource_selectors_decode(d, spec, "excludedResources", &p->exclusion_count);
    p->overrides = decode_texts(d, spec, "spec", "dependentOverrides", &p->override_count);
    p->priority = read_priority(d, spec);
    p->id = permanent_id_decode(d, metadata, cluster_scoped);
    propagation_decode(d, spec, &p->propagation);
    read_priority_class(d, spec, p);
    /* Karmada's webhook does the same: a ServiceImport needs its derived Service. */
    if (selects_service_imports(p))
        p->propagation.propagate_deps = true;
    p->generation = decode_int(d, metadata, "metadata", "generation", 0);
    p->created_ms = decode_time(d, metadata, "metadata", "creationTimestamp");
    p->changed_ms = user_change_time_ms(d, metadata, NULL);
    spec_write_decode(d, metadata, &p->write);
    p->lazy = spec_text_equals(d, spec, "activationPreference", "Lazy");
    p->preempts = spec_text_equals(d, spec, "preemption", "Always");
    p->deleting = decode_is_deleting(d, metadata);
    p->protected = deletion_is_protected(metadata);
    p->deleted_ms = decode_time(d, metadata, "metadata", "deletionTimestamp");
    p->admission = decode_admission(d, json, &p->unread);
    if (p->unread)
        drop_selectors(d->strings, p);
    if (d->failed) {
        policy_release(d->strings, p);
        return NULL;
    }
    return p;
}

void policy_release(struct intern *strings, void *object)
{
    struct policy *p = object;

    if (!p)
        return;
    resource_selectors_release(strings, p->selectors, p->selector_count);
    resource_selectors_release(strings, p->exclusions, p->exclusion_count);
    decode_texts_release(strings, p->overrides, p->override_count);
    intern_drop(strings, p->id);
    intern_drop(strings, p->priority_class);
    intern_drop(strings, p->write.manager);
    propagation_release(strings, &p->propagation);
    free(p->admission);
    pool_free(p);
}

bool policy_equal(const struct policy *a, const struct policy *b)
{
    return a->selector_count == b->selector_count && a->exclusion_count == b->exclusion_count &&
           a->override_count == b->override_count && a->priority == b->priority &&
           a->lazy == b->lazy && a->preempts == b->preempts && a->deleting == b->deleting &&
           resource_selectors_equal(a->selectors, b->selectors, a->selector_count) &&
           resource_selectors_equal(a->exclusions, b->exclusions, a->exclusion_count) &&
           (a->override_count == 0 ||
            memcmp(a->overrides, b->overrides, a->override_count * sizeof(*a->overrides)) == 0) &&
           propagation_equal(&a->propagation, &b->propagation);
}

void policy_inherit(void *fresh, const void *last, bool relisted)
{
    struct policy *p = fresh;
    const struct policy *old = last;
    bool changed = !policy_equal(p, old);

    (void)relisted;
    if (p->id != old->id)
        return;
    p->undated = old->undated || (changed && p->changed_ms <= old->changed_ms);
    p->grace_extended_until_ms = old->grace_extended_until_ms;
    if (p->changed_ms < old->changed_ms)
        p->changed_ms = old->changed_ms;
}

void policy_set_change_time(struct policy *p, int64_t now_ms)
{
    if (p->undated && now_ms > p->changed_ms)
        p->changed_ms = now_ms;
    p->undated = false;
}
