/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/event.h"

#include "metrics/model/metadata.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"

#define X64         "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define NAME_OF_320 X64 X64 X64 X64 X64
#define REFERENCE                                                                                  \
    "{'apiVersion':'apps/v1','kind':'Deployment','namespace':'test','name':'web','uid':'u'}"
#define EVENT(reason, rest)                                                                        \
    "{'apiVersion':'v1','kind':'Event','metadata':{'name':'e','namespace':'test',"                 \
    "'creationTimestamp':'2026-01-31T12:00:00Z'},'reason':'" reason "'" rest "}"
#define LAST(second) ",'lastTimestamp':'2026-01-31T12:00:" second "Z'"

static struct event_case {
    const char *name;
    const char *json;
    const char *text; /* "apiVersion kind ns/name seconds after noon"; NULL if not decoded. */
} cases[] = {
    {"core/v1",
     EVENT("ApplyPolicyFailed",
           LAST("07") ",'involvedObject':" REFERENCE
                      ",'message':'Apply policy(test/p) failed: already exists'"),
     "apps/v1 Deployment test/web 7"},
    {"events.k8s.io/v1",
     EVENT("ApplyPolicyFailed", ",'series':{'lastObservedTime':'2026-01-31T12:00:09.000000Z'},"
                                "'regarding':" REFERENCE ",'note':'Apply policy failed'"),
     "apps/v1 Deployment test/web 9"},
    {"a cluster-scoped template",
     EVENT("ApplyPolicyFailed",
           LAST("01") ",'involvedObject':{'apiVersion':'v1','kind':'Node','name':'n'}"),
     "v1 Node /n 1"},
    {"no message", EVENT("ApplyPolicyFailed", LAST("01") ",'involvedObject':" REFERENCE),
     "apps/v1 Deployment test/web 1"},
    {"the creation for the time", EVENT("ApplyPolicyFailed", ",'involvedObject':" REFERENCE),
     "apps/v1 Deployment test/web 0"},
    {"no object", EVENT("ApplyPolicyFailed", LAST("01")), "  / 1"},
    {"a policy was applied", EVENT("ApplyPolicySucceed", LAST("01") ",'involvedObject':" REFERENCE),
     NULL},
    {"a reason in lower case",
     EVENT("applypolicyfailed", LAST("01") ",'involvedObject':" REFERENCE), NULL},
    {"a name that is too long",
     EVENT("ApplyPolicyFailed", LAST("01") ",'involvedObject':{'apiVersion':'v1','kind':'Node',"
                                           "'name':'" NAME_OF_320 "'}"),
     NULL},
};

static void write_refusal(const struct event *e, struct strbuf *out)
{
    const int64_t noon_ms = INT64_C(1769860800000);

    strbuf_addf(out, "%s %s %s/%s %d", e->refusal->api_version, e->kind, e->ns, e->name,
                (int)((e->refusal->time_ms - noon_ms) / 1000));
}

TEST_ROWS(refusals_are_decoded, cases, name)
{
    const struct event_case *c = *state;
    const struct event nothing = {0};
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of(c->json);
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1024);

    reading_init(&r);

    struct event *e = event_decode(&r.decode, json);

    assert_non_null(e);
    assert_false(e->is_conflict || e->override);
    if (e->refusal)
        write_refusal(e, &text);
    else
        assert_memory_equal(e, &nothing, sizeof(nothing));
    assert_string_equal(text.data, c->text ? c->text : "");
    event_release(r.strings, e);
}

TEST(the_uid_of_the_object_is_kept_as_a_hash)
{
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup)
    cJSON *json = json_of(EVENT("ApplyPolicyFailed", ",'involvedObject':" REFERENCE));

    reading_init(&r);

    struct event *e = event_decode(&r.decode, json);

    assert_int_equal(e->refusal->uid_hash, uid_hash("u"));
    event_release(r.strings, e);
}

static struct invalid_case {
    const char *name;
    const char *json;
} invalid[] = {
    {"a time of another form",
     EVENT("ApplyPolicyFailed", ",'lastTimestamp':'noon','involvedObject':" REFERENCE)},
    {"an object that is a text", EVENT("ApplyPolicyFailed", ",'involvedObject':'web'")},
    {"a name that is a number",
     EVENT("ApplyPolicyFailed", ",'involvedObject':{'kind':'Node','name':7}")},
};

TEST_ROWS(invalid_refusals_are_rejected, invalid, name)
{
    const struct invalid_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of(c->json);

    reading_init(&r);
    assert_null(event_decode(&r.decode, json));
    assert_true(*r.err.text != '\0');
}
