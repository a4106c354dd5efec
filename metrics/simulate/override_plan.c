/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/override_plan.h"

#include "metrics/model/template.h"
#include "metrics/rules/decision.h"

enum { FAILURE_MAX_BYTES = 2048 };

struct override_record {
    struct entry *template; /* Pinned. */
    struct overridden_copies before;
    bool failures_only;
};

static bool is_record_of_template(const void *item, const void *key)
{
    return ((const struct override_record *)item)->template == key;
}

void override_plan_init(struct override_plan *o)
{
    *o = (struct override_plan){.records = MAP_INIT(is_record_of_template)};
}

static void copies_release(struct overridden_copies *copies)
{
    for (size_t i = 0; i < copies->count; i++) {
        free(copies->items[i].cluster);
        cJSON_Delete(copies->items[i].object);
        free(copies->items[i].failure);
    }
    free(copies->items);
    *copies = (struct overridden_copies){0};
}

void override_plan_release(struct override_plan *o, struct store *store)
{
    struct override_record *r;

    for (size_t at = 0; (r = map_next(&o->records, &at)) != NULL;) {
        copies_release(&r->before);
        store_unpin(store, r->template);
        free(r);
    }
    map_release(&o->records);
    for (size_t i = 0; i < o->count; i++) {
        override_changes_release(&o->items[i].changes);
        free((char *)(uintptr_t)o->items[i].cluster);
        free((char *)(uintptr_t)o->items[i].failure_before);
        free((char *)(uintptr_t)o->items[i].failure_after);
    }
    free(o->items);
}

/* ---- copies of a template ---- */

/* Returns the failing rule with its reason, owned by the caller; NULL without a failure. */
static char *describe_failure(const struct target_override *t, const struct entry *template)
{
    struct strbuf text = STRBUF_INIT(FAILURE_MAX_BYTES);
    const struct override_effect *effect = &t->effect;

    if (!target_override_fails(t))
        return NULL;
    strbuf_addf(&text, "%s %s%s%s, overrideRules[%" PRIu32 "]: %s",
                entry_kind(effect->failed_policy), entry_ns(effect->failed_policy),
                *entry_ns(effect->failed_policy) ? "/" : "", effect->failed_policy->name,
                override_rule_index(effect->failed_policy, effect->failed_rule),
                override_failure_text(effect, override_values_are_hidden(template)));
    return strbuf_take(&text, NULL);
}

/* Stores the copies of a template without a selecting policy: the template as it is. */
static void read_plain_copies(const struct entry *template, struct overridden_copies *out)
{
    const struct binding *b = entry_binding(decision_binding(template_decision(template)));
    const char *text = template_document(entry_template(template));

    for (uint32_t i = 0; b && text && i < binding_target_count(b); i++) {
        cJSON *object = cJSON_Parse(text);

        out->items = xreallocarray(out->items, out->count + 1, sizeof(*out->items));
        template_set_replicas(object, i < b->cluster_count ? b->clusters[i].replicas : 0);
        out->items[out->count++] =
            (struct overridden_copy){xstrdup(b->clusters[i].name), object, NULL};
    }
}

static void read_copies(const struct rule_context *c, const struct entry *template,
                        struct overridden_copies *out)
{
    struct template_overrides overrides;

    *out = (struct overridden_copies){0};
    if (!entry_exists(template) || !template_decision(template))
        return;
    overrides = template_overrides_make(c, template, false);
    if (overrides.selection.count == 0)
        read_plain_copies(template, out);
    for (size_t i = 0; overrides.evaluated && i < overrides.count; i++) {
        struct target_override *t = &overrides.items[i];

        if (t->missing)
            continue;
        out->items = xreallocarray(out->items, out->count + 1, sizeof(*out->items));
        out->items[out->count++] = (struct overridden_copy){xstrdup(t->cluster), t->effect.result,
                                                            describe_failure(t, template)};
        t->effect.result = NULL;
    }
    template_overrides_release(&overrides);
}

/* ---- records before the change ---- */

