/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/query.h"

#include "exporter/web/request.h"
#include "exporter/web/response.h"
#include "metrics/base/suggest.h"

enum { VALUE_MAX = 1024, SHOWN_MAX = 64 };

#define PARAMETER_NAME(id, name, text) name,
#define PARAMETER_TEXT(id, name, text) (text),

const char *const parameter_names[PARAMETER_COUNT] = {PARAMETERS(PARAMETER_NAME)};
const char *const parameter_texts[PARAMETER_COUNT] = {PARAMETERS(PARAMETER_TEXT)};

struct query_reading {
    struct query *query;
    parameter_set known;
    struct error *err;
    bool failed;
};

/* Position of suggest_name() in the parameters that an endpoint accepts. */
struct parameter_cursor {
    parameter_set known;
    size_t at;
};

static const char *next_parameter(void *context)
{
    struct parameter_cursor *c = context;

    while (c->at < PARAMETER_COUNT && !(c->known >> c->at & 1))
        c->at++;
    return c->at < PARAMETER_COUNT ? parameter_names[c->at++] : NULL;
}

static bool fail_unknown_parameter(const char *name, parameter_set known, struct error *err)
{
    struct parameter_cursor cursor = {known, 0};
    const char *nearest = suggest_name(name, next_parameter, &cursor);

    if (nearest)
        return fail(err, "there is no parameter '%.*s'; do you mean '%s'?", SHOWN_MAX, name,
                    nearest);
    return fail(err, "there is no parameter '%.*s'", SHOWN_MAX, name);
}

static bool store_parameter(const struct query_reading *r, const char *name, const char *value)
{
    size_t at = 0;

    while (at < PARAMETER_COUNT &&
           !((r->known >> at & 1) && strcmp(parameter_names[at], name) == 0))
        at++;
    if (at == PARAMETER_COUNT)
        return fail_unknown_parameter(name, r->known, r->err);
    if (r->query->values[at])
        return fail(r->err, "the parameter '%s' is given twice", name);
    if (!value || strlen(value) > VALUE_MAX)
        return fail(r->err, "the parameter '%s' needs a value of at most %d bytes", name,
                    VALUE_MAX);
    r->query->values[at] = xstrdup(value);
    return true;
}

static enum MHD_Result read_argument(void *context, enum MHD_ValueKind kind, const char *name,
                                     const char *value)
{
    struct query_reading *r = context;

    (void)kind;
    r->failed = !store_parameter(r, name, value);
    return r->failed ? MHD_NO : MHD_YES;
}

bool query_parse(struct MHD_Connection *connection, parameter_set known, parameter_set required,
                 struct query *out, struct error *err)
{
    struct query_reading r = {.query = out, .known = known, .err = err};

    *out = (struct query){{0}};
    MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, read_argument, &r);
    for (size_t i = 0; !r.failed && i < PARAMETER_COUNT; i++) {
        if ((required >> i & 1) && (!out->values[i] || !*out->values[i]))
            r.failed = !fail(err, "the parameter '%s' is missing", parameter_names[i]);
    }
    return !r.failed;
}

void query_drop_empty(struct query *q)
{
    for (size_t i = 0; i < PARAMETER_COUNT; i++) {
        if (q->values[i] && !*q->values[i]) {
            free(q->values[i]);
            q->values[i] = NULL;
        }
    }
}

void query_release(struct query *q)
{
    for (size_t i = 0; i < PARAMETER_COUNT; i++)
        free(q->values[i]);
    *q = (struct query){{0}};
}

#define FORMAT_NAME(id, name, type) name,
#define FORMAT_TYPE(id, name, type) type,

static const char *const list_format_names[LIST_FORMAT_COUNT] = {LIST_FORMATS(FORMAT_NAME)};
const char *const list_format_types[LIST_FORMAT_COUNT] = {LIST_FORMATS(FORMAT_TYPE)};

enum list_format list_format_named(const char *name)
{
    for (unsigned i = 0; name && i < LIST_FORMAT_COUNT; i++) {
        if (strcmp(list_format_names[i], name) == 0)
            return i;
    }
    return name ? LIST_FORMAT_COUNT : LIST_JSON;
}

void list_format_negotiate(struct MHD_Connection *connection, struct query *query)
{
    if (query->values[PARAMETER_FORMAT])
        return;
    CLEANUP(strbuf_release)
    struct strbuf accept = request_header_values(connection, MHD_HTTP_HEADER_ACCEPT);

    query->values[PARAMETER_FORMAT] = xstrdup(
        list_format_names[negotiate_media_type(accept.data, list_format_types, LIST_FORMAT_COUNT)]);
}
