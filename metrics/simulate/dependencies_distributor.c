/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/dependencies_distributor.h"

#include "metrics/rules/object_index.h"
#include "metrics/simulate/overlay.h"

/* ---- referrers of an attached binding ---- */

static bool refers_to(const struct referrer *r, const struct entry *binding)
{
    return strcmp(r->name, binding->name) == 0 && strcmp(r->ns, entry_ns(binding)) == 0;
}

static bool has_referrer(const struct binding *attached, const struct entry *binding)
{
    for (uint32_t i = 0; i < binding_rare(attached)->referrer_count; i++) {
        if (refers_to(&binding_rare(attached)->referrers[i], binding))
            return true;
    }
    return false;
}

/* ---- fields of an attached binding ---- */

/* Returns true unless no release that Karmada may have has the behaviour. */
static bool may_have(const struct overlay *overlay, enum behaviour behaviour)
{
    return release_range_has(overlay_context(overlay)->release, behaviour) != RELEASE_ANSWER_NO;
}

static const struct binding *referrer_binding(const struct overlay *overlay,
                                              const struct referrer *r)
{
    struct identity id = referrer_identity(r);

    return entry_binding(store_find(overlay_context(overlay)->store, &id));
}

/*
 * Combines the values that the referrers of an attached binding request: true wins. Returns false
 * if a referrer is missing.
 */
static bool combine_requested_values(struct overlay *overlay, const struct binding *attached,
                                     struct dependency_values *out)
{
    *out = (struct dependency_values){0};
    for (uint32_t i = 0; i < binding_rare(attached)->referrer_count; i++) {
        const struct binding *b = referrer_binding(overlay, &binding_rare(attached)->referrers[i]);
        struct dependency_values values =
            b ? dependency_values_of(b->propagation) : (struct dependency_values){0};

        if (!b)
            return false;
        for (unsigned k = 0; k < DEPENDENCY_FIELD_COUNT; k++)
            out->wants[k] |= values.wants[k];
    }
    return true;
}

/*
 * Sets the fields of an attached binding without a placement from the values that its referrers
 * request; without referrers, to the defaults. Returns false if a referrer is missing: Karmada then
 * does not write the binding.
 */
static bool resolve_fields(struct overlay *overlay, struct binding *attached)
{
    struct dependency_values values;

    if (attached->has_placement)
        return true;
    if (binding_rare(attached)->referrer_count == 0) {
        overlay_propagation(attached)->conflict_resolution = CONFLICT_RESOLUTION_ABORT;
        overlay_propagation(attached)->preserve = OPTIONAL_ABSENT;
        return true;
    }
    if (!combine_requested_values(overlay, attached, &values))
        return false;
    overlay_propagation(attached)->conflict_resolution =
        values.wants[DEPENDENCY_CONFLICT_RESOLUTION] ? CONFLICT_RESOLUTION_OVERWRITE
                                                     : CONFLICT_RESOLUTION_ABORT;
    overlay_propagation(attached)->preserve =
        values.wants[DEPENDENCY_PRESERVE] ? OPTIONAL_TRUE : OPTIONAL_FALSE;
    return true;
}

/*
 * Sets the fields of an attached binding after `referrer` was added, or removed (NULL). Karmada
 * before 1.16 copies the values of the referrer that it handles, and clears
 * preserveResourcesOnDeletion with a removal. Returns false if Karmada does not write the binding.
 */
static bool set_fields(struct overlay *overlay, struct binding *attached,
                       const struct binding *referrer)
{
    if (may_have(overlay, BEHAVIOUR_RESOLVES_DEPENDENCIES))
        return resolve_fields(overlay, attached);
    if (referrer && !attached->has_placement)
        overlay_propagation(attached)->conflict_resolution =
            referrer->propagation->conflict_resolution;
    overlay_propagation(attached)->preserve =
        referrer ? referrer->propagation->preserve : OPTIONAL_ABSENT;
    return true;
}

/* ---- targets of an attached binding ---- */

static bool has_target(const struct target_cluster *clusters, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++) {
        if (clusters[i].name == name)
            return true;
    }
    return false;
}

