/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/work.h"

#include "metrics/model/metadata.h"
#include "tests/unit/lines.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"

static struct work *decode_work(struct reading *r, const cJSON *json)
{
    struct work *w = work_decode(&r->decode, json);

    if (!w)
        fail_msg("%s", r->err.text);
    return w;
}

/* Appends "cluster: binding generation flags". */
static void write_work(const char *ns, const struct work *w, struct strbuf *out)
{
    const char *cluster = cluster_of_execution_ns(ns);

    strbuf_addf(out, "%s: %s%s%s gen %" PRIu32 "%s%s", cluster ? cluster : "none",
                w->binding_ns ? w->binding_ns : "", w->binding_ns && *w->binding_ns ? "/" : "",
                w->binding_name ? w->binding_name : "of no binding", w->template_generation,
                w->suspended ? " suspended" : "", w->deleting ? " deleting" : "");
}

/* ---- Works of a real control plane ---- */

static const char *const recorded[] = {
    "member1: of no binding gen 0",
    "member1: s-w-overrides/web-deployment gen 2",
    "member1: s-w-overrides/web-deployment gen 4",
    "member2: ag-editor-clusterrole gen 0",
    "member2: ag-viewer-clusterrole gen 0",
    "member1: s-ah-api-missing/one-gadget gen 1",
    "member1: s-p-healthy/settings-configmap gen 0",
    "member2: s-u-suspended/one-deployment gen 2 suspended",
    "member1: s-u-suspended/all-deployment gen 2 suspended",
    "member3: s-s-cluster-down/web-deployment gen 2 deleting",
};

struct recorded_check {
    struct reading *reading;
    size_t at;
};

static void check_recorded(const cJSON *line, void *context)
{
    struct recorded_check *check = context;
    const cJSON *json = json_get(line, "work");
    const char *ns = json_str(json_get(json, "metadata"), "namespace", "");
    struct work *w = decode_work(check->reading, json);
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1024);

    write_work(ns, w, &text);
    assert_true(check->at < ARRAY_LEN(recorded));
    assert_string_equal(text.data, recorded[check->at]);
    /* The Works are from the two days of the recording. Works of a binding have a permanent id. */
    assert_in_range(w->written_s, 1795219200, 1795392000);
    assert_int_equal(uid_hashes_differ(w->binding_id, uid_hash("another")), !!w->binding_name);
    assert_text(work_binding_ns(json), w->binding_ns);
    check->at++;
    work_release(check->reading->strings, w);
}

TEST(recorded_works_are_decoded)
{
    CLEANUP(reading_release) struct reading r;
    struct recorded_check check = {.reading = &r};

    reading_init(&r);
    lines_each("tests/fixtures/recordings/works.jsonl.gz", check_recorded, &check);
    assert_int_equal(check.at, ARRAY_LEN(recorded));
}

/* ---- missing and invalid members ---- */

#define RB_NAME  "'resourcebinding.karmada.io/name':'web-deployment'"
#define RB_NS    "'resourcebinding.karmada.io/namespace':'test'"
#define CRB_NAME "'clusterresourcebinding.karmada.io/name':'wide'"
#define WORK(annotations, rest)                                                                    \
    "{'metadata':{'name':'w','namespace':'karmada-es-m','annotations':{" annotations "}}" rest "}"
#define MANIFEST(generation)                                                                       \
    ",'spec':{'workload':{'manifests':[{'metadata':{'annotations':{"                               \
    "'resourcetemplate.karmada.io/generation':" generation "}}}]}}"
#define CONDITION(members) ",'status':{'conditions':[{'type':'Applied'" members "}]}"

static struct odd_case {
    const char *name;
    const char *json;
    const char *text;
} odd[] = {
    {"an empty object", "{}", "m: of no binding gen 0"},
    {"a name without its namespace", WORK(RB_NAME, ""), "m: of no binding gen 0"},
    {"a namespace without its name", WORK(RB_NS, ""), "m: of no binding gen 0"},
    {"both forms of a binding: the namespaced one", WORK(RB_NAME "," RB_NS "," CRB_NAME, ""),
     "m: test/web-deployment gen 0"},
    {"an incomplete namespaced binding and a cluster binding", WORK(RB_NAME "," CRB_NAME, ""),
     "m: wide gen 0"},
    {"no manifest", WORK(CRB_NAME, ",'spec':{'workload':{'manifests':[]}}"), "m: wide gen 0"},
    {"manifests that are no objects", WORK(CRB_NAME, ",'spec':{'workload':{'manifests':[null,1]}}"),
     "m: wide gen 0"},
    {"a generation", WORK(CRB_NAME, MANIFEST("'7'")), "m: wide gen 7"},
    {"a generation that is no number", WORK(CRB_NAME, MANIFEST("'seven'")), "m: wide gen 0"},
    {"a generation of another type", WORK(CRB_NAME, MANIFEST("7")), "m: wide gen 0"},
    {"a generation above 32 bits", WORK(CRB_NAME, MANIFEST("'4294967296'")), "m: wide gen 0"},
    {"a status is not read", WORK(CRB_NAME, CONDITION(",'status':7,'message':[]")),
     "m: wide gen 0"},
    {"not suspended", WORK(CRB_NAME, ",'spec':{'suspendDispatching':false}"), "m: wide gen 0"},
};

