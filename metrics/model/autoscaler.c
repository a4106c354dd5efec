/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/autoscaler.h"

#include "metrics/model/builtin_kinds.h"
#include "metrics/model/managed_fields.h"

bool is_autoscaler_kind(const char *api_version, const char *kind)
{
    return strcmp(kind, "HorizontalPodAutoscaler") == 0 &&
           api_group_is(api_version, api_group_len(api_version), "autoscaling");
}

struct autoscaler *autoscaler_decode(struct decode *d, const cJSON *json)
{
    const cJSON *metadata = json_get(json, "metadata");
    const cJSON *target = json_get(json_get(json, "spec"), "scaleTargetRef");
    const char *kind = json_str(target, "kind", "");
    const char *name = json_str(target, "name", "");
    struct autoscaler *a;

    /* The object is a valid template without a target, too. */
    if (*kind == '\0' || *name == '\0')
        return NULL;
    a = xmalloc(sizeof(*a));
    *a = (struct autoscaler){
        .api_version = intern_add(d->strings, json_str(target, "apiVersion", "")),
        .kind = intern_add(d->strings, kind),
        .name = intern_add(d->strings, name),
        .changed_ms = user_change_time_ms(d, metadata, NULL),
        .deleting = decode_is_deleting(d, metadata),
    };
    return a;
}

void autoscaler_release(struct intern *strings, struct autoscaler *a)
{
    if (!a)
        return;
    intern_drop(strings, a->api_version);
    intern_drop(strings, a->kind);
    intern_drop(strings, a->name);
    free(a);
}

bool autoscaler_equal(const struct autoscaler *a, const struct autoscaler *b)
{
    if (!a || !b)
        return a == b;
    return a->api_version == b->api_version && a->kind == b->kind && a->name == b->name &&
           a->changed_ms == b->changed_ms && a->deleting == b->deleting;
}
