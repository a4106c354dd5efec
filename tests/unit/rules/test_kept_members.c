/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that are parsed without the members that struct kind_def names lead to the same decisions
 * and metrics as whole objects.
 */
#include <zlib.h>

#include "metrics/base/json_filter.h"
#include "metrics/model/kind.h"
#include "metrics/model/template.h"
#include "metrics/model/work.h"
#include "tests/unit/lines.h"
#include "tests/unit/page.h"
#include "tests/unit/random_object.h"
#include "tests/unit/suite.h"

enum { VALUES_MAX = 100000, NOW_MS = 1000000 };

/* Two worlds with the same objects: parsed whole, and without the members that are not read. */
struct pair {
    struct world whole;
    struct world kept;
    struct registry *whole_page;
    struct registry *kept_page;
};

static void pair_init(struct pair *p, uint32_t seed)
{
    world_init(&p->whole, &rules_options_default, seed);
    world_init(&p->kept, &rules_options_default, seed);
    p->whole_page = page_registry(&p->whole, &registry_options_default);
    p->kept_page = page_registry(&p->kept, &registry_options_default);
}

static void pair_release(struct pair *p)
{
    registry_free(p->whole_page);
    registry_free(p->kept_page);
    world_release(&p->whole);
    world_release(&p->kept);
}

static enum store_outcome put(struct world *w, const cJSON *json, struct error *err)
{
    *err = (struct error){""};
    return store_put(w->store, json, (struct origin){1, 1}, err);
}

static void pair_put(struct pair *p, const cJSON *object)
{
    CLEANUP(json_memory_release) struct json_memory memory = {0};
    CLEANUP(free_cleanup) char *text = cJSON_PrintUnformatted(object);
    CLEANUP(json_cleanup) cJSON *whole = cJSON_Parse(text);
    const struct kind_def *def =
        kind_of(json_str(object, "apiVersion", ""), json_str(object, "kind", ""));
    cJSON *kept = json_filter_parse(def->fields, text, strlen(text), VALUES_MAX, &memory);
    struct error one, other;

    assert_non_null(kept);
    if (put(&p->whole, whole, &one) != put(&p->kept, kept, &other) ||
        strcmp(one.text, other.text) != 0)
        fail_msg("%s\n'%s' '%s'", text, one.text, other.text);
}

/* Fails unless decisions and metrics of both worlds are equal. */
static void pair_compare(struct pair *p)
{
    CLEANUP(strbuf_release) struct strbuf one = STRBUF_INIT(SIZE_MAX);
    CLEANUP(strbuf_release) struct strbuf other = STRBUF_INIT(SIZE_MAX);

    world_run(&p->whole, NOW_MS);
    world_run(&p->kept, NOW_MS);
    world_dump(&p->whole, &one);
    world_dump(&p->kept, &other);
    assert_string_equal(one.data, other.data);

    CLEANUP(free_cleanup) char *page = page_of(p->whole_page);
    CLEANUP(free_cleanup) char *kept_page = page_of(p->kept_page);

    assert_string_equal(page, kept_page);
}

/* ---- random objects with further members ---- */

static const char *const keys[] = {
    "metadata",
    "spec",
    "status",
    "managedFields",
    "generation",
    "labels",
    "annotations",
    "ownerReferences",
    "controller",
    "fieldsV1",
    "manager",
    "time",
    "subresource",
    "f:spec",
    "f:status",
    "f:metadata",
    "f:labels",
    "f:annotations",
    "f:replicas",
    "f:resource",
    "f:placement",
    "conditions",
    "type",
    "reason",
    "message",
    "template",
    "jobTemplate",
    "containers",
    "initContainers",
    "env",
    "envFrom",
    "valueFrom",
    "configMapKeyRef",
    "configMapRef",
    "secretRef",
    "name",
    "resources",
    "requests",
    "volumes",
    "replicas",
    "clusters",
    "requiredBy",
    "aggregatedStatus",
    "clusterName",
    "applied",
    "health",
    "appliedMessage",
    "observedGeneration",
    "updatedReplicas",
    "data",
    "replicaRequirements",
    "resourceRequest",
    "nodeClaim",
    "workload",
    "manifests",
    "resourceTemplateGeneration",
    "f:schedulerName",
    "overallUsed",
    "series",
    "count",
    "resourcetemplate.karmada.io/generation",
    "suspendDispatching",
    "finalizers",
    "uid",
};
static const char *const values[] = {
    "null",
    "0",
    "1",
    "2",
    "\"\"",
    "\"x\"",
    "\"2026-01-31T12:00:00Z\"",
    "\"status\"",
    "\"7\"",
    "true",
    "{}",
    "[]",
    "[{}]",
    "{\"x\":{\"y\":1}}",
    "[{\"name\":\"app\"}]",
    "[null]",
    "{\"f:x\":{}}",
};

