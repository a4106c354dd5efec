/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/unserved.h"

static enum discovery_answer answer_before(const struct unserved_list *before,
                                           const struct identity *kind)
{
    for (size_t i = 0; i < before->count; i++) {
        const struct unserved *u = &before->items[i];

        if (strcmp(u->kind, kind->kind) == 0 && strcmp(u->api_version, kind->api_version) == 0)
            return u->answer;
    }
    return DISCOVERY_UNKNOWN;
}

void unserved_add(struct unserved_list *list, const struct identity *kind,
                  enum discovery_answer answer, const struct unserved_list *before,
                  const struct log *log)
{
    list->items = xreallocarray(list->items, list->count + 1, sizeof(*list->items));
    list->items[list->count++] = (struct unserved){
        .api_version = xstrdup(kind->api_version),
        .kind = xstrdup(kind->kind),
        .answer = answer,
    };
    if (answer != DISCOVERY_UNKNOWN && answer != answer_before(before, kind))
        log_write(log, LOG_LEVEL_WARN,
                  answer == DISCOVERY_ABSENT
                      ? "a policy selects a kind that the API server does not serve"
                      : "a policy selects a version of a kind that Karmada does not watch",
                  "api_version", kind->api_version, "kind", kind->kind);
}

void unserved_release(struct unserved_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].api_version);
        free(list->items[i].kind);
    }
    free(list->items);
    *list = (struct unserved_list){0};
}
