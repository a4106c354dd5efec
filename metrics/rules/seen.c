/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/seen.h"

#include "metrics/model/binding.h"
#include "metrics/model/template.h"
#include "metrics/rules/links.h"

/* The policy of a claim that came or went, unless it is the one that was noted last. */
static void note_worked(struct seen *seen, struct store *store, const struct claim *claim)
{
    struct entry *policy = claim ? find_claim_policy(store, claim) : NULL;

    if (!policy || !entry_exists(policy))
        return;
    if (seen->worked.count == 0 || seen->worked.items[seen->worked.count - 1] != policy)
        entry_list_add(&seen->worked, policy);
}

static void note_claims(struct seen *seen, struct store *store, const struct claim *old,
                        const struct claim *fresh)
{
    note_worked(seen, store, old);
    if (!claim_equal(old, fresh))
        note_worked(seen, store, fresh);
}

void seen_note(struct seen *seen, struct store *store, struct entry *entry, const void *old)
{
    const struct template *t = entry_template(entry);
    const struct policy *p = entry_policy(entry);
    const struct binding *b = entry_binding(entry);

    if (seen->paused)
        return;
    if ((t && t->undated) || (p && p->undated))
        entry_list_add(&seen->undated, entry);
    if (!old)
        return;
    if (t && !claim_equal(((const struct template *)old)->claim, t->claim))
        note_claims(seen, store, ((const struct template *)old)->claim, t->claim);
    if (b && (!claim_equal(((const struct binding *)old)->claim, b->claim) ||
              !propagation_equal(&((const struct binding *)old)->propagation, &b->propagation)))
        note_claims(seen, store, ((const struct binding *)old)->claim, b->claim);
}

static void date_worked(struct policy *p, int64_t now_ms, int64_t grace_ms)
{
    int64_t until_ms = p->changed_ms + grace_ms;

    if (until_ms < p->busy_until_ms)
        until_ms = p->busy_until_ms;
    if (p->changed_ms && now_ms <= until_ms)
        p->busy_until_ms = now_ms + grace_ms;
}

void seen_date(struct seen *seen, int64_t now_ms, int64_t grace_ms)
{
    for (size_t i = 0; i < seen->undated.count; i++) {
        struct entry *entry = seen->undated.items[i];

        if (entry_template(entry))
            template_date(entry->object, now_ms);
        else if (entry_policy(entry))
            policy_date(entry->object, now_ms);
    }
    for (size_t i = 0; i < seen->worked.count; i++) {
        if (entry_policy(seen->worked.items[i]))
            date_worked(seen->worked.items[i]->object, now_ms, grace_ms);
    }
    seen->undated.count = seen->worked.count = 0;
}

void seen_release(struct seen *seen)
{
    entry_list_release(&seen->undated);
    entry_list_release(&seen->worked);
}
