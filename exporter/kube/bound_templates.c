/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/bound_templates.h"

#include "exporter/kube/object_request.h"
#include "metrics/model/binding.h"
#include "metrics/model/template.h"

enum {
    OPEN_MAX = 64,
    OPEN_PER_KIND_MAX = 4,     /* A kind with slow requests must not block others. */
    FETCHES_PER_KIND_MAX = 64, /* A list is cheaper for more objects. */
    RETRY_FIRST_MS = 1000,
    RETRY_SHIFTS = 5,
};

struct bound_templates_fetch {
    struct bound_templates_fetch *next;
    struct entry *entry; /* The template; pinned. */
    struct fetch *fetch; /* NULL: no open request. */
    int64_t due_ms;
    unsigned failures;
    bool waits_for_stream; /* No request before the phase WATCH_STREAMING of the reflector. */
    uint32_t sweep;        /* Number of the reflector's pass at the start of the request. */
    uint64_t removals;     /* reflector_store.removals at the start of the request. */
};

void bound_templates_init(struct bound_templates *b, struct reflector_context *context)
{
    *b = (struct bound_templates){.context = context};
}

static void close_fetch(struct bound_templates *b, struct bound_templates_fetch *f)
{
    b->open_count -= f->fetch != NULL;
    fetch_free(f->fetch);
    f->fetch = NULL;
}

static void free_fetch(struct bound_templates *b, struct bound_templates_fetch *f)
{
    close_fetch(b, f);
    store_unpin(b->context->store, f->entry);
    free(f);
}

void bound_templates_release(struct bound_templates *b)
{
    while (b->fetches) {
        struct bound_templates_fetch *f = b->fetches;

        b->fetches = f->next;
        free_fetch(b, f);
    }
    for (size_t i = 0; i < b->changed_count; i++)
        store_unpin(b->context->store, b->changed[i]);
    free(b->changed);
}

void bound_templates_note_change(struct bound_templates *b, const struct identity *template)
{
    struct entry *entry = store_find_or_add(b->context->store, template);

    store_pin(entry);
    if (b->changed_count == b->changed_capacity) {
        b->changed_capacity = b->changed_capacity ? 2 * b->changed_capacity : 64;
        b->changed = xreallocarray(b->changed, b->changed_capacity, sizeof(struct entry *));
    }
    b->changed[b->changed_count++] = entry;
}

/* ---- changed templates ---- */

static struct entry *find_binding(const struct bound_templates *b, const struct entry *entry)
{
    const struct type *type = entry_type(entry);

    return binding_referring_to(
        b->context->store,
        &(struct identity){type->api_version, type->kind, entry_ns(entry), entry->name});
}

/* Returns the reflector of the template's kind and namespace, or NULL. */
static struct reflector *find_template_reflector(const struct entry *entry,
                                                 struct reflector *const *reflectors, size_t count)
{
    const struct type *type = entry_type(entry);

    for (size_t i = 0; i < count; i++) {
        struct reflector *r = reflectors[i];

        if (!r->objects.settings && strcmp(r->kind, type->kind) == 0 &&
            strcmp(r->api_version, type->api_version) == 0 &&
            (!r->ns || strcmp(r->ns, entry_ns(entry)) == 0))
            return r;
    }
    return NULL;
}

static bool has_content(const struct entry *entry)
{
    const struct template *t = entry_template(entry);

    return t && !t->unread;
}

static void add_fetch(struct bound_templates *b, struct entry *entry)
{
    struct bound_templates_fetch *f = xcalloc(1, sizeof(*f));

    *f = (struct bound_templates_fetch){.next = b->fetches, .entry = entry};
    store_pin(entry);
    b->fetches = f;
}

/* Returns the number of fetches for objects of a type; with `open`, only those with a request. */
static unsigned count_fetches(const struct bound_templates *b, const struct type *type, bool open)
{
    unsigned count = 0;

    for (const struct bound_templates_fetch *f = b->fetches; f; f = f->next)
        count += entry_type(f->entry) == type && (!open || f->fetch);
    return count;
}

/*
 * Removes a template without a binding if it has no content or the reflector keeps only bound
 * templates. Stores a template with a binding but no content as unread if the kind is forbidden;
 * otherwise adds a fetch, or requests a list, if the reflector keeps only bound templates.
 */
static void update_template(struct bound_templates *b, struct entry *entry, struct reflector *r)
{
    if (!find_binding(b, entry)) {
        if (entry_is_from_source(entry, r->objects.origin.source) &&
            (r->objects.bound_templates_only || !has_content(entry)))
            store_remove(b->context->store, entry);
    } else if (has_content(entry)) {
        return;
    } else if (reflector_is_forbidden(r)) {
        reflector_store_put_unread(&r->objects, entry);
    } else if (r->objects.bound_templates_only &&
               count_fetches(b, entry_type(entry), false) >= FETCHES_PER_KIND_MAX) {
        r->wants_relist = true;
    } else if (r->objects.bound_templates_only) {
        add_fetch(b, entry);
    }
}

static void update_changed_templates(struct bound_templates *b, struct reflector *const *reflectors,
                                     size_t count)
{
    for (size_t i = 0; i < b->changed_count; i++) {
        struct entry *entry = b->changed[i];
        struct reflector *r = find_template_reflector(entry, reflectors, count);

        if (r)
            update_template(b, entry, r);
        store_unpin(b->context->store, entry);
    }
    free(b->changed);
    b->changed = NULL;
    b->changed_count = b->changed_capacity = 0;
}

