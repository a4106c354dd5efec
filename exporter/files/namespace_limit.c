/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/namespace_limit.h"

#include "metrics/model/kind.h"
#include "metrics/model/work.h"

/* The kinds of settings (CLASS_SETTING) are selected by name. */
enum { NAME_SELECTOR_LEN = sizeof("metadata.name=") - 1 };

static bool is_settings(const struct kind_def *def, const cJSON *object)
{
    const struct kind_watch *watch = &def->watch;
    const cJSON *metadata = json_get(object, "metadata");
    const char *ns = json_str(metadata, "namespace", "");
    const char *name = json_str(metadata, "name", "");

    if (def->class != CLASS_SETTING || !watch->unfiltered ||
        strcmp(watch->read_api_version, json_str(object, "apiVersion", "")) != 0 ||
        strcmp(def->name, json_str(object, "kind", "")) != 0)
        return false;
    return (!watch->only_namespace || strcmp(watch->only_namespace, ns) == 0) &&
           (!watch->field_selector || strcmp(watch->field_selector + NAME_SELECTOR_LEN, name) == 0);
}

static bool read_settings(cJSON *object)
{
    size_t count;
    const struct kind_def *table = kind_table(&count);

    for (const struct kind_def *def = table; def < table + count; def++) {
        if (!is_settings(def, object))
            continue;
        cJSON_ReplaceItemInObjectCaseSensitive(object, "apiVersion",
                                               cJSON_CreateString(def->api_version));
        return true;
    }
    return false;
}

bool namespace_limit_reads(const struct namespace_filter *filter, cJSON *object)
{
    const char *ns = json_str(json_get(object, "metadata"), "namespace", "");
    const struct kind_def *def =
        kind_of(json_str(object, "apiVersion", ""), json_str(object, "kind", ""));

    if (def->watch.by_binding) {
        const char *binding_ns = work_binding_ns(object);

        return binding_ns && namespace_filter_allows(filter, binding_ns);
    }
    return def->watch.unfiltered || def->watch.when == WATCH_NEVER_FROM_FILES ||
           namespace_filter_allows(filter, ns) || read_settings(object);
}
