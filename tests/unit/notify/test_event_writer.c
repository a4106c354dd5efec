/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/notify/event_writer.h"

#include "metrics/rules/rule.h"
#include "tests/unit/manual.h"
#include "tests/unit/reading.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum {
    CLOCK_MS = 1000,
    SECOND_MS = 1000,
    HOUR_MS = 3600 * SECOND_MS,
    MANY = 10000,
};

#define SAYS                  "Dependency policy conflict detected: "
#define RESOLUTION            "ConflictResolution conflicted (Overwrite vs Abort)"
#define PRESERVE              "PreserveResourcesOnDeletion conflicted (true vs false)"
#define BINDINGS              "/apis/work.karmada.io/v1alpha2/namespaces/test/resourcebindings/"
#define EVENTS                "/api/v1/namespaces/test/events"
#define STATUS(code, message) "{\"kind\":\"Status\",\"code\":" #code ",\"message\":\"" message "\"}"

struct lab {
    struct world world;
    struct transfer transfer;
    struct event_writer event_writer;
    struct event_writer_input how;
    int64_t now_ms;
};

static void put(struct lab *lab, const char *text)
{
    CLEANUP(json_cleanup) cJSON *json = json_of(text);

    world_put(&lab->world, json);
    world_run(&lab->world, CLOCK_MS);
}

/* A binding of a Deployment that wants these values of what it needs. */
static void put_referrer(struct lab *lab, const char *name, const char *resolution, bool preserve)
{
    char text[1024];

    snprintf(text, sizeof(text),
             "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata':{"
             "'namespace':'test','name':'%s'},'spec':{'placement':{},'conflictResolution':'%s',"
             "'preserveResourcesOnDeletion':%s,'resource':{'apiVersion':'apps/v1','kind':"
             "'Deployment','namespace':'test','name':'%s'}}}",
             name, resolution, preserve ? "true" : "false", name);
    put(lab, text);
}

/* The binding of a ConfigMap that two of them need. */
static void put_attached(struct lab *lab, const char *name, const char *one, const char *other)
{
    char text[1024];

    snprintf(text, sizeof(text),
             "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata':{"
             "'namespace':'test','name':'%s','uid':'uid-of-%s','generation':1,"
             "'creationTimestamp':'2026-01-01T00:00:10Z'},'spec':{'requiredBy':[{"
             "'namespace':'test','name':'%s'},{'namespace':'test','name':'%s'}],'resource':{"
             "'apiVersion':'v1','kind':'ConfigMap','namespace':'test','name':'%s'}}}",
             name, name, one, other, name);
    put(lab, text);
}

static void begin(struct lab *lab)
{
    put_attached(lab, "c", "overwrites", "aborts");
}

static void end(struct lab *lab)
{
    put_attached(lab, "c", "aborts", "aborts");
}

static void put_event(struct lab *lab, const char *name, const char *component, const char *message)
{
    char text[1024];

    snprintf(text, sizeof(text),
             "{'apiVersion':'v1','kind':'Event','metadata':{'namespace':'test','name':'%s'},"
             "'reason':'DependencyPolicyConflict','involvedObject':{'kind':'ResourceBinding',"
             "'namespace':'test','name':'c','uid':'uid-of-c'},'source':{'component':'%s'},"
             "'message':'%s'}",
             name, component, message);
    put(lab, text);
}

static int lab_open(void **state)
{
    struct lab *lab = xcalloc(1, sizeof(*lab));

    lab->now_ms = HOUR_MS;
    world_init(&lab->world, &rules_options_default, 1);
    event_writer_init(&lab->event_writer, "pod-1", 1);
    engine_observe(lab->world.engine,
                   (struct engine_observer){.decided = conflict_tracker_decided,
                                            .context = &lab->event_writer.conflicts});
    lab->how = (struct event_writer_input){
        .engine = lab->world.engine, .transport = manual_transport(&lab->transfer), .leads = true};
    put_referrer(lab, "overwrites", "Overwrite", false);
    put_referrer(lab, "aborts", "Abort", false);
    put_referrer(lab, "preserves", "Overwrite", true);
    event_writer_turn(&lab->event_writer, &lab->how, lab->now_ms, 0);
    *state = lab;
    return 0;
}

