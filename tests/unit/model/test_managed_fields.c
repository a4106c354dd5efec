/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/managed_fields.h"

#include "tests/unit/reading.h"
#include "tests/unit/suite.h"

#define CREATED "'creationTimestamp':'1970-01-01T00:00:10Z'"
#define TIME(s) "'time':'1970-01-01T00:00:" s "Z'"

/* One entry of the manager "other" at second 20 beside the one in question, at second 30. */
static struct entry_case {
    const char *name;
    const char *entry;
    int64_t changed_s;
} entries[] = {
    {"the spec", "{" TIME("30") ",'fieldsV1':{'f:spec':{'f:replicas':{}}}}", 30},
    {"a data field of a ConfigMap", "{" TIME("30") ",'fieldsV1':{'f:data':{'.':{},'f:a':{}}}}", 30},
    {"a label of the user", "{" TIME("30") ",'fieldsV1':{'f:metadata':{'f:labels':{'f:app':{}}}}}",
     30},
    {"the status subresource",
     "{" TIME("30") ",'subresource':'status','fieldsV1':{'f:status':{'f:replicas':{}}}}", 20},
    {"the status subresource, whatever it owns",
     "{" TIME("30") ",'subresource':'status','fieldsV1':{'f:spec':{}}}", 20},
    {"the scale subresource is a user's",
     "{" TIME("30") ",'subresource':'scale','fieldsV1':{'f:spec':{'f:replicas':{}}}}", 30},
    {"status without a subresource", "{" TIME("30") ",'fieldsV1':{'f:status':{'f:x':{}}}}", 20},
    {"Karmada's claim",
     "{" TIME("30") ",'fieldsV1':{'f:metadata':{"
                    "'f:annotations':{'.':{},'f:propagationpolicy.karmada.io/name':{},"
                    "'f:propagationpolicy.karmada.io/namespace':{}},"
                    "'f:labels':{'.':{},'f:propagationpolicy.karmada.io/permanent-id':{}}}}}",
     20},
    {"Karmada's claim beside a user's label",
     "{" TIME("30") ",'fieldsV1':{'f:metadata':{'f:labels':{"
                    "'f:propagationpolicy.karmada.io/permanent-id':{},'f:app':{}}}}}",
     30},
    {"Karmada's label beside the spec",
     "{" TIME("30") ",'fieldsV1':{'f:metadata':{'f:labels':{'f:a.karmada.io/b':{}}},"
                    "'f:spec':{'f:replicas':{}}}}",
     30},
    {"the domain may stand anywhere in the key",
     "{" TIME("30") ",'fieldsV1':{'f:metadata':{'f:annotations':{'f:a.karmada.io.example/x':{}}}}}",
     20},
    {"the domain needs its dot",
     "{" TIME("30") ",'fieldsV1':{'f:metadata':{'f:labels':{'f:karmada.io/managed':{}}}}}", 30},
    {"the label of skipping is a user's",
     "{" TIME("30") ",'fieldsV1':{'f:metadata':{'f:labels':{"
                    "'f:namespace.karmada.io/skip-auto-propagation':{}}}}}",
     30},
    {"as an annotation it is not",
     "{" TIME("30") ",'fieldsV1':{'f:metadata':{'f:annotations':{"
                    "'f:namespace.karmada.io/skip-auto-propagation':{}}}}}",
     20},
    {"and neither is one much like it",
     "{" TIME("30") ",'fieldsV1':{'f:metadata':{'f:labels':{"
                    "'f:namespace.karmada.io/skip-auto-propagation-2':{}}}}}",
     20},
    {"finalizers", "{" TIME("30") ",'fieldsV1':{'f:metadata':{'f:finalizers':{'.':{}}}}}", 30},
    {"an emptied map of annotations",
     "{" TIME("30") ",'fieldsV1':{'f:metadata':{'.':{},'f:annotations':{'.':{}}}}}", 20},
    {"nothing", "{" TIME("30") ",'fieldsV1':{}}", 20},
    {"nothing known", "{" TIME("30") "}", 20},
    {"no time", "{'fieldsV1':{'f:spec':{}}}", 20},
    {"an older change", "{" TIME("05") ",'fieldsV1':{'f:spec':{}}}", 20},
};

