/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/random_object.h"

#include "metrics/model/binding.h"
#include "tests/unit/random_status.h"

static const char *const namespaces[] = {"default", "team", "kube-system"};
static const char *const names[] = {"app", "web", "Web", "db"};
static const char *const policies[] = {"policy-a", "policy-b", "policy-c"};
static const char *const ids[] = {"id-1", "id-2"};
static const char *const kinds[][2] = {
    {"apps/v1", "Deployment"},
    {"v1", "ConfigMap"},
    {"v1", "Secret"},
    {"pubsub.cnrm.cloud.google.com/v1beta1", "PubSubTopic"},
};
static const char *const holders[] = {"abc", "def", "nobody"};
static const char *const preventions[] = {"none", "resource", "project"};
static const char *const members[] = {"member1", "member2", "member3", "member4"};
static const char *const times[] = {
    "2026-01-01T00:00:00Z",
    "2026-01-01T00:00:30Z",
    "2026-01-01T00:01:00Z",
    "2026-01-01T00:02:00Z",
};

#define PICK(w, list) ((list)[world_random((w), (uint32_t)ARRAY_LEN(list))])

static bool chance(struct world *w, uint32_t one_in)
{
    return world_random(w, one_in) == 0;
}

static void add_version(struct world *w, cJSON *object)
{
    char version[8];

    snprintf(version, sizeof(version), "%u", 1 + world_random(w, 9));
    if (chance(w, 2))
        cJSON_AddStringToObject(object, "resourceVersion", version);
}

static cJSON *add_metadata(struct world *w, cJSON *object, const char *ns, const char *name)
{
    cJSON *metadata = cJSON_AddObjectToObject(object, "metadata");

    cJSON_AddStringToObject(metadata, "name", name);
    if (*ns)
        cJSON_AddStringToObject(metadata, "namespace", ns);
    if (chance(w, 2))
        cJSON_AddStringToObject(metadata, "creationTimestamp", PICK(w, times));
    if (chance(w, 2))
        cJSON_AddStringToObject(metadata, "uid", PICK(w, ids));
    if (chance(w, 8))
        cJSON_AddStringToObject(metadata, "deletionTimestamp", PICK(w, times));
    if (chance(w, 2))
        cJSON_AddStringToObject(metadata, "uid", PICK(w, ids));
    if (chance(w, 2))
        cJSON_AddNumberToObject(metadata, "generation", 1 + world_random(w, 3));
    add_version(w, metadata);
    if (chance(w, 2)) {
        cJSON *entry = cJSON_CreateObject();

        cJSON_AddItemToArray(cJSON_AddArrayToObject(metadata, "managedFields"), entry);
        cJSON_AddStringToObject(entry, "manager", "kubectl");
        cJSON_AddStringToObject(entry, "operation", "Update");
        cJSON_AddStringToObject(entry, "time", PICK(w, times));
        cJSON_AddItemToObject(entry, "fieldsV1", cJSON_Parse("{\"f:spec\":{}}"));
    }
    cJSON_AddObjectToObject(metadata, "labels");
    cJSON_AddObjectToObject(metadata, "annotations");
    return metadata;
}

static cJSON *new_object(const char *api_version, const char *kind)
{
    cJSON *object = cJSON_CreateObject();

    cJSON_AddStringToObject(object, "apiVersion", api_version);
    cJSON_AddStringToObject(object, "kind", kind);
    return object;
}

/* Adds a claim, sometimes without its label. */
static void add_claim(struct world *w, cJSON *metadata, const char *ns)
{
    cJSON *labels = cJSON_GetObjectItem(metadata, "labels");
    cJSON *annotations = cJSON_GetObjectItem(metadata, "annotations");
    bool own = *ns && chance(w, 2);

    if (own) {
        cJSON_AddStringToObject(annotations, "propagationpolicy.karmada.io/namespace", ns);
        cJSON_AddStringToObject(annotations, "propagationpolicy.karmada.io/name",
                                PICK(w, policies));
    } else {
        cJSON_AddStringToObject(annotations, "clusterpropagationpolicy.karmada.io/name",
                                PICK(w, policies));
    }
    if (!chance(w, 6))
        cJSON_AddStringToObject(labels,
                                own ? "propagationpolicy.karmada.io/permanent-id"
                                    : "clusterpropagationpolicy.karmada.io/permanent-id",
                                PICK(w, ids));
}

