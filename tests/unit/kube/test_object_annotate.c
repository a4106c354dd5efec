/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/object_request.h"

#include "tests/unit/manual.h"
#include "tests/unit/suite.h"

#define KEY                   "tool/at"
#define BUSY                  "{\"kind\":\"Status\",\"code\":429,\"message\":\"later\"}"
#define STATUS(code, message) "{\"kind\":\"Status\",\"code\":" #code ",\"message\":\"" message "\"}"
#define OBJECT(uid, version, more)                                                                 \
    "{\"kind\":\"PartialObjectMetadata\",\"metadata\":{\"name\":\"web\",\"uid\":\"" uid            \
    "\",\"resourceVersion\":\"" version "\"" more "}}"
#define PATCH(version, value)                                                                      \
    "{\"metadata\":{\"uid\":\"u\",\"resourceVersion\":\"" version "\",\"annotations\":{\"" KEY     \
    "\":" value "}}}"

struct lab {
    struct transfer transfer;
    struct annotator a;
    struct annotator_spec spec;
    int64_t now_ms;
    const char *refused; /* Value for which is_wanted() returns false; NULL: no value. */
};

static bool is_wanted(void *context, const char *value)
{
    const struct lab *lab = context;

    return !lab->refused || !value || strcmp(value, lab->refused) != 0;
}

static int lab_open(void **state)
{
    struct lab *lab = xcalloc(1, sizeof(*lab));

    lab->now_ms = 1000;
    lab->spec = (struct annotator_spec){
        .id = {"apps/v1", "Deployment", "default", "web"},
        .resource = "deployments",
        .uid_hash = uid_hash("u"),
        .key = KEY,
        .value = "now",
        .field_manager = "tool",
        .wanted = is_wanted,
        .context = lab,
    };
    annotator_init(&lab->a, manual_transport(&lab->transfer));
    annotator_turn(&lab->a, lab->now_ms);
    assert_int_equal(annotator_due(&lab->a), INT64_MAX);
    annotator_start(&lab->a, &lab->spec);
    *state = lab;
    return 0;
}

static int lab_close(void **state)
{
    struct lab *lab = *state;

    annotator_release(&lab->a);
    free(lab);
    return 0;
}

/* Advances the time to the next request or the end. Returns the milliseconds that passed. */
static int64_t wait_for_request(struct lab *lab)
{
    unsigned before = lab->transfer.requests;
    int64_t started_ms = lab->now_ms;

    while (annotator_turn(&lab->a, lab->now_ms) == ANNOTATE_OPEN &&
           lab->transfer.requests == before) {
        assert_true(annotator_due(&lab->a) > lab->now_ms);
        lab->now_ms = annotator_due(&lab->a);
    }
    return lab->now_ms - started_ms;
}

static void respond(struct lab *lab, unsigned http_status, const char *body, int64_t retry_after_ms)
{
    manual_answer(&lab->transfer, http_status, body, retry_after_ms);
}

static void expect_read(struct lab *lab)
{
    wait_for_request(lab);
    assert_string_equal(lab->transfer.path, "/apis/apps/v1/namespaces/default/deployments/web");
    assert_string_equal(lab->transfer.body, "");
}

/* Answers the read with `object`, and expects `patch` at once. */
static void read_and_expect_patch(struct lab *lab, const char *object, const char *patch)
{
    expect_read(lab);
    respond(lab, 200, object, 0);
    assert_int_equal(wait_for_request(lab), 0);
    assert_string_equal(lab->transfer.path,
                        "/apis/apps/v1/namespaces/default/deployments/web?fieldManager=tool");
    assert_string_equal(lab->transfer.body, patch);
}

TEST_WITH(patch_has_only_the_annotation_and_the_version_read, lab_open, lab_close)
{
    struct lab *lab = *state;

    read_and_expect_patch(lab, OBJECT("u", "7", ""), PATCH("7", "\"now\""));
    respond(lab, 200, OBJECT("u", "8", ""), 0);
    assert_int_equal(annotator_turn(&lab->a, lab->now_ms), ANNOTATE_WRITTEN);
    assert_int_equal(lab->a.version, 8);
    assert_int_equal(lab->transfer.requests, 2);
}

