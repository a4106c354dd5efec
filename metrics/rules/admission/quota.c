/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/admission/quota.h"

#include "metrics/base/map.h"
#include "metrics/rules/admission/admission.h"

/* ---- usage of bindings ---- */

int64_t quota_count_replicas(const struct target_cluster *clusters, uint32_t count)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < count; i++)
        sum += clusters[i].replicas;
    return sum;
}

struct quota_load quota_load_of(const struct binding *b)
{
    if (!b)
        return (struct quota_load){0};
    return (struct quota_load){b->requests, b->request_count,
                               quota_count_replicas(b->clusters, b->cluster_count)};
}

int64_t quota_usage(const struct quota_load *load, const char *resource)
{
    int64_t product;

    for (uint32_t i = 0; i < load->request_count; i++) {
        const struct resource_request *r = &load->requests[i];

        if (strcmp(r->resource, resource) != 0)
            continue;
        return __builtin_mul_overflow(quota_units(resource, r->amount, QUOTA_ROUND_UP),
                                      load->replicas, &product)
                   ? INT64_MAX
                   : product;
    }
    return 0;
}

bool quota_usage_is_known(const struct binding *b)
{
    return b->component_count == 0 && !b->undetermined;
}

static int64_t add_saturated(int64_t a, int64_t b)
{
    int64_t sum;

    if (__builtin_add_overflow(a, b, &sum))
        return b > 0 ? INT64_MAX : INT64_MIN;
    return sum;
}

/* ---- objects of a namespace ---- */

/* Returns the partition of a kind in a namespace; NULL if the store has none. */
static const struct partition *find_partition(const struct store *store, const char *api_version,
                                              const char *kind, const char *ns)
{
    const struct type *type = store_find_type(store, api_version, kind);
    const char *shared = intern_find(store_string_pool(store), ns);

    return type && shared ? type_find_partition(store, type, shared) : NULL;
}

void quotas_of_namespace(const struct store *store, const char *ns, struct entry_list *out)
{
    const struct partition *p = find_partition(store, QUOTA_API_VERSION, QUOTA_KIND, ns);

    for (size_t i = 0; p && i < p->count; i++) {
        struct entry *entry = partition_entry(p, i);
        size_t at;

        if (!entry_quota(entry))
            continue;
        at = entry_sort_index(out->items, out->count, entry);
        entry_list_add(out, entry);
        memmove(&out->items[at + 1], &out->items[at],
                (out->count - 1 - at) * sizeof(struct entry *));
        out->items[at] = entry;
    }
}

static bool has_request(const struct binding *b, const char *resource)
{
    for (uint32_t i = 0; i < b->request_count; i++) {
        if (strcmp(b->requests[i].resource, resource) == 0)
            return true;
    }
    return false;
}

struct quota_sum quota_sum_bindings(const struct store *store, const char *ns, const char *resource)
{
    const struct kind_def *def = kind_of_bindings(false);
    const struct partition *p = find_partition(store, def->api_version, def->name, ns);
    struct quota_sum sum = {.is_complete = true};

    for (size_t i = 0; p && i < p->count; i++) {
        const struct binding *b = entry_binding(partition_entry(p, i));
        struct quota_load load = quota_load_of(b);

        if (!b)
            continue;
        sum.requested |= has_request(b, resource);
        sum.is_complete &= quota_usage_is_known(b);
        if (b->component_count == 0)
            sum.amount = add_saturated(sum.amount, quota_usage(&load, resource));
    }
    return sum;
}

/* ---- totals ---- */

/* Sum of one resource in one namespace. */
struct total {
    const char *resource; /* Interned. */
    __int128 amount;      /* Without saturation, so that usages can be subtracted. */
    size_t unknown;       /* Bindings with an unknown usage. */
    size_t requesting;    /* Bindings that request the resource. */
};

struct namespace_totals {
    const char *ns; /* Interned. */
    struct total *items;
    size_t count;
};

struct quota_totals {
    const struct store *store;
    struct map namespaces; /* struct namespace_totals by address of the name. */
};

static bool is_namespace(const void *item, const void *ns)
{
    return ((const struct namespace_totals *)item)->ns == ns;
}