/* Adds fields that Config Connector reads or writes, each at random. */
static void add_connector(struct world *w, cJSON *object)
{
    cJSON *annotations =
        cJSON_GetObjectItem(cJSON_GetObjectItem(object, "metadata"), "annotations");
    cJSON *spec = cJSON_AddObjectToObject(object, "spec");
    char status[256];

    if (chance(w, 2))
        cJSON_AddStringToObject(annotations,
                                "cnrm.cloud.google.com/management-conflict-prevention-policy",
                                PICK(w, preventions));
    if (chance(w, 2))
        cJSON_AddStringToObject(annotations, "cnrm.cloud.google.com/project-id", PICK(w, names));
    if (chance(w, 12))
        cJSON_AddStringToObject(annotations, "cnrm.cloud.google.com/folder-id", "7");
    if (chance(w, 3))
        cJSON_AddStringToObject(annotations, "cnrm.cloud.google.com/reconcile-interval-in-seconds",
                                chance(w, 2) ? "3600" : "600");
    if (chance(w, 2))
        cJSON_AddStringToObject(spec, "resourceID", PICK(w, names));
    snprintf(status, sizeof(status),
             "{\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\","
             "\"reason\":\"ManagementConflict\",\"message\":\"under lease by '%s' for\"}]}",
             PICK(w, holders));
    if (chance(w, 4))
        cJSON_AddItemToObject(object, "status", cJSON_Parse(status));
}

static cJSON *random_template(struct world *w)
{
    const char *const *kind = PICK(w, kinds);
    const char *ns = PICK(w, namespaces);
    cJSON *object = new_object(kind[0], kind[1]);
    cJSON *metadata = add_metadata(w, object, ns, PICK(w, names));
    cJSON *labels = cJSON_GetObjectItem(metadata, "labels");

    if (chance(w, 2))
        cJSON_AddStringToObject(labels, "app", PICK(w, names));
    if (chance(w, 20))
        cJSON_AddStringToObject(labels, "resourcetemplate.karmada.io/claimed-by", "somebody");
    if (chance(w, 2))
        add_claim(w, metadata, ns);
    /* Sometimes only metadata, as a source may request from an API server. */
    if (strcmp(kind[1], "Deployment") == 0 && !chance(w, 4)) {
        cJSON *spec = cJSON_AddObjectToObject(object, "spec");
        char template[256];

        cJSON_AddNumberToObject(spec, "replicas", world_random(w, 3));
        snprintf(template, sizeof(template),
                 "{\"spec\":{\"volumes\":[{\"name\":\"v\",\"configMap\":{\"name\":\"%s\"}},"
                 "{\"name\":\"s\",\"secret\":{\"secretName\":\"%s\"}}]}}",
                 PICK(w, names), PICK(w, names));
        cJSON_AddItemToObject(spec, "template", cJSON_Parse(template));
    }
    if (strcmp(kind[1], "PubSubTopic") == 0)
        add_connector(w, object);
    return object;
}

static cJSON *random_namespace(struct world *w)
{
    cJSON *object = new_object("v1", "Namespace");
    cJSON *metadata = add_metadata(w, object, "", PICK(w, namespaces));
    cJSON *annotations = cJSON_GetObjectItem(metadata, "annotations");

    if (chance(w, 2))
        cJSON_AddStringToObject(annotations,
                                "cnrm.cloud.google.com/management-conflict-prevention-policy",
                                PICK(w, preventions));
    if (chance(w, 2))
        cJSON_AddStringToObject(annotations, "cnrm.cloud.google.com/project-id", PICK(w, names));
    if (chance(w, 4))
        cJSON_AddStringToObject(annotations, "cnrm.cloud.google.com/folder-id", "7");
    return object;
}

static cJSON *random_priority_class(struct world *w)
{
    cJSON *object = new_object("scheduling.k8s.io/v1", "PriorityClass");

    add_metadata(w, object, "", PICK(w, names));
    if (!chance(w, 4))
        cJSON_AddNumberToObject(object, "value", world_random(w, 2));
    return object;
}

