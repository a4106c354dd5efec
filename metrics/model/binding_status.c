/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/binding_status.h"

#include "metrics/base/timestamp.h"
#include "metrics/base/utf8.h"

/* A time that a status tells; 0 if it is none. */
static int64_t time_of(const cJSON *parent, const char *key)
{
    int64_t ms;

    return parse_timestamp(json_str(parent, key, ""), &ms) && ms > 0 ? ms : 0;
}

static uint32_t seconds_of(const cJSON *parent, const char *key)
{
    return timestamp_seconds(time_of(parent, key));
}

/* The shared text of a message, cut between two characters. */
static const char *share_message(struct decode *d, const char *text)
{
    size_t len = strlen(text);

    return intern_add_len(d->strings, text,
                          len > MESSAGE_MAX ? utf8_boundary(text, MESSAGE_MAX) : len);
}

static struct trouble *trouble_of(struct binding_status *p)
{
    if (!p->trouble)
        p->trouble = xcalloc(1, sizeof(*p->trouble));
    return p->trouble;
}

/* ---- conditions ---- */

static const cJSON *find_condition(const cJSON *status, const char *type)
{
    const cJSON *condition;

    cJSON_ArrayForEach (condition, json_array(status, "conditions")) {
        if (strcmp(json_str(condition, "type", ""), type) == 0)
            return condition;
    }
    return NULL;
}

static enum scheduled why_not_scheduled(const char *reason)
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

static void read_scheduled(struct decode *d, const cJSON *json, struct binding_status *out)
{
    const cJSON *status = json_get(json, "status");
    const cJSON *condition = find_condition(status, "Scheduled");
    const char *message = json_str(condition, "message", "");

    if (!condition)
        return;
    out->scheduled_s = seconds_of(condition, "lastTransitionTime");
    if (strcmp(json_str(condition, "status", ""), "True") != 0) {
        out->scheduled = (uint8_t)why_not_scheduled(json_str(condition, "reason", ""));
        if (*message)
            trouble_of(out)->message = share_message(d, message);
        return;
    }
    out->scheduled = SCHEDULED_TRUE;
    if (seconds_of(status, "lastScheduledTime") > 0)
        out->scheduled_s = seconds_of(status, "lastScheduledTime");
}

static void read_conditions(struct decode *d, const cJSON *json, struct binding_status *out)
{
    const cJSON *status = json_get(json, "status");
    int64_t generation = json_int(json_get(json, "metadata"), "generation", 0);
    int64_t triggered_ms = time_of(json_get(json, "spec"), "rescheduleTriggeredAt");

    read_scheduled(d, json, out);
    out->applied_s = seconds_of(find_condition(status, "FullyApplied"), "lastTransitionTime");
    out->observed =
        generation == 0 || json_int(status, "schedulerObservedGeneration", 0) == generation;
    out->reschedules = triggered_ms > time_of(status, "lastScheduledTime");
    out->was_placed = time_of(status, "lastScheduledTime") > 0;
}

/* ---- evictions ---- */

static enum purge_mode purge_mode_of(const char *text)
{
    static const struct {
        const char *text;
        enum purge_mode mode;
    } modes[] = {
        /* The second of each pair is how Karmada wrote it before 1.15. */
        {"Gracefully", PURGE_GRACEFULLY}, {"Graciously", PURGE_GRACEFULLY}, {"", PURGE_GRACEFULLY},
        {"Directly", PURGE_DIRECTLY},     {"Immediately", PURGE_DIRECTLY},  {"Never", PURGE_NEVER},
    };

    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        if (strcmp(text, modes[i].text) == 0)
            return modes[i].mode;
    }
    return PURGE_OTHER;
}

static void read_evictions(struct decode *d, const cJSON *spec, struct binding_status *out)
{
    const cJSON *tasks = json_array(spec, "gracefulEvictionTasks");
    const cJSON *task;

    cJSON_ArrayForEach (task, tasks) {
        int64_t grace_s = json_int(task, "gracePeriodSeconds", 0);

        if (!cJSON_IsObject(task))
            continue;

        struct trouble *t = trouble_of(out);

        if (!t->evictions)
            t->evictions = decode_room(tasks, sizeof(*t->evictions));
        t->evictions[t->eviction_count++] = (struct eviction){
            .cluster = intern_add(d->strings, json_str(task, "fromCluster", "")),
            .reason = intern_add(d->strings, json_str(task, "reason", "")),
            .producer = intern_add(d->strings, json_str(task, "producer", "")),
            .created_ms = time_of(task, "creationTimestamp"),
            .grace_s = grace_s > 0 && grace_s <= INT32_MAX ? (int32_t)grace_s : 0,
            .purge_mode = (uint8_t)purge_mode_of(json_str(task, "purgeMode", "")),
            .suppresses = json_bool(task, "suppressDeletion", false),
        };
    }
}

/* ---- items ---- */

/* The targets by the address of their names, which are shared: binary search for each item. */
struct target_index {
    struct target_cluster **items;
    size_t count;
};

static int compare_names(const void *a, const void *b)
{
    const struct target_cluster *const *x = a;
    const struct target_cluster *const *y = b;
    uintptr_t one = (uintptr_t)(*x)->name, other = (uintptr_t)(*y)->name;

    return one < other ? -1 : one > other;
}

