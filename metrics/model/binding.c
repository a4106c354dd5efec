/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/binding.h"

#include "metrics/base/timestamp.h"
#include "metrics/base/utf8.h"
#include "metrics/model/canonical_json.h"
#include "metrics/model/connector_resource.h"
#include "metrics/model/managed_fields.h"
#include "metrics/model/metadata.h"

static const char managed_by_key[] = "binding.karmada.io/managed-by";
static const char applied_placement_key[] = "policy.karmada.io/applied-placement";

static const char *const id_keys[] = {"resourcebinding.karmada.io/permanent-id",
                                      "clusterresourcebinding.karmada.io/permanent-id"};
static const char dependencies_key[] = "resourcebinding.karmada.io/dependencies";

/* ---- members that are read ---- */

/* conflict_holder_decode() reads these conditions. */
static const struct json_filter_row member_condition_rows[] = {
    JSON_ROW_KEEP("type"),
    JSON_ROW_KEEP("status"),
    JSON_ROW_KEEP("reason"),
    JSON_ROW_KEEP("message"),
};
static const struct json_filter member_condition =
    JSON_FILTER_OF(member_condition_rows, JSON_FILTER_DROP);
static const struct json_filter_row member_status_rows[] = {
    JSON_ROW_KEEP("resourceTemplateGeneration"),
    JSON_ROW_KEEP("generation"),
    JSON_ROW_KEEP("observedGeneration"),
    JSON_ROW_KEEP("replicas"),
    JSON_ROW_KEEP("updatedReplicas"),
    JSON_ROW_ELEMENTS("conditions", &member_condition),
};
static const struct json_filter member_status =
    JSON_FILTER_OF(member_status_rows, JSON_FILTER_DROP);
static const struct json_filter_row target_rows[] = {
    JSON_ROW_KEEP("applied"),
    JSON_ROW_KEEP("appliedMessage"),
    JSON_ROW_KEEP("clusterName"),
    JSON_ROW_KEEP("health"),
    JSON_ROW_OBJECT("status", &member_status),
};
static const struct json_filter target_fields = JSON_FILTER_OF(target_rows, JSON_FILTER_DROP);
static const struct json_filter_row status_rows[] = {
    JSON_ROW_ELEMENTS("aggregatedStatus", &target_fields)};
static const struct json_filter status_fields = JSON_FILTER_OF(status_rows, JSON_FILTER_KEEP);
static const struct json_filter_row requirement_rows[] = {JSON_ROW_KEEP("resourceRequest")};
static const struct json_filter requirement_fields =
    JSON_FILTER_OF(requirement_rows, JSON_FILTER_DROP);
static const struct json_filter_row spec_rows[] = {
    JSON_ROW_OBJECT("replicaRequirements", &requirement_fields)};
static const struct json_filter spec_fields = JSON_FILTER_OF(spec_rows, JSON_FILTER_KEEP);
static const struct json_filter_row binding_rows[] = {
    JSON_ROW_OBJECT("metadata", &metadata_fields_of_derived),
    JSON_ROW_OBJECT("spec", &spec_fields),
    JSON_ROW_OBJECT("status", &status_fields),
};
const struct json_filter binding_fields = JSON_FILTER_OF(binding_rows, JSON_FILTER_KEEP);

/* ---- decoding ---- */

enum {
    RECORDED_MAX = 4096,              /* Maximum number of recorded dependencies. */
    TARGET_GENERATION_MAX = 0xffffff, /* Maximum of `generation` in struct target_status. */
};

/* Returns the time `parent.key` in milliseconds since the epoch; 0 if none, invalid or earlier. */
static int64_t lenient_time_ms(const cJSON *parent, const char *key)
{
    int64_t ms;

    return parse_timestamp(json_str(parent, key, ""), &ms) && ms > 0 ? ms : 0;
}

static uint32_t lenient_time_s(const cJSON *parent, const char *key)
{
    return timestamp_seconds(lenient_time_ms(parent, key));
}

/* Returns the message as an interned string, cut after a character to at most MESSAGE_MAX bytes. */
static const char *intern_message(struct decode *d, const char *text)
{
    size_t len = strlen(text);

    return intern_add_len(d->strings, text,
                          len > MESSAGE_MAX ? utf8_cut_length(text, MESSAGE_MAX) : len);
}

/* ---- conditions in the status of a binding ---- */

static const cJSON *find_condition(const cJSON *status, const char *type)
{
    const cJSON *condition;

    cJSON_ArrayForEach (condition, json_array(status, "conditions")) {
        if (strcmp(json_str(condition, "type", ""), type) == 0)
            return condition;
    }
    return NULL;
}