static int by_cluster_name(const void *a, const void *b)
{
    return strcmp(((const struct target_cluster *)a)->name,
                  ((const struct target_cluster *)b)->name);
}

/*
 * Sets the targets of `attached` beside its own clusters to the clusters of its referrers. Without
 * a placement of its own, the targets are undetermined if those of a referrer are.
 */
static void set_required_targets(struct overlay *overlay, struct binding *attached)
{
    uint32_t own = attached->cluster_count, count = own;
    struct target_cluster *targets;
    size_t most = own;

    for (uint32_t i = 0; i < binding_rare(attached)->referrer_count; i++) {
        const struct binding *b = referrer_binding(overlay, &binding_rare(attached)->referrers[i]);

        most += b ? b->cluster_count : 0;
    }
    targets = overlay_own_memory(overlay, xcalloc(most + 1, sizeof(*targets)));
    if (own > 0)
        memcpy(targets, attached->clusters, own * sizeof(*targets));
    if (!attached->has_placement)
        attached->undetermined = 0;
    for (uint32_t i = 0; i < binding_rare(attached)->referrer_count; i++) {
        const struct binding *b = referrer_binding(overlay, &binding_rare(attached)->referrers[i]);

        if (b && b->undetermined && !attached->has_placement)
            attached->undetermined = b->undetermined;
        for (uint32_t k = 0; b && k < b->cluster_count; k++) {
            if (!has_target(targets, count, b->clusters[k].name))
                targets[count++] = (struct target_cluster){.name = b->clusters[k].name};
        }
    }
    if (count > own + 1)
        qsort(targets + own, count - own, sizeof(*targets), by_cluster_name);
    attached->clusters = targets;
    attached->status.required_count = count - own;
}

/* ---- referrers ---- */

/*
 * Sets the referrers of `fresh` to those of `old`, except `binding`. Appends `binding` if `add` is
 * true.
 */
static void set_referrers(struct overlay *overlay, const struct binding *old, struct binding *fresh,
                          const struct entry *binding, bool add)
{
    struct referrer *referrers = xcalloc(binding_rare(old)->referrer_count + 1, sizeof(*referrers));
    uint32_t count = 0;

    for (uint32_t i = 0; i < binding_rare(old)->referrer_count; i++) {
        if (!refers_to(&binding_rare(old)->referrers[i], binding))
            referrers[count++] = binding_rare(old)->referrers[i];
    }
    if (add)
        referrers[count++] =
            (struct referrer){entry_ns(binding), overlay_intern(overlay, binding->name)};
    overlay_rare(fresh)->referrers = overlay_own_memory(overlay, referrers);
    overlay_rare(fresh)->referrer_count = count;
}

/*
 * Adds `binding` to the referrers of a dependency, and creates or updates the attached binding
 * (Karmada: createOrUpdateAttachedBinding). Writes nothing if the dependency does not exist, if a
 * binding of another template has the name, or if set_fields() fails.
 */
static void add_referrer(struct overlay *overlay, struct entry *dependency,
                         const struct entry *binding)
{
    struct entry *entry = overlay_binding_entry(overlay, dependency);
    const struct binding *old = entry_binding(entry);
    struct binding *fresh;

    if (!entry_template(dependency) || (old && !binding_belongs_to(old, dependency)))
        return;
    fresh = old ? overlay_copy_binding(overlay, old) : overlay_new_binding(overlay, dependency);
    if (!old || !has_referrer(old, binding)) {
        set_referrers(overlay, fresh, fresh, binding, true);
        overlay_assume(overlay, ASSUMED_DEPENDENCIES_ON);
    }
    binding_set_template_version(fresh, entry_template(dependency));
    set_required_targets(overlay, fresh);
    overlay_suspend_targets(overlay, old, fresh);
    if (set_fields(overlay, fresh, entry_binding(binding)))
        overlay_replace(overlay, entry, fresh);
}

/*
 * Removes `binding` from the referrers in `attached`, the binding of a dependency (Karmada:
 * removeScheduleResultFromAttachedBindings). Writes nothing if `binding` is not a referrer, or if
 * set_fields() fails.
 */
