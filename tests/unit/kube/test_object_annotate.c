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
    const char *refused; /* This value is not to be changed. */
};

static bool wanted(void *context, const char *value)
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
        .wanted = wanted,
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

/* Wait until something is asked for; how long that took. */
static int64_t wait_for_request(struct lab *lab)
{
    unsigned before = lab->transfer.requests;
    int64_t begun_ms = lab->now_ms;

    while (annotator_turn(&lab->a, lab->now_ms) == ANNOTATE_OPEN &&
           lab->transfer.requests == before) {
        assert_true(annotator_due(&lab->a) > lab->now_ms);
        lab->now_ms = annotator_due(&lab->a);
    }
    return lab->now_ms - begun_ms;
}

/* The server answers the request that is open. */
static void answer(struct lab *lab, unsigned http_status, const char *body, int64_t retry_after_ms)
{
    manual_answer(&lab->transfer, http_status, body, retry_after_ms);
}

static void expect_read(struct lab *lab)
{
    wait_for_request(lab);
    assert_string_equal(lab->transfer.path, "/apis/apps/v1/namespaces/default/deployments/web");
    assert_string_equal(lab->transfer.body, "");
}

/* The object is read at this version, and a patch for that is sent at once. */
static void read_and_expect_patch(struct lab *lab, const char *object, const char *patch)
{
    expect_read(lab);
    answer(lab, 200, object, 0);
    assert_int_equal(wait_for_request(lab), 0);
    assert_string_equal(lab->transfer.path,
                        "/apis/apps/v1/namespaces/default/deployments/web?fieldManager=tool");
    assert_string_equal(lab->transfer.body, patch);
}

TEST_WITH(only_the_annotation_is_written_at_the_version_that_was_read, lab_open, lab_close)
{
    struct lab *lab = *state;

    read_and_expect_patch(lab, OBJECT("u", "7", ""), PATCH("7", "\"now\""));
    answer(lab, 200, OBJECT("u", "8", ""), 0);
    assert_int_equal(annotator_turn(&lab->a, lab->now_ms), ANNOTATE_WRITTEN);
    assert_int_equal(lab->a.version, 8);
    assert_int_equal(lab->transfer.requests, 2);
}

TEST_WITH(null_removes_it, lab_open, lab_close)
{
    struct lab *lab = *state;

    lab->spec.value = NULL;
    read_and_expect_patch(lab, OBJECT("u", "7", ",\"annotations\":{\"" KEY "\":\"then\"}"),
                          PATCH("7", "null"));
}

TEST_WITH(a_change_in_between_is_looked_at_again, lab_open, lab_close)
{
    struct lab *lab = *state;

    lab->refused = "theirs";
    read_and_expect_patch(lab, OBJECT("u", "7", ""), PATCH("7", "\"now\""));
    answer(lab, 409, STATUS(409, "the object has been modified"), 0);
    read_and_expect_patch(lab, OBJECT("u", "9", ""), PATCH("9", "\"now\""));
    answer(lab, 409, STATUS(409, "the object has been modified"), 0);
    expect_read(lab);
    /* Another one was faster. */
    answer(lab, 200, OBJECT("u", "11", ",\"annotations\":{\"" KEY "\":\"theirs\"}"), 0);
    assert_int_equal(annotator_turn(&lab->a, lab->now_ms), ANNOTATE_UNWANTED);
}

TEST_WITH(changes_without_end_are_given_up, lab_open, lab_close)
{
    struct lab *lab = *state;

    for (int i = 0; i < 5; i++) {
        read_and_expect_patch(lab, OBJECT("u", "7", ""), PATCH("7", "\"now\""));
        answer(lab, 409, STATUS(409, "the object has been modified"), 0);
    }
    assert_int_equal(annotator_turn(&lab->a, lab->now_ms), ANNOTATE_FAILED);
    assert_string_equal(lab->a.err.text, "the object has been modified");
}

TEST_WITH(a_patch_without_an_answer_is_followed_by_a_look, lab_open, lab_close)
{
    struct lab *lab = *state;

    lab->refused = "now";
    read_and_expect_patch(lab, OBJECT("u", "7", ""), PATCH("7", "\"now\""));
    answer(lab, 0, "", 0);
    assert_true(wait_for_request(lab) > 0);
    answer(lab, 200, OBJECT("u", "8", ",\"annotations\":{\"" KEY "\":\"now\"}"), 0);
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
    {"without a token", 401, STATUS(401, "Unauthorized"), ANNOTATE_FORBIDDEN},
    {"an answer without a version", 200, "{\"metadata\":{\"uid\":\"u\"}}", ANNOTATE_FAILED},
};

