/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/canonical_json.h"

#include "tests/unit/reading.h"
#include "tests/unit/suite.h"

static struct canonical_case {
    const char *name;
    enum canonical_kind kind;
    const char *json;
    const char *text;
} cases[] = {
    {"an empty object is omitted", CANONICAL_PLACEMENT, "{}", NULL},
    {"empty members are omitted", CANONICAL_PLAIN,
     "{'a':null,'b':'','c':false,'d':[],'e':{},'f':0,'g':{'h':{'i':[]}},'j':-0.0}", NULL},
    {"keys are sorted in byte order", CANONICAL_PLAIN, "{'b':1,'a':2,'B':3,'a.b':4,'ab':5}",
     "{'B':3,'a':2,'a.b':4,'ab':5,'b':1}"},
    {"the last of two equal keys counts", CANONICAL_PLAIN, "{'a':1,'b':2,'a':3}", "{'a':3,'b':2}"},
    {"the last of two equal keys counts if empty", CANONICAL_PLAIN, "{'a':1,'b':2,'a':0}",
     "{'b':2}"},
    {"arrays keep their order and their empty elements", CANONICAL_PLAIN,
     "{'a':['b','a',{},[],'',0,null,false,{'x':''}]}", "{'a':['b','a',{},[],'',0,null,false,{}]}"},
    {"whole numbers are exact up to 2^53", CANONICAL_PLAIN,
     "{'a':9007199254740992,'b':-9007199254740991,'c':3000000000,'d':1.0,'e':1e3}",
     "{'a':9007199254740992,'b':-9007199254740991,'c':3000000000,'d':1,'e':1000}"},
    {"fractions are exact", CANONICAL_PLAIN, "{'a':0.5,'b':0.1}",
     "{'a':0.5,'b':0.10000000000000001}"},
    {"texts are quoted", CANONICAL_PLAIN, "{'a':'x\\\\y\\u0007\\u00e9'}",
     "{'a':'x\\\\y\\u0007\xc3\xa9'}"},
    {"zero seconds are not absent seconds", CANONICAL_PLACEMENT,
     "{'clusterTolerations':[{'key':'k','tolerationSeconds':0,'value':''}]}",
     "{'clusterTolerations':[{'key':'k','tolerationSeconds':0}]}"},
    {"an empty label value is a value", CANONICAL_PLACEMENT,
     "{'clusterAffinity':{'labelSelector':{'matchLabels':{'tier':''},'matchExpressions':[]}}}",
     "{'clusterAffinity':{'labelSelector':{'matchLabels':{'tier':''}}}}"},
    {"empty matchLabels are omitted", CANONICAL_PLACEMENT,
     "{'clusterAffinity':{'labelSelector':{'matchLabels':{}}}}", NULL},

    {"replica scheduling is divided by default", CANONICAL_PLACEMENT, "{'replicaScheduling':{}}",
     "{'replicaScheduling':{'replicaDivisionPreference':'Weighted',"
     "'replicaSchedulingType':'Divided'}}"},
    {"divided is weighted by default", CANONICAL_PLACEMENT,
     "{'replicaScheduling':{'replicaSchedulingType':'Divided','replicaDivisionPreference':''}}",
     "{'replicaScheduling':{'replicaDivisionPreference':'Weighted',"
     "'replicaSchedulingType':'Divided'}}"},
    {"an aggregated division stays", CANONICAL_PLACEMENT,
     "{'replicaScheduling':{'replicaDivisionPreference':'Aggregated'}}",
     "{'replicaScheduling':{'replicaDivisionPreference':'Aggregated',"
     "'replicaSchedulingType':'Divided'}}"},
    {"duplicated has no division", CANONICAL_PLACEMENT,
     "{'replicaScheduling':{'replicaSchedulingType':'Duplicated'}}",
     "{'replicaScheduling':{'replicaSchedulingType':'Duplicated'}}"},
    {"absent replica scheduling stays absent", CANONICAL_PLACEMENT,
     "{'replicaScheduling':null,'clusterAffinity':{'clusterNames':['m1']}}",
     "{'clusterAffinity':{'clusterNames':['m1']}}"},
    {"spread constraints get a group and a field", CANONICAL_PLACEMENT,
     "{'spreadConstraints':[{'minGroups':0,'maxGroups':2},{}]}",
     "{'spreadConstraints':[{'maxGroups':2,'minGroups':1,'spreadByField':'cluster'},"
     "{'minGroups':1,'spreadByField':'cluster'}]}"},
    {"a spread label excludes the default field", CANONICAL_PLACEMENT,
     "{'spreadConstraints':[{'spreadByLabel':'zone','minGroups':3}]}",
     "{'spreadConstraints':[{'minGroups':3,'spreadByLabel':'zone'}]}"},
    {"defaults apply to top-level members only", CANONICAL_PLACEMENT,
     "{'x':{'replicaScheduling':{},'spreadConstraints':[{}]}}", "{'x':{'spreadConstraints':[{}]}}"},
    {"a plain object has no defaults", CANONICAL_PLAIN, "{'replicaScheduling':{}}", NULL},

    {"application failover is filled in", CANONICAL_FAILOVER, "{'application':{}}",
     "{'application':{'decisionConditions':{'tolerationSeconds':300},'gracePeriodSeconds':600,"
     "'purgeMode':'Gracefully'}}"},
    {"values set in failover are kept", CANONICAL_FAILOVER,
     "{'application':{'decisionConditions':{'tolerationSeconds':0},'purgeMode':'Directly'},"
     "'cluster':{'purgeMode':'Directly'}}",
     "{'application':{'decisionConditions':{'tolerationSeconds':0},'purgeMode':'Directly'},"
     "'cluster':{'purgeMode':'Directly'}}"},
    {"a grace period of 0 is not the default", CANONICAL_FAILOVER,
     "{'application':{'decisionConditions':{},'gracePeriodSeconds':0}}",
     "{'application':{'decisionConditions':{'tolerationSeconds':300},'gracePeriodSeconds':0,"
     "'purgeMode':'Gracefully'}}"},
    {"cluster failover is filled in", CANONICAL_FAILOVER, "{'cluster':{}}",
     "{'cluster':{'purgeMode':'Gracefully'}}"},
    {"failover without application and cluster is omitted", CANONICAL_FAILOVER,
     "{'application':null}", NULL},

    {"suspension of scheduling is omitted", CANONICAL_SUSPENSION,
     "{'scheduling':true,'dispatchingOnClusters':{'clusterNames':['m2','m1']}}",
     "{'dispatchingOnClusters':{'clusterNames':['m2','m1']}}"},
    {"a suspension of scheduling only is omitted", CANONICAL_SUSPENSION, "{'scheduling':true}",
     NULL},
    {"dispatching is kept", CANONICAL_SUSPENSION, "{'dispatching':true,'scheduling':false}",
     "{'dispatching':true}"},
};

