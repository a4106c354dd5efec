/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/policy_names.h"

#include "metrics/base/map.h"
#include "metrics/model/binding.h"
#include "metrics/model/policy.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "metrics/rules/policy_rank.h"

enum {
    BINDING_NAME_MAX_BYTES = 4096, /* Far more than Kubernetes accepts; a longer name is cut. */
    NAMED_MAX = 3, /* Maximum of missing bindings that a text names; the others are counted. */
};

struct policy_name policy_name_of(const struct entry *policy)
{
    return policy ? (struct policy_name){entry_kind(policy), entry_ns(policy), policy->name}
                  : (struct policy_name){0};
}

bool policy_is_named(struct policy_name policy, const char *name)
{
    const char *slash = strchr(name, '/');

    if (!policy.kind)
        return false;
    if (!slash)
        return strcmp(policy.name, name) == 0;
    return strlen(policy.ns) == (size_t)(slash - name) &&
           strncmp(policy.ns, name, (size_t)(slash - name)) == 0 &&
           strcmp(policy.name, slash + 1) == 0;
}

bool policy_has_name(const struct entry *policy, const char *name)
{
    return policy_is_named(policy_name_of(policy), name);
}

struct state_writer state_writer_of_template(const struct entry *template)
{
    const struct template_decision *d = template_decision(template);
    const struct entry *policy = policy_of_stale_template(d);

    if (d->state != STATE_STALE || d->reason == STALE_TEMPLATE_UPDATED)
        return (struct state_writer){template_changed_by(entry_template(template)), template};
    if (d->reason == STALE_POLICY_GONE || d->priority_moved || !entry_policy(policy))
        return (struct state_writer){NULL, NULL};
    return (struct state_writer){entry_policy(policy)->write.manager, policy};
}

struct since template_since(const struct template_decision *d)
{
    return decision_since_ms(d) ? (struct since){decision_since_ms(d), false}
                                : (struct since){decision_seen_ms(d), decision_seen_ms(d) != 0};
}

static struct policy_name policy_name_of_claim(const struct claim *claim)
{
    return (struct policy_name){kind_of_policies(claim->cluster_scoped)->name, claim->ns,
                                claim->name};
}

struct policy_name referrer_policy(const struct dependency_referrer *referrer, bool current)
{
    const struct binding *b = entry_binding(referrer->binding);
    const struct template_decision *d =
        referrer->template ? template_decision(referrer->template) : NULL;

    if (!current && b && b->claim)
        return policy_name_of_claim(b->claim);
    return policy_name_of(d ? decision_governing(d) : NULL);
}

const struct entry *referrer_policy_entry(const struct dependency_referrer *referrer, bool current)
{
    const struct binding *b = entry_binding(referrer->binding);
    const struct template_decision *d =
        referrer->template ? template_decision(referrer->template) : NULL;

    if (!current && b && b->claim)
        return binding_claimed_policy(referrer->binding);
    return d ? decision_governing(d) : NULL;
}

struct identity resource_identity_of(const struct entry *entry)
{
    const struct binding *b = entry_binding(entry);

    if (!b)
        return entry_identity(entry);
    return (struct identity){b->scope->api_version, b->scope->kind, b->scope->ns, b->name};
}

static void add_name(struct strbuf *out, const char *kind, const char *ns, const char *name)
{
    strbuf_addf(out, "%s %s%s%s", kind, ns, *ns ? "/" : "", name);
}

/* Appends the first NAMED_MAX missing bindings: requiredBy can have thousands of elements. */
static void add_dangling_references(struct strbuf *out, const struct entry *binding)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < entry_read_count(binding); i++) {
        const struct entry *read = entry_read(binding, i);

        if (entry_class(read) != CLASS_BINDING || entry_exists(read))
            continue;
        if (count < NAMED_MAX)
            strbuf_addf(out, "%s%s/%s", count > 0 ? ", " : "", entry_ns(read), read->name);
        count++;
    }
    if (count > NAMED_MAX)
        strbuf_addf(out, " and %u more", count - NAMED_MAX);
}

/* Appends the fields of a defect and their values: "ConflictResolution is Abort, not Overwrite". */
static void add_defect_fields(struct strbuf *out, const struct entry *binding, enum defect defect)
{
    const struct dependency_decision *d = dependency_decision(binding);
    unsigned fields = defect_fields(binding, defect);
    const char *between = "";

    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++) {
        bool stored = d && d->fields[i].stored;

        if (!(fields & 1u << i))
            continue;
        strbuf_addf(out, "%s%s is %s", between, dependency_field_names[i],
                    dependency_value_name(i, stored));
        /* The fields of a former dependency should be unset, so no value of them is correct. */
        if (defect != DEFECT_UNCLEARED_FIELDS)
            strbuf_addf(out, ", not %s", dependency_value_name(i, !stored));
        between = "; ";
    }
}

