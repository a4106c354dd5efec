/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/event.h"

#include "tests/unit/reading.h"
#include "tests/unit/suite.h"

#define TEMPLATE_REFERENCE                                                                         \
    "{'apiVersion':'apps/v1','kind':'Deployment','namespace':'test','name':'web','uid':'u'}"
#define EVENT(reason, rest)                                                                        \
    "{'apiVersion':'v1','kind':'Event','metadata':{'name':'e','namespace':'test',"                 \
    "'creationTimestamp':'2026-01-31T12:00:00Z'},'reason':'" reason "'" rest "}"
#define CORE(reason, message)                                                                      \
    EVENT(reason, ",'involvedObject':" TEMPLATE_REFERENCE ",'message':'" message "'")
#define FAILED    "ApplyOverridePolicyFailed"
#define SUCCEEDED "ApplyOverridePolicySucceed"

static struct event_case {
    const char *name;
    const char *json;
    const char *text; /* "kind ns/name outcome policy for cluster: message"; NULL if not decoded. */
} cases[] = {
    {"an OverridePolicy failed",
     CORE(FAILED, "Apply override policy(test/o) for cluster(member1) failed."),
     "Deployment test/web failed test/o for member1: "
     "Apply override policy(test/o) for cluster(member1) failed."},
    {"a ClusterOverridePolicy failed",
     CORE(FAILED, "Apply cluster override policy(wide) for cluster(m.1-x) failed."),
     "Deployment test/web failed /wide for m.1-x: "
     "Apply cluster override policy(wide) for cluster(m.1-x) failed."},
    {"a combined event",
     CORE(FAILED, "(combined from similar events): Apply override policy(test/o) for "
                  "cluster(member1) failed."),
     "Deployment test/web failed test/o for member1: (combined from similar events): "
     "Apply override policy(test/o) for cluster(member1) failed."},
    {"a policy was applied: the message is not kept",
     CORE(SUCCEEDED, "Apply override policy(test/o) for cluster(member1) succeed."),
     "Deployment test/web applied test/o for member1"},
    {"all Works were written",
     CORE("SyncWorkSucceed", "Sync work of ResourceBinding(test/web-deployment) successful."),
     "Deployment test/web written"},
    {"events.k8s.io/v1",
     EVENT(FAILED, ",'regarding':" TEMPLATE_REFERENCE
                   ",'note':'Apply override policy(test/o) for cluster(m) "
                   "failed.'"),
     "Deployment test/web failed test/o for m: Apply override policy(test/o) for cluster(m) "
     "failed."},
    {"a cluster-scoped template",
     EVENT(FAILED, ",'involvedObject':{'apiVersion':'v1','kind':'Node','name':'n'},"
                   "'message':'Apply cluster override policy(o) for cluster(m) failed.'"),
     "Node /n failed /o for m: Apply cluster override policy(o) for cluster(m) failed."},

    {"another reason", CORE("SyncWorkFailed", "doc is missing path: /spec/x"), NULL},
    {"no message", EVENT(FAILED, ",'involvedObject':" TEMPLATE_REFERENCE), NULL},
    {"a message without a policy", CORE(FAILED, "Apply for cluster(m) failed."), NULL},
    {"a message without a cluster", CORE(FAILED, "Apply override policy(test/o) failed."), NULL},
    {"a cluster before the policy", CORE(FAILED, "for cluster(m) override policy(test/o)"), NULL},
    {"a truncated message", CORE(FAILED, "Apply override policy(test/o) for cluster(m"), NULL},
    {"an empty policy name", CORE(FAILED, "Apply override policy() for cluster(m) failed."), NULL},
    {"an empty policy name after a namespace",
     CORE(FAILED, "Apply override policy(test/) for cluster(m) failed."), NULL},
    {"an empty cluster name", CORE(FAILED, "Apply override policy(test/o) for cluster() failed."),
     NULL},
};

static void write_event(const struct event *e, struct strbuf *out)
{
    static const char *const outcomes[] = {"failed", "applied", "written"};
    const struct override_event *o = e->override;

    strbuf_addf(out, "%s %s/%s %s", e->kind, e->ns, e->name, outcomes[o->outcome]);
    if (o->outcome != WORKS_WRITTEN)
        strbuf_addf(out, " %s/%s for %s", o->policy_ns, o->policy, o->cluster);
    if (*o->message)
        strbuf_addf(out, ": %s", o->message);
}

