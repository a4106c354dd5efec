/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/generate.h"

#include <dirent.h>
#include <unistd.h>

enum { OBJECT_MAX = 1 << 20, PATH_MAX_LEN = 4096 };

static unsigned namespace_of(const struct generated *g, unsigned at)
{
    return at % g->namespaces;
}

/* Returns the number, within the namespace, of the policy that selects the template. */
static unsigned group_of(const struct generated *g, unsigned at)
{
    unsigned per_namespace = g->policies / g->namespaces;

    return per_namespace ? at / g->namespaces % per_namespace : 0;
}

unsigned generated_per_policy(const struct generated *g)
{
    return g->templates / g->policies;
}

/* Appends managedFields of a realistic size: most bytes of an object. */
static void add_managed_fields(struct strbuf *out)
{
    strbuf_adds(
        out,
        "\"managedFields\":[{\"apiVersion\":\"apps/v1\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{"
        "\"f:metadata\":{\"f:labels\":{\".\":{},\"f:app\":{},\"f:team\":{},\"f:tier\":{}}},"
        "\"f:spec\":{\"f:progressDeadlineSeconds\":{},\"f:replicas\":{},"
        "\"f:revisionHistoryLimit\":{},\"f:selector\":{},\"f:strategy\":{\"f:rollingUpdate\":{"
        "\".\":{},\"f:maxSurge\":{},\"f:maxUnavailable\":{}},\"f:type\":{}},\"f:template\":{"
        "\"f:metadata\":{\"f:labels\":{\".\":{},\"f:app\":{}}},\"f:spec\":{\"f:containers\":{"
        "\"k:{\\\"name\\\":\\\"app\\\"}\":{\".\":{},\"f:image\":{},\"f:imagePullPolicy\":{},"
        "\"f:name\":{},\"f:resources\":{},\"f:terminationMessagePath\":{},"
        "\"f:terminationMessagePolicy\":{}}},\"f:dnsPolicy\":{},\"f:restartPolicy\":{},"
        "\"f:schedulerName\":{},\"f:securityContext\":{},\"f:terminationGracePeriodSeconds\":{}"
        "}}}},\"manager\":\"kubectl-client-side-apply\",\"operation\":\"Update\","
        "\"time\":\"2026-01-01T00:00:00Z\"}],");
}

