/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/template.h"
#include "metrics/model/builtin_kinds.h"

#include "metrics/base/number.h"
#include "metrics/model/metadata.h"
#include "metrics/model/references.h"

/* ---- members that are read ---- */

/*
 * Of containers, references_decode() and requests_decode() read these members. The rows of spec
 * apply only to objects with a generation: struct traces contains a hash of the spec of others.
 */
static const struct json_filter_row env_rows[] = {JSON_ROW_KEEP("valueFrom")};
static const struct json_filter env_fields = JSON_FILTER_OF(env_rows, JSON_FILTER_DROP);
static const struct json_filter_row container_rows[] = {
    JSON_ROW_ELEMENTS("env", &env_fields),
    JSON_ROW_KEEP("envFrom"),
    JSON_ROW_KEEP("resources"),
};
static const struct json_filter container_fields = JSON_FILTER_OF(container_rows, JSON_FILTER_DROP);

/* The members of specs, of Pods and of workloads, that contain other members or containers. */
static const struct json_filter spec_fields;
static const struct json_filter_row nested_rows[] = {JSON_ROW_OBJECT("spec", &spec_fields)};
static const struct json_filter nested_fields = JSON_FILTER_OF(nested_rows, JSON_FILTER_KEEP);
static const struct json_filter_row spec_rows[] = {
    JSON_ROW_OBJECT("template", &nested_fields),
    JSON_ROW_OBJECT("jobTemplate", &nested_fields),
    JSON_ROW_ELEMENTS("containers", &container_fields),
    JSON_ROW_ELEMENTS("initContainers", &container_fields),
    JSON_ROW_ELEMENTS("ephemeralContainers", &container_fields),
};
static const struct json_filter spec_fields = JSON_FILTER_OF(spec_rows, JSON_FILTER_KEEP);

/* conflict_holder_decode() reads the conditions. */
static const struct json_filter_row status_rows[] = {JSON_ROW_KEEP("conditions")};
static const struct json_filter status_fields = JSON_FILTER_OF(status_rows, JSON_FILTER_DROP);
static const struct json_filter_row template_rows[] = {
    JSON_ROW_OBJECT("metadata", &metadata_fields_of_template),
    {.key = "spec",
     .action = JSON_FILTER_OBJECT,
     .inside = &spec_fields,
     .condition = JSON_FILTER_IF_MARKED},
    JSON_ROW_OBJECT("status", &status_fields),
};
const struct json_filter template_fields = JSON_FILTER_OF(template_rows, JSON_FILTER_KEEP);

/* ---- resource requests of a pod ---- */

/*
 * Requests of one Pod (Karmada: AddPodTemplateRequest): for each resource, the sum of the
 * containers, or the largest init container if that is more, plus the overhead. Stored as a text in
 * base units, such as "cpu 0.1\nmemory 64\n". Many templates share one interned text. Ignores
 * resources after the first RESOURCES_MAX, and all of a text above TEXT_MAX bytes.
 */
enum { RESOURCES_MAX = 32, TEXT_MAX = 1 << 14 };

static const char path[] = "resources.requests";
static const double whole_amount_max = 1e15;

/* Requested amounts of at most RESOURCES_MAX resources. Names are borrowed. */
struct request_sums {
    struct resource_request items[RESOURCES_MAX];
    size_t count;
};

/* Returns the amount of a resource; NULL for a new resource after the first RESOURCES_MAX. */
static double *get_or_add_amount(struct request_sums *s, const char *resource)
{
    for (size_t i = 0; i < s->count; i++) {
        if (strcmp(s->items[i].resource, resource) == 0)
            return &s->items[i].amount;
    }
    if (s->count == RESOURCES_MAX)
        return NULL;
    s->items[s->count] = (struct resource_request){.resource = resource};
    return &s->items[s->count++].amount;
}

static void add_requests(struct decode *d, struct request_sums *s, const cJSON *requests)
{
    const cJSON *item;

    cJSON_ArrayForEach (item, json_object_or_null(requests)) {
        double *amount = get_or_add_amount(s, item->string);

        if (amount)
            *amount += decode_quantity(d, item, path);
    }
}