static cJSON *random_namespace_ids(struct world *w)
{
    cJSON *object = new_object("v1", "ConfigMap");
    cJSON *data;

    add_metadata(w, object, "cnrm-system", "namespace-id");
    data = cJSON_AddObjectToObject(object, "data");
    cJSON_AddStringToObject(data, "default", holders[0]);
    cJSON_AddStringToObject(data, "team", PICK(w, holders));
    return object;
}

/* The snapshot and the expiry are near the times of other objects. */
static cJSON *random_lease(struct world *w)
{
    static const int64_t start_s = 1767225600; /* 2026-01-01T00:00:00Z */
    cJSON *object = new_object("cloudasset.googleapis.com/v1", "Asset");
    int64_t expires_s = start_s - 600 + (int64_t)world_random(w, 3000);
    int64_t written_s = start_s - 2700 + (int64_t)world_random(w, 2700);
    char expiration[32], name[96];

    /* Topics name their project, or use that of their namespace. */
    snprintf(name, sizeof(name), "//pubsub.googleapis.com/projects/%s/topics/%s",
             chance(w, 2) ? PICK(w, names) : PICK(w, namespaces), PICK(w, names));
    add_metadata(w, object, "", name);
    snprintf(expiration, sizeof(expiration), "%" PRId64, expires_s);
    cJSON_AddStringToObject(object, "assetType", "pubsub.googleapis.com/Topic");
    cJSON_AddNumberToObject(object, "snapshotMilliseconds", (double)(written_s * 1000));
    if (!chance(w, 4))
        cJSON_AddStringToObject(object, "holder", PICK(w, holders));
    cJSON_AddStringToObject(object, "expiration", chance(w, 5) ? "abc" : expiration);
    return object;
}

static cJSON *random_setting(struct world *w)
{
    if (chance(w, 4))
        return random_priority_class(w);
    if (chance(w, 3))
        return random_namespace(w);
    return chance(w, 3) ? random_namespace_ids(w) : random_lease(w);
}

/* Placements with different ways to select clusters and to divide replicas. */
static const char *const placements[] = {
    "{}",
    "{\"clusterAffinity\":{\"clusterNames\":[\"member1\"]}}",
    "{\"clusterAffinity\":{\"clusterNames\":[\"member2\"]}}",
    "{\"clusterAffinity\":{\"labelSelector\":{\"matchLabels\":{\"env\":\"prod\"}}},"
    "\"replicaScheduling\":{\"replicaSchedulingType\":\"Divided\"}}",
    "{\"clusterAffinity\":{\"fieldSelector\":{\"matchExpressions\":[{\"key\":\"zone\","
    "\"operator\":\"In\",\"values\":[\"z1\"]}]}},\"replicaScheduling\":{"
    "\"replicaDivisionPreference\":\"Aggregated\"}}",
    "{\"clusterAffinities\":[{\"affinityName\":\"a\",\"clusterNames\":[\"member3\"]},"
    "{\"affinityName\":\"b\",\"exclude\":[\"member1\"]}],\"clusterTolerations\":["
    "{\"operator\":\"Exists\"}]}",
    "{\"clusterAffinity\":{\"fieldSelector\":{\"matchExpressions\":[{\"key\":\"provider\","
    "\"operator\":\"In\",\"values\":[\"aws\"]},{\"key\":\"region\","
    "\"operator\":\"NotIn\",\"values\":[\"us\"]}]}}}",
    "{\"replicaScheduling\":{\"weightPreference\":{\"staticWeightList\":[{\"targetCluster\":{"
    "\"clusterNames\":[\"member1\"]},\"weight\":3},{\"targetCluster\":{},\"weight\":1}]}}}",
};

/* Adds fields that policies and bindings have in common. */
static void add_propagation(struct world *w, cJSON *spec)
{
    cJSON_AddItemToObject(spec, "placement", cJSON_Parse(PICK(w, placements)));
    if (chance(w, 2))
        cJSON_AddStringToObject(spec, "conflictResolution", chance(w, 2) ? "Abort" : "Overwrite");
    if (chance(w, 2))
        cJSON_AddBoolToObject(spec, "preserveResourcesOnDeletion", chance(w, 2));
    if (!chance(w, 3))
        cJSON_AddTrueToObject(spec, "propagateDeps");
}