static int lab_close(void **state)
{
    struct lab *lab = *state;

    event_writer_release(&lab->event_writer);
    world_release(&lab->world);
    free(lab);
    return 0;
}

static void turn(struct lab *lab)
{
    event_writer_turn(&lab->event_writer, &lab->how, lab->now_ms, lab->now_ms);
}

/* Wait until something is asked for, at most so long; false if nothing is. */
static bool asks_within(struct lab *lab, int64_t within_ms)
{
    unsigned before = lab->transfer.requests;
    int64_t until_ms = lab->now_ms + within_ms;

    for (turn(lab); lab->transfer.requests == before; turn(lab)) {
        int64_t due_ms = event_writer_due(&lab->event_writer);

        assert_true(due_ms > lab->now_ms);
        if (due_ms > until_ms) {
            lab->now_ms = until_ms;
            turn(lab);
            return lab->transfer.requests != before;
        }
        lab->now_ms = due_ms;
    }
    return true;
}

static void answer_after(struct lab *lab, unsigned http_status, const char *body,
                         int64_t retry_after_ms)
{
    manual_answer(&lab->transfer, http_status, body, retry_after_ms);
}

static void answer(struct lab *lab, unsigned http_status, const char *body)
{
    answer_after(lab, http_status, body, 0);
}

/* The binding is read; the answer is what the server has, of the name that was asked for. */
static void expect_binding(struct lab *lab, int64_t within_ms)
{
    char body[512];
    const char *name = lab->transfer.path + strlen(BINDINGS);

    assert_true(asks_within(lab, within_ms));
    assert_int_equal(lab->transfer.method, TRANSPORT_READ);
    assert_int_equal(strncmp(lab->transfer.path, BINDINGS, strlen(BINDINGS)), 0);
    snprintf(body, sizeof(body),
             "{\"kind\":\"PartialObjectMetadata\",\"metadata\":{\"name\":\"%s\",\"namespace\":"
             "\"test\",\"uid\":\"uid-of-%s\",\"resourceVersion\":\"77\"}}",
             name, name);
    answer(lab, 200, body);
}

static void expect_creation(struct lab *lab, const char *message)
{
    expect_binding(lab, SECOND_MS);
    assert_true(asks_within(lab, 0));
    assert_int_equal(lab->transfer.method, TRANSPORT_CREATE);
    assert_string_equal(lab->transfer.path, EVENTS "?fieldManager=karmada-policy-exporter");

    CLEANUP(json_cleanup) cJSON *sent = cJSON_Parse(lab->transfer.body);

    assert_text(json_str(sent, "message", NULL), message);
}

static void answer_created(struct lab *lab)
{
    answer(lab, 201, lab->transfer.body);
    turn(lab);
}

static void expect_nothing(struct lab *lab, int64_t for_ms)
{
    if (asks_within(lab, for_ms))
        fail_msg("asks for %s", lab->transfer.path);
}

static void expect_results(const struct lab *lab, const char *wanted)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(256);

    for (unsigned i = 0; i < EVENT_RESULT_COUNT; i++) {
        if (lab->event_writer.results[i] > 0)
            strbuf_addf(&text, "%s%s %" PRIu64, text.len ? ", " : "", event_writer_result_names[i],
                        lab->event_writer.results[i]);
    }
    assert_string_equal(text.data, wanted);
}