static void raise_amounts_to_requests(struct decode *d, struct request_sums *s,
                                      const cJSON *requests)
{
    const cJSON *item;

    cJSON_ArrayForEach (item, json_object_or_null(requests)) {
        double *amount = get_or_add_amount(s, item->string);
        double least = decode_quantity(d, item, path);

        if (amount && least > *amount)
            *amount = least;
    }
}

static const cJSON *container_requests(const cJSON *container)
{
    return json_get(json_get(container, "resources"), "requests");
}

static int compare_by_resource(const void *a, const void *b)
{
    return strcmp(((const struct resource_request *)a)->resource,
                  ((const struct resource_request *)b)->resource);
}

/* Appends an amount with up to 15 digits, as %.15g does, which is slow for whole numbers. */
static void append_amount(struct strbuf *out, double amount)
{
    if (amount > -whole_amount_max && amount < whole_amount_max &&
        (double)(int64_t)amount == amount)
        strbuf_add_int(out, (int64_t)amount);
    else
        strbuf_addf(out, "%.15g", amount);
}

/* Returns the requests of a PodSpec, interned; NULL without requests or above TEXT_MAX bytes. */
static const char *requests_decode(struct decode *d, const cJSON *pod)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    struct request_sums s = {.count = 0};
    const cJSON *container;

    cJSON_ArrayForEach (container, json_get(pod, "containers"))
        add_requests(d, &s, container_requests(container));
    cJSON_ArrayForEach (container, json_get(pod, "initContainers"))
        raise_amounts_to_requests(d, &s, container_requests(container));
    add_requests(d, &s, json_get(pod, "overhead"));
    if (s.count > 1)
        qsort(s.items, s.count, sizeof(*s.items), compare_by_resource);
    for (size_t i = 0; i < s.count; i++) {
        strbuf_adds(&text, s.items[i].resource);
        strbuf_addc(&text, ' ');
        append_amount(&text, s.items[i].amount);
        strbuf_addc(&text, '\n');
    }
    return text.len > 0 && strbuf_ok(&text) ? intern_add(d->strings, text.data) : NULL;
}

struct resource_request *requests_parse(struct intern *strings, const char *text, uint32_t *count)
{
    struct resource_request *requests = NULL;

    *count = 0;
    while (text && *text) {
        size_t name_len = strcspn(text, " ");
        size_t len = strcspn(text, "\n");
        CLEANUP(free_cleanup) char *number = xmemdup0(text + name_len + 1, len - name_len - 1);
        struct resource_request r = {.resource = intern_add_len(strings, text, name_len)};

        if (!parse_quantity(number, &r.amount))
            r.amount = 0;
        requests = xreallocarray(requests, *count + 1, sizeof(*requests));
        requests[(*count)++] = r;
        text += len + 1;
    }
    return requests;
}

enum { OWNER_MAX_BYTES = 256 };

static const char claimed_by_key[] = "resourcetemplate.karmada.io/claimed-by";

/* Kinds with replicas, in the field `key` of spec; 1 replica if `key` is NULL or not in spec. */
static const struct replicas_field {
    const char *api_version;
    const char *kind;
    const char *key;
} replicas_fields[] = {
    {"apps/v1", "Deployment", "replicas"},
    {"apps/v1", "StatefulSet", "replicas"},
    {"apps/v1", "ReplicaSet", "replicas"},
    {"batch/v1", "Job", "parallelism"},
    {"v1", "Pod", NULL},
};

bool contains_settings(const cJSON *json)
{
    return is_object_of_kind(json, PRIORITY_CLASS_API_VERSION, PRIORITY_CLASS_KIND) ||
           connector_role_of(json) != ROLE_NONE;
}