static cJSON *random_selector(struct world *w, const char *ns)
{
    const char *const *kind = PICK(w, kinds);
    cJSON *selector = new_object(kind[0], kind[1]);

    if (chance(w, 3))
        cJSON_AddStringToObject(selector, "namespace", *ns ? ns : PICK(w, namespaces));
    if (chance(w, 3)) {
        cJSON_AddStringToObject(selector, "name", PICK(w, names));
    } else if (chance(w, 3)) {
        cJSON *labels = cJSON_AddObjectToObject(selector, "labelSelector");
        cJSON_AddStringToObject(cJSON_AddObjectToObject(labels, "matchLabels"), "app",
                                PICK(w, names));
    } else if (chance(w, 4)) {
        cJSON_AddItemToObject(selector, "labelSelector",
                              cJSON_Parse("{\"matchExpressions\":[{\"key\":\"app\","
                                          "\"operator\":\"DoesNotExist\"}]}"));
    }
    return selector;
}

static cJSON *random_policy(struct world *w)
{
    bool wide = chance(w, 2);
    const char *ns = wide ? "" : PICK(w, namespaces);
    cJSON *object = new_object("policy.karmada.io/v1alpha1",
                               wide ? "ClusterPropagationPolicy" : "PropagationPolicy");
    cJSON *metadata = add_metadata(w, object, ns, PICK(w, policies));
    cJSON *spec = cJSON_AddObjectToObject(object, "spec");
    cJSON *selectors = cJSON_AddArrayToObject(spec, "resourceSelectors");

    if (!chance(w, 4))
        cJSON_AddStringToObject(cJSON_GetObjectItem(metadata, "labels"),
                                wide ? "clusterpropagationpolicy.karmada.io/permanent-id"
                                     : "propagationpolicy.karmada.io/permanent-id",
                                PICK(w, ids));
    for (uint32_t i = 1 + world_random(w, 2); i > 0; i--)
        cJSON_AddItemToArray(selectors, random_selector(w, ns));
    if (chance(w, 3))
        cJSON_AddItemToArray(cJSON_AddArrayToObject(spec, "excludedResources"),
                             random_selector(w, ns));
    if (chance(w, 2))
        cJSON_AddNumberToObject(spec, "priority", world_random(w, 3));
    if (chance(w, 3))
        cJSON_AddStringToObject(spec, "activationPreference", "Lazy");
    if (chance(w, 5))
        cJSON_AddItemToArray(cJSON_AddArrayToObject(spec, "dependentOverrides"),
                             cJSON_CreateString(PICK(w, names)));
    if (chance(w, 4))
        cJSON_AddItemToObject(spec, "schedulePriority",
                              cJSON_Parse(chance(w, 2) ? "{\"priorityClassName\":\"web\"}"
                                                       : "{\"priorityClassName\":\"db\"}"));
    add_propagation(w, spec);
    return object;
}

/* Adds fields of a binding that the scheduler reads or writes. */
static void add_schedule(struct world *w, cJSON *spec)
{
    cJSON *clusters = cJSON_AddArrayToObject(spec, "clusters");

    cJSON_AddNumberToObject(spec, "replicas", world_random(w, 6));
    for (uint32_t i = world_random(w, 3); i > 0; i--) {
        cJSON *cluster = cJSON_CreateObject();

        cJSON_AddStringToObject(cluster, "name", PICK(w, members));
        cJSON_AddNumberToObject(cluster, "replicas", world_random(w, 3));
        cJSON_AddItemToArray(clusters, cluster);
    }
    if (chance(w, 2))
        cJSON_AddItemToObject(spec, "replicaRequirements",
                              cJSON_Parse("{\"resourceRequest\":{\"cpu\":\"100m\","
                                          "\"memory\":\"1Gi\"}}"));
    if (chance(w, 4))
        cJSON_AddNumberToObject(cJSON_AddObjectToObject(spec, "schedulePriority"), "priority",
                                world_random(w, 2));
    if (chance(w, 10))
        cJSON_AddItemToObject(spec, "components", cJSON_Parse("[{\"name\":\"main\"}]"));
}