static enum scheduled scheduled_from_reason(const char *reason)
{
    static const struct {
        const char *reason;
        enum scheduled scheduled;
    } reasons[] = {
        {"NoClusterFit", SCHEDULED_NO_CLUSTER_FIT},
        {"Unschedulable", SCHEDULED_UNSCHEDULABLE},
        {"QuotaExceeded", SCHEDULED_QUOTA_EXCEEDED},
        {"SchedulerError", SCHEDULED_ERROR},
    };

    for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
        if (strcmp(reason, reasons[i].reason) == 0)
            return reasons[i].scheduled;
    }
    return SCHEDULED_OTHER;
}

/* Returns the value of binding_status.scheduled_s; `condition` is the condition Scheduled, or NULL.
 */
static uint32_t scheduled_time_s(const cJSON *status, const cJSON *condition)
{
    bool scheduled = strcmp(json_str(condition, "status", ""), "True") == 0;
    uint32_t last_s = scheduled ? lenient_time_s(status, "lastScheduledTime") : 0;

    return last_s > 0 ? last_s : lenient_time_s(condition, "lastTransitionTime");
}

static void read_scheduled_condition(struct decode *d, const cJSON *json,
                                     struct status_problem *problem, struct binding_status *out)
{
    const cJSON *status = json_get(json, "status");
    const cJSON *condition = find_condition(status, "Scheduled");
    const char *message = json_str(condition, "message", "");

    if (!condition)
        return;
    out->scheduled_s = scheduled_time_s(status, condition);
    if (strcmp(json_str(condition, "status", ""), "True") != 0) {
        out->scheduled = (uint8_t)scheduled_from_reason(json_str(condition, "reason", ""));
        if (*message)
            problem->message = intern_message(d, message);
        return;
    }
    out->scheduled = SCHEDULED_TRUE;
}

static void read_conditions(struct decode *d, const cJSON *json, struct status_problem *problem,
                            struct binding_status *out)
{
    const cJSON *status = json_get(json, "status");
    int64_t generation = json_int(json_get(json, "metadata"), "generation", 0);
    int64_t triggered_ms = lenient_time_ms(json_get(json, "spec"), "rescheduleTriggeredAt");

    read_scheduled_condition(d, json, problem, out);
    out->applied_s = lenient_time_s(find_condition(status, "FullyApplied"), "lastTransitionTime");
    out->observed =
        generation == 0 || json_int(status, "schedulerObservedGeneration", 0) == generation;
    out->reschedule_requested = triggered_ms > lenient_time_ms(status, "lastScheduledTime");
    out->was_placed = lenient_time_ms(status, "lastScheduledTime") > 0;
}

void binding_times_decode(const cJSON *json, struct binding_times *out)
{
    const cJSON *status = json_get(json, "status");
    struct error ignored;
    struct decode d = {.err = &ignored};
    struct binding_write write;

    binding_write_decode(&d, json_get(json, "metadata"), &write);
    *out = (struct binding_times){write.time_s,
                                  scheduled_time_s(status, find_condition(status, "Scheduled"))};
}

/* ---- graceful evictions in the spec of a binding ---- */

static enum purge_mode purge_mode_of(const char *text)
{
    static const struct {
        const char *text;
        enum purge_mode mode;
    } modes[] = {
        /* Karmada before 1.15 named the modes Graciously and Immediately. */
        {"Gracefully", PURGE_GRACEFULLY}, {"Graciously", PURGE_GRACEFULLY}, {"", PURGE_GRACEFULLY},
        {"Directly", PURGE_DIRECTLY},     {"Immediately", PURGE_DIRECTLY},  {"Never", PURGE_NEVER},
    };

    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        if (strcmp(text, modes[i].text) == 0)
            return modes[i].mode;
    }
    return PURGE_OTHER;
}

static void drop_eviction_texts(struct intern *strings, const struct eviction *evictions,
                                uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        intern_drop(strings, evictions[i].cluster);
        intern_drop(strings, evictions[i].reason);
        intern_drop(strings, evictions[i].producer);
    }
}

