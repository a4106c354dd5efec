/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/api_versions.h"

static bool same_group(const char *a, const char *b)
{
    size_t len = api_group_len(a);

    return len == api_group_len(b) && memcmp(a, b, len) == 0;
}

/* The other version of the same kind, or the same one. */
static bool same_kind(const struct type *type, const char *api_version, const char *kind)
{
    return strcmp(type->kind, kind) == 0 && same_group(type->api_version, api_version);
}

bool api_version_is_unwatched(const struct store *store, const struct api_version_judge *judge,
                              const char *api_version, const char *kind)
{
    bool others = false;

    if (judge->judge)
        return judge->judge(judge->context, api_version, kind) == API_VERSION_UNWATCHED;
    for (const struct type *type = store_types(store); type; type = type->next) {
        if (type->objects == 0 || !same_kind(type, api_version, kind))
            continue;
        if (strcmp(type->api_version, api_version) == 0)
            return false;
        others = true;
    }
    return others;
}

void api_versions_changed(const struct selector_index *index, struct graph *graph,
                          const struct entry *template, const void *old)
{
    const struct type *type = template->partition->type;
    const char *api_version, *kind;
    bool exists = entry_exists(template);

    if (exists == (old != NULL) || type->objects != (exists ? 1 : 0))
        return;
    for (size_t at = 0; selector_index_next_type(index, &at, &api_version, &kind);) {
        if (api_version && kind && same_kind(type, api_version, kind)) {
            graph_mark_class(graph, CLASS_POLICY);
            return;
        }
    }
}
