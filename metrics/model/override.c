/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/override.h"

#include "metrics/model/changes.h"

void *override_decode(struct decode *d, const cJSON *json)
{
    const cJSON *metadata = decode_object(d, json, "", "metadata");
    int64_t created_ms = decode_time(d, metadata, "metadata", "creationTimestamp");
    int64_t changed_ms = user_changed_ms(d, metadata);

    if (d->failed)
        return NULL;

    struct override *o = xmalloc(sizeof(*o));

    o->created_ms = created_ms;
    o->changed_ms = changed_ms;
    return o;
}

void override_release(struct intern *strings, void *object)
{
    (void)strings;
    free(object);
}
