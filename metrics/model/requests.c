/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/requests.h"

#include "metrics/base/number.h"

enum { RESOURCES_MAX = 32, TEXT_MAX = 1 << 14 };

static const char path[] = "resources.requests";

/* The sum by resource; what is beyond the limit is left out. Names are borrowed. */
struct sums {
    struct resource_request items[RESOURCES_MAX];
    size_t count;
};

static double *amount_of(struct sums *s, const char *resource)
{
    for (size_t i = 0; i < s->count; i++) {
        if (strcmp(s->items[i].resource, resource) == 0)
            return &s->items[i].amount;
    }
    if (s->count == RESOURCES_MAX)
        return NULL;
    s->items[s->count] = (struct resource_request){.resource = resource};
    return &s->items[s->count++].amount;
}

static void add(struct decode *d, struct sums *s, const cJSON *requests)
{
    const cJSON *item;

    cJSON_ArrayForEach (item, json_members(requests)) {
        double *amount = amount_of(s, item->string);

        if (amount)
            *amount += decode_quantity(d, item, path);
    }
}

static void raise(struct decode *d, struct sums *s, const cJSON *requests)
{
    const cJSON *item;

    cJSON_ArrayForEach (item, json_members(requests)) {
        double *amount = amount_of(s, item->string);
        double least = decode_quantity(d, item, path);

        if (amount && least > *amount)
            *amount = least;
    }
}

static const cJSON *requests_in(const cJSON *container)
{
    return json_get(json_get(container, "resources"), "requests");
}

static int by_resource(const void *a, const void *b)
{
    return strcmp(((const struct resource_request *)a)->resource,
                  ((const struct resource_request *)b)->resource);
}

const char *requests_decode(struct decode *d, const cJSON *pod)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);
    struct sums s = {.count = 0};
    const cJSON *container;

    cJSON_ArrayForEach (container, json_get(pod, "containers"))
        add(d, &s, requests_in(container));
    cJSON_ArrayForEach (container, json_get(pod, "initContainers"))
        raise(d, &s, requests_in(container));
    add(d, &s, json_get(pod, "overhead"));
    if (s.count > 1)
        qsort(s.items, s.count, sizeof(*s.items), by_resource);
    for (size_t i = 0; i < s.count; i++)
        strbuf_addf(&text, "%s %.15g\n", s.items[i].resource, s.items[i].amount);
    return text.len > 0 && strbuf_ok(&text) ? intern_add(d->strings, text.data) : NULL;
}

struct resource_request *requests_of(struct intern *strings, const char *text, uint32_t *count)
{
    struct resource_request *requests = NULL;

    *count = 0;
    while (text && *text) {
        size_t name_len = strcspn(text, " ");
        size_t len = strcspn(text, "\n");
        CLEANUP(free_cleanup) char *number = xmemdup0(text + name_len + 1, len - name_len - 1);
        struct resource_request r = {.resource = intern_add_len(strings, text, name_len)};

        if (!parse_quantity(number, &r.amount))
            r.amount = 0;
        requests = xreallocarray(requests, *count + 1, sizeof(*requests));
        requests[(*count)++] = r;
        text += len + 1;
    }
    return requests;
}
