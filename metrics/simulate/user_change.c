/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/user_change.h"

#include "metrics/model/cluster.h"
#include "metrics/model/store.h"
#include "metrics/rules/admission/admission.h"
#include "metrics/rules/admission/quota.h"
#include "metrics/rules/object_index.h"
#include "metrics/simulate/cluster_change.h"
#include "metrics/simulate/dependencies_distributor.h"
#include "metrics/simulate/detector.h"
#include "metrics/simulate/overlay.h"
#include "metrics/simulate/scheduler.h"

enum { CHANGE_TEXT_MAX = 4096 };

/* ---- objects without their whole effect ---- */

#define CHANGE_REASON_ROW(id, outcome, name, text) {PREDICTION_##outcome, (name), (text)},
static const struct {
    enum prediction outcome;
    const char *name;
    const char *text;
} change_reasons[CHANGE_REASON_COUNT] = {CHANGE_REASONS(CHANGE_REASON_ROW)};

void user_change_init(struct user_change *u, struct overlay *overlay)
{
    *u = (struct user_change){.overlay = overlay};
    override_plan_init(&u->overrides);
}

void user_change_release(struct user_change *u)
{
    override_plan_release(&u->overrides, overlay_context(u->overlay)->store);
    free(u->objects);
    entry_list_release(&u->preserved);
    free(u->deleted_namespaces);
    free(u->defined_kinds);
}

/* `details` completes the text of the reason; NULL or "": the text is a whole sentence. */
static void note_object(struct user_change *u, struct identity id, enum change_reason reason,
                        const char *details)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(CHANGE_TEXT_MAX);

    strbuf_adds(&text, change_reasons[reason].text);
    if (details && *details != '\0')
        strbuf_addf(&text, ": %s.", details);
    u->objects = xreallocarray(u->objects, u->object_count + 1, sizeof(*u->objects));
    u->objects[u->object_count++] = (struct change_object){
        .id = {overlay_intern(u->overlay, id.api_version), overlay_intern(u->overlay, id.kind),
               overlay_intern(u->overlay, id.ns), overlay_intern(u->overlay, id.name)},
        .outcome = change_reasons[reason].outcome,
        .reason = change_reasons[reason].name,
        .text = overlay_intern(u->overlay, text.data),
    };
}

static void note_entry(struct user_change *u, const struct entry *entry, enum change_reason reason)
{
    note_object(u, entry_identity(entry), reason, NULL);
}

void user_change_note_unread(struct user_change *u, const char *name, const char *why)
{
    note_object(u, (struct identity){"", "Source", "", name}, CHANGE_REASON_SOURCE_UNREAD, why);
}

/* ---- upgrades ---- */

static struct release_range single_release(enum release release)
{
    return (struct release_range){release, release, RELEASE_GIVEN, true};
}

/* Makes a policy that no source has seen stored count as stored: the older release accepts it. */
static void keep_policy_in_force(struct overlay *overlay, struct entry *entry)
{
    const struct admission *a = admission_of_entry(entry);
    size_t size = sizeof(*a) + a->count * sizeof(a->items[0]);
    struct admission *stored;
    struct policy *copy;

    if (!entry_policy(entry) || a->stored)
        return;
    copy = overlay_alloc_cell(overlay, sizeof(*copy));
    *copy = *entry_policy(entry);
    stored = overlay_own_memory(overlay, xmalloc(size));
    memcpy(stored, a, size);
    stored->stored = true;
    copy->admission = stored;
    overlay_replace(overlay, entry, copy);
}

static void note_upgraded_object(struct user_change *u, struct entry *entry, enum release older,
                                 enum release newer)
{
    const struct admission *a = admission_of_entry(entry);
    const struct release_range before = single_release(older), after = single_release(newer);
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(CHANGE_TEXT_MAX);
    bool pruned = admission_prunes(a, before), prunes = admission_prunes(a, after);

