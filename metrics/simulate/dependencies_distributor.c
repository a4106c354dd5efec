/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/dependencies_distributor.h"

#include "metrics/rules/object_index.h"
#include "metrics/simulate/overlay.h"

static bool refers_to(const struct referrer *r, const struct entry *binding)
{
    return strcmp(r->name, binding->name) == 0 && strcmp(r->ns, entry_ns(binding)) == 0;
}

static bool has_referrer(const struct binding *attached, const struct entry *binding)
{
    for (uint32_t i = 0; i < attached->referrer_count; i++) {
        if (refers_to(&attached->referrers[i], binding))
            return true;
    }
    return false;
}

/*
 * Combines the values that the referrers of an attached binding request: true wins. Returns false
 * if a referrer is missing.
 */
static bool combine_requested_values(struct overlay *overlay, const struct binding *attached,
                                     struct dependency_values *out)
{
    *out = (struct dependency_values){0};
    for (uint32_t i = 0; i < attached->referrer_count; i++) {
        struct identity id = referrer_identity(&attached->referrers[i]);
        const struct binding *b = entry_binding(store_find(overlay_context(overlay)->store, &id));
        struct dependency_values values =
            b ? dependency_values_of(&b->propagation) : (struct dependency_values){0};

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
static bool set_fields_from_referrers(struct overlay *overlay, struct binding *attached)
{
    struct dependency_values values;

    if (attached->has_placement)
        return true;
    if (attached->referrer_count == 0) {
        attached->propagation.conflict_resolution = CONFLICT_RESOLUTION_ABORT;
        attached->propagation.preserve = OPTIONAL_ABSENT;
        return true;
    }
    if (!combine_requested_values(overlay, attached, &values))
        return false;
    attached->propagation.conflict_resolution = values.wants[DEPENDENCY_CONFLICT_RESOLUTION]
                                                    ? CONFLICT_RESOLUTION_OVERWRITE
                                                    : CONFLICT_RESOLUTION_ABORT;
    attached->propagation.preserve =
        values.wants[DEPENDENCY_PRESERVE] ? OPTIONAL_TRUE : OPTIONAL_FALSE;
    return true;
}

/*
 * Sets the referrers of `fresh` to those of `old`, except `binding`. Appends `binding` if `add` is
 * true.
 */
static void set_referrers(struct overlay *overlay, const struct binding *old, struct binding *fresh,
                          const struct entry *binding, bool add)
{
    struct referrer *referrers = xcalloc(old->referrer_count + 1, sizeof(*referrers));
    uint32_t count = 0;

    for (uint32_t i = 0; i < old->referrer_count; i++) {
        if (!refers_to(&old->referrers[i], binding))
            referrers[count++] = old->referrers[i];
    }
    if (add)
        referrers[count++] =
            (struct referrer){entry_ns(binding), overlay_intern(overlay, binding->name)};
    fresh->referrers = overlay_own_memory(overlay, referrers);
    fresh->referrer_count = count;
}

/*
 * Adds `binding` to the referrers of a dependency, and creates or updates the attached binding
 * (Karmada: createOrUpdateAttachedBinding). Writes nothing if the dependency does not exist, if a
 * binding of another template has the name, or if set_fields_from_referrers() fails.
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
    if (set_fields_from_referrers(overlay, fresh))
        overlay_replace(overlay, entry, fresh);
}

/*
 * Removes `binding` from the referrers in `attached`, the binding of a dependency (Karmada:
 * removeScheduleResultFromAttachedBindings). Writes nothing if `binding` is not a referrer, or if
 * set_fields_from_referrers() fails.
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
    if (set_fields_from_referrers(overlay, fresh))
        overlay_replace(overlay, attached, fresh);
}

static bool contains_entry(const struct entry_list *list, const struct entry *entry)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i] == entry)
            return true;
    }
    return false;
}

/* Returns true if Karmada propagates the dependencies: never those of a ClusterResourceBinding. */
static bool propagates_dependencies(const struct overlay *overlay, const struct entry *binding)
{
    const struct binding *b = entry_binding(binding);

    return b && *entry_ns(binding) && b->propagation.propagate_deps && !b->deleting &&
           overlay_gate_is_on(overlay, GATE_PROPAGATE_DEPS);
}

void distributor_sync(struct overlay *overlay, struct entry *binding)
{
    CLEANUP(entry_list_release) struct entry_list needed = {0};
    struct rule_context *c = overlay_context(overlay);
    const struct binding *b = entry_binding(binding);
    struct entry *template = b ? binding_template(c->store, b) : NULL;

    if (!propagates_dependencies(overlay, binding)) {
        if (b && b->propagation.propagate_deps && *entry_ns(binding))
            overlay_assume(overlay, ASSUMED_DEPENDENCIES_OFF);
        else
            distributor_detach_all(overlay, binding);
        return;
    }
    if (!template || !list_template_dependencies(c->store, template, b, &needed)) {
        overlay_assume(overlay, ASSUMED_REFERENCES_UNKNOWN);
        return;
    }
    /* Karmada skips a binding without clusters. An undetermined one may have some. */
    if (b->cluster_count == 0 && !b->undetermined)
        return;
    for (size_t i = 0; i < needed.count; i++)
        add_referrer(overlay, needed.items[i], binding);
}

void distributor_detach_unneeded(struct overlay *overlay, struct entry *binding,
                                 const struct entry_list *before)
{
    CLEANUP(entry_list_release) struct entry_list needed = {0};
    struct rule_context *c = overlay_context(overlay);
    const struct binding *b = entry_binding(binding);
    struct entry *template = b ? binding_template(c->store, b) : NULL;

    if (!template || !list_template_dependencies(c->store, template, b, &needed))
        return;
    for (size_t i = 0; i < before->count; i++) {
        if (!contains_entry(&needed, before->items[i]))
            remove_referrer(overlay, overlay_binding_entry(overlay, before->items[i]), binding);
    }
}

void distributor_detach_all(struct overlay *overlay, struct entry *binding)
{
    CLEANUP(entry_list_release)
    struct entry_list readers = list_readers(binding, CLASS_BINDING);

    for (size_t i = 0; i < readers.count; i++)
        remove_referrer(overlay, readers.items[i], binding);
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
        CLEANUP(entry_list_release) struct entry_list needed = {0};
        const struct binding *b = entry_binding(p->entries[i]);
        struct entry *owner = b && propagates_dependencies(overlay, p->entries[i])
                                  ? binding_template(c->store, b)
                                  : NULL;

        if (owner && list_template_dependencies(c->store, owner, b, &needed) &&
            contains_entry(&needed, template))
            entry_list_add(&referrers, p->entries[i]);
    }
    for (size_t i = 0; i < referrers.count; i++)
        distributor_sync(overlay, referrers.items[i]);
}
