/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/reflector_store.h"

#include "metrics/model/event.h"
#include "metrics/model/template.h"
#include "metrics/model/work.h"
#include "metrics/rules/engine.h"
#include "metrics/rules/object_index.h"

/* Reads the identity under which the store keeps the object. */
static bool read_identity(const struct reflector_store *s, const cJSON *object, struct identity *id,
                          struct error *err)
{
    if (!identity_read(object, id, err))
        return false;
    if (s->settings)
        id->api_version = s->settings;
    return true;
}

/* Returns the entry of the object; NULL if it is missing or of another source. */
static struct entry *find_own_entry(const struct reflector_store *s, const cJSON *object)
{
    struct identity id;
    struct error ignored;
    struct entry *entry =
        read_identity(s, object, &id, &ignored) ? store_find(s->store, &id) : NULL;

    return entry && entry_is_from_source(entry, s->origin.source) ? entry : NULL;
}

/* Returns true if a binding, template or request refers to the identity. */
static bool is_referred(const struct reflector_store *s, const struct identity *id)
{
    const struct entry *entry = store_find(s->store, id);

    return binding_referring_to(s->store, id) || (entry && reflector_store_is_referred(entry));
}

/* ---- rejected objects ---- */

enum { REJECTED_MAX = 10000 }; /* Further ones count like objects of unknown name. */

struct rejected_object {
    uint32_t sweep;   /* Last pass that rejected the object. */
    const char *name; /* Points behind the namespace. */
    char ns[];
};

static bool is_rejected_object(const void *item, const void *key)
{
    const struct rejected_object *r = item;
    const struct identity *id = key;

    return strcmp(r->name, id->name) == 0 && strcmp(r->ns, id->ns) == 0;
}

static uint64_t hash_rejected(const struct reflector_store *s, const struct identity *id)
{
    return map_hash(id->name, strlen(id->name), map_hash(id->ns, strlen(id->ns), s->seed));
}

/* Returns true if the reflector keeps the object of this name. */
static bool keeps_name(const struct reflector_store *s, const char *ns, const char *name)
{
    return !s->bound_templates_only ||
           is_referred(s, &(struct identity){s->api_version, s->kind, ns, name});
}

static void note_rejected(struct reflector_store *s, const struct identity *id)
{
    struct rejected_object *r = map_get(&s->rejected_now, hash_rejected(s, id), id);
    size_t ns_bytes = strlen(id->ns) + 1, name_bytes = strlen(id->name) + 1;

    if (!r && s->rejected_now.count == REJECTED_MAX) {
        if (keeps_name(s, id->ns, id->name))
            s->unnamed_sweep = s->origin.sweep;
        return;
    }
    if (!r) {
        s->rejected_now.equal = is_rejected_object;
        r = xmalloc(sizeof(*r) + ns_bytes + name_bytes);
        memcpy(r->ns, id->ns, ns_bytes);
        r->name = memcpy(r->ns + ns_bytes, id->name, name_bytes);
        map_add(&s->rejected_now, hash_rejected(s, id), r);
    }
    r->sweep = s->origin.sweep;
}

/* The newest version of the object is valid, or the object is deleted or not kept any more. */
static void forget_rejected(struct reflector_store *s, const cJSON *object)
{
    struct identity id;
    struct error ignored;

    if (s->rejected_now.count > 0 && read_identity(s, object, &id, &ignored))
        free(map_take(&s->rejected_now, hash_rejected(s, &id), &id));
}

/* Forgets the rejected objects for which `keeps_sweep` is not the last pass; 0: all of them. */
static void forget_rejected_unless(struct reflector_store *s, uint32_t keeps_sweep)
{
    struct map kept = MAP_INIT(is_rejected_object);
    struct rejected_object *r;

    for (size_t at = 0; (r = map_next(&s->rejected_now, &at)) != NULL;) {
        if (keeps_sweep == 0 || r->sweep != keeps_sweep)
            free(r);
        else
            map_add(&kept, hash_rejected(s, &(struct identity){.ns = r->ns, .name = r->name}), r);
    }
    map_release(&s->rejected_now);
    s->rejected_now = kept;
    if (s->unnamed_sweep != keeps_sweep)
        s->unnamed_sweep = 0;
}

/* ---- objects ---- */

void reflector_store_remove(struct reflector_store *s, const cJSON *object)
{
    struct entry *entry = find_own_entry(s, object);

    s->removals++;
    forget_rejected(s, object);
    if (s->policies)
        engine_remove_other_policy(s->policies, object);
    if (entry)
        store_remove(s->store, entry);
}

bool reflector_store_is_referred(const struct entry *entry)
{
    bool referred = entry->wanted;

    for (uint32_t i = 0; i < entry_reader_count(entry) && !referred; i++)
        referred = entry_class(entry_reader(entry, i)) == CLASS_TEMPLATE;
    return referred;
}

