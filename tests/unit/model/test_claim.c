/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/claim.h"

#include "tests/unit/reading.h"
#include "tests/unit/suite.h"

#define PP  "propagationpolicy.karmada.io"
#define CPP "clusterpropagationpolicy.karmada.io"
#define ID  "93162d3c-ee8e-4995-9034-05f4d5d2c2b9"

static struct claim_case {
    const char *name;
    const char *labels;
    const char *annotations;
    const char *claim; /* "namespace/name=id"; "name=id" if cluster-scoped; NULL without claim. */
} cases[] = {
    {"no labels and no annotations", "{}", "{}", NULL},
    {"1.11 and later: a policy", "{'" PP "/permanent-id':'" ID "'}",
     "{'" PP "/namespace':'test','" PP "/name':'pp1'}", "test/pp1=" ID},
    {"1.11 and later: a cluster policy", "{'" CPP "/permanent-id':'" ID "'}",
     "{'" CPP "/name':'cpp1'}", "cpp1=" ID},
    {"1.10: labels and annotations",
     "{'" PP "/permanent-id':'id','" PP "/namespace':'test','" PP "/name':'pp1'}",
     "{'" PP "/namespace':'test','" PP "/name':'pp1'}", "test/pp1=id"},
    {"1.8 and 1.9: labels alone are enough",
     "{'" PP "/permanent-id':'id','" PP "/namespace':'test','" PP "/name':'pp1'}", "{}",
     "test/pp1=id"},
    {"1.8 and 1.9: a cluster policy", "{'" CPP "/permanent-id':'id','" CPP "/name':'cpp1'}", "{}",
     "cpp1=id"},
    {"1.7: the id is a uid", "{'" PP "/uid':'u1','" PP "/namespace':'test','" PP "/name':'pp1'}",
     "{}", "test/pp1=u1"},
    {"1.7: a cluster policy", "{'" CPP "/uid':'u1','" CPP "/name':'cpp1'}", "{}", "cpp1=u1"},
    {"a permanent id takes precedence over a uid",
     "{'" CPP "/uid':'u1','" CPP "/permanent-id':'id','" CPP "/name':'cpp1'}", "{}", "cpp1=id"},
    {"a uid beside an empty permanent id",
     "{'" CPP "/uid':'u1','" CPP "/permanent-id':'','" CPP "/name':'cpp1'}", "{}", "cpp1=u1"},
    {"annotations take precedence over labels",
     "{'" CPP "/permanent-id':'id','" CPP "/name':'old'}", "{'" CPP "/name':'new'}", "new=id"},
    {"a label beside an empty annotation", "{'" CPP "/permanent-id':'id','" CPP "/name':'old'}",
     "{'" CPP "/name':''}", "old=id"},
    {"an id is any text", "{'" CPP "/permanent-id':'f2507cgb-f3f3-4a4b-b289-5691a4fef979'}",
     "{'" CPP "/name':'cpp1'}", "cpp1=f2507cgb-f3f3-4a4b-b289-5691a4fef979"},
    {"a name longer than a label", "{'" CPP "/permanent-id':'id'}",
     "{'" CPP "/name':'a123456789a123456789a123456789a123456789a123456789a123456789a123456789'}",
     "a123456789a123456789a123456789a123456789a123456789a123456789a123456789=id"},
    {"no id is no claim", "{}", "{'" PP "/namespace':'test','" PP "/name':'pp1'}", NULL},
    {"no name is no claim", "{'" PP "/permanent-id':'id'}", "{'" PP "/namespace':'test'}", NULL},
    {"no namespace is no claim", "{'" PP "/permanent-id':'id'}", "{'" PP "/name':'pp1'}", NULL},
    {"an id among the annotations is no id", "{}",
     "{'" CPP "/permanent-id':'id','" CPP "/name':'cpp1'}", NULL},
    {"a policy takes precedence over a cluster policy",
     "{'" PP "/permanent-id':'id1','" CPP "/permanent-id':'id2'}",
     "{'" PP "/namespace':'test','" PP "/name':'pp1','" CPP "/name':'cpp1'}", "test/pp1=id1"},
    {"a cluster policy beside an incomplete policy",
     "{'" PP "/permanent-id':'id1','" CPP "/permanent-id':'id2'}",
     "{'" PP "/name':'pp1','" CPP "/name':'cpp1'}", "cpp1=id2"},
    {"the id of a policy and the name of a cluster policy", "{'" PP "/permanent-id':'id1'}",
     "{'" CPP "/name':'cpp1'}", NULL},
};