static void read_evictions(struct decode *d, const cJSON *spec, struct status_problem *out)
{
    const cJSON *tasks = json_array(spec, "gracefulEvictionTasks");
    CLEANUP(free_cleanup)
    struct eviction *evictions = decode_alloc_array(tasks, sizeof(*evictions));
    const cJSON *task;
    uint32_t count = 0;
    bool added;

    cJSON_ArrayForEach (task, tasks) {
        int64_t grace_s = json_int(task, "gracePeriodSeconds", 0);

        if (!cJSON_IsObject(task))
            continue;
        evictions[count++] = (struct eviction){
            .cluster = intern_add(d->strings, json_str(task, "fromCluster", "")),
            .reason = intern_add(d->strings, json_str(task, "reason", "")),
            .producer = intern_add(d->strings, json_str(task, "producer", "")),
            .created_ms = lenient_time_ms(task, "creationTimestamp"),
            .grace_s = grace_s > 0 && grace_s <= INT32_MAX ? (int32_t)grace_s : 0,
            .purge_mode = (uint8_t)purge_mode_of(json_str(task, "purgeMode", "")),
            .suppresses = json_bool(task, "suppressDeletion", false),
        };
    }
    if (count == 0)
        return;
    out->eviction_count = count;
    out->evictions = intern_add_block(d->strings, evictions, count * sizeof(*evictions), &added);
    if (!added)
        drop_eviction_texts(d->strings, evictions, count);
}

/* ---- status of the target clusters ---- */

/* Target clusters, sorted by the address of their interned names for binary search. */
struct target_index {
    struct target_cluster **items;
    size_t count;
};

static int compare_name_addresses(const void *a, const void *b)
{
    const struct target_cluster *const *x = a;
    const struct target_cluster *const *y = b;
    uintptr_t one = (uintptr_t)(*x)->name, other = (uintptr_t)(*y)->name;

    return one < other ? -1 : one > other;
}

static struct target_cluster *find_target(const struct intern *strings,
                                          const struct target_index *index, const char *name)
{
    const struct target_cluster key = {.name = intern_find(strings, name)};
    const struct target_cluster *at = &key;
    struct target_cluster **found;

    if (!key.name || index->count == 0)
        return NULL;
    found = bsearch(&at, index->items, index->count, sizeof(struct target_cluster *),
                    compare_name_addresses);
    return found ? *found : NULL;
}

static enum target_health target_health_of(const char *text)
{
    static const char *const words[] = {"Unknown", "Healthy", "Unhealthy"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (strcmp(text, words[i]) == 0)
            return (enum target_health)i;
    }
    return *text ? HEALTH_OTHER : HEALTH_UNKNOWN;
}

/*
 * Returns true if the controller in the member cluster has not yet observed the generation, or has
 * not updated all replicas. Returns false if `status` has no generation.
 */
static bool is_rolling(const cJSON *status, int32_t wanted)
{
    int64_t generation = json_int(status, "generation", 0);
    int64_t updated = json_int(status, "updatedReplicas", 0);

    return generation > 0 && (json_int(status, "observedGeneration", 0) < generation ||
                              updated < json_int(status, "replicas", 0) || updated < wanted);
}

static struct target_status decode_target_status(const cJSON *json,
                                                 const struct target_cluster *target)
{
    const cJSON *status = json_get(json, "status");
    int64_t generation = json_int(status, "resourceTemplateGeneration", 0);
    enum target_health health = target_health_of(json_str(json, "health", ""));
    bool applied = json_bool(json, "applied", false);
    bool fits = generation > 0 && generation <= TARGET_GENERATION_MAX;

    return (struct target_status){
        .generation = (fits ? (uint32_t)generation : 0) & TARGET_GENERATION_MAX,
        .exists = true,
        .applied = applied,
        .has_message = !applied && *json_str(json, "appliedMessage", ""),
        .health = health,
        .rolling = health == HEALTH_UNHEALTHY && is_rolling(status, target->replicas),
    };
}

static void drop_message_texts(struct intern *strings, const struct target_message *messages,
                               uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        intern_drop(strings, messages[i].cluster);
        intern_drop(strings, messages[i].text);
    }
}

static void read_target_status(struct decode *d, const cJSON *items,
                               const struct target_index *index, struct status_problem *out)
{
    CLEANUP(free_cleanup) struct target_message *messages = NULL;
    const cJSON *json;
    uint32_t count = 0;
    bool added;

    cJSON_ArrayForEach (json, items) {
        struct target_cluster *target =
            find_target(d->strings, index, json_str(json, "clusterName", ""));

        if (!target || target->item.exists)
            continue;
        target->item = decode_target_status(json, target);
        if (!target->item.has_message)
            continue;
        if (!messages)
            messages = xreallocarray(NULL, index->count, sizeof(*messages));
        messages[count++] = (struct target_message){
            intern_ref(target->name), intern_message(d, json_str(json, "appliedMessage", ""))};
    }
    if (count == 0)
        return;
    out->message_count = count;
    out->messages = intern_add_block(d->strings, messages, count * sizeof(*messages), &added);
    if (!added)
        drop_message_texts(d->strings, messages, count);
}