    if (admission_refuses(a, before))
        return;
    if (admission_refuses(a, after)) {
        admission_add_text(a, after, false, &text);
        note_object(u, entry_identity(entry), CHANGE_REASON_REFUSED_LATER, text.data);
        keep_policy_in_force(u->overlay, entry);
        return;
    }
    if (pruned == prunes)
        return;
    admission_add_text(a, pruned ? before : after, true, &text);
    note_object(u, entry_identity(entry),
                pruned ? CHANGE_REASON_KEPT_LATER : CHANGE_REASON_PRUNED_LATER, text.data);
}

void user_change_note_upgrade(struct user_change *u, enum release older, enum release newer)
{
    static const enum object_class classes[] = {CLASS_POLICY, CLASS_OVERRIDE, CLASS_OTHER};

    for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
        CLEANUP(listing_release)
        struct listing all = listing_make(overlay_context(u->overlay)->store, classes[i]);

        for (size_t k = 0; k < all.count; k++) {
            if (admission_of_entry(all.entries[k]))
                note_upgraded_object(u, (struct entry *)(uintptr_t)all.entries[k], older, newer);
        }
    }
}

/* ---- Namespaces ---- */

static bool is_namespace_id(const struct identity *id)
{
    return strcmp(id->kind, "Namespace") == 0 && strcmp(id->api_version, "v1") == 0;
}

static void record_deleted_namespace(struct user_change *u, const char *name)
{
    u->deleted_namespaces =
        xreallocarray(u->deleted_namespaces, u->deleted_namespace_count + 1, sizeof(const char *));
    u->deleted_namespaces[u->deleted_namespace_count++] = overlay_intern(u->overlay, name);
}

/* Records that the user creates a Namespace after its deletion. */
static void record_applied_namespace(struct user_change *u, const char *name)
{
    size_t count = 0;

    for (size_t i = 0; i < u->deleted_namespace_count; i++) {
        if (strcmp(u->deleted_namespaces[i], name) != 0)
            u->deleted_namespaces[count++] = u->deleted_namespaces[i];
    }
    u->deleted_namespace_count = count;
}

/* Returns true if the Namespace is in deletion or deleted: it then takes no new object. */
static bool is_namespace_deleted(const struct user_change *u, const char *name)
{
    const struct template *t = entry_template_or_setting(store_find(
        overlay_context(u->overlay)->store, &(struct identity){"v1", "Namespace", "", name}));

    for (size_t i = 0; i < u->deleted_namespace_count; i++) {
        if (strcmp(u->deleted_namespaces[i], name) == 0)
            return true;
    }
    return t && t->deleting;
}

/* ---- kinds that the API server does not serve ---- */

/* Records the kind of a CustomResourceDefinition; does nothing for other objects. */
static void record_definition(struct user_change *u, const struct identity *id, const cJSON *json)
{
    const cJSON *spec = json_get(json, "spec");
    const char *group = json_str(spec, "group", "");
    const char *kind = json_str(json_get(spec, "names"), "kind", "");

    if (strcmp(id->kind, "CustomResourceDefinition") != 0 ||
        !api_group_equals(id->api_version, "apiextensions.k8s.io/v1"))
        return;
    u->defined_kinds =
        xreallocarray(u->defined_kinds, u->defined_kind_count + 1, sizeof(*u->defined_kinds));
    u->defined_kinds[u->defined_kind_count++] =
        (struct defined_kind){overlay_intern(u->overlay, group), overlay_intern(u->overlay, kind)};
}

static bool is_kind_defined(const struct user_change *u, const struct identity *id)
{
    for (size_t i = 0; i < u->defined_kind_count; i++) {
        if (strcmp(u->defined_kinds[i].kind, id->kind) == 0 &&
            api_group_is(id->api_version, api_group_len(id->api_version),
                         u->defined_kinds[i].group))
            return true;
    }
    return false;
}

