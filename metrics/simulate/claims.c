/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/simulate/claims.h"

#include "metrics/rules/links.h"
#include "metrics/simulate/bindings.h"

const struct claim *claims_of(struct world *w, const struct entry *policy)
{
    const struct policy *p = entry_policy(policy);
    struct claim *claim = world_keep(w, xmalloc(sizeof(*claim)));

    /* Karmada's webhook makes the id of a policy that is new. */
    *claim = (struct claim){
        .ns = entry_ns(policy),
        .name = world_text(w, policy->name),
        .id = p->id ? p->id : world_text(w, ""),
        .cluster_scoped = policy->partition->type->def->cluster_scoped,
    };
    return claim;
}

void claims_put(struct world *w, struct entry *template, const struct claim *claim)
{
    const struct template *t = entry_template(template);

    if (!claim_equal(t->claim, claim))
        world_replace(w, template, world_keep(w, template_with_claim(t, claim)));
}

static bool claims(struct world *w, const struct claim *claim, const struct entry *policy)
{
    return claim && claim_policy(world_context(w)->store, claim) == policy;
}

bool claims_strip(struct world *w, struct entry *entry, const struct entry *policy)
{
    const struct template *t = entry_template(entry);
    const struct binding *b = entry_binding(entry);

    if (t && claims(w, t->claim, policy)) {
        claims_put(w, entry, NULL);
        return true;
    }
    if (b && claims(w, b->claim, policy)) {
        struct binding *fresh = bindings_copy(w, b);

        fresh->claim = NULL;
        world_replace(w, entry, fresh);
        return true;
    }
    return false;
}

struct entry *claims_policy(struct world *w, const struct entry *template)
{
    const struct template *t = entry_template(template);

    return t->claim ? claim_policy(world_context(w)->store, t->claim) : NULL;
}