/* Sorts pointers to the targets into `items`, which has room for them. */
static struct target_index make_target_index(struct target_cluster *targets, uint32_t count,
                                             struct target_cluster **items)
{
    for (uint32_t i = 0; i < count; i++)
        items[i] = &targets[i];
    if (count > 1)
        qsort(items, count, sizeof(struct target_cluster *), compare_name_addresses);
    return (struct target_index){items, count};
}

/* Sets `suspended` of the targets (Karmada: shouldSuspendDispatching). */
static void read_suspension(const struct intern *strings, const cJSON *suspension,
                            const struct target_index *index)
{
    const cJSON *clusters = json_get(suspension, "dispatchingOnClusters");
    const cJSON *names = json_array(clusters, "clusterNames");
    bool everywhere = json_bool(suspension, "dispatching", false);
    const cJSON *name;

    for (size_t i = 0; i < index->count; i++)
        index->items[i]->item.suspended = everywhere;
    cJSON_ArrayForEach (name, names) {
        struct target_cluster *target =
            cJSON_IsString(name) ? find_target(strings, index, name->valuestring) : NULL;

        if (target)
            target->item.suspended = true;
    }
}

const struct target_cluster *targets_find(const struct target_cluster *targets, uint32_t count,
                                          const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(targets[i].name, name) == 0)
            return &targets[i];
    }
    return NULL;
}

bool targets_equal(const struct target_cluster *a, const struct target_cluster *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (a[i].name != b[i].name || a[i].replicas != b[i].replicas)
            return false;
    }
    return true;
}

void targets_set_suspended(const struct intern *strings, const char *suspension,
                           struct target_cluster *targets, uint32_t count)
{
    struct error ignored;
    CLEANUP(json_cleanup)
    cJSON *json = suspension ? json_parse(suspension, strlen(suspension), NULL, &ignored) : NULL;
    CLEANUP(free_cleanup)
    struct target_cluster **items =
        xreallocarray(NULL, count + (size_t)1, sizeof(struct target_cluster *));
    const struct target_index index = make_target_index(targets, count, items);

    read_suspension(strings, json, &index);
}

/* Drops the references that a status problem has; not the problem itself. */
static void drop_status_problem_members(struct intern *strings, const struct status_problem *p)
{
    if (p->evictions && intern_has_one_reference(p->evictions))
        drop_eviction_texts(strings, p->evictions, p->eviction_count);
    if (p->messages && intern_has_one_reference(p->messages))
        drop_message_texts(strings, p->messages, p->message_count);
    intern_drop(strings, p->evictions);
    intern_drop(strings, p->messages);
    intern_drop(strings, p->message);
}

/* Sets `out` to the status of the binding, and `item` of each target cluster to its status. */
static void binding_status_decode(struct decode *d, const cJSON *json,
                                  struct target_cluster *targets, uint32_t target_count,
                                  struct binding_status *out)
{
    const cJSON *spec = json_get(json, "spec");
    CLEANUP(free_cleanup)
    struct target_cluster **items =
        xreallocarray(NULL, target_count + (size_t)1, sizeof(struct target_cluster *));
    const struct target_index index = make_target_index(targets, target_count, items);
    struct status_problem problem = {0};
    bool added;

    read_conditions(d, json, &problem, out);
    read_evictions(d, spec, &problem);
    read_target_status(d, json_array(json_get(json, "status"), "aggregatedStatus"), &index,
                       &problem);
    read_suspension(d->strings, json_get(spec, "suspension"), &index);
    if (!problem.message && !problem.evictions && !problem.messages)
        return;
    out->problem = intern_add_block(d->strings, &problem, sizeof(problem), &added);
    if (!added)
        drop_status_problem_members(d->strings, &problem);
}

static void binding_status_release(struct intern *strings, struct binding_status *p)
{
    if (p->problem && intern_has_one_reference(p->problem))
        drop_status_problem_members(strings, p->problem);
    intern_drop(strings, p->problem);
    p->problem = NULL;
}

const char *binding_status_message(const struct binding_status *p, const char *cluster)
{
    const struct status_problem *problem = p->problem;

    for (uint32_t i = 0; problem && i < problem->message_count; i++) {
        if (problem->messages[i].cluster == cluster)
            return problem->messages[i].text;
    }
    return "";
}

/* ---- spec and metadata of a binding ---- */