/* Adds, at random, the annotation of a binding that lists the dependencies of the template. */
static void add_dependencies_annotation(struct world *w, cJSON *metadata, const char *ns)
{
    CLEANUP(strbuf_release) struct strbuf note = STRBUF_INIT(1024);

    if (chance(w, 2))
        return;
    strbuf_adds(&note, "[");
    for (uint32_t i = world_random(w, 3); i > 0; i--)
        strbuf_addf(&note,
                    "{\"apiVersion\":\"v1\",\"kind\":\"%s\",\"namespace\":\"%s\","
                    "\"name\":\"%s\"}%s",
                    chance(w, 2) ? "ConfigMap" : "Secret", ns, PICK(w, names), i > 1 ? "," : "");
    strbuf_adds(&note, "]");
    cJSON_AddStringToObject(cJSON_GetObjectItem(metadata, "annotations"),
                            "resourcebinding.karmada.io/dependencies", note.data);
}

static cJSON *random_binding(struct world *w)
{
    const char *const *kind = PICK(w, kinds);
    const char *ns = PICK(w, namespaces);
    const char *name = PICK(w, names);
    CLEANUP(strbuf_release) struct strbuf binding = STRBUF_INIT(256);
    cJSON *object = new_object("work.karmada.io/v1alpha2", "ResourceBinding");

    binding_name(kind[1], name, &binding);
    cJSON *metadata = add_metadata(w, object, ns, binding.data);
    cJSON *spec = cJSON_AddObjectToObject(object, "spec");
    cJSON *resource = new_object(kind[0], kind[1]);

    add_dependencies_annotation(w, metadata, ns);
    cJSON_AddItemToObject(spec, "resource", resource);
    cJSON_AddStringToObject(resource, "namespace", ns);
    cJSON_AddStringToObject(resource, "name", name);
    cJSON_AddStringToObject(resource, "uid", PICK(w, ids));
    add_version(w, resource);
    add_schedule(w, spec);
    add_propagation(w, spec);
    if (chance(w, 2))
        cJSON_DeleteItemFromObject(spec, "placement");
    else if (!chance(w, 4))
        add_claim(w, metadata, ns);
    cJSON *required = cJSON_AddArrayToObject(spec, "requiredBy");
    for (uint32_t i = world_random(w, 4); i > 0; i--) {
        cJSON *referrer = cJSON_CreateObject();

        binding_name("Deployment", PICK(w, names), &binding);
        cJSON_AddStringToObject(referrer, "namespace", ns);
        cJSON_AddStringToObject(referrer, "name", binding.data);
        cJSON_AddItemToArray(required, referrer);
    }
    if (!chance(w, 3))
        random_status(w, object, members, (uint32_t)ARRAY_LEN(members));
    return object;
}

static cJSON *random_override(struct world *w)
{
    bool wide = chance(w, 2);
    cJSON *object =
        new_object("policy.karmada.io/v1alpha1", wide ? "ClusterOverridePolicy" : "OverridePolicy");

    add_metadata(w, object, wide ? "" : PICK(w, namespaces), PICK(w, names));
    return object;
}

static cJSON *random_cluster(struct world *w)
{
    cJSON *object = new_object("cluster.karmada.io/v1alpha1", "Cluster");
    cJSON *metadata = add_metadata(w, object, "", PICK(w, members));
    cJSON *labels = cJSON_GetObjectItem(metadata, "labels");
    cJSON *spec = cJSON_AddObjectToObject(object, "spec");
    char status[256];

    if (!chance(w, 3))
        cJSON_AddStringToObject(labels, "env", chance(w, 2) ? "prod" : "dev");
    if (chance(w, 2))
        cJSON_AddStringToObject(spec, "provider", chance(w, 2) ? "aws" : "gcp");
    if (chance(w, 2))
        cJSON_AddStringToObject(spec, "region", chance(w, 2) ? "eu" : "us");
    if (chance(w, 2))
        cJSON_AddItemToObject(spec, "zones", cJSON_Parse("[\"z1\",\"z2\"]"));
    if (chance(w, 5))
        cJSON_AddItemToObject(spec, "taints",
                              cJSON_Parse("[{\"key\":\"k\",\"effect\":\"NoSchedule\"}]"));
    snprintf(
        status, sizeof(status),
        "{\"resourceSummary\":{\"allocatable\":{\"cpu\":\"8\"},"
        "\"allocated\":{\"cpu\":\"%u\"}},\"conditions\":[{\"type\":\"Ready\",\"status\":\"%s\"}]}",
        world_random(w, 8), chance(w, 3) ? "Unknown" : "True");
    cJSON_AddItemToObject(object, "status", cJSON_Parse(status));
    return object;
}

