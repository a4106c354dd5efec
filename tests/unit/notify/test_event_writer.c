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

#define MESSAGE               "Dependency policy conflict detected: "
#define RESOLUTION            "ConflictResolution conflicted (Overwrite vs Abort)"
#define PRESERVE              "PreserveResourcesOnDeletion conflicted (true vs false)"
#define BINDINGS              "/apis/work.karmada.io/v1alpha2/namespaces/test/resourcebindings/"
#define EVENTS                "/api/v1/namespaces/test/events"
#define STATUS(code, message) "{\"kind\":\"Status\",\"code\":" #code ",\"message\":\"" message "\"}"

struct lab {
    struct world world;
    struct transfer transfer;
    struct event_writer event_writer;
    struct event_writer_input input;
    int64_t now_ms;
};

static void put_object(struct lab *lab, const char *text)
{
    CLEANUP(json_cleanup) cJSON *json = json_of(text);

    world_put(&lab->world, json);
    world_run(&lab->world, CLOCK_MS);
}

/* Stores the binding of a Deployment that requests these values for its dependencies. */
static void put_referrer(struct lab *lab, const char *name, const char *resolution, bool preserve)
{
    char text[1024];

    snprintf(text, sizeof(text),
             "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata':{"
             "'namespace':'test','name':'%s'},'spec':{'placement':{},'conflictResolution':'%s',"
             "'preserveResourcesOnDeletion':%s,'resource':{'apiVersion':'apps/v1','kind':"
             "'Deployment','namespace':'test','name':'%s'}}}",
             name, resolution, preserve ? "true" : "false", name);
    put_object(lab, text);
}

/* Stores the binding of a ConfigMap that the Deployments `one` and `other` need. */
static void put_dependency(struct lab *lab, const char *name, const char *one, const char *other)
{
    char text[1024];

    snprintf(text, sizeof(text),
             "{'apiVersion':'work.karmada.io/v1alpha2','kind':'ResourceBinding','metadata':{"
             "'namespace':'test','name':'%s','uid':'uid-of-%s','generation':1,"
             "'creationTimestamp':'2026-01-01T00:00:10Z'},'spec':{'requiredBy':[{"
             "'namespace':'test','name':'%s'},{'namespace':'test','name':'%s'}],'resource':{"
             "'apiVersion':'v1','kind':'ConfigMap','namespace':'test','name':'%s'}}}",
             name, name, one, other, name);
    put_object(lab, text);
}

static void begin_conflict(struct lab *lab)
{
    put_dependency(lab, "c", "overwrites", "aborts");
}

static void end_conflict(struct lab *lab)
{
    put_dependency(lab, "c", "aborts", "aborts");
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
    put_object(lab, text);
}

