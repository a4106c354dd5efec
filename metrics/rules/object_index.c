/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/object_index.h"

#include "metrics/model/policy.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "metrics/rules/selector.h"

bool binding_get_resource(const struct binding *b, struct identity *out)
{
    if (!*b->scope->api_version || !*b->scope->kind || !*b->name)
        return false;
    *out = (struct identity){b->scope->api_version, b->scope->kind, b->scope->ns, b->name};
    return kind_of(b->scope->api_version, b->scope->kind)->class == CLASS_TEMPLATE;
}

struct entry *binding_template(const struct store *s, const struct binding *b)
{
    struct identity id;

    return binding_get_resource(b, &id) ? store_find(s, &id) : NULL;
}

struct identity referrer_identity(const struct referrer *r)
{
    const struct kind_def *def = kind_of_bindings(false);

    return (struct identity){def->api_version, def->name, r->ns ? r->ns : "", r->name};
}

static struct identity claim_identity(const struct claim *claim)
{
    const struct kind_def *def = kind_of_policies(claim->cluster_scoped);

    return (struct identity){def->api_version, def->name, claim->ns, claim->name};
}

struct entry *find_claim_policy(const struct store *s, const struct claim *claim)
{
    struct identity id = claim_identity(claim);

    return store_find(s, &id);
}

struct entry *find_or_add_claim_policy(struct store *s, const struct claim *claim)
{
    struct identity id = claim_identity(claim);

    return store_find_or_add(s, &id);
}

struct identity dependent_override_identity(const struct entry *policy, uint32_t at)
{
    const struct kind_def *def = kind_of_overrides(entry_is_cluster_scoped(policy));

    return (struct identity){def->api_version, def->name, entry_ns(policy),
                             entry_policy(policy)->overrides[at]};
}

bool claim_names_policy(const struct claim *claim, const struct entry *policy)
{
    /* A cluster-wide policy has the namespace "", so this comparison includes the kind. */
    return claim->ns == entry_ns(policy) && strcmp(claim->name, policy->name) == 0;
}

bool claim_policy_exists(const struct claim *claim, const struct entry *claimed)
{
    const struct policy *policy = entry_policy(claimed);

    /* Karmada's webhook adds the id, so a policy in a manifest has only its name. */
    return policy && (!policy->id || policy->id == claim->id);
}

bool claim_is_of_policy(const struct claim *claim, const struct entry *policy)
{
    return claim && claim_names_policy(claim, policy) && claim_policy_exists(claim, policy);
}

bool policy_selects_template(const struct entry *policy, const struct entry *template,
                             struct release_range release)
{
    const struct policy *p = entry_policy(policy);
    const char *ns = entry_ns(policy);

    /* The labels are unknown; the template's binding shows that the policy selected it. */
    if (entry_template(template)->unread)
        return true;
    /* A claim can name a policy of another namespace, for example after a restore of a backup. */
    return (!*ns || ns == entry_ns(template)) && policy_best_score(p, template) != SCORE_NONE &&
           !policy_excludes_template(p, template, release);
}

struct identity identity_of_template_binding(const struct identity *template, struct strbuf *name)
{
    const struct kind_def *def = kind_of_bindings(!*template->ns);

    binding_name(template->kind, template->name, name);
    return (struct identity){def->api_version, def->name, template->ns, name->data};
}

/*
 * Returns the binding that has the template's binding name and spec.resource; NULL without one. The
 * binding may be in deletion, or belong to a deleted object of the same name (another uid).
 */
static struct entry *binding_by_name(const struct store *s, const struct entry *template)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(BINDING_NAME_MAX);
    const struct identity template_id = {NULL, entry_kind(template), entry_ns(template),
                                         template->name};

    /* As with manifests without bindings: saves the search for each template. */
    if (store_object_count(s, CLASS_BINDING) == 0)
        return NULL;

    const struct identity id = identity_of_template_binding(&template_id, &name);
    struct entry *binding = store_find(s, &id);
    const struct binding *b = entry_binding(binding);
    return b && binding_template(s, b) == template ? binding : NULL;
}

/* Returns true if a binding from binding_by_name() is in deletion or of a deleted object. */
static bool blocks_binding_name(const struct binding *b, const struct entry *template)
{
    const struct template *t = entry_template(template);

    return b->deleting || (t && uid_hashes_differ(b->uid_hash, t->uid_hash));
}

struct entry *template_binding(const struct store *s, const struct entry *template)
{
    struct entry *binding = binding_by_name(s, template);
    const struct binding *b = entry_binding(binding);

    return b && !blocks_binding_name(b, template) ? binding : NULL;
}

bool is_binding_name_blocked(const struct store *s, const struct entry *template)
{
    const struct binding *b = entry_binding(binding_by_name(s, template));

    return b && blocks_binding_name(b, template);
}