/*
 * Adds the object to `objects` and returns false if an API server is known not to serve the kind
 * of a template.
 */
static bool is_kind_served(struct user_change *u, const struct identity *id)
{
    const struct api_version_source *source = &overlay_context(u->overlay)->api_versions;
    enum api_version_answer answer = api_version_judge(source, id->api_version, id->kind);

    if (source->objects_decide ||
        (answer != API_VERSION_ABSENT && answer != API_VERSION_UNSERVED) ||
        kind_of(id->api_version, id->kind)->class != CLASS_TEMPLATE)
        return true;
    note_object(u, *id,
                is_kind_defined(u, id) ? CHANGE_REASON_KIND_DEFINED : CHANGE_REASON_KIND_NOT_SERVED,
                NULL);
    return false;
}

/* ---- objects as the API server stores them ---- */

/* Keys of the default tolerations that Karmada's webhook added to policies until 1.14. */
static const char *const default_toleration_keys[] = {"cluster.karmada.io/not-ready",
                                                      "cluster.karmada.io/unreachable"};

/* Returns true if `tolerations` are exactly the default ones. */
static bool are_default_tolerations(const cJSON *tolerations)
{
    const cJSON *item;
    size_t count = 0;

    cJSON_ArrayForEach (item, tolerations) {
        if (count == ARRAY_LEN(default_toleration_keys) ||
            strcmp(json_str(item, "key", ""), default_toleration_keys[count]) != 0 ||
            strcmp(json_str(item, "operator", ""), "Exists") != 0 ||
            strcmp(json_str(item, "effect", ""), "NoExecute") != 0)
            return false;
        count++;
    }
    return count == ARRAY_LEN(default_toleration_keys);
}

/*
 * Adds the default tolerations of the stored policy to an object without tolerations: `kubectl
 * apply` keeps fields that the manifest never had.
 */
static void keep_default_tolerations(const struct policy *old, cJSON *json)
{
    cJSON *spec = cJSON_GetObjectItemCaseSensitive(json, "spec");
    cJSON *placement = cJSON_GetObjectItemCaseSensitive(spec, "placement");
    const char *text = old ? old->propagation.placement : NULL;
    struct error ignored;
    CLEANUP(json_cleanup)
    cJSON *stored = text ? json_parse(text, strlen(text), NULL, &ignored) : NULL;
    cJSON *tolerations = cJSON_GetObjectItemCaseSensitive(stored, "clusterTolerations");

    if (!cJSON_IsObject(spec) || json_get(placement, "clusterTolerations") ||
        !are_default_tolerations(tolerations))
        return;
    if (!cJSON_IsObject(placement)) {
        cJSON_DeleteItemFromObjectCaseSensitive(spec, "placement");
        placement = cJSON_AddObjectToObject(spec, "placement");
    }
    cJSON_DeleteItemFromObjectCaseSensitive(placement, "clusterTolerations");
    cJSON_AddItemToObject(placement, "clusterTolerations",
                          cJSON_DetachItemViaPointer(stored, tolerations));
}

/* Adds the required field of a Cluster that exists, which `kubectl apply` keeps. */
static void keep_sync_mode(cJSON *json)
{
    cJSON *spec = cJSON_GetObjectItemCaseSensitive(json, "spec");

    if (!spec)
        spec = cJSON_AddObjectToObject(json, "spec");
    if (cJSON_IsObject(spec) && !json_get(spec, "syncMode"))
        cJSON_AddStringToObject(spec, "syncMode", "Push");
}

static bool has_exclusions(const cJSON *json)
{
    return json_get(json_get(json, "spec"), "excludedResources") != NULL;
}

/*
 * Returns the object that the API server and Karmada's webhooks store. Keeps excludedResources,
 * unless the control plane is known to lack the field: the findings of the admission name it.
 */