static cJSON *random_value(struct world *w, unsigned depth)
{
    cJSON *value;
    unsigned count = world_random(w, 3);

    if (depth == 0 || world_random(w, 2) == 0)
        return cJSON_Parse(values[world_random(w, ARRAY_LEN(values))]);
    value = world_random(w, 3) ? cJSON_CreateObject() : cJSON_CreateArray();
    for (unsigned i = 0; i <= count; i++)
        cJSON_AddItemToObject(value, keys[world_random(w, ARRAY_LEN(keys))],
                              random_value(w, depth - 1));
    return value;
}

/* Returns a random array or object in the tree. */
static cJSON *pick_container(struct world *w, cJSON *tree)
{
    cJSON *child = tree->child;

    for (unsigned skip = world_random(w, 6); child && (skip > 0 || !child->child);
         child = child->next)
        skip -= skip > 0;
    return child && world_random(w, 4) ? pick_container(w, child) : tree;
}

/* Adds members that may repeat keys, at random places. */
static void add_members(struct world *w, cJSON *object)
{
    for (unsigned count = world_random(w, 8); count > 0; count--) {
        cJSON *to = pick_container(w, object);
        cJSON *value = random_value(w, 3);
        bool first = world_random(w, 2);

        if (cJSON_IsArray(to))
            cJSON_AddItemToArray(to, value);
        else
            cJSON_AddItemToObject(to, keys[world_random(w, ARRAY_LEN(keys))], value);
        if (first && value != to->child)
            cJSON_InsertItemInArray(to, 0, cJSON_DetachItemViaPointer(to, value));
    }
}

/* ---- members of decoded objects ---- */