TEST_WITH(value_null_removes_the_annotation, lab_open, lab_close)
{
    struct lab *lab = *state;

    lab->spec.value = NULL;
    read_and_expect_patch(lab, OBJECT("u", "7", ",\"annotations\":{\"" KEY "\":\"then\"}"),
                          PATCH("7", "null"));
}

TEST_WITH(object_is_read_again_after_a_conflict, lab_open, lab_close)
{
    struct lab *lab = *state;

    lab->refused = "theirs";
    read_and_expect_patch(lab, OBJECT("u", "7", ""), PATCH("7", "\"now\""));
    respond(lab, 409, STATUS(409, "the object has been modified"), 0);
    read_and_expect_patch(lab, OBJECT("u", "9", ""), PATCH("9", "\"now\""));
    respond(lab, 409, STATUS(409, "the object has been modified"), 0);
    expect_read(lab);
    /* Another client has set the annotation first. */
    respond(lab, 200, OBJECT("u", "11", ",\"annotations\":{\"" KEY "\":\"theirs\"}"), 0);
    assert_int_equal(annotator_turn(&lab->a, lab->now_ms), ANNOTATE_UNWANTED);
}

TEST_WITH(write_fails_after_five_conflicts, lab_open, lab_close)
{
    struct lab *lab = *state;

    for (int i = 0; i < 5; i++) {
        read_and_expect_patch(lab, OBJECT("u", "7", ""), PATCH("7", "\"now\""));
        respond(lab, 409, STATUS(409, "the object has been modified"), 0);
    }
    assert_int_equal(annotator_turn(&lab->a, lab->now_ms), ANNOTATE_FAILED);
    assert_string_equal(lab->a.err.text, "the object has been modified");
}

TEST_WITH(object_is_read_again_after_a_lost_patch, lab_open, lab_close)
{
    struct lab *lab = *state;

    lab->refused = "now";
    read_and_expect_patch(lab, OBJECT("u", "7", ""), PATCH("7", "\"now\""));
    respond(lab, 0, "", 0);
    assert_true(wait_for_request(lab) > 0);
    respond(lab, 200, OBJECT("u", "8", ",\"annotations\":{\"" KEY "\":\"now\"}"), 0);
    assert_int_equal(annotator_turn(&lab->a, lab->now_ms), ANNOTATE_UNWANTED);
}

static struct refusal {
    const char *title;
    unsigned http_status;
    const char *body;
    enum annotator_state state;
} refusals[] = {
    {"deleted", 404, STATUS(404, "not found"), ANNOTATE_GONE},
    {"deleted and created again", 200, OBJECT("v", "9", ""), ANNOTATE_REPLACED},
    {"being deleted", 200, OBJECT("u", "9", ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\""),
     ANNOTATE_DELETING},
    {"forbidden", 403, STATUS(403, "cannot patch"), ANNOTATE_FORBIDDEN},
    {"unauthorized", 401, STATUS(401, "Unauthorized"), ANNOTATE_FORBIDDEN},
    {"a response without a version", 200, "{\"metadata\":{\"uid\":\"u\"}}", ANNOTATE_FAILED},
};

static void expect_refusal(struct lab *lab, const struct refusal *r)
{
    expect_read(lab);
    respond(lab, r->http_status, r->body, 0);
    assert_int_equal(annotator_turn(&lab->a, lab->now_ms), r->state);
    assert_string_equal(lab->transfer.body, "");
}

TEST_ROWS(unsuitable_object_is_not_patched, refusals, title)
{
    const struct refusal *r = *state;
    void *lab = NULL;

    lab_open(&lab);
    expect_refusal(lab, r);
    lab_close(&lab);
}