static const struct replicas_field *replicas_field_of(const char *api_version, const char *kind)
{
    for (size_t i = 0; i < ARRAY_LEN(replicas_fields); i++) {
        const struct replicas_field *field = &replicas_fields[i];

        if (strcmp(field->api_version, api_version) == 0 && strcmp(field->kind, kind) == 0)
            return field;
    }
    return NULL;
}

bool kind_has_replicas(const char *api_version, const char *kind)
{
    return replicas_field_of(api_version, kind) != NULL;
}

bool kind_may_have_replicas(const char *api_version, const char *kind)
{
    return kind_has_replicas(api_version, kind) || !builtin_kind_find(api_version, kind);
}

/* Returns the Pods of a Job that run at once (Karmada: jobReplica). */
static int32_t read_job_replicas(struct decode *d, const cJSON *spec)
{
    int32_t parallelism = decode_replicas(d, spec, "spec", "parallelism", 1);
    int32_t completions = decode_replicas(d, spec, "spec", "completions", INT32_MAX);

    return completions < parallelism ? completions : parallelism;
}

static int32_t read_replicas(struct decode *d, const cJSON *json)
{
    const struct replicas_field *field =
        replicas_field_of(json_str(json, "apiVersion", ""), json_str(json, "kind", ""));
    const cJSON *spec = json_get(json, "spec");
    const cJSON *replicas = json_get(spec, "replicas");

    if (field && cJSON_IsObject(spec) && strcmp(field->kind, "Job") == 0)
        return read_job_replicas(d, spec);
    if (field && cJSON_IsObject(spec))
        return field->key ? decode_replicas(d, spec, "spec", field->key, 1) : 1;
    /* In other kinds, spec.replicas may be anything: replicas are unknown unless it is a count. */
    if (!cJSON_IsNumber(replicas) || replicas->valuedouble < 0 || replicas->valuedouble > INT32_MAX)
        return -1;
    return (int32_t)replicas->valuedouble;
}

/* ---- rare members of a template ---- */

struct template_extra {
    const char *claimed_by; /* Label resourcetemplate.karmada.io/claimed-by; NULL if absent. */
    const char *owner;      /* Interned; NULL without an owner. */
    void *connector;        /* Config Connector part; NULL if `role` is ROLE_NONE. */
    struct autoscaler *autoscaler;
    char *document; /* JSON text of the object; NULL if it is not kept. */
    int32_t priority;
    bool has_priority; /* A PriorityClass with a valid value. */
    uint8_t role;      /* Value of enum connector_role. */
};

/* Returns the rare members of a template, which may be NULL; NULL if all are absent. */
static const struct template_extra *extra_of(const struct template *t)
{
    return t && t->extra != 0 ? pool_beside(t, t->extra) : NULL;
}

static const void *connector_part(const struct template *t, enum connector_role role)
{
    const struct template_extra *extra = extra_of(t);

    return extra && extra->role == role ? extra->connector : NULL;
}

const struct connector *template_connector(const struct template *t)
{
    return connector_part(t, ROLE_RESOURCE);
}

const struct connector_defaults *template_connector_defaults(const struct template *t)
{
    return connector_part(t, ROLE_DEFAULTS);
}

const struct namespace_ids *template_namespace_ids(const struct template *t)
{
    return connector_part(t, ROLE_NAMESPACE_IDS);
}

const char *template_changed_by(const struct template *t)
{
    return t->changer_unknown ? NULL : t->shared->changed_by;
}

const char *template_claimed_by(const struct template *t)
{
    const struct template_extra *extra = extra_of(t);

    return extra ? extra->claimed_by : NULL;
}

const char *template_owner(const struct template *t)
{
    const struct template_extra *extra = extra_of(t);

    return extra ? extra->owner : NULL;
}

const struct autoscaler *template_autoscaler(const struct template *t)
{
    const struct template_extra *extra = extra_of(t);

    return extra ? extra->autoscaler : NULL;
}

const char *template_document(const struct template *t)
{
    const struct template_extra *extra = extra_of(t);

    return extra ? extra->document : NULL;
}