/* Objects with all members that the tables of the kinds name. */
static const char *const rich[] = {
    "{\"apiVersion\":\"apps/"
    "v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"a\",\"namespace\":\"n\","
    "\"generation\":2,\"annotations\":{\"x\":\"y\"},\"ownerReferences\":[{\"controller\":true}],"
    "\"managedFields\":[{\"manager\":\"kubectl\",\"time\":\"2026-01-31T12:00:00Z\",\"fieldsV1\":{"
    "\"f:metadata\":{\"f:labels\":{\"f:x\":{}}},\"f:spec\":{\"f:replicas\":{},\"f:image\":{}}}},"
    "{\"manager\":\"m\",\"time\":\"2026-01-31T13:00:00Z\",\"fieldsV1\":{\"f:status\":{\"f:x\":{}}}}"
    "]},"
    "\"spec\":{\"replicas\":3,\"template\":{\"spec\":{\"serviceAccountName\":\"sa\",\"containers\":"
    "["
    "{\"name\":\"c\",\"env\":[{\"name\":\"e\",\"valueFrom\":{\"configMapKeyRef\":{\"name\":\"cm\"}}"
    "}],"
    "\"envFrom\":[{\"secretRef\":{\"name\":\"se\"}}],\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]"
    ","
    "\"initContainers\":[{\"resources\":{\"requests\":{\"cpu\":\"2\"}}}],"
    "\"volumes\":[{\"configMap\":{\"name\":\"v\"}}]}}},\"status\":{\"replicas\":3}}",
    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\",\"namespace\":"
    "\"n\","
    "\"managedFields\":[{\"manager\":\"kubectl\",\"time\":\"2026-01-31T12:00:00Z\",\"fieldsV1\":{"
    "\"f:data\":{\"f:x\":{},\"f:y\":{}}}}]},\"data\":{\"x\":\"1\",\"y\":\"2\"}}",
    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\",\"namespace\":"
    "\"n\"},"
    "\"data\":{\"x\":\"1\"},\"spec\":{\"containers\":[{\"image\":\"i\"}]}}",
    "{\"apiVersion\":\"batch/"
    "v1\",\"kind\":\"CronJob\",\"metadata\":{\"name\":\"a\",\"namespace\":\"n\","
    "\"generation\":1},\"spec\":{\"jobTemplate\":{\"spec\":{\"template\":{\"spec\":{\"containers\":"
    "["
    "{\"image\":\"i\",\"envFrom\":[{\"configMapRef\":{\"name\":\"cm\"}}]}]}}}}}}",
    "{\"apiVersion\":\"sql.cnrm.cloud.google.com/v1beta1\",\"kind\":\"SQLInstance\",\"metadata\":{"
    "\"name\":\"a\",\"namespace\":\"n\",\"generation\":1},\"spec\":{\"resourceID\":\"r\","
    "\"region\":\"z\"},"
    "\"status\":{\"x\":1,\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\",\"reason\":"
    "\"ManagementConflict\",\"message\":\"under lease by 'abc' for\"}]}}",
    "{\"apiVersion\":\"work.karmada.io/"
    "v1alpha2\",\"kind\":\"ResourceBinding\",\"metadata\":{\"name\":"
    "\"a\",\"namespace\":\"n\",\"generation\":2,\"uid\":\"u\",\"deletionTimestamp\":"
    "\"2026-01-31T12:00:00Z\",\"creationTimestamp\":\"2026-01-31T12:00:00Z\",\"managedFields\":[{"
    "\"manager\":\"k\",\"time\":\"2026-01-31T12:00:00Z\",\"fieldsV1\":{\"f:spec\":{\"f:resource\":{"
    "\"f:uid\":{}},\"f:placement\":{\"f:x\":{}}}}}]},\"spec\":{\"resource\":{\"apiVersion\":"
    "\"sql.cnrm.cloud.google.com/"
    "v1beta1\",\"kind\":\"SQLInstance\",\"name\":\"a\",\"namespace\":\"n\","
    "\"uid\":\"u\"},\"clusters\":[{\"name\":\"m1\",\"replicas\":2},{\"name\":\"m2\",\"replicas\":1}"
    "],"
    "\"replicas\":3,\"replicaRequirements\":{\"resourceRequest\":{\"cpu\":\"1\"}},\"requiredBy\":[{"
    "\"name\":\"r\",\"namespace\":\"n\",\"clusters\":[{\"name\":\"m3\"}]}]},\"status\":{"
    "\"conditions\":[{"
    "\"type\":\"Scheduled\",\"status\":\"False\",\"reason\":\"NoClusterFit\",\"message\":\"why\"}],"
    "\"aggregatedStatus\":[{\"applied\":true,\"clusterName\":\"m1\",\"health\":\"Unhealthy\","
    "\"status\":{"
    "\"generation\":2,\"observedGeneration\":2,\"replicas\":2,\"updatedReplicas\":2,"
    "\"resourceTemplateGeneration\":4,\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\","
    "\"reason\":"
    "\"ManagementConflict\",\"message\":\"under lease by 'abc' for\"}]}},{\"applied\":false,"
    "\"appliedMessage\":\"no\",\"clusterName\":\"m2\"}]}}",
    "{\"apiVersion\":\"work.karmada.io/"
    "v1alpha1\",\"kind\":\"Work\",\"metadata\":{\"name\":\"a\",\"namespace\":"
    "\"karmada-es-m1\",\"annotations\":{\"resourcebinding.karmada.io/name\":\"b\","
    "\"resourcebinding.karmada.io/"
    "namespace\":\"n\"},\"managedFields\":[{\"manager\":\"k\",\"time\":"
    "\"2026-01-31T12:00:00Z\"}]},\"spec\":{\"suspendDispatching\":true,\"workload\":{\"manifests\":"
    "[{"
    "\"metadata\":{\"name\":\"x\",\"annotations\":{\"resourcetemplate.karmada.io/"
    "generation\":\"7\"}}}]}}}",
};