static struct event *event_of(struct reading *r, const cJSON *json)
{
    struct event *e = event_decode(&r->decode, json);

    if (!e)
        fail_msg("%s", r->err.text);
    return e;
}

TEST_ROWS(override_event_is_decoded, cases, name)
{
    const struct event_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of(c->json);
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(1024);

    reading_init(&r);

    struct event *e = event_of(&r, json);
    const struct event nothing = {0};

    assert_false(e->is_conflict);
    if (e->override)
        write_event(e, &text);
    else
        assert_memory_equal(e, &nothing, sizeof(nothing));
    assert_string_equal(text.data, c->text ? c->text : "");
    event_release(r.strings, e);
}

static struct time_case {
    const char *name;
    const char *times;
    int64_t time_ms; /* Milliseconds since noon. */
} times[] = {
    {"the last time",
     ",'firstTimestamp':'2026-01-31T12:00:01Z','lastTimestamp':'2026-01-31T12:00:02Z'", 2000},
    {"the last time of a series",
     ",'eventTime':'2026-01-31T12:00:01.500000Z','series':{'lastObservedTime':"
     "'2026-01-31T12:00:03.25Z'},'lastTimestamp':null",
     3250},
    {"the time of an event without a series", ",'eventTime':'2026-01-31T12:00:01.500000Z'", 1500},
    {"the deprecated last time",
     ",'deprecatedFirstTimestamp':'2026-01-31T12:00:01Z','deprecatedLastTimestamp':"
     "'2026-01-31T12:00:04Z'",
     4000},
    {"the creation time if no other time is set", "", 0},
};

TEST_ROWS(time_of_the_event_is_decoded, times, name)
{
    static const int64_t noon_ms = INT64_C(1769860800000);
    const struct time_case *c = *state;
    CLEANUP(reading_release) struct reading r;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(2048);

    strbuf_addf(&text, EVENT("SyncWorkSucceed", ",'involvedObject':" TEMPLATE_REFERENCE "%s"),
                c->times);

    CLEANUP(json_cleanup) cJSON *json = json_of(text.data);

    reading_init(&r);

    struct event *e = event_of(&r, json);

    assert_int_equal(e->override->time_ms - noon_ms, c->time_ms);
    event_release(r.strings, e);
}

/* Names of objects have at most OBJECT_NAME_MAX bytes. */
TEST(event_with_an_overlong_name_is_ignored)
{
    static const char *const paths[] = {"involvedObject.apiVersion", "involvedObject.kind",
                                        "involvedObject.namespace", "involvedObject.name",
                                        "message"};
    char name[300], message[400];

    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    snprintf(message, sizeof(message), "Apply override policy(%s) for cluster(m) failed.", name);
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        CLEANUP(json_cleanup)
        cJSON *json = json_of(CORE(FAILED, "Apply override policy(t/o) for cluster(m) failed."));
        struct reading r;

        json_put(json, paths[i], cJSON_CreateString(i < 4 ? name : message));
        reading_init(&r);

        struct event *e = event_of(&r, json);

        assert_null(e->override);
        event_release(r.strings, e);
        reading_release(&r);
    }
}

TEST(long_message_is_cut)
{
    CLEANUP(reading_release) struct reading r;
    CLEANUP(json_cleanup) cJSON *json = json_of(CORE(FAILED, ""));
    char message[4 * OVERRIDE_MESSAGE_MAX];
    size_t len = (size_t)snprintf(message, sizeof(message),
                                  "Apply override policy(t/o) for cluster(m) failed. ");

    memset(message + len, 'x', sizeof(message) - len - 1);
    message[sizeof(message) - 1] = '\0';
    json_put(json, "message", cJSON_CreateString(message));
    reading_init(&r);

    struct event *e = event_of(&r, json);

    assert_int_equal(strlen(e->override->message), OVERRIDE_MESSAGE_MAX);
    event_release(r.strings, e);
}
