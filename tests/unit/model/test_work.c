/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/work.h"

#include "metrics/model/metadata.h"
#include "tests/unit/lines.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"

static struct work *work_of_json(struct reading *r, const cJSON *json)
{
    struct work *w = work_decode(&r->decode, json);

    if (!w)
        fail_msg("%s", r->err.text);
    return w;
}

/* "cluster: binding generation flags". */
static void describe(const char *ns, const struct work *w, struct strbuf *out)
{
    const char *cluster = cluster_of_execution_ns(ns);

    strbuf_addf(out, "%s: %s%s%s gen %" PRIu32 "%s%s", cluster ? cluster : "none",
                w->binding_ns ? w->binding_ns : "", w->binding_ns && *w->binding_ns ? "/" : "",
                w->binding_name ? w->binding_name : "of no binding", w->template_generation,
                w->suspended ? " suspended" : "", w->deleting ? " deleting" : "");
}

/* ---- what Karmada wrote ---- */

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
    struct work *w = work_of_json(check->reading, json);
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1024);

    describe(ns, w, &text);
    assert_true(check->at < ARRAY_LEN(recorded));
    assert_string_equal(text.data, recorded[check->at]);
    /* All were made on the day of the recording, and what belongs to a binding has its id. */
    assert_in_range(w->written_s, 1795219200, 1795392000);
    assert_int_equal(uid_hashes_differ(w->binding_id, uid_hash("another")), !!w->binding_name);
    assert_text(work_binding_ns(json), w->binding_ns);
    check->at++;
    work_release(check->reading->strings, w);
}

TEST(recorded_works_are_read)
{
    CLEANUP(reading_release) struct reading r;
    struct recorded_check check = {.reading = &r};

    reading_init(&r);
    lines_each("tests/fixtures/recordings/works.jsonl.gz", check_recorded, &check);
    assert_int_equal(check.at, ARRAY_LEN(recorded));
}

/* ---- what may be missing, or odd ---- */

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
    {"nothing at all", "{}", "m: of no binding gen 0"},
    {"a name without its namespace", WORK(RB_NAME, ""), "m: of no binding gen 0"},
    {"a namespace without its name", WORK(RB_NS, ""), "m: of no binding gen 0"},
    {"both forms: the namespaced one", WORK(RB_NAME "," RB_NS "," CRB_NAME, ""),
     "m: test/web-deployment gen 0"},
    {"half of one and the other", WORK(RB_NAME "," CRB_NAME, ""), "m: wide gen 0"},
    {"no manifest", WORK(CRB_NAME, ",'spec':{'workload':{'manifests':[]}}"), "m: wide gen 0"},
    {"a manifest that is none", WORK(CRB_NAME, ",'spec':{'workload':{'manifests':[null,1]}}"),
     "m: wide gen 0"},
    {"a generation", WORK(CRB_NAME, MANIFEST("'7'")), "m: wide gen 7"},
    {"a generation that is no number", WORK(CRB_NAME, MANIFEST("'seven'")), "m: wide gen 0"},
    {"a generation of another type", WORK(CRB_NAME, MANIFEST("7")), "m: wide gen 0"},
    {"a generation beyond all", WORK(CRB_NAME, MANIFEST("'4294967296'")), "m: wide gen 0"},
    {"a status is not read", WORK(CRB_NAME, CONDITION(",'status':7,'message':[]")),
     "m: wide gen 0"},
    {"not suspended", WORK(CRB_NAME, ",'spec':{'suspendDispatching':false}"), "m: wide gen 0"},
};

TEST_ROWS(reads_odd, odd, name)
{
    const struct odd_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of(c->json);
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1024);

    reading_init(&r);

    struct work *w = work_of_json(&r, json);

    describe("karmada-es-m", w, &text);
    assert_string_equal(text.data, c->text);
    assert_int_equal(w->written_s, 0);
    assert_text(work_binding_ns(json), w->binding_ns);
    work_release(r.strings, w);
}

/* No object has such a name: nothing is kept of it. */
TEST(a_name_beyond_all_belongs_to_nothing)
{
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of(WORK(RB_NS, ""));
    cJSON *annotations = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "metadata"), "annotations");
    char name[4096];

    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    cJSON_AddStringToObject(annotations, "resourcebinding.karmada.io/name", name);
    reading_init(&r);

    struct work *w = work_of_json(&r, json);

    assert_null(w->binding_name);
    assert_null(work_binding_ns(json));
    work_release(r.strings, w);
}

static struct written_case {
    const char *name;
    const char *metadata;
    uint32_t written_s;
} written[] = {
    {"its creation", "{'creationTimestamp':'2026-01-31T12:00:00Z'}", 1769860800},
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
    {"before all times", "{'creationTimestamp':'1901-01-31T12:00:00Z'}", 0},
    {"after all times", "{'creationTimestamp':'2206-01-31T12:00:00Z'}", 0},
};

TEST_ROWS(knows_when_it_was_written, written, name)
{
    const struct written_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of(WORK(CRB_NAME, ""));

    json_put(json, "metadata", json_of(c->metadata));
    reading_init(&r);

    struct work *w = work_of_json(&r, json);

    assert_int_equal(w->written_s, c->written_s);
    work_release(r.strings, w);
}

TEST(a_cluster_is_what_follows_the_prefix)
{
    assert_string_equal(cluster_of_execution_ns("karmada-es-member1"), "member1");
    assert_string_equal(cluster_of_execution_ns("karmada-es-karmada-es-x"), "karmada-es-x");
    assert_null(cluster_of_execution_ns("karmada-es-"));
    assert_null(cluster_of_execution_ns("karmada-es"));
    assert_null(cluster_of_execution_ns("my-karmada-es-member1"));
    assert_null(cluster_of_execution_ns(""));
}

/* Whatever the rules go by makes a difference, and what changes all the time makes none. */
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
    {"whether it is suspended", "spec.suspendDispatching", "true", true},
    {"whether it is applied", "status.conditions[0].status", "'True'", false},
    {"a status of another type", "status", "[7]", false},
    {"whether it is being deleted", "metadata.deletionTimestamp", "'2026-01-31T12:00:00Z'", true},
    {"when it was made", "metadata.creationTimestamp", "'2026-01-31T13:00:00Z'", true},
    {"what the member's object says", "status.manifestStatuses", "[{'health':'Unhealthy'}]", false},
    {"the time of the condition", "status.conditions[0].lastTransitionTime",
     "'2026-01-31T12:00:00Z'", false},
    {"the manifest", "spec.workload.manifests[0].spec", "{'replicas':3}", false},
};

TEST_ROWS(differs_by, differing, name)
{
    static const char base[] =
        "{'metadata':{'annotations':{" RB_NAME "," RB_NS "},'creationTimestamp':"
        "'2026-01-31T12:00:00Z','labels':{'resourcebinding.karmada.io/permanent-id':'a'}}" MANIFEST(
            "'1'") CONDITION(",'status':'False','message':'x'") "}";
    const struct differing_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of(base);

    reading_init(&r);

    struct work *before = work_of_json(&r, json);

    json_put(json, c->path, json_of(c->value));

    struct work *after = work_of_json(&r, json);

    assert_int_equal(work_equal(before, after), !c->differs);
    assert_true(work_equal(after, after));
    work_release(r.strings, before);
    work_release(r.strings, after);
}