bool template_priority(const struct template *t, int32_t *value)
{
    const struct template_extra *extra = extra_of(t);

    *value = extra ? extra->priority : 0;
    return extra && extra->has_priority;
}

bool template_needs_object(const char *api_version, const char *kind)
{
    return is_connector_api_version(api_version) || is_autoscaler_kind(api_version, kind);
}

/* Returns the JSON text of the object if it is kept, owned by the caller; else NULL. */
static char *make_document(const struct decode *d, const cJSON *json)
{
    static const char *const parts[] = {"apiVersion", "kind", "metadata"};
    int members = 0;

    if (d->documents == DOCUMENTS_OF_NONE || !json_get(json, "metadata"))
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        members += json_get(json, parts[i]) != NULL;
    if (d->documents == DOCUMENTS_OF_WHOLE_OBJECTS && cJSON_GetArraySize(json) == members)
        return NULL;
    return cJSON_PrintUnformatted(json);
}

static const char *owner_decode(struct decode *d, const cJSON *metadata)
{
    const cJSON *labels = decode_object(d, metadata, "metadata", "labels");
    const cJSON *annotations = decode_object(d, metadata, "metadata", "annotations");
    const char *owner = NULL;

    if (d->owner_key)
        owner = decode_text(d, labels, "metadata.labels", d->owner_key);
    if (d->owner_key && !owner)
        owner = decode_text(d, annotations, "metadata.annotations", d->owner_key);
    return owner && strlen(owner) <= OWNER_MAX_BYTES ? intern_add(d->strings, owner) : NULL;
}

static struct autoscaler *read_autoscaler(struct decode *d, const cJSON *json)
{
    return is_autoscaler_kind(json_str(json, "apiVersion", ""), json_str(json, "kind", ""))
               ? autoscaler_decode(d, json)
               : NULL;
}

static void read_priority_class_value(struct decode *d, const cJSON *json,
                                      struct template_extra *extra)
{
    int64_t value = decode_int(d, json, "", "value", INT64_MIN);

    extra->has_priority = value >= INT32_MIN && value <= INT32_MAX;
    extra->priority = extra->has_priority ? (int32_t)value : 0;
}

/* Returns a new cell of the rare members of a template; NULL if all are absent. */
static struct template_extra *read_extra(struct decode *d, const cJSON *json)
{
    const cJSON *metadata = json_get(json, "metadata");
    struct template_extra extra = {
        .claimed_by = decode_interned(d, decode_object(d, metadata, "metadata", "labels"),
                                      "metadata.labels", claimed_by_key),
        .owner = owner_decode(d, metadata),
        .autoscaler = read_autoscaler(d, json),
        .document = make_document(d, json),
        .role = (uint8_t)connector_role_of(json),
    };

    if (extra.role != ROLE_NONE)
        extra.connector = connector_decode(d, json, (enum connector_role)extra.role);
    if (is_object_of_kind(json, PRIORITY_CLASS_API_VERSION, PRIORITY_CLASS_KIND))
        read_priority_class_value(d, json, &extra);
    if (!extra.claimed_by && !extra.owner && !extra.autoscaler && !extra.document &&
        !extra.connector && !extra.has_priority)
        return NULL;
    return memcpy(pool_alloc(intern_memory(d->strings), sizeof(extra)), &extra, sizeof(extra));
}

static void extra_release(struct intern *strings, const struct template_extra *extra)
{
    if (!extra)
        return;
    intern_drop(strings, extra->claimed_by);
    intern_drop(strings, extra->owner);
    autoscaler_release(strings, extra->autoscaler);
    connector_release(strings, extra->connector, (enum connector_role)extra->role);
    free(extra->document);
    pool_free((void *)(uintptr_t)extra);
}

/* ---- shared members of a template ---- */

static void drop_shared_members(struct intern *strings, const struct template_shared *shared)
{
    claim_release(strings, shared->claim);
    intern_drop(strings, shared->requests);
    intern_drop(strings, shared->changed_by);
}