TEST_ROWS(object_that_becomes_unsuitable_is_not_changed, refusals, title)
{
    const struct refusal *r = *state;
    struct lab *lab = NULL;

    lab_open((void **)&lab);
    read_and_expect_patch(lab, OBJECT("u", "7", ""), PATCH("7", "\"now\""));
    if (r->http_status != 200) {
        respond(lab, r->http_status, r->body, 0);
        assert_int_equal(annotator_turn(&lab->a, lab->now_ms), r->state);
    } else {
        respond(lab, 409, STATUS(409, "Precondition failed"), 0);
        expect_refusal(lab, r);
    }
    lab_close((void **)&lab);
}

TEST_WITH(request_waits_for_the_retry_after_of_a_429, lab_open, lab_close)
{
    struct lab *lab = *state;

    expect_read(lab);
    respond(lab, 429, "Too many requests", 3000);
    assert_int_equal(wait_for_request(lab), 3000);
    respond(lab, 200, OBJECT("u", "7", ""), 0);
    assert_int_equal(wait_for_request(lab), 0);
    respond(lab, 429, "{\"kind\":\"Status\",\"code\":429,\"details\":{\"retryAfterSeconds\":2}}",
            0);
    assert_int_equal(wait_for_request(lab), 2000);
    for (int i = 2; i < 10; i++) {
        respond(lab, 429, BUSY, 0);
        wait_for_request(lab);
    }
    assert_int_equal(annotator_turn(&lab->a, lab->now_ms), ANNOTATE_FAILED);
    assert_string_equal(lab->a.err.text, "later");
}

/* Writes one object; the patch takes `answer_ms`. Returns the wait before its read. */
static int64_t write_object_in(struct lab *lab, int64_t answer_ms)
{
    int64_t waited_ms;

    annotator_start(&lab->a, &lab->spec);
    waited_ms = wait_for_request(lab);
    respond(lab, 200, OBJECT("u", "7", ""), 0);
    wait_for_request(lab);
    lab->now_ms += answer_ms;
    respond(lab, 200, OBJECT("u", "8", ""), 0);
    assert_int_equal(annotator_turn(&lab->a, lab->now_ms), ANNOTATE_WRITTEN);
    return waited_ms;
}

static int64_t write_object(struct lab *lab)
{
    return write_object_in(lab, 0);
}

TEST_WITH(rate_limit_includes_the_response_time, lab_open, lab_close)
{
    struct lab *lab = *state;

    write_object_in(lab, 30);
    assert_int_equal(write_object_in(lab, 250), 70);
    assert_int_equal(write_object_in(lab, 100), 0);
    assert_int_equal(write_object(lab), 0);
    assert_int_equal(write_object(lab), 100);
}

TEST_WITH(rate_is_ten_a_second_and_lower_after_a_429, lab_open, lab_close)
{
    struct lab *lab = *state;
    int64_t waited_ms;

    write_object(lab);
    assert_int_equal(write_object(lab), 100);
    assert_int_equal(write_object(lab), 100);
    annotator_start(&lab->a, &lab->spec);
    wait_for_request(lab);
    respond(lab, 429, BUSY, 0);
    assert_int_equal(wait_for_request(lab), 200);
    respond(lab, 429, BUSY, 0);
    assert_int_equal(wait_for_request(lab), 400);
    respond(lab, 200, OBJECT("u", "7", ""), 0);
    wait_for_request(lab);
    respond(lab, 200, OBJECT("u", "8", ""), 0);
    annotator_turn(&lab->a, lab->now_ms);
    waited_ms = write_object(lab);
    assert_in_range(waited_ms, 101, 399);
    for (int i = 0; i < 10; i++)
        waited_ms = write_object(lab);
    assert_int_equal(waited_ms, 100);
}

TEST_WITH(write_fails_if_the_server_never_answers, lab_open, lab_close)
{
    struct lab *lab = *state;
    int64_t started_ms = lab->now_ms;

    while (annotator_turn(&lab->a, lab->now_ms) == ANNOTATE_OPEN)
        lab->now_ms = annotator_due(&lab->a) > lab->now_ms ? annotator_due(&lab->a) : lab->now_ms;
    assert_int_equal(lab->a.state, ANNOTATE_FAILED);
    assert_in_range(lab->now_ms - started_ms, 1000, 10 * 60 * 1000);
}
