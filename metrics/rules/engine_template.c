/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/engine_state.h"

/* The policies that select the template, best first, in e->candidates. */
static size_t gather_candidates(struct engine *e, const struct entry *entry)
{
    size_t count;
    const struct selection *found = selector_index_select(e->index, entry, &count);

    if (count > e->candidate_capacity) {
        e->candidate_capacity = count;
        e->candidates = xreallocarray(e->candidates, count, sizeof(*e->candidates));
    }
    for (size_t i = 0; i < count; i++) {
        const struct policy *policy = found[i].policy->object;

        e->candidates[i] = (struct candidate){
            .policy = found[i].policy,
            .score = found[i].score,
            .excluded = policy_excludes(policy, entry),
            .deleting = policy->deleting,
        };
    }
    candidates_sort(e->candidates, count);
    return count;
}

/* The binding that Karmada makes for this template, if it is there and is this one's. */
static struct entry *find_binding(struct engine *e, const struct entry *entry)
{
    const char *ns = entry_ns(entry);
    const struct kind_def *row = kind_binding(!*ns);

    if (e->derives)
        return NULL;
    binding_name(entry_kind(entry), entry->name, &e->name);

    struct entry *binding =
        store_find(e->store, &(struct identity){row->api_version, row->name, ns, e->name.data});
    const struct binding *b = binding ? binding->object : NULL;
    return b && engine_template_of(e, b) == entry ? binding : NULL;
}

struct entry *engine_policy_of(struct engine *e, const struct claim *claim)
{
    const struct kind_def *row = kind_policy(claim->cluster_scoped);

    return store_refer(e->store,
                       &(struct identity){row->api_version, row->name, claim->ns, claim->name});
}

/* Does a propagated template need this one? Only asked where there are no bindings. */
static bool is_required(const struct engine *e, const struct entry *entry)
{
    for (uint32_t i = 0; e->derives && i < entry->dependent_count; i++) {
        const struct template_decision *d = template_decision(entry->dependents[i]);

        if (d && d->propagates)
            return true;
    }
    return false;
}

static void set_situation(struct engine *e, struct entry *entry, size_t candidate_count,
                          struct situation *s)
{
    const struct template *t = entry->object;
    const struct type *type = entry->partition->type;
    struct entry *binding = find_binding(e, entry);
    const struct binding *b = binding ? binding->object : NULL;
    const struct claim *claim = t->claim ? t->claim : b ? b->claim : NULL;
    bool won = candidate_count > 0 && candidate_eligible(&e->candidates[0]);

    *s = (struct situation){
        .options = &e->options,
        .now_ms = e->now_ms,
        .template = entry,
        .claim = claim,
        .claimed = claim ? engine_policy_of(e, claim) : NULL,
        .own_claim = t->claim,
        .binding = binding,
        .winner = won ? e->candidates[0].policy : NULL,
        .candidates = e->candidates,
        .candidate_count = candidate_count,
        .required = is_required(e, entry),
        .kind_selected = selector_index_type_count(e->index, type->api_version, type->kind) > 0,
    };
}

static struct template_decision *new_decision(const struct situation *s)
{
    size_t count = s->candidate_count;
    struct template_decision *d = xcalloc(1, sizeof(*d) + count * sizeof(*d->candidates));

    d->candidate_count = (uint32_t)count;
    if (count > 0)
        memcpy(d->candidates, s->candidates, count * sizeof(*d->candidates));
    d->winner = s->winner;
    d->claimed = s->claimed;
    d->kept_claim = s->own_claim;
    d->binding = s->binding;
    return d;
}

/* What this template asks of its dependencies, by the policy that governs it. */
static void set_vote(struct template_decision *d)
{
    const struct policy *policy = d->governing ? d->governing->object : NULL;

    if (!policy)
        return;
    d->propagates = policy->propagation.propagate_deps;
    d->vote = vote_of(&policy->propagation);
}

/* Everything that was read: candidates, the claimed policy, and (derived) the dependencies. */
static void collect_reads(struct engine *e, const struct entry *entry,
                          const struct template_decision *d)
{
    const struct template *t = entry->object;

    e->reads.count = 0;
    for (uint32_t i = 0; i < d->candidate_count; i++)
        entry_list_add(&e->reads, d->candidates[i].policy);
    if (d->claimed)
        entry_list_add(&e->reads, d->claimed);
    for (uint32_t i = 0; e->derives && d->propagates && i < t->reference_count; i++) {
        const struct reference *r = &t->references[i];
        const struct identity id = {r->to->api_version, r->to->kind, entry_ns(entry), r->name};

        /* Those by label are decided by objects that need not be there yet: not followed. */
        if (!r->to->label_key)
            entry_list_add(&e->reads, store_refer(e->store, &id));
    }
}