static cJSON *metadata_of(const char *labels, const char *annotations)
{
    cJSON *metadata = cJSON_CreateObject();

    cJSON_AddItemToObject(metadata, "labels", json_of(labels));
    cJSON_AddItemToObject(metadata, "annotations", json_of(annotations));
    return metadata;
}

TEST_ROWS(claim_is_decoded, cases, name)
{
    const struct claim_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *metadata = metadata_of(c->labels, c->annotations);
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(4096);

    reading_init(&r);

    const struct claim *claim = claim_decode(&r.decode, metadata);

    if (claim) {
        assert_int_equal(*claim->ns == '\0', claim->cluster_scoped);
        strbuf_addf(&text, "%s%s%s=%s", claim->ns, *claim->ns ? "/" : "", claim->name, claim->id);
    }
    assert_text(claim ? text.data : NULL, c->claim);
    assert_false(r.decode.failed);
    claim_release(r.strings, claim);
}

static struct wrong_case {
    const char *name;
    const char *labels;
    const char *annotations;
    const char *error;
} wrong[] = {
    {"labels that are an array", "[]", "{}", "'metadata.labels' must be an object, found an array"},
    {"annotations that are a text", "{}", "'x'",
     "'metadata.annotations' must be an object, found a string"},
    {"a name that is a number", "{}", "{'" PP "/name':1}",
     "'metadata.annotations." PP "/name' must be a string, found a number"},
    {"a namespace label that is a number", "{'" PP "/namespace':1}", "{}",
     "'metadata.labels." PP "/namespace' must be a string, found a number"},
    {"an id that is a boolean", "{'" CPP "/permanent-id':true}", "{}",
     "'metadata.labels." CPP "/permanent-id' must be a string, found a boolean"},
    {"a uid that is an object", "{'" CPP "/uid':{}}", "{}",
     "'metadata.labels." CPP "/uid' must be a string, found an object"},
};

TEST_ROWS(claim_of_a_wrong_type_is_rejected, wrong, name)
{
    const struct wrong_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *metadata = metadata_of(c->labels, c->annotations);

    reading_init(&r);
    claim_release(r.strings, claim_decode(&r.decode, metadata));
    assert_true(r.decode.failed);
    assert_string_equal(r.err.text, c->error);
}

TEST(claims_with_a_different_member_are_not_equal)
{
    const struct claim a = {"ns", "p", "id", false};
    struct claim b = a;

    assert_true(claim_equal(NULL, NULL));
    assert_false(claim_equal(&a, NULL));
    assert_false(claim_equal(NULL, &a));
    assert_true(claim_equal(&a, &b));
    b.id = "id2";
    assert_false(claim_equal(&a, &b));
    b = a;
    b.name = "q";
    assert_false(claim_equal(&a, &b));
    b = a;
    b.ns = "other";
    assert_false(claim_equal(&a, &b));
    b = a;
    b.cluster_scoped = true;
    assert_false(claim_equal(&a, &b));
}

TEST(karmada_keys_contain_dot_karmada_io)
{
    assert_true(is_karmada_key("propagationpolicy.karmada.io/name"));
    assert_true(is_karmada_key("foo.karmada.io.example/x"));
    assert_true(is_karmada_key("app.karmada.io/managed"));
    assert_false(is_karmada_key("karmada.io/managed"));
    assert_false(is_karmada_key("app"));
    assert_false(is_karmada_key(""));
}

TEST(permanent_id_is_that_of_the_scope)
{
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup)
    cJSON *metadata = metadata_of("{'" PP "/permanent-id':'" ID "','" CPP "/uid':'u1'}", "{}");
    CLEANUP(json_cleanup) cJSON *without = cJSON_CreateObject();

    reading_init(&r);

    const char *id = permanent_id_decode(&r.decode, metadata, false);
    const char *uid = permanent_id_decode(&r.decode, metadata, true);

    assert_text(id, ID);
    assert_text(uid, "u1");
    assert_null(permanent_id_decode(&r.decode, without, false));
    intern_drop(r.strings, id);
    intern_drop(r.strings, uid);
}