/* Returns the namespace to which the filter applies; NULL for a Work without a binding. */
static const char *filtered_ns(const struct reflector_store *s, const cJSON *object)
{
    if (s->by_binding)
        return work_binding_ns(object);
    return s->by_subject ? event_subject_ns(object)
                         : json_str(json_get(object, "metadata"), "namespace", "");
}

/* Returns true if the namespace filter allows the object; false for a Work without a binding. */
static bool is_allowed(const struct reflector_store *s, const cJSON *object)
{
    const char *ns = filtered_ns(s, object);

    return ns && (!s->filter || namespace_filter_allows(s->filter, ns));
}

/* Returns true if the identity is invalid, or a binding, template or request refers to it. */
static bool is_referred_object(const struct reflector_store *s, const cJSON *object)
{
    struct identity id;
    struct error ignored;

    return !identity_read(object, &id, &ignored) || is_referred(s, &id);
}

bool reflector_store_has_rejected(const struct reflector_store *s)
{
    const struct rejected_object *r;

    for (size_t at = 0; (r = map_next(&s->rejected_now, &at)) != NULL;) {
        if (keeps_name(s, r->ns, r->name))
            return true;
    }
    return s->unnamed_sweep > 0;
}

static enum store_outcome put_settings(struct reflector_store *s, const cJSON *object,
                                       struct error *err)
{
    struct identity id;

    if (!read_identity(s, object, &id, err))
        return STORE_REJECTED;

    struct entry *entry = store_find_or_add(s->store, &id);
    enum store_outcome outcome = store_put_at(s->store, entry, object, s->origin, err);
    store_free_if_unused(s->store, entry);
    return outcome;
}

static void set_preferred_version(const struct reflector_store *s, const cJSON *binding)
{
    const cJSON *resource = json_get(json_get(binding, "spec"), "resource");
    cJSON *version = cJSON_GetObjectItemCaseSensitive(resource, "apiVersion");
    const char *kind = json_str(resource, "kind", "");
    const struct api_resource *preferred =
        cJSON_IsString(version) ? discovery_find_preferred(s->discovery, version->valuestring, kind)
                                : NULL;

    if (preferred && strcmp(preferred->api_version, version->valuestring) != 0 &&
        !cJSON_SetValuestring(version, preferred->api_version))
        memory_exhausted(0);
}

void reflector_store_put(struct reflector_store *s, cJSON *object)
{
    bool allowed = is_allowed(s, object);
    enum store_outcome outcome;
    struct error err;

    if (!allowed && !s->by_binding) {
        if (s->skipped.skipped)
            s->skipped.skipped(s->skipped.context, object);
        if (s->policies && namespace_filter_allows_in_any_shard(s->filter, filtered_ns(s, object)))
            engine_put_other_policy(s->policies, object, s->origin);
        return;
    }
    /* An earlier version of the object may be in the store. */
    if (!allowed || (s->settings && !contains_settings(object)) ||
        (s->bound_templates_only && !is_referred_object(s, object))) {
        reflector_store_remove(s, object);
        return;
    }
    if (s->discovery)
        set_preferred_version(s, object);
    outcome =
        s->settings ? put_settings(s, object, &err) : store_put(s->store, object, s->origin, &err);
    if (outcome == STORE_REJECTED)
        reflector_store_reject(s, object, err.text);
    else
        forget_rejected(s, object);
}

/* Notes the object of a rejection, unless the namespace filter excludes it. */
static void note_rejection(struct reflector_store *s, const cJSON *object)
{
    struct identity id;
    struct error ignored;

    if (!object || !read_identity(s, object, &id, &ignored))
        s->unnamed_sweep = s->origin.sweep;
    else if (s->by_binding || is_allowed(s, object))
        note_rejected(s, &id);
}

void reflector_store_reject(struct reflector_store *s, const cJSON *object, const char *reason)
{
    struct entry *entry = object ? find_own_entry(s, object) : NULL;

    s->rejected++;
    /* Logs at powers of two only, to limit the size of the log. */
    if ((s->rejected & (s->rejected - 1)) == 0)
        log_write(s->log, LOG_LEVEL_WARN, "cannot read an object; its last readable version stays",
                  "resource", s->resource, "api_version", s->api_version, "namespace",
                  json_str(json_get(object, "metadata"), "namespace", ""), "name",
                  json_str(json_get(object, "metadata"), "name", ""), "error", reason, "so_far",
                  LOG_NUMBER((int64_t)s->rejected));
    s->has_rejected_unknown = s->has_rejected_unknown || !entry;
    note_rejection(s, object);
    if (entry) {
        entry_mark_seen(entry, s->origin);
        entry->version = short_version_of_object(object);
    }
}