static void remove_referrer(struct overlay *overlay, struct entry *attached,
                            const struct entry *binding)
{
    const struct binding *old = entry_binding(attached);
    struct binding *fresh;

    if (!old || !has_referrer(old, binding))
        return;
    fresh = overlay_copy_binding(overlay, old);
    set_referrers(overlay, old, fresh, binding, false);
    set_required_targets(overlay, fresh);
    overlay_suspend_targets(overlay, old, fresh);
    if (set_fields(overlay, fresh, NULL))
        overlay_replace(overlay, attached, fresh);
}

/* ---- dependencies of a template ---- */

/* Appends the templates of a kind with a label to `out`. */
static void list_labelled(const struct store *store, const char *ns, const struct reference *r,
                          struct entry_list *out)
{
    const char *key = intern_find(store_string_pool(store), r->to->label_key);
    const struct type *type = store_find_type(store, r->to->api_version, r->to->kind);
    const struct partition *p = type && key ? type_find_partition(store, type, ns) : NULL;

    for (size_t i = 0; p && i < p->count; i++) {
        const struct template *t = entry_template(partition_entry(p, i));
        const char *value = t ? template_label(t, key) : NULL;

        if (value && strcmp(value, r->name) == 0)
            entry_list_add(out, partition_entry(p, i));
    }
}

/*
 * Appends the dependencies of a template, by name and by label. Returns false if they are unknown.
 */
static bool list_dependencies(struct overlay *overlay, const struct entry *template,
                              const struct binding *b, struct entry_list *out)
{
    struct store *store = overlay_context(overlay)->store;
    const struct template *t = entry_template(template);

    if (!list_template_dependencies(store, template, b, out))
        return false;
    const struct references references = t ? template_references(t) : (struct references){0};

    for (uint32_t i = 0; references.known && i < references.count; i++) {
        if (references.items[i].to->label_key)
            list_labelled(store, entry_ns(template), &references.items[i], out);
    }
    return true;
}

static bool is_entry(const struct identity *id, const struct entry *entry)
{
    const struct identity own = entry_identity(entry);

    return strcmp(id->name, own.name) == 0 && strcmp(id->ns, own.ns) == 0 &&
           strcmp(id->kind, own.kind) == 0 && strcmp(id->api_version, own.api_version) == 0;
}

static bool is_recorded(const struct recorded_dependencies *recorded, const struct entry *entry)
{
    for (uint32_t i = 0; i < recorded->count; i++) {
        if (is_entry(&recorded->items[i], entry))
            return true;
    }
    return false;
}

static bool records_exactly(const struct recorded_dependencies *recorded,
                            const struct entry_list *needed)
{
    if (!recorded || recorded->count != needed->count)
        return false;
    for (size_t i = 0; i < needed->count; i++) {
        if (!is_recorded(recorded, needed->items[i]))
            return false;
    }
    return true;
}

/*
 * Records the dependencies on the binding, as the annotation
 * resourcebinding.karmada.io/dependencies (Karmada: recordDependencies).
 */
static void record_dependencies(struct overlay *overlay, struct entry *binding,
                                const struct entry_list *needed)
{
    const struct binding *b = entry_binding(binding);
    struct recorded_dependencies *recorded;
    struct binding *fresh;

    if (records_exactly(binding_rare(b)->recorded, needed))
        return;
    recorded = xcalloc(1, sizeof(*recorded) + needed->count * sizeof(*recorded->items));
    for (size_t i = 0; i < needed->count; i++) {
        const struct identity id = entry_identity(needed->items[i]);

        recorded->items[recorded->count++] = (struct identity){
            overlay_intern(overlay, id.api_version), overlay_intern(overlay, id.kind),
            overlay_intern(overlay, id.ns), overlay_intern(overlay, id.name)};
    }
    fresh = overlay_copy_binding(overlay, b);
    overlay_rare(fresh)->recorded = overlay_own_memory(overlay, recorded);
    overlay_replace(overlay, binding, fresh);
}

/* ---- reconciliation of a binding ---- */

/* Returns true if Karmada propagates the dependencies: never those of a ClusterResourceBinding. */
static bool propagates_dependencies(const struct overlay *overlay, const struct entry *binding)
{
    const struct binding *b = entry_binding(binding);

    return b && *entry_ns(binding) && b->propagation->propagate_deps && !b->deleting &&
           overlay_gate_is_on(overlay, GATE_PROPAGATE_DEPS);
}

