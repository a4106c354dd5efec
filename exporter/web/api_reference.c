/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/api_reference.h"

#include "exporter/text/check_result.h"
#include "exporter/version.h"
#include "exporter/web/request.h"
#include "metrics/base/json_writer.h"

/* ---- responses ---- */

static const char counts_header_text[] =
    "number of problems by severity and by problem with reason, such as 'warning=2, "
    "not_propagated/no_match=2, hidden:not_delivered/waiting=1'; 'hidden:' precedes hidden "
    "problems, 'normal:' conditions that are no problem but that --fail-on can name; unread counts "
    "files and documents that could not be read, missing the kinds that the API server did not "
    "deliver; numbers of 0 are omitted; 'none' if all are 0";

static bool always(const struct endpoint *e)
{
    return e != NULL;
}

static bool takes_manifests(const struct endpoint *e)
{
    return e->needs == NEEDS_PLAN;
}

static bool finds_object(const struct endpoint *e)
{
    return e->required != 0;
}

static bool deletes_objects(const struct endpoint *e)
{
    return e->known & PARAMETER_BIT(DELETE);
}

static bool has_pages(const struct endpoint *e)
{
    return e->known & PARAMETER_BIT(CONTINUE);
}

/* All responses, with the function that returns true for the endpoints that send them. */
static const struct {
    struct endpoint_response response;
    bool (*applies)(const struct endpoint *e);
} responses[] = {
    {{200, NULL}, always},
    {{400, "a parameter is unknown, repeated, missing or not valid"}, always},
    {{403, "plans are disabled; --web.enable-plan enables them"}, takes_manifests},
    {{404, "the object does not exist"}, finds_object},
    {{404, "an object of 'delete' does not exist"}, deletes_objects},
    {{410, "the list of 'continue' has expired"}, has_pages},
    {{413, "the body is larger than 1 MiB, or has more than 1,000 objects"}, takes_manifests},
    {{415, "the body is neither application/yaml nor application/json"}, takes_manifests},
    {{429, "another plan is running; only one runs at a time"}, takes_manifests},
    {{500, "the list is larger than 256 MiB: request pages with 'limit'"}, has_pages},
    {{503, "the first evaluation is not complete, or too many requests are waiting"}, always},
    {{504, "the plan takes more than 2 s"}, takes_manifests},
};

const struct endpoint_response *endpoint_next_response(const struct endpoint *endpoint, size_t *at)
{
    while (*at < ARRAY_LEN(responses) && !responses[*at].applies(endpoint))
        ++*at;
    return *at < ARRAY_LEN(responses) ? &responses[(*at)++].response : NULL;
}

const char *endpoint_media_type(const struct endpoint *endpoint, unsigned at)
{
    static const char *const document_types[] = {"application/json", "text/plain"};

    if (endpoint->known & PARAMETER_BIT(FORMAT))
        return at < LIST_FORMAT_COUNT ? list_format_types[at] : NULL;
    return at < (endpoint->known & PARAMETER_BIT(FORM) ? 2 : 1) ? document_types[at] : NULL;
}

const char *endpoint_methods(const struct endpoint *endpoint)
{
    return takes_manifests(endpoint) ? request_rule_manifests.methods : request_rule_read.methods;
}

/* ---- openapi.json ---- */

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

static void put_counts_header(struct json_writer *w)
{
    json_writer_open(w, "headers", '{');
    json_writer_open(w, PROBLEM_COUNTS_HEADER, '{');
    json_writer_text(w, "description", counts_header_text);
    json_writer_bool(w, "required", true);
    put_string_schema(w);
    close_objects(w, 2);
}

static void put_success_content(struct json_writer *w, const struct endpoint *e)
{
    const char *type;

    if (e == &endpoints[ENDPOINT_REPORT])
        put_counts_header(w);
    json_writer_open(w, "content", '{');
    for (unsigned i = 0; (type = endpoint_media_type(e, i)) != NULL; i++)
        put_content(w, type, i == 0 ? "object" : "string");
    json_writer_close(w, '}');
}

