/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/list.h"

static bool is_same(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static void want_in(struct reflector_list *l, const struct reflector_spec *spec)
{
    struct reflector *found = NULL;

    for (size_t i = l->always_count; i < l->count && !found; i++) {
        struct reflector *r = l->items[i];

        if (r->objects.settings == spec->settings && strcmp(r->kind, spec->kind) == 0 &&
            strcmp(r->api_version, spec->api_version) == 0 &&
            strcmp(r->resource, spec->resource) == 0 && is_same(r->ns, spec->ns) &&
            is_same(r->field_selector, spec->field_selector))
            found = r;
    }
    if (found) {
        found->wants_relist = found->wants_relist || (spec->again && found->objects.bound_only);
    } else {
        found = reflector_new(l->context, spec);
        l->items = xreallocarray(l->items, l->count + 1, sizeof(struct reflector *));
        l->items[l->count++] = found;
    }
    found->wanted = true;
    found->wanted_all = found->wanted_all || !spec->bound_only;
    found->wanted_full = found->wanted_full || !spec->metadata_only;
}

void reflector_list_want(struct reflector_list *l, struct reflector_spec spec, bool namespaced)
{
    const struct namespace_filter *filter = l->context->filter;
    bool by_name = namespaced && !spec.ns && !spec.unfiltered && filter->namespace_count > 0;

    if (!by_name) {
        if (namespaced || spec.unfiltered || namespace_filter_allows(filter, ""))
            want_in(l, &spec);
        return;
    }
    for (size_t i = 0; i < filter->namespace_count; i++) {
        spec.ns = filter->namespaces[i];
        if (namespace_filter_allows(filter, spec.ns))
            want_in(l, &spec);
    }
}

void reflector_list_want_kinds(struct reflector_list *l, enum watch_condition when, bool awaited)
{
    size_t count;
    const struct kind_def *table = kind_table(&count);

    for (const struct kind_def *def = table; def < table + count; def++) {
        const struct kind_watch *watch = &def->watch;
        struct reflector_spec spec = {
            .api_version = watch->read_api_version ? watch->read_api_version : def->api_version,
            .kind = def->name,
            .resource = watch->resource,
            .ns = watch->only_namespace,
            .field_selector = watch->field_selector,
            .metadata_only = watch->metadata_only,
            .unfiltered = watch->unfiltered,
            .by_binding = watch->by_binding,
            .supplement = watch->supplement,
            .required = watch->required,
            .optional = watch->optional && !awaited,
            .settings = def->class == CLASS_SETTING ? def->api_version : NULL,
        };

        if (watch->when == when)
            reflector_list_want(l, spec, !def->cluster_scoped);
    }
}

void reflector_list_unwant(struct reflector_list *l)
{
    for (size_t i = l->always_count; i < l->count; i++) {
        struct reflector *r = l->items[i];

        r->wanted = r->wanted_all = r->wanted_full = false;
    }
}

void reflector_list_drop_unwanted(struct reflector_list *l)
{
    size_t kept = l->always_count;

    for (size_t i = l->always_count; i < l->count; i++) {
        struct reflector *r = l->items[i];
        const struct watch_counts *counts = &r->watch.counts;

        if (r->wanted) {
            reflector_keep(r, !r->wanted_all, !r->wanted_full);
            l->items[kept++] = r;
            continue;
        }
        l->past.lists += counts->lists;
        l->past.list_failures += counts->list_failures;
        l->past.audits += counts->audits;
        l->past.divergences += counts->divergences;
        for (size_t k = 0; k < END_REASON_COUNT; k++)
            l->past.restarts[k] += counts->restarts[k];
        reflector_clear(r);
        reflector_free(r);
    }
    l->count = kept;
}

void reflector_list_release(struct reflector_list *l)
{
    for (size_t i = 0; i < l->count; i++)
        reflector_free(l->items[i]);
    free(l->items);
    *l = (struct reflector_list){0};
}