static cJSON *make_stored_policy(const cJSON *json, struct release_range range)
{
    cJSON *stored = admission_make_stored(json, range.newest);
    cJSON *spec = cJSON_GetObjectItemCaseSensitive(stored, "spec");
    const cJSON *excluded = json_get(json_get(json, "spec"), "excludedResources");

    if (excluded && !range.lacks_exclusions && cJSON_IsObject(spec) &&
        !json_get(spec, "excludedResources"))
        cJSON_AddItemToObject(spec, "excludedResources", cJSON_Duplicate(excluded, true));
    return stored;
}

/*
 * Adds the object to `objects` if the API server or a webhook refuses it, or drops fields. Returns
 * false if all releases that Karmada may have refuse it. `entry` has the stored object, if any.
 */
static bool is_admitted(struct user_change *u, const struct entry *entry, struct identity id,
                        const cJSON *json)
{
    struct release_range range = overlay_context(u->overlay)->release;
    CLEANUP(free_cleanup) struct admission *a = admission_review(json);
    enum release_answer refused = admission_refuses(a, range);
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(CHANGE_TEXT_MAX);

    if (refused == RELEASE_ANSWER_YES)
        admission_add_text(a, range, false, &text);
    else
        admission_add_update_text(entry, range, json, &text);
    if (text.len > 0) {
        note_object(u, id, CHANGE_REASON_REFUSED, text.data);
        return false;
    }
    if (refused == RELEASE_ANSWER_DIFFERS)
        note_object(u, id, CHANGE_REASON_REFUSED_BY_SOME, NULL);
    if (admission_prunes(a, range) == RELEASE_ANSWER_YES) {
        admission_add_text(a, range, true, &text);
        note_object(u, id,
                    has_exclusions(json) && !range.lacks_exclusions
                        ? CHANGE_REASON_EXCLUSIONS_PRUNED
                        : CHANGE_REASON_FIELD_PRUNED,
                    text.data);
    }
    return true;
}

/* Returns the object as kubectl sends it for an existing entry; it then has fields of the entry. */
static cJSON *make_sent_object(const struct entry *entry, const cJSON *json)
{
    cJSON *sent = cJSON_Duplicate(json, true);

    keep_default_tolerations(entry_policy(entry), sent);
    if (entry_cluster(entry))
        keep_sync_mode(sent);
    return sent;
}

bool user_change_decode(struct user_change *u, const cJSON *json, struct applied_object *out,
                        struct error *err)
{
    struct rule_context *c = overlay_context(u->overlay);
    struct decode d = store_make_decoder(c->store, err);
    CLEANUP(json_cleanup) cJSON *sent = NULL;
    CLEANUP(json_cleanup) cJSON *stored = NULL;
    const struct kind_def *def;
    struct entry *entry;
    struct identity id;
    void *object;

    if (!identity_read(json, &id, err))
        return false;
    *out = (struct applied_object){NULL, NULL};
    if (!is_kind_served(u, &id))
        return true;
    record_definition(u, &id, json);
    entry = store_find_or_add(c->store, &id);
    def = kind_of(id.api_version, id.kind);
    if (is_namespace_id(&id))
        record_applied_namespace(u, id.name);
    if (!entry_exists(entry) && *id.ns && is_namespace_deleted(u, id.ns)) {
        note_object(u, id, CHANGE_REASON_NAMESPACE_DELETED, NULL);
        return true;
    }
    if (def->class != CLASS_TEMPLATE) {
        sent = make_sent_object(entry, json);
        if (!is_admitted(u, entry, id, sent))
            return true;
        stored = def->class == CLASS_POLICY ? make_stored_policy(sent, c->release) : NULL;
    }
    object = def->decode(&d, stored ? stored : json);
    if (!object)
        return fail_in(err, "%s '%s%s%s'", id.kind, id.ns, *id.ns ? "/" : "", id.name);
    *out = (struct applied_object){entry, overlay_own_object(u->overlay, def, object)};
    return true;
}

/* ---- policies, templates and bindings ---- */