/* Returns the PodSpec of a Pod or workload. */
static const cJSON *pod_spec_of(const cJSON *json)
{
    const cJSON *spec = json_get(json, "spec");
    const cJSON *template = json_get(spec, "template");

    return template ? json_get(template, "spec") : spec;
}

/* `changed_by` is the manager of the last change by a user; NULL if unknown. */
static const struct template_shared *read_shared(struct decode *d, const cJSON *json,
                                                 const char *changed_by)
{
    bool runs_pods =
        kind_has_replicas(json_str(json, "apiVersion", ""), json_str(json, "kind", ""));
    const struct template_shared members = {
        .claim = claim_decode(d, json_get(json, "metadata")),
        .requests = runs_pods ? requests_decode(d, pod_spec_of(json)) : NULL,
        .changed_by = changed_by ? intern_add(d->strings, changed_by) : NULL,
        .replicas = read_replicas(d, json),
    };
    bool added;
    const struct template_shared *shared =
        intern_add_block(d->strings, &members, sizeof(members), &added);

    if (!added)
        drop_shared_members(d->strings, &members);
    return shared;
}

static void shared_release(struct intern *strings, const struct template_shared *shared)
{
    if (intern_has_one_reference(shared))
        drop_shared_members(strings, shared);
    intern_drop(strings, shared);
}

/* Returns the size of a template with `labels` labels. A template_shared can follow it. */
static size_t template_bytes(size_t labels)
{
    size_t bytes = offsetof(struct template, label_values) + labels * sizeof(pool_handle);

    return (bytes + POOL_UNIT_BYTES - 1) / POOL_UNIT_BYTES * POOL_UNIT_BYTES;
}

struct template *template_copy_with_claim(const struct template *t, const struct claim *claim)
{
    size_t bytes = template_bytes(template_labels(t).count);
    char *cell = pool_alloc(pool_of(t), bytes + sizeof(*t->shared));
    struct template_shared *shared = (struct template_shared *)(void *)(cell + bytes);
    struct template *copy = memcpy(cell, t, bytes);

    *shared = *t->shared;
    shared->claim = claim;
    copy->shared = shared;
    return copy;
}

void template_set_changed_ms(struct template *t, int64_t changed_ms)
{
    const uint64_t max = ((uint64_t)1 << TEMPLATE_TIME_BITS) - 1;

    if (changed_ms <= 0)
        t->changed = 0;
    else
        t->changed = (uint64_t)changed_ms < max ? (uint64_t)changed_ms & max : max;
}

void template_apply_user_change(struct template *t, const struct template *old, uint64_t version)
{
    t->uid_hash = old->uid_hash;
    t->created_s = old->created_s;
    t->traces = old->traces;
    t->resource_version = version;
    t->user_version = version;
    t->changed = 0;
    t->changer_unknown = true;
    t->user_version_is_lower = false;
    t->undated = false;
}

/* ---- decoding of templates ---- */

static bool has_controller(const cJSON *metadata)
{
    const cJSON *owner;

    cJSON_ArrayForEach (owner, json_array(metadata, "ownerReferences")) {
        if (json_bool(owner, "controller", false))
            return true;
    }
    return false;
}

/*
 * Returns true if no user or client sets spec.replicas. The API server sets the default, so that
 * only managedFields prove it for stored objects; they are known from metadata, too.
 */
static bool lacks_replicas(const cJSON *json)
{
    const cJSON *metadata = json_get(json, "metadata");
    const cJSON *spec = json_get(json, "spec");

    if (cJSON_GetArraySize(json_get(metadata, "managedFields")) > 0)
        return !owns_replicas_field(metadata);
    return cJSON_IsObject(spec) && !json_get(spec, "replicas") && !json_get(metadata, "uid");
}

/* Karmada ignores other values than the two. */
static void read_conflict_resolution(struct template *t, const cJSON *metadata)
{
    const char *value =
        json_str(json_get(metadata, "annotations"), CONFLICT_RESOLUTION_ANNOTATION, "");

    t->overwrites = strcmp(value, "overwrite") == 0;
    t->sets_conflict_resolution = t->overwrites || strcmp(value, "abort") == 0;
}