TEST_WITH(an_event_is_as_karmada_would_write_it, lab_open, lab_close)
{
    struct lab *lab = *state;

    put_attached(lab, "c", "preserves", "aborts");
    expect_creation(lab, SAYS RESOLUTION "; " PRESERVE ".");
    assert_string_equal(
        lab->transfer.body,
        "{\"metadata\":{\"name\":\"c.32ff4c0108025110\",\"namespace\":\"test\"},\"involvedObject\":"
        "{"
        "\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\",\"namespace\":"
        "\"test\",\"name\":\"c\",\"uid\":\"uid-of-c\",\"resourceVersion\":\"77\"},\"source\":{"
        "\"component\":\"karmada-policy-exporter\"},\"apiVersion\":\"v1\",\"kind\":\"Event\","
        "\"type\":\"Warning\",\"reason\":\"DependencyPolicyConflict\",\"message\":\"" SAYS
            RESOLUTION "; " PRESERVE ".\",\"reportingComponent\":\"karmada-policy-exporter\","
        "\"reportingInstance\":\"pod-1\",\"firstTimestamp\":\"1970-01-01T01:00:00Z\","
        "\"lastTimestamp\":\"1970-01-01T01:00:00Z\",\"count\":1}");
    answer_created(lab);
    expect_results(lab, "created 1");
    /* Its own Event has not come by the watch yet. */
    expect_nothing(lab, HOUR_MS - 10 * SECOND_MS);
}

TEST_WITH(who_does_not_lead_writes_nothing, lab_open, lab_close)
{
    struct lab *lab = *state;

    lab->how.leads = false;
    begin(lab);
    expect_nothing(lab, HOUR_MS);
    lab->how.leads = true;
    turn(lab);
    assert_int_equal(lab->transfer.requests, 1);
    /* It leads no longer: what is under way is given up at once. */
    lab->how.leads = false;
    turn(lab);
    assert_null(lab->transfer.handler.done);
    lab->how.leads = true;
    expect_creation(lab, SAYS RESOLUTION ".");
}

TEST_WITH(what_has_been_said_is_not_said_again, lab_open, lab_close)
{
    struct lab *lab = *state;

    lab->how.leads = false;
    turn(lab);
    put_event(lab, "ours", EVENT_COMPONENT, SAYS RESOLUTION ".");
    begin(lab);
    turn(lab);
    lab->how.leads = true;
    expect_nothing(lab, 3 * HOUR_MS);
    /* Then the conflict is about another field, too: that has not been said. */
    put_attached(lab, "c", "preserves", "aborts");
    expect_creation(lab, SAYS RESOLUTION "; " PRESERVE ".");
}

TEST_WITH(another_one_was_faster, lab_open, lab_close)
{
    struct lab *lab = *state;

    begin(lab);
    expect_creation(lab, SAYS RESOLUTION ".");
    answer(lab, 409, STATUS(409, "already exists"));
    turn(lab);
    expect_results(lab, "exists 1");
    expect_nothing(lab, HOUR_MS - 10 * SECOND_MS);
}

TEST_WITH(what_the_server_forgets_is_written_once_an_hour, lab_open, lab_close)
{
    struct lab *lab = *state;

    begin(lab);
    expect_creation(lab, SAYS RESOLUTION ".");
    answer_created(lab);
    put_event(lab, "ours", EVENT_COMPONENT, SAYS RESOLUTION ".");
    expect_nothing(lab, HOUR_MS / 2);
    store_remove(lab->world.store, world_find(&lab->world, "v1", "Event", "test", "ours"));
    world_run(&lab->world, CLOCK_MS);
    expect_nothing(lab, HOUR_MS / 2 - 10 * SECOND_MS);
    expect_binding(lab, 20 * SECOND_MS);
}

/* A conflict that ends and begins again, while its Event is there. */
static void begin_again(struct lab *lab)
{
    end(lab);
    turn(lab);
    lab->now_ms += 10 * SECOND_MS;
    turn(lab);
    begin(lab);
}