static void add_record(struct override_plan *o, const struct rule_context *c,
                       struct entry *template, bool failures_only)
{
    uint64_t hash = map_hash_address(template);
    struct override_record *r = map_get(&o->records, hash, template);

    if (r) {
        r->failures_only |= failures_only;
        return;
    }
    r = xcalloc(1, sizeof(*r));
    r->template = template;
    r->failures_only = failures_only;
    store_pin(template);
    read_copies(c, template, &r->before);
    map_add(&o->records, hash, r);
}

/* Returns true if a ClusterOverridePolicy may change fields by which OverridePolicies select. */
static bool identity_may_change(const struct store *store)
{
    CLEANUP(listing_release) struct listing all = listing_make(store, CLASS_OVERRIDE);

    for (size_t i = 0; i < all.count; i++) {
        const struct override *o = entry_override(all.entries[i]);

        for (uint32_t k = 0; o && k < o->rule_count; k++) {
            if (o->rules[k].writes_identity && entry_is_cluster_scoped(all.entries[i]))
                return true;
        }
    }
    return false;
}

bool override_plan_note_policy(struct override_plan *o, const struct rule_context *c,
                               const struct entry *policy, const struct override *fresh)
{
    CLEANUP(listing_release) struct listing all = listing_make(c->store, CLASS_TEMPLATE);
    bool any = identity_may_change(c->store), known = true;

    for (size_t i = 0; i < all.count; i++) {
        struct entry *template = (struct entry *)(uintptr_t)all.entries[i];

        if (!entry_exists(template) || !template_decision(template) ||
            (!any && !override_selects(policy, template) &&
             !(fresh && override_object_selects(policy, fresh, template))))
            continue;
        known &= template_document(entry_template(template)) != NULL;
        add_record(o, c, template, false);
    }
    return known;
}

void override_plan_note_template(struct override_plan *o, const struct rule_context *c,
                                 struct entry *template)
{
    if (store_object_count(c->store, CLASS_OVERRIDE) > 0)
        add_record(o, c, template, true);
}

/* ---- comparison ---- */

static const struct overridden_copy *find_copy(const struct overridden_copies *copies,
                                               const char *cluster)
{
    for (size_t i = 0; i < copies->count; i++) {
        if (strcmp(copies->items[i].cluster, cluster) == 0)
            return &copies->items[i];
    }
    return NULL;
}

static bool texts_equal(const char *a, const char *b)
{
    return !a || !b ? a == b : strcmp(a, b) == 0;
}

/* Adds the difference of two copies; `before` is NULL in a new cluster. */
static void add_difference(struct override_plan *o, const struct override_record *r,
                           const struct overridden_copy *before,
                           const struct overridden_copy *after)
{
    struct plan_override item = {.template = r->template};
    const char *failed = before ? before->failure : NULL;

    if (!r->failures_only && before && before->object && after->object)
        override_changes_find(before->object, after->object, &item.changes);
    if (item.changes.count == 0 && texts_equal(failed, after->failure))
        return;
    item.cluster = xstrdup(after->cluster);
    item.failure_before = failed ? xstrdup(failed) : NULL;
    item.failure_after = after->failure ? xstrdup(after->failure) : NULL;
    o->items = xreallocarray(o->items, o->count + 1, sizeof(*o->items));
    o->items[o->count++] = item;
}

static int compare_differences(const void *a, const void *b)
{
    const struct plan_override *left = a, *right = b;
    int order = entry_compare(left->template, right->template);

    return order ? order : strcmp(left->cluster, right->cluster);
}

void override_plan_finish(struct override_plan *o, const struct rule_context *c)
{
    const struct override_record *r;

    for (size_t at = 0; (r = map_next(&o->records, &at)) != NULL;) {
        struct overridden_copies after;

        read_copies(c, r->template, &after);
        for (size_t i = 0; i < after.count; i++)
            add_difference(o, r, find_copy(&r->before, after.items[i].cluster), &after.items[i]);
        copies_release(&after);
    }
    if (o->count > 1)
        qsort(o->items, o->count, sizeof(*o->items), compare_differences);
}