struct quota_totals *quota_totals_new(const struct store *store)
{
    struct quota_totals *totals = xcalloc(1, sizeof(*totals));

    totals->store = store;
    totals->namespaces = MAP_INIT(is_namespace);
    return totals;
}

void quota_totals_free(struct quota_totals *totals)
{
    struct namespace_totals *n;

    if (!totals)
        return;
    for (size_t at = 0; (n = map_next(&totals->namespaces, &at)) != NULL;) {
        free(n->items);
        free(n);
    }
    map_release(&totals->namespaces);
    free(totals);
}

/* Adds a binding to a sum, or removes it (`sign` -1). Accepts NULL. */
static void add_binding(struct total *t, const struct binding *b, int sign)
{
    struct quota_load load = quota_load_of(b);

    if (!b)
        return;
    if (has_request(b, t->resource))
        t->requesting += (size_t)sign;
    if (!quota_usage_is_known(b))
        t->unknown += (size_t)sign;
    if (b->component_count == 0)
        t->amount += (__int128)sign * quota_usage(&load, t->resource);
}

void quota_totals_update(struct quota_totals *totals, const char *ns, const struct binding *old,
                         const struct binding *fresh)
{
    struct namespace_totals *n = map_get(&totals->namespaces, map_hash_address(ns), ns);

    for (size_t i = 0; n && i < n->count; i++) {
        add_binding(&n->items[i], old, -1);
        add_binding(&n->items[i], fresh, 1);
    }
}

/* Returns the total of an interned resource in an interned namespace, computed on first use. */
static const struct total *find_total(struct quota_totals *totals, const char *ns,
                                      const char *resource)
{
    struct namespace_totals *n = map_get(&totals->namespaces, map_hash_address(ns), ns);
    const struct kind_def *def = kind_of_bindings(false);
    const struct partition *p = find_partition(totals->store, def->api_version, def->name, ns);
    struct total *t;

    if (!n) {
        n = xcalloc(1, sizeof(*n));
        n->ns = ns;
        map_add(&totals->namespaces, map_hash_address(ns), n);
    }
    for (size_t i = 0; i < n->count; i++) {
        if (n->items[i].resource == resource)
            return &n->items[i];
    }
    n->items = xreallocarray(n->items, n->count + 1, sizeof(*n->items));
    t = &n->items[n->count++];
    *t = (struct total){.resource = resource};
    for (size_t i = 0; p && i < p->count; i++)
        add_binding(t, entry_binding(partition_entry(p, i)), 1);
    return t;
}

struct quota_sum quota_totals_sum(struct quota_totals *totals, const char *ns, const char *resource)
{
    const struct total *t = find_total(totals, ns, resource);

    return (struct quota_sum){
        .amount = t->amount > INT64_MAX   ? INT64_MAX
                  : t->amount < INT64_MIN ? INT64_MIN
                                          : (int64_t)t->amount,
        .is_complete = t->unknown == 0,
        .requested = t->requesting > 0,
    };
}

/* ---- enforcement ---- */

/* Returns the usage of an interned resource in the namespace of a quota. */
static struct quota_sum sum_for_quota(const struct quota_scope *scope, const struct entry *quota,
                                      const char *resource)
{
    return scope->totals ? quota_totals_sum(scope->totals, entry_ns(quota), resource)
                         : quota_sum_bindings(scope->store, entry_ns(quota), resource);
}

bool quotas_are_enforced(gate_set gates)
{
    return gate_is_on(gates, GATE_FEDERATED_QUOTA_ENFORCEMENT);
}

bool quota_is_admitted(const struct quota_scope *scope, const struct entry *quota)
{
    return admission_keeps_out(entry_quota(quota)->admission, scope->release) != RELEASE_ANSWER_YES;
}

/* Arguments of quota_judge(). */
struct judgement {
    const struct quota_scope *scope;
    const char *ns;
    const struct quota_load *before;
    const struct quota_load *after;
    bool by_status;
};

static int64_t usage_change(const struct judgement *j, const char *resource)
{
    int64_t before = quota_usage(j->before, resource);

    return add_saturated(quota_usage(j->after, resource), before == INT64_MAX ? 0 : -before);
}

