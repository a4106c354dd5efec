/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/resource_selector.h"

struct resource_selector *resource_selectors_decode(struct decode *d, const cJSON *spec,
                                                    const char *key, uint32_t *count)
{
    const cJSON *array = decode_array(d, spec, "spec", key);
    struct resource_selector *selectors = decode_room(array, sizeof(*selectors));
    char path[64];
    const cJSON *item;

    *count = 0;
    snprintf(path, sizeof(path), "spec.%s[]", key);
    cJSON_ArrayForEach (item, array) {
        decode_element(d, item, path);
        selectors[(*count)++] = (struct resource_selector){
            .api_version = decode_shared(d, item, path, "apiVersion"),
            .kind = decode_shared(d, item, path, "kind"),
            .ns = decode_shared(d, item, path, "namespace"),
            .name = decode_shared(d, item, path, "name"),
            .labels = label_selector_decode(d, item, path, "labelSelector"),
        };
    }
    return selectors;
}

void resource_selectors_release(struct intern *strings, struct resource_selector *selectors,
                                uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        intern_drop(strings, selectors[i].api_version);
        intern_drop(strings, selectors[i].kind);
        intern_drop(strings, selectors[i].ns);
        intern_drop(strings, selectors[i].name);
        label_selector_free(strings, selectors[i].labels);
    }
    free(selectors);
}

bool resource_selectors_equal(const struct resource_selector *a, const struct resource_selector *b,
                              uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (a[i].api_version != b[i].api_version || a[i].kind != b[i].kind || a[i].ns != b[i].ns ||
            a[i].name != b[i].name || !label_selector_equal(a[i].labels, b[i].labels))
            return false;
    }
    return true;
}
