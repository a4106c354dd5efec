/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/server_response.h"

#include "exporter/kube/http/transfer.h"
#include "exporter/system/file.h"
#include "tests/unit/suite.h"

/* Recorded error responses of a real API server, and their reasons. */
static struct body_case {
    const char *name;
    const char *file;
    unsigned http_status;
    enum end_reason reason;
    int64_t retry_after_ms;
    const char *message;
} bodies[] = {
    {"bad continue token", "error-400-continue", 400, END_REFUSED, 0, "continue key is not valid"},
    {"bad version", "error-400-resource-version", 400, END_REFUSED, 0, "resourceVersion"},
    {"unauthorized", "error-401", 401, END_UNAUTHORIZED, 0, "Unauthorized"},
    {"forbidden", "error-403-reader", 403, END_FORBIDDEN, 0, "is forbidden"},
    {"no such group", "error-404-group", 404, END_ABSENT, 0, "404 page not found"},
    {"no such resource", "error-404-resource", 404, END_ABSENT, 0, "404 page not found"},
    {"method not allowed", "error-405", 405, END_ABSENT, 0, "does not allow this method"},
    {"not acceptable", "error-406", 406, END_UNACCEPTABLE, 0,
     "406: Not Acceptable Available representations"},
    {"unsupported media", "error-415", 415, END_UNACCEPTABLE, 0, ""},
    {"expired token", "list-410-continue-events", 410, END_GONE, 0, "too old"},
    {"too many requests, as text", "error-429", 429, END_BUSY, 0, "Too many requests"},
    {"storage is initialising", "error-429-initializing", 429, END_BUSY, 1000,
     "storage is (re)initializing"},
    {"streaming lists refused", "watch-list-without-match", 422, END_REFUSED, 0,
     "sendInitialEvents"},
    {"a version from the future", "error-504-future-version", 504, END_AHEAD, 1000,
     "Too large resource version"},
};

static void read_body(const char *name, struct strbuf *out)
{
    char path[128];
    struct error err;

    snprintf(path, sizeof(path), "tests/fixtures/protocol/%s.body", name);
    if (!file_read(path, out, &err))
        fail_msg("%s", err.text);
}

TEST_ROWS(error_response_has_a_reason, bodies, name)
{
    const struct body_case *c = *state;
    struct strbuf text = STRBUF_INIT(1 << 20);
    struct status status;

    read_body(c->file, &text);
    status_read_body(text.data, text.len, &status);
    assert_int_equal(end_reason_of_response(c->http_status, &status), c->reason);
    assert_int_equal(status.retry_after_ms, c->retry_after_ms);
    if (!strstr(status.message, c->message))
        fail_msg("'%s' does not say '%s'", status.message, c->message);
    strbuf_release(&text);
}

TEST(http_status_without_a_body_has_a_reason)
{
    struct status no_status = {0};

    assert_int_equal(end_reason_of_response(301, &no_status), END_REFUSED);
    assert_int_equal(end_reason_of_response(409, &no_status), END_REFUSED);
    assert_int_equal(end_reason_of_response(500, &no_status), END_UNAVAILABLE);
    assert_int_equal(end_reason_of_response(502, &no_status), END_UNAVAILABLE);
    assert_int_equal(end_reason_of_response(503, &no_status), END_UNAVAILABLE);
    assert_int_equal(end_reason_of_response(504, &no_status), END_UNAVAILABLE);
    assert_int_equal(end_reason_of_response(0, &no_status), END_REFUSED);
}

TEST(errors_in_a_stream_have_a_reason)
{
    assert_int_equal(end_reason_of_error(&(struct status){.code = 410}), END_GONE);
    assert_int_equal(end_reason_of_error(&(struct status){.code = 429}), END_BUSY);
    assert_int_equal(end_reason_of_error(&(struct status){.code = 500}), END_FAILED);
    assert_int_equal(end_reason_of_error(&(struct status){.code = 0}), END_FAILED);
    assert_int_equal(end_reason_of_error(&(struct status){.code = 504, .version_too_large = true}),
                     END_AHEAD);
}

static struct retry_case {
    const char *name;
    const char *header;
    int64_t ms;
} retries[] = {
    {"seconds", "7", 7000},
    {"the maximum of 300 s", "100000", 300000},
    {"more than 32 bits", "99999999999", 0},
    {"more than 64 bits", "99999999999999999999999", 0},
    {"zero", "0", 0},
    {"negative", "-1", 0},
    {"a date", "Wed, 21 Oct 2026 07:28:00 GMT", 0},
    {"half a second", "0.5", 0},
    {"empty", "", 0},
    {"missing", NULL, 0},
};

