/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/link.h"

#include "exporter/system/url.h"
#include "exporter/web/html.h"
#include "metrics/model/store.h"

enum { LINK_MAX = 64 * 1024 };

void link_open(struct strbuf *out, const char *path, const struct link_value *values, size_t count)
{
    CLEANUP(strbuf_release) struct strbuf link = STRBUF_INIT(LINK_MAX);

    strbuf_addf(&link, "%s?", path);
    for (size_t i = 0; i < count; i++) {
        if (values[i].value)
            url_add(&link, parameter_names[values[i].parameter], values[i].value);
    }
    strbuf_adds(out, "<a href=\"");
    html_text(out, link.data);
    strbuf_adds(out, "\">");
}

static void add_name(struct strbuf *out, const char *kind, const char *ns, const char *name)
{
    html_textf(out, "%s %s%s%s", kind, ns, *ns != '\0' ? "/" : "", name);
}

void link_policy(struct strbuf *out, struct policy_name policy)
{
    link_open_with(out, "policy", {PARAMETER_KIND, policy.kind},
                   {PARAMETER_NAMESPACE, *policy.ns ? policy.ns : NULL},
                   {PARAMETER_NAME, policy.name});
    add_name(out, policy.kind, policy.ns, policy.name);
    strbuf_adds(out, "</a>");
}

void link_policy_name(struct strbuf *out, struct policy_name policy)
{
    add_name(out, policy.kind, policy.ns, policy.name);
}

/* The name of an object whose page is found by its group as well. */
static void link_object(struct strbuf *out, const char *path, struct identity id)
{
    CLEANUP(free_cleanup) char *group = xmemdup0(id.api_version, api_group_len(id.api_version));

    link_open_with(out, path, {PARAMETER_KIND, id.kind}, {PARAMETER_GROUP, group},
                   {PARAMETER_NAMESPACE, *id.ns ? id.ns : NULL}, {PARAMETER_NAME, id.name});
    add_name(out, id.kind, id.ns, id.name);
    strbuf_adds(out, "</a>");
}

void link_template(struct strbuf *out, struct identity template)
{
    link_object(out, "template", template);
}

void link_conflict(struct strbuf *out, struct identity resource)
{
    link_object(out, "conflict", resource);
}

void link_entry(struct strbuf *out, const struct entry *entry)
{
    const struct identity id = {entry->partition->type->api_version, entry_kind(entry),
                                entry_ns(entry), entry->name};

    if (entry_exists(entry) && entry_class(entry) == CLASS_TEMPLATE)
        link_template(out, id);
    else if (entry_exists(entry) && entry_class(entry) == CLASS_POLICY)
        link_policy(out, policy_name_of(entry));
    else
        add_name(out, id.kind, id.ns, id.name);
}

void link_namespace(struct strbuf *out, const char *ns)
{
    link_open_with(out, "namespace", {PARAMETER_NAMESPACE, ns});
    html_text(out, ns);
    strbuf_adds(out, "</a>");
}