TEST_ROWS(text_is_canonical, cases, name)
{
    const struct canonical_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of(c->json);
    CLEANUP(free_cleanup) char *expected = c->text ? xstrdup(c->text) : NULL;

    for (char *at = expected; at && *at; at++)
        *at = *at == '\'' ? '"' : *at;
    reading_init(&r);

    const char *text = canonical_text(&r.decode, json, c->kind);

    assert_text(text, expected);
    assert_false(r.decode.failed);

    /* The canonical text of a canonical text is the same string. */
    if (text) {
        CLEANUP(json_cleanup) cJSON *again = json_of(text);
        const char *same = canonical_text(&r.decode, again, c->kind);

        assert_ptr_equal(same, text);
        intern_drop(r.strings, same);
    }
    intern_drop(r.strings, text);
}

TEST(absent_value_has_no_canonical_text)
{
    CLEANUP(reading_release) struct reading r;

    reading_init(&r);
    assert_null(canonical_text(&r.decode, NULL, CANONICAL_FAILOVER));
}

TEST(json_of_the_maximum_depth_has_a_text)
{
    CLEANUP(reading_release) struct reading r;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(SIZE_MAX);

    reading_init(&r);
    for (unsigned i = 0; i < JSON_DEPTH_MAX - 1; i++)
        strbuf_adds(&text, i % 2 ? "[" : "{\"a\":");
    strbuf_adds(&text, "1");
    for (unsigned i = JSON_DEPTH_MAX - 1; i-- > 0;)
        strbuf_adds(&text, i % 2 ? "]" : "}");

    CLEANUP(json_cleanup) cJSON *json = json_of(text.data);
    const char *canonical = canonical_text(&r.decode, json, CANONICAL_PLAIN);

    assert_text(canonical, text.data);
    intern_drop(r.strings, canonical);
}

TEST(text_above_4_mib_is_rejected)
{
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = cJSON_CreateObject();
    CLEANUP(free_cleanup) char *name = xcalloc(1, 5 * 1024 * 1024 + 1);

    reading_init(&r);
    memset(name, 'x', 5 * 1024 * 1024);
    cJSON_AddStringToObject(json, "a", name);
    assert_null(canonical_text(&r.decode, json, CANONICAL_PLACEMENT));
    assert_true(r.decode.failed);
    assert_string_equal(r.err.text, "'spec.placement' is larger than 4 MiB");
}