enum listed_state reflector_store_find_listed(const struct reflector_store *s, const cJSON *object,
                                              struct entry **entry)
{
    struct identity id;
    struct error ignored;

    if (!read_identity(s, object, &id, &ignored) || !is_allowed(s, object) ||
        (s->settings && !contains_settings(object)) ||
        (s->bound_templates_only && !is_referred_object(s, object)))
        return LISTED_UNWANTED;
    *entry = store_find(s->store, &id);
    if (*entry && entry_exists(*entry))
        return entry_is_from_source(*entry, s->origin.source) ? LISTED_PRESENT : LISTED_UNWANTED;
    /* A template to which a new binding refers may not have been read yet. */
    return s->bound_templates_only ? LISTED_UNWANTED : LISTED_MISSING;
}

void reflector_store_note_unnamed(struct reflector_store *s)
{
    s->has_unnamed = true;
}

void reflector_store_put_unread(struct reflector_store *s, struct entry *entry)
{
    CLEANUP(json_cleanup) cJSON *nothing = cJSON_CreateObject();
    struct error err;

    s->has_unread = true;
    if (store_put_at(s->store, entry, nothing, s->origin, &err) == STORE_REJECTED)
        reflector_store_reject(s, NULL, err.text);
}

typedef bool keeps_entry_fn(const struct reflector_store *s, const struct entry *entry);

static bool has_binding(const struct reflector_store *s, const struct entry *entry)
{
    const struct type *type = entry_type(entry);

    return binding_referring_to(s->store, &(struct identity){type->api_version, type->kind,
                                                             entry_ns(entry), entry->name}) != NULL;
}

static bool is_template_read(const struct reflector_store *s, const struct entry *entry)
{
    const struct template *t = entry_template(entry);

    (void)s;
    return !t || !t->unread;
}

/* Removes the templates of this source for which `keeps` returns false. */
static void remove_templates_unless(struct reflector_store *s, keeps_entry_fn *keeps)
{
    struct entry **removed = NULL;
    size_t count = 0;

    for (const struct type *type = store_first_type(s->store); type; type = type->next) {
        if (type->def->class != CLASS_TEMPLATE || strcmp(type->api_version, s->api_version) != 0)
            continue;
        for (const struct partition *p = type->partitions; p; p = p->next_of_type) {
            for (size_t i = 0; i < p->count; i++) {
                if (!entry_is_from_source(partition_entry(p, i), s->origin.source) ||
                    keeps(s, partition_entry(p, i)))
                    continue;
                removed = xreallocarray(removed, count + 1, sizeof(struct entry *));
                removed[count++] = partition_entry(p, i);
            }
        }
    }
    for (size_t i = 0; i < count; i++)
        store_remove(s->store, removed[i]);
    free(removed);
}

void reflector_store_drop_unbound(struct reflector_store *s)
{
    remove_templates_unless(s, has_binding);
}

/* Marks the history of all objects of this source as invalid. */
static void invalidate_history(const struct reflector_store *s)
{
    for (const struct type *type = store_first_type(s->store); type; type = type->next) {
        for (const struct partition *p = type->partitions; p; p = p->next_of_type) {
            for (size_t i = 0; i < p->count; i++) {
                if (entry_is_from_source(partition_entry(p, i), s->origin.source))
                    entry_mark_seen(partition_entry(p, i),
                                    (struct origin){s->origin.source, STORE_HISTORY_INVALID});
            }
        }
    }
}

void reflector_store_begin_pass(struct reflector_store *s, bool restored)
{
    if (restored)
        invalidate_history(s);
    s->origin.sweep++;
    s->has_unnamed = s->has_rejected_unknown = false;
}

/* Removes the objects that were not in the last pass. */
static void sweep(const struct reflector_store *s)
{
    store_sweep(s->store, s->origin);
    if (s->policies)
        engine_sweep_other_policies(s->policies, s->origin);
}

void reflector_store_end_pass(struct reflector_store *s)
{
    if (s->has_unnamed)
        return;
    forget_rejected_unless(s, s->origin.sweep);
    /* Except in the first pass, which has no earlier objects. */
    if (s->origin.sweep > 1)
        sweep(s);
    /* A complete pass has read all existing templates: those still unread do not exist. */
    if (s->has_unread)
        remove_templates_unless(s, is_template_read);
    s->has_unread = false;
}

void reflector_store_clear(struct reflector_store *s)
{
    /* Objects have older pass numbers, so the sweep removes all of them. */
    s->origin.sweep++;
    sweep(s);
    forget_rejected_unless(s, 0);
}

void reflector_store_release(struct reflector_store *s)
{
    forget_rejected_unless(s, 0);
}
