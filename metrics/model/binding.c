/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/binding.h"

#include "metrics/model/canonical.h"
#include "metrics/model/changes.h"
#include "metrics/model/connector.h"
#include "metrics/model/identity.h"

static const char managed_by_key[] = "binding.karmada.io/managed-by";
static const char applied_placement_key[] = "policy.karmada.io/applied-placement";

static const char *const id_keys[] = {"resourcebinding.karmada.io/permanent-id",
                                      "clusterresourcebinding.karmada.io/permanent-id"};
static const char dependencies_key[] = "resourcebinding.karmada.io/dependencies";

/* An API server keeps at most 256 KiB of annotations, which is room for few more than this. */
enum { NOTED_MAX = 4096 };

uint32_t binding_id_decode(struct decode *d, const cJSON *labels)
{
    const char *id = decode_text(d, labels, "metadata.labels", id_keys[0]);
    const char *wide = decode_text(d, labels, "metadata.labels", id_keys[1]);

    id = id ? id : wide;
    return uid_hash(id ? id : "");
}

/* Which of the groups of a placement the scheduler uses by its status; the first if none. */
static uint8_t observed_group(const cJSON *placement, const cJSON *json)
{
    const char *used = json_str(json_get(json, "status"), "schedulerObservingAffinityName", "");
    const cJSON *group;
    uint8_t at = 0;

    cJSON_ArrayForEach (group, json_get(placement, "clusterAffinities")) {
        if (strcmp(json_str(group, "affinityName", ""), used) == 0)
            return at;
        if (++at == UINT8_MAX)
            break;
    }
    return 0;
}

/* An annotation of Karmada's scheduler. NULL if it is not valid: the binding is all the same. */
static const char *read_applied_placement(struct decode *d, const cJSON *json, uint8_t *group)
{
    const cJSON *metadata = decode_object(d, json, "", "metadata");
    const cJSON *annotations = decode_object(d, metadata, "metadata", "annotations");
    const char *text = decode_text(d, annotations, "metadata.annotations", applied_placement_key);
    struct error ignored;

    if (!text)
        return NULL;

    CLEANUP(json_cleanup) cJSON *placement = json_parse(text, strlen(text), NULL, &ignored);

    *group = observed_group(placement, json);
    return canonical_text(d, cJSON_IsObject(placement) ? placement : NULL, CANONICAL_PLACEMENT);
}

/* True if an element of the annotation has a name; one with a label selector has none. */
static bool names_dependency(const cJSON *item)
{
    return *json_str(item, "apiVersion", "") && *json_str(item, "kind", "") &&
           *json_str(item, "name", "");
}

/*
 * An annotation of Karmada's dependencies distributor: an array, or null for an empty one.
 * Unknown if it is not valid, which is what it is to Karmada too.
 */
static struct noted_dependencies *read_noted(struct decode *d, const cJSON *metadata)
{
    const cJSON *annotations = decode_object(d, metadata, "metadata", "annotations");
    const char *text = decode_text(d, annotations, "metadata.annotations", dependencies_key);
    struct error ignored;
    CLEANUP(json_cleanup)
    cJSON *array = text ? json_parse(text, strlen(text), NULL, &ignored) : NULL;
    int size = cJSON_GetArraySize(array);
    const cJSON *item;

    if (!cJSON_IsNull(array) && (!cJSON_IsArray(array) || size > NOTED_MAX))
        return NULL;

    struct noted_dependencies *noted =
        xcalloc(1, sizeof(*noted) + (size_t)size * sizeof(*noted->items));
    cJSON_ArrayForEach (item, array) {
        if (names_dependency(item))
            noted->items[noted->count++] = (struct identity){
                .api_version = intern_add(d->strings, json_str(item, "apiVersion", "")),
                .kind = intern_add(d->strings, json_str(item, "kind", "")),
                .ns = intern_add(d->strings, json_str(item, "namespace", "")),
                .name = intern_add(d->strings, json_str(item, "name", "")),
            };
    }
    return noted;
}

static void read_referrers(struct decode *d, const cJSON *spec, struct binding *b)
{
    static const char path[] = "spec.requiredBy[]";
    const cJSON *array = decode_array(d, spec, "spec", "requiredBy");
    const cJSON *item;

    b->referrers = decode_room(array, sizeof(*b->referrers));
    cJSON_ArrayForEach (item, array) {
        decode_element(d, item, path);
        b->referrers[b->referrer_count++] = (struct referrer){
            .ns = decode_shared_or_empty(d, item, path, "namespace"),
            .name = decode_shared_or_empty(d, item, path, "name"),
        };
    }
}

static struct target_cluster read_cluster(struct decode *d, const cJSON *item, const char *path)
{
    decode_element(d, item, path);
    return (struct target_cluster){
        .name = decode_shared_or_empty(d, item, path, "name"),
        .replicas = decode_replicas(d, item, path, "replicas", 0),
    };
}

static int compare_clusters(const void *a, const void *b)
{
    const struct target_cluster *x = a, *y = b;

    return strcmp(x->name, y->name);
}