/*
 * Returns a Work of a random ResourceBinding, or of a ClusterResourceBinding, which never exists.
 */
static cJSON *random_work(struct world *w)
{
    const char *ns = PICK(w, namespaces);
    const char *prefix = chance(w, 8) ? "cluster" : "";
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(512);
    CLEANUP(strbuf_release) struct strbuf binding = STRBUF_INIT(256);
    cJSON *object = new_object("work.karmada.io/v1alpha1", "Work");
    cJSON *metadata, *spec, *annotations;

    strbuf_addf(&text, "karmada-es-%s", PICK(w, members));
    metadata = add_metadata(w, object, text.data, PICK(w, names));
    annotations = cJSON_GetObjectItem(metadata, "annotations");
    binding_name(PICK(w, kinds)[1], PICK(w, names), &binding);
    strbuf_reset(&text);
    strbuf_addf(&text, "%sresourcebinding.karmada.io/name", prefix);
    cJSON_AddStringToObject(annotations, text.data, binding.data);
    cJSON_AddStringToObject(annotations, "resourcebinding.karmada.io/namespace", ns);
    strbuf_reset(&text);
    strbuf_addf(&text,
                "{\"workload\":{\"manifests\":[{\"metadata\":{\"annotations\":{"
                "\"resourcetemplate.karmada.io/generation\":\"%u\"}}}]}}",
                world_random(w, 3));
    spec = cJSON_Parse(text.data);
    cJSON_AddBoolToObject(spec, "suspendDispatching", chance(w, 4));
    cJSON_AddItemToObject(object, "spec", spec);
    return object;
}

/* Returns an Event that reports that an override policy was applied or failed. */
static cJSON *random_event(struct world *w)
{
    const char *ns = PICK(w, namespaces);
    const char *const *kind = PICK(w, kinds);
    bool wide = chance(w, 3), failed = !chance(w, 3);
    cJSON *object = new_object("v1", "Event");
    cJSON *about = new_object(kind[0], kind[1]);
    char message[128];

    add_metadata(w, object, ns, PICK(w, names));
    cJSON_AddStringToObject(about, "namespace", ns);
    cJSON_AddStringToObject(about, "name", PICK(w, names));
    cJSON_AddItemToObject(object, "involvedObject", about);
    cJSON_AddStringToObject(object, "reason",
                            failed ? "ApplyOverridePolicyFailed" : "ApplyOverridePolicySucceed");
    cJSON_AddStringToObject(object, "lastTimestamp", PICK(w, times));
    snprintf(message, sizeof(message), "Apply %soverride policy(%s%s%s) for cluster(%s) %s.",
             wide ? "cluster " : "", wide ? "" : ns, wide ? "" : "/", PICK(w, names),
             PICK(w, members), failed ? "failed" : "succeed");
    cJSON_AddStringToObject(object, "message", message);
    return object;
}

cJSON *random_object(struct world *w)
{
    uint32_t roll = world_random(w, 16);

    if (roll > 14)
        return random_event(w);
    if (roll > 12)
        return random_work(w);
    if (roll < 4)
        return random_template(w);
    if (roll < 7)
        return random_policy(w);
    if (roll < 9)
        return w->manifests_only ? random_template(w) : random_binding(w);
    if (roll > 10)
        return random_setting(w);
    return roll < 10 ? random_override(w) : random_cluster(w);
}

void random_objects(struct world *w, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CLEANUP(json_cleanup) cJSON *object = random_object(w);

        world_put(w, object);
    }
}