/*
 * Copies a missing policy id from the old version, and sets missing namespaces in selectors of a
 * PropagationPolicy, as Karmada's mutating webhook does.
 */
static void apply_webhook_defaults(const struct entry *entry, const struct policy *old,
                                   struct policy *fresh)
{
    bool cluster_scoped = entry_is_cluster_scoped(entry);

    if (old && !fresh->id && old->id)
        fresh->id = intern_ref(old->id);
    for (uint32_t i = 0; !cluster_scoped && i < fresh->selector_count; i++) {
        if (!fresh->selectors[i].ns)
            fresh->selectors[i].ns = intern_ref(entry_ns(entry));
    }
}

static void apply_policy(struct overlay *overlay, struct entry *entry, struct policy *fresh)
{
    const struct policy *old = entry_policy(entry);

    apply_webhook_defaults(entry, old, fresh);
    fresh->deleting = fresh->deleting || (old && old->deleting);
    if (old && policy_equal(old, fresh))
        return;
    overlay_replace(overlay, entry, fresh);
    detector_on_policy_changed(overlay, entry, old);
}

/*
 * Replaces a template by the user's version `fresh`. Keeps the uid of the old object, and the claim
 * unless `fresh` has a claim. The resource version is new, so that the binding counts as outdated.
 * A binding with referrers gets the new version, because the distributor handles each change.
 */
static void replace_template(struct overlay *overlay, struct entry *entry,
                             const struct template *fresh)
{
    const struct template *old = entry_template(entry);
    struct template *t = template_copy_with_claim(fresh, fresh->claim ? fresh->claim : old->claim);
    struct entry *binding = overlay_binding_entry(overlay, entry);
    const struct binding *b = entry_binding(binding);
    uint64_t newest = b && b->resource_version > old->resource_version ? b->resource_version
                                                                       : old->resource_version;

    template_apply_user_change(t, old, newest + 2);
    t->deleting = old->deleting; /* An update does not end a deletion. */
    overlay_replace(overlay, entry, overlay_own_cell(overlay, t));
    if (!b || !binding_belongs_to(b, entry))
        return;
    struct binding *copy = overlay_copy_binding(overlay, b);

    if (b->referrer_count > 0)
        binding_set_template_version(copy, t);
    else if (!b->resource_version)
        copy->resource_version = 1; /* Older than the change, not unknown. */
    overlay_replace(overlay, binding, copy);
}

/*
 * Updates all decisions, and calls detector_on_policy_reference_written() for the policies that
 * depend on `entry`.
 */
static void notify_referring_policies(struct overlay *overlay, const struct entry *entry)
{
    CLEANUP(entry_list_release)
    struct entry_list policies = list_readers(entry, CLASS_POLICY);

    overlay_evaluate(overlay);
    for (size_t i = 0; i < policies.count; i++)
        detector_on_policy_reference_written(overlay, policies.items[i]);
}

static void apply_template(struct overlay *overlay, struct entry *entry, struct template *fresh)
{
    const struct template *old = entry_template(entry);

    if (old)
        replace_template(overlay, entry, fresh);
    else
        overlay_replace(overlay, entry, fresh);
    overlay_evaluate(overlay);
    if (!old)
        distributor_on_template_created(overlay, entry);
    notify_referring_policies(overlay, entry);
    overlay_enqueue(overlay, (struct queue_item){entry, false});
}

/* Records the templates that the override policy selects, before `fresh` replaces it. */
static void note_override(struct user_change *u, const struct entry *entry, const void *fresh)
{
    if (!override_plan_note_policy(&u->overrides, overlay_context(u->overlay), entry, fresh))
        note_entry(u, entry, CHANGE_REASON_OVERRIDE_POLICY);
}

static void apply_override(struct user_change *u, struct entry *entry, void *fresh)
{
    note_override(u, entry, fresh);
    overlay_replace(u->overlay, entry, fresh);
    notify_referring_policies(u->overlay, entry);
}