/* Append the clusters of spec.requiredBy[].clusters that are not in spec.clusters, each once. */
static void read_required_clusters(struct decode *d, const cJSON *spec, struct binding *b)
{
    static const char path[] = "spec.requiredBy[].clusters[]";
    const cJSON *array = json_get(spec, "requiredBy");
    const cJSON *referrer, *item;
    size_t count = 0;

    cJSON_ArrayForEach (referrer, array)
        count += (size_t)cJSON_GetArraySize(json_array(referrer, "clusters"));
    if (count == 0)
        return;

    CLEANUP(free_cleanup)
    struct target_cluster *required = xcalloc(count, sizeof(*required));
    CLEANUP(free_cleanup)
    struct target_cluster *own = xcalloc(b->cluster_count + (size_t)1, sizeof(*own));

    count = 0;
    cJSON_ArrayForEach (referrer, array) {
        cJSON_ArrayForEach (item, json_array(referrer, "clusters"))
            required[count++] = read_cluster(d, item, path);
    }
    for (uint32_t i = 0; i < b->cluster_count; i++)
        own[i] = b->clusters[i];
    qsort(own, b->cluster_count, sizeof(*own), compare_clusters);
    qsort(required, count, sizeof(*required), compare_clusters);
    b->clusters =
        xreallocarray(b->clusters, b->cluster_count + count, sizeof(struct target_cluster));
    for (size_t i = 0; i < count; i++) {
        bool again = i > 0 && required[i].name == required[i - 1].name;

        if (again || bsearch(&required[i], own, b->cluster_count, sizeof(*own), compare_clusters)) {
            intern_drop(d->strings, required[i].name);
            continue;
        }
        b->clusters[binding_target_count(b)] = required[i];
        b->status.required_count++;
    }
}

static void read_clusters(struct decode *d, const cJSON *spec, struct binding *b)
{
    const cJSON *array = decode_array(d, spec, "spec", "clusters");
    const cJSON *item;

    b->clusters = decode_room(array, sizeof(*b->clusters));
    cJSON_ArrayForEach (item, array)
        b->clusters[b->cluster_count++] = read_cluster(d, item, "spec.clusters[]");
    read_required_clusters(d, spec, b);
}

/* The conflicts that Config Connector reports in member clusters, as Karmada collects them. */
static void read_member_conflicts(struct decode *d, const cJSON *json, struct binding *b)
{
    const cJSON *items = json_array(json_get(json, "status"), "aggregatedStatus");
    uint32_t count = 0;
    const cJSON *item;

    if (!connector_manages(b->api_version))
        return;
    cJSON_ArrayForEach (item, items) {
        const char *holder = management_conflict_decode(d, json_get(item, "status"));

        if (!holder)
            continue;
        b->member_conflicts =
            xreallocarray(b->member_conflicts, count + 2, sizeof(*b->member_conflicts));
        b->member_conflicts[count++] = (struct member_conflict){
            intern_add(d->strings, json_str(item, "clusterName", "")), holder};
        b->member_conflicts[count] = (struct member_conflict){NULL, NULL};
    }
}

static uint32_t read_delivered_generation(const cJSON *json)
{
    const cJSON *items = json_array(json_get(json, "status"), "aggregatedStatus");
    double least = 0;
    const cJSON *item;

    cJSON_ArrayForEach (item, items) {
        const cJSON *generation = json_get(json_get(item, "status"), "resourceTemplateGeneration");

        if (cJSON_IsNumber(generation) && (least == 0 || generation->valuedouble < least))
            least = generation->valuedouble;
    }
    return least >= 1 && least <= UINT32_MAX ? (uint32_t)least : 0;
}

static void read_requests(struct decode *d, const cJSON *spec, struct binding *b)
{
    static const char path[] = "spec.replicaRequirements";
    const cJSON *requirements = decode_object(d, spec, "spec", "replicaRequirements");
    const cJSON *requests = decode_object(d, requirements, path, "resourceRequest");
    const cJSON *item;

    b->requests = decode_room(requests, sizeof(*b->requests));
    cJSON_ArrayForEach (item, requests) {
        b->requests[b->request_count++] = (struct resource_request){
            .resource = intern_add(d->strings, item->string),
            .amount = decode_quantity(d, item, "spec.replicaRequirements.resourceRequest"),
        };
    }
}

