/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/claims.h"

#include "metrics/rules/links.h"
#include "metrics/simulate/bindings.h"

const struct claim *claims_of(struct play *play, const struct entry *policy)
{
    const struct policy *p = entry_policy(policy);
    struct claim *claim = play_keep(play, xmalloc(sizeof(*claim)));

    /* Karmada's webhook makes the id of a policy that is new. */
    *claim = (struct claim){
        .ns = entry_ns(policy),
        .name = play_text(play, policy->name),
        .id = p->id ? p->id : play_text(play, ""),
        .cluster_scoped = policy->partition->type->def->cluster_scoped,
    };
    return claim;
}

void claims_put(struct play *play, struct entry *template, const struct claim *claim)
{
    const struct template *t = entry_template(template);

    if (!claim_equal(t->claim, claim))
        play_replace(play, template, play_keep(play, template_with_claim(t, claim)));
}

static bool claims(struct play *play, const struct claim *claim, const struct entry *policy)
{
    return claim && claim_policy(play_context(play)->store, claim) == policy;
}

bool claims_strip(struct play *play, struct entry *entry, const struct entry *policy)
{
    const struct template *t = entry_template(entry);
    const struct binding *b = entry_binding(entry);

    if (t && claims(play, t->claim, policy)) {
        claims_put(play, entry, NULL);
        return true;
    }
    if (b && claims(play, b->claim, policy)) {
        struct binding *fresh = bindings_copy(play, b);

        fresh->claim = NULL;
        play_replace(play, entry, fresh);
        return true;
    }
    return false;
}

struct entry *claims_policy(struct play *play, const struct entry *template)
{
    const struct template *t = entry_template(template);

    return t->claim ? claim_policy(play_context(play)->store, t->claim) : NULL;
}