static void expect_refusal(struct lab *lab, const struct refusal *r)
{
    expect_read(lab);
    answer(lab, r->http_status, r->body, 0);
    assert_int_equal(annotator_turn(&lab->a, lab->now_ms), r->state);
    assert_string_equal(lab->transfer.body, "");
}

TEST_ROWS(nothing_is_written_to_what_is, refusals, title)
{
    const struct refusal *r = *state;
    void *lab = NULL;

    lab_open(&lab);
    expect_refusal(lab, r);
    lab_close(&lab);
}

TEST_ROWS(the_same_between_reading_and_writing, refusals, title)
{
    const struct refusal *r = *state;
    struct lab *lab = NULL;

    lab_open((void **)&lab);
    read_and_expect_patch(lab, OBJECT("u", "7", ""), PATCH("7", "\"now\""));
    if (r->http_status != 200) {
        answer(lab, r->http_status, r->body, 0);
        assert_int_equal(annotator_turn(&lab->a, lab->now_ms), r->state);
    } else {
        answer(lab, 409, STATUS(409, "Precondition failed"), 0);
        expect_refusal(lab, r);
    }
    lab_close((void **)&lab);
}

TEST_WITH(a_busy_server_is_left_alone_for_as_long_as_it_asks, lab_open, lab_close)
{
    struct lab *lab = *state;

    expect_read(lab);
    answer(lab, 429, "Too many requests", 3000);
    assert_int_equal(wait_for_request(lab), 3000);
    answer(lab, 200, OBJECT("u", "7", ""), 0);
    assert_int_equal(wait_for_request(lab), 0);
    answer(lab, 429, "{\"kind\":\"Status\",\"code\":429,\"details\":{\"retryAfterSeconds\":2}}", 0);
    assert_int_equal(wait_for_request(lab), 2000);
    for (int i = 2; i < 10; i++) {
        answer(lab, 429, BUSY, 0);
        wait_for_request(lab);
    }
    assert_int_equal(annotator_turn(&lab->a, lab->now_ms), ANNOTATE_FAILED);
    assert_string_equal(lab->a.err.text, "later");
}

/* How long the next object has to wait after one was written. */
static int64_t write_one_in(struct lab *lab, int64_t answer_ms)
{
    int64_t waited_ms;

    annotator_start(&lab->a, &lab->spec);
    waited_ms = wait_for_request(lab);
    answer(lab, 200, OBJECT("u", "7", ""), 0);
    wait_for_request(lab);
    lab->now_ms += answer_ms;
    answer(lab, 200, OBJECT("u", "8", ""), 0);
    assert_int_equal(annotator_turn(&lab->a, lab->now_ms), ANNOTATE_WRITTEN);
    return waited_ms;
}

static int64_t write_one(struct lab *lab)
{
    return write_one_in(lab, 0);
}

TEST_WITH(the_rate_counts_the_time_that_the_server_takes, lab_open, lab_close)
{
    struct lab *lab = *state;

    write_one_in(lab, 30);
    assert_int_equal(write_one_in(lab, 250), 70);
    assert_int_equal(write_one_in(lab, 100), 0);
    assert_int_equal(write_one(lab), 0);
    assert_int_equal(write_one(lab), 100);
}

TEST_WITH(ten_objects_a_second_and_fewer_after_a_busy_server, lab_open, lab_close)
{
    struct lab *lab = *state;
    int64_t waited_ms;

    write_one(lab);
    assert_int_equal(write_one(lab), 100);
    assert_int_equal(write_one(lab), 100);
    annotator_start(&lab->a, &lab->spec);
    wait_for_request(lab);
    answer(lab, 429, BUSY, 0);
    assert_int_equal(wait_for_request(lab), 200);
    answer(lab, 429, BUSY, 0);
    assert_int_equal(wait_for_request(lab), 400);
    answer(lab, 200, OBJECT("u", "7", ""), 0);
    wait_for_request(lab);
    answer(lab, 200, OBJECT("u", "8", ""), 0);
    annotator_turn(&lab->a, lab->now_ms);
    waited_ms = write_one(lab);
    assert_in_range(waited_ms, 101, 399);
    for (int i = 0; i < 10; i++)
        waited_ms = write_one(lab);
    assert_int_equal(waited_ms, 100);
}

TEST_WITH(a_server_that_never_answers_is_given_up, lab_open, lab_close)
{
    struct lab *lab = *state;
    int64_t begun_ms = lab->now_ms;

    while (annotator_turn(&lab->a, lab->now_ms) == ANNOTATE_OPEN)
        lab->now_ms = annotator_due(&lab->a) > lab->now_ms ? annotator_due(&lab->a) : lab->now_ms;
    assert_int_equal(lab->a.state, ANNOTATE_FAILED);
    assert_in_range(lab->now_ms - begun_ms, 1000, 10 * 60 * 1000);
}