static void put_response(struct json_writer *w, const struct endpoint *e,
                         const struct endpoint_response *response)
{
    char status[16];

    snprintf(status, sizeof(status), "%u", response->status);
    json_writer_open(w, status, '{');
    json_writer_text(w, "description", response->text ? response->text : e->summary);
    if (response->text) {
        json_writer_open(w, "content", '{');
        put_content(w, "application/json", "#/components/schemas/Error");
        json_writer_close(w, '}');
    } else {
        put_success_content(w, e);
    }
    json_writer_close(w, '}');
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

static void put_endpoint(struct json_writer *w, const struct endpoint *e)
{
    bool posted = takes_manifests(e);
    const struct endpoint_response *response;
    size_t at = 0;

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
    while ((response = endpoint_next_response(e, &at)) != NULL)
        put_response(w, e, response);
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

void openapi_write(struct strbuf *out, const char *external_url)
{
    struct json_writer w = {.out = out, .lines = 4};

    json_writer_open(&w, NULL, '{');
    json_writer_text(&w, "openapi", "3.0.3");
    json_writer_open(&w, "info", '{');
    json_writer_text(&w, "title", EXPORTER_NAME);
    json_writer_text(&w, "version", EXPORTER_VERSION);
    json_writer_close(&w, '}');
    if (*external_url != '\0') {
        json_writer_open(&w, "servers", '[');
        json_writer_open(&w, NULL, '{');
        json_writer_text(&w, "url", external_url);
        json_writer_close(&w, '}');
        json_writer_close(&w, ']');
    }
    json_writer_open(&w, "paths", '{');
    for (size_t i = 0; i < API_ENDPOINT_COUNT; i++)
        put_endpoint(&w, &endpoints[i]);
    json_writer_close(&w, '}');
    put_error_schema(&w);
    json_writer_close(&w, '}');
    strbuf_addc(out, '\n');
}

void api_openapi(struct queued_request *request, const struct health *h)
{
    openapi_write(&request->body, h->external_url);
}

/* ---- api.md ---- */

static const char reference_head[] =
    "# API\n\nGenerated by `karmada-policy-exporter help api --output markdown`; a test compares "
    "this file with the output. `/api/v1/openapi.json` describes the same endpoints for "
    "programs.\n\n- [Web](web.md#the-api) has examples, and explains filters, pages of lists, "
    "problems, history and plans.\n- [report.schema.json](report.schema.json) describes reports "
    "and the rows of problems, templates, policies, conflicts and leases, "
    "[lists.schema.json](lists.schema.json) member clusters and namespaces, "
    "[plan.schema.json](plan.schema.json) plans.\n- Each parameter is allowed once and has at "
    "most 1,024 bytes.\n- Endpoints with several formats return the format that the parameter "
    "`format` names. Lists also accept the header `Accept`.\n- An error is a JSON object with "
    "the member `error`.\n- Every path can also return 401 (authentication), 405 (method), 413 "
    "(body), 414 or 431 (length of the request) and 429 (rate limit). [Web](web.md) has the "
    "limits.\n\n| endpoint | methods | result |\n|---|---|---|\n";

/* Appends a text of the tables; escapes '|', which separates cells. */
static void add_cell(struct strbuf *out, const char *text)
{
    for (; *text != '\0'; text++)
        strbuf_addf(out, "%s%c", *text == '|' ? "\\" : "", *text);
}

/* Appends the anchor of the heading of an endpoint: its path without '/' and '.'. */
static void add_anchor(struct strbuf *out, const char *path)
{
    for (; *path != '\0'; path++) {
        if (*path != '/' && *path != '.')
            strbuf_addc(out, *path);
    }
}

static void add_parameters(struct strbuf *out, const struct endpoint *e)
{
    if (e->known == 0)
        return;
    strbuf_adds(out, "\n| parameter | value |\n|---|---|\n");
    for (unsigned i = 0; i < PARAMETER_COUNT; i++) {
        if (!(e->known >> i & 1))
            continue;
        strbuf_addf(out, "| `%s`%s | ", parameter_names[i],
                    e->required >> i & 1 ? " (required)" : "");
        add_cell(out, parameter_texts[i]);
        strbuf_adds(out, " |\n");
    }
}

static void add_responses(struct strbuf *out, const struct endpoint *e)
{
    const struct endpoint_response *response;
    const char *type;
    size_t at = 0;

    strbuf_adds(out, "\n| status | response |\n|---|---|\n");
    while ((response = endpoint_next_response(e, &at)) != NULL) {
        strbuf_addf(out, "| %u | ", response->status);
        if (response->text)
            strbuf_adds(out, response->text);
        for (unsigned i = 0; !response->text && (type = endpoint_media_type(e, i)) != NULL; i++)
            strbuf_addf(out, "%s`%s`", i == 0 ? "" : ", ", type);
        strbuf_adds(out, " |\n");
    }
}

static void add_endpoint(struct strbuf *out, const struct endpoint *e)
{
    strbuf_addf(out, "\n## %s\n\n%s: %s.\n", e->path, endpoint_methods(e), e->summary);
    if (takes_manifests(e))
        strbuf_adds(out, "\nThe body has manifests in YAML or JSON, at most 1 MiB and 1,000 "
                         "objects.\n");
    if (e == &endpoints[ENDPOINT_REPORT]) {
        strbuf_adds(out, "\nThe header `" PROBLEM_COUNTS_HEADER "` has the ");
        add_cell(out, counts_header_text);
        strbuf_adds(out, ".\n");
    }
    add_parameters(out, e);
    add_responses(out, e);
}

void api_reference_add_markdown(struct strbuf *out)
{
    strbuf_adds(out, reference_head);
    for (size_t i = 0; i < API_ENDPOINT_COUNT; i++) {
        strbuf_addf(out, "| [`%s`](#", endpoints[i].path);
        add_anchor(out, endpoints[i].path);
        strbuf_addf(out, ") | %s | %s |\n", endpoint_methods(&endpoints[i]), endpoints[i].summary);
    }
    for (size_t i = 0; i < API_ENDPOINT_COUNT; i++)
        add_endpoint(out, &endpoints[i]);
}
