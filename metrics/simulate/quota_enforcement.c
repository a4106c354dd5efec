/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/quota_enforcement.h"

/* ---- refusals ---- */

static bool is_refused(struct overlay *overlay, const struct quota_load *before,
                       const struct quota_load *after, struct binding *fresh)
{
    const struct rule_context *c = overlay_context(overlay);
    const struct quota_scope scope = {c->store, c->gates, c->release, &c->incomplete,
                                      overlay_quota_totals(overlay)};
    struct quota_excess excess;

    switch (quota_judge(&scope, fresh->scope->ns, before, after, false, &excess)) {
    case QUOTA_ALLOWS:
        return false;
    case QUOTA_UNKNOWN:
        overlay_assume(overlay, ASSUMED_QUOTA);
        return false;
    case QUOTA_REFUSES:
        break;
    }

    struct quota_excess *copy = overlay_own_memory(overlay, xmalloc(sizeof(*copy)));

    *copy = excess;
    overlay_rare(fresh)->quota_excess = copy;
    return true;
}

bool quota_refuses_targets(struct overlay *overlay, const struct binding *old,
                           struct binding *fresh, const struct projection *targets)
{
    struct quota_load before = quota_load_of(old);
    struct quota_load after = {fresh->requests, fresh->request_count,
                               projection_count_replicas(targets, fresh)};

    if (fresh->component_count > 0 || after.replicas < 0 || (old && !quota_usage_is_known(old))) {
        quota_assume_unknown(overlay, fresh);
        return false;
    }
    return is_refused(overlay, &before, &after, fresh);
}

bool quota_refuses_requests(struct overlay *overlay, const struct binding *old,
                            struct binding *fresh)
{
    struct quota_load before = quota_load_of(old);
    struct quota_load after = quota_load_of(fresh);

    return old && is_refused(overlay, &before, &after, fresh);
}

void quota_assume_unknown(struct overlay *overlay, const struct binding *b)
{
    const struct rule_context *c = overlay_context(overlay);
    CLEANUP(entry_list_release) struct entry_list quotas = {0};

    if (!quotas_are_enforced(c->gates) || (b->request_count == 0 && b->component_count == 0))
        return;
    if (*b->scope->ns)
        quotas_of_namespace(c->store, b->scope->ns, &quotas);
    if (quotas.count > 0 ||
        (*b->scope->ns && incomplete_has(&c->incomplete, QUOTA_API_VERSION, QUOTA_KIND)))
        overlay_assume(overlay, ASSUMED_QUOTA);
}

/* ---- retries ---- */

/* Returns true if the present object of the entry leaves more room in quotas than `old`. */
static bool frees_room(const struct entry *entry, const void *old)
{
    struct quota_load before, now;

    if (entry_class(entry) == CLASS_QUOTA)
        return true;
    if (entry_class(entry) != CLASS_BINDING || !old || !*entry_ns(entry))
        return false;
    before = quota_load_of(old);
    now = quota_load_of(entry_binding(entry));
    for (uint32_t i = 0; i < before.request_count; i++) {
        const char *resource = before.requests[i].resource;

        if (quota_usage(&now, resource) < quota_usage(&before, resource))
            return true;
    }
    return false;
}

static void add_once(struct entry_list *list, struct entry *entry)
{
    for (size_t i = 0; i < list->count; i++) {
        if (entry_ns(list->items[i]) == entry_ns(entry))
            return;
    }
    entry_list_add(list, entry);
}

/* The order of the bindings in the store depends on the order in which a source read them. */
static int by_name(const void *a, const void *b)
{
    return entry_compare(*(const struct entry *const *)a, *(const struct entry *const *)b);
}

/* Appends the bindings of a namespace (interned) whose last write a quota has refused. */
static void list_refused(const struct store *store, const char *ns, struct entry_list *out)
{
    const struct kind_def *def = kind_of_bindings(false);
    const struct type *type = store_find_type(store, def->api_version, def->name);
    const struct partition *p = type ? type_find_partition(store, type, ns) : NULL;

    for (size_t i = 0; p && i < p->count; i++) {
        const struct binding *b = entry_binding(partition_entry(p, i));

        if (b && (binding_rare(b)->quota_excess || b->status.scheduled == SCHEDULED_QUOTA_EXCEEDED))
            entry_list_add(out, partition_entry(p, i));
    }
}

void quota_list_retries(struct overlay *overlay, struct entry_list *out)
{
    CLEANUP(entry_list_release) struct entry_list freed = {0};
    bool enforced = quotas_are_enforced(overlay_context(overlay)->gates);
    struct entry *entry;
    const void *old;

    while (overlay_next_replacement(overlay, &entry, &old)) {
        if (enforced && frees_room(entry, old))
            add_once(&freed, entry);
    }
    for (size_t i = 0; i < freed.count; i++)
        list_refused(overlay_context(overlay)->store, entry_ns(freed.items[i]), out);
    if (out->count > 1)
        qsort(out->items, out->count, sizeof(struct entry *), by_name);
}

/* ---- order ---- */

/* Returns by how much a resource is used more after the change than before; 0 if it is not. */
static int64_t growth_of(const struct quota_competitor *one, const char *resource)
{
    struct quota_load before = quota_load_of(one->before);
    struct quota_load after = quota_load_of(one->after);
    int64_t growth = quota_usage(&after, resource) - quota_usage(&before, resource);

    return growth > 0 ? growth : 0;
}

/* Returns true if the quota would allow the refused write before the writes of the others. */
static bool is_contested(const struct overlay *overlay, const struct quota_competitor *all,
                         size_t count, const struct quota_excess *e)
{
    const char *ns = entry_ns(e->quota);
    int64_t used = quota_totals_sum(overlay_quota_totals(overlay), ns, e->resource).amount;
    int64_t others = 0;

    for (size_t i = 0; i < count; i++) {
        if (strcmp(all[i].ns, ns) == 0)
            others += growth_of(&all[i], e->resource);
    }
    return others > 0 && used - others <= e->limit - e->needed;
}

void quota_find_contested(const struct overlay *overlay, struct quota_competitor *all, size_t count)
{
    const struct store *store = overlay_context(overlay)->store;

    if (count == 0 || store_object_count(store, CLASS_QUOTA) == 0)
        return;

    CLEANUP(listing_release)
    struct listing bindings = listing_make_unordered(store, CLASS_BINDING);

    for (size_t i = 0; i < bindings.count; i++) {
        const struct binding *b = entry_binding(bindings.entries[i]);
        const struct quota_excess *e = b ? binding_rare(b)->quota_excess : NULL;

        if (!e || !is_contested(overlay, all, count, e))
            continue;
        for (size_t k = 0; k < count; k++)
            all[k].contested |= strcmp(all[k].ns, entry_ns(e->quota)) == 0 &&
                                (all[k].after == b || growth_of(&all[k], e->resource) > 0);
    }
}