uint32_t binding_id_decode(struct decode *d, const cJSON *labels)
{
    const char *id = decode_text(d, labels, "metadata.labels", id_keys[0]);
    const char *wide = decode_text(d, labels, "metadata.labels", id_keys[1]);

    id = id ? id : wide;
    return uid_hash(id ? id : "");
}

/* Returns the index of the group that the status names; 0 if not one of the first 255 groups. */
static uint8_t observed_group_index(const cJSON *placement, const cJSON *json)
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

/* Returns the name of the affinity group that the scheduler used last; NULL if unset or invalid. */
static const char *intern_affinity_name(struct decode *d, const cJSON *json)
{
    const char *name = json_str(json_get(json, "status"), "schedulerObservingAffinityName", "");

    return *name ? intern_add(d->strings, name) : NULL;
}

/*
 * Returns the canonical JSON of the placement that the scheduler applied last; NULL if absent,
 * invalid or empty. Unless it is absent, sets `group` to observed_group_index().
 */
static const char *read_applied_placement(struct decode *d, const cJSON *json, uint8_t *group)
{
    const cJSON *metadata = decode_object(d, json, "", "metadata");
    const cJSON *annotations = decode_object(d, metadata, "metadata", "annotations");
    const char *text = decode_text(d, annotations, "metadata.annotations", applied_placement_key);
    struct error ignored;

    if (!text)
        return NULL;

    /* The group depends on more than the text only if there are several groups. */
    bool has_groups = strstr(text, "clusterAffinities");
    const char *canonical = has_groups ? NULL : intern_recall(d->strings, text, strlen(text));

    if (canonical)
        return canonical;

    CLEANUP(json_cleanup) cJSON *placement = json_parse(text, strlen(text), NULL, &ignored);

    *group = observed_group_index(placement, json);
    canonical =
        canonical_text(d, cJSON_IsObject(placement) ? placement : NULL, CANONICAL_PLACEMENT);
    if (canonical && !has_groups)
        intern_remember(d->strings, text, strlen(text), canonical);
    return canonical;
}

/* Returns false for an incomplete dependency, and for one by label selector, which has no name. */
static bool is_named_dependency(const cJSON *item)
{
    return *json_str(item, "apiVersion", "") && *json_str(item, "kind", "") &&
           *json_str(item, "name", "");
}

/*
 * Reads the annotation in which Karmada's dependencies distributor records dependencies: an array,
 * or null without dependencies. Returns NULL (unknown) if the annotation is absent, invalid or has
 * more than RECORDED_MAX elements.
 */
static struct recorded_dependencies *read_recorded_dependencies(struct decode *d,
                                                                const cJSON *metadata)
{
    const cJSON *annotations = decode_object(d, metadata, "metadata", "annotations");
    const char *text = decode_text(d, annotations, "metadata.annotations", dependencies_key);
    struct error ignored;
    CLEANUP(json_cleanup)
    cJSON *array = text ? json_parse(text, strlen(text), NULL, &ignored) : NULL;
    int size = cJSON_GetArraySize(array);
    const cJSON *item;

    if (!cJSON_IsNull(array) && (!cJSON_IsArray(array) || size > RECORDED_MAX))
        return NULL;

    struct recorded_dependencies *recorded =
        xcalloc(1, sizeof(*recorded) + (size_t)size * sizeof(*recorded->items));
    cJSON_ArrayForEach (item, array) {
        if (is_named_dependency(item))
            recorded->items[recorded->count++] = (struct identity){
                .api_version = intern_add(d->strings, json_str(item, "apiVersion", "")),
                .kind = intern_add(d->strings, json_str(item, "kind", "")),
                .ns = intern_add(d->strings, json_str(item, "namespace", "")),
                .name = intern_add(d->strings, json_str(item, "name", "")),
            };
    }
    return recorded;
}

static void read_referrers(struct decode *d, const cJSON *spec, struct binding_rare *out)
{
    static const char path[] = "spec.requiredBy[]";
    const cJSON *array = decode_array(d, spec, "spec", "requiredBy");
    const cJSON *item;

    out->referrers = decode_alloc_array(array, sizeof(*out->referrers));
    cJSON_ArrayForEach (item, array) {
        decode_check_element(d, item, path);
        out->referrers[out->referrer_count++] = (struct referrer){
            .ns = decode_interned_or_empty(d, item, path, "namespace"),
            .name = decode_interned_or_empty(d, item, path, "name"),
        };
    }
}

static struct target_cluster decode_target_cluster(struct decode *d, const cJSON *item,
                                                   const char *path)
{
    decode_check_element(d, item, path);
    return (struct target_cluster){
        .name = decode_interned_or_empty(d, item, path, "name"),
        .replicas = decode_replicas(d, item, path, "replicas", 0),
    };
}

