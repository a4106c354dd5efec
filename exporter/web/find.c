/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/find.h"

#include "exporter/evaluation.h"
#include "exporter/text/object_name.h"

enum { NAME_MAX_BYTES = 4096 };

/* As people write it: KIND[.GROUP]/[NAMESPACE/]NAME. */
static void add_object_name(struct strbuf *out, char *const *values)
{
    const char *group = values[PARAMETER_GROUP], *ns = values[PARAMETER_NAMESPACE];

    strbuf_adds(out, values[PARAMETER_KIND]);
    if (group)
        strbuf_addf(out, ".%s", group);
    if (ns && *ns)
        strbuf_addf(out, "/%s", ns);
    strbuf_addf(out, "/%s", values[PARAMETER_NAME]);
}

/* A slash in one of them would be read as the end of it. */
static bool has_slash(char *const *values)
{
    for (size_t i = 0; i < PARAMETER_COUNT; i++) {
        if (values[i] && strchr(values[i], '/'))
            return true;
    }
    return false;
}

const struct entry *find_object(struct call *call, const struct health *h, unsigned classes)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(NAME_MAX_BYTES);
    const struct entry *entry;
    struct error err;

    if (has_slash(call->query.values)) {
        api_refuse(call, MHD_HTTP_BAD_REQUEST, "a kind, group, namespace or name has no '/'");
        return NULL;
    }
    add_object_name(&name, call->query.values);
    entry = object_find_in(h->evaluation->store, classes, name.data,
                           call->query.values[PARAMETER_DEFAULT_NAMESPACE], &err);
    if (!entry && classes >> CLASS_BINDING & 1)
        entry = object_find_binding_of(h->evaluation->store, name.data);
    if (!entry)
        api_refuse(call, MHD_HTTP_NOT_FOUND, err.text);
    return entry;
}
