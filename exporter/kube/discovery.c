/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/discovery.h"

#include "exporter/kube/server_response.h"

enum discovery_step { STEP_IDLE, STEP_CORE, STEP_GROUPS, STEP_VERSIONS };

struct discovery {
    enum discovery_step step;
    size_t at; /* STEP_VERSIONS: index of the requested version in `next`. */
    bool legacy;
    bool succeeded;
    char *path;
    uint64_t version;
    struct api_table known;
    struct api_table next; /* Results of the active round. */
};

struct discovery *discovery_new(void)
{
    return xcalloc(1, sizeof(struct discovery));
}

void discovery_free(struct discovery *d)
{
    if (!d)
        return;
    api_table_release(&d->known);
    api_table_release(&d->next);
    free(d->path);
    free(d);
}

const char *discovery_path(const struct discovery *d)
{
    return d->path;
}

const char *discovery_accept(void)
{
    return "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
           "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
           "application/json";
}

static void set_path(struct discovery *d, const char *prefix, const char *rest)
{
    struct strbuf path = STRBUF_INIT(SIZE_MAX);
    size_t len;

    strbuf_addf(&path, "%s%s", prefix, rest);
    free(d->path);
    d->path = strbuf_take(&path, &len);
}

void discovery_begin(struct discovery *d)
{
    if (d->step != STEP_IDLE)
        return;
    d->step = STEP_CORE;
    d->at = 0;
    d->legacy = false;
    set_path(d, "/api", "");
}

/* Sets the path to the next version that needs a request of its own. Returns false at the end. */
static bool select_next_version(struct discovery *d)
{
    while (d->at < d->next.version_count) {
        const struct api_version *version = &d->next.versions[d->at];

        if (version->state == API_FAILED && d->legacy) {
            set_path(d, strchr(version->name, '/') ? "/apis/" : "/api/", version->name);
            return true;
        }
        d->at++;
    }
    return false;
}

/* Reads the versions of the core group or of all other groups. Returns false on errors. */
static bool read_versions(struct discovery *d, const struct discovery_reply *reply,
                          const cJSON *json)
{
    const char *type = reply->content_type;
    struct error ignored;

    /* Extension API servers have no core group. */
    if (reply->http_status == 404)
        return d->step == STEP_CORE;
    if (!json)
        return false;
    if (content_type_is(type, CONTENT_TYPE_JSON) &&
        content_type_has_parameter(type, "g", "apidiscovery.k8s.io") &&
        content_type_has_parameter(type, "as", "APIGroupDiscoveryList"))
        return api_table_add_aggregated(&d->next, json, &ignored);
    d->legacy = true;
    return api_table_add_versions(&d->next, json, &ignored);
}

bool discovery_receive(struct discovery *d, const struct discovery_reply *reply)
{
    struct error ignored;
    CLEANUP(json_cleanup)
    cJSON *json =
        reply->http_status == 200 ? json_parse(reply->body, reply->len, NULL, &ignored) : NULL;

    if (d->step == STEP_CORE) {
        d->next.core_known = read_versions(d, reply, json);
        d->step = STEP_GROUPS;
        set_path(d, "/apis", "");
        return false;
    }
    if (d->step == STEP_GROUPS) {
        d->next.groups_known = read_versions(d, reply, json);
        d->step = STEP_VERSIONS;
    } else if (d->step == STEP_VERSIONS) {
        /* API_FAILED makes api_table_inherit() copy the resources of the previous round. */
        if (json &&
            !api_table_add_resources(&d->next, d->next.versions[d->at].name, json, &ignored))
            d->next.versions[d->at].state = API_FAILED;
        d->at++;
    }
    if (d->step == STEP_VERSIONS && select_next_version(d))
        return false;

    d->succeeded = d->next.core_known && d->next.groups_known;
    api_table_inherit(&d->next, &d->known);
    if (!api_table_equal(&d->next, &d->known))
        d->version++;
    api_table_release(&d->known);
    d->known = d->next;
    d->next = (struct api_table){0};
    d->step = STEP_IDLE;
    free(d->path);
    d->path = NULL;
    return true;
}

bool discovery_succeeded(const struct discovery *d)
{
    return d->succeeded;
}

bool discovery_is_legacy(const struct discovery *d)
{
    return d->legacy;
}

uint64_t discovery_version(const struct discovery *d)
{
    return d->version;
}

enum discovery_answer discovery_find(const struct discovery *d, const char *api_version,
                                     const char *kind, const struct api_resource **out)
{
    const struct api_resource *found = api_table_find(&d->known, api_version, kind);
    const struct api_version *version = api_table_find_version(&d->known, api_version);
    bool part_known = strchr(api_version, '/') ? d->known.groups_known : d->known.core_known;

    if (found) {
        *out = found;
        return found == api_table_find_preferred(&d->known, api_version, kind)
                   ? DISCOVERY_SERVED
                   : DISCOVERY_UNWATCHED;
    }
    if (version)
        return version->state == API_READ ? DISCOVERY_ABSENT : DISCOVERY_UNKNOWN;
    return part_known ? DISCOVERY_ABSENT : DISCOVERY_UNKNOWN;
}

const struct api_resource *discovery_find_preferred(const struct discovery *d,
                                                    const char *api_version, const char *kind)
{
    return api_table_find_preferred(&d->known, api_version, kind);
}

const struct api_resource *discovery_find_by_name(const struct discovery *d, const char *typed,
                                                  const char *group)
{
    return api_table_find_by_name(&d->known, typed, group);
}