static int compare_cluster_names(const void *a, const void *b)
{
    const struct target_cluster *x = a, *y = b;

    return strcmp(x->name, y->name);
}

/* Appends once to `*targets` each cluster that is in spec.requiredBy, but not in spec.clusters. */
static void read_required_clusters(struct decode *d, const cJSON *spec, struct binding *b,
                                   struct target_cluster **targets)
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
    struct target_cluster *by_name = xcalloc(b->cluster_count + (size_t)1, sizeof(*by_name));

    count = 0;
    cJSON_ArrayForEach (referrer, array) {
        cJSON_ArrayForEach (item, json_array(referrer, "clusters"))
            required[count++] = decode_target_cluster(d, item, path);
    }
    for (uint32_t i = 0; i < b->cluster_count; i++)
        by_name[i] = (*targets)[i];
    qsort(by_name, b->cluster_count, sizeof(*by_name), compare_cluster_names);
    qsort(required, count, sizeof(*required), compare_cluster_names);
    *targets = xreallocarray(*targets, b->cluster_count + count, sizeof(struct target_cluster));
    for (size_t i = 0; i < count; i++) {
        bool again = i > 0 && required[i].name == required[i - 1].name;

        if (again || bsearch(&required[i], by_name, b->cluster_count, sizeof(*by_name),
                             compare_cluster_names)) {
            intern_drop(d->strings, required[i].name);
            continue;
        }
        (*targets)[binding_target_count(b)] = required[i];
        b->status.required_count++;
    }
}

/* Returns the targets, with their status, before they are an interned block. The caller frees. */
static struct target_cluster *read_target_clusters(struct decode *d, const cJSON *json,
                                                   struct binding *b)
{
    const cJSON *spec = json_get(json, "spec");
    const cJSON *array = decode_array(d, spec, "spec", "clusters");
    struct target_cluster *targets = decode_alloc_array(array, sizeof(*targets));
    const cJSON *item;

    cJSON_ArrayForEach (item, array)
        targets[b->cluster_count++] = decode_target_cluster(d, item, "spec.clusters[]");
    read_required_clusters(d, spec, b, &targets);
    binding_status_decode(d, json, targets, binding_target_count(b), &b->status);
    return targets;
}

static void drop_target_names(struct intern *strings, const struct target_cluster *targets,
                              uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        intern_drop(strings, targets[i].name);
}

/* Many bindings have equal targets with equal status: they share one block. */
static void share_targets(struct intern *strings, const struct target_cluster *targets,
                          struct binding *b)
{
    uint32_t count = binding_target_count(b);
    bool added;

    if (count == 0)
        return;
    b->clusters = intern_add_block(strings, targets, count * sizeof(*targets), &added);
    if (!added)
        drop_target_names(strings, targets, count);
}

static void read_member_conflicts(struct decode *d, const cJSON *json, const char *api_version,
                                  struct binding_rare *out)
{
    const cJSON *items = json_array(json_get(json, "status"), "aggregatedStatus");
    uint32_t count = 0;
    const cJSON *item;

