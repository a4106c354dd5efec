/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/random_status.h"

#define PICK(w, list) ((list)[world_random((w), (uint32_t)ARRAY_LEN(list))])

static const char *const times[] = {"2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z", "soon"};
static const char *const scheduled[] = {
    "True",          "True",          "True",           "NoClusterFit",
    "Unschedulable", "QuotaExceeded", "SchedulerError", "SomethingNew",
};
static const char *const healths[] = {"Healthy", "Healthy", "Unhealthy", "Unknown", "Degraded"};
static const char *const messages[] = {"", "Deployment already exists in the cluster member1",
                                       "spec is invalid"};
static const char *const modes[] = {"Gracefully", "Directly", "Never", "Later"};

static bool chance(struct world *w, uint32_t one_in)
{
    return world_random(w, one_in) == 0;
}

static void add_conditions(struct world *w, cJSON *status)
{
    cJSON *conditions = cJSON_AddArrayToObject(status, "conditions");
    const char *word = PICK(w, scheduled);
    bool is_true = strcmp(word, "True") == 0;
    cJSON *condition;

    if (!chance(w, 6)) {
        condition = cJSON_CreateObject();
        cJSON_AddItemToArray(conditions, condition);
        cJSON_AddStringToObject(condition, "type", "Scheduled");
        cJSON_AddStringToObject(condition, "status", is_true ? "True" : "False");
        cJSON_AddStringToObject(condition, "reason", is_true ? "Success" : word);
        cJSON_AddStringToObject(condition, "message", PICK(w, messages));
        cJSON_AddStringToObject(condition, "lastTransitionTime", PICK(w, times));
    }
    if (chance(w, 2)) {
        condition = cJSON_CreateObject();
        cJSON_AddItemToArray(conditions, condition);
        cJSON_AddStringToObject(condition, "type", "FullyApplied");
        cJSON_AddStringToObject(condition, "lastTransitionTime", PICK(w, times));
    }
    if (chance(w, 2))
        cJSON_AddNumberToObject(status, "schedulerObservedGeneration", 1 + world_random(w, 3));
    if (chance(w, 2))
        cJSON_AddStringToObject(status, "lastScheduledTime", PICK(w, times));
}

static cJSON *random_item(struct world *w, const char *cluster)
{
    cJSON *item = cJSON_CreateObject();
    cJSON *status = cJSON_AddObjectToObject(item, "status");

    cJSON_AddStringToObject(item, "clusterName", cluster);
    if (!chance(w, 4))
        cJSON_AddTrueToObject(item, "applied");
    if (chance(w, 2))
        cJSON_AddStringToObject(item, "appliedMessage", PICK(w, messages));
    if (!chance(w, 4))
        cJSON_AddStringToObject(item, "health", PICK(w, healths));
    if (chance(w, 2))
        cJSON_AddNumberToObject(status, "resourceTemplateGeneration", 1 + world_random(w, 3));
    if (chance(w, 2))
        cJSON_AddNumberToObject(status, "generation", 1 + world_random(w, 2));
    if (chance(w, 2))
        cJSON_AddNumberToObject(status, "observedGeneration", 1 + world_random(w, 2));
    if (chance(w, 2))
        cJSON_AddNumberToObject(status, "updatedReplicas", world_random(w, 3));
    return item;
}

static cJSON *random_task(struct world *w, const char *cluster)
{
    cJSON *task = cJSON_CreateObject();

    cJSON_AddStringToObject(task, "fromCluster", cluster);
    cJSON_AddStringToObject(task, "producer", "TaintManager");
    cJSON_AddStringToObject(task, "reason", chance(w, 2) ? "TaintUntolerated" : "Other");
    cJSON_AddStringToObject(task, "purgeMode", PICK(w, modes));
    if (chance(w, 4))
        cJSON_AddTrueToObject(task, "suppressDeletion");
    if (!chance(w, 3))
        cJSON_AddStringToObject(task, "creationTimestamp", PICK(w, times));
    if (chance(w, 3))
        cJSON_AddNumberToObject(task, "gracePeriodSeconds", 60);
    return task;
}

void random_status(struct world *w, cJSON *binding, const char *const *members, uint32_t count)
{
    cJSON *spec = cJSON_GetObjectItem(binding, "spec");
    cJSON *status = cJSON_AddObjectToObject(binding, "status");
    cJSON *items = cJSON_AddArrayToObject(status, "aggregatedStatus");
    bool whole = chance(w, 2);
    cJSON *referrer;

    add_conditions(w, status);
    for (uint32_t i = 0; i < count; i++) {
        if (whole || !chance(w, 3))
            cJSON_AddItemToArray(items, random_item(w, members[i]));
    }
    if (chance(w, 8))
        cJSON_ReplaceItemInObject(status, "aggregatedStatus", cJSON_CreateString("none"));
    if (chance(w, 4)) {
        cJSON *tasks = cJSON_AddArrayToObject(spec, "gracefulEvictionTasks");

        for (uint32_t i = 1 + world_random(w, 2); i > 0; i--)
            cJSON_AddItemToArray(tasks, random_task(w, members[world_random(w, count)]));
    }
    if (chance(w, 5))
        cJSON_AddItemToObject(
            spec, "suspension",
            cJSON_Parse(chance(w, 2) ? "{\"dispatching\":true}" : "{\"scheduling\":true}"));
    cJSON_ArrayForEach (referrer, cJSON_GetObjectItem(spec, "requiredBy")) {
        cJSON *clusters = cJSON_AddArrayToObject(referrer, "clusters");

        for (uint32_t i = world_random(w, 3); i > 0; i--) {
            cJSON *cluster = cJSON_CreateObject();

            cJSON_AddStringToObject(cluster, "name", members[world_random(w, count)]);
            cJSON_AddItemToArray(clusters, cluster);
        }
    }
}