static void same_template(const struct template *a, const struct template *b)
{
    const struct connector *one = template_connector(a), *other = template_connector(b);

    assert_true(memcmp(&a->traces, &b->traces, sizeof(a->traces)) == 0);
    assert_true(template_changed_ms(a) == template_changed_ms(b) &&
                template_changed_by(a) == template_changed_by(b));
    assert_true(template_replicas(a) == template_replicas(b) &&
                a->replicas_unset == b->replicas_unset);
    assert_true(template_requests(a) == template_requests(b) && a->controlled == b->controlled);
    assert_true(a->references_known == b->references_known);
    assert_int_equal(template_references(a).count, template_references(b).count);
    /* Equal references are one interned block. */
    assert_ptr_equal(a->references, b->references);
    assert_int_equal(one != NULL, other != NULL);
    if (one)
        assert_true(one->location == other->location && one->resource_id == other->resource_id &&
                    one->conflict_holder == other->conflict_holder);
}

static void same_binding(const struct binding *a, const struct binding *b)
{
    assert_int_equal(binding_target_count(a), binding_target_count(b));
    for (uint32_t i = 0; i < binding_target_count(a); i++)
        assert_true(
            a->clusters[i].name == b->clusters[i].name &&
            memcmp(&a->clusters[i].item, &b->clusters[i].item, sizeof(a->clusters[i].item)) == 0);
    assert_int_equal(a->request_count, b->request_count);
    assert_int_equal(binding_rare(a)->member_conflicts != NULL,
                     binding_rare(b)->member_conflicts != NULL);
    assert_true(memcmp(&a->write, &b->write, sizeof(a->write)) == 0);
    assert_true(a->propagated_s == b->propagated_s && a->changed_s == b->changed_s);
    assert_true(a->created_s == b->created_s &&
                binding_rare(a)->deleted_s == binding_rare(b)->deleted_s);
    assert_true(a->own_uid_hash == b->own_uid_hash && a->uid_hash == b->uid_hash);
    assert_true(a->delivered_generation == b->delivered_generation);
    assert_true(a->has_requirements == b->has_requirements && a->replicas == b->replicas);
    assert_true(a->status.scheduled == b->status.scheduled &&
                a->status.observed == b->status.observed);
}

/* Decodes an object whole and without the members that are not read, and compares both. */
static void compare_decoded(struct intern *strings, const cJSON *object)
{
    CLEANUP(json_memory_release) struct json_memory memory = {0};
    CLEANUP(free_cleanup) char *text = cJSON_PrintUnformatted(object);
    CLEANUP(json_cleanup) cJSON *whole = cJSON_Parse(text);
    struct error one = {""}, other = {""};
    struct decode d = {.strings = strings, .err = &one};
    struct decode e = {.strings = strings, .err = &other};
    const struct kind_def *def =
        kind_of(json_str(object, "apiVersion", ""), json_str(object, "kind", ""));
    void *a = def->decode(&d, whole);
    void *b =
        def->decode(&e, json_filter_parse(def->fields, text, strlen(text), VALUES_MAX, &memory));

    assert_string_equal(one.text, other.text);
    assert_int_equal(a != NULL, b != NULL);
    if (a && def->class == CLASS_TEMPLATE)
        same_template(a, b);
    else if (a && def->class == CLASS_BINDING)
        same_binding(a, b);
    else if (a && def->class == CLASS_WORK)
        assert_true(work_equal(a, b));
    def->release(strings, a);
    def->release(strings, b);
}