TEST_ROWS(tells_users_entries, entries, name)
{
    const struct entry_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup)
    cJSON *metadata = json_of(
        "{" CREATED ",'managedFields':[{" TIME("20") ",'manager':'other',"
                                                     "'fieldsV1':{'f:spec':{'f:image':{}}}}]}");
    cJSON *entry = json_of(c->entry);
    const char *by;

    cJSON_AddStringToObject(entry, "manager", "it");
    cJSON_AddItemToArray(cJSON_GetObjectItem(metadata, "managedFields"), entry);
    reading_init(&r);
    assert_int_equal(user_change_time_ms(&r.decode, metadata, &by), c->changed_s * 1000);
    assert_text(by, c->changed_s == 30 ? "it" : "other");
    assert_false(r.decode.failed);
}

/* Without an entry that counts, and with what is not even an entry. */
static struct fallback_case {
    const char *name;
    const char *metadata;
    int64_t changed_s;
    const char *error;
} fallbacks[] = {
    {"nothing at all", "{}", 0, NULL},
    {"no managed fields", "{" CREATED "}", 0, NULL},
    {"no managed fields of the first generation", "{" CREATED ",'generation':1}", 10, NULL},
    {"no managed fields of a later one", "{" CREATED ",'generation':3}", 0, NULL},
    {"no entries", "{" CREATED ",'managedFields':[]}", 0, NULL},
    {"nothing but Karmada's",
     "{" CREATED ",'managedFields':[{" TIME(
         "30") ",'fieldsV1':{'f:metadata':{'f:labels':{'f:a.karmada.io/b':{}}}}}]}",
     10, NULL},
    {"nothing but Karmada's, which says its name",
     "{" CREATED
     ",'managedFields':[{" TIME("30") ",'manager':'karmada','fieldsV1':{'f:status':{}}}]}",
     10, NULL},
    {"an entry without a name", "{'managedFields':[{" TIME("30") ",'fieldsV1':{'f:spec':{}}}]}", 30,
     NULL},
    {"a null entry", "{" CREATED ",'managedFields':[null]}", 10, NULL},
    {"before the epoch",
     "{'managedFields':[{'time':'1969-12-31T23:59:59Z','fieldsV1':{'f:spec':{}}}]}", -1, NULL},
    {"managed fields that are an object", "{'managedFields':{}}", 0,
     "'metadata.managedFields' must be an array, found an object"},
    {"an entry that is a text", "{'managedFields':['x']}", 0,
     "'metadata.managedFields[]' must be an object, found a string"},
    {"a time that is a number", "{'managedFields':[{'time':5}]}", 0,
     "'metadata.managedFields[].time' must be a string, found a number"},
    {"a time that is no time", "{'managedFields':[{'time':'noon'}]}", 0,
     "'metadata.managedFields[].time' must be a time such as 2026-01-31T12:00:00Z"},
    {"fields that are a text", "{'managedFields':[{" TIME("30") ",'fieldsV1':'x'}]}", 0,
     "'metadata.managedFields[].fieldsV1' must be an object, found a string"},
    {"a subresource that is a number", "{'managedFields':[{" TIME("30") ",'subresource':1}]}", 0,
     "'metadata.managedFields[].subresource' must be a string, found a number"},
};

TEST_ROWS(falls_back, fallbacks, name)
{
    const struct fallback_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *metadata = json_of(c->metadata);

    reading_init(&r);
    const char *by = "";

    assert_int_equal(user_change_time_ms(&r.decode, metadata, &by), c->changed_s * 1000);
    assert_null(by);
    assert_string_equal(r.err.text, c->error ? c->error : "");
}

static struct version_case {
    const char *name;
    const char *metadata;
    uint64_t version;
} versions[] = {
    {"a number", "{'resourceVersion':'123'}", 123},
    {"none", "{}", 0},
    {"an empty one", "{'resourceVersion':''}", 0},
    {"of another storage", "{'resourceVersion':'12-b'}", 0},
    {"the largest", "{'resourceVersion':'18446744073709551615'}", UINT64_MAX},
    {"beyond it", "{'resourceVersion':'18446744073709551616'}", 0},
};

TEST_ROWS(reads_resource_versions, versions, name)
{
    const struct version_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *metadata = json_of(c->metadata);

    reading_init(&r);
    assert_true(resource_version_decode(&r.decode, metadata, "metadata") == c->version);
}

static struct traces traces_of(const char *text)
{
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of(text);
    struct traces t;

    reading_init(&r);
    traces_decode(&r.decode, json, &t);
    assert_false(r.decode.failed);
    return t;
}

