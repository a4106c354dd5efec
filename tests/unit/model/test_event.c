/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/event.h"

#include "tests/unit/reading.h"
#include "tests/unit/suite.h"

#define CONFLICT   "Dependency policy conflict detected: "
#define RESOLUTION "ConflictResolution conflicted (Overwrite vs Abort)"
#define PRESERVE   "PreserveResourcesOnDeletion conflicted (true vs false)"
#define EVENT(members)                                                                             \
    "{'metadata':{'name':'e','uid':'u1'},'reason':'DependencyPolicyConflict'" members "}"

static struct event_case {
    const char *name;
    const char *json;
    const char *text; /* "kind ns/name fields count" */
} cases[] = {
    {"core/v1",
     EVENT(",'involvedObject':{'kind':'ResourceBinding','namespace':'test','name':'c-configmap'},"
           "'count':3,'message':'" CONFLICT RESOLUTION "; " PRESERVE ".'"),
     "ResourceBinding test/c-configmap resolution preserve 3"},
    {"events.k8s.io/v1",
     EVENT(",'regarding':{'kind':'ResourceBinding','namespace':'test','name':'c-configmap'},"
           "'deprecatedCount':4,'note':'" CONFLICT PRESERVE ".','eventTime':null,'series':null"),
     "ResourceBinding test/c-configmap preserve 4"},
    {"a series", EVENT(",'note':'" CONFLICT RESOLUTION ".','series':{'count':9}"),
     " / resolution 9"},
    {"the higher of two counts", EVENT(",'count':2,'series':{'count':1}"), " / 2"},
    {"a count of 0", EVENT(",'count':0"), " / 1"},
    {"a negative count", EVENT(",'count':-4"), " / 1"},
    {"a count above 32 bits", EVENT(",'count':99999999999"), " / 4294967295"},
    {"a combined event",
     EVENT(",'count':12,'message':'(combined from similar events): " CONFLICT RESOLUTION ".'"),
     " / resolution 12"},
    {"an unknown message", EVENT(",'message':'Dependency policy conflict'"), " / 1"},
    {"no message", EVENT(""), " / 1"},
};

TEST_ROWS(conflict_event_is_decoded, cases, name)
{
    const struct event_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of(c->json);
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1024);

    reading_init(&r);

    struct event *e = event_decode(&r.decode, json);

    assert_non_null(e);
    assert_true(e->is_conflict);
    assert_text(e->uid, "u1");
    strbuf_addf(&text, "%s %s/%s%s%s %" PRIu32, e->kind, e->ns, e->name,
                e->conflict_resolution ? " resolution" : "", e->preserve ? " preserve" : "",
                e->count);
    assert_string_equal(text.data, c->text);
    event_release(r.strings, e);
}

/* Events with their emitter in one of the fields that the API versions define. */
static struct writer_case {
    const char *name;
    const char *json;
    bool ours;
} writers[] = {
    {"Karmada", EVENT(",'source':{'component':'dependencies-distributor'}"), false},
    {"no emitter", EVENT(""), false},
    {"the exporter in source", EVENT(",'source':{'component':'karmada-policy-exporter'}"), true},
    {"the exporter in reportingComponent", EVENT(",'reportingComponent':'karmada-policy-exporter'"),
     true},
    {"the exporter in reportingController",
     EVENT(",'reportingController':'karmada-policy-exporter'"), true},
    {"the exporter in deprecatedSource",
     EVENT(",'deprecatedSource':{'component':'karmada-policy-exporter'}"), true},
    {"wrong types", EVENT(",'source':'karmada-policy-exporter','reportingComponent':7"), false},
};

TEST_ROWS(emitter_is_decoded, writers, name)
{
    const struct writer_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of(c->json);

    reading_init(&r);

    struct event *e = event_decode(&r.decode, json);

    assert_non_null(e);
    assert_int_equal(e->ours, c->ours);
    event_release(r.strings, e);
}

/* Events with other reasons: their members are not decoded and may have any type. */
static struct other_case {
    const char *name;
    const char *json;
} others[] = {
    {"another reason", "{'metadata':{'uid':'u1'},'reason':'SyncSucceed',"
                       "'involvedObject':{'kind':'Work','name':'w'},'count':5}"},
    {"no reason", "{'metadata':{'uid':'u1'}}"},
    {"the reason in lower case", "{'reason':'dependencypolicyconflict'}"},
    {"wrong types elsewhere", "{'reason':'SyncSucceed','count':'many','involvedObject':[]}"},
};

TEST_ROWS(event_with_another_reason_is_empty, others, name)
{
    const struct other_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of(c->json);

    reading_init(&r);

    struct event *e = event_decode(&r.decode, json);
    const struct event nothing = {0};

    assert_non_null(e);
    assert_memory_equal(e, &nothing, sizeof(nothing));
    assert_int_equal(intern_count(r.strings), 0);
    event_release(r.strings, e);
}
