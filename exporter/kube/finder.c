/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/finder.h"

#include "metrics/model/connector_resource.h"
#include "metrics/model/references.h"

/* Of what is kept: no pass of any source removes it. */
static const struct origin nobody = {.source = UINT32_MAX - 1};

void finder_init(struct template_finder *f, const struct kube_source *source,
                 const struct kube_settings *settings)
{
    *f = (struct template_finder){
        .source = source,
        .filter = settings->filter,
        .store = settings->store,
        .lookup = lookup_new(settings->transport, settings->filter, settings->now_ms),
    };
}

void finder_release(struct template_finder *f)
{
    lookup_free(f->lookup);
    *f = (struct template_finder){0};
}

/* True if a reflector would have it in the store, if there were such an object. */
static bool is_read(const struct kube_source *s, const struct identity *id)
{
    for (size_t i = 0; i < kube_source_count(s); i++) {
        const struct reflector *r = kube_source_reflector(s, i);

        if (r->synced && !r->objects.bound_only && !r->objects.settings &&
            strcmp(r->kind, id->kind) == 0 && strcmp(r->api_version, id->api_version) == 0 &&
            (!r->ns || strcmp(r->ns, id->ns) == 0))
            return true;
    }
    return false;
}

struct lookup_answer finder_ask(struct template_finder *f, const struct template_name *name,
                                enum lookup_client client, struct identity *id, int64_t now_ms)
{
    const struct api_resource *resource =
        discovery_named(kube_source_discovery(f->source), name->kind, name->group);

    if (!resource || kind_of(resource->api_version, resource->kind)->class != CLASS_TEMPLATE)
        return (struct lookup_answer){LOOKUP_UNKNOWN, NULL, ""};
    *id = (struct identity){resource->api_version, resource->kind,
                            resource->namespaced ? name->ns : "", name->name};
    if (namespace_filter_allows(f->filter, id->ns) && is_read(f->source, id))
        return (struct lookup_answer){LOOKUP_MISSING, NULL, ""};
    return lookup_ask(f->lookup,
                      &(struct fetch_spec){
                          .id = *id,
                          .resource = resource->resource,
                          .metadata_only = !is_connector_api_version(id->api_version) &&
                                           !kind_has_references(id->api_version, id->kind),
                      },
                      client, now_ms);
}

const struct entry *finder_keep(struct template_finder *f, const cJSON *object, struct error *err)
{
    struct identity id;

    if (store_put(f->store, object, nobody, err) == STORE_REJECTED ||
        !identity_read(object, &id, err))
        return NULL;
    return store_find(f->store, &id);
}
