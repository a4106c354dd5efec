/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/form.h"

#include "exporter/web/response.h"
#include "metrics/base/number.h"

bool form_read(struct call *call, struct form *out)
{
    const char *name = call->query.values[PARAMETER_FORM];
    const char *width = call->query.values[PARAMETER_WIDTH];
    uint64_t columns = OUTPUT_WIDTH_DEFAULT;

    if (name && strcmp(name, "json") != 0 && strcmp(name, "text") != 0) {
        api_refuse(call, MHD_HTTP_BAD_REQUEST, "'format' takes json or text");
        return false;
    }
    if (width && !parse_uint(width, OUTPUT_WIDTH_MAX, &columns)) {
        api_refuse(call, MHD_HTTP_BAD_REQUEST, "'width' takes a number of columns, at most 10000");
        return false;
    }
    /* As where COLUMNS says so. */
    if (columns > 0 && columns < OUTPUT_WIDTH_MIN)
        columns = OUTPUT_WIDTH_MIN;
    *out = (struct form){name && strcmp(name, "text") == 0, (unsigned)columns};
    return true;
}

struct output form_begin(struct call *call, const struct form *form)
{
    struct output o = {.text = call->body, .width = form->width};

    call->content_type = RESPONSE_TEXT;
    return o;
}

void form_end(struct call *call, const struct output *o)
{
    call->body = o->text;
}