static struct target_cluster *find_target(const struct decode *d, const struct target_index *index,
                                          const char *name)
{
    const struct target_cluster key = {.name = intern_find(d->strings, name)};
    const struct target_cluster *at = &key;
    struct target_cluster **found;

    if (!key.name || index->count == 0)
        return NULL;
    found =
        bsearch(&at, index->items, index->count, sizeof(struct target_cluster *), compare_names);
    return found ? *found : NULL;
}

static enum target_health health_of(const char *text)
{
    static const char *const words[] = {"Unknown", "Healthy", "Unhealthy"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (strcmp(text, words[i]) == 0)
            return (enum target_health)i;
    }
    return *text ? HEALTH_OTHER : HEALTH_UNKNOWN;
}

/* The member's controller has not seen its generation, or has not brought all replicas to it. */
static bool is_rolling(const cJSON *status, int32_t wanted)
{
    int64_t generation = json_int(status, "generation", 0);
    int64_t updated = json_int(status, "updatedReplicas", 0);

    return generation > 0 && (json_int(status, "observedGeneration", 0) < generation ||
                              updated < json_int(status, "replicas", 0) || updated < wanted);
}

static struct target_item item_of(const cJSON *json, const struct target_cluster *target)
{
    const cJSON *status = json_get(json, "status");
    int64_t generation = json_int(status, "resourceTemplateGeneration", 0);
    enum target_health health = health_of(json_str(json, "health", ""));
    bool applied = json_bool(json, "applied", false);
    bool fits = generation > 0 && generation <= TARGET_GENERATION_MAX;

    return (struct target_item){
        .generation = (fits ? (uint32_t)generation : 0) & TARGET_GENERATION_MAX,
        .exists = true,
        .applied = applied,
        .has_message = !applied && *json_str(json, "appliedMessage", ""),
        .health = health,
        .rolling = health == HEALTH_UNHEALTHY && is_rolling(status, target->replicas),
    };
}

static void read_items(struct decode *d, const cJSON *items, const struct target_index *index,
                       struct binding_status *out)
{
    const cJSON *json;

    cJSON_ArrayForEach (json, items) {
        struct target_cluster *target = find_target(d, index, json_str(json, "clusterName", ""));

        if (!target || target->item.exists)
            continue;
        target->item = item_of(json, target);
        if (!target->item.has_message)
            continue;

        struct trouble *t = trouble_of(out);

        if (!t->messages)
            t->messages = xreallocarray(NULL, index->count, sizeof(*t->messages));
        t->messages[t->message_count++] = (struct target_message){
            intern_ref(target->name), share_message(d, json_str(json, "appliedMessage", ""))};
    }
    /* There was room for one of each target, and few have one. */
    if (out->trouble && out->trouble->messages)
        out->trouble->messages = xreallocarray(out->trouble->messages, out->trouble->message_count,
                                               sizeof(struct target_message));
}

static void read_suspension(const struct decode *d, const cJSON *suspension,
                            const struct target_index *index)
{
    const cJSON *clusters = json_get(suspension, "dispatchingOnClusters");
    const cJSON *names = json_array(clusters, "clusterNames");
    bool everywhere = json_bool(suspension, "dispatching", false);
    const cJSON *name;

    for (size_t i = 0; everywhere && i < index->count; i++)
        index->items[i]->item.suspended = true;
    cJSON_ArrayForEach (name, names) {
        struct target_cluster *target =
            cJSON_IsString(name) ? find_target(d, index, name->valuestring) : NULL;

        if (target)
            target->item.suspended = true;
    }
}

void binding_status_decode(struct decode *d, const cJSON *json, struct target_cluster *targets,
                           uint32_t target_count, struct binding_status *out)
{
    const cJSON *spec = json_get(json, "spec");
    CLEANUP(free_cleanup)
    struct target_cluster **items =
        xreallocarray(NULL, target_count + (size_t)1, sizeof(struct target_cluster *));
    const struct target_index index = {items, target_count};

    for (uint32_t i = 0; i < target_count; i++)
        items[i] = &targets[i];
    qsort(items, target_count, sizeof(struct target_cluster *), compare_names);
    read_conditions(d, json, out);
    read_evictions(d, spec, out);
    read_items(d, json_array(json_get(json, "status"), "aggregatedStatus"), &index, out);
    read_suspension(d, json_get(spec, "suspension"), &index);
}

void binding_status_release(struct intern *strings, struct binding_status *p)
{
    struct trouble *t = p->trouble;

    if (!t)
        return;
    for (uint32_t i = 0; i < t->eviction_count; i++) {
        intern_drop(strings, t->evictions[i].cluster);
        intern_drop(strings, t->evictions[i].reason);
        intern_drop(strings, t->evictions[i].producer);
    }
    for (uint32_t i = 0; i < t->message_count; i++) {
        intern_drop(strings, t->messages[i].cluster);
        intern_drop(strings, t->messages[i].text);
    }
    intern_drop(strings, t->message);
    free(t->evictions);
    free(t->messages);
    free(t);
    p->trouble = NULL;
}

const char *binding_status_message(const struct binding_status *p, const char *cluster)
{
    const struct trouble *t = p->trouble;

    for (uint32_t i = 0; t && i < t->message_count; i++) {
        if (t->messages[i].cluster == cluster)
            return t->messages[i].text;
    }
    return "";
}

const struct eviction *binding_status_eviction(const struct binding_status *p, const char *cluster)
{
    const struct trouble *t = p->trouble;

    for (uint32_t i = 0; t && i < t->eviction_count; i++) {
        if (t->evictions[i].cluster == cluster)
            return &t->evictions[i];
    }
    return NULL;
}
