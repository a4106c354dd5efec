/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/claims.h"

#include "metrics/rules/object_index.h"
#include "metrics/simulate/bindings.h"

struct claim *claims_of(struct play *play, const struct entry *policy, struct claim *claim)
{
    const struct policy *p = entry_policy(policy);
    struct claim *fresh;

    if (claim_is_of(claim, policy))
        return claim;
    fresh = play_keep(play, xmalloc(sizeof(*fresh)));
    /* Karmada's webhook makes the id of a policy that is new. */
    *fresh = (struct claim){
        .ns = entry_ns(policy),
        .name = play_text(play, policy->name),
        .id = p->id ? p->id : play_text(play, ""),
        .cluster_scoped = policy->partition->type->def->cluster_scoped,
    };
    return fresh;
}

static void set_claim(struct play *play, struct entry *template, const struct claim *claim)
{
    const struct template *t = entry_template(template);

    play_replace(play, template, play_keep(play, template_with_claim(t, claim)));
}

void claims_put(struct play *play, struct entry *template, const struct entry *policy)
{
    struct claim *own = entry_template(template)->claim;
    const struct claim *claim = claims_of(play, policy, own);

    if (claim != own)
        set_claim(play, template, claim);
}

bool claims_strip(struct play *play, struct entry *entry, const struct entry *policy)
{
    const struct template *t = entry_template(entry);
    const struct binding *b = entry_binding(entry);

    if (t && t->claim && claim_names(t->claim, policy)) {
        set_claim(play, entry, NULL);
        return true;
    }
    if (b && b->claim && claim_names(b->claim, policy)) {
        struct binding *fresh = bindings_copy(play, b);

        fresh->claim = NULL;
        play_replace(play, entry, fresh);
        return true;
    }
    return false;
}
