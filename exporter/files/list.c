/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/list.h"

#include "exporter/yaml/yaml.h"

static const char suffix[] = "List";

const char *list_item_kind(const char *list_kind, size_t *len)
{
    size_t suffix_len = sizeof(suffix) - 1;
    size_t whole = strlen(list_kind);
    bool typed = whole > suffix_len && strcmp(list_kind + whole - suffix_len, suffix) == 0;

    *len = typed ? whole - suffix_len : 0;
    return list_kind;
}

bool list_item_inherits(const cJSON *item)
{
    return cJSON_IsObject(item) && !json_get(item, "apiVersion") && !json_get(item, "kind");
}

void list_item_complete(cJSON *item, const char *list_api_version, const char *list_kind)
{
    size_t len;
    const char *kind = list_item_kind(list_kind, &len);

    if (len == 0 || !list_item_inherits(item))
        return;

    CLEANUP(free_cleanup) char *text = xmemdup0(kind, len);

    /* A null there would hide the member that is added behind it. */
    cJSON_DeleteItemFromObjectCaseSensitive(item, "apiVersion");
    cJSON_DeleteItemFromObjectCaseSensitive(item, "kind");
    if (!cJSON_AddStringToObject(item, "apiVersion", list_api_version) ||
        !cJSON_AddStringToObject(item, "kind", text))
        memory_exhausted(0);
}

/* An empty list may come without `items`: Go leaves empty fields out, or writes null. */
static bool is_empty_list(const cJSON *document)
{
    const char *kind = json_str(document, "kind", "");
    size_t len;

    list_item_kind(kind, &len);
    return (len > 0 || strcmp(kind, suffix) == 0) && !json_get(document, "items") &&
           !json_get(json_get(document, "metadata"), "name");
}

/* Calls itself for lists in lists; the depth of JSON is bounded where it is read. */
void list_each(cJSON *document, size_t line, list_each_fn *each, void *context)
{
    const cJSON *items = json_get(document, "items");
    const char *api_version = json_str(document, "apiVersion", "");
    const char *kind = json_str(document, "kind", "");
    cJSON *item;

    if (is_empty_list(document))
        return;
    if (!cJSON_IsArray(items)) {
        each(context, document, line);
        return;
    }
    for (item = items->child; item; item = item->next) {
        size_t own = yaml_line(item);

        list_item_complete(item, api_version, kind);
        list_each(item, own ? own : line, each, context);
    }
}
