/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/reflector_store.h"

#include "metrics/model/template.h"

/* Under what the object is in the store. */
static bool read_identity(const struct reflector_store *s, const cJSON *object, struct identity *id,
                          struct error *err)
{
    if (!identity_read(object, id, err))
        return false;
    if (s->settings)
        id->api_version = s->settings;
    return true;
}

static struct entry *find_own(const struct reflector_store *s, const cJSON *object)
{
    struct identity id;
    struct error ignored;
    struct entry *entry =
        read_identity(s, object, &id, &ignored) ? store_find(s->store, &id) : NULL;

    return entry && store_is_from(entry, s->origin.source) ? entry : NULL;
}

void reflector_store_remove(struct reflector_store *s, const cJSON *object)
{
    struct entry *entry = find_own(s, object);

    if (entry)
        store_remove(s->store, entry);
}

static enum store_outcome put_setting(struct reflector_store *s, const cJSON *object,
                                      struct error *err)
{
    struct identity id;

    if (!read_identity(s, object, &id, err))
        return STORE_REJECTED;

    struct entry *entry = store_refer(s->store, &id);
    enum store_outcome outcome = store_put_at(s->store, entry, object, s->origin, err);
    store_tidy(s->store, entry);
    return outcome;
}

void reflector_store_put(struct reflector_store *s, const cJSON *object)
{
    const char *ns = json_str(json_get(object, "metadata"), "namespace", "");
    enum store_outcome outcome;
    struct error err;

    if (s->filter && !namespace_filter_allows(s->filter, ns))
        return;
    if (s->settings && !is_setting(object)) {
        reflector_store_remove(s, object);
        return;
    }
    outcome =
        s->settings ? put_setting(s, object, &err) : store_put(s->store, object, s->origin, &err);
    if (outcome == STORE_REJECTED)
        reflector_store_reject(s, NULL, err.text);
}

void reflector_store_reject(struct reflector_store *s, const cJSON *object, const char *reason)
{
    struct entry *entry = object ? find_own(s, object) : NULL;

    s->rejected++;
    /* Each one is counted; the log would drown in them. */
    if ((s->rejected & (s->rejected - 1)) == 0)
        log_write(s->log, LOG_LEVEL_WARN, "cannot read an object; its last readable version stays",
                  "resource", s->resource, "api_version", s->api_version, "error", reason, "so_far",
                  LOG_NUMBER((int64_t)s->rejected));
    if (entry)
        store_mark(entry, s->origin);
}

void reflector_store_begin_pass(struct reflector_store *s)
{
    s->origin.sweep++;
}

void reflector_store_end_pass(struct reflector_store *s)
{
    /* A first pass finds nothing of an earlier one, and looking for it takes time. */
    if (s->origin.sweep > 1)
        store_sweep(s->store, s->origin);
}

void reflector_store_clear(struct reflector_store *s)
{
    /* No object has this number yet. */
    s->origin.sweep++;
    store_sweep(s->store, s->origin);
}