/* Notes the parts of a quota that the simulation leaves out. */
static void note_quota(struct user_change *u, const struct entry *entry)
{
    const struct federated_quota *q = entry_quota(entry);

    if (!q)
        return;
    if (q->limit_count > 0 && !quotas_are_enforced(overlay_context(u->overlay)->gates))
        note_entry(u, entry, CHANGE_REASON_QUOTA_OFF);
    if (q->cluster_count > 0)
        note_entry(u, entry, CHANGE_REASON_QUOTA_ASSIGNMENTS);
}

/* A quota changes no template: quota_retry_refused() handles those that a quota refused. */
static void apply_quota(struct user_change *u, struct entry *entry, void *fresh)
{
    overlay_replace(u->overlay, entry, fresh);
    note_quota(u, entry);
}

/* A manual change of a binding triggers the scheduler and the distributor. */
static void apply_binding(struct overlay *overlay, struct entry *entry, const struct binding *read)
{
    struct binding *fresh = overlay_copy_binding(overlay, read);

    bool created = !entry_binding(entry);

    scheduler_schedule_binding(overlay, entry_binding(entry), fresh);
    distributor_update_targets(overlay, entry_binding(entry), fresh);
    overlay_replace(overlay, entry, fresh);
    overlay_evaluate(overlay);
    distributor_sync(overlay, entry, created);
}

/* ---- Clusters ---- */

/*
 * Lists a Cluster that bindings still name after its deletion. Its copies are deleted with the
 * execution namespace all the same (Karmada: removeCluster, handleWorkDelete).
 */
static void note_named_cluster(struct user_change *u, const struct entry *entry)
{
    struct release_range range = overlay_context(u->overlay)->release;
    bool leaves = release_range_has(range, BEHAVIOUR_LEAVES_DELETING_CLUSTER) == RELEASE_ANSWER_YES;

    if (entry_exists(entry))
        note_entry(u, entry, leaves ? CHANGE_REASON_CLUSTER_NAMED : CHANGE_REASON_CLUSTER_EVICTS);
}

static void apply_cluster(struct user_change *u, struct entry *entry, const struct cluster *fresh)
{
    bool evicts = cluster_change_apply(u->overlay, entry, fresh);

    /* The evictions from a lost cluster are simulated later. */
    if (evicts && !(u->lost && entry_list_has(u->lost, entry)))
        note_entry(u, entry, CHANGE_REASON_EVICTION);
    if (fresh->deleting)
        note_named_cluster(u, entry);
}

/* ---- WorkloadRebalancers ---- */

static bool is_rebalancer(const struct entry *entry)
{
    const struct type *type = entry_type(entry);

    return strcmp(type->kind, "WorkloadRebalancer") == 0 &&
           strncmp(type->api_version, "apps.karmada.io/", strlen("apps.karmada.io/")) == 0;
}

/*
 * Schedules the binding of a workload again (Karmada: triggerReschedule). Karmada finds the binding
 * by its name alone.
 */
static void rebalance_workload(struct user_change *u, const struct entry *rebalancer,
                               const cJSON *workload)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(BINDING_NAME_MAX);
    const char *ns = json_str(workload, "namespace", "");
    const struct kind_def *def = kind_of_bindings(*ns == '\0');
    struct entry *entry;
    struct binding *fresh;

    binding_name(json_str(workload, "kind", ""), json_str(workload, "name", ""), &name);
    entry = store_find(overlay_context(u->overlay)->store,
                       &(struct identity){def->api_version, def->name, ns, name.data});
    if (!entry_binding(entry)) {
        note_entry(u, rebalancer, CHANGE_REASON_BINDING_MISSING);
        return;
    }
    fresh = overlay_copy_binding(u->overlay, entry_binding(entry));
    fresh->status.reschedule_requested = true;
    scheduler_schedule_binding(u->overlay, entry_binding(entry), fresh);
    distributor_update_targets(u->overlay, entry_binding(entry), fresh);
    overlay_replace(u->overlay, entry, fresh);
    overlay_evaluate(u->overlay);
    distributor_sync(u->overlay, entry, false);
}