/* Returns true if the write changes the usage of a resource that the quota limits. */
static bool concerns_quota(const struct judgement *j, const struct federated_quota *q)
{
    for (uint32_t i = 0; i < q->limit_count; i++) {
        if (usage_change(j, q->limits[i].resource) != 0)
            return true;
    }
    return false;
}

static enum quota_answer judge_limit(const struct judgement *j, const struct entry *quota,
                                     const struct quota_limit *limit, struct quota_excess *excess)
{
    struct quota_sum sum = sum_for_quota(j->scope, quota, limit->resource);
    int64_t used = j->by_status && limit->used > sum.amount ? limit->used : sum.amount;
    int64_t needed = usage_change(j, limit->resource);
    int64_t then = add_saturated(used, needed);

    /* The webhook drops amounts that are not above 0 before it compares. */
    if (then > 0 && then > limit->amount) {
        *excess = (struct quota_excess){quota, limit->resource, limit->amount, used, needed};
        return QUOTA_REFUSES;
    }
    return sum.is_complete || !quota_resource_is_requested(limit->resource) ? QUOTA_ALLOWS
                                                                            : QUOTA_UNKNOWN;
}

enum quota_answer quota_judge(const struct quota_scope *scope, const char *ns,
                              const struct quota_load *before, const struct quota_load *after,
                              bool by_status, struct quota_excess *excess)
{
    const struct judgement j = {scope, ns, before, after, by_status};
    CLEANUP(entry_list_release) struct entry_list quotas = {0};
    enum quota_answer answer = QUOTA_ALLOWS;

    if (!quotas_are_enforced(scope->gates) || !*ns ||
        before->request_count + after->request_count == 0)
        return QUOTA_ALLOWS;
    if (incomplete_has(scope->incomplete, QUOTA_API_VERSION, QUOTA_KIND))
        return QUOTA_UNKNOWN;
    quotas_of_namespace(scope->store, ns, &quotas);
    for (size_t i = 0; i < quotas.count; i++) {
        const struct federated_quota *q = entry_quota(quotas.items[i]);

        if (!quota_is_admitted(scope, quotas.items[i]))
            continue;
        for (uint32_t k = 0; concerns_quota(&j, q) && k < q->limit_count; k++) {
            enum quota_answer one = judge_limit(&j, quotas.items[i], &q->limits[k], excess);

            if (one == QUOTA_REFUSES)
                return one;
            answer = one == QUOTA_UNKNOWN ? one : answer;
        }
    }
    return answer;
}

/* ---- texts ---- */

void quota_excess_add_text(const struct quota_excess *e, struct strbuf *out)
{
    strbuf_addf(out, "%s %s/%s limits %s to ", QUOTA_KIND, entry_ns(e->quota), e->quota->name,
                e->resource);
    quota_add_amount(out, e->resource, e->limit);
    strbuf_adds(out, "; ");
    quota_add_amount(out, e->resource, e->used);
    strbuf_adds(out, " is used, and the template ");
    if (e->needed <= 0) {
        strbuf_adds(out, "gives back only ");
        quota_add_amount(out, e->resource, -e->needed);
        return;
    }
    strbuf_adds(out, "needs ");
    quota_add_amount(out, e->resource, e->needed);
    strbuf_adds(out, " more");
}

const char *quota_of_message(const char *message, size_t *len)
{
    /* Karmada 1.14, and later releases. */
    static const struct {
        const char *before;
        char end;
    } forms[] = {{"Quota exceeded for FederatedResourceQuota ", '.'},
                 {"FederatedResourceQuota(", ')'}};

    for (size_t i = 0; message && i < ARRAY_LEN(forms); i++) {
        const char *found = strstr(message, forms[i].before);
        const char *name = found ? found + strlen(forms[i].before) : NULL;
        /* A name of an object may contain a dot: that of the sentence is before a space. */
        const char *end = name ? name + strcspn(name, ") ") : NULL;

        if (!name)
            continue;
        while (end > name && end[-1] == forms[i].end)
            end--;
        *len = (size_t)(end - name);
        return *len > 0 ? name : NULL;
    }
    return NULL;
}
