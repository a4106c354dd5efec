/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/list_format.h"

#include "exporter/web/accept.h"
#include "exporter/web/request.h"

#define FORMAT_NAME(id, name, type) name,
#define FORMAT_TYPE(id, name, type) type,

static const char *const names[LIST_FORMAT_COUNT] = {LIST_FORMATS(FORMAT_NAME)};
const char *const list_format_types[LIST_FORMAT_COUNT] = {LIST_FORMATS(FORMAT_TYPE)};

enum list_format list_format_named(const char *name)
{
    for (unsigned i = 0; name && i < LIST_FORMAT_COUNT; i++) {
        if (strcmp(names[i], name) == 0)
            return i;
    }
    return name ? LIST_FORMAT_COUNT : LIST_JSON;
}

void list_format_accept(struct MHD_Connection *connection, struct query *query)
{
    if (query->values[PARAMETER_FORMAT])
        return;
    CLEANUP(strbuf_release)
    struct strbuf accept = request_header(connection, MHD_HTTP_HEADER_ACCEPT);

    query->values[PARAMETER_FORMAT] =
        xstrdup(names[accept_type(accept.data, list_format_types, LIST_FORMAT_COUNT)]);
}
