/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/api_versions.h"

#include "metrics/model/policy.h"
#include "metrics/model/store.h"

/* Returns true if the type has this kind and the API group of `api_version`, in any version. */
static bool is_same_kind(const struct type *type, const char *api_version, const char *kind)
{
    return strcmp(type->kind, kind) == 0 && api_group_equals(type->api_version, api_version);
}

enum api_version_answer api_version_judge(const struct api_version_source *source,
                                          const char *api_version, const char *kind)
{
    return source->judge ? source->judge(source->context, api_version, kind) : API_VERSION_UNKNOWN;
}

bool api_version_is_absent(const struct api_version_source *source, const char *api_version,
                           const char *kind)
{
    return api_version_judge(source, api_version, kind) == API_VERSION_ABSENT;
}

/* Returns true if the kind has objects, and all of them have other versions. */
static bool has_only_other_versions(const struct store *store, const char *api_version,
                                    const char *kind)
{
    bool has_other_version = false;

    for (const struct type *type = store_first_type(store); type; type = type->next) {
        if (type->objects == 0 || !is_same_kind(type, api_version, kind))
            continue;
        if (strcmp(type->api_version, api_version) == 0)
            return false;
        has_other_version = true;
    }
    return has_other_version;
}

bool api_version_is_unwatched(const struct store *store, const struct api_version_source *source,
                              const char *api_version, const char *kind)
{
    switch (api_version_judge(source, api_version, kind)) {
    case API_VERSION_UNWATCHED:
    case API_VERSION_UNSERVED:
        return true;
    case API_VERSION_WATCHED:
    case API_VERSION_ABSENT:
        return false;
    case API_VERSION_UNKNOWN:
        break;
    }
    return (!source->judge || source->objects_decide) &&
           has_only_other_versions(store, api_version, kind);
}

bool api_version_add_preferred(const struct api_version_source *source, const char *api_version,
                               const char *kind, struct strbuf *out)
{
    return source->preferred && source->preferred(source->context, api_version, kind, out);
}

void api_versions_mark_policies(const struct selector_index *index, struct graph *graph,
                                const struct entry *template, const void *old)
{
    const struct type *type = entry_type(template);
    const char *api_version, *kind;
    bool exists = entry_exists(template);

    if (exists == (old != NULL) || type->objects != (exists ? 1 : 0))
        return;
    graph_mark_class(graph, CLASS_OVERRIDE);
    for (size_t at = 0; selector_index_next_type(index, &at, &api_version, &kind);) {
        if (api_version && kind && is_same_kind(type, api_version, kind)) {
            graph_mark_class(graph, CLASS_POLICY);
            return;
        }
    }
}

/* Marks the templates of a kind in all versions except `api_version`. The texts are interned. */
static void mark_other_versions(const struct store *store, struct graph *graph,
                                const char *api_version, const char *kind)
{
    for (const struct type *type = store_first_type(store); type; type = type->next) {
        /* First the comparison in which most types differ. */
        if (type->kind == kind && api_version && type->api_version != api_version &&
            api_group_equals(type->api_version, api_version))
            graph_mark_type(graph, type);
    }
}

void api_versions_mark_templates(const struct store *store, struct graph *graph,
                                 const struct policy *policy)
{
    for (uint32_t i = 0; policy && i < policy->selector_count; i++)
        mark_other_versions(store, graph, policy->selectors[i].api_version,
                            policy->selectors[i].kind);
}

void api_versions_mark_all_templates(const struct store *store, struct graph *graph,
                                     const struct selector_index *index)
{
    const char *api_version, *kind;

    for (size_t at = 0; selector_index_next_type(index, &at, &api_version, &kind);)
        mark_other_versions(store, graph, api_version, kind);
}