/*
 * Removes the binding from the referrers of dependencies that its template no longer requires
 * (Karmada: removeOrphanAttachedBindings).
 */
static void detach_unneeded(struct overlay *overlay, struct entry *binding,
                            const struct entry_list *needed)
{
    CLEANUP(entry_list_release)
    struct entry_list readers = list_readers(binding, CLASS_BINDING);

    for (size_t i = 0; i < readers.count; i++) {
        const struct binding *b = entry_binding(readers.items[i]);
        const struct entry *dependency = b && has_referrer(b, binding)
                                             ? binding_template(overlay_context(overlay)->store, b)
                                             : NULL;

        if (dependency && !entry_list_has(needed, dependency))
            remove_referrer(overlay, readers.items[i], binding);
    }
}

void distributor_sync(struct overlay *overlay, struct entry *binding, bool created)
{
    assert(binding);

    CLEANUP(entry_list_release) struct entry_list needed = {0};
    struct rule_context *c = overlay_context(overlay);
    const struct binding *b = entry_binding(binding);
    struct entry *template = b ? binding_template(c->store, b) : NULL;

    if (!propagates_dependencies(overlay, binding)) {
        if (b && b->propagation->propagate_deps && *entry_ns(binding))
            overlay_assume(overlay, ASSUMED_DEPENDENCIES_OFF);
        else
            distributor_detach_all(overlay, binding);
        return;
    }
    if (!template || !list_dependencies(overlay, template, b, &needed)) {
        overlay_assume(overlay, ASSUMED_REFERENCES_UNKNOWN);
        return;
    }
    /* Karmada skips a new binding without clusters. An undetermined one may have some. */
    if (created && b->cluster_count == 0 && !b->undetermined)
        return;
    if (entry_template(template) && entry_template(template)->references_known) {
        record_dependencies(overlay, binding, &needed);
        detach_unneeded(overlay, binding, &needed);
    }
    for (size_t i = 0; i < needed.count; i++)
        add_referrer(overlay, needed.items[i], binding);
}

void distributor_update_targets(struct overlay *overlay, const struct binding *old,
                                struct binding *fresh)
{
    if (binding_rare(fresh)->referrer_count > 0)
        set_required_targets(overlay, fresh);
    overlay_suspend_targets(overlay, old, fresh);
}

void distributor_detach_all(struct overlay *overlay, struct entry *binding)
{
    CLEANUP(entry_list_release)
    struct entry_list readers = list_readers(binding, CLASS_BINDING);

    for (size_t i = 0; i < readers.count; i++)
        remove_referrer(overlay, readers.items[i], binding);
}

/*
 * Returns true if the annotation of the binding names the template. A binding without the
 * annotation has not been handled yet: the references of its template then decide.
 */
static bool is_noted_dependency(struct overlay *overlay, const struct entry *binding,
                                const struct entry *template)
{
    CLEANUP(entry_list_release) struct entry_list needed = {0};
    const struct binding *b = entry_binding(binding);
    struct entry *owner = binding_template(overlay_context(overlay)->store, b);

    if (binding_rare(b)->recorded)
        return is_recorded(binding_rare(b)->recorded, template);
    return owner && list_dependencies(overlay, owner, b, &needed) &&
           entry_list_has(&needed, template);
}

void distributor_on_template_created(struct overlay *overlay, struct entry *template)
{
    struct rule_context *c = overlay_context(overlay);
    const struct kind_def *def = kind_of_bindings(false);
    const struct type *type = store_find_type(c->store, def->api_version, def->name);
    const struct partition *p =
        type ? type_find_partition(c->store, type, entry_ns(template)) : NULL;
    CLEANUP(entry_list_release) struct entry_list referrers = {0};

    for (size_t i = 0; p && i < p->count; i++) {
        if (propagates_dependencies(overlay, partition_entry(p, i)) &&
            is_noted_dependency(overlay, partition_entry(p, i), template))
            entry_list_add(&referrers, partition_entry(p, i));
    }
    for (size_t i = 0; i < referrers.count; i++)
        distributor_sync(overlay, referrers.items[i], false);
}