static int lab_open(void **state)
{
    struct lab *lab = xcalloc(1, sizeof(*lab));

    lab->now_ms = HOUR_MS;
    world_init(&lab->world, &rules_options_default, 1);
    event_writer_init(&lab->event_writer, "pod-1", 1);
    engine_observe(lab->world.engine,
                   (struct engine_observer){.decided = conflict_tracker_update_entry,
                                            .context = &lab->event_writer.conflicts});
    lab->input = (struct event_writer_input){
        .engine = lab->world.engine, .transport = manual_transport(&lab->transfer), .leads = true};
    put_referrer(lab, "overwrites", "Overwrite", false);
    put_referrer(lab, "aborts", "Abort", false);
    put_referrer(lab, "preserves", "Overwrite", true);
    event_writer_turn(&lab->event_writer, &lab->input, lab->now_ms, 0);
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

static void turn_writer(struct lab *lab)
{
    event_writer_turn(&lab->event_writer, &lab->input, lab->now_ms, lab->now_ms);
}

/* Advances the time until a request is sent. Returns false after `within_ms` without a request. */
static bool sends_request_within(struct lab *lab, int64_t within_ms)
{
    unsigned before = lab->transfer.requests;
    int64_t until_ms = lab->now_ms + within_ms;

    for (turn_writer(lab); lab->transfer.requests == before; turn_writer(lab)) {
        int64_t due_ms = event_writer_due(&lab->event_writer);

        assert_true(due_ms > lab->now_ms);
        if (due_ms > until_ms) {
            lab->now_ms = until_ms;
            turn_writer(lab);
            return lab->transfer.requests != before;
        }
        lab->now_ms = due_ms;
    }
    return true;
}

static void respond_with_retry_after(struct lab *lab, unsigned http_status, const char *body,
                                     int64_t retry_after_ms)
{
    manual_answer(&lab->transfer, http_status, body, retry_after_ms);
}

static void respond(struct lab *lab, unsigned http_status, const char *body)
{
    respond_with_retry_after(lab, http_status, body, 0);
}

/* Expects a read of a binding, and responds with the metadata of that binding. */
static void expect_binding(struct lab *lab, int64_t within_ms)
{
    char body[512];
    const char *name = lab->transfer.path + strlen(BINDINGS);

    assert_true(sends_request_within(lab, within_ms));
    assert_int_equal(lab->transfer.method, TRANSPORT_READ);
    assert_int_equal(strncmp(lab->transfer.path, BINDINGS, strlen(BINDINGS)), 0);
    snprintf(body, sizeof(body),
             "{\"kind\":\"PartialObjectMetadata\",\"metadata\":{\"name\":\"%s\",\"namespace\":"
             "\"test\",\"uid\":\"uid-of-%s\",\"resourceVersion\":\"77\"}}",
             name, name);
    respond(lab, 200, body);
}

static void expect_creation(struct lab *lab, const char *message)
{
    expect_binding(lab, SECOND_MS);
    assert_true(sends_request_within(lab, 0));
    assert_int_equal(lab->transfer.method, TRANSPORT_CREATE);
    assert_string_equal(lab->transfer.path, EVENTS "?fieldManager=karmada-policy-exporter");

    CLEANUP(json_cleanup) cJSON *sent = cJSON_Parse(lab->transfer.body);

    assert_text(json_str(sent, "message", NULL), message);
}

static void answer_created(struct lab *lab)
{
    respond(lab, 201, lab->transfer.body);
    turn_writer(lab);
}

static void expect_no_request(struct lab *lab, int64_t for_ms)
{
    if (sends_request_within(lab, for_ms))
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

TEST_WITH(event_equals_the_event_of_karmada, lab_open, lab_close)
{
    struct lab *lab = *state;

    put_dependency(lab, "c", "preserves", "aborts");
    expect_creation(lab, MESSAGE RESOLUTION "; " PRESERVE ".");
    assert_string_equal(
        lab->transfer.body,
        "{\"metadata\":{\"name\":\"c.32ff4c0108025110\",\"namespace\":\"test\"},\"involvedObject\":"
        "{"
        "\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\",\"namespace\":"
        "\"test\",\"name\":\"c\",\"uid\":\"uid-of-c\",\"resourceVersion\":\"77\"},\"source\":{"
        "\"component\":\"karmada-policy-exporter\"},\"apiVersion\":\"v1\",\"kind\":\"Event\","
        "\"type\":\"Warning\",\"reason\":\"DependencyPolicyConflict\",\"message\":\"" MESSAGE
            RESOLUTION "; " PRESERVE ".\",\"reportingComponent\":\"karmada-policy-exporter\","
        "\"reportingInstance\":\"pod-1\",\"firstTimestamp\":\"1970-01-01T01:00:00Z\","
        "\"lastTimestamp\":\"1970-01-01T01:00:00Z\",\"count\":1}");
    answer_created(lab);
    expect_results(lab, "created 1");
    /* The watch has not delivered the Event yet. */
    expect_no_request(lab, HOUR_MS - 10 * SECOND_MS);
}

TEST_WITH(only_the_leader_writes_events, lab_open, lab_close)
{
    struct lab *lab = *state;

    lab->input.leads = false;
    begin_conflict(lab);
    expect_no_request(lab, HOUR_MS);
    lab->input.leads = true;
    turn_writer(lab);
    assert_int_equal(lab->transfer.requests, 1);
    /* The end of the leadership cancels the request under way. */
    lab->input.leads = false;
    turn_writer(lab);
    assert_null(lab->transfer.handler.done);
    lab->input.leads = true;
    expect_creation(lab, MESSAGE RESOLUTION ".");
}

TEST_WITH(existing_event_is_not_written_again, lab_open, lab_close)
{
    struct lab *lab = *state;

    lab->input.leads = false;
    turn_writer(lab);
    put_event(lab, "ours", EVENT_COMPONENT, MESSAGE RESOLUTION ".");
    begin_conflict(lab);
    turn_writer(lab);
    lab->input.leads = true;
    expect_no_request(lab, 3 * HOUR_MS);
    /* The existing Event does not have the second field. */
    put_dependency(lab, "c", "preserves", "aborts");
    expect_creation(lab, MESSAGE RESOLUTION "; " PRESERVE ".");
}

TEST_WITH(event_that_already_exists_is_not_written_again, lab_open, lab_close)
{
    struct lab *lab = *state;

    begin_conflict(lab);
    expect_creation(lab, MESSAGE RESOLUTION ".");
    respond(lab, 409, STATUS(409, "already exists"));
    turn_writer(lab);
    expect_results(lab, "exists 1");
    expect_no_request(lab, HOUR_MS - 10 * SECOND_MS);
}

TEST_WITH(deleted_event_is_written_again_after_an_hour, lab_open, lab_close)
{
    struct lab *lab = *state;

    begin_conflict(lab);
    expect_creation(lab, MESSAGE RESOLUTION ".");
    answer_created(lab);
    put_event(lab, "ours", EVENT_COMPONENT, MESSAGE RESOLUTION ".");
    expect_no_request(lab, HOUR_MS / 2);
    store_remove(lab->world.store, world_find(&lab->world, "v1", "Event", "test", "ours"));
    world_run(&lab->world, CLOCK_MS);
    expect_no_request(lab, HOUR_MS / 2 - 10 * SECOND_MS);
    expect_binding(lab, 20 * SECOND_MS);
}

static void end_and_begin_conflict(struct lab *lab)
{
    end_conflict(lab);
    turn_writer(lab);
    lab->now_ms += 10 * SECOND_MS;
    turn_writer(lab);
    begin_conflict(lab);
}

static void expect_increment(struct lab *lab)
{
    assert_true(sends_request_within(lab, SECOND_MS));
    assert_string_equal(lab->transfer.path, EVENTS "/ours");
    respond(
        lab, 200,
        "{\"metadata\":{\"name\":\"ours\",\"uid\":\"e\",\"resourceVersion\":\"9\"},\"count\":4}");
    assert_true(sends_request_within(lab, 0));
    assert_int_equal(lab->transfer.method, TRANSPORT_MERGE);
}

TEST_WITH(repeated_conflict_increments_the_count, lab_open, lab_close)
{
    struct lab *lab = *state;

    put_event(lab, "ours", EVENT_COMPONENT, MESSAGE RESOLUTION ".");
    begin_conflict(lab);
    expect_increment(lab);
    assert_string_equal(lab->transfer.body,
                        "{\"metadata\":{\"uid\":\"e\",\"resourceVersion\":\"9\"},"
                        "\"lastTimestamp\":\"1970-01-01T01:00:00Z\","
                        "\"count\":5}");
    respond(lab, 200, "{\"metadata\":{\"name\":\"ours\"},\"count\":5}");
    expect_no_request(lab, HOUR_MS);
    expect_results(lab, "updated 1");
    end_and_begin_conflict(lab);
    expect_increment(lab);
    /* Another client has changed the Event, so the writer reads it again. */
    respond(lab, 409, STATUS(409, "modified"));
    lab->now_ms += SECOND_MS;
    expect_increment(lab);
    respond(lab, 200, "{\"metadata\":{\"name\":\"ours\"},\"count\":6}");
    turn_writer(lab);
    expect_results(lab, "updated 2");
}

/* The conflict began with the binding at 00:00:10: a write in that second has counted it. */
TEST_WITH(increment_of_another_leader_is_not_repeated, lab_open, lab_close)
{
    static const char *const times[] = {"2026-01-01T00:00:09Z", "2026-01-01T00:00:10Z"};
    struct lab *lab = *state;
    char body[256];

    put_event(lab, "ours", EVENT_COMPONENT, MESSAGE RESOLUTION ".");
    for (size_t i = 0; i < ARRAY_LEN(times); i++) {
        end_and_begin_conflict(lab);
        assert_true(sends_request_within(lab, SECOND_MS));
        snprintf(body, sizeof(body),
                 "{\"metadata\":{\"name\":\"ours\",\"managedFields\":[{\"time\":\"%s\"}]}}",
                 times[i]);
        respond(lab, 200, body);
        assert_int_equal(sends_request_within(lab, 0), i == 0);
        if (i == 0)
            respond(lab, 200, "{\"metadata\":{\"name\":\"ours\"}}");
        turn_writer(lab);
    }
    expect_results(lab, "updated 1, exists 1");
    expect_no_request(lab, HOUR_MS);
}

TEST_WITH(flapping_conflict_is_limited_and_drops_are_counted, lab_open, lab_close)
{
    struct lab *lab = *state;
    int written = 0;

    put_event(lab, "ours", EVENT_COMPONENT, MESSAGE RESOLUTION ".");
    for (int i = 0; i < 100; i++) {
        end_and_begin_conflict(lab);
        if (!sends_request_within(lab, SECOND_MS))
            continue;
        respond(lab, 200, "{\"metadata\":{\"name\":\"ours\"},\"count\":1}");
        assert_true(sends_request_within(lab, 0));
        respond(lab, 200, "{\"metadata\":{\"name\":\"ours\"},\"count\":2}");
        turn_writer(lab);
        written++;
    }
    /* The burst of 25, and one per 300 s of a thousand seconds. */
    assert_in_range(written, 25, 29);
    assert_int_equal(lab->event_writer.results[EVENT_RESULT_UPDATED], written);
    assert_int_equal(lab->event_writer.results[EVENT_RESULT_DROPPED], 100 - written);
    /* A dropped increment is neither written later nor counted again. */
    lab->now_ms += HOUR_MS;
    put_event(lab, "another", "another", "Else.");
    expect_no_request(lab, HOUR_MS);
    assert_int_equal(lab->event_writer.results[EVENT_RESULT_DROPPED], 100 - written);
}

TEST_WITH(fields_that_karmada_reports_are_not_written, lab_open, lab_close)
{
    struct lab *lab = *state;

    lab->input.patience_ms = 60 * SECOND_MS;
    begin_conflict(lab);
    expect_no_request(lab, 30 * SECOND_MS);
    put_event(lab, "theirs", "dependencies-distributor", MESSAGE RESOLUTION ".");
    expect_no_request(lab, HOUR_MS);
    /* The fields stay reported after the API server has deleted the Event. */
    store_remove(lab->world.store, world_find(&lab->world, "v1", "Event", "test", "theirs"));
    world_run(&lab->world, CLOCK_MS);
    expect_no_request(lab, 3 * HOUR_MS);
    put_dependency(lab, "d", "overwrites", "preserves");
    expect_no_request(lab, 59 * SECOND_MS);
    expect_creation(lab, MESSAGE PRESERVE ".");
}

TEST_WITH(report_of_karmada_counts_for_one_conflict_only, lab_open, lab_close)
{
    struct lab *lab = *state;

    put_event(lab, "theirs", "dependencies-distributor", MESSAGE RESOLUTION ".");
    put_dependency(lab, "c", "preserves", "aborts");
    expect_creation(lab, MESSAGE PRESERVE ".");
    answer_created(lab);
    store_remove(lab->world.store, world_find(&lab->world, "v1", "Event", "test", "theirs"));
    world_run(&lab->world, CLOCK_MS);
    expect_no_request(lab, 10 * SECOND_MS);
    end_and_begin_conflict(lab);
    expect_creation(lab, MESSAGE RESOLUTION ".");
}

TEST_WITH(ended_conflict_is_not_written, lab_open, lab_close)
{
    struct lab *lab = *state;

    begin_conflict(lab);
    assert_true(sends_request_within(lab, SECOND_MS));
    end_conflict(lab);
    respond(lab, 200, "{\"metadata\":{\"name\":\"c\",\"uid\":\"uid-of-c\"}}");
    expect_no_request(lab, HOUR_MS);
    begin_conflict(lab);
    store_remove(lab->world.store, world_find(&lab->world, "work.karmada.io/v1alpha2",
                                              "ResourceBinding", "test", "c"));
    world_run(&lab->world, CLOCK_MS);
    expect_no_request(lab, HOUR_MS);
    expect_results(lab, "");
}

TEST_WITH(binding_with_another_uid_is_read_again, lab_open, lab_close)
{
    struct lab *lab = *state;

    begin_conflict(lab);
    assert_true(sends_request_within(lab, SECOND_MS));
    respond(lab, 200, "{\"metadata\":{\"name\":\"c\",\"uid\":\"another\"}}");
    turn_writer(lab);
    assert_int_equal(lab->transfer.requests, 1);
    expect_binding(lab, 2 * SECOND_MS);
}

TEST_WITH(retry_after_of_the_server_is_respected, lab_open, lab_close)
{
    struct lab *lab = *state;

    begin_conflict(lab);
    expect_creation(lab, MESSAGE RESOLUTION ".");
    respond_with_retry_after(lab, 429, STATUS(429, "later"), 7 * SECOND_MS);
    turn_writer(lab);
    expect_no_request(lab, 7 * SECOND_MS - 1);
    expect_creation(lab, MESSAGE RESOLUTION ".");
    answer_created(lab);
    expect_results(lab, "created 1, failed 1");
    assert_int_equal(lab->event_writer.failures, 0);
}

TEST_WITH(forbidden_write_is_reported_and_retried_with_backoff, lab_open, lab_close)
{
    struct lab *lab = *state;
    int64_t begun_ms = lab->now_ms;
    unsigned tries = 0;

    begin_conflict(lab);
    put_dependency(lab, "d", "overwrites", "aborts");
    while (lab->now_ms < begun_ms + 2 * HOUR_MS) {
        if (!sends_request_within(lab, HOUR_MS))
            continue;
        respond(lab, 200,
                lab->transfer.path[strlen(BINDINGS)] == 'c'
                    ? "{\"metadata\":{\"name\":\"c\",\"uid\":\"uid-of-c\"}}"
                    : "{\"metadata\":{\"name\":\"d\",\"uid\":\"uid-of-d\"}}");
        assert_true(sends_request_within(lab, 0));
        respond(lab, 403, STATUS(403, "cannot create"));
        turn_writer(lab);
        assert_text(lab->event_writer.forbidden_verb, "create");
        assert_text(lab->event_writer.forbidden_resource, "events");
        tries++;
    }
    assert_in_range(tries, 20, 110);
    assert_true(sends_request_within(lab, HOUR_MS));
    respond(lab, 200, "{\"metadata\":{\"name\":\"c\",\"uid\":\"uid-of-c\"}}");
    if (sends_request_within(lab, 0))
        answer_created(lab);
}

TEST_WITH(request_without_response_fails_and_is_retried, lab_open, lab_close)
{
    struct lab *lab = *state;

    begin_conflict(lab);
    assert_true(sends_request_within(lab, SECOND_MS));
    expect_binding(lab, 60 * SECOND_MS);
    expect_results(lab, "failed 1");
}

TEST_WITH(written_events_are_remembered_after_a_reload, lab_open, lab_close)
{
    struct lab *lab = *state;
    struct world old;

    begin_conflict(lab);
    put_dependency(lab, "d", "overwrites", "aborts");
    expect_creation(lab, MESSAGE RESOLUTION ".");
    answer_created(lab);
    expect_creation(lab, MESSAGE RESOLUTION ".");
    answer_created(lab);
    event_writer_suspend(&lab->event_writer);
    old = lab->world;
    world_init(&lab->world, &rules_options_default, 2);
    world_release(&old);
    put_referrer(lab, "overwrites", "Overwrite", false);
    put_referrer(lab, "aborts", "Abort", false);
    begin_conflict(lab);
    conflict_tracker_adopt_store(&lab->event_writer.conflicts, lab->world.store);
    lab->input.engine = lab->world.engine;
    expect_no_request(lab, HOUR_MS / 2);
    assert_int_equal(lab->event_writer.conflicts.ended, 1);
}

TEST_WITH(removal_of_ended_conflicts_keeps_the_others, lab_open, lab_close)
{
    enum { SOME = 60 };
    struct lab *lab = *state;
    char name[32];

    lab->input.leads = false;
    turn_writer(lab);
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < SOME; i++) {
            snprintf(name, sizeof(name), "some-%u", i);
            put_dependency(lab, name, round && i % 3 ? "aborts" : "overwrites", "aborts");
        }
    }
    lab->input.leads = true;
    for (unsigned i = 0; i < SOME / 3; i++) {
        expect_creation(lab, MESSAGE RESOLUTION ".");
        answer_created(lab);
    }
    expect_no_request(lab, SECOND_MS);
    assert_int_equal(lab->event_writer.conflicts.count, SOME / 3);
}

TEST_WITH(ten_thousand_conflicts_are_written_at_five_a_second, lab_open, lab_close)
{
    struct lab *lab = *state;
    int64_t begun_ms;
    char name[32];

    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "many-%u", i);
        put_dependency(lab, name, "overwrites", "aborts");
    }
    begun_ms = lab->now_ms;
    for (unsigned i = 0; i < MANY; i++) {
        expect_creation(lab, MESSAGE RESOLUTION ".");
        answer_created(lab);
        assert_true(lab->now_ms - begun_ms >= (int64_t)i * 200);
    }
    assert_in_range(lab->now_ms - begun_ms, 0, MANY * 210);
    expect_results(lab, "created 10000");
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "many-%u", i);
        put_dependency(lab, name, "aborts", "aborts");
    }
    /* The writer keeps at most 4,096 ended conflicts, as many as client-go keeps objects. */
    expect_no_request(lab, 100 * SECOND_MS);
    assert_true(lab->event_writer.conflicts.count <= 4096 + 1);
}