void generate_template(struct strbuf *out, const struct generated *g, unsigned at)
{
    unsigned ns = namespace_of(g, at);

    strbuf_adds(out,
                "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"annotations\":"
                "{\"deployment.kubernetes.io/revision\":\"1\"");
    if (g->bindings)
        strbuf_addf(out,
                    ",\"propagationpolicy.karmada.io/name\":\"policy-%05u\","
                    "\"propagationpolicy.karmada.io/namespace\":\"team-%u\"",
                    group_of(g, at) * g->namespaces + ns, ns);
    strbuf_addf(out,
                "},\"creationTimestamp\":\"2026-01-01T00:00:00Z\",\"generation\":1,\"labels\":{"
                "\"app\":\"app-%u\",",
                group_of(g, at));
    if (g->bindings)
        strbuf_addf(out,
                    "\"propagationpolicy.karmada.io/permanent-id\":"
                    "\"7c0f2d3e-0000-4000-8000-%012u\",",
                    group_of(g, at) * g->namespaces + ns);
    strbuf_addf(out, "\"team\":\"team-%u\",\"tier\":\"backend\"},", ns);
    add_managed_fields(out);
    strbuf_addf(
        out,
        "\"name\":\"service-%06u\",\"namespace\":\"team-%u\",\"resourceVersion\":\"%u\","
        "\"uid\":\"4f1c3c50-0000-4000-8000-%012u\"},\"spec\":{"
        "\"progressDeadlineSeconds\":600,\"replicas\":2,\"revisionHistoryLimit\":10,"
        "\"selector\":{\"matchLabels\":{\"app\":\"app-%u\"}},\"strategy\":{"
        "\"rollingUpdate\":{\"maxSurge\":\"25%%\",\"maxUnavailable\":\"25%%\"},"
        "\"type\":\"RollingUpdate\"},\"template\":{\"metadata\":{\"labels\":{\"app\":"
        "\"app-%u\"}},\"spec\":{\"containers\":[{\"env\":[{\"name\":\"MODE\",\"value\":"
        "\"production\"}],\"image\":\"registry.invalid/team-%u/service:1.%u\","
        "\"imagePullPolicy\":\"IfNotPresent\",\"name\":\"app\",\"ports\":[{"
        "\"containerPort\":8080,\"protocol\":\"TCP\"}],\"resources\":{\"limits\":{"
        "\"cpu\":\"500m\",\"memory\":\"256Mi\"},\"requests\":{\"cpu\":\"100m\","
        "\"memory\":\"128Mi\"}},\"terminationMessagePath\":\"/dev/termination-log\","
        "\"terminationMessagePolicy\":\"File\",\"volumeMounts\":[{\"mountPath\":\"/config\","
        "\"name\":\"config\"}]}],\"dnsPolicy\":\"ClusterFirst\",\"restartPolicy\":"
        "\"Always\",\"schedulerName\":\"default-scheduler\",\"securityContext\":{},"
        "\"terminationGracePeriodSeconds\":30,\"volumes\":[{\"configMap\":{\"defaultMode\":"
        "420,\"name\":\"settings\"},\"name\":\"config\"}]}}},\"status\":{"
        "\"availableReplicas\":2,\"observedGeneration\":1,\"readyReplicas\":2,"
        "\"replicas\":2,\"updatedReplicas\":2}}",
        at, ns, 1000 + at, at, group_of(g, at), group_of(g, at), ns, at % 20);
}

void generate_policy(struct strbuf *out, const struct generated *g, unsigned at,
                     const char *member_cluster)
{
    strbuf_addf(out,
                "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":\"PropagationPolicy\","
                "\"metadata\":{\"creationTimestamp\":\"2026-01-01T00:00:00Z\",\"generation\":1,"
                "\"labels\":{\"propagationpolicy.karmada.io/permanent-id\":"
                "\"7c0f2d3e-0000-4000-8000-%012u\"},\"name\":\"policy-%05u\",\"namespace\":"
                "\"team-%u\"},\"spec\":{\"conflictResolution\":\"Abort\",\"placement\":{"
                "\"clusterAffinity\":{\"clusterNames\":[\"%s\"]}},\"preemption\":\"Never\","
                "\"priority\":0,\"resourceSelectors\":[{\"apiVersion\":\"apps/v1\",\"kind\":"
                "\"Deployment\",\"labelSelector\":{\"matchLabels\":{\"app\":\"app-%u\"}},"
                "\"namespace\":\"team-%u\"}],\"schedulerName\":\"default-scheduler\"}}",
                at, at, namespace_of(g, at), member_cluster, group_of(g, at), namespace_of(g, at));
}