static void expect_count(struct lab *lab)
{
    assert_true(asks_within(lab, SECOND_MS));
    assert_string_equal(lab->transfer.path, EVENTS "/ours");
    answer(
        lab, 200,
        "{\"metadata\":{\"name\":\"ours\",\"uid\":\"e\",\"resourceVersion\":\"9\"},\"count\":4}");
    assert_true(asks_within(lab, 0));
    assert_int_equal(lab->transfer.method, TRANSPORT_MERGE);
}

TEST_WITH(what_begins_again_counts_one_more, lab_open, lab_close)
{
    struct lab *lab = *state;

    put_event(lab, "ours", EVENT_COMPONENT, SAYS RESOLUTION ".");
    begin(lab);
    expect_count(lab);
    assert_string_equal(lab->transfer.body,
                        "{\"metadata\":{\"uid\":\"e\",\"resourceVersion\":\"9\"},"
                        "\"lastTimestamp\":\"1970-01-01T01:00:00Z\","
                        "\"count\":5}");
    answer(lab, 200, "{\"metadata\":{\"name\":\"ours\"},\"count\":5}");
    expect_nothing(lab, HOUR_MS);
    expect_results(lab, "updated 1");
    begin_again(lab);
    expect_count(lab);
    /* Somebody else changed it: it is read again. */
    answer(lab, 409, STATUS(409, "modified"));
    lab->now_ms += SECOND_MS;
    expect_count(lab);
    answer(lab, 200, "{\"metadata\":{\"name\":\"ours\"},\"count\":6}");
    turn(lab);
    expect_results(lab, "updated 2");
}

/* Its first second is that of the binding; the Event was written then, by whoever led before. */
TEST_WITH(what_another_one_has_counted_is_not_counted_again, lab_open, lab_close)
{
    static const char *const times[] = {"2026-01-01T00:00:09Z", "2026-01-01T00:00:10Z"};
    struct lab *lab = *state;
    char body[256];

    put_event(lab, "ours", EVENT_COMPONENT, SAYS RESOLUTION ".");
    for (size_t i = 0; i < ARRAY_LEN(times); i++) {
        begin_again(lab);
        assert_true(asks_within(lab, SECOND_MS));
        snprintf(body, sizeof(body),
                 "{\"metadata\":{\"name\":\"ours\",\"managedFields\":[{\"time\":\"%s\"}]}}",
                 times[i]);
        answer(lab, 200, body);
        assert_int_equal(asks_within(lab, 0), i == 0);
        if (i == 0)
            answer(lab, 200, "{\"metadata\":{\"name\":\"ours\"}}");
        turn(lab);
    }
    expect_results(lab, "updated 1, exists 1");
    expect_nothing(lab, HOUR_MS);
}

TEST_WITH(a_flapping_conflict_is_damped_and_counted, lab_open, lab_close)
{
    struct lab *lab = *state;
    int written = 0;

    put_event(lab, "ours", EVENT_COMPONENT, SAYS RESOLUTION ".");
    for (int i = 0; i < 100; i++) {
        begin_again(lab);
        if (!asks_within(lab, SECOND_MS))
            continue;
        answer(lab, 200, "{\"metadata\":{\"name\":\"ours\"},\"count\":1}");
        assert_true(asks_within(lab, 0));
        answer(lab, 200, "{\"metadata\":{\"name\":\"ours\"},\"count\":2}");
        turn(lab);
        written++;
    }
    /* 25, and three more in a thousand seconds. */
    assert_in_range(written, 25, 29);
    assert_int_equal(lab->event_writer.results[EVENT_RESULT_UPDATED], written);
    assert_int_equal(lab->event_writer.results[EVENT_RESULT_DROPPED], 100 - written);
    /* What was dropped is not made up for later, nor counted again. */
    lab->now_ms += HOUR_MS;
    put_event(lab, "another", "another", "Else.");
    expect_nothing(lab, HOUR_MS);
    assert_int_equal(lab->event_writer.results[EVENT_RESULT_DROPPED], 100 - written);
}