static void apply_rebalancer(struct user_change *u, struct applied_object applied,
                             const cJSON *json)
{
    const cJSON *workload;

    if (entry_exists(applied.entry)) {
        note_entry(u, applied.entry, CHANGE_REASON_REBALANCER_EXISTS);
        return;
    }
    overlay_replace(u->overlay, applied.entry, applied.object);
    cJSON_ArrayForEach (workload, json_array(json_get(json, "spec"), "workloads"))
        rebalance_workload(u, applied.entry, workload);
}

/* ---- all kinds ---- */

/* Returns true for a ClusterTaintPolicy if clusters are lost after the change: it acts on them. */
static bool is_simulated_later(const struct user_change *u, const struct applied_object *applied)
{
    return u->lost && entry_class(applied->entry) == CLASS_OTHER &&
           ((const struct other *)applied->object)->taint_policy;
}

/* Applies an object of a class without a rule of its own in the simulation. */
static void apply_other(struct user_change *u, struct applied_object applied, const cJSON *json)
{
    if (is_rebalancer(applied.entry)) {
        apply_rebalancer(u, applied, json);
        return;
    }
    overlay_replace(u->overlay, applied.entry, applied.object);
    if (!is_simulated_later(u, &applied))
        note_entry(u, applied.entry, CHANGE_REASON_KIND);
}

void user_change_apply(struct user_change *u, struct applied_object applied, const cJSON *json)
{
    struct entry *entry = applied.entry;
    void *fresh = applied.object;

    switch (entry_class(entry)) {
    case CLASS_POLICY:
        apply_policy(u->overlay, entry, fresh);
        return;
    case CLASS_TEMPLATE:
        override_plan_note_template(&u->overrides, overlay_context(u->overlay), entry);
        apply_template(u->overlay, entry, fresh);
        return;
    case CLASS_BINDING:
        apply_binding(u->overlay, entry, fresh);
        return;
    case CLASS_OVERRIDE:
        apply_override(u, entry, fresh);
        return;
    case CLASS_CLUSTER:
        apply_cluster(u, entry, fresh);
        return;
    case CLASS_QUOTA:
        apply_quota(u, entry, fresh);
        return;
    case CLASS_EVENT:
    case CLASS_WORK:
    case CLASS_LEASE:
    case CLASS_SETTING:
    case CLASS_OTHER:
        apply_other(u, applied, json);
        return;
    case CLASS_COUNT:
        break;
    }
    abort();
}

/* ---- deletions ---- */

/*
 * Deletes a template and, like the garbage collector, its binding. Removes the binding from the
 * referrers of its dependencies. With preserveResourcesOnDeletion the copies in the member clusters
 * stay (Karmada: Work.spec.preserveResourcesOnDeletion), unless `everywhere`.
 */
static void delete_template(struct user_change *u, struct entry *entry, bool everywhere)
{
    struct entry *binding = template_binding(overlay_context(u->overlay)->store, entry);

    overlay_replace(u->overlay, entry, NULL);
    if (!binding)
        return;
    if (entry_binding(binding)->propagation.preserve == OPTIONAL_TRUE && !everywhere)
        entry_list_add(&u->preserved, entry);
    distributor_detach_all(u->overlay, binding);
    overlay_replace(u->overlay, binding, NULL);
}

/* Returns the entries of a namespace that have an object: policies, then all others. */
static struct entry_list list_namespace(const struct store *store, const char *ns)
{
    struct entry_list list = {0};
    const char *shared = intern_find(store_string_pool(store), ns);