TEST_ROWS(retry_after_in_seconds_is_read, retries, name)
{
    const struct retry_case *c = *state;

    assert_int_equal(retry_after_parse_ms(c->header), c->ms);
}

TEST(html_page_becomes_one_line)
{
    static const char page[] = "<html>\r\n<h1>502\tBad\033[31m Gateway</h1>\n\n</html>\n";
    struct status status;

    status_read_body(page, sizeof(page) - 1, &status);
    assert_string_equal(status.message, "<html> <h1>502 Bad [31m Gateway</h1> </html>");
    assert_int_equal(status.code, 0);
}

/* The verb and the resource follow the name of the user, which may be long. */
TEST(message_of_a_403_includes_verb_and_resource)
{
    static const char body[] =
        "{\"kind\":\"Status\",\"code\":403,\"message\":"
        "\"clusterpropagationpolicies.policy.karmada.io is forbidden: User \\\"%0*d\\\" cannot "
        "watch "
        "resource \\\"clusterpropagationpolicies\\\" in API group \\\"policy.karmada.io\\\" at the "
        "cluster scope\"}";
    char text[1024];
    struct status status;
    int len = snprintf(text, sizeof(text), body, 200, 0);

    status_read_body(text, (size_t)len, &status);
    assert_non_null(strstr(status.message, "cannot watch resource \"clusterpropagationpolicies\""));
    assert_non_null(strstr(status.message, "at the cluster scope"));
}

TEST(long_body_is_truncated)
{
    struct strbuf text = STRBUF_INIT(1 << 20);
    struct status status;

    for (unsigned i = 0; i < 100000; i++)
        strbuf_addc(&text, 'a');
    status_read_body(text.data, text.len, &status);
    assert_int_equal(strlen(status.message), sizeof(status.message) - 1);
    status_read_body("", 0, &status);
    assert_string_equal(status.message, "");
    strbuf_release(&text);
}

TEST(content_types_and_parameters_are_recognized)
{
    static const char aggregated[] =
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

    assert_true(content_type_is("application/json", CONTENT_TYPE_JSON));
    assert_true(content_type_is("Application/JSON; charset=utf-8", CONTENT_TYPE_JSON));
    assert_true(content_type_is(aggregated, CONTENT_TYPE_JSON));
    assert_false(content_type_is("application/json-patch", CONTENT_TYPE_JSON));
    assert_false(content_type_is("text/html", CONTENT_TYPE_JSON));
    assert_false(content_type_is(NULL, CONTENT_TYPE_JSON));
    assert_false(content_type_is("application/json", CONTENT_TYPE_PROTOBUF));
    assert_true(content_type_is("application/vnd.kubernetes.protobuf", CONTENT_TYPE_PROTOBUF));
    assert_true(
        content_type_is("application/vnd.kubernetes.protobuf;stream=watch", CONTENT_TYPE_PROTOBUF));
    assert_true(content_type_has_parameter(aggregated, "as", "APIGroupDiscoveryList"));
    assert_true(content_type_has_parameter(aggregated, "v", "v2"));
    assert_true(content_type_has_parameter("application/json; V=v2 ;as=x", "v", "v2"));
    assert_false(content_type_has_parameter(aggregated, "v", "v"));
    assert_false(content_type_has_parameter(aggregated, "v", "v2beta1"));
    assert_false(content_type_has_parameter("application/json", "v", "v2"));
    assert_false(content_type_has_parameter("application/json;", "v", "v2"));
    assert_false(content_type_has_parameter(NULL, "v", "v2"));
}

TEST(accept_headers_prefer_the_shortest_content)
{
    assert_string_equal(accept_header(REQUEST_OBJECTS, true), "application/json");
    assert_string_equal(accept_header(REQUEST_OBJECTS, false), "application/json");
    assert_string_equal(
        accept_header(REQUEST_METADATA, true),
        "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json");
    assert_string_equal(
        accept_header(REQUEST_METADATA, false),
        "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json");
    assert_string_equal(
        accept_header(REQUEST_FAST_METADATA, true),
        "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,"
        "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json");
    assert_string_equal(
        accept_header(REQUEST_FAST_METADATA, false),
        "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,"
        "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json");
}

TEST(selectors_are_escaped_and_optional)
{
    CLEANUP(strbuf_release) struct strbuf query = STRBUF_INIT(1024);

    url_add_selectors(&query, &(struct selectors){0});
    url_add_selectors(&query, &(struct selectors){"", ""});
    assert_string_equal(query.data, "");
    url_add_selectors(&query, &(struct selectors){"reason=x", "shardRange(a, '0x0') || b"});
    assert_string_equal(query.data, "fieldSelector=reason%3Dx&shardSelector=shardRange%28a%2C%20"
                                    "%270x0%27%29%20%7C%7C%20b");
}
