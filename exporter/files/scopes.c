/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/scopes.h"

#include "metrics/model/kind.h"

void scopes_init(struct scopes *s, const char *ns)
{
    /* As to kubectl, an empty name is none. */
    *s = (struct scopes){.ns = xstrdup(*ns ? ns : "default")};
}

void scopes_release(struct scopes *s)
{
    for (size_t i = 0; i < s->count; i++) {
        free(s->kinds[i].group);
        free(s->kinds[i].kind);
    }
    free(s->kinds);
    free(s->ns);
    *s = (struct scopes){0};
}

static bool is_known(const struct scopes *s, const char *group, size_t len, const char *kind)
{
    for (size_t i = 0; i < s->count; i++) {
        if (strcmp(s->kinds[i].kind, kind) == 0 && strlen(s->kinds[i].group) == len &&
            memcmp(s->kinds[i].group, group, len) == 0)
            return true;
    }
    return false;
}

/* True if it is news, and there is room for it. */
static bool remember(struct scopes *s, const char *group, const char *kind)
{
    if (s->count == SCOPES_MAX || is_known(s, group, strlen(group), kind))
        return false;
    s->kinds = xreallocarray(s->kinds, s->count + 1, sizeof(*s->kinds));
    s->kinds[s->count++] = (struct custom_kind){xstrdup(group), xstrdup(kind)};
    return true;
}

void scopes_learn_all(struct scopes *s, const struct scopes *from)
{
    for (size_t i = 0; i < from->count; i++)
        (void)remember(s, from->kinds[i].group, from->kinds[i].kind);
}

bool scopes_learn(struct scopes *s, const cJSON *object)
{
    const char *api_version = json_str(object, "apiVersion", "");
    const cJSON *spec = json_get(object, "spec");
    const char *group = json_str(spec, "group", "");
    const char *kind = json_str(json_get(spec, "names"), "kind", "");

    return strncmp(api_version, "apiextensions.k8s.io/", strlen("apiextensions.k8s.io/")) == 0 &&
           strcmp(json_str(object, "kind", ""), "CustomResourceDefinition") == 0 &&
           strcmp(json_str(spec, "scope", ""), "Cluster") == 0 && remember(s, group, kind);
}

/* The namespace that the object belongs to. */
static const char *namespace_of(const struct scopes *s, const cJSON *object, bool *guessed)
{
    const char *api_version = json_str(object, "apiVersion", "");
    const char *kind = json_str(object, "kind", "");
    const cJSON *metadata = json_get(object, "metadata");
    const char *own = json_str(metadata, "namespace", "");

    switch (scope_of_kind(api_version, kind)) {
    case SCOPE_CLUSTER:
        return "";
    case SCOPE_NAMESPACED:
        return *own ? own : s->ns;
    case SCOPE_UNKNOWN:
        break;
    }
    if (is_known(s, api_version, api_group_len(api_version), kind))
        return "";
    *guessed = true;
    return *own || *json_str(metadata, "uid", "") ? own : s->ns;
}

void scopes_place(const struct scopes *s, cJSON *object, bool *guessed)
{
    cJSON *metadata = cJSON_GetObjectItemCaseSensitive(object, "metadata");
    const char *ns = namespace_of(s, object, guessed);

    if (!cJSON_IsObject(metadata) || strcmp(ns, json_str(metadata, "namespace", "")) == 0)
        return;

    cJSON *text = cJSON_CreateString(ns);
    if (!text)
        memory_exhausted(0);
    cJSON_DeleteItemFromObjectCaseSensitive(metadata, "namespace");
    if (*ns == '\0')
        cJSON_Delete(text);
    else if (!cJSON_AddItemToObject(metadata, "namespace", text))
        memory_exhausted(0);
}