TEST_WITH(what_karmada_says_is_not_said, lab_open, lab_close)
{
    struct lab *lab = *state;

    lab->how.patience_ms = 60 * SECOND_MS;
    begin(lab);
    expect_nothing(lab, 30 * SECOND_MS);
    put_event(lab, "theirs", "dependencies-distributor", SAYS RESOLUTION ".");
    expect_nothing(lab, HOUR_MS);
    /* Nor once the server has forgotten it. */
    store_remove(lab->world.store, world_find(&lab->world, "v1", "Event", "test", "theirs"));
    world_run(&lab->world, CLOCK_MS);
    expect_nothing(lab, 3 * HOUR_MS);
    put_attached(lab, "d", "overwrites", "preserves");
    expect_nothing(lab, 59 * SECOND_MS);
    expect_creation(lab, SAYS PRESERVE ".");
}

/* Of the next conflict it has said nothing. */
TEST_WITH(what_karmada_said_of_one_conflict_is_not_said_of_the_next, lab_open, lab_close)
{
    struct lab *lab = *state;

    put_event(lab, "theirs", "dependencies-distributor", SAYS RESOLUTION ".");
    put_attached(lab, "c", "preserves", "aborts");
    expect_creation(lab, SAYS PRESERVE ".");
    answer_created(lab);
    store_remove(lab->world.store, world_find(&lab->world, "v1", "Event", "test", "theirs"));
    world_run(&lab->world, CLOCK_MS);
    expect_nothing(lab, 10 * SECOND_MS);
    begin_again(lab);
    expect_creation(lab, SAYS RESOLUTION ".");
}

TEST_WITH(a_conflict_that_is_over_is_not_written, lab_open, lab_close)
{
    struct lab *lab = *state;

    begin(lab);
    assert_true(asks_within(lab, SECOND_MS));
    end(lab);
    answer(lab, 200, "{\"metadata\":{\"name\":\"c\",\"uid\":\"uid-of-c\"}}");
    expect_nothing(lab, HOUR_MS);
    begin(lab);
    store_remove(lab->world.store, world_find(&lab->world, "work.karmada.io/v1alpha2",
                                              "ResourceBinding", "test", "c"));
    world_run(&lab->world, CLOCK_MS);
    expect_nothing(lab, HOUR_MS);
    expect_results(lab, "");
}

TEST_WITH(another_binding_of_that_name_is_waited_for, lab_open, lab_close)
{
    struct lab *lab = *state;

    begin(lab);
    assert_true(asks_within(lab, SECOND_MS));
    answer(lab, 200, "{\"metadata\":{\"name\":\"c\",\"uid\":\"another\"}}");
    turn(lab);
    assert_int_equal(lab->transfer.requests, 1);
    expect_binding(lab, 2 * SECOND_MS);
}

TEST_WITH(a_busy_server_is_left_alone_for_as_long_as_it_asks, lab_open, lab_close)
{
    struct lab *lab = *state;

    begin(lab);
    expect_creation(lab, SAYS RESOLUTION ".");
    answer_after(lab, 429, STATUS(429, "later"), 7 * SECOND_MS);
    turn(lab);
    expect_nothing(lab, 7 * SECOND_MS - 1);
    expect_creation(lab, SAYS RESOLUTION ".");
    answer_created(lab);
    expect_results(lab, "created 1, failed 1");
    assert_int_equal(lab->event_writer.failures, 0);
}