static void read_spec(struct decode *d, const cJSON *spec, struct binding *b)
{
    static const char path[] = "spec.resource";
    const cJSON *components = decode_array(d, spec, "spec", "components");
    const cJSON *resource = decode_object(d, spec, "spec", "resource");
    const cJSON *suspension = decode_object(d, spec, "spec", "suspension");
    const char *uid = decode_text(d, resource, path, "uid");

    b->api_version = decode_shared_or_empty(d, resource, path, "apiVersion");
    b->kind = decode_shared_or_empty(d, resource, path, "kind");
    b->ns = decode_shared_or_empty(d, resource, path, "namespace");
    decode_text(d, resource, path, "name");
    b->uid_hash = uid_hash(uid ? uid : "");
    b->resource_version = resource_version_decode(d, resource, path);
    propagation_decode(d, spec, &b->propagation);
    read_referrers(d, spec, b);
    read_clusters(d, spec, b);
    read_requests(d, spec, b);
    b->component_count = (uint32_t)cJSON_GetArraySize(components);
    b->replicas = decode_replicas(d, spec, "spec", "replicas", 0);
    b->has_requirements = json_get(spec, "replicaRequirements") != NULL;
    b->scheduling_suspended =
        decode_bool(d, suspension, "spec.suspension", "scheduling") == OPTIONAL_TRUE;
    b->has_replicas = json_get(spec, "replicas") || json_get(spec, "replicaRequirements");
    b->has_placement = decode_object(d, spec, "spec", "placement") != NULL;
    b->has_conflict_resolution = decode_text(d, spec, "spec", "conflictResolution") != NULL;
}

void *binding_decode(struct decode *d, const cJSON *json)
{
    const cJSON *metadata = decode_object(d, json, "", "metadata");
    const cJSON *labels = decode_object(d, metadata, "metadata", "labels");
    const cJSON *resource = json_get(json_get(json, "spec"), "resource");
    const char *name = json_str(resource, "name", "");
    size_t name_size = strlen(name) + 1;
    struct claim *claim = claim_decode(d, metadata);
    size_t claim_size = claim ? sizeof(*claim) : 0;
    /* Claim and name are behind the struct: one allocation, and sharing is for what repeats. */
    struct binding *b = xcalloc(1, sizeof(*b) + claim_size + name_size);

    if (claim)
        b->claim = memcpy(b + 1, claim, claim_size);
    free(claim);
    b->name = memcpy((char *)(b + 1) + claim_size, name, name_size);
    b->managed_by = decode_shared(d, labels, "metadata.labels", managed_by_key);
    b->own_uid_hash = uid_hash(json_str(metadata, "uid", ""));
    b->id_hash = binding_id_decode(d, labels);
    b->applied_placement = read_applied_placement(d, json, &b->observed_group);
    b->noted = read_noted(d, metadata);
    b->created_ms = decode_time(d, metadata, "metadata", "creationTimestamp");
    b->changed_ms = user_changed_ms(d, metadata, NULL);
    write_decode(d, metadata, &b->write);
    b->propagated_s = propagation_write_s(d, metadata);
    b->delivered_generation = read_delivered_generation(json);
    b->deleting = decode_deleting(d, metadata);
    read_spec(d, decode_object(d, json, "", "spec"), b);
    binding_status_decode(d, json, b->clusters, binding_target_count(b), &b->status);
    read_member_conflicts(d, json, b);
    if (d->failed) {
        binding_release(d->strings, b);
        return NULL;
    }
    return b;
}

void binding_release(struct intern *strings, void *object)
{
    struct binding *b = object;

    if (!b)
        return;
    const char *const texts[] = {b->api_version, b->kind, b->ns, b->managed_by,
                                 b->applied_placement};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        intern_drop(strings, texts[i]);
    for (uint32_t i = 0; i < b->referrer_count; i++) {
        intern_drop(strings, b->referrers[i].ns);
        intern_drop(strings, b->referrers[i].name);
    }
    for (uint32_t i = 0; i < binding_target_count(b); i++)
        intern_drop(strings, b->clusters[i].name);
    binding_status_release(strings, &b->status);
    for (uint32_t i = 0; i < b->request_count; i++)
        intern_drop(strings, b->requests[i].resource);
    claim_release(strings, b->claim);
    propagation_release(strings, &b->propagation);
    free(b->referrers);
    free(b->clusters);
    free(b->requests);
    for (struct member_conflict *c = b->member_conflicts; c && c->cluster; c++) {
        intern_drop(strings, c->cluster);
        intern_drop(strings, c->holder);
    }
    free(b->member_conflicts);
    for (uint32_t i = 0; b->noted && i < b->noted->count; i++) {
        intern_drop(strings, b->noted->items[i].api_version);
        intern_drop(strings, b->noted->items[i].kind);
        intern_drop(strings, b->noted->items[i].ns);
        intern_drop(strings, b->noted->items[i].name);
    }
    free(b->noted);
    free(b);
}

void binding_succeed(void *fresh, const void *last, bool relisted)
{
    struct binding *b = fresh;
    const struct binding *old = last;

    (void)relisted;
    b->was_changed = old->was_changed || !propagation_equal(&b->propagation, &old->propagation);
}

static void add_lower(struct strbuf *out, const char *text, char colon)
{
    for (; *text; text++) {
        char c = *text;

        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        strbuf_addc(out, c == ':' ? colon : c);
    }
}

void binding_name(const char *kind, const char *name, struct strbuf *out)
{
    strbuf_reset(out);
    add_lower(out, name, '.');
    strbuf_addc(out, '-');
    add_lower(out, kind, ':');
}