void defect_add_subject(const struct entry *entry, enum defect defect, struct strbuf *out)
{
    const struct template_decision *t = template_decision(entry);
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(BINDING_NAME_MAX_BYTES);
    struct identity id = resource_identity_of(entry);
    struct policy_name policy;

    switch (defect) {
    case DEFECT_NAME_COLLISION:
        binding_name(entry_kind(entry), entry->name, &name);
        strbuf_adds(out, name.data);
        return;
    case DEFECT_DANGLING_CLAIM:
        policy = policy_name_of(t ? decision_claimed(t) : binding_claimed_policy(entry));
        if (policy.kind)
            add_name(out, policy.kind, policy.ns, policy.name);
        return;
    case DEFECT_MISSING_TEMPLATE:
        add_name(out, id.kind, id.ns, id.name);
        return;
    case DEFECT_DANGLING_REFERENCE:
        add_dangling_references(out, entry);
        return;
    case DEFECT_UNAPPLIED_RESOLUTION:
    case DEFECT_UNCLEARED_FIELDS:
    case DEFECT_OVERRIDDEN_VALUE:
        add_defect_fields(out, entry, defect);
        return;
    case DEFECT_COUNT:
        break;
    }
    abort();
}

bool policy_overlap_is_tie(const struct policy_overlap *overlap)
{
    return overlap->step == RANK_NAME && !overlap->claims;
}

static bool is_equal_overlap(const void *item, const void *key)
{
    const struct policy_overlap *a = item, *b = key;

    return a->policy == b->policy && a->step == b->step && a->first == b->first &&
           a->claims == b->claims;
}

/* Counts one template for the overlap that equals `key`. Adds the overlap if it is missing. */
static void count_in_overlap(struct map *found, const struct policy_overlap *key)
{
    const uint64_t words[] = {(uintptr_t)key->policy, key->step, key->first, key->claims};
    uint64_t hash = map_hash(words, sizeof(words), 0);
    struct policy_overlap *overlap = map_get(found, hash, key);

    if (!overlap) {
        overlap = xmalloc(sizeof(*overlap));
        *overlap = *key;
        map_add(found, hash, overlap);
    }
    overlap->templates++;
}

/* Stores the rank of the candidate with this policy. Returns false if no eligible one has it. */
static bool find_eligible_candidate(const struct template_decision *d, const struct entry *policy,
                                    uint32_t *rank)
{
    for (uint32_t i = 0; i < d->candidate_count; i++) {
        const struct candidate c = decision_candidate(d, i);

        *rank = i;
        if (c.policy == policy)
            return candidate_eligible(&c);
    }
    return false;
}

/* Counts one template in the overlaps of `policy`, as struct policy_overlap defines them. */
static void add_overlaps_of_template(struct map *found, const struct template_decision *d,
                                     const struct entry *policy)
{
    uint32_t rank = 0;
    bool is_eligible = find_eligible_candidate(d, policy, &rank);

    for (uint32_t i = 0; is_eligible && i < d->candidate_count; i++) {
        const struct candidate own = decision_candidate(d, rank);
        const struct candidate other = decision_candidate(d, i);
        struct policy_overlap overlap = {.policy = other.policy, .step = RANK_NAME};

        if (i == rank || !candidate_eligible(&other) || (rank != 0 && i != 0))
            continue;
        overlap.first = candidate_compare(&own, &other, &overlap.step) < 0;
        count_in_overlap(found, &overlap);
    }
    if (is_eligible && decision_winner(d) == policy && decision_governing(d) &&
        decision_governing(d) != policy)
        count_in_overlap(found, &(struct policy_overlap){.policy = decision_governing(d),
                                                         .step = RANK_NAME,
                                                         .first = true,
                                                         .claims = true});
}

static int compare_overlaps(const void *a, const void *b)
{
    const struct policy_overlap *x = a, *y = b;

    if (policy_overlap_is_tie(x) != policy_overlap_is_tie(y))
        return policy_overlap_is_tie(x) ? -1 : 1;
    if (x->templates != y->templates)
        return x->templates > y->templates ? -1 : 1;
    if (x->policy != y->policy)
        return entry_compare(x->policy, y->policy);
    if (x->claims != y->claims)
        return x->claims - y->claims;
    return x->step != y->step ? (int)x->step - (int)y->step : x->first - y->first;
}

struct policy_overlaps policy_overlaps_of(const struct entry *policy)
{
    struct map found = MAP_INIT(is_equal_overlap);
    struct policy_overlaps out = {0};
    struct policy_overlap *overlap;

    for (uint32_t i = 0; i < entry_reader_count(policy); i++) {
        const struct template_decision *d = template_decision(entry_reader(policy, i));

        if (d && entry_exists(entry_reader(policy, i)) && d->state != STATE_IGNORED)
            add_overlaps_of_template(&found, d, policy);
    }
    out.items = xreallocarray(NULL, found.count + 1, sizeof(*out.items));
    for (size_t at = 0; (overlap = map_next(&found, &at)) != NULL;) {
        out.items[out.count++] = *overlap;
        free(overlap);
    }
    map_release(&found);
    qsort(out.items, out.count, sizeof(*out.items), compare_overlaps);
    return out;
}

void policy_overlaps_release(struct policy_overlaps *overlaps)
{
    free(overlaps->items);
    *overlaps = (struct policy_overlaps){0};
}
