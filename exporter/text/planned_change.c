/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/planned_change.h"

#include "metrics/base/json.h"
#include "metrics/model/kind.h"

void planned_object_set_scope(const struct evaluation *e, cJSON *object)
{
    cJSON *metadata = cJSON_GetObjectItemCaseSensitive(object, "metadata");

    if (e->session && kube_source_is_cluster_scoped(kube_session_source(e->session),
                                                    json_str(object, "apiVersion", ""),
                                                    json_str(object, "kind", "")))
        cJSON_DeleteItemFromObjectCaseSensitive(metadata, "namespace");
}

static bool is_policy(const cJSON *object)
{
    return kind_of(json_str(object, "apiVersion", ""), json_str(object, "kind", ""))->class ==
           CLASS_POLICY;
}

/* Returns true if the sources read the kind because a policy selects it. */
static bool is_selected(const struct engine *engine, const char *api_version, const char *kind)
{
    const char *version, *name;

    for (size_t at = 0; engine_next_selected_type(engine, &at, &version, &name);) {
        if (version && name && strcmp(version, api_version) == 0 && strcmp(name, kind) == 0)
            return true;
    }
    return false;
}

static bool needs_priority_classes(const struct evaluation *e, const cJSON *object)
{
    return json_get(json_get(object, "spec"), "schedulePriority") &&
           !engine_uses_priority_classes(e->engine);
}

bool planned_object_needs_kinds(const struct evaluation *e, const cJSON *object)
{
    const cJSON *selector;

    if (!e->session || !is_policy(object))
        return false;
    cJSON_ArrayForEach (selector, json_array(json_get(object, "spec"), "resourceSelectors")) {
        if (!is_selected(e->engine, json_str(selector, "apiVersion", ""),
                         json_str(selector, "kind", "")))
            return true;
    }
    return needs_priority_classes(e, object);
}

void planned_object_select_kinds(struct evaluation *e, const cJSON *object)
{
    const cJSON *selector;

    cJSON_ArrayForEach (selector, json_array(json_get(object, "spec"), "resourceSelectors")) {
        const char *api_version = json_str(selector, "apiVersion", "");
        const char *kind = json_str(selector, "kind", "");

        if (!is_selected(e->engine, api_version, kind))
            engine_select_type(e->engine, api_version, kind);
    }
    if (needs_priority_classes(e, object))
        engine_select_priority_classes(e->engine);
}