TEST_WITH(what_is_forbidden_is_told_and_tried_ever_more_slowly, lab_open, lab_close)
{
    struct lab *lab = *state;
    int64_t begun_ms = lab->now_ms;
    unsigned tries = 0;

    begin(lab);
    put_attached(lab, "d", "overwrites", "aborts");
    while (lab->now_ms < begun_ms + 2 * HOUR_MS) {
        if (!asks_within(lab, HOUR_MS))
            continue;
        answer(lab, 200,
               lab->transfer.path[strlen(BINDINGS)] == 'c'
                   ? "{\"metadata\":{\"name\":\"c\",\"uid\":\"uid-of-c\"}}"
                   : "{\"metadata\":{\"name\":\"d\",\"uid\":\"uid-of-d\"}}");
        assert_true(asks_within(lab, 0));
        answer(lab, 403, STATUS(403, "cannot create"));
        turn(lab);
        assert_text(lab->event_writer.forbidden_verb, "create");
        assert_text(lab->event_writer.forbidden_resource, "events");
        tries++;
    }
    assert_in_range(tries, 20, 110);
    assert_true(asks_within(lab, HOUR_MS));
    answer(lab, 200, "{\"metadata\":{\"name\":\"c\",\"uid\":\"uid-of-c\"}}");
    if (asks_within(lab, 0))
        answer_created(lab);
}

TEST_WITH(a_server_that_never_answers_is_given_up, lab_open, lab_close)
{
    struct lab *lab = *state;

    begin(lab);
    assert_true(asks_within(lab, SECOND_MS));
    expect_binding(lab, 60 * SECOND_MS);
    expect_results(lab, "failed 1");
}

/* A reload brings another store with the same objects. */
TEST_WITH(what_has_been_said_outlives_the_store, lab_open, lab_close)
{
    struct lab *lab = *state;
    struct world old;

    begin(lab);
    put_attached(lab, "d", "overwrites", "aborts");
    expect_creation(lab, SAYS RESOLUTION ".");
    answer_created(lab);
    expect_creation(lab, SAYS RESOLUTION ".");
    answer_created(lab);
    event_writer_suspend(&lab->event_writer);
    old = lab->world;
    world_init(&lab->world, &rules_options_default, 2);
    world_release(&old);
    put_referrer(lab, "overwrites", "Overwrite", false);
    put_referrer(lab, "aborts", "Abort", false);
    begin(lab);
    conflict_tracker_adopt_store(&lab->event_writer.conflicts, lab->world.store);
    lab->how.engine = lab->world.engine;
    expect_nothing(lab, HOUR_MS / 2);
    assert_int_equal(lab->event_writer.conflicts.ended, 1);
}

TEST_WITH(those_that_are_over_make_nobody_forget_another, lab_open, lab_close)
{
    enum { SOME = 60 };
    struct lab *lab = *state;
    char name[32];

    lab->how.leads = false;
    turn(lab);
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < SOME; i++) {
            snprintf(name, sizeof(name), "some-%u", i);
            put_attached(lab, name, round && i % 3 ? "aborts" : "overwrites", "aborts");
        }
    }
    lab->how.leads = true;
    for (unsigned i = 0; i < SOME / 3; i++) {
        expect_creation(lab, SAYS RESOLUTION ".");
        answer_created(lab);
    }
    expect_nothing(lab, SECOND_MS);
    assert_int_equal(lab->event_writer.conflicts.count, SOME / 3);
}

TEST_WITH(ten_thousand_at_once_are_written_at_a_pace, lab_open, lab_close)
{
    struct lab *lab = *state;
    int64_t begun_ms;
    char name[32];

    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "many-%u", i);
        put_attached(lab, name, "overwrites", "aborts");
    }
    begun_ms = lab->now_ms;
    for (unsigned i = 0; i < MANY; i++) {
        expect_creation(lab, SAYS RESOLUTION ".");
        answer_created(lab);
        assert_true(lab->now_ms - begun_ms >= (int64_t)i * 200);
    }
    assert_in_range(lab->now_ms - begun_ms, 0, MANY * 210);
    expect_results(lab, "created 10000");
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "many-%u", i);
        put_attached(lab, name, "aborts", "aborts");
    }
    /* No more is kept of those that are over than client-go keeps, and nothing in the end. */
    expect_nothing(lab, 100 * SECOND_MS);
    assert_true(lab->event_writer.conflicts.count <= 4096 + 1);
}