void engine_mark_dependencies(struct engine *e, const struct entry *entry)
{
    if (entry_class(entry) != CLASS_TEMPLATE)
        return;
    for (uint32_t i = 0; i < entry->read_count; i++) {
        if (entry_class(entry->reads[i].read) == CLASS_TEMPLATE)
            engine_mark(e, entry->reads[i].read);
    }
}

/* Bindings that others require read this decision for the conflicts to come. */
static void tell_bindings(struct engine *e, const struct entry *entry)
{
    for (uint32_t i = 0; i < entry->dependent_count; i++) {
        if (entry_class(entry->dependents[i]) == CLASS_BINDING)
            engine_mark(e, entry->dependents[i]);
    }
}

/* Karmada gives it a binding, or keeps the one that it has. */
static bool wants_binding(const struct template_decision *d)
{
    return d->state != STATE_IGNORED && (d->state != STATE_PENDING || d->binding);
}

/* From now on the template has or wants a binding, or not: others may collide with it or not. */
static void set_named(struct engine *e, struct entry *entry, struct template_decision *d,
                      bool named)
{
    if (d->named == named)
        return;
    d->named = named;
    e->shaken.count = 0;
    if (named)
        collisions_add(e->collisions, entry, &e->shaken);
    else
        collisions_remove(e->collisions, entry, &e->shaken);
    for (size_t i = 0; i < e->shaken.count; i++)
        engine_mark(e, e->shaken.items[i]);
}

/* After engine_template_forget of the decision before, whose name it is now. */
static void set_defects(struct engine *e, struct entry *entry, struct template_decision *d)
{
    const struct template *t = entry->object;

    set_named(e, entry, d, wants_binding(d));
    if (d->named && collisions_has(e->collisions, entry))
        d->defects |= 1u << DEFECT_NAME_COLLISION;
    if (t->claim && d->state != STATE_IGNORED && !claim_holds(t->claim, d->claimed))
        d->defects |= 1u << DEFECT_DANGLING_CLAIM;
}

void engine_template_forget(struct engine *e, struct entry *entry)
{
    struct template_decision *d = entry->decision;

    if (!d)
        return;
    set_named(e, entry, d, false);
    engine_wait_no_more(e, &d->waiting);
    engine_drop_capacity(e, d);
    engine_drop_connector(e, entry, d);
    free(d->dependency);
    free(d);
    entry->decision = NULL;
}

/* The name goes over to the decision that follows. */
static bool take_name(struct template_decision *old)
{
    bool named = old && old->named;

    if (old)
        old->named = false;
    return named;
}

/* True if those who read this template's decision would find it another one. */
static bool reads_differently(const struct template_decision *old,
                              const struct template_decision *fresh)
{
    if (!old)
        return true;
    return old->governing != fresh->governing || old->propagates != fresh->propagates ||
           !vote_equal(&old->vote, &fresh->vote);
}

/* Dependencies count again where the vote, or the set of those voted on, is another one. */
static void replace_reads(struct engine *e, struct entry *entry, bool vote_differs)
{
    struct entry *const *reads = e->reads.items;

    if (!vote_differs && !edges_differ(entry, reads, e->reads.count))
        return;
    engine_mark_dependencies(e, entry);
    edges_replace(e->store, entry, reads, e->reads.count);
    engine_mark_dependencies(e, entry);
}

void engine_decide_template(struct engine *e, struct entry *entry)
{
    struct template_decision *old = entry->decision;
    enum ignored_reason reason;
    struct situation s;
    int64_t due_ms = INT64_MAX;

    set_situation(e, entry, gather_candidates(e, entry), &s);

    struct template_decision *fresh = new_decision(&s);
    if (ignored_reason(e->ignored, entry, &reason)) {
        fresh->state = STATE_IGNORED;
        fresh->reason = reason;
    } else {
        due_ms = drift_decide(&s, fresh);
    }
    set_vote(fresh);

    bool differs = reads_differently(old, fresh);
    collect_reads(e, entry, fresh);
    replace_reads(e, entry, differs);
    fresh->named = take_name(old);
    engine_add_connector(e, entry, old, fresh);
    engine_template_forget(e, entry);
    entry->decision = fresh;
    set_defects(e, entry, fresh);
    engine_compare_connector(e, entry);
    if (differs)
        tell_bindings(e, entry);
    engine_wait(e, entry, &fresh->waiting, due_ms);
    engine_add_capacity(e, entry, fresh);
    if (e->derives && fresh->state == STATE_ATTACHED)
        fresh->dependency = dependency_decide(e, entry);
}
