/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/check_result.h"
#include "exporter/version.h"
#include "exporter/web/api.h"
#include "metrics/base/json_writer.h"

static void close_objects(struct json_writer *w, unsigned count)
{
    while (count-- > 0)
        json_writer_close(w, '}');
}

static void put_string_schema(struct json_writer *w)
{
    json_writer_open(w, "schema", '{');
    json_writer_text(w, "type", "string");
    json_writer_close(w, '}');
}

static void put_parameter(struct json_writer *w, enum parameter parameter, bool required)
{
    json_writer_open(w, NULL, '{');
    json_writer_text(w, "name", parameter_names[parameter]);
    json_writer_text(w, "in", "query");
    json_writer_text(w, "description", parameter_texts[parameter]);
    json_writer_bool(w, "required", required);
    put_string_schema(w);
    json_writer_close(w, '}');
}

static void put_content(struct json_writer *w, const char *content_type, const char *schema)
{
    json_writer_open(w, content_type, '{');
    json_writer_open(w, "schema", '{');
    json_writer_text(w, *schema == '#' ? "$ref" : "type", schema);
    close_objects(w, 2);
}

/* Appends a response; `schema` is a type, or a reference that begins with '#'. */
static void put_response(struct json_writer *w, const char *status, const char *text,
                         const char *schema)
{
    json_writer_open(w, status, '{');
    json_writer_text(w, "description", text);
    json_writer_open(w, "content", '{');
    put_content(w, "application/json", schema);
    close_objects(w, 2);
}

static void put_counts_header(struct json_writer *w)
{
    json_writer_open(w, "headers", '{');
    json_writer_open(w, PROBLEM_COUNTS_HEADER, '{');
    json_writer_text(w, "description",
                     "number of problems by severity and by problem with reason, such as "
                     "'warning=2, not_propagated/no_match=2, hidden:not_delivered/waiting=1'; "
                     "'hidden:' precedes hidden problems, 'normal:' conditions that are no problem "
                     "but that --fail-on can name; unread counts files and documents that could "
                     "not be read, missing the kinds that the API server did not deliver; numbers "
                     "of 0 are omitted; 'none' if all are 0");
    json_writer_bool(w, "required", true);
    put_string_schema(w);
    close_objects(w, 2);
}

static void put_success_response(struct json_writer *w, const struct endpoint *e)
{
    json_writer_open(w, "200", '{');
    json_writer_text(w, "description", e->summary);
    if (e == &endpoints[ENDPOINT_REPORT])
        put_counts_header(w);
    json_writer_open(w, "content", '{');
    put_content(w, "application/json", "object");
    if (e->known & PARAMETER_BIT(FORM))
        put_content(w, "text/plain", "string");
    close_objects(w, 2);
}

static void put_request_body(struct json_writer *w)
{
    static const char *const types[] = {"application/yaml", "application/json"};

    json_writer_open(w, "requestBody", '{');
    json_writer_text(w, "description", "manifests, at most 1 MiB and 1,000 objects");
    json_writer_bool(w, "required", true);
    json_writer_open(w, "content", '{');
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        put_content(w, types[i], "object");
    close_objects(w, 2);
}

/* Appends the error responses of an endpoint that takes manifests. */
static void put_plan_error_responses(struct json_writer *w, const char *schema)
{
    put_response(w, "403", "plans are disabled; --web.enable-plan enables them", schema);
    put_response(w, "413", "the body is larger than 1 MiB, or has more than 1,000 objects", schema);
    put_response(w, "415", "the body is neither application/yaml nor application/json", schema);
    put_response(w, "429", "another plan is running; only one runs at a time", schema);
    put_response(w, "504", "the plan takes more than 2 s", schema);
}

static void put_endpoint(struct json_writer *w, const struct endpoint *e)
{
    static const char error[] = "#/components/schemas/Error";
    bool posted = e->needs == NEEDS_PLAN;

    json_writer_open(w, e->path, '{');
    json_writer_open(w, posted ? "post" : "get", '{');
    json_writer_text(w, "operationId", e->handler);
    json_writer_text(w, "summary", e->summary);
    json_writer_open(w, "parameters", '[');
    for (unsigned i = 0; i < PARAMETER_COUNT; i++) {
        if (e->known >> i & 1)
            put_parameter(w, (enum parameter)i, e->required >> i & 1);
    }
    json_writer_close(w, ']');
    if (posted)
        put_request_body(w);
    json_writer_open(w, "responses", '{');
    put_success_response(w, e);
    put_response(w, "400", "a parameter is unknown, missing or not valid", error);
    if (posted)
        put_plan_error_responses(w, error);
    if (e->required)
        put_response(w, "404", "the object does not exist", error);
    if (e->known & PARAMETER_BIT(CONTINUE))
        put_response(w, "410", "the list of 'continue' has expired", error);
    put_response(w, "503", "the first evaluation is not complete, or too many requests are waiting",
                 error);
    close_objects(w, 3);
}

static void put_error_schema(struct json_writer *w)
{
    json_writer_open(w, "components", '{');
    json_writer_open(w, "schemas", '{');
    json_writer_open(w, "Error", '{');
    json_writer_text(w, "type", "object");
    json_writer_open(w, "required", '[');
    json_writer_text(w, NULL, "error");
    json_writer_close(w, ']');
    json_writer_open(w, "properties", '{');
    json_writer_open(w, "error", '{');
    json_writer_text(w, "type", "string");
    json_writer_text(w, "description", "error message for users");
    close_objects(w, 5);
}

void api_openapi(struct queued_request *request, const struct health *h)
{
    struct json_writer w = {.out = &request->body, .lines = 4};

    json_writer_open(&w, NULL, '{');
    json_writer_text(&w, "openapi", "3.0.3");
    json_writer_open(&w, "info", '{');
    json_writer_text(&w, "title", EXPORTER_NAME);
    json_writer_text(&w, "version", EXPORTER_VERSION);
    json_writer_close(&w, '}');
    if (*h->external_url != '\0') {
        json_writer_open(&w, "servers", '[');
        json_writer_open(&w, NULL, '{');
        json_writer_text(&w, "url", h->external_url);
        json_writer_close(&w, '}');
        json_writer_close(&w, ']');
    }
    json_writer_open(&w, "paths", '{');
    for (size_t i = 0; i < ENDPOINT_COUNT; i++) {
        if (!endpoints[i].page)
            put_endpoint(&w, &endpoints[i]);
    }
    json_writer_close(&w, '}');
    put_error_schema(&w);
    json_writer_close(&w, '}');
    strbuf_addc(&request->body, '\n');
}