/* Appends a dependency to `out` if its kind is one of templates: Karmada ignores other kinds. */
static void add_dependency(struct store *s, struct identity id, struct entry_list *out)
{
    if (kind_of(id.api_version, id.kind)->class == CLASS_TEMPLATE)
        entry_list_add(out, store_find_or_add(s, &id));
}

bool list_template_dependencies(struct store *s, const struct entry *template,
                                const struct binding *b, struct entry_list *out)
{
    const struct template *t = entry_template(template);
    const struct recorded_dependencies *noted = b ? binding_rare(b)->recorded : NULL;

    if (!t || !t->references_known) {
        for (uint32_t i = 0; noted && i < noted->count; i++)
            add_dependency(s, noted->items[i], out);
        return noted != NULL;
    }

    const struct references references = template_references(t);

    for (uint32_t i = 0; i < references.count; i++) {
        const struct reference *r = &references.items[i];
        const struct reference_kind *to = r->to;

        if (!to->label_key)
            add_dependency(
                s, (struct identity){to->api_version, to->kind, entry_ns(template), r->name}, out);
    }
    return true;
}

struct entry *binding_referring_to(const struct store *s, const struct identity *template)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(BINDING_NAME_MAX);
    const struct identity id = identity_of_template_binding(template, &name);
    struct entry *binding = store_find(s, &id);
    struct identity resource;
    const struct binding *b = entry_binding(binding);
    bool refers = b && !binding_is_left_over(b) && binding_get_resource(b, &resource) &&
                  strcmp(resource.name, template->name) == 0 &&
                  strcmp(resource.ns, template->ns) == 0 &&
                  strcmp(resource.kind, template->kind) == 0 &&
                  strcmp(resource.api_version, template->api_version) == 0;

    return refers ? binding : NULL;
}

/* ---- entries by subject ---- */

static bool has_subject(const void *item, const void *key)
{
    const struct subject_group *group = item;
    const struct subject *subject = key;

    return strcmp(group->subject.name, subject->name) == 0 &&
           strcmp(group->subject.ns, subject->ns) == 0 &&
           strcmp(group->subject.kind, subject->kind) == 0;
}

static uint64_t hash_subject(const struct subject_index *index, const struct subject *subject)
{
    uint64_t hash = map_hash(subject->kind, strlen(subject->kind), index->seed);

    hash = map_hash(subject->ns, strlen(subject->ns), hash);
    return map_hash(subject->name, strlen(subject->name), hash);
}

void subject_index_init(struct subject_index *index, uint64_t seed)
{
    *index = (struct subject_index){.groups = MAP_INIT(has_subject), .seed = seed};
}

void subject_index_release(struct subject_index *index)
{
    void *group;

    for (size_t at = 0; (group = map_next(&index->groups, &at)) != NULL;)
        free(group);
    map_release(&index->groups);
}

/*
 * Returns the group with room for one more entry; creates it if `group` is NULL. The capacity grows
 * in small steps, because most groups have one entry per cluster.
 */
static struct subject_group *reserve_group_entry(struct subject_group *group,
                                                 const struct subject *subject)
{
    uint32_t capacity = group ? group->capacity + group->capacity / 2 + 1 : 1;

    if (group && group->count < group->capacity)
        return group;

    struct subject_group *larger =
        xreallocarray(group, 1, sizeof(*group) + capacity * sizeof(struct entry *));

    if (!group)
        *larger = (struct subject_group){.subject = *subject};
    larger->capacity = capacity;
    return larger;
}

void subject_index_add(struct subject_index *index, const struct subject *subject,
                       struct entry *entry)
{
    uint64_t hash = hash_subject(index, subject);
    struct subject_group *group =
        reserve_group_entry(map_take(&index->groups, hash, subject), subject);
    size_t at = entry_sort_index(group->entries, group->count, entry);

    memmove(&group->entries[at + 1], &group->entries[at],
            (group->count - at) * sizeof(struct entry *));
    group->entries[at] = entry;
    group->count++;
    map_add(&index->groups, hash, group);
}

void subject_index_remove(struct subject_index *index, const struct subject *subject,
                          struct entry *entry)
{
    uint64_t hash = hash_subject(index, subject);
    struct subject_group *group = map_take(&index->groups, hash, subject);
    size_t at = group ? entry_sort_index(group->entries, group->count, entry) : 0;

    assert(group && at < group->count && group->entries[at] == entry);
    group->count--;
    memmove(&group->entries[at], &group->entries[at + 1],
            (group->count - at) * sizeof(struct entry *));
    if (group->count > 0)
        map_add(&index->groups, hash, group);
    else
        free(group);
}

const struct subject_group *subject_index_find(const struct subject_index *index,
                                               const struct subject *subject)
{
    /* Skip the hash if the index is empty: by default there are no Works and Events. */
    return index->groups.count > 0 ? map_get(&index->groups, hash_subject(index, subject), subject)
                                   : NULL;
}
