/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/managed_fields.h"

#include "tests/unit/reading.h"
#include "tests/unit/suite.h"

#define CREATED "'creationTimestamp':'1970-01-01T00:00:10Z'"
#define TIME(s) "'time':'1970-01-01T00:00:" s "Z'"

/*
 * An entry of managedFields with the manager "it". The metadata also has an entry of "other", which
 * changed the spec at 00:00:20.
 */
static struct entry_case {
    const char *name;
    const char *entry;
    int64_t changed_s; /* 30 if `entry` is the newest user entry, else 20. */
} entries[] = {
    {"the spec", "{" TIME("30") ",'fieldsV1':{'f:spec':{'f:replicas':{}}}}", 30},
    {"a data field of a ConfigMap", "{" TIME("30") ",'fieldsV1':{'f:data':{'.':{},'f:a':{}}}}", 30},
    {"a label of the user", "{" TIME("30") ",'fieldsV1':{'f:metadata':{'f:labels':{'f:app':{}}}}}",
     30},
    {"the status subresource",
     "{" TIME("30") ",'subresource':'status','fieldsV1':{'f:status':{'f:replicas':{}}}}", 20},
    {"the status subresource that owns a spec",
     "{" TIME("30") ",'subresource':'status','fieldsV1':{'f:spec':{}}}", 20},
    {"the scale subresource",
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
    {"a key with .karmada.io in the middle",
     "{" TIME("30") ",'fieldsV1':{'f:metadata':{'f:annotations':{'f:a.karmada.io.example/x':{}}}}}",
     20},
    {"a key that begins with karmada.io",
     "{" TIME("30") ",'fieldsV1':{'f:metadata':{'f:labels':{'f:karmada.io/managed':{}}}}}", 30},
    {"the label skip-auto-propagation",
     "{" TIME("30") ",'fieldsV1':{'f:metadata':{'f:labels':{"
                    "'f:namespace.karmada.io/skip-auto-propagation':{}}}}}",
     30},
    {"an annotation skip-auto-propagation",
     "{" TIME("30") ",'fieldsV1':{'f:metadata':{'f:annotations':{"
                    "'f:namespace.karmada.io/skip-auto-propagation':{}}}}}",
     20},
    {"a label that begins with skip-auto-propagation",
     "{" TIME("30") ",'fieldsV1':{'f:metadata':{'f:labels':{"
                    "'f:namespace.karmada.io/skip-auto-propagation-2':{}}}}}",
     20},
    {"finalizers", "{" TIME("30") ",'fieldsV1':{'f:metadata':{'f:finalizers':{'.':{}}}}}", 30},
    {"an emptied map of annotations",
     "{" TIME("30") ",'fieldsV1':{'f:metadata':{'.':{},'f:annotations':{'.':{}}}}}", 20},
    {"empty fields", "{" TIME("30") ",'fieldsV1':{}}", 20},
    {"no fields", "{" TIME("30") "}", 20},
    {"no time", "{'fieldsV1':{'f:spec':{}}}", 20},
    {"an older change", "{" TIME("05") ",'fieldsV1':{'f:spec':{}}}", 20},
};

TEST_ROWS(newest_user_entry_sets_the_change_time, entries, name)
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

/* Metadata without a user entry that has a manager, and invalid managedFields. */
static struct fallback_case {
    const char *name;
    const char *metadata;
    int64_t changed_s;
    const char *error;
} fallbacks[] = {
    {"empty metadata", "{}", 0, NULL},
    {"no managed fields", "{" CREATED "}", 0, NULL},
    {"no managed fields at generation 1", "{" CREATED ",'generation':1}", 10, NULL},
    {"no managed fields at generation 3", "{" CREATED ",'generation':3}", 0, NULL},
    {"no entries", "{" CREATED ",'managedFields':[]}", 0, NULL},
    {"an entry of Karmada",
     "{" CREATED ",'managedFields':[{" TIME(
         "30") ",'fieldsV1':{'f:metadata':{'f:labels':{'f:a.karmada.io/b':{}}}}}]}",
     10, NULL},
    {"an entry of Karmada with a manager",
     "{" CREATED
     ",'managedFields':[{" TIME("30") ",'manager':'karmada','fieldsV1':{'f:status':{}}}]}",
     10, NULL},
    {"a user entry without a manager",
     "{'managedFields':[{" TIME("30") ",'fieldsV1':{'f:spec':{}}}]}", 30, NULL},
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

TEST_ROWS(change_time_without_a_manager, fallbacks, name)
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
    {"no version", "{}", 0},
    {"an empty version", "{'resourceVersion':''}", 0},
    {"a version that is no number", "{'resourceVersion':'12-b'}", 0},
    {"the largest version", "{'resourceVersion':'18446744073709551615'}", UINT64_MAX},
    {"a version above 64 bits", "{'resourceVersion':'18446744073709551616'}", 0},
};

TEST_ROWS(resource_version_is_decoded, versions, name)
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

TEST(user_keys_and_karmada_keys_have_separate_hashes)
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

static struct content_case {
    const char *name;
    const char *json;
    uint32_t content; /* Number of fields that users own; 0 if there is a generation. */
} contents[] = {
    {"two keys of data", MANAGED(ENTRY("a", "20", "'f:data':{'.':{},'f:x':{},'f:y':{}}")), 2},
    {"two managers own the same",
     MANAGED(ENTRY("a", "20", "'f:data':{'f:x':{}}") "," ENTRY("b", "30", "'f:data':{'f:x':{}}")),
     1},
    {"an empty map of one manager, a key of another",
     MANAGED(ENTRY("a", "20", "'f:data':{}") "," ENTRY("b", "30", "'f:data':{'f:x':{}}")), 1},
    {"Karmada's keys do not count",
     MANAGED(ENTRY("a", "20",
                   "'f:data':{'f:x':{}},'f:metadata':{'f:labels':{'f:p.karmada.io/id':{}}}")),
     1},
    {"an entry of Karmada does not count",
     MANAGED(ENTRY("k", "20", "'f:metadata':{'f:labels':{'f:p.karmada.io/id':{}}}")), 0},
    {"a subresource does not count",
     MANAGED("{'manager':'a','subresource':'status'," TIME("20") ",'fieldsV1':{'f:x':{}}}"), 0},
    {"an object with a generation",
     "{'metadata':{'generation':4,'managedFields':[" ENTRY("a", "20", "'f:spec':{'f:x':{}}") "]}}",
     0},
};

TEST_ROWS(fields_of_users_are_counted, contents, name)
{
    const struct content_case *c = *state;
    const struct traces t = traces_of(c->json);

    assert_int_equal(traces_content(&t), c->content);
}

TEST(content_without_managed_fields_is_a_hash)
{
    struct traces one = traces_of("{'metadata':{'name':'x'},'data':{'a':'1','b':[1,2]},"
                                  "'status':{'x':1}}");
    struct traces turned = traces_of("{'data':{'b':[1,2],'a':'1'},'metadata':{}}");
    struct traces order = traces_of("{'metadata':{'name':'x'},'data':{'a':'1','b':[2,1]}}");
    struct traces type = traces_of("{'metadata':{'name':'x'},'data':{'a':1,'b':[1,2]}}");

    assert_int_equal(traces_content(&one), traces_content(&turned));
    assert_int_not_equal(traces_content(&one), traces_content(&order));
    assert_int_not_equal(traces_content(&one), traces_content(&type));
}

TEST(last_write_of_another_manager_is_found)
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
    {"no entries", "", 0, NULL},
    {"an entry that owns spec.resource",
     ENTRY("karmada", "20", "'f:spec':{'f:resource':{'f:uid':{}}}") "," ENTRY(
         "scheduler", "30", "'f:spec':{'f:clusters':{}}"),
     20, "karmada"},
    {"the newest entry if no entry owns spec.resource",
     ENTRY("a", "20", "'f:spec':{'f:clusters':{}}") "," ENTRY("b", "30", "'f:metadata':{}"), 30,
     "b"},
    {"the newest of two entries that own spec.resource",
     ENTRY("a", "40", "'f:spec':{'f:resource':{}}") "," ENTRY("b", "30",
                                                              "'f:spec':{'f:resource':"
                                                              "{}}"),
     40, "a"},
    {"a subresource is ignored",
     "{'manager':'a','subresource':'status'," TIME("20") ",'fieldsV1':{}}", 0, NULL},
};

