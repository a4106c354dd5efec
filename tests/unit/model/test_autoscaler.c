/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/autoscaler.h"

#include "metrics/base/timestamp.h"
#include "metrics/model/kind.h"
#include "metrics/model/template.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"

enum { SEED = 1, TEXT_MAX = 256 };

#define SCALER(meta, spec)                                                                         \
    "{'apiVersion':'autoscaling/v2','kind':'HorizontalPodAutoscaler','metadata':{'name':'s',"      \
    "'namespace':'a'" meta "}" spec "}"
#define TARGET(text) ",'spec':{'scaleTargetRef':{" text "}}"
#define WEB          "'apiVersion':'apps/v1','kind':'Deployment','name':'web'"

/* Appends "<apiVersion> <kind> <name> <time, or -> <deleting>"; nothing without an autoscaler. */
static void describe(const struct autoscaler *a, struct strbuf *out)
{
    char time[32] = "-";

    if (!a)
        return;
    if (a->changed_ms)
        format_timestamp(a->changed_ms, time);
    strbuf_addf(out, "%s %s %s %s %d", a->api_version, a->kind, a->name, time, a->deleting);
}

static const struct autoscaler_case {
    const char *name;
    const char *json;
    const char *expected;
} cases[] = {
    {"a target", SCALER("", TARGET(WEB)), "apps/v1 Deployment web - 0"},
    {"times", SCALER(",'creationTimestamp':'2026-01-02T00:00:00Z'", TARGET(WEB)),
     "apps/v1 Deployment web - 0"},
    {"the first generation",
     SCALER(",'creationTimestamp':'2026-01-02T00:00:00Z','generation':1", TARGET(WEB)),
     "apps/v1 Deployment web 2026-01-02T00:00:00Z 0"},
    {"in deletion", SCALER(",'deletionTimestamp':'2026-01-02T00:00:00Z'", TARGET(WEB)),
     "apps/v1 Deployment web - 1"},
    {"the core group", SCALER("", TARGET("'kind':'ReplicationController','name':'rc'")),
     " ReplicationController rc - 0"},
    {"no kind", SCALER("", TARGET("'name':'web'")), ""},
    {"no name", SCALER("", TARGET("'kind':'Deployment'")), ""},
    {"a name of another type", SCALER("", TARGET("'kind':'Deployment','name':1")), ""},
    {"a target of another type", SCALER("", ",'spec':{'scaleTargetRef':'${TARGET}'}"), ""},
    {"metadata alone", SCALER("", ""), ""},
    {"another kind",
     "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'s'}" TARGET(WEB) "}", ""},
};

TEST_ROWS(the_target_is_read, cases, name)
{
    const struct autoscaler_case *c = *state;
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEXT_MAX);
    CLEANUP(json_cleanup) cJSON *json = json_of(c->json);
    struct intern *strings = intern_new(SEED);
    struct error err;
    struct decode d = {.strings = strings, .err = &err};
    struct template *t = template_decode(&d, json);

    assert_non_null(t);
    describe(template_autoscaler(t), &out);
    assert_string_equal(out.data, c->expected);
    template_release(strings, t);
    assert_int_equal(intern_count(strings), 0);
    intern_free(strings);
}

/* All parts of a template are in one allocation. */
TEST(an_autoscaler_has_labels_a_claim_and_an_owner_beside_its_target)
{
    CLEANUP(json_cleanup)
    cJSON *json = json_of(SCALER(
        ",'labels':{'team':'x','propagationpolicy.karmada.io/permanent-id':'id'},'annotations':{"
        "'propagationpolicy.karmada.io/namespace':'a','propagationpolicy.karmada.io/name':'p'}",
        TARGET(WEB)));
    struct intern *strings = intern_new(SEED);
    struct error err;
    struct decode d = {.strings = strings, .err = &err, .owner_key = "team"};
    struct template *t = template_decode(&d, json);
    struct template *copy = template_copy_with_claim(t, NULL);

    assert_string_equal(template_owner(t), "x");
    assert_string_equal(t->claim->name, "p");
    assert_string_equal(template_autoscaler(t)->name, "web");
    assert_string_equal(template_owner(copy), "x");
    assert_ptr_equal(template_autoscaler(copy), template_autoscaler(t));
    assert_true(autoscaler_equal(template_autoscaler(copy), template_autoscaler(t)));
    assert_false(autoscaler_equal(NULL, template_autoscaler(t)));
    assert_true(autoscaler_equal(NULL, NULL));
    pool_free(copy);
    template_release(strings, t);
    assert_int_equal(intern_count(strings), 0);
    intern_free(strings);
}

TEST(a_federated_hpa_is_no_template)
{
    CLEANUP(json_cleanup)
    cJSON *json = json_of("{'apiVersion':'autoscaling.karmada.io/v1alpha1','kind':'FederatedHPA',"
                          "'metadata':{'name':'s','namespace':'a'}" TARGET(WEB) "}");
    const struct kind_def *def = kind_of("autoscaling.karmada.io/v1alpha1", "FederatedHPA");
    struct intern *strings = intern_new(SEED);
    struct error err;
    struct decode d = {.strings = strings, .err = &err};
    struct other *o = def->decode(&d, json);

    assert_int_equal(def->class, CLASS_OTHER);
    assert_string_equal(o->autoscaler->name, "web");
    def->release(strings, o);
    assert_int_equal(intern_count(strings), 0);
    intern_free(strings);
}