void generate_binding(struct strbuf *out, const struct generated *g, unsigned at)
{
    unsigned ns = namespace_of(g, at);
    unsigned policy = group_of(g, at) * g->namespaces + ns;

    strbuf_addf(out,
                "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\","
                "\"metadata\":{\"annotations\":{\"policy.karmada.io/applied-placement\":"
                "\"{\\\"clusterAffinity\\\":{\\\"clusterNames\\\":[\\\"member1\\\"]}}\","
                "\"propagationpolicy.karmada.io/name\":\"policy-%05u\","
                "\"propagationpolicy.karmada.io/namespace\":\"team-%u\"},\"creationTimestamp\":"
                "\"2026-01-01T00:00:00Z\",\"generation\":2,\"labels\":{"
                "\"propagationpolicy.karmada.io/permanent-id\":\"7c0f2d3e-0000-4000-8000-%012u\","
                "\"resourcebinding.karmada.io/permanent-id\":\"93a0c1b2-0000-4000-8000-%012u\"},",
                policy, ns, policy, at);
    add_managed_fields(out);
    strbuf_addf(out,
                "\"name\":\"service-%06u-deployment\",\"namespace\":\"team-%u\","
                "\"resourceVersion\":\"%u\"},\"spec\":{\"clusters\":[{\"name\":\"member1\","
                "\"replicas\":2}],\"conflictResolution\":\"Abort\",\"placement\":{"
                "\"clusterAffinity\":{\"clusterNames\":[\"member1\"]}},\"replicaRequirements\":{"
                "\"resourceRequest\":{\"cpu\":\"100m\",\"memory\":\"128Mi\"}},\"replicas\":2,"
                "\"resource\":{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"name\":"
                "\"service-%06u\",\"namespace\":\"team-%u\",\"resourceVersion\":\"%u\",\"uid\":"
                "\"4f1c3c50-0000-4000-8000-%012u\"},\"schedulerName\":\"default-scheduler\"},"
                "\"status\":{\"aggregatedStatus\":[{\"applied\":true,\"clusterName\":\"member1\","
                "\"health\":\"Healthy\"}],\"conditions\":[{\"status\":\"True\",\"type\":"
                "\"Scheduled\"},{\"status\":\"True\",\"type\":\"FullyApplied\"}],"
                "\"schedulerObservedGeneration\":2}}",
                at, ns, 500000 + at, at, ns, 1000 + at, at);
}

char *generate_directory(void)
{
    char template[] = "/tmp/karmada-policy-exporter-bench-XXXXXX";

    if (!mkdtemp(template))
        abort();
    return xstrdup(template);
}

void generate_cleanup(char **directory)
{
    DIR *dir = *directory ? opendir(*directory) : NULL;
    const struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
    if (*directory)
        rmdir(*directory);
    free(*directory);
}

static FILE *create_file(const char *directory, const char *name)
{
    char path[PATH_MAX_LEN];

    snprintf(path, sizeof(path), "%s/%s", directory, name);

    FILE *file = fopen(path, "we");
    if (!file)
        abort();
    return file;
}

/* Writes the content of `object` to the file, and empties `object`. Returns the bytes written. */
static size_t flush_object(struct strbuf *object, FILE *file)
{
    size_t len = fwrite(object->data, 1, object->len, file);

    if (len != object->len)
        abort();
    strbuf_reset(object);
    return len;
}

size_t generate_list(const struct generated *g, const char *directory, const char *name)
{
    CLEANUP(strbuf_release) struct strbuf object = STRBUF_INIT(OBJECT_MAX);
    FILE *file = create_file(directory, name);
    size_t bytes = 0;

    strbuf_adds(&object, "{\"apiVersion\":\"v1\",\"items\":[");
    for (unsigned i = 0; i < g->policies; i++) {
        generate_policy(&object, g, i, "member1");
        strbuf_adds(&object, ",\n");
        bytes += flush_object(&object, file);
    }
    for (unsigned i = 0; i < g->templates; i++) {
        generate_template(&object, g, i);
        if (g->bindings) {
            strbuf_adds(&object, ",\n");
            generate_binding(&object, g, i);
        }
        strbuf_adds(&object, i + 1 < g->templates ? ",\n" : "");
        bytes += flush_object(&object, file);
    }
    strbuf_adds(&object, "],\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"\"}}\n");
    bytes += flush_object(&object, file);
    if (fclose(file) != 0)
        abort();
    return bytes;
}

void generate_file(const char *directory, const char *name, const char *text)
{
    char from[PATH_MAX_LEN];
    char to[PATH_MAX_LEN];
    FILE *file = create_file(directory, ".new");

    if (fputs(text, file) < 0 || fclose(file) != 0)
        abort();
    snprintf(from, sizeof(from), "%s/.new", directory);
    snprintf(to, sizeof(to), "%s/%s", directory, name);
    if (rename(from, to) != 0)
        abort();
}