/* Marks as changed all templates of the reflector's kind that bindings refer to. */
static void add_templates_of_reflector(struct bound_templates *b, const struct reflector *r)
{
    for (const struct type *type = store_first_type(b->context->store); type; type = type->next) {
        if (type->def->class != CLASS_BINDING)
            continue;
        for (const struct partition *p = type->partitions; p; p = p->next_of_type) {
            for (size_t i = 0; i < p->count; i++) {
                const struct binding *binding = entry_binding(partition_entry(p, i));
                struct identity id;

                if (binding && binding_get_resource(binding, &id) &&
                    strcmp(id.kind, r->kind) == 0 && strcmp(id.api_version, r->api_version) == 0)
                    bound_templates_note_change(b, &id);
            }
        }
    }
}

/* ---- fetches ---- */

static void start_fetch(struct bound_templates *b, struct bound_templates_fetch *f,
                        const struct reflector *r)
{
    const struct type *type = entry_type(f->entry);

    f->sweep = r->objects.origin.sweep;
    f->removals = r->objects.removals;
    b->open_count++;
    f->fetch =
        fetch_start(b->context->transport,
                    &(struct fetch_spec){
                        .id = {type->api_version, type->kind, entry_ns(f->entry), f->entry->name},
                        .resource = r->resource,
                        .metadata_only = r->metadata_only,
                    },
                    b->context->now_ms);
}

/* Returns true if the reflector may have read a newer state than the response. */
static bool is_fetch_outdated(const struct bound_templates_fetch *f, const struct reflector *r)
{
    return f->sweep != r->objects.origin.sweep || f->removals != r->objects.removals;
}

/* Closes the request; applies a response that is not outdated. Returns false to request again. */
static bool finish_fetch(struct bound_templates *b, struct bound_templates_fetch *f,
                         struct reflector *r)
{
    struct fetch *fetch = f->fetch;
    bool outdated = is_fetch_outdated(f, r);
    bool retries = fetch->state == FETCH_FAILED || fetch->state == FETCH_FORBIDDEN;
    unsigned shifts = f->failures < RETRY_SHIFTS ? f->failures : RETRY_SHIFTS;

    if (fetch->state == FETCH_FOUND && !outdated)
        reflector_store_put(&r->objects, fetch->object);
    else if (fetch->state == FETCH_FORBIDDEN && !outdated && !entry_exists(f->entry))
        reflector_store_put_unread(&r->objects, f->entry);
    else if (fetch->state == FETCH_MISSING && !outdated && entry_exists(f->entry))
        store_remove(b->context->store, f->entry);
    close_fetch(b, f);
    if (retries) {
        f->due_ms = b->context->now_ms + ((int64_t)RETRY_FIRST_MS << shifts);
        f->failures++;
    }
    return !retries && !outdated;
}

/* Starts or ends the request. Returns true if the fetch is no longer needed. */
static bool advance_fetch(struct bound_templates *b, struct bound_templates_fetch *f,
                          struct reflector *r)
{
    if (f->fetch)
        fetch_turn(f->fetch, b->context->now_ms);
    if (!r || !r->objects.bound_templates_only || reflector_is_forbidden(r) ||
        has_content(f->entry) || !find_binding(b, f->entry) ||
        (f->fetch && f->fetch->state != FETCH_OPEN && finish_fetch(b, f, r)))
        return true;
    /* Without a stream it is undefined whether the next list or the response is newer. */
    f->waits_for_stream = r->watch.phase != WATCH_STREAMING;
    if (!f->fetch && !f->waits_for_stream && f->due_ms <= b->context->now_ms &&
        b->open_count < OPEN_MAX && b->open_count < b->context->single_reads &&
        count_fetches(b, entry_type(f->entry), true) < OPEN_PER_KIND_MAX)
        start_fetch(b, f, r);
    return false;
}

/* Reacts to a missing permission, and starts the list that the reflector wants. */
static void update_reflector(struct bound_templates *b, struct reflector *r)
{
    bool forbidden = reflector_is_forbidden(r);

    if (forbidden && !r->was_forbidden)
        add_templates_of_reflector(b, r);
    r->was_forbidden = forbidden;
    /* The current list of a stream ends first; a polled list starts again. */
    if (r->wants_relist && (r->watch.phase == WATCH_STREAMING || r->watch.polled)) {
        r->wants_relist = false;
        reflector_relist(r);
    }
}

void bound_templates_turn(struct bound_templates *b, struct reflector *const *reflectors,
                          size_t count)
{
    for (size_t i = 0; i < count; i++)
        update_reflector(b, reflectors[i]);
    update_changed_templates(b, reflectors, count);
    for (struct bound_templates_fetch **at = &b->fetches; *at;) {
        struct bound_templates_fetch *f = *at;

        if (advance_fetch(b, f, find_template_reflector(f->entry, reflectors, count))) {
            *at = f->next;
            free_fetch(b, f);
        } else {
            at = &f->next;
        }
    }
}

int64_t bound_templates_due(const struct bound_templates *b)
{
    int64_t due_ms = b->changed_count > 0 ? b->context->now_ms : INT64_MAX;

    for (const struct bound_templates_fetch *f = b->fetches; f; f = f->next) {
        int64_t other_ms = f->fetch ? fetch_due(f->fetch) : f->due_ms;

        if (other_ms > b->context->now_ms && other_ms < due_ms)
            due_ms = other_ms;
    }
    return due_ms;
}

bool bound_templates_ready(const struct bound_templates *b)
{
    bool ready = b->changed_count == 0;

    for (const struct bound_templates_fetch *f = b->fetches; f; f = f->next)
        ready = ready && (f->failures > 0 || f->waits_for_stream);
    return ready;
}
