/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/federated_quota.h"

#include "metrics/base/number.h"
#include "metrics/base/strbuf.h"

#include <math.h>

/* ---- amounts ---- */

/* Thousandths of a core are the units of cpu. */
static double units_per_base(const char *resource)
{
    return strcmp(resource, "cpu") == 0 ? 1000 : 1;
}

int64_t quota_units(const char *resource, double amount, enum quota_rounding rounding)
{
    double scaled = amount * units_per_base(resource);
    double nearest = round(scaled);
    double whole = rounding == QUOTA_ROUND_UP ? ceil(scaled) : floor(scaled);

    /* Quantities are multiples of 10^-9: a smaller distance is an error of the multiplication. */
    if (fabs(scaled - nearest) < 1e-7)
        whole = nearest;
    if (!(whole < 0x1p63))
        return INT64_MAX;
    return whole < -0x1p63 ? INT64_MIN : (int64_t)whole;
}

double quota_base_units(const char *resource, int64_t units)
{
    return (double)units / units_per_base(resource);
}

static bool is_counted_in_bytes(const char *resource)
{
    return strcmp(resource, "memory") == 0 || strcmp(resource, "ephemeral-storage") == 0 ||
           strncmp(resource, "hugepages-", strlen("hugepages-")) == 0;
}

void quota_add_amount(struct strbuf *out, const char *resource, int64_t units)
{
    static const char *const suffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    size_t suffix = 0;

    if (strcmp(resource, "cpu") == 0) {
        strbuf_add_int(out, units % 1000 == 0 ? units / 1000 : units);
        strbuf_adds(out, units % 1000 == 0 ? "" : "m");
        return;
    }
    while (is_counted_in_bytes(resource) && units != 0 && units % 1024 == 0 &&
           suffix + 1 < ARRAY_LEN(suffixes)) {
        units /= 1024;
        suffix++;
    }
    strbuf_add_int(out, units);
    strbuf_adds(out, suffixes[suffix]);
}

bool quota_resource_is_requested(const char *resource)
{
    if (strncmp(resource, "requests.", strlen("requests.")) == 0)
        return false;
    return strcmp(resource, "cpu") == 0 || is_counted_in_bytes(resource) || strchr(resource, '/');
}

/* ---- object ---- */

/* Sets `out` to a quantity; returns false if `item` is none. The admission reports the defect. */
static bool read_amount(const cJSON *item, double *out)
{
    if (cJSON_IsNumber(item)) {
        *out = item->valuedouble;
        return true;
    }
    return cJSON_IsString(item) && parse_quantity(item->valuestring, out);
}

static int by_resource(const void *a, const void *b)
{
    return strcmp(((const struct quota_limit *)a)->resource,
                  ((const struct quota_limit *)b)->resource);
}

static void read_limits(struct decode *d, const cJSON *json, struct federated_quota *q)
{
    const cJSON *spec = decode_object(d, json, "", "spec");
    const cJSON *status = decode_object(d, json, "", "status");
    const cJSON *overall = decode_object(d, spec, "spec", "overall");
    const cJSON *used = decode_object(d, status, "status", "overallUsed");
    const cJSON *item;
    double amount;

    q->limits = decode_alloc_array(overall, sizeof(*q->limits));
    cJSON_ArrayForEach (item, overall) {
        struct quota_limit *limit = &q->limits[q->limit_count];

        if (!read_amount(item, &amount))
            continue;
        *limit = (struct quota_limit){
            .resource = intern_add(d->strings, item->string),
            .amount = quota_units(item->string, amount, QUOTA_ROUND_DOWN),
        };
        limit->used_known = read_amount(json_get(used, item->string), &amount);
        if (limit->used_known)
            limit->used = quota_units(item->string, amount, QUOTA_ROUND_UP);
        q->limit_count++;
    }
    if (q->limit_count > 1)
        qsort(q->limits, q->limit_count, sizeof(*q->limits), by_resource);
}

static void read_assignments(struct decode *d, const cJSON *json, struct federated_quota *q)
{
    static const char path[] = "spec.staticAssignments[]";
    const cJSON *spec = decode_object(d, json, "", "spec");
    const cJSON *array = decode_array(d, spec, "spec", "staticAssignments");
    const cJSON *item;

    q->clusters = decode_alloc_array(array, sizeof(*q->clusters));
    cJSON_ArrayForEach (item, array) {
        decode_check_element(d, item, path);
        q->clusters[q->cluster_count++] = decode_interned_or_empty(d, item, path, "clusterName");
    }
}

/* Makes a quota that no API server stores: without effect. */
static void drop_limits(struct intern *strings, struct federated_quota *q)
{
    for (uint32_t i = 0; i < q->limit_count; i++)
        intern_drop(strings, q->limits[i].resource);
    q->limit_count = 0;
}

void *federated_quota_decode(struct decode *d, const cJSON *json)
{
    struct federated_quota *q = pool_alloc_zeroed(intern_memory(d->strings), sizeof(*q));
    bool unread;

    read_limits(d, json, q);
    read_assignments(d, json, q);
    q->deleting = decode_is_deleting(d, decode_object(d, json, "", "metadata"));
    q->admission = decode_admission(d, json, &unread);
    if (unread)
        drop_limits(d->strings, q);
    if (d->failed) {
        federated_quota_release(d->strings, q);
        return NULL;
    }
    return q;
}

void federated_quota_release(struct intern *strings, void *object)
{
    struct federated_quota *q = object;

    if (!q)
        return;
    drop_limits(strings, q);
    for (uint32_t i = 0; i < q->cluster_count; i++)
        intern_drop(strings, q->clusters[i]);
    free(q->clusters);
    free(q->limits);
    free(q->admission);
    pool_free(q);
}