static void read_creation_time(struct decode *d, const cJSON *metadata, struct template *t)
{
    int64_t ms = decode_time(d, metadata, "metadata", "creationTimestamp");

    if (ms <= 0 || ms / 1000 > UINT32_MAX)
        return;
    t->created_s = (uint32_t)(ms / 1000);
}

void *template_decode(struct decode *d, const cJSON *json)
{
    const cJSON *metadata = decode_object(d, json, "", "metadata");
    size_t bytes = template_bytes(packed_labels_count(metadata, "labels"));
    struct template *t = pool_alloc_zeroed(intern_memory(d->strings), bytes);
    struct references references;
    const char *manager;

    t->label_keys = packed_labels_decode(d, metadata, "metadata", "labels", t->label_values);
    t->extra = pool_handle_of(read_extra(d, json));
    template_set_changed_ms(t, user_change_time_ms(d, metadata, &manager));
    t->shared = read_shared(d, json, manager);
    read_creation_time(d, metadata, t);
    t->resource_version = resource_version_decode(d, metadata, "metadata");
    t->uid_hash = uid_hash(json_str(metadata, "uid", ""));
    traces_decode(d, json, &t->traces);
    t->claim_moves_generation = is_object_of_kind(json, "apps/v1", "Deployment");
    t->claim_incomplete = !template_claim(t) && has_claim_id(d, metadata);
    t->deleting = decode_is_deleting(d, metadata);
    t->protected = deletion_is_protected(metadata);
    t->unread = !metadata;
    t->controlled = has_controller(metadata);
    t->reconciled = json_get(json_get(metadata, "annotations"), RECONCILE_ANNOTATION) != NULL;
    read_conflict_resolution(t, metadata);
    t->replicas_unset = lacks_replicas(json);
    references_decode(d, json, &references);
    t->references = references.items;
    t->references_known = references.known;
    if (d->failed) {
        template_release(d->strings, t);
        return NULL;
    }
    return t;
}

/* Records a user's change from `old` to `t`; if `relisted`, its resourceVersion is unknown. */
static void record_user_change(struct template *t, const struct template *old, bool relisted)
{
    t->user_version = relisted ? old->resource_version : t->resource_version;
    t->user_version_is_lower = relisted;
    t->user_change_observed = true;
    t->undated = template_changed_ms(t) <= template_changed_ms(old);
}

void template_inherit(void *fresh, const void *last, bool relisted)
{
    struct template *t = fresh;
    const struct template *old = last;
    bool is_older = t->resource_version && t->resource_version < old->resource_version;

    /*
     * Another object or an older version inherits nothing. Objects with and without a
     * resourceVersion have different sources: do not compare them.
     */
    if (uid_hashes_differ(t->uid_hash, old->uid_hash) || is_older ||
        !t->resource_version != !old->resource_version)
        return;
    t->user_version = old->user_version;
    t->user_version_is_lower = old->user_version_is_lower;
    t->user_change_observed = old->user_change_observed;
    t->undated = old->undated;
    if (was_changed_by_user(&old->traces, &t->traces, t->claim_moves_generation))
        record_user_change(t, old, relisted);
    if (template_changed_ms(t) < template_changed_ms(old)) {
        t->changed = old->changed;
        t->changer_unknown = true;
    }
}

void template_set_change_time(struct template *t, int64_t now_ms)
{
    if (t->undated && now_ms > template_changed_ms(t)) {
        template_set_changed_ms(t, now_ms);
        t->changer_unknown = true;
    }
    t->undated = false;
}

void template_release(struct intern *strings, void *object)
{
    struct template *t = object;

    if (!t)
        return;
    packed_labels_release(strings, t->label_keys, t->label_values);
    references_release(strings, &(struct references){t->references, template_references(t).count,
                                                     t->references_known});
    extra_release(strings, extra_of(t));
    shared_release(strings, t->shared);
    pool_free(t);
}