TEST(members_of_decoded_objects_are_equal)
{
    enum { CHANGES = 400 };
    struct world w;

    world_init(&w, &rules_options_default, 1);
    for (size_t i = 0; i < ARRAY_LEN(rich) * CHANGES; i++) {
        CLEANUP(json_cleanup) cJSON *object = cJSON_Parse(rich[i % ARRAY_LEN(rich)]);

        assert_non_null(object);
        if (i >= ARRAY_LEN(rich))
            add_members(&w, object);
        compare_decoded(store_string_pool(w.store), object);
    }
    world_release(&w);
}

TEST(random_objects_lead_to_the_same_decisions)
{
    enum { SEEDS = 60, OBJECTS = 100 };

    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        struct pair p;

        pair_init(&p, seed);
        for (size_t i = 0; i < OBJECTS; i++) {
            CLEANUP(json_cleanup) cJSON *object = random_object(&p.whole);

            if (seed % 4)
                add_members(&p.whole, object);
            pair_put(&p, object);
        }
        pair_compare(&p);
        pair_release(&p);
    }
}

/* ---- recorded objects ---- */

static void put_recorded(const cJSON *line, void *context)
{
    const cJSON *work = json_get(line, "work");

    pair_put(context, work ? work : line);
}

TEST(recorded_works_are_decoded_alike)
{
    struct pair p;

    pair_init(&p, 1);
    assert_true(lines_each("tests/fixtures/recordings/works.jsonl.gz", put_recorded, &p) > 0);
    pair_compare(&p);
    pair_release(&p);
}

/* The steps of all recordings, each with its objects but its Works. */
static cJSON *recorded_steps(void)
{
    enum { STEPS_MAX_BYTES = 8 << 20 };
    CLEANUP(free_cleanup) char *text = xcalloc(1, STEPS_MAX_BYTES);
    gzFile file = gzopen("tests/fixtures/recordings/steps.json.gz", "rb");

    assert_non_null(file);
    assert_true(gzread(file, text, STEPS_MAX_BYTES - 1) > 0);
    gzclose(file);
    return cJSON_Parse(text);
}

TEST(recorded_steps_lead_to_the_same_decisions)
{
    CLEANUP(json_cleanup) cJSON *steps = recorded_steps();
    const cJSON *step, *object;

    assert_true(cJSON_GetArraySize(steps) > 100);
    cJSON_ArrayForEach (step, steps) {
        struct pair p;

        pair_init(&p, 1);
        assert_true(cJSON_GetArraySize(json_get(step, "objects")) > 0);
        cJSON_ArrayForEach (object, json_get(step, "objects"))
            pair_put(&p, object);
        pair_compare(&p);
        pair_release(&p);
    }
}

static void put_file(struct pair *p, const char *path)
{
    CLEANUP(free_cleanup) char *text = xcalloc(1, 1 << 20);
    FILE *file = fopen(path, "re");
    const cJSON *item;

    assert_non_null(file);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);

    CLEANUP(json_cleanup) cJSON *list = cJSON_Parse(text);

    assert_non_null(list);
    cJSON_ArrayForEach (item, json_get(list, "items"))
        pair_put(p, item);
}

TEST(recorded_lists_lead_to_the_same_decisions)
{
    static const char *const steps[] = {"01-bound",
                                        "02-controllers-down-user-changes",
                                        "03-controllers-back",
                                        "04-apply-of-equal-values",
                                        "05-controllers-down-label-removed",
                                        "06-controllers-back",
                                        "07-policy-deleted",
                                        "08-left-behind-and-changed"};
    static const char *const kinds[] = {"propagationpolicies", "deployments", "configmaps",
                                        "resourcebindings"};
    struct pair p;

    pair_init(&p, 1);
    for (size_t step = 0; step < ARRAY_LEN(steps); step++) {
        for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
            char path[256];

            snprintf(path, sizeof(path), "tests/fixtures/recordings/ak-managed-fields/%s/%s.json",
                     steps[step], kinds[i]);
            put_file(&p, path);
        }
        pair_compare(&p);
    }
    pair_release(&p);
}
