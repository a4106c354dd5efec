/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/lease.h"

#include "metrics/base/number.h"

int64_t lease_expiry_read(const char *text)
{
    uint64_t seconds;

    return text && parse_uint(text, INT64_MAX / 1000, &seconds) ? (int64_t)seconds : 0;
}

void *lease_decode(struct decode *d, const cJSON *json)
{
    struct lease *l = xcalloc(1, sizeof(*l));

    l->asset_type = decode_shared(d, json, "", "assetType");
    l->holder = decode_shared(d, json, "", "holder");
    l->expires_s = lease_expiry_read(decode_text(d, json, "", "expiration"));
    l->snapshot_ms = decode_int(d, json, "", "snapshotMilliseconds", 0);
    if (d->failed) {
        lease_release(d->strings, l);
        return NULL;
    }
    return l;
}

void lease_release(struct intern *strings, void *object)
{
    struct lease *l = object;

    if (!l)
        return;
    intern_drop(strings, l->asset_type);
    intern_drop(strings, l->holder);
    free(l);
}
