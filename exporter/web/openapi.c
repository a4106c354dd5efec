/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/finding_counts.h"
#include "exporter/version.h"
#include "exporter/web/api.h"
#include "metrics/base/json_writer.h"

static void put_parameter(struct writer *w, enum parameter parameter, bool required)
{
    writer_open(w, NULL, '{');
    writer_text(w, "name", parameter_names[parameter]);
    writer_text(w, "in", "query");
    writer_text(w, "description", parameter_texts[parameter]);
    writer_bool(w, "required", required);
    writer_open(w, "schema", '{');
    writer_text(w, "type", "string");
    writer_close(w, '}');
    writer_close(w, '}');
}

static void put_content(struct writer *w, const char *content_type, const char *schema)
{
    writer_open(w, content_type, '{');
    writer_open(w, "schema", '{');
    writer_text(w, *schema == '#' ? "$ref" : "type", schema);
    writer_close(w, '}');
    writer_close(w, '}');
}

/* An answer: its status, when it is given, and the type of what it is. */
static void put_answer(struct writer *w, const char *status, const char *text, const char *schema)
{
    writer_open(w, status, '{');
    writer_text(w, "description", text);
    writer_open(w, "content", '{');
    put_content(w, "application/json", schema);
    writer_close(w, '}');
    writer_close(w, '}');
}

static void put_counts_header(struct writer *w)
{
    writer_open(w, "headers", '{');
    writer_open(w, FINDING_COUNTS_HEADER, '{');
    writer_text(w, "description",
                "how many findings there are of each class of --fail-on that has any, as "
                "'conflict=2, pending=1'; unread counts files and documents that could not be "
                "read, missing the kinds that the API server does not let be read; 'none' for "
                "nothing");
    writer_bool(w, "required", true);
    writer_open(w, "schema", '{');
    writer_text(w, "type", "string");
    writer_close(w, '}');
    writer_close(w, '}');
    writer_close(w, '}');
}

/* What is asked for. */
static void put_success(struct writer *w, const struct endpoint *e)
{
    writer_open(w, "200", '{');
    writer_text(w, "description", e->summary);
    if (e == &endpoints[ENDPOINT_REPORT])
        put_counts_header(w);
    writer_open(w, "content", '{');
    put_content(w, "application/json", "object");
    if (e->known & PARAMETER_BIT(FORM))
        put_content(w, "text/plain", "string");
    writer_close(w, '}');
    writer_close(w, '}');
}

/* What is posted. */
static void put_manifests(struct writer *w)
{
    static const char *const types[] = {"application/yaml", "application/json"};

    writer_open(w, "requestBody", '{');
    writer_text(w, "description", "manifests, at most 1 MiB and 1,000 objects");
    writer_bool(w, "required", true);
    writer_open(w, "content", '{');
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        put_content(w, types[i], "object");
    writer_close(w, '}');
    writer_close(w, '}');
}

/* Of who posts. */
static void put_refusals(struct writer *w, const char *schema)
{
    put_answer(w, "403", "it is off: --web.enable-plan switches it on", schema);
    put_answer(w, "413", "the body is larger than 1 MiB, or has more than 1,000 objects", schema);
    put_answer(w, "415", "the body is neither application/yaml nor application/json", schema);
    put_answer(w, "429", "somebody else plans: one does at a time", schema);
    put_answer(w, "504", "the plan takes more than 2 s", schema);
}

static void put_endpoint(struct writer *w, const struct endpoint *e)
{
    static const char error[] = "#/components/schemas/Error";
    bool posted = e->needs == NEEDS_STAGE;

    writer_open(w, e->path, '{');
    writer_open(w, posted ? "post" : "get", '{');
    writer_text(w, "operationId", e->handler);
    writer_text(w, "summary", e->summary);
    writer_open(w, "parameters", '[');
    for (unsigned i = 0; i < PARAMETER_COUNT; i++) {
        if (e->known >> i & 1)
            put_parameter(w, (enum parameter)i, e->required >> i & 1);
    }
    writer_close(w, ']');
    if (posted)
        put_manifests(w);
    writer_open(w, "responses", '{');
    put_success(w, e);
    put_answer(w, "400", "a parameter is unknown, missing or not valid", error);
    if (posted)
        put_refusals(w, error);
    if (e->required)
        put_answer(w, "404", "there is no such object", error);
    if (e->known & PARAMETER_BIT(CONTINUE))
        put_answer(w, "410", "the list of 'continue' is no longer kept", error);
    put_answer(w, "503", "not everything has been read yet, or too many ask at once", error);
    writer_close(w, '}');
    writer_close(w, '}');
    writer_close(w, '}');
}

static void put_error_schema(struct writer *w)
{
    writer_open(w, "components", '{');
    writer_open(w, "schemas", '{');
    writer_open(w, "Error", '{');
    writer_text(w, "type", "object");
    writer_open(w, "required", '[');
    writer_text(w, NULL, "error");
    writer_close(w, ']');
    writer_open(w, "properties", '{');
    writer_open(w, "error", '{');
    writer_text(w, "type", "string");
    writer_text(w, "description", "what is wrong, and what to do, for people");
    writer_close(w, '}');
    writer_close(w, '}');
    writer_close(w, '}');
    writer_close(w, '}');
    writer_close(w, '}');
}

void api_openapi(struct call *call, const struct health *h)
{
    struct writer w = {.out = &call->body, .lines = 4};

    writer_open(&w, NULL, '{');
    writer_text(&w, "openapi", "3.0.3");
    writer_open(&w, "info", '{');
    writer_text(&w, "title", EXPORTER_NAME);
    writer_text(&w, "version", EXPORTER_VERSION);
    writer_close(&w, '}');
    if (*h->external_url != '\0') {
        writer_open(&w, "servers", '[');
        writer_open(&w, NULL, '{');
        writer_text(&w, "url", h->external_url);
        writer_close(&w, '}');
        writer_close(&w, ']');
    }
    writer_open(&w, "paths", '{');
    for (size_t i = 0; i < ENDPOINT_COUNT; i++) {
        if (!endpoints[i].page)
            put_endpoint(&w, &endpoints[i]);
    }
    writer_close(&w, '}');
    put_error_schema(&w);
    writer_close(&w, '}');
    strbuf_addc(&call->body, '\n');
}