TEST(traces_of_keys_tell_whose_they_are)
{
    struct traces plain = traces_of("{'metadata':{'labels':{'a':'1','b':'2'}}}");
    struct traces turned = traces_of("{'metadata':{'labels':{'b':'2','a':'1'}}}");
    struct traces other = traces_of("{'metadata':{'labels':{'a':'1','b':'3'}}}");
    struct traces noted = traces_of("{'metadata':{'labels':{'a':'1','b':'2'},"
                                    "'annotations':{'c':'3'}}}");
    struct traces claimed =
        traces_of("{'metadata':{'labels':{'a':'1','b':'2','p.karmada.io/permanent-id':'x'},"
                  "'annotations':{'p.karmada.io/name':'p'}}}");

    assert_int_equal(plain.user_keys, turned.user_keys);
    assert_int_not_equal(plain.user_keys, other.user_keys);
    assert_int_not_equal(plain.user_keys, noted.user_keys);
    assert_int_equal(plain.user_keys, claimed.user_keys);
    assert_int_equal(plain.karmada_keys, noted.karmada_keys);
    assert_int_not_equal(plain.karmada_keys, claimed.karmada_keys);
}

#define ENTRY(manager, time, fields)                                                               \
    "{'manager':'" manager "'," TIME(time) ",'fieldsV1':{" fields "}}"
#define MANAGED(entries) "{'metadata':{'managedFields':[" entries "]}}"

/* Without a generation: how many fields users own together, each counted once. */
static struct content_case {
    const char *name;
    const char *json;
    uint32_t content;
} contents[] = {
    {"two keys of data", MANAGED(ENTRY("a", "20", "'f:data':{'.':{},'f:x':{},'f:y':{}}")), 2},
    {"two managers own the same",
     MANAGED(ENTRY("a", "20", "'f:data':{'f:x':{}}") "," ENTRY("b", "30", "'f:data':{'f:x':{}}")),
     1},
    {"what is left of a map that others own",
     MANAGED(ENTRY("a", "20", "'f:data':{}") "," ENTRY("b", "30", "'f:data':{'f:x':{}}")), 1},
    {"Karmada's keys do not count",
     MANAGED(ENTRY("a", "20",
                   "'f:data':{'f:x':{}},'f:metadata':{'f:labels':{'f:p.karmada.io/id':{}}}")),
     1},
    {"nor does its entry",
     MANAGED(ENTRY("k", "20", "'f:metadata':{'f:labels':{'f:p.karmada.io/id':{}}}")), 0},
    {"nor a subresource",
     MANAGED("{'manager':'a','subresource':'status'," TIME("20") ",'fieldsV1':{'f:x':{}}}"), 0},
    {"with a generation, that says it",
     "{'metadata':{'generation':4,'managedFields':[" ENTRY("a", "20", "'f:spec':{'f:x':{}}") "]}}",
     0},
};

TEST_ROWS(counts_the_fields_of_users, contents, name)
{
    const struct content_case *c = *state;

    assert_int_equal(traces_of(c->json).content, c->content);
}

TEST(content_without_managed_fields_is_compared_as_a_whole)
{
    struct traces one = traces_of("{'metadata':{'name':'x'},'data':{'a':'1','b':[1,2]},"
                                  "'status':{'x':1}}");
    struct traces turned = traces_of("{'data':{'b':[1,2],'a':'1'},'metadata':{}}");
    struct traces order = traces_of("{'metadata':{'name':'x'},'data':{'a':'1','b':[2,1]}}");
    struct traces type = traces_of("{'metadata':{'name':'x'},'data':{'a':1,'b':[1,2]}}");

    assert_int_equal(one.content, turned.content);
    assert_int_not_equal(one.content, order.content);
    assert_int_not_equal(one.content, type.content);
}

/* By whom a template was last written, other than by Karmada. */
TEST(the_last_write_of_a_user)
{
    struct traces t = traces_of(MANAGED(ENTRY("kubectl", "10", "'f:spec':{'f:x':{}}") "," ENTRY(
        "karmada", "40",
        "'f:spec':{'f:y':{}}") "," ENTRY("helm", "30",
                                         "'f:spec':{'f:z':{}}") "," ENTRY("karmada", "20",
                                                                          "'f:spec':{'f:v':{}}")));

    assert_int_equal(other_manager_write_time_s(&t, text_hash32("karmada")), 30);
    assert_int_equal(other_manager_write_time_s(&t, text_hash32("other")), 40);
    t = traces_of(MANAGED(ENTRY("karmada", "10", "'f:spec':{'f:x':{}}")));
    assert_int_equal(other_manager_write_time_s(&t, text_hash32("karmada")), 0);
}