    for (unsigned others = 0; shared && others < 2; others++) {
        for (const struct type *type = store_first_type(store); type; type = type->next) {
            const struct partition *p = type_find_partition(store, type, shared);

            if ((type->def->class != CLASS_POLICY) != others)
                continue;
            for (size_t i = 0; p && i < p->count; i++) {
                if (entry_exists(partition_entry(p, i)))
                    entry_list_add(&list, partition_entry(p, i));
            }
        }
    }
    return list;
}

/*
 * Deletes an object in a Namespace that is deleted. Returns false if Karmada's webhook refuses it:
 * the Namespace controller of Kubernetes then cannot delete the Namespace either.
 */
static bool delete_content(struct user_change *u, struct entry *entry)
{
    if (admission_protects(entry)) {
        note_entry(u, entry, CHANGE_REASON_PROTECTED_CONTENT);
        return false;
    }
    if (entry_template(entry))
        delete_template(u, entry, true);
    else
        overlay_replace(u->overlay, entry, NULL);
    return true;
}

/* Deletes the objects of a list. Returns the number of objects that stay. */
static size_t delete_contents(struct user_change *u, const struct entry_list *all)
{
    size_t kept = 0;

    for (size_t i = 0; i < all->count && !overlay_limit_reached(u->overlay); i++)
        kept += entry_exists(all->items[i]) && !delete_content(u, all->items[i]);
    overlay_evaluate(u->overlay);
    return kept;
}

bool user_change_delete_namespace(struct user_change *u, const char *name)
{
    CLEANUP(entry_list_release)
    struct entry_list all = list_namespace(overlay_context(u->overlay)->store, name);

    record_deleted_namespace(u, name);
    (void)delete_contents(u, &all);
    return all.count > 0;
}

/* Deletes a template; a Namespace with all objects in it, unless some of them stay. */
static void delete_template_and_contents(struct user_change *u, struct entry *entry)
{
    const struct identity id = entry_identity(entry);
    CLEANUP(entry_list_release) struct entry_list all = {0};

    if (is_namespace_id(&id)) {
        record_deleted_namespace(u, entry->name);
        all = list_namespace(overlay_context(u->overlay)->store, entry->name);
    }
    if (delete_contents(u, &all) == 0)
        delete_template(u, entry, false);
}

void user_change_delete(struct user_change *u, struct entry *entry)
{
    struct overlay *overlay = u->overlay;

    if (!entry_exists(entry))
        return;
    if (admission_protects(entry)) {
        note_entry(u, entry, CHANGE_REASON_PROTECTED);
        return;
    }
    switch (entry_class(entry)) {
    case CLASS_POLICY:
        detector_on_policy_deleted(overlay, entry);
        overlay_replace(overlay, entry, NULL);
        break;
    case CLASS_TEMPLATE:
        delete_template_and_contents(u, entry);
        break;
    case CLASS_BINDING:
        distributor_detach_all(overlay, entry);
        overlay_replace(overlay, entry, NULL);
        break;
    case CLASS_CLUSTER:
        cluster_change_delete(overlay, entry);
        note_named_cluster(u, entry);
        break;
    case CLASS_QUOTA:
        note_quota(u, entry);
        overlay_replace(overlay, entry, NULL);
        break;
    case CLASS_OVERRIDE:
        note_override(u, entry, NULL);
        overlay_replace(overlay, entry, NULL);
        break;
    case CLASS_EVENT:
    case CLASS_WORK:
    case CLASS_LEASE:
    case CLASS_SETTING:
    case CLASS_OTHER:
    case CLASS_COUNT:
        note_entry(u, entry, CHANGE_REASON_KIND);
        overlay_replace(overlay, entry, NULL);
        break;
    }
    overlay_evaluate(overlay);
}

void simulation_touch_template(struct overlay *overlay, struct entry *template)
{
    const struct template *t = entry_template(template);

    if (!t)
        return;
    replace_template(overlay, template, t);
    overlay_enqueue(overlay, (struct queue_item){template, false});
}
