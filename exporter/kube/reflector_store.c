/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/reflector_store.h"

#include "metrics/model/connector.h"

static void reject(struct reflector *f, const char *reason)
{
    f->rejected++;
    /* Each one is counted; the log would drown in them. */
    if ((f->rejected & (f->rejected - 1)) == 0)
        log_write(f->context->log, LOG_LEVEL_WARN, "an object cannot be read", "resource",
                  f->resource, "api_version", f->api_version, "error", reason, "so_far",
                  LOG_NUMBER((int64_t)f->rejected));
}

/* Under what the object is in the store. */
static bool read_identity(const struct reflector *f, const cJSON *object, struct identity *id,
                          struct error *err)
{
    if (!identity_read(object, id, err))
        return false;
    if (f->settings)
        id->api_version = SETTING_API_VERSION;
    return true;
}

static struct entry *find_own(const struct reflector *f, const cJSON *object)
{
    struct identity id;
    struct error ignored;
    struct entry *entry =
        read_identity(f, object, &id, &ignored) ? store_find(f->context->store, &id) : NULL;

    return entry && entry->object && entry->source == f->origin.source ? entry : NULL;
}

void reflector_take_away(struct reflector *f, const cJSON *object)
{
    struct entry *entry = find_own(f, object);

    if (entry)
        store_remove(f->context->store, entry);
}

static enum store_outcome put_setting(struct reflector *f, const cJSON *object, struct error *err)
{
    struct identity id;

    if (!read_identity(f, object, &id, err))
        return STORE_REJECTED;

    struct entry *entry = store_refer(f->context->store, &id);
    enum store_outcome outcome = store_put_at(f->context->store, entry, object, f->origin, err);
    store_tidy(f->context->store, entry);
    return outcome;
}

void reflector_put(struct reflector *f, const cJSON *object)
{
    const char *ns = json_str(json_get(object, "metadata"), "namespace", "");
    enum store_outcome outcome;
    struct error err;

    if (!f->unfiltered && !namespace_filter_allows(f->context->filter, ns))
        return;
    if (f->settings && connector_role_of(object) == ROLE_NONE) {
        reflector_take_away(f, object);
        return;
    }
    outcome = f->settings ? put_setting(f, object, &err)
                          : store_put(f->context->store, object, f->origin, &err);
    if (outcome == STORE_REJECTED)
        reject(f, err.text);
}

void reflector_reject(struct reflector *f, const cJSON *object, const char *reason)
{
    struct entry *entry = object ? find_own(f, object) : NULL;

    reject(f, reason);
    if (entry)
        entry->sweep = f->origin.sweep;
}