static struct write_case {
    const char *name;
    const char *entries;
    uint32_t time_s;
    const char *manager;
} writes[] = {
    {"none", "", 0, NULL},
    {"the owner of the template's version",
     ENTRY("karmada", "20", "'f:spec':{'f:resource':{'f:uid':{}}}") "," ENTRY(
         "scheduler", "30", "'f:spec':{'f:clusters':{}}"),
     20, "karmada"},
    {"else the newest",
     ENTRY("a", "20", "'f:spec':{'f:clusters':{}}") "," ENTRY("b", "30", "'f:metadata':{}"), 30,
     "b"},
    {"of two owners the later",
     ENTRY("a", "40", "'f:spec':{'f:resource':{}}") "," ENTRY("b", "30",
                                                              "'f:spec':{'f:resource':"
                                                              "{}}"),
     40, "a"},
    {"no subresource", "{'manager':'a','subresource':'status'," TIME("20") ",'fieldsV1':{}}", 0,
     NULL},
};

TEST_ROWS(finds_the_write_of_a_binding, writes, name)
{
    const struct write_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(4096);
    struct binding_write write;

    strbuf_addf(&text, "{'managedFields':[%s]}", c->entries);

    CLEANUP(json_cleanup) cJSON *metadata = json_of(text.data);
    reading_init(&r);
    binding_write_decode(&r.decode, metadata, &write);
    assert_int_equal(write.time_s, c->time_s);
    assert_int_equal(write.manager, c->manager ? text_hash32(c->manager) : 0);
}

#define OWNED(generation, keys, entries)                                                           \
    "{'metadata':{" generation "'annotations':{" keys "},'managedFields':[" entries "]}}"
#define DATA(time, fields) ENTRY("kubectl", time, "'f:data':{" fields "}")
#define APPLIED            "{'manager':'gitops','operation':'Apply','fieldsV1':{'f:data':{'f:a':{}}}}"

static struct succession_case {
    const char *name;
    const char *old;
    const char *fresh;
    bool claim_moves_generation;
    bool by_user;
} successions[] = {
    {"nothing", OWNED("'generation':2,", "", ""), OWNED("'generation':2,", "", ""), true, false},
    {"the spec", OWNED("'generation':2,", "", ""), OWNED("'generation':3,", "", ""), true, true},
    {"an annotation", OWNED("'generation':2,", "", ""), OWNED("'generation':2,", "'a':'b'", ""),
     false, true},
    {"Karmada's annotation", OWNED("'generation':2,", "", ""),
     OWNED("'generation':2,", "'p.karmada.io/name':'p'", ""), false, false},
    {"a claim moves a Deployment's generation", OWNED("'generation':2,", "", ""),
     OWNED("'generation':3,", "'p.karmada.io/name':'p'", ""), true, false},
    {"but by one alone", OWNED("'generation':2,", "", ""),
     OWNED("'generation':4,", "'p.karmada.io/name':'p'", ""), true, true},
    {"and no other kind's", OWNED("'generation':2,", "", ""),
     OWNED("'generation':3,", "'p.karmada.io/name':'p'", ""), false, true},
    {"no generation: a later write", OWNED("", "", DATA("20", "'f:a':{}")),
     OWNED("", "", DATA("30", "'f:a':{}")), false, true},
    {"a removal, which leaves no time", OWNED("", "", DATA("20", "'f:a':{},'f:b':{}")),
     OWNED("", "", DATA("20", "'f:a':{}")), false, true},
    {"an apply of equal values", OWNED("", "", DATA("20", "'f:a':{},'f:b':{}")),
     OWNED("", "", DATA("20", "'f:a':{},'f:b':{}") "," APPLIED), false, false},
    {"Karmada's claim", OWNED("", "", DATA("20", "'f:a':{}")),
     OWNED("", "'p.karmada.io/name':'p'",
           DATA("20", "'f:a':{}") "," ENTRY(
               "karmada", "30", "'f:metadata':{'f:annotations':{'f:p.karmada.io/name':{}}}")),
     false, false},
    {"managedFields that one of the two lacks tell nothing", "{'data':{'a':'1'}}",
     OWNED("", "", DATA("20", "'f:a':{}")), false, false},
    {"without any: other content", "{'data':{'a':'1'}}", "{'data':{'a':'2'}}", false, true},
    {"without any: another status", "{'data':{'a':'1'},'status':{'x':1}}",
     "{'data':{'a':'1'},'status':{'x':2}}", false, false},
};

TEST_ROWS(tells_a_users_change, successions, name)
{
    const struct succession_case *c = *state;
    struct traces old = traces_of(c->old), fresh = traces_of(c->fresh);

    assert_int_equal(was_changed_by_user(&old, &fresh, c->claim_moves_generation), c->by_user);
}