TEST_ROWS(work_with_missing_members_is_decoded, odd, name)
{
    const struct odd_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of(c->json);
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1024);

    reading_init(&r);

    struct work *w = decode_work(&r, json);

    write_work("karmada-es-m", w, &text);
    assert_string_equal(text.data, c->text);
    assert_int_equal(w->written_s, 0);
    assert_text(work_binding_ns(json), w->binding_ns);
    work_release(r.strings, w);
}

/* Names of objects have at most OBJECT_NAME_MAX bytes. */
TEST(overlong_binding_name_is_ignored)
{
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of(WORK(RB_NS, ""));
    cJSON *annotations = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "metadata"), "annotations");
    char name[4096];

    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    cJSON_AddStringToObject(annotations, "resourcebinding.karmada.io/name", name);
    reading_init(&r);

    struct work *w = decode_work(&r, json);

    assert_null(w->binding_name);
    assert_null(work_binding_ns(json));
    work_release(r.strings, w);
}

static struct written_case {
    const char *name;
    const char *metadata;
    uint32_t written_s;
} written[] = {
    {"the creation", "{'creationTimestamp':'2026-01-31T12:00:00Z'}", 1769860800},
    {"a later write",
     "{'creationTimestamp':'2026-01-31T12:00:00Z','managedFields':["
     "{'manager':'karmada-controller-manager','time':'2026-01-31T12:00:09Z','fieldsV1':{}},"
     "{'manager':'karmada-controller-manager','time':'2026-01-31T12:00:30Z','fieldsV1':{},"
     "'subresource':'status'}]}",
     1769860809},
    {"an older write, as after a restore",
     "{'creationTimestamp':'2026-01-31T12:00:09Z','managedFields':["
     "{'manager':'m','time':'2026-01-31T12:00:00Z','fieldsV1':{}}]}",
     1769860809},
    {"a creation before 1970", "{'creationTimestamp':'1901-01-31T12:00:00Z'}", 0},
    {"a creation after 2106", "{'creationTimestamp':'2206-01-31T12:00:00Z'}", 0},
};

TEST_ROWS(write_time_is_decoded, written, name)
{
    const struct written_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of(WORK(CRB_NAME, ""));

    json_put(json, "metadata", json_of(c->metadata));
    reading_init(&r);

    struct work *w = decode_work(&r, json);

    assert_int_equal(w->written_s, c->written_s);
    work_release(r.strings, w);
}

TEST(cluster_name_follows_the_prefix)
{
    assert_string_equal(cluster_of_execution_ns("karmada-es-member1"), "member1");
    assert_string_equal(cluster_of_execution_ns("karmada-es-karmada-es-x"), "karmada-es-x");
    assert_null(cluster_of_execution_ns("karmada-es-"));
    assert_null(cluster_of_execution_ns("karmada-es"));
    assert_null(cluster_of_execution_ns("my-karmada-es-member1"));
    assert_null(cluster_of_execution_ns(""));
}

/* Works that differ in one field. Fields that the rules do not use make no difference. */
static struct differing_case {
    const char *name;
    const char *path;
    const char *value;
    bool differs;
} differing[] = {
    {"the binding", "metadata.annotations", "{" CRB_NAME "}", true},
    {"the binding's id", "metadata.labels", "{'resourcebinding.karmada.io/permanent-id':'b'}",
     true},
    {"the generation", "spec.workload.manifests[0].metadata.annotations",
     "{'resourcetemplate.karmada.io/generation':'2'}", true},
    {"the suspension", "spec.suspendDispatching", "true", true},
    {"the condition Applied", "status.conditions[0].status", "'True'", false},
    {"a status of another type", "status", "[7]", false},
    {"the deletion time", "metadata.deletionTimestamp", "'2026-01-31T12:00:00Z'", true},
    {"the creation time", "metadata.creationTimestamp", "'2026-01-31T13:00:00Z'", true},
    {"the manifest statuses", "status.manifestStatuses", "[{'health':'Unhealthy'}]", false},
    {"the time of the condition", "status.conditions[0].lastTransitionTime",
     "'2026-01-31T12:00:00Z'", false},
    {"the manifest", "spec.workload.manifests[0].spec", "{'replicas':3}", false},
};

TEST_ROWS(work_equal_compares, differing, name)
{
    static const char base[] =
        "{'metadata':{'annotations':{" RB_NAME "," RB_NS "},'creationTimestamp':"
        "'2026-01-31T12:00:00Z','labels':{'resourcebinding.karmada.io/permanent-id':'a'}}" MANIFEST(
            "'1'") CONDITION(",'status':'False','message':'x'") "}";
    const struct differing_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of(base);

    reading_init(&r);

    struct work *before = decode_work(&r, json);

    json_put(json, c->path, json_of(c->value));

    struct work *after = decode_work(&r, json);

    assert_int_equal(work_equal(before, after), !c->differs);
    assert_true(work_equal(after, after));
    work_release(r.strings, before);
    work_release(r.strings, after);
}