TEST_ROWS(last_write_of_a_binding_is_found, writes, name)
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
    {"no difference", OWNED("'generation':2,", "", ""), OWNED("'generation':2,", "", ""), true,
     false},
    {"the spec", OWNED("'generation':2,", "", ""), OWNED("'generation':3,", "", ""), true, true},
    {"an annotation", OWNED("'generation':2,", "", ""), OWNED("'generation':2,", "'a':'b'", ""),
     false, true},
    {"Karmada's annotation", OWNED("'generation':2,", "", ""),
     OWNED("'generation':2,", "'p.karmada.io/name':'p'", ""), false, false},
    {"a claim, and a generation higher by 1", OWNED("'generation':2,", "", ""),
     OWNED("'generation':3,", "'p.karmada.io/name':'p'", ""), true, false},
    {"a claim, and a generation higher by 2", OWNED("'generation':2,", "", ""),
     OWNED("'generation':4,", "'p.karmada.io/name':'p'", ""), true, true},
    {"a claim and a generation, for another kind", OWNED("'generation':2,", "", ""),
     OWNED("'generation':3,", "'p.karmada.io/name':'p'", ""), false, true},
    {"no generation: a later write", OWNED("", "", DATA("20", "'f:a':{}")),
     OWNED("", "", DATA("30", "'f:a':{}")), false, true},
    {"a removal of a field", OWNED("", "", DATA("20", "'f:a':{},'f:b':{}")),
     OWNED("", "", DATA("20", "'f:a':{}")), false, true},
    {"an apply of equal values", OWNED("", "", DATA("20", "'f:a':{},'f:b':{}")),
     OWNED("", "", DATA("20", "'f:a':{},'f:b':{}") "," APPLIED), false, false},
    {"Karmada's claim", OWNED("", "", DATA("20", "'f:a':{}")),
     OWNED("", "'p.karmada.io/name':'p'",
           DATA("20", "'f:a':{}") "," ENTRY(
               "karmada", "30", "'f:metadata':{'f:annotations':{'f:p.karmada.io/name':{}}}")),
     false, false},
    {"managedFields in one of the versions only", "{'data':{'a':'1'}}",
     OWNED("", "", DATA("20", "'f:a':{}")), false, false},
    {"no managedFields: other content", "{'data':{'a':'1'}}", "{'data':{'a':'2'}}", false, true},
    {"no managedFields: another status", "{'data':{'a':'1'},'status':{'x':1}}",
     "{'data':{'a':'1'},'status':{'x':2}}", false, false},
};

TEST_ROWS(change_by_a_user_is_detected, successions, name)
{
    const struct succession_case *c = *state;
    struct traces old = traces_of(c->old), fresh = traces_of(c->fresh);

    assert_int_equal(was_changed_by_user(&old, &fresh, c->claim_moves_generation), c->by_user);
}