    if (!is_connector_api_version(api_version))
        return;
    cJSON_ArrayForEach (item, items) {
        const char *holder = conflict_holder_decode(d, json_get(item, "status"));

        if (!holder)
            continue;
        out->member_conflicts =
            xreallocarray(out->member_conflicts, count + 2, sizeof(*out->member_conflicts));
        out->member_conflicts[count++] = (struct member_conflict){
            intern_add(d->strings, json_str(item, "clusterName", "")), holder};
        out->member_conflicts[count] = (struct member_conflict){NULL, NULL};
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

static void drop_request_names(struct intern *strings, const struct resource_request *requests,
                               uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        intern_drop(strings, requests[i].resource);
}

/* Many bindings have equal requests: they share one block. */
static void read_requests(struct decode *d, const cJSON *spec, struct binding *b)
{
    static const char path[] = "spec.replicaRequirements";
    const cJSON *requirements = decode_object(d, spec, "spec", "replicaRequirements");
    const cJSON *map = decode_object(d, requirements, path, "resourceRequest");
    CLEANUP(free_cleanup)
    struct resource_request *requests = decode_alloc_array(map, sizeof(*requests));
    const cJSON *item;
    bool added;

    cJSON_ArrayForEach (item, map) {
        requests[b->request_count++] = (struct resource_request){
            .resource = intern_add(d->strings, item->string),
            .amount = decode_quantity(d, item, "spec.replicaRequirements.resourceRequest"),
        };
    }
    if (b->request_count == 0)
        return;
    b->requests =
        intern_add_block(d->strings, requests, b->request_count * sizeof(*requests), &added);
    if (!added)
        drop_request_names(d->strings, requests, b->request_count);
}

static void read_workload_groups(struct decode *d, const cJSON *spec, struct binding_rare *out)
{
    static const char path[] = "spec.workloadAffinityGroups";
    const cJSON *groups = decode_object(d, spec, "spec", "workloadAffinityGroups");

    out->affinity_group = decode_interned(d, groups, path, "affinityGroup");
    out->anti_affinity_group = decode_interned(d, groups, path, "antiAffinityGroup");
}

static void drop_scope_texts(struct intern *strings, const struct object_scope *scope)
{
    intern_drop(strings, scope->api_version);
    intern_drop(strings, scope->kind);
    intern_drop(strings, scope->ns);
}

/* Returns the apiVersion, kind and namespace of a reference, as an interned block. */
static const struct object_scope *read_scope(struct decode *d, const cJSON *resource,
                                             const char *path)
{
    const struct object_scope texts = {
        .api_version = decode_interned_or_empty(d, resource, path, "apiVersion"),
        .kind = decode_interned_or_empty(d, resource, path, "kind"),
        .ns = decode_interned_or_empty(d, resource, path, "namespace"),
    };
    bool added;
    const struct object_scope *scope = intern_add_block(d->strings, &texts, sizeof(texts), &added);

    if (!added)
        drop_scope_texts(d->strings, &texts);
    return scope;
}

static void read_spec(struct decode *d, const cJSON *spec, struct binding *b)
{
    static const char path[] = "spec.resource";
    const cJSON *components = decode_array(d, spec, "spec", "components");
    const cJSON *resource = decode_object(d, spec, "spec", "resource");
    const cJSON *suspension = decode_object(d, spec, "spec", "suspension");
    const char *uid = decode_text(d, resource, path, "uid");
    struct propagation propagation;

    b->scope = read_scope(d, resource, path);
    decode_text(d, resource, path, "name");
    b->uid_hash = uid_hash(uid ? uid : "");
    b->resource_version = resource_version_decode(d, resource, path);
    propagation_decode(d, spec, &propagation);
    b->propagation = propagation_share(d->strings, &propagation);
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

static void rare_release(struct intern *strings, const struct binding_rare *r)
{
    for (uint32_t i = 0; i < r->referrer_count; i++) {
        intern_drop(strings, r->referrers[i].ns);
        intern_drop(strings, r->referrers[i].name);
    }
    free(r->referrers);
    for (struct member_conflict *c = r->member_conflicts; c && c->cluster; c++) {
        intern_drop(strings, c->cluster);
        intern_drop(strings, c->holder);
    }
    free(r->member_conflicts);
    for (uint32_t i = 0; r->recorded && i < r->recorded->count; i++) {
        intern_drop(strings, r->recorded->items[i].api_version);
        intern_drop(strings, r->recorded->items[i].kind);
        intern_drop(strings, r->recorded->items[i].ns);
        intern_drop(strings, r->recorded->items[i].name);
    }
    free(r->recorded);
    intern_drop(strings, r->affinity_group);
    intern_drop(strings, r->anti_affinity_group);
    intern_drop(strings, r->managed_by);
    intern_drop(strings, r->observed_affinity);
}

/* Returns the rare members; NULL if all are unset. */
static const struct binding_rare *read_rare(struct decode *d, const cJSON *json,
                                            const char *api_version)
{
    const cJSON *metadata = json_get(json, "metadata");
    const cJSON *labels = decode_object(d, metadata, "metadata", "labels");
    const cJSON *spec = json_get(json, "spec");
    int64_t deleted_ms = decode_time(d, metadata, "metadata", "deletionTimestamp");
    struct binding_rare rare = {.managed_by =
                                    decode_interned(d, labels, "metadata.labels", managed_by_key),
                                .observed_affinity = intern_affinity_name(d, json),
                                .recorded = read_recorded_dependencies(d, metadata),
                                .deleted_s = (uint32_t)(deleted_ms / 1000)};

    read_workload_groups(d, spec, &rare);
    read_referrers(d, spec, &rare);
    read_member_conflicts(d, json, api_version, &rare);
    if (!rare.referrers && !rare.member_conflicts && !rare.recorded && !rare.affinity_group &&
        !rare.anti_affinity_group && !rare.managed_by && !rare.observed_affinity &&
        rare.deleted_s == 0)
        return NULL;
    return memcpy(pool_alloc(intern_memory(d->strings), sizeof(rare)), &rare, sizeof(rare));
}

const struct binding_rare *binding_rare_none(void)
{
    static const struct binding_rare none;

    return &none;
}

void *binding_decode(struct decode *d, const cJSON *json)
{
    const cJSON *metadata = decode_object(d, json, "", "metadata");
    const cJSON *labels = decode_object(d, metadata, "metadata", "labels");
    const cJSON *resource = json_get(json_get(json, "spec"), "resource");
    const char *name = json_str(resource, "name", "");
    size_t name_size = strlen(name) + 1;
    CLEANUP(free_cleanup) struct target_cluster *targets = NULL;
    /* One cell for struct and name. Names rarely repeat, so they are not interned. */
    struct binding *b = pool_alloc_zeroed(intern_memory(d->strings), sizeof(*b) + name_size);

    b->claim = claim_decode(d, metadata);
    b->name = memcpy(b + 1, name, name_size);
    b->own_uid_hash = uid_hash(json_str(metadata, "uid", ""));
    b->id_hash = binding_id_decode(d, labels);
    b->applied_placement = read_applied_placement(d, json, &b->observed_group);
    b->was_scheduled = json_get(json_get(metadata, "annotations"), applied_placement_key) != NULL;
    b->created_s = timestamp_seconds(decode_time(d, metadata, "metadata", "creationTimestamp"));
    b->changed_s = timestamp_seconds(user_change_time_ms(d, metadata, NULL));
    binding_write_decode(d, metadata, &b->write);
    b->propagated_s = propagation_write_time_s(d, metadata);
    b->delivered_generation = read_delivered_generation(json);
    b->deleting = decode_is_deleting(d, metadata);
    b->protected = deletion_is_protected(metadata);
    read_spec(d, decode_object(d, json, "", "spec"), b);
    targets = read_target_clusters(d, json, b);
    share_targets(d->strings, targets, b);
    b->rare = read_rare(d, json, b->scope->api_version);
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
    if (intern_has_one_reference(b->scope))
        drop_scope_texts(strings, b->scope);
    intern_drop(strings, b->scope);
    intern_drop(strings, b->applied_placement);
    if (b->clusters && intern_has_one_reference(b->clusters))
        drop_target_names(strings, b->clusters, binding_target_count(b));
    intern_drop(strings, b->clusters);
    binding_status_release(strings, &b->status);
    if (b->requests && intern_has_one_reference(b->requests))
        drop_request_names(strings, b->requests, b->request_count);
    intern_drop(strings, b->requests);
    claim_release(strings, b->claim);
    propagation_drop(strings, b->propagation);
    rare_release(strings, binding_rare(b));
    pool_free((void *)(uintptr_t)b->rare);
    pool_free(b);
}

void binding_inherit(void *fresh, const void *last, bool relisted)
{
    struct binding *b = fresh;
    const struct binding *old = last;

    (void)relisted;
    b->was_changed = old->was_changed || !propagation_equal(b->propagation, old->propagation);
    if (!uid_hashes_differ(b->own_uid_hash, old->own_uid_hash))
        b->status.was_placed |= old->status.was_placed || old->cluster_count > 0;
}

/* Appends nothing, and sets out->full, if the text exceeds the maximum of `out`. */
static void append_lower_case(struct strbuf *out, const char *text, char colon)
{
    char *to = strbuf_extend(out, strlen(text));

    for (; to && *text; text++) {
        char c = *text;

        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        *to++ = c == ':' ? colon : c;
    }
}

void binding_name(const char *kind, const char *name, struct strbuf *out)
{
    strbuf_reset(out);
    append_lower_case(out, name, '.');
    strbuf_addc(out, '-');
    append_lower_case(out, kind, ':');
}

enum { DNS_SUBDOMAIN_MAX = 253 };

static bool is_lower_alphanumeric(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* Returns true if an API server accepts the text as a name (apimachinery: IsDNS1123Subdomain). */
static bool is_dns_subdomain(const char *text)
{
    char last = '.';

    if (strlen(text) > DNS_SUBDOMAIN_MAX)
        return false;
    for (; *text; last = *text++) {
        if (!is_lower_alphanumeric(*text) && !(*text == '-' && last != '.') &&
            !(*text == '.' && is_lower_alphanumeric(last)))
            return false;
    }
    return is_lower_alphanumeric(last);
}

bool binding_name_is_valid(const char *kind, const char *name)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(BINDING_NAME_MAX);

    binding_name(kind, name, &text);
    return strbuf_ok(&text) && is_dns_subdomain(text.data);
}
